//! History: the filed records of one instance on one day, in parts.
//!
//! Key: stream, 1 byte; day, 4 bytes big-endian; length of the instance name, 1 byte; the name; part, 4 bytes
//! big-endian. Value: first and last filed time, 8 bytes little-endian each, then a chunk ordered by filed time.

use std::ops::Bound;

use crate::error::Result;
use crate::model::Stream;
use crate::store::rollup::latest;
#[cfg(test)]
use crate::store::table::KeyRange;
use crate::store::table::{Read, Step, Table, Tables, after_prefix};
use crate::timestamp::Timestamp;

use super::repetitions::Repetitions;
use super::rows::{Bucket, Rows};
use super::work::Work;

mod key;
mod part;
mod verify;
mod visit;

pub(in crate::store) use key::part_name;
pub(crate) use key::{bucket_name, bucket_prefix, day_prefix, key_bucket};
pub(super) use key::{key_place, part_key};
pub(crate) use part::StoredPart;
pub(super) use part::{PartHead, PartValue, PartWriter};
pub(crate) use verify::verify;
pub(crate) use visit::visit_day;

/// Visits the parts from the key `start` on, or after the key `after`, and before the key `end`, no more than `max`; returns whether
/// that was the end.
fn scan(
    read: &impl Read,
    (start, after): (&[u8], Option<&[u8]>),
    end: Option<&[u8]>,
    max: Work,
    visit: &mut dyn FnMut(StoredPart<'_>) -> Result<()>,
) -> Result<bool> {
    let start = after.map_or(Bound::Included(start), Bound::Excluded);
    let end = end.map_or(Bound::Unbounded, Bound::Excluded);
    let mut work = Work::default();
    read.scan(Table::History, (start, end), |key, value| {
        visit(StoredPart::read(key, value)?)?;
        work.add(value.len());
        Ok(if work.is_all(max) {
            Step::Break(())
        } else {
            Step::Continue(())
        })
    })?;
    Ok(work.is_all(max))
}

/// Visits the parts whose keys begin with `prefix`.
pub(crate) fn scan_prefix(
    read: &impl Read,
    prefix: &[u8],
    visit: &mut dyn FnMut(StoredPart<'_>) -> Result<()>,
) -> Result<()> {
    let end = after_prefix(prefix);
    scan(read, (prefix, None), end.as_deref(), Work::ANY, visit)?;
    Ok(())
}

/// Visits the parts of a bucket.
pub(crate) fn scan_bucket(
    read: &impl Read,
    bucket: Bucket<'_>,
    visit: &mut dyn FnMut(StoredPart<'_>) -> Result<()>,
) -> Result<()> {
    scan_prefix(read, &bucket_prefix(bucket), visit)
}

/// Visits the parts with these keys.
#[cfg(test)]
pub(crate) fn scan_keys(
    read: &impl Read,
    keys: KeyRange<'_>,
    visit: &mut dyn FnMut(StoredPart<'_>) -> Result<()>,
) -> Result<()> {
    read.scan(Table::History, keys, |key, value| {
        visit(StoredPart::read(key, value)?)?;
        Ok(Step::Continue(()))
    })
}

/// What the keys of the first bucket of `stream` after that of the keys with the prefix `after` begin with, from the first of `days` on to the last. Of an
/// `instance` each day of the stream has one, empty or not.
pub(crate) fn next_bucket(
    read: &impl Read,
    stream: Stream,
    days: (u32, u32),
    instance: Option<&str>,
    after: Option<&[u8]>,
) -> Result<Option<Vec<u8>>> {
    let (first, last) = days;
    if let Some(instance) = instance {
        let first = match after {
            Some(bucket) => key_place(bucket)?.1 + 1,
            None => first,
        };
        let found = next_day(read, stream, first, last)?;
        let bucket = |day| {
            bucket_prefix(Bucket {
                stream,
                day,
                instance,
            })
        };
        return Ok(found.map(bucket));
    }
    let start = match after {
        Some(bucket) => after_prefix(bucket),
        None => Some(day_prefix(stream, first)),
    };
    let end = after_prefix(&day_prefix(stream, last));
    let mut found = None;
    if let Some(start) = start.filter(|start| end.as_ref().is_none_or(|end| start < end)) {
        let first = Work::new(1, usize::MAX);
        scan(read, (&start, None), end.as_deref(), first, &mut |part| {
            found = Some(key_bucket(part.key).to_vec());
            Ok(())
        })?;
    }
    Ok(found)
}

/// The day of a bucket, by what its keys begin with.
pub(crate) fn bucket_day(prefix: &[u8]) -> Result<u32> {
    Ok(key_place(prefix)?.1)
}

/// The first day from `from` to `to` on which the stream has records.
pub(crate) fn next_day(
    read: &impl Read,
    stream: Stream,
    from: u32,
    to: u32,
) -> Result<Option<u32>> {
    if from > to {
        return Ok(None);
    }
    let end = after_prefix(&day_prefix(stream, to));
    let mut found = None;
    let start = day_prefix(stream, from);
    let first = Work::new(1, usize::MAX);
    scan(read, (&start, None), end.as_deref(), first, &mut |part| {
        found = Some(key_place(part.key)?.1);
        Ok(())
    })?;
    Ok(found)
}

/// The last day from `from` to `to`, which is no earlier, on which the stream has records.
pub(crate) fn last_day(
    read: &impl Read,
    stream: Stream,
    from: u32,
    to: u32,
) -> Result<Option<u32>> {
    let start = day_prefix(stream, from);
    let end = after_prefix(&day_prefix(stream, to));
    let end = end.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
    let range = (Bound::Included(start.as_slice()), end);
    let mut found = None;
    read.scan_back(Table::History, range, |key, _| {
        found = Some(key_place(key)?.1);
        Ok(Step::Break(()))
    })?;
    Ok(found)
}

/// The parts of a bucket, in their order.
pub(super) fn heads(read: &impl Read, bucket: Bucket<'_>) -> Result<Vec<PartHead>> {
    let mut heads = Vec::new();
    scan_bucket(read, bucket, &mut |part| {
        heads.push(part.head()?);
        Ok(())
    })?;
    Ok(heads)
}

/// The parts of a bucket in their order, and the values of those at its end that may be merged with as many new `records`.
pub(super) fn growing(
    read: &impl Read,
    prefix: &[u8],
    mut records: usize,
) -> Result<(Vec<PartHead>, Vec<PartValue>)> {
    let (mut heads, mut values) = (Vec::new(), Vec::new());
    let end = after_prefix(prefix);
    let end = end.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
    let range = (Bound::Included(prefix), end);
    read.scan_back(Table::History, range, |key, value| {
        let part = StoredPart::read(key, value)?;
        let head = part.head()?;
        if values.len() == heads.len() && head.may_take(records) {
            records += head.records;
            values.push(part.value());
        }
        heads.push(head);
        Ok(Step::Continue(()))
    })?;
    heads.reverse();
    values.reverse();
    Ok((heads, values))
}

/// The parts of one day of a stream after the key `after`, no more than `max`.
pub(super) fn day_heads(
    read: &impl Read,
    stream: Stream,
    day: u32,
    after: Option<&[u8]>,
    max: Work,
) -> Result<Vec<PartHead>> {
    let mut heads = Vec::new();
    let start = day_prefix(stream, day);
    let end = after_prefix(&start);
    scan(read, (&start, after), end.as_deref(), max, &mut |part| {
        heads.push(part.head()?);
        Ok(())
    })?;
    Ok(heads)
}

/// Removes from `order`, rows of one bucket as they arrived, those that repeat an earlier one or a record in `heads`. `ahead_until` is what the
/// latest values of the instance say.
pub(super) fn drop_repetitions(
    read: &impl Read,
    heads: &[PartHead],
    rows: &mut Rows,
    order: &mut Vec<u32>,
    ahead_until: Option<Timestamp>,
) -> Result<()> {
    // A record by a clock that is ahead is filed at its receipt: it may repeat one anywhere on its day. So may one that is sent again once
    // the time in it is not ahead any more.
    let anywhere = order.iter().any(|row| {
        let row = *row as usize;
        let was_ahead = ahead_until.is_some_and(|until| rows.sent(row) <= Some(until));
        was_ahead || rows.is_ahead(row)
    });
    let filed = || order.iter().map(|row| rows.filed_at(*row as usize));
    let span = filed().min().zip(filed().max()).filter(|_| !anywhere);
    // Nearly always each is newer than the one before, and than what is filed.
    let sent = order.iter().filter_map(|row| rows.sent(*row as usize));
    if sent.is_sorted_by(|a, b| a < b) && !heads.iter().any(|head| head.meets(span)) {
        return Ok(());
    }
    let mut repetitions = Repetitions::among(rows, order);
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
    bucket: Bucket<'_>,
    rows: &mut Rows,
    repetitions: &mut Repetitions,
) -> Result<()> {
    compare_parts(read, &heads(read, bucket)?, None, rows, repetitions)
}

/// Compares new records with those of the parts that hold something filed within `span`, if one is given. Of a part
/// first the sent times are read, then, where one equals that of a new record, the whole of it, one part at a time.
fn compare_parts(
    read: &impl Read,
    heads: &[PartHead],
    span: Option<(Timestamp, Timestamp)>,
    rows: &mut Rows,
    repetitions: &mut Repetitions,
) -> Result<()> {
    let end = rows.mark();
    for head in heads.iter().rev() {
        let mut sent = if head.meets(span) {
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
            rows.truncate(end);
        }
    }
    Ok(())
}

/// The times that the records of a part carry.
fn sent_times(read: &impl Read, key: &[u8]) -> Result<Vec<Option<Timestamp>>> {
    let times = read.get(Table::History, key, |value| {
        StoredPart::read(key, value)?.sent_times()
    })?;
    Ok(times.unwrap_or_default())
}

/// The `rows`, in the order of their buckets, without those that repeat an earlier one or one in history.
pub(crate) fn fresh(read: &impl Read, rows: &mut Rows) -> Result<Vec<u32>> {
    let mut fresh = Vec::with_capacity(rows.len());
    for mut order in rows.buckets() {
        let Some(first) = order.first() else { continue };
        let bucket = rows.bucket(*first as usize);
        let heads = heads(read, bucket)?;
        let ahead_until = if bucket.instance.is_empty() {
            Some(Timestamp::MAX)
        } else {
            latest::with_row(read, bucket.instance, |row| Ok(row.ahead_until))?.flatten()
        };
        drop_repetitions(read, &heads, rows, &mut order, ahead_until)?;
        fresh.extend_from_slice(&order);
    }
    Ok(fresh)
}

/// Adds the records of one part to `rows`.
pub(super) fn add_part(read: &impl Read, key: &[u8], rows: &mut Rows) -> Result<()> {
    read.get(Table::History, key, |value| {
        StoredPart::read(key, value)?.add_to(rows)
    })?;
    Ok(())
}

/// Adds the records of one part of a bucket to `rows`.
pub(crate) fn add_bucket_part(
    read: &impl Read,
    bucket: Bucket<'_>,
    number: u32,
    rows: &mut Rows,
) -> Result<()> {
    add_prefix_part(read, &bucket_prefix(bucket), number, rows)
}

/// The same of the bucket whose keys begin with `prefix`.
pub(crate) fn add_prefix_part(
    read: &impl Read,
    prefix: &[u8],
    number: u32,
    rows: &mut Rows,
) -> Result<()> {
    add_part(read, &part_key(prefix, number), rows)
}

/// Removes one part.
pub(crate) fn remove_part(tables: &Tables<'_>, key: &[u8]) -> Result<()> {
    tables.remove(Table::History, key)?;
    Ok(())
}
