//! Reading a block.

use crate::error::Result;
use crate::limits::PROCESS_ITEMS_MAX;
use crate::model::{FieldKind, FieldSpec, Places, ProcessItem, Stream};
use crate::store::codec::{Decoder, damaged, unzigzag};
use crate::store::telemetry::rows::{ABSENT, NULL, Rows, VALUE, items_bits};
use crate::store::telemetry::texts::Texts;
use crate::timestamp::Timestamp;

use super::{
    AGAIN, BYTES, FILED_AT_RECEIPT, HUNDREDTHS, IN_LARGE, IN_SMALL, KINDS, Last, PROCESS_ITEM,
    SAME_PRESENCE, TICKS, Units, VERSION, WIDE, kind_of, of_hundredths, presence_bytes,
};

/// How much a block holds.
#[derive(Debug, Clone, Copy)]
pub(in crate::store::telemetry) struct Counts {
    pub(in crate::store::telemetry) records: usize,
    /// Of the records once they are read.
    pub(in crate::store::telemetry) text_bytes: usize,
}

/// How much a block holds, without reading it.
pub(in crate::store::telemetry) fn counts(block: &[u8]) -> Result<Counts> {
    read_counts(&mut Decoder::new(block))
}

/// When its first record was received, to within the records of one commit, without reading it.
pub(in crate::store::telemetry) fn received_at(block: &[u8]) -> Result<Timestamp> {
    let mut decoder = Decoder::new(block);
    read_counts(&mut decoder)?;
    Ok(Timestamp::from_ticks(i64::from_le_bytes(decoder.array()?)))
}

fn read_counts(decoder: &mut Decoder<'_>) -> Result<Counts> {
    /// What the shortest record takes.
    const RECORD_BYTES_MIN: usize = 2;
    if decoder.u8()? != VERSION {
        return Err(damaged());
    }
    let mut number = || -> Result<usize> {
        usize::try_from(u32::from_le_bytes(decoder.array()?)).map_err(|_| damaged())
    };
    let (records, text_bytes) = (number()?, number()?);
    if records > decoder.len() / RECORD_BYTES_MIN {
        return Err(damaged());
    }
    Ok(Counts {
        records,
        text_bytes,
    })
}

/// Adds the records of a block to `rows`.
pub(in crate::store::telemetry) fn decode_into(block: &[u8], rows: &mut Rows) -> Result<()> {
    let mut decoder = Decoder::new(block);
    let counts = read_counts(&mut decoder)?;
    let mut block = BlockDecoder {
        received_at: i64::from_le_bytes(decoder.array()?),
        decoder,
        last: [Last::NOTHING; KINDS],
        texts: Vec::new(),
        text: String::new(),
        rows,
        text_bytes: counts.text_bytes,
    };
    for _ in 0..counts.records {
        block.record()?;
    }
    block.decoder.finish()
}

struct BlockDecoder<'a, 'r> {
    decoder: Decoder<'a>,
    /// When the last record was received, in ticks.
    received_at: i64,
    last: [Last; KINDS],
    /// The texts of the block, by their numbers in `rows`.
    texts: Vec<u32>,
    /// Memory in which a text is put together.
    text: String,
    rows: &'r mut Rows,
    /// Bytes of texts in the records to come: a damaged block cannot have more.
    text_bytes: usize,
}

impl BlockDecoder<'_, '_> {
    fn record(&mut self) -> Result<()> {
        let head = self.decoder.u8()?;
        let number = head & !(FILED_AT_RECEIPT | SAME_PRESENCE);
        let stream = Stream::numbered(number).ok_or_else(damaged)?;
        self.received_at = self.received_at.wrapping_add(self.decoder.signed()?);
        let received_at = Timestamp::from_ticks(self.received_at);
        let kind = kind_of(stream);
        let last = self.last.get_mut(kind).ok_or_else(damaged)?;
        let presence = if head & SAME_PRESENCE == 0 {
            presence(&mut self.decoder, kind)?
        } else {
            last.presence.ok_or_else(damaged)?
        };
        last.presence = Some(presence);
        self.fields(kind, presence, stream.fields())?;
        let last = self.last.get(kind).ok_or_else(damaged)?;
        let values = last.values.get(..stream.fields().len());
        let presence = values_of(presence);
        let filed_at = if head & FILED_AT_RECEIPT == 0 {
            let place = Places::of_stream(stream).time;
            let sent = (presence >> (2 * place) & 3 == VALUE).then_some(place);
            let ticks = sent.and_then(|place| last.values.get(place));
            Timestamp::from_ticks(ticks.ok_or_else(damaged)?.cast_signed())
        } else {
            received_at
        };
        let times = (received_at, filed_at);
        self.rows
            .push(stream, times, presence, values.ok_or_else(damaged)?);
        Ok(())
    }

    /// Reads the fields of a record or of a process item into what was last read of its kind.
    fn fields(&mut self, kind: usize, presence: u64, specs: &[FieldSpec]) -> Result<()> {
        for (index, spec) in specs.iter().enumerate() {
            let mark = presence >> (2 * index) & 3;
            if mark == ABSENT {
                continue;
            }
            if mark == NULL {
                if !spec.nullable {
                    return Err(damaged());
                }
                continue;
            }
            if spec.kind == FieldKind::Items {
                let items = self.items()?;
                let last = self.last.get_mut(kind).ok_or_else(damaged)?;
                *last.values.get_mut(index).ok_or_else(damaged)? = items;
                continue;
            }
            let last = self.last.get(kind).and_then(|last| last.get(index));
            let bits = if mark == AGAIN {
                last.ok_or_else(damaged)?
            } else {
                let bits = self.value(spec.kind, last)?;
                if let Some(last) = self.last.get_mut(kind) {
                    last.set(index, bits);
                }
                bits
            };
            if spec.kind == FieldKind::Text {
                let length = self.rows.texts.length(Texts::number(bits));
                let left = self.text_bytes.checked_sub(length);
                self.text_bytes = left.ok_or_else(damaged)?;
            }
        }
        Ok(())
    }

    /// Reads a value; returns its bits.
    fn value(&mut self, kind: FieldKind, last: Option<u64>) -> Result<u64> {
        Ok(match kind {
            FieldKind::Int32 => {
                let value = i32::try_from(self.decoder.signed()?).map_err(|_| damaged())?;
                i64::from(value).cast_unsigned()
            }
            FieldKind::Int64 => self.scaled(BYTES)?.cast_unsigned(),
            FieldKind::Float => u64::from(self.float()?.to_bits()),
            FieldKind::Double => self.double()?.to_bits(),
            FieldKind::Time => {
                let from = last.map_or(self.received_at, u64::cast_signed);
                let moved = self.scaled(TICKS)?;
                Timestamp::from_ticks(from.wrapping_add(moved))
                    .ticks()
                    .cast_unsigned()
            }
            FieldKind::Text => self.text(last)?.into(),
            FieldKind::Items => return Err(damaged()),
        })
    }

    fn scaled(&mut self, units: Units) -> Result<i64> {
        let value = self.decoder.varint()?;
        if value == WIDE {
            return Ok(unzigzag(u64::from_le_bytes(self.decoder.array()?)));
        }
        let scaled = if value & IN_SMALL != 0 {
            unzigzag(value >> 1).checked_mul(units.small)
        } else if value & IN_LARGE != 0 {
            unzigzag(value >> 2).checked_mul(units.large)
        } else {
            Some(unzigzag(value >> 2))
        };
        scaled.ok_or_else(damaged)
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "the number was checked to survive this when it was written"
    )]
    fn float(&mut self) -> Result<f32> {
        Ok(match self.decimal()? {
            Some(value) => value as f32,
            None => f32::from_le_bytes(self.decoder.array()?),
        })
    }

    fn double(&mut self) -> Result<f64> {
        Ok(match self.decimal()? {
            Some(value) => value,
            None => f64::from_le_bytes(self.decoder.array()?),
        })
    }

    /// A number written in whole or in hundredths; `None` when its bits follow.
    fn decimal(&mut self) -> Result<Option<f64>> {
        let value = self.decoder.varint()?;
        let Some(value) = value.checked_sub(1) else {
            return Ok(None);
        };
        let number = unzigzag(value >> 1);
        let hundredths = if value & 1 == 0 {
            number.checked_mul(HUNDREDTHS.into())
        } else {
            Some(number)
        };
        let hundredths = hundredths.ok_or_else(damaged)?;
        Ok(Some(of_hundredths(hundredths)))
    }

    /// Reads a text; returns its number.
    fn text(&mut self, last: Option<u64>) -> Result<u32> {
        let back = usize::try_from(self.decoder.varint()?).map_err(|_| damaged())?;
        if back > 0 {
            let at = self.texts.len().checked_sub(back);
            let number = at.and_then(|at| self.texts.get(at));
            return number.copied().ok_or_else(damaged);
        }
        let shared = usize::try_from(self.decoder.varint()?).map_err(|_| damaged())?;
        let tail = self.decoder.text()?;
        let number = if shared == 0 {
            self.rows.texts.intern(tail)
        } else {
            let last = Texts::number(last.ok_or_else(damaged)?);
            let head = self.rows.texts.text(last).get(..shared);
            let head = head.ok_or_else(damaged)?;
            self.text.clear();
            self.text.push_str(head);
            self.text.push_str(tail);
            self.rows.texts.intern(&self.text)
        };
        self.texts.push(number);
        Ok(number)
    }

    fn items(&mut self) -> Result<u64> {
        let count = self.decoder.count()?;
        if count > PROCESS_ITEMS_MAX {
            return Err(damaged());
        }
        let first = self.rows.push_items(count);
        for item in first..first + count {
            let presence = presence(&mut self.decoder, PROCESS_ITEM)?;
            self.fields(PROCESS_ITEM, presence, ProcessItem::FIELDS)?;
            let last = self.last.get(PROCESS_ITEM).ok_or_else(damaged)?;
            let values = last.values.first_chunk().ok_or_else(damaged)?;
            self.rows.set_item(item, values_of(presence), *values);
        }
        Ok(items_bits(first, count))
    }
}

/// The presence of a row: what is the last value again is a value.
fn values_of(presence: u64) -> u64 {
    presence & !(presence >> 1 & 0x5555_5555_5555_5555)
}

fn presence(decoder: &mut Decoder<'_>, kind: usize) -> Result<u64> {
    let mut presence = [0; 8];
    let stored = decoder.raw(presence_bytes(kind))?;
    for (byte, stored) in presence.iter_mut().zip(stored) {
        *byte = *stored;
    }
    Ok(u64::from_le_bytes(presence))
}
