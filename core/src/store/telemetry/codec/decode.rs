//! Reading a block.

use std::borrow::Cow;

use crate::error::Result;
use crate::limits::PROCESS_ITEMS_MAX;
use crate::model::{FieldKind, FieldSpec, FieldValue, Fields, ProcessItem, Received, Stream};
use crate::store::codec::{Decoder, damaged, unzigzag};
use crate::timestamp::Timestamp;

use super::{
    ABSENT, AGAIN, FILED_AT_RECEIPT, KINDS, Last, NULL, PAGE_BYTES, PROCESS_ITEM, SAME_PRESENCE,
    TICKS_PER_MILLISECOND, Texts, VERSION, WIDE, kind_of, of_hundredths, presence_bytes,
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

/// The records of a block.
pub(in crate::store::telemetry) fn decode(block: &[u8]) -> Result<Vec<Received>> {
    let mut decoder = Decoder::new(block);
    let counts = read_counts(&mut decoder)?;
    let mut reader = Reader {
        received_at: i64::from_le_bytes(decoder.array()?),
        decoder,
        last: [Last::NOTHING; KINDS],
        texts: Texts::default(),
        text_bytes: counts.text_bytes,
    };
    let mut records = Vec::with_capacity(counts.records);
    for _ in 0..counts.records {
        records.push(reader.record()?);
    }
    reader.decoder.end()?;
    Ok(records)
}

struct Reader<'a> {
    decoder: Decoder<'a>,
    /// When the last record was received, in ticks.
    received_at: i64,
    last: [Last; KINDS],
    texts: Texts,
    /// Of the records to come: what a damaged block says is not believed beyond that.
    text_bytes: usize,
}

impl Reader<'_> {
    fn record(&mut self) -> Result<Received> {
        let head = self.decoder.u8()?;
        let number = head & !(FILED_AT_RECEIPT | SAME_PRESENCE);
        let stream = Stream::ALL
            .into_iter()
            .find(|stream| stream.number() == number)
            .ok_or_else(damaged)?;
        self.received_at = self.received_at.wrapping_add(self.decoder.signed()?);
        let received_at = Timestamp::from_ticks(self.received_at);
        let last = self.last.get_mut(kind_of(stream)).ok_or_else(damaged)?;
        let presence = if head & SAME_PRESENCE == 0 {
            presence(&mut self.decoder, stream.fields())?
        } else {
            last.presence.ok_or_else(damaged)?
        };
        last.presence = Some(presence);
        let mut record = stream.empty_record();
        self.fields(kind_of(stream), presence, record.fields_mut())?;
        let filed_at = if head & FILED_AT_RECEIPT == 0 {
            record.sent_time().ok_or_else(damaged)?
        } else {
            received_at
        };
        Ok(Received {
            record,
            received_at,
            filed_at,
        })
    }

    fn fields(&mut self, kind: usize, presence: u64, fields: &mut dyn Fields) -> Result<()> {
        for (index, spec) in fields.specs().iter().enumerate() {
            let stored = match presence >> (2 * index) & 3 {
                ABSENT => true,
                NULL => fields.set(index, FieldValue::Null),
                _ if spec.kind == FieldKind::Items => {
                    let items = self.items()?;
                    fields.set(index, FieldValue::Items(Cow::Owned(items)))
                }
                mark => {
                    let last = self.last.get(kind).and_then(|last| last.get(index));
                    let bits = if mark == AGAIN {
                        last.ok_or_else(damaged)?
                    } else {
                        self.value(spec.kind, last)?
                    };
                    if let Some(last) = self.last.get_mut(kind) {
                        last.set(index, bits);
                    }
                    let value = of_bits(&self.texts, spec.kind, bits)?;
                    if let FieldValue::Text(text) = &value {
                        let left = self.text_bytes.checked_sub(text.len());
                        self.text_bytes = left.ok_or_else(damaged)?;
                    }
                    fields.set(index, value)
                }
            };
            if !stored {
                return Err(damaged());
            }
        }
        Ok(())
    }

    /// The bits of the value that stands here.
    fn value(&mut self, kind: FieldKind, last: Option<u64>) -> Result<u64> {
        Ok(match kind {
            FieldKind::Int32 => self.decoder.signed()?.cast_unsigned(),
            FieldKind::Int64 => self.scaled(PAGE_BYTES)?.cast_unsigned(),
            FieldKind::Float => u64::from(self.float()?.to_bits()),
            FieldKind::Double => self.double()?.to_bits(),
            FieldKind::Time => {
                let from = last.map_or(self.received_at, u64::cast_signed);
                let moved = self.scaled(TICKS_PER_MILLISECOND)?;
                Timestamp::from_ticks(from.wrapping_add(moved))
                    .ticks()
                    .cast_unsigned()
            }
            FieldKind::Text => self.text(last)? as u64,
            FieldKind::Items => return Err(damaged()),
        })
    }

    fn scaled(&mut self, unit: i64) -> Result<i64> {
        let value = self.decoder.varint()?;
        if value == WIDE {
            return Ok(unzigzag(u64::from_le_bytes(self.decoder.array()?)));
        }
        let number = unzigzag(value >> 1);
        if value & 1 == 0 {
            return Ok(number);
        }
        number.checked_mul(unit).ok_or_else(damaged)
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "the number was checked to survive this when it was written"
    )]
    fn float(&mut self) -> Result<f32> {
        Ok(match self.hundredths()? {
            Some(value) => value as f32,
            None => f32::from_le_bytes(self.decoder.array()?),
        })
    }

    fn double(&mut self) -> Result<f64> {
        Ok(match self.hundredths()? {
            Some(value) => value,
            None => f64::from_le_bytes(self.decoder.array()?),
        })
    }

    /// A number written in hundredths; `None` when its bits follow.
    fn hundredths(&mut self) -> Result<Option<f64>> {
        let value = self.decoder.varint()?;
        Ok(value.checked_sub(1).map(unzigzag).map(of_hundredths))
    }

    /// The number of the text that stands here.
    fn text(&mut self, last: Option<u64>) -> Result<usize> {
        let back = usize::try_from(self.decoder.varint()?).map_err(|_| damaged())?;
        if back > 0 {
            return self.texts.len().checked_sub(back).ok_or_else(damaged);
        }
        let shared = usize::try_from(self.decoder.varint()?).map_err(|_| damaged())?;
        let tail = self.decoder.text()?;
        if shared == 0 {
            return Ok(self.texts.add(tail));
        }
        let last = last.and_then(|last| usize::try_from(last).ok());
        let before = last.and_then(|last| self.texts.get(last));
        let head = before.and_then(|before| before.get(..shared));
        let text = [head.ok_or_else(damaged)?, tail].concat();
        Ok(self.texts.add(&text))
    }

    fn items(&mut self) -> Result<Vec<ProcessItem>> {
        let count = self.decoder.count()?;
        if count > PROCESS_ITEMS_MAX {
            return Err(damaged());
        }
        let mut items = vec![ProcessItem::default(); count];
        for item in &mut items {
            let presence = presence(&mut self.decoder, ProcessItem::FIELDS)?;
            self.fields(PROCESS_ITEM, presence, item)?;
        }
        Ok(items)
    }
}

/// The value that such bits are of.
fn of_bits(texts: &Texts, kind: FieldKind, bits: u64) -> Result<FieldValue<'_>> {
    let narrow = u32::try_from(bits).map_err(|_| damaged());
    Ok(match kind {
        FieldKind::Int32 | FieldKind::Int64 => FieldValue::Int(bits.cast_signed()),
        FieldKind::Float => FieldValue::Float(f32::from_bits(narrow?)),
        FieldKind::Double => FieldValue::Double(f64::from_bits(bits)),
        FieldKind::Time => FieldValue::Time(Timestamp::from_ticks(bits.cast_signed())),
        FieldKind::Text => {
            let number = usize::try_from(bits).map_err(|_| damaged())?;
            let text = texts.get(number).ok_or_else(damaged)?;
            FieldValue::Text(Cow::Borrowed(text))
        }
        FieldKind::Items => return Err(damaged()),
    })
}

fn presence(decoder: &mut Decoder<'_>, specs: &[FieldSpec]) -> Result<u64> {
    let mut presence = [0; 8];
    let stored = decoder.raw(presence_bytes(specs))?;
    for (byte, stored) in presence.iter_mut().zip(stored) {
        *byte = *stored;
    }
    Ok(u64::from_le_bytes(presence))
}
