//! The activities of the last 25 hours a second time, in the order of their times: history has them by instance.
//!
//! Key: five minutes of the filed time, 8 bytes big-endian; part, 4 bytes big-endian. Value: a block. Filing writes both in one
//! transaction. `meta` has the time from which on the table is complete: earlier activities are in history alone.

use std::ops::Bound;

use crate::error::Result;
use crate::limits::{RECENT_SECONDS, WORK_ROWS_MAX};
use crate::model::Stream;
use crate::sorting::sort_by_key;
use crate::store::codec::damaged;
use crate::store::meta;
use crate::store::table::{ALL_KEYS, Read, Step, Table, Tables, after_prefix};
use crate::timestamp::{TICKS_PER_SECOND, Timestamp};

use super::block::{BlockEncoder, decode_into};
use super::rows::Rows;

/// Bytes at which a block ends; two fit a page.
const BLOCK_BYTES: usize = 1800;

/// Five minutes.
const SLOT_TICKS: i64 = 300 * TICKS_PER_SECOND;

/// The number of the five minutes of a time, that of 1970 being 2^63.
fn slot(time: Timestamp) -> u64 {
    time.ticks().div_euclid(SLOT_TICKS).cast_unsigned() ^ 1 << 63
}

/// Activities that a slice of filing adds.
#[derive(Debug)]
pub(super) struct RecentActivities {
    whole_from: Timestamp,
    rows: Vec<u32>,
}

/// Rows of the table, to store or replace.
#[derive(Debug, Clone, Default)]
pub(super) struct RecentBlocks {
    whole_from: Option<Timestamp>,
    blocks: Vec<(Vec<u8>, Vec<u8>)>,
}

impl RecentActivities {
    /// No activities yet. Those that are too old for the table, by the time of the last sweep, are left out.
    pub(super) fn new(read: &impl Read) -> Result<Self> {
        let oldest = meta::swept(read)?.map(|swept| swept.plus_seconds(-RECENT_SECONDS));
        Ok(Self {
            whole_from: meta::recent_from(read)?.max(oldest.unwrap_or(Timestamp::MIN)),
            rows: Vec::new(),
        })
    }

    /// The approximate number of rows of the table that they take.
    pub(super) fn table_rows(&self) -> usize {
        self.rows.len() / 8
    }

    /// Adds those of `order`, rows of one bucket.
    pub(super) fn add(&mut self, rows: &Rows, order: &[u32]) {
        let is_recent = |row: usize| {
            rows.stream(row) == Stream::Activity && rows.filed_at(row) >= self.whole_from
        };
        let recent = order.iter().filter(|row| is_recent(**row as usize));
        self.rows.extend(recent);
    }

    /// The blocks. The last block of five minutes is written again with the added records, unless it is full.
    pub(super) fn finish(
        mut self,
        read: &impl Read,
        rows: &mut Rows,
        encoder: &mut BlockEncoder,
    ) -> Result<RecentBlocks> {
        let mut blocks = Vec::new();
        sort_by_key(&mut self.rows, |row| rows.order(row));
        let slot = |rows: &Rows, row: u32| slot(rows.filed_at(row as usize));
        let (end, mut added) = (rows.mark(), self.rows.as_slice());
        while let Some(first) = added.first() {
            let slot_added = slot(rows, *first);
            let count = added.partition_point(|row| slot(rows, *row) == slot_added);
            let (of_slot, others) = added.split_at_checked(count).unwrap_or((added, &[]));
            added = others;
            let prefix = slot_added.to_be_bytes();
            let known = rows.len();
            let mut part = next_part(read, &prefix, rows)?;
            let known = (known..rows.len()).filter_map(|row| u32::try_from(row).ok());
            for row in known.chain(of_slot.iter().copied()) {
                let (filed_at, received_at) = rows.order(row as usize);
                encoder.push(&rows.borrowed(row as usize)?, received_at, filed_at);
                if encoder.bytes() >= BLOCK_BYTES {
                    blocks.push((block_key(&prefix, part), encoder.finish()));
                    part += 1;
                }
            }
            if encoder.records() > 0 {
                blocks.push((block_key(&prefix, part), encoder.finish()));
            }
            rows.truncate(end);
        }
        Ok(RecentBlocks {
            whole_from: Some(self.whole_from),
            blocks,
        })
    }
}

/// The number of the part that takes the next records; adds its records to `rows`.
fn next_part(read: &impl Read, prefix: &[u8], rows: &mut Rows) -> Result<u32> {
    let mut next = 0;
    let end = after_prefix(prefix);
    let end = end.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
    read.scan_back(
        Table::Recent,
        (Bound::Included(prefix), end),
        |key, block| {
            let last = key.last_chunk().ok_or_else(damaged)?;
            next = u32::from_be_bytes(*last);
            if block.len() < BLOCK_BYTES {
                decode_into(block, rows)?;
            } else {
                next = next.checked_add(1).ok_or_else(damaged)?;
            }
            Ok(Step::Break(()))
        },
    )?;
    Ok(next)
}

fn block_key(prefix: &[u8], part: u32) -> Vec<u8> {
    [prefix, &part.to_be_bytes()].concat()
}

impl RecentBlocks {
    pub(super) fn put(&self, tables: &Tables<'_>) -> Result<()> {
        if let Some(whole_from) = self.whole_from {
            raise(tables, whole_from)?;
        }
        let mut blocks = self.blocks.iter();
        blocks.try_for_each(|(key, block)| tables.put(Table::Recent, key, block))
    }
}

fn raise(tables: &Tables<'_>, whole_from: Timestamp) -> Result<()> {
    if whole_from > meta::recent_from(tables)? {
        meta::set_recent_from(tables, whole_from)?;
    }
    Ok(())
}

/// Leaves activities up to the end of a day to history, because some of them are removed there.
pub(crate) fn leave_out(tables: &Tables<'_>, day: u32) -> Result<()> {
    raise(tables, Timestamp::from_day(day.saturating_add(1)))
}

/// Whether [`remove_left_out`] has something to do.
pub(crate) fn has_left_out(read: &impl Read) -> Result<bool> {
    let first_kept = slot(meta::recent_from(read)?).to_be_bytes();
    let mut has = false;
    read.scan(Table::Recent, ALL_KEYS, |key, _| {
        has = key < first_kept.as_slice();
        Ok(Step::Break(()))
    })?;
    Ok(has)
}

/// Removes blocks that are too old or left out, for at most a few milliseconds; returns whether there may be more.
pub(crate) fn remove_left_out(tables: &Tables<'_>) -> Result<bool> {
    let first_kept = slot(meta::recent_from(tables)?).to_be_bytes();
    let range = (Bound::Unbounded, Bound::Excluded(first_kept.as_slice()));
    tables.remove_some(Table::Recent, range, WORK_ROWS_MAX)
}

/// Visits the blocks of the five-minute spans from `from` to `to`, both inclusive, last to first. `visit` also gets a time after
/// which nothing in the block was filed.
pub(super) fn scan_back(
    read: &impl Read,
    (from, to): (Timestamp, Timestamp),
    mut visit: impl FnMut(Timestamp, &[u8]) -> Result<Step>,
) -> Result<()> {
    let first = slot(from).min(slot(to)).to_be_bytes();
    let end = (slot(to) + 1).to_be_bytes();
    let range = (Bound::Included(&first[..]), Bound::Excluded(&end[..]));
    read.scan_back(Table::Recent, range, |key, block| {
        visit(latest_in(key)?, block)
    })
}

/// Reads every block; adds to `broken` those with records that do not belong there.
pub(crate) fn verify(read: &impl Read, broken: &mut Vec<String>) -> Result<()> {
    let mut rows = Rows::default();
    read.scan(Table::Recent, ALL_KEYS, |key, block| {
        rows.clear();
        decode_into(block, &mut rows)?;
        let slot_end = slot(latest_in(key)?);
        let is_here = |row: usize| {
            rows.stream(row) == Stream::Activity && slot(rows.filed_at(row)) == slot_end
        };
        if !(0..rows.len()).all(is_here) {
            broken.push(format!("recent activities {key:02x?}: others are there"));
        }
        Ok(Step::Continue(()))
    })
}

/// The last moment of the five minutes in a key.
fn latest_in(key: &[u8]) -> Result<Timestamp> {
    let slot = u64::from_be_bytes(*key.first_chunk().ok_or_else(damaged)?);
    let next = (slot ^ 1 << 63).cast_signed().saturating_add(1);
    let end = next.saturating_mul(SLOT_TICKS);
    Ok(Timestamp::from_ticks(end.saturating_sub(1)))
}
