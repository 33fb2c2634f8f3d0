//! History: the filed records of one instance on one day, in parts.
//!
//! Key: stream, 1 byte; day, 4 bytes big-endian; length of the instance name, 1 byte; the name; part, 4 bytes
//! big-endian. Value: first and last filed time, 8 bytes little-endian each, then a chunk ordered by filed time.

use std::ops::Bound;

use crate::error::Result;
use crate::limits::CHUNK_BYTES_MAX;
use crate::model::Stream;
use crate::store::codec::{Decoder, Encoder, damaged};
use crate::store::table::{Read, Step, Table, Tables, after_prefix, within_prefix};
use crate::timestamp::Timestamp;

use super::chunk::{self, ChunkWriter};
use super::repetitions::{Repetitions, bucket_of, buckets};
use super::rows::{HistoryOrder, Rows};

mod key;
mod spans;
mod verify;

pub(crate) use key::Bucket;
pub(in crate::store) use key::part_name;
pub(super) use key::{bucket_prefix, key_bucket, key_place, part_key};
pub(super) use spans::{Span, scan_bucket, scan_day};
pub(crate) use verify::verify;

use key::{day_prefix, part_number};

/// Head of a part: two times.
const SPAN_BYTES: usize = 16;

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
            records: chunk::count(chunk)?,
            bytes: value.len(),
            first,
            last,
        })
    }
}

/// Takes from `order`, rows of one bucket as they arrived, what repeats an earlier one of them or a record in `heads`.
pub(super) fn drop_repetitions(
    read: &impl Read,
    heads: &[PartHead],
    rows: &mut Rows,
    order: &mut Vec<u32>,
) -> Result<()> {
    let mut repetitions = Repetitions::among(rows, order);
    // A record stands where its sent time is, but for one that is filed at its receipt.
    let anywhere = order.iter().any(|row| rows.is_misdated(*row as usize));
    let filed = || order.iter().map(|row| rows.filed_at(*row as usize));
    let span = filed().min().zip(filed().max()).filter(|_| !anywhere);
    compare_parts(read, heads, span, rows, &mut repetitions)?;
    let repeated = repetitions.into_repeated();
    if !repeated.is_empty() {
        order.retain(|row| repeated.binary_search(row).is_err());
    }
    Ok(())
}

/// Notes which of the pending records in `repetitions` repeat one that is filed in `bucket`. `rows` is for reading.
pub(crate) fn compare_bucket(
    read: &impl Read,
    bucket: &Bucket,
    rows: &mut Rows,
    repetitions: &mut Repetitions,
) -> Result<()> {
    compare_parts(
        read,
        &heads(read, &bucket.prefix())?,
        None,
        rows,
        repetitions,
    )
}

/// Compares what is new with the records of the parts that hold something filed within `span`, if one is given. Of a part
/// first the sent times are read, then, where one meets that of a new record, the whole of it, one part at a time.
fn compare_parts(
    read: &impl Read,
    heads: &[PartHead],
    span: Option<(Timestamp, Timestamp)>,
    rows: &mut Rows,
    repetitions: &mut Repetitions,
) -> Result<()> {
    let end = rows.mark();
    for head in heads.iter().rev() {
        let meets = span.is_none_or(|(from, to)| head.first <= to && head.last >= from);
        let mut sent = if meets {
            sent_times(read, &head.key)?
        } else {
            Vec::new()
        };
        sent.dedup();
        if sent
            .into_iter()
            .flatten()
            .any(|sent| repetitions.may_repeat(sent))
        {
            let known = rows.len();
            add_part(read, &head.key, rows)?;
            for row in (known..rows.len()).rev() {
                repetitions.compare(rows, row);
            }
            rows.cut(end);
        }
    }
    Ok(())
}

/// The times that the records of a part carry.
fn sent_times(read: &impl Read, key: &[u8]) -> Result<Vec<Option<Timestamp>>> {
    let times = read.get(Table::History, key, |value| {
        chunk::sent_times(split_part(value)?.2)
    })?;
    Ok(times.unwrap_or_default())
}

/// The `rows`, in the order of their buckets, without those that repeat an earlier one or one in history.
pub(crate) fn fresh(read: &impl Read, rows: &mut Rows) -> Result<Vec<u32>> {
    let mut fresh = Vec::with_capacity(rows.len());
    for mut order in buckets(rows) {
        let Some(first) = order.first() else { continue };
        let (stream, day, instance) = bucket_of(rows, *first);
        let heads = heads(read, &bucket_prefix(stream, day, instance))?;
        drop_repetitions(read, &heads, rows, &mut order)?;
        fresh.extend_from_slice(&order);
    }
    Ok(fresh)
}

/// Adds the records of one part to `rows`.
pub(super) fn add_part(read: &impl Read, key: &[u8], rows: &mut Rows) -> Result<()> {
    read.get(Table::History, key, |value| {
        let (_, _, chunk) = split_part(value)?;
        chunk::decode_into(chunk, rows)
    })?;
    Ok(())
}

/// Writes parts, one after the other in the same memory.
#[derive(Debug, Default)]
pub(super) struct PartWriter(ChunkWriter);

impl PartWriter {
    /// A part of as many of the `rows` in `order` as one takes, and the rest of these.
    pub(super) fn write<'o>(&mut self, rows: &Rows, order: &'o [u32]) -> (Vec<u8>, &'o [u32]) {
        let mut count = chunk::fitting(rows, order);
        loop {
            let (part, rest) = order.split_at_checked(count).unwrap_or((order, &[]));
            let value = self.write_all(rows, part);
            if value.len() <= CHUNK_BYTES_MAX || count <= 1 {
                return (value, rest);
            }
            // A few less than would fit if all were equally long; again, if those are longer than the others.
            count = (count * CHUNK_BYTES_MAX / value.len() * 63 / 64).clamp(1, count - 1);
        }
    }

    /// The span of the rows, then their chunk.
    fn write_all(&mut self, rows: &Rows, order: &[u32]) -> Vec<u8> {
        let time = |row: Option<&u32>| {
            row.map_or([0; 8], |row| {
                rows.filed_at(*row as usize).ticks().to_le_bytes()
            })
        };
        let mut out = Encoder::with_capacity(512 + 24 * order.len());
        out.raw(&time(order.first()));
        out.raw(&time(order.last()));
        self.0.write(&mut out, rows, order);
        out.finish()
    }
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

/// Visits the parts of a bucket: the number, the first and last filed time, and what reads the order of each record.
pub(crate) fn scan_orders(
    read: &impl Read,
    bucket: &Bucket,
    mut visit: impl FnMut(u32, (Timestamp, Timestamp), &PartOrders<'_>) -> Result<()>,
) -> Result<()> {
    scan_prefix(read, &bucket.prefix(), |key, value| {
        let (first, last, chunk) = split_part(value)?;
        visit(part_number(key)?, (first, last), &PartOrders(chunk))?;
        Ok(Step::Continue(()))
    })
}

/// A part of which only the times are wanted.
pub(crate) struct PartOrders<'p>(&'p [u8]);

impl PartOrders<'_> {
    /// The order of each record, sorted.
    pub(crate) fn read(&self) -> Result<Vec<HistoryOrder>> {
        chunk::orders(self.0)
    }
}

/// Adds the records of one part of a bucket to `rows`.
pub(crate) fn add_bucket_part(
    read: &impl Read,
    bucket: &Bucket,
    part: u32,
    rows: &mut Rows,
) -> Result<()> {
    add_part(read, &part_key(&bucket.prefix(), part), rows)
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

/// A part of an old day: what decides whether it is removed.
pub(crate) struct OldPart<'p> {
    pub(crate) key: &'p [u8],
    /// The names in its records, each once.
    pub(crate) instances: Vec<&'p str>,
    pub(crate) users: Vec<&'p str>,
    chunk: &'p [u8],
}

impl OldPart<'_> {
    /// The times that its records carry.
    pub(crate) fn sent_times(&self) -> Result<impl Iterator<Item = Timestamp>> {
        Ok(chunk::sent_times(self.chunk)?.into_iter().flatten())
    }
}

/// Visits the parts of `stream` before `day` after the key `after`, at most `parts_max`.
pub(crate) fn scan_before(
    read: &impl Read,
    stream: Stream,
    day: u32,
    after: Option<&[u8]>,
    parts_max: usize,
    mut visit: impl FnMut(OldPart<'_>) -> Result<()>,
) -> Result<()> {
    let start = [stream.number()];
    let start = after.map_or(Bound::Included(start.as_slice()), Bound::Excluded);
    let end = day_prefix(stream, day);
    let mut parts = 0;
    let range = (start, Bound::Excluded(end.as_slice()));
    read.scan(Table::History, range, |key, value| {
        let (_, _, chunk) = split_part(value)?;
        let [instances, users] = chunk::names(chunk)?;
        visit(OldPart {
            key,
            instances,
            users,
            chunk,
        })?;
        parts += 1;
        Ok(if parts < parts_max {
            Step::Continue(())
        } else {
            Step::Break(())
        })
    })
}

/// Removes one part.
pub(crate) fn remove_part(tables: &Tables<'_>, key: &[u8]) -> Result<()> {
    tables.remove(Table::History, key)?;
    Ok(())
}
