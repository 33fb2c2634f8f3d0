//! The durable arrival queue: blocks of records in the order they were accepted.
//!
//! A block is in a segment beside the store, or in the table: key the block number, 8 bytes big-endian, value the block. Numbers
//! grow for as long as the store exists. Blocks in the table are older than those in segments, and `meta` has the first that is
//! not filed. An index in memory finds the blocks that a query needs.

use std::collections::BTreeMap;
use std::ops::Bound;

use crate::error::Result;
use crate::limits::{FILE_RECORDS_MAX, WORK_ROWS_MAX};
use crate::model::Stream;
use crate::store::disk::damage::Damaged;
use crate::store::meta::{self, Filed, PassPlace};
use crate::store::table::{Read, Step, Table, Tables, row_number};
use crate::store::telemetry::segments::SegmentPlace;
use crate::timestamp::Timestamp;

use super::arrivals::Arrivals;
use super::contents::{Contents, QueueChanges, instance_hash, user_hash};
use super::pending_block::{PendingBlock, Place, decode};
use super::rows::Rows;

/// A flag in the key of a row of the table: the block was unreadable and was set aside in the table, as there is no file for it.
/// No block has a number that high.
const SET_ASIDE: u64 = 1 << 63;

/// The index of pending blocks; it is in memory and rebuilt when the store is opened.
#[derive(Debug, Default)]
pub(crate) struct QueueIndex {
    /// Those below `filed` may still be here after a crash.
    blocks: BTreeMap<u64, Queued>,
    filed: Filed,
    records: u64,
    /// The bytes of the blocks.
    bytes: u64,
    /// The number of the next block; never used twice.
    next: u64,
    /// Pending blocks that could not be read when they were found.
    unreadable: u64,
    /// Rows of the table that were set aside.
    set_aside: u64,
}

#[derive(Debug)]
struct Queued {
    contents: Contents,
    place: Place,
}

impl Queued {
    fn pending(&self, number: u64, newest: [Option<Timestamp>; Stream::ALL.len()]) -> PendingBlock {
        PendingBlock {
            number,
            place: self.place.clone(),
            records: self.contents.records,
            received_at: self.contents.received_at,
            pass: None,
            newest,
        }
    }
}

impl Filed {
    /// The filed part of the block of that number, if it is not wholly filed.
    fn pass_over(&self, number: u64) -> Option<&PassPlace> {
        let pass = self.pass.as_ref();
        pass.filter(|pass| number <= pass.last_block)
    }
}

/// A query of pending records.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Wanted<'a> {
    /// Records of one instance.
    Instance(Stream, &'a str),
    /// Records of one user, by [`user_key`].
    User(&'a str),
    /// Every record of a stream.
    Stream(Stream),
    /// Every record.
    All,
}

impl QueueIndex {
    /// Reads the table, and which blocks are filed, once the database was opened, or opened again.
    pub(crate) fn reload(&mut self, read: &impl Read) -> Result<()> {
        self.blocks
            .retain(|_, block| matches!(block.place, Place::Segment(_)));
        self.filed = meta::filed(read)?;
        let mut rows = Rows::default();
        self.set_aside = 0;
        let first = self.filed.below.to_be_bytes();
        let unfiled = (Bound::Included(first.as_slice()), Bound::Unbounded);
        read.scan(Table::Queue, unfiled, |key, block| {
            let number = row_number(key)?;
            if number >= SET_ASIDE {
                self.set_aside += 1;
            } else {
                self.add_block(number, Place::Table, block, &mut rows);
            }
            Ok(Step::Continue(()))
        })?;
        self.next = self.next.max(self.filed.below);
        self.count();
        Ok(())
    }

    /// Adds a block that a crash left in a segment.
    pub(crate) fn add_recovered(
        &mut self,
        number: u64,
        place: SegmentPlace,
        block: &[u8],
        rows: &mut Rows,
    ) {
        self.add_block(number, Place::Segment(place), block, rows);
    }

    /// Adds a block; an unreadable one is set aside when it is to be filed.
    fn add_block(&mut self, number: u64, place: Place, block: &[u8], rows: &mut Rows) {
        rows.clear();
        let contents = match decode(block, self.filed.pass_over(number), rows) {
            Ok(()) => Contents::from_rows(rows, block),
            Err(_) => Contents::unreadable(block),
        };
        self.add(number, Queued { contents, place });
    }

    fn count(&mut self) {
        let pending = || self.pending().map(|(_, block)| &block.contents);
        (self.records, self.bytes, self.unreadable) = (
            pending().map(|contents| contents.records).sum(),
            pending().map(|contents| contents.block_bytes).sum(),
            pending()
                .map(|contents| u64::from(contents.unreadable))
                .sum(),
        );
    }

    /// Whether some pending blocks could not be read when they were found.
    pub(crate) fn has_unreadable(&self) -> bool {
        self.unreadable > 0
    }

    /// Its problem, if any.
    pub(crate) fn damage(&self) -> Option<String> {
        let mut unreadable = self
            .pending()
            .filter(|(_, block)| block.contents.unreadable);
        if self.unreadable > 0
            && let Some((first, block)) = unreadable.next()
        {
            let (count, place) = (self.unreadable, &block.place);
            return Some(format!(
                "blocks of the queue cannot be read: {count}, the first is block {first} in {place}; the next filing sets them aside"
            ));
        }
        (self.set_aside > 0).then(|| {
            let count = self.set_aside;
            format!(
                "blocks of the queue could not be read and were set aside in its table: {count}; go on with a backup, which leaves them out"
            )
        })
    }

    fn pending(&self) -> impl Iterator<Item = (&u64, &Queued)> {
        self.blocks.range(self.filed.below..)
    }

    /// Pending records.
    pub(crate) fn records(&self) -> u64 {
        self.records
    }

    /// The bytes of the blocks they are in.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// When the first pending record was received.
    pub(crate) fn oldest(&self) -> Option<Timestamp> {
        let (_, first) = self.pending().next()?;
        first.contents.received_at
    }

    /// The blocks that may have records of a query, oldest first, each with its newest time of each stream.
    pub(crate) fn blocks(&self, wanted: Wanted<'_>) -> Vec<PendingBlock> {
        let hashes = Stream::ALL.map(|stream| match wanted {
            Wanted::Instance(of, instance) if of == stream => Some(instance_hash(of, instance)),
            Wanted::User(user_key) => Some(user_hash(stream, user_key)),
            Wanted::Instance(..) | Wanted::Stream(_) | Wanted::All => None,
        });
        let newest = |contents: &Contents| {
            let mut newest = [None; Stream::ALL.len()];
            for ((stream, hash), newest) in Stream::ALL.into_iter().zip(hashes).zip(&mut newest) {
                *newest = contents.newest(stream).filter(|_| match (hash, wanted) {
                    (Some(hash), _) => contents.has_name(hash),
                    (None, Wanted::Stream(of)) => of == stream,
                    (None, _) => matches!(wanted, Wanted::All),
                });
            }
            newest
        };
        let wanted = |(number, block): (&u64, &Queued)| {
            let newest = newest(&block.contents);
            let is_wanted = newest.iter().any(Option::is_some) || matches!(wanted, Wanted::All);
            is_wanted.then(|| block.pending(*number, newest))
        };
        self.pending().filter_map(wanted).collect()
    }

    /// Pending blocks from a number on: at least one if there is one, until they have `enough` records.
    pub(crate) fn blocks_from(&self, from: u64, enough: u64) -> Vec<PendingBlock> {
        let mut records = 0;
        let blocks = self.blocks.range(from.max(self.filed.below)..);
        blocks
            .take_while(|(_, block)| {
                let is_wanted = records < enough.max(1);
                records += block.contents.records;
                is_wanted
            })
            .map(|(number, block)| block.pending(*number, [None; Stream::ALL.len()]))
            .collect()
    }

    /// The oldest blocks: at least one, as many as may fit a pass of filing, and all of a pass that has begun.
    pub(crate) fn oldest_blocks(&self, pass: Option<&PassPlace>) -> Vec<PendingBlock> {
        let mut records = 0;
        self.pending()
            .take_while(|(number, block)| {
                let first = records == 0;
                records += block.contents.records;
                let begun = pass.is_some_and(|pass| **number <= pass.last_block);
                first || begun || records <= FILE_RECORDS_MAX as u64
            })
            .map(|(number, block)| block.pending(*number, [None; Stream::ALL.len()]))
            .collect()
    }

    fn add(&mut self, number: u64, block: Queued) {
        self.records += block.contents.records;
        self.bytes += block.contents.block_bytes;
        self.unreadable += u64::from(block.contents.unreadable);
        self.blocks.insert(number, block);
        self.next = self.next.max(number.saturating_add(1));
    }

    /// Adds blocks that were appended to the log: their numbers from `first` on, and their places.
    pub(crate) fn publish_appended(
        &mut self,
        first: u64,
        blocks: impl Iterator<Item = (SegmentPlace, Contents)>,
    ) {
        for (number, (place, contents)) in (first..).zip(blocks) {
            let place = Place::Segment(place);
            self.add(number, Queued { contents, place });
        }
    }

    /// Applies the changes of a committed transaction.
    pub(crate) fn publish(&mut self, changes: QueueChanges) {
        for (number, contents) in changes.added {
            let place = Place::Table;
            self.add(number, Queued { contents, place });
        }
        self.set_aside += changes.set_aside;
        if let Some(first) = changes.filed_below {
            let rest = self.blocks.split_off(&first);
            let filed = std::mem::replace(&mut self.blocks, rest);
            for (_, block) in filed.range(self.filed.below..) {
                self.records -= block.contents.records;
                self.bytes -= block.contents.block_bytes;
                self.unreadable -= u64::from(block.contents.unreadable);
            }
            self.filed = Filed {
                below: first,
                pass: None,
            };
        }
    }

    /// The number of the first pending block in a segment, once those below `filed` are filed.
    pub(crate) fn first_in_segments(&self, filed: Option<u64>) -> Option<u64> {
        let mut pending = self.blocks.range(filed.unwrap_or(self.filed.below)..);
        let found = pending.find(|(_, block)| matches!(block.place, Place::Segment(_)));
        found.map(|(number, _)| *number)
    }

    /// The number of the next item of the log.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Records that all blocks are in the table now.
    pub(crate) fn moved_to_table(&mut self) {
        for block in self.blocks.values_mut() {
            block.place = Place::Table;
        }
    }

    /// Sets the least number of the next block.
    pub(crate) fn skip_to(&mut self, next: u64) {
        self.next = self.next.max(next);
    }
}

/// Writes `arrivals` after all pending blocks.
pub(crate) fn append(tables: &mut Tables<'_>, arrivals: Arrivals) -> Result<()> {
    for (block, contents) in arrivals.into_blocks() {
        let number = tables.effects.next_block;
        tables.put(Table::Queue, &number.to_be_bytes(), &block)?;
        tables.effects.next_block += 1;
        tables.effects.queue.added.push((number, contents));
    }
    Ok(())
}

/// The number of the first block that is not both filed and no longer kept.
fn kept_from(read: &impl Read) -> Result<u64> {
    let filed = meta::filed(read)?.below;
    Ok(meta::kept(read)?.map_or(filed, |kept| filed.min(kept.from)))
}

/// Removes filed blocks that are not kept from the table of the queue, for at most a few milliseconds; returns whether there may be more.
pub(crate) fn remove_filed(tables: &Tables<'_>) -> Result<bool> {
    // They are consecutive, so this is as little work as a quarter of it in parts of history.
    const BLOCKS_MAX: usize = 4 * WORK_ROWS_MAX;
    let below = kept_from(tables)?.to_be_bytes();
    let range = (Bound::Unbounded, Bound::Excluded(below.as_slice()));
    tables.remove_some(Table::Queue, range, BLOCKS_MAX)
}

/// Whether [`remove_filed`] has something to do.
pub(crate) fn has_filed(read: &impl Read) -> Result<bool> {
    let below = kept_from(read)?.to_be_bytes();
    let range = (Bound::Unbounded, Bound::Excluded(below.as_slice()));
    let mut found = false;
    read.scan(Table::Queue, range, |_, _| {
        found = true;
        Ok(Step::Break(()))
    })?;
    Ok(found)
}

/// Keeps damaged blocks in the table, for a store without a file for them.
pub(crate) fn keep_damaged(tables: &mut Tables<'_>, damaged: &[Damaged]) -> Result<()> {
    for Damaged { number, bytes, .. } in damaged {
        let key = SET_ASIDE | number;
        tables.put(Table::Queue, &key.to_be_bytes(), bytes)?;
        tables.effects.queue.set_aside += 1;
    }
    Ok(())
}

/// Reads all blocks of the table; returns the number of their records.
pub(crate) fn verify(read: &impl Read) -> Result<u64> {
    let mut index = QueueIndex::default();
    index.reload(read)?;
    Ok(index.records)
}
