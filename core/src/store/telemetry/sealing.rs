//! Sealing: merging the parts of days that are over.
//!
//! Parts grow while a day lasts; afterwards those of each bucket are merged once, into as few as possible. Days are sealed in
//! order, each day stream by stream; `meta` stores the position. Records filed later before that position stay in parts
//! of their own.
//!
//! A step is prepared from a snapshot like one of filing, and never at the same time. So the snapshot is still current when
//! the step is written, except for parts that retention removed.

use crate::error::Result;
use crate::limits::SEAL_PARTS_MAX;
use crate::model::Stream;
use crate::store::meta;
use crate::store::table::{Read, Table, Tables};

use super::history::{self, PartHead, PartWriter};
use super::rows::Rows;
use super::work::Work;

/// Parts that a step looks at.
const HEADS_MAX: usize = 1000;

/// One step of sealing, ready to be written.
#[derive(Debug, Clone, Default)]
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
        let looked_at = Work::new(HEADS_MAX, usize::MAX);
        let heads = history::day_heads(read, stream, day, after, looked_at)?;
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

/// Merges the buckets of `heads`, as many as one step writes; `None` when there are none.
fn merge(read: &impl Read, heads: &[PartHead]) -> Result<Option<Sealing>> {
    let mut sealing = None;
    let mut work = Work::default();
    let buckets = heads.chunk_by(|a, b| history::key_bucket(&a.key) == history::key_bucket(&b.key));
    let mut buckets = buckets.peekable();
    while let Some(parts) = buckets.next() {
        // The last bucket may have more parts than were read; alone it is as long as a step can be.
        let cut_short = buckets.peek().is_none() && heads.len() >= HEADS_MAX;
        if cut_short && sealing.is_some() {
            break;
        }
        for parts in parts.chunks(SEAL_PARTS_MAX) {
            let Some(last) = parts.last() else { continue };
            let sealing = sealing.get_or_insert_with(Sealing::default);
            sealing.sealed.clone_from(&last.key);
            if let Some(merged) = merge_parts(read, parts)? {
                merged.before.iter().for_each(|_| work.add(0));
                let written = merged.after.iter().map(|(_, value)| value.len());
                written.for_each(|bytes| work.add(bytes));
                sealing.buckets.push(merged);
            }
            if work.is_all(Work::WRITTEN_MAX) {
                break;
            }
        }
        if work.is_all(Work::WRITTEN_MAX) {
            break;
        }
    }
    Ok(sealing)
}

/// Merges parts of one bucket into fewer; `None` when there are as few already.
fn merge_parts(read: &impl Read, parts: &[PartHead]) -> Result<Option<Merged>> {
    if parts.len() < 2 {
        return Ok(None);
    }
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
