//! History: the filed records of one instance on one day, in parts.
//!
//! Key: stream, 1 byte; day, 4 bytes big-endian; length of the instance name, 1 byte; the name; part, 4 bytes
//! big-endian. Value: first and last filed time, 8 bytes little-endian each, then a block ordered by filed time.

use crate::error::Result;
use crate::limits::{CHUNK_BYTES_MAX, CHUNK_RECORDS_MAX};
use crate::model::{Received, Stream, history_order, without_repetitions};
use crate::store::codec::{Decoder, damaged};
use crate::store::table::{Read, Step, Table, Tables, after_prefix, within_prefix};
use crate::timestamp::Timestamp;

use super::codec::{self, BlockEncoder};
use super::key_name;

/// Head of a part: two times.
const SPAN_BYTES: usize = 16;

/// Where the parts of one instance on one day lie.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Bucket {
    pub(crate) stream: Stream,
    pub(crate) day: u32,
    pub(crate) instance: String,
}

impl Bucket {
    pub(crate) fn of(received: &Received) -> Self {
        Self {
            stream: received.record.stream(),
            day: received.filed_at.day(),
            instance: received.record.instance_id().to_owned(),
        }
    }

    fn prefix(&self) -> Vec<u8> {
        bucket_prefix(self.stream, self.day, &self.instance)
    }
}

fn day_prefix(stream: Stream, day: u32) -> Vec<u8> {
    let mut key = vec![stream.number()];
    key.extend_from_slice(&day.to_be_bytes());
    key
}

fn bucket_prefix(stream: Stream, day: u32, instance: &str) -> Vec<u8> {
    let mut key = day_prefix(stream, day);
    let name = key_name(instance);
    key.push(u8::try_from(name.len()).unwrap_or(u8::MAX));
    key.extend_from_slice(&name);
    key
}

fn part_key(prefix: &[u8], part: u32) -> Vec<u8> {
    let mut key = prefix.to_vec();
    key.extend_from_slice(&part.to_be_bytes());
    key
}

/// Files `records`, all of `bucket`, and drops exact repetitions; answers how many were new.
pub(crate) fn file(tables: &Tables<'_>, bucket: &Bucket, records: Vec<Received>) -> Result<usize> {
    let prefix = bucket.prefix();
    let parts = Parts::meeting(tables, &prefix, &records)?;
    let mut fresh = without_repetitions(&parts.meeting, records);
    let filed = fresh.len();
    if filed == 0 {
        return Ok(0);
    }
    let (mut part, mut open) = match parts.last {
        Some((part, block)) if has_room(&block)? => (part, codec::decode(&block)?),
        Some((part, _)) => (part + 1, Vec::new()),
        None => (0, Vec::new()),
    };
    open.append(&mut fresh);
    open.sort_by_key(history_order);
    let mut rest = open.as_slice();
    while !rest.is_empty() {
        let mut encoder = BlockEncoder::default();
        for record in rest {
            encoder.push(record);
            if encoder.records() == CHUNK_RECORDS_MAX || encoder.bytes() >= CHUNK_BYTES_MAX {
                break;
            }
        }
        let (head, tail) = rest
            .split_at_checked(encoder.records())
            .ok_or_else(damaged)?;
        let span = |record: Option<&Received>| {
            record.map_or([0; 8], |record| record.filed_at.ticks().to_le_bytes())
        };
        let mut value = span(head.first()).to_vec();
        value.extend_from_slice(&span(head.last()));
        value.extend_from_slice(&encoder.finish());
        tables.put(Table::History, &part_key(&prefix, part), &value)?;
        rest = tail;
        part += 1;
    }
    Ok(filed)
}

fn has_room(block: &[u8]) -> Result<bool> {
    Ok(block.len() < CHUNK_BYTES_MAX && codec::count(block)? < CHUNK_RECORDS_MAX as u64)
}

/// The parts of a bucket that matter to new records.
#[derive(Default)]
struct Parts {
    /// Records of the parts that a new record may repeat.
    meeting: Vec<Received>,
    /// Number and block of the last part.
    last: Option<(u32, Vec<u8>)>,
}

impl Parts {
    /// Repetitions stand at the same filed time, but for records filed at their receipt, which may stand anywhere.
    fn meeting(read: &impl Read, prefix: &[u8], records: &[Received]) -> Result<Self> {
        let anywhere = |record: &Received| record.record.sent_time() != Some(record.filed_at);
        let anywhere = records.iter().any(anywhere);
        let times = || records.iter().map(|record| record.filed_at);
        let (Some(from), Some(to)) = (times().min(), times().max()) else {
            return Ok(Self::default());
        };
        let mut parts = Self::default();
        scan_prefix(read, prefix, |key, value| {
            let (first, last, block) = split_part(value)?;
            if anywhere || (first <= to && last >= from) {
                parts.meeting.extend(codec::decode(block)?);
            }
            parts.last = Some((part_number(key)?, block.to_vec()));
            Ok(Step::Continue(()))
        })?;
        Ok(parts)
    }
}

fn part_number(key: &[u8]) -> Result<u32> {
    let number = key.last_chunk().ok_or_else(damaged)?;
    Ok(u32::from_be_bytes(*number))
}

fn split_part(value: &[u8]) -> Result<(Timestamp, Timestamp, &[u8])> {
    let mut decoder = Decoder::new(value);
    let mut time =
        || -> Result<Timestamp> { Ok(Timestamp::from_ticks(i64::from_le_bytes(decoder.array()?))) };
    let (first, last) = (time()?, time()?);
    let block = value.get(SPAN_BYTES..).ok_or_else(damaged)?;
    Ok((first, last, block))
}

fn scan_prefix(
    read: &impl Read,
    prefix: &[u8],
    visit: impl FnMut(&[u8], &[u8]) -> Result<Step>,
) -> Result<()> {
    let end = after_prefix(prefix);
    read.scan(Table::History, within_prefix(prefix, end.as_deref()), visit)
}

/// The records of one bucket, in the order of the history.
pub(crate) fn bucket(read: &impl Read, bucket: &Bucket) -> Result<Vec<Received>> {
    records_at(read, &bucket.prefix())
}

/// The records of one day of a stream, of every instance, in no order.
pub(crate) fn day(read: &impl Read, stream: Stream, day: u32) -> Result<Vec<Received>> {
    records_at(read, &day_prefix(stream, day))
}

fn records_at(read: &impl Read, prefix: &[u8]) -> Result<Vec<Received>> {
    let mut records = Vec::new();
    scan_prefix(read, prefix, |_, value| {
        let (_, _, block) = split_part(value)?;
        records.extend(codec::decode(block)?);
        Ok(Step::Continue(()))
    })?;
    records.sort_by_key(history_order);
    Ok(records)
}

/// The first day from `from` on, up to `to`, on which the stream has anything at all.
pub(crate) fn next_day(
    read: &impl Read,
    stream: Stream,
    from: u32,
    to: u32,
) -> Result<Option<u32>> {
    if from > to {
        return Ok(None);
    }
    let start = day_prefix(stream, from);
    let end = after_prefix(&day_prefix(stream, to));
    let mut found = None;
    read.scan(
        Table::History,
        within_prefix(&start, end.as_deref()),
        |key, _| {
            found = Some(key_day(key)?);
            Ok(Step::Break(()))
        },
    )?;
    Ok(found)
}

fn key_day(key: &[u8]) -> Result<u32> {
    let mut decoder = Decoder::new(key);
    decoder.u8()?;
    Ok(u32::from_be_bytes(decoder.array()?))
}

/// A part old enough to remove: its key, and the records in it when someone must look at them first.
pub(crate) struct OldPart {
    pub(crate) key: Vec<u8>,
    pub(crate) first: Option<Received>,
}

/// The parts of `stream` before `day` behind the key `after`, at most `parts_max`, each with its first record.
pub(crate) fn parts_before(
    read: &impl Read,
    stream: Stream,
    day: u32,
    after: Option<&[u8]>,
    parts_max: usize,
) -> Result<Vec<OldPart>> {
    use std::ops::Bound;
    let start = [stream.number()];
    let start = after.map_or(Bound::Included(start.as_slice()), Bound::Excluded);
    let end = day_prefix(stream, day);
    let mut parts = Vec::new();
    let range = (start, Bound::Excluded(end.as_slice()));
    read.scan(Table::History, range, |key, value| {
        let (_, _, block) = split_part(value)?;
        parts.push(OldPart {
            key: key.to_vec(),
            first: codec::decode(block)?.into_iter().next(),
        });
        Ok(if parts.len() < parts_max {
            Step::Continue(())
        } else {
            Step::Break(())
        })
    })?;
    Ok(parts)
}

/// Removes one part.
pub(crate) fn remove_part(tables: &Tables<'_>, key: &[u8]) -> Result<()> {
    tables.remove(Table::History, key)?;
    Ok(())
}

/// Checks every part and counts the records.
pub(crate) fn verify(read: &impl Read, mut broken: impl FnMut(String)) -> Result<u64> {
    let mut records = 0;
    read.scan(
        Table::History,
        crate::store::table::ALL_KEYS,
        |key, value| {
            let decoded = split_part(value)
                .and_then(|(first, last, block)| Ok((first, last, codec::decode(block)?)));
            match decoded {
                Ok((first, last, decoded)) => {
                    records += decoded.len() as u64;
                    let sorted = decoded.is_sorted_by_key(history_order);
                    let spanned = decoded.first().map(|r| r.filed_at) == Some(first)
                        && decoded.last().map(|r| r.filed_at) == Some(last);
                    let placed = decoded
                        .iter()
                        .all(|record| key.starts_with(&Bucket::of(record).prefix()));
                    if !(sorted && spanned && placed) {
                        broken(format!("history part {key:02x?}: records out of place"));
                    }
                }
                Err(error) => broken(format!("history part {key:02x?}: {error}")),
            }
            Ok(Step::Continue(()))
        },
    )?;
    Ok(records)
}
