//! History: the filed records of one instance on one day, in parts.
//!
//! Key: stream, 1 byte; day, 4 bytes big-endian; length of the instance name, 1 byte; the name; part, 4 bytes
//! big-endian. Value: first and last filed time, 8 bytes little-endian each, then a chunk ordered by filed time.

use std::ops::Bound;

use crate::error::Result;
use crate::limits::CHUNK_BYTES_MAX;
use crate::model::{Received, Record, Stream, history_order, without_repetitions};
use crate::store::codec::{Decoder, damaged};
use crate::store::table::{Read, Step, Table, Tables, after_prefix, within_prefix};
use crate::timestamp::Timestamp;

use super::columns;
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
    /// What sorts records by bucket.
    pub(super) fn order(received: &Received) -> (Stream, u32, &str) {
        let record = &received.record;
        (
            record.stream(),
            received.filed_at.day(),
            record.instance_id(),
        )
    }

    /// Whether a record belongs here.
    pub(super) fn holds(&self, received: &Received) -> bool {
        Self::order(received) == (self.stream, self.day, self.instance.as_str())
    }

    pub(crate) fn of(received: &Received) -> Self {
        Self {
            stream: received.record.stream(),
            day: received.filed_at.day(),
            instance: received.record.instance_id().to_owned(),
        }
    }

    pub(super) fn prefix(&self) -> Vec<u8> {
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

pub(super) fn part_key(prefix: &[u8], part: u32) -> Vec<u8> {
    let mut key = prefix.to_vec();
    key.extend_from_slice(&part.to_be_bytes());
    key
}

/// What the key and the first bytes of a part tell.
#[derive(Debug, Clone)]
pub(super) struct PartHead {
    pub(super) key: Vec<u8>,
    pub(super) part: u32,
    pub(super) records: usize,
    pub(super) bytes: usize,
    first: Timestamp,
    last: Timestamp,
}

/// The parts of a bucket, in their order.
pub(super) fn heads(read: &impl Read, prefix: &[u8]) -> Result<Vec<PartHead>> {
    let mut heads = Vec::new();
    scan_prefix(read, prefix, |key, value| {
        heads.push(PartHead::read(key, value)?);
        Ok(Step::Continue(()))
    })?;
    Ok(heads)
}

/// The parts of one day of a stream behind the key `after`, at most `parts_max`.
pub(super) fn day_heads(
    read: &impl Read,
    stream: Stream,
    day: u32,
    after: Option<&[u8]>,
    parts_max: usize,
) -> Result<Vec<PartHead>> {
    let mut heads = Vec::new();
    let prefix = day_prefix(stream, day);
    let start = after.map_or(Bound::Included(prefix.as_slice()), Bound::Excluded);
    let end = after_prefix(&prefix);
    let end = end.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
    read.scan(Table::History, (start, end), |key, value| {
        heads.push(PartHead::read(key, value)?);
        Ok(if heads.len() < parts_max {
            Step::Continue(())
        } else {
            Step::Break(())
        })
    })?;
    Ok(heads)
}

impl PartHead {
    fn read(key: &[u8], value: &[u8]) -> Result<Self> {
        let (first, last, chunk) = split_part(value)?;
        Ok(Self {
            key: key.to_vec(),
            part: part_number(key)?,
            records: columns::count(chunk)?,
            bytes: value.len(),
            first,
            last,
        })
    }
}

/// The records of the parts that one of `records` may repeat. Repetitions stand at the same filed time, but for records
/// filed at their receipt against the time they carry, which may stand anywhere.
pub(super) fn meeting(
    read: &impl Read,
    heads: &[PartHead],
    records: &[Received],
) -> Result<Vec<Received>> {
    let misdated = |record: &Received| {
        let sent = record.record.sent_time();
        sent.is_some() && sent != Some(record.filed_at)
    };
    let anywhere = records.iter().any(misdated);
    let times = || records.iter().map(|record| record.filed_at);
    let (Some(from), Some(to)) = (times().min(), times().max()) else {
        return Ok(Vec::new());
    };
    let mut known = Vec::new();
    for head in heads {
        if anywhere || (head.first <= to && head.last >= from) {
            known.extend(part(read, &head.key)?);
        }
    }
    Ok(known)
}

/// `records` without those that repeat an earlier one or one in history.
pub(crate) fn fresh(read: &impl Read, mut records: Vec<Received>) -> Result<Vec<Received>> {
    let mut fresh = Vec::with_capacity(records.len());
    records.sort_by(|a, b| Bucket::order(a).cmp(&Bucket::order(b)));
    for same in by_bucket(records) {
        if let Some(first) = same.first() {
            let heads = heads(read, &Bucket::of(first).prefix())?;
            let known = meeting(read, &heads, &same)?;
            fresh.extend(without_repetitions(&known, same));
        }
    }
    Ok(fresh)
}

/// Runs of records of one bucket each.
pub(super) fn by_bucket(records: Vec<Received>) -> impl Iterator<Item = Vec<Received>> {
    let mut records = records.into_iter().peekable();
    std::iter::from_fn(move || {
        let mut same = vec![records.next()?];
        let bucket = same.first().map(Bucket::of)?;
        while let Some(record) = records.next_if(|record| bucket.holds(record)) {
            same.push(record);
        }
        Some(same)
    })
}

/// The records of one part.
pub(super) fn part(read: &impl Read, key: &[u8]) -> Result<Vec<Received>> {
    let records = read.get(Table::History, key, |value| {
        let (_, _, chunk) = split_part(value)?;
        columns::decode(chunk, Timestamp::MIN, Timestamp::MAX)
    })?;
    Ok(records.unwrap_or_default())
}

/// A part of as many of `records` as one takes, and the rest of them.
pub(super) fn encode(records: &[Received]) -> (Vec<u8>, &[Received]) {
    let mut count = columns::fitting(records);
    loop {
        let (part, rest) = records.split_at_checked(count).unwrap_or((records, &[]));
        let value = encode_all(part);
        if value.len() <= CHUNK_BYTES_MAX || count <= 1 {
            return (value, rest);
        }
        // A few less than would fit if all were equally long; again, if those are longer than the others.
        count = (count * CHUNK_BYTES_MAX / value.len() * 63 / 64).clamp(1, count - 1);
    }
}

/// The span of `records`, then their chunk.
fn encode_all(records: &[Received]) -> Vec<u8> {
    let time = |record: Option<&Received>| {
        record.map_or([0; 8], |record| record.filed_at.ticks().to_le_bytes())
    };
    let chunk = columns::encode(records);
    let mut value = Vec::with_capacity(SPAN_BYTES + chunk.len());
    value.extend_from_slice(&time(records.first()));
    value.extend_from_slice(&time(records.last()));
    value.extend_from_slice(&chunk);
    value
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
    let chunk = value.get(SPAN_BYTES..).ok_or_else(damaged)?;
    Ok((first, last, chunk))
}

fn scan_prefix(
    read: &impl Read,
    prefix: &[u8],
    visit: impl FnMut(&[u8], &[u8]) -> Result<Step>,
) -> Result<()> {
    let end = after_prefix(prefix);
    read.scan(Table::History, within_prefix(prefix, end.as_deref()), visit)
}

/// The records of one bucket filed from `from` to `to`, both inclusive, in the order of the history.
pub(crate) fn bucket(
    read: &impl Read,
    bucket: &Bucket,
    from: Timestamp,
    to: Timestamp,
) -> Result<Vec<Received>> {
    records_at(read, &bucket.prefix(), from, to)
}

/// The records of one day of a stream, of every instance, in no order.
pub(crate) fn day(read: &impl Read, stream: Stream, day: u32) -> Result<Vec<Received>> {
    let prefix = day_prefix(stream, day);
    records_at(read, &prefix, Timestamp::MIN, Timestamp::MAX)
}

fn records_at(
    read: &impl Read,
    prefix: &[u8],
    from: Timestamp,
    to: Timestamp,
) -> Result<Vec<Received>> {
    let mut records = Vec::new();
    scan_prefix(read, prefix, |_, value| {
        let (first, last, chunk) = split_part(value)?;
        if first <= to && last >= from {
            let part = columns::decode(chunk, from, to)?;
            if records.is_empty() {
                records = part;
            } else {
                records.extend(part);
            }
        }
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
            found = Some(key_place(key)?.1);
            Ok(Step::Break(()))
        },
    )?;
    Ok(found)
}

/// The stream and the day of a key.
pub(super) fn key_place(key: &[u8]) -> Result<(Stream, u32)> {
    let mut decoder = Decoder::new(key);
    let number = decoder.u8()?;
    let stream = Stream::ALL
        .into_iter()
        .find(|stream| stream.number() == number);
    let day = u32::from_be_bytes(decoder.array()?);
    Ok((stream.ok_or_else(damaged)?, day))
}

/// A key without its part.
pub(super) fn key_bucket(key: &[u8]) -> &[u8] {
    key.split_last_chunk::<4>()
        .map_or(key, |(bucket, _)| bucket)
}

/// A part old enough to remove: its key, and its first record, with texts alone, to tell whose it is.
pub(crate) struct OldPart {
    pub(crate) key: Vec<u8>,
    pub(crate) first: Option<Record>,
}

/// The parts of `stream` before `day` behind the key `after`, at most `parts_max`.
pub(crate) fn parts_before(
    read: &impl Read,
    stream: Stream,
    day: u32,
    after: Option<&[u8]>,
    parts_max: usize,
) -> Result<Vec<OldPart>> {
    let start = [stream.number()];
    let start = after.map_or(Bound::Included(start.as_slice()), Bound::Excluded);
    let end = day_prefix(stream, day);
    let mut parts = Vec::new();
    let range = (start, Bound::Excluded(end.as_slice()));
    read.scan(Table::History, range, |key, value| {
        let (_, _, chunk) = split_part(value)?;
        parts.push(OldPart {
            key: key.to_vec(),
            first: columns::first_texts(chunk)?,
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
            let decoded = split_part(value).and_then(|(first, last, chunk)| {
                let records = columns::decode(chunk, Timestamp::MIN, Timestamp::MAX)?;
                Ok((first, last, records))
            });
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
