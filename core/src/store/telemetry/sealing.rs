//! Sealing: merging the parts of days that are over.
//!
//! Parts grow while a day lasts; afterwards those of each bucket are merged once, into as few as possible. Days are sealed in
//! order, each day stream by stream; `meta` stores the position. Records filed later before that position stay in parts
//! of their own.
//!
//! A step is prepared from a snapshot like one of filing, and never at the same time. So the snapshot is still current when
//! the step is written, except for parts that retention removed.

use crate::error::Result;
use crate::limits::{MAINTENANCE_ROWS_MAX, SEAL_PARTS_MAX, SEAL_RECORDS_MAX};
use crate::model::Stream;
use crate::store::meta;
use crate::store::table::{Read, Table, Tables};

use super::history::{self, PartHead, PartWriter};
use super::rows::Rows;

/// One step of sealing, ready to be written.
#[derive(Debug, Clone)]
pub(crate) struct Sealing {
    buckets: Vec<Merged>,
    /// The key of the last part that was examined.
    sealed: Vec<u8>,
}

/// Parts of one bucket, before and after.
#[derive(Debug, Clone)]
struct Merged {
    before: Vec<Vec<u8>>,
    after: Vec<(Vec<u8>, Vec<u8>)>,
}

/// Prepares the next step, up to `last_day`; `None` when all is sealed.
pub(crate) fn prepare(read: &impl Read, last_day: u32) -> Result<Option<Sealing>> {
    let sealed = meta::sealed(read)?;
    let mut place = match &sealed {
        Some(key) => Some(history::key_place(key)?),
        None => next_place(read, 0, last_day)?,
    };
    while let Some((stream, day)) = place.filter(|(_, day)| *day <= last_day) {
        let after = match &sealed {
            Some(key) if history::key_place(key)? == (stream, day) => Some(key.as_slice()),
            _ => None,
        };
        let heads = history::day_heads(read, stream, day, after, MAINTENANCE_ROWS_MAX)?;
        if let Some(sealing) = merge(read, &heads)? {
            return Ok(Some(sealing));
        }
        let following = Stream::ALL.into_iter().find(|other| *other > stream);
        place = match following {
            Some(stream) => Some((stream, day)),
            None => next_place(read, day + 1, last_day)?,
        };
    }
    Ok(None)
}

/// The first stream of the first day from `day` on that has records.
fn next_place(read: &impl Read, day: u32, last_day: u32) -> Result<Option<(Stream, u32)>> {
    let mut first = None;
    for stream in Stream::ALL {
        let found = history::next_day(read, stream, day, last_day)?;
        first = first.into_iter().chain(found).min();
    }
    Ok(first.and_then(|day| Some((*Stream::ALL.first()?, day))))
}

/// Merges the buckets of `heads`, as many as one step takes; `None` when there are none.
fn merge(read: &impl Read, heads: &[PartHead]) -> Result<Option<Sealing>> {
    let mut sealing = None;
    let mut records = 0;
    let buckets = heads.chunk_by(|a, b| history::key_bucket(&a.key) == history::key_bucket(&b.key));
    let mut buckets = buckets.peekable();
    while let Some(parts) = buckets.next() {
        let Some(last) = parts.last() else { continue };
        // The last bucket may have more parts than were read; alone it is as long as a step can be.
        let cut_short = buckets.peek().is_none() && heads.len() >= MAINTENANCE_ROWS_MAX;
        if cut_short && sealing.is_some() {
            break;
        }
        let sealing = sealing.get_or_insert_with(|| Sealing {
            buckets: Vec::new(),
            sealed: Vec::new(),
        });
        sealing.sealed.clone_from(&last.key);
        if parts.len() > 1 {
            records += parts.iter().map(|part| part.records).sum::<usize>();
            for parts in parts.chunks(SEAL_PARTS_MAX) {
                sealing.buckets.extend(merge_parts(read, parts)?);
            }
        }
        if records >= SEAL_RECORDS_MAX {
            break;
        }
    }
    Ok(sealing)
}

/// Merges parts of one bucket into fewer; `None` when there are as few already.
fn merge_parts(read: &impl Read, parts: &[PartHead]) -> Result<Option<Merged>> {
    let mut rows = Rows::default();
    for part in parts {
        history::add_part(read, &part.key, &mut rows)?;
    }
    let mut order = rows.all();
    rows.sort(&mut order);
    let mut rest = order.as_slice();
    let mut writer = PartWriter::default();
    let mut after = Vec::new();
    // The keys of the first parts are used again, so that what is filed later comes after them.
    for part in parts {
        if rest.is_empty() {
            break;
        }
        let (value, tail) = writer.write(&rows, rest);
        after.push((part.key.clone(), value));
        rest = tail;
    }
    let fewer = rest.is_empty() && after.len() < parts.len();
    Ok(fewer.then(|| Merged {
        before: parts.iter().map(|part| part.key.clone()).collect(),
        after,
    }))
}

impl Sealing {
    /// Writes the step. A bucket with a removed part is left unchanged.
    pub(crate) fn apply(self, tables: &Tables<'_>) -> Result<()> {
        for bucket in self.buckets {
            let mut whole = true;
            for key in &bucket.before {
                whole &= tables.contains(Table::History, key)?;
            }
            if !whole {
                continue;
            }
            for key in &bucket.before {
                history::remove_part(tables, key)?;
            }
            for (key, value) in &bucket.after {
                tables.put(Table::History, key, value)?;
            }
        }
        meta::set_sealed(tables, &self.sealed)
    }
}
