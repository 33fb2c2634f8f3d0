//! The block: how telemetry records are written in the queue. See `core/docs/format.md`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::error::Result;
use crate::limits::PROCESS_ITEMS_MAX;
use crate::model::{FieldKind, FieldSpec, FieldValue, Fields, ProcessItem, Received, Stream};
use crate::store::codec::{Decoder, Encoder, damaged};
use crate::timestamp::Timestamp;

const VERSION: u8 = 1;
/// Set in a row's first byte when the record stands at its time of receipt, not at the time it carries.
const FILED_AT_RECEIPT: u8 = 0x80;

// Two bits a field, in the order of the record's table.
const ABSENT: u64 = 0;
const NULL: u64 = 1;
const VALUE: u64 = 2;

/// Stands where the presence of a record's fields goes once it is known.
const EMPTY_PRESENCE: [u8; 8] = [0; 8];

/// Collects records into one block.
#[derive(Default)]
pub(super) struct BlockEncoder {
    rows: Encoder,
    dictionary: BTreeMap<String, usize>,
    texts: Encoder,
    records: usize,
    base: Option<Timestamp>,
}

impl BlockEncoder {
    pub(super) fn push(&mut self, received: &Received) {
        let base = *self.base.get_or_insert(received.received_at);
        let mut head = received.record.stream().number();
        let sent = received.record.sent_time();
        if sent != Some(received.filed_at) {
            head |= FILED_AT_RECEIPT;
        }
        self.rows.u8(head);
        self.rows
            .signed(received.received_at.ticks().wrapping_sub(base.ticks()));
        self.fields(received.record.fields(), received.received_at);
        self.records += 1;
    }

    pub(super) fn records(&self) -> usize {
        self.records
    }

    /// Bytes of the block if it were finished now, but for its head of a few bytes.
    pub(super) fn bytes(&self) -> usize {
        self.rows.len() + self.texts.len()
    }

    pub(super) fn finish(self) -> Vec<u8> {
        let mut block = Encoder::with_capacity(self.bytes() + 32);
        block.u8(VERSION);
        block.count(self.records);
        block.time(self.base.unwrap_or(Timestamp::UNIX_EPOCH));
        block.count(self.dictionary.len());
        block.raw(&self.texts.finish());
        block.raw(&self.rows.finish());
        block.finish()
    }

    fn fields(&mut self, fields: &dyn Fields, received_at: Timestamp) {
        let specs = fields.specs();
        let place = self.rows.len();
        let bytes = presence_bytes(specs);
        self.rows
            .raw(EMPTY_PRESENCE.get(..bytes).unwrap_or_default());
        let mut presence = 0_u64;
        for index in 0..specs.len() {
            let mark = match fields.get(index) {
                None => ABSENT,
                Some(FieldValue::Null) => NULL,
                Some(value) => {
                    self.value(&value, received_at);
                    VALUE
                }
            };
            presence |= mark << (2 * index);
        }
        self.rows.overwrite(
            place,
            presence.to_le_bytes().get(..bytes).unwrap_or_default(),
        );
    }

    fn value(&mut self, value: &FieldValue<'_>, received_at: Timestamp) {
        match value {
            FieldValue::Null => {}
            FieldValue::Int(value) => self.rows.signed(*value),
            FieldValue::Float(value) => self.rows.raw(&value.to_le_bytes()),
            FieldValue::Double(value) => self.rows.raw(&value.to_le_bytes()),
            FieldValue::Text(text) => self.text(text),
            FieldValue::Time(time) => self
                .rows
                .signed(time.ticks().wrapping_sub(received_at.ticks())),
            FieldValue::Items(items) => {
                self.rows.count(items.len());
                for item in items.iter() {
                    self.fields(item, received_at);
                }
            }
        }
    }

    fn text(&mut self, text: &str) {
        let index = if let Some(index) = self.dictionary.get(text) {
            *index
        } else {
            let index = self.dictionary.len();
            self.dictionary.insert(text.to_owned(), index);
            self.texts.text(text);
            index
        };
        self.rows.count(index);
    }
}

fn presence_bytes(specs: &[FieldSpec]) -> usize {
    (2 * specs.len()).div_ceil(8)
}

/// How many records a block holds, without reading them.
pub(super) fn count(block: &[u8]) -> Result<u64> {
    let mut decoder = Decoder::new(block);
    version(&mut decoder)?;
    decoder.varint()
}

/// The records of a block.
pub(super) fn decode(block: &[u8]) -> Result<Vec<Received>> {
    let mut decoder = Decoder::new(block);
    version(&mut decoder)?;
    let records = decoder.count()?;
    let base = decoder.time()?;
    let texts = decoder.count()?;
    let mut reader = RowReader {
        dictionary: Vec::with_capacity(texts),
        decoder,
    };
    for _ in 0..texts {
        let text = reader.decoder.text()?;
        reader.dictionary.push(text);
    }
    let rows = (0..records)
        .map(|_| reader.row(base))
        .collect::<Result<_>>()?;
    reader.decoder.end()?;
    Ok(rows)
}

fn version(decoder: &mut Decoder<'_>) -> Result<()> {
    if decoder.u8()? == VERSION {
        Ok(())
    } else {
        Err(damaged())
    }
}

struct RowReader<'a> {
    decoder: Decoder<'a>,
    dictionary: Vec<&'a str>,
}

impl<'a> RowReader<'a> {
    fn row(&mut self, base: Timestamp) -> Result<Received> {
        let head = self.decoder.u8()?;
        let stream = Stream::ALL
            .into_iter()
            .find(|stream| stream.number() == head & !FILED_AT_RECEIPT)
            .ok_or_else(damaged)?;
        let received_at = self.moved(base)?;
        let mut record = stream.empty_record();
        self.fields(record.fields_mut(), received_at)?;
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

    fn moved(&mut self, from: Timestamp) -> Result<Timestamp> {
        let delta = self.decoder.signed()?;
        Ok(Timestamp::from_ticks(from.ticks().wrapping_add(delta)))
    }

    fn fields(&mut self, fields: &mut dyn Fields, received_at: Timestamp) -> Result<()> {
        let specs = fields.specs();
        let mut presence = [0; 8];
        let stored = self.decoder.raw(presence_bytes(specs))?;
        for (byte, stored) in presence.iter_mut().zip(stored) {
            *byte = *stored;
        }
        let presence = u64::from_le_bytes(presence);
        for (index, spec) in specs.iter().enumerate() {
            let value = match presence >> (2 * index) & 3 {
                ABSENT => continue,
                NULL => FieldValue::Null,
                VALUE => self.value(spec.kind, received_at)?,
                _ => return Err(damaged()),
            };
            if !fields.set(index, value) {
                return Err(damaged());
            }
        }
        Ok(())
    }

    fn value(&mut self, kind: FieldKind, received_at: Timestamp) -> Result<FieldValue<'a>> {
        Ok(match kind {
            FieldKind::Int32 | FieldKind::Int64 => FieldValue::Int(self.decoder.signed()?),
            FieldKind::Float => FieldValue::Float(f32::from_le_bytes(self.decoder.array()?)),
            FieldKind::Double => FieldValue::Double(f64::from_le_bytes(self.decoder.array()?)),
            FieldKind::Text => FieldValue::Text(Cow::Borrowed(self.text()?)),
            FieldKind::Time => FieldValue::Time(self.moved(received_at)?),
            FieldKind::Items => FieldValue::Items(Cow::Owned(self.items(received_at)?)),
        })
    }

    fn text(&mut self) -> Result<&'a str> {
        let index = usize::try_from(self.decoder.varint()?).map_err(|_| damaged())?;
        self.dictionary.get(index).copied().ok_or_else(damaged)
    }

    fn items(&mut self, received_at: Timestamp) -> Result<Vec<ProcessItem>> {
        let count = self.decoder.count()?;
        if count > PROCESS_ITEMS_MAX {
            return Err(damaged());
        }
        let mut items = vec![ProcessItem::default(); count];
        for item in &mut items {
            self.fields(item, received_at)?;
        }
        Ok(items)
    }
}

#[cfg(test)]
mod tests {
    use crate::model::{
        ActivityRecord, Nullable, ProcessReport, Record, StartupRecord, StatsRecord,
    };

    use super::*;

    fn samples() -> Vec<Received> {
        let now = Timestamp::from_unix_seconds(1_790_000_000);
        let stats = StatsRecord {
            id: Some(i32::MIN),
            username: "jdoe".into(),
            update_time: Some(now.plus_seconds(-5)),
            physical_memory: Some(i64::MAX),
            disk_reads: Some(0.1),
            uptime: 1.5e300.into(),
            os_version: Nullable::Null,
            ..StatsRecord::default()
        };
        let activity = ActivityRecord {
            activity: "Logon".into(),
            username: "jdoe".into(),
            ..ActivityRecord::default()
        };
        let startup = StartupRecord {
            baseline_utc: Some(Timestamp::MAX),
            ..StartupRecord::default()
        };
        let item = ProcessItem {
            process_name: Some("a.exe".into()),
            process_count: Some(3),
            ..ProcessItem::default()
        };
        let processes = ProcessReport {
            processes: Some(vec![item, ProcessItem::default()]),
            created_date: Some(Timestamp::MIN),
            ..ProcessReport::default()
        };
        let at = |record: Record, seconds, filed: Option<Timestamp>| {
            let received_at = now.plus_seconds(seconds);
            Received {
                record,
                received_at,
                filed_at: filed.unwrap_or(received_at),
            }
        };
        vec![
            at(
                Record::Stats(Box::new(stats)),
                0,
                Some(now.plus_seconds(-5)),
            ),
            at(Record::Activity(Box::new(activity)), 1, None),
            at(Record::Startup(Box::new(startup)), -1, None),
            at(
                Record::Processes(Box::new(processes)),
                2,
                Some(Timestamp::MIN),
            ),
        ]
    }

    fn encode(records: &[Received]) -> Vec<u8> {
        let mut encoder = BlockEncoder::default();
        for record in records {
            encoder.push(record);
        }
        encoder.finish()
    }

    #[test]
    fn every_stream_survives() {
        let records = samples();
        let block = encode(&records);
        assert_eq!(count(&block).unwrap(), 4);
        assert_eq!(decode(&block).unwrap(), records);
    }

    #[test]
    fn every_truncation_is_refused() {
        let block = encode(&samples());
        for length in 0..block.len() {
            assert!(decode(&block[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn every_bit_flip_is_refused_or_decodes() {
        let block = encode(&samples());
        for bit in 0..block.len() * 8 {
            let mut flipped = block.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let _ = decode(&flipped);
        }
    }
}
