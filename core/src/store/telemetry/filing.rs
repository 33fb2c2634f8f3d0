//! Filing: moving queued records into per-instance history.
//!
//! A pass files the oldest blocks. It is written in slices of bounded work, each a transaction of its own, so that no other write
//! waits long. A slice has the parts of some buckets, in the order of their keys, the newest records of their users, their
//! rollups, and the progress of the pass. A read of a block of the pass skips what is filed of it, also in a pass that continues
//! after a crash. The last slice removes all its blocks from the queue.
//!
//! A slice is prepared from a snapshot, concurrently with the writer, and is then plain data: keys and values to put and keys
//! to remove. Only filing and sealing write history, and one of them is prepared and written at a time, so the snapshot is still
//! current when the slice is written.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::Result;
use crate::limits::{CHUNK_ITEMS_MAX, PROCESS_ITEMS_MAX};
use crate::model::{WriteClass, user_key};
use crate::sorting::sorted_by_key;
use crate::store::codec::damaged;
use crate::store::disk::damage::Damaged;
use crate::store::fleet::held;
use crate::store::fleet::held_names::HeldNames;
use crate::store::meta::{self, Filed, PassPlace};
use crate::store::rollup::{Changes, RollupRows};
use crate::store::table::{Read, Table, Tables};

use super::accepted::{forget_kept, set_kept_until};
use super::block::BlockEncoder;
use super::history::{self, PartHead, PartWriter};
use super::key_name;
use super::pending_block::{self, Oldest, PendingBlock};
use super::queue::{keep_damaged, remove_filed};
use super::recent::{self, RecentActivities, RecentBlocks};
use super::removal::{Omitted, Removal};
use super::rows::{NO_TEXT, Rows};
use super::users::{self, News};
use super::work::Work;

/// A slice of a pass, ready to be written.
#[derive(Debug, Clone, Default)]
pub(crate) struct Slice {
    /// The names on hold by which it leaves records out, for a removal, which frees space.
    held: Option<Arc<HeldNames>>,
    /// Records that the whole pass files.
    records: u64,
    /// How far the queue must be filed.
    before: Filed,
    /// The progress after the slice, unless the pass ends.
    after: Option<PassPlace>,
    /// The last block of the pass.
    last_block: u64,
    /// Records that the pass removes from the queue and cannot file.
    set_aside: u64,
    /// Whether the blocks of the pass stay in the table.
    keeps_blocks: bool,
    /// The unreadable blocks that the table must keep.
    kept: Vec<Damaged>,
    /// Parts that were merged into others.
    merged: Vec<Vec<u8>>,
    /// Keys and values.
    parts: Vec<(Vec<u8>, Vec<u8>)>,
    users: Vec<(Vec<u8>, Vec<u8>)>,
    recent: RecentBlocks,
    rollups: RollupRows,
    work: Work,
}

/// A pass: the oldest blocks, which are filed slice by slice.
#[derive(Debug)]
pub(crate) struct Pass {
    records: u64,
    /// The names on hold by which it leaves records out, for a removal.
    held: Option<Arc<HeldNames>>,
    /// The records that it leaves out.
    omitted: Omitted,
    /// The progress once the slice before is written.
    filed: Filed,
    last_block: u64,
    /// The blocks that it removes from the queue and cannot file.
    damaged: Vec<Damaged>,
    /// Whether the table keeps them.
    keeps_damaged: bool,
    /// Whether it keeps all others.
    keeps_blocks: bool,
    /// The records of the blocks, and of the parts with which the current bucket is merged.
    rows: Rows,
    /// The prefix of the keys of each bucket, and its rows.
    buckets: std::vec::IntoIter<(Vec<u8>, Vec<u32>)>,
    has_ended: bool,
    parts: PartWriter,
    encoder: BlockEncoder,
    /// The most work of a slice.
    slice_max: Work,
}

impl Pass {
    /// Begins with the oldest of `blocks`, or continues a pass that did not end; `None` without a block. No slice takes more work
    /// than `slice_max` and its last bucket. For a `removal`, which frees space, all slices are essential and leave out the
    /// selected records.
    pub(crate) fn begin(
        read: &impl Read,
        blocks: Vec<PendingBlock>,
        slice_max: Work,
        removal: Option<&Removal<'_>>,
    ) -> Result<Option<Self>> {
        let mut rows = Rows::default();
        let blocks = pending_block::unfiled(read, blocks)?;
        let Oldest { last, damaged } = pending_block::oldest(read, &blocks, &mut rows)?;
        let Some(last_block) = last else {
            return Ok(None);
        };
        let records = rows.len() as u64;
        let omitted = removal.map(|removal| removal.drop_from(&mut rows));
        Ok(Some(Self {
            records,
            held: removal.map(|removal| Arc::clone(&removal.held)),
            omitted: omitted.unwrap_or_default(),
            filed: meta::filed(read)?,
            last_block,
            damaged,
            keeps_damaged: false,
            keeps_blocks: false,
            buckets: buckets(&rows).into_iter(),
            rows,
            has_ended: false,
            parts: PartWriter::default(),
            encoder: BlockEncoder::default(),
            slice_max,
        }))
    }

    /// Records that it files, exact repetitions and left-out ones included.
    pub(crate) fn records(&self) -> u64 {
        self.records
    }

    /// Records that its written slices have left out.
    pub(crate) fn omitted(&self, read: &impl Read) -> Result<u64> {
        if self.is_written(read)? {
            return Ok(self.omitted.all());
        }
        let place = meta::filed(read)?.pass;
        Ok(place.map_or(0, |place| self.omitted.until(&place.bucket)))
    }

    /// Whether all of it is written.
    pub(crate) fn is_written(&self, read: &impl Read) -> Result<bool> {
        Ok(meta::filed(read)?.below > self.last_block)
    }

    /// The unreadable blocks. They must be kept elsewhere before a slice is written, unless the table keeps them.
    pub(crate) fn damaged(&self) -> &[Damaged] {
        &self.damaged
    }

    /// Whether one of them is in the table.
    pub(crate) fn met_damage_in_table(&self) -> bool {
        self.damaged.iter().any(|damaged| damaged.is_in_table)
    }

    /// Makes the last slice keep the unreadable blocks in the table.
    pub(crate) fn keep_damaged(&mut self) {
        self.keeps_damaged = true;
    }

    /// Records that its blocks are in the table, where they stay.
    pub(crate) fn keep_blocks(&mut self) {
        self.keeps_blocks = true;
    }

    /// The number of its last block.
    pub(crate) fn last_block(&self) -> u64 {
        self.last_block
    }

    /// Whether the last slice is prepared.
    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Prepares the next slice, from the state after the one before; `None` after the last.
    pub(crate) fn next_slice(&mut self, read: &impl Read) -> Result<Option<Slice>> {
        if self.has_ended {
            return Ok(None);
        }
        let mut preparation = Preparation {
            read,
            slice: Slice {
                held: self.held.clone(),
                keeps_blocks: self.keeps_blocks,
                records: self.records,
                before: self.filed.clone(),
                last_block: self.last_block,
                set_aside: self.damaged.iter().map(|damaged| damaged.records).sum(),
                ..Slice::default()
            },
            rows: &mut self.rows,
            parts: &mut self.parts,
            users: BTreeMap::new(),
            news: Vec::new(),
            recent: RecentActivities::new(read)?,
            rollups: Changes::default(),
        };
        let mut place = None;
        while !preparation.work().is_all(self.slice_max)
            && let Some((prefix, order)) = self.buckets.next()
        {
            preparation.add_bucket(&prefix, order)?;
            place = Some(prefix);
        }
        let mut slice = preparation.finish(&mut self.encoder)?;
        self.has_ended = self.buckets.len() == 0;
        let place = place.filter(|_| !self.has_ended);
        slice.after = place.map(|bucket| PassPlace {
            last_block: self.last_block,
            bucket,
        });
        self.filed.pass.clone_from(&slice.after);
        if self.has_ended && self.keeps_damaged {
            slice.kept = std::mem::take(&mut self.damaged);
        }
        Ok(Some(slice))
    }
}

/// The prefix of the keys of each bucket of `rows`, in order, and its rows.
fn buckets(rows: &Rows) -> Vec<(Vec<u8>, Vec<u32>)> {
    let prefix = |order: &Vec<u32>| {
        let first = order.first().copied().unwrap_or_default();
        history::bucket_prefix(rows.bucket(first as usize))
    };
    let keyed = rows
        .buckets()
        .into_iter()
        .map(|order| (prefix(&order), order));
    let mut buckets: Vec<_> = keyed.collect();
    let order = sorted_by_key(buckets.len(), |place| {
        buckets.get(place).map(|bucket| &bucket.0)
    });
    let take = |place: u32| buckets.get_mut(place as usize).map(std::mem::take);
    order.into_iter().filter_map(take).collect()
}

/// A slice that is being prepared.
struct Preparation<'p, R> {
    read: &'p R,
    slice: Slice,
    rows: &'p mut Rows,
    parts: &'p mut PartWriter,
    /// The indexes of users in `news`, by their compare names; 64 bits wide, so that all maps of texts share one compiled copy.
    users: BTreeMap<String, u64>,
    news: Vec<News>,
    recent: RecentActivities,
    rollups: Changes,
}

impl<R: Read> Preparation<'_, R> {
    /// The work to write the slice so far; each user, rollup and block of activities is written once at the end.
    fn work(&self) -> Work {
        let rows = self.users.len() + self.rollups.len() + self.recent.table_rows();
        self.slice.work.with_rows(rows)
    }

    /// Adds the parts that the rows in `order`, all of one bucket, become.
    ///
    /// Parts grow like a binary counter: the new records are merged with the last part if that is no larger than they are, and
    /// so on, so a record is written again only a few times until its part is full.
    fn add_bucket(&mut self, prefix: &[u8], mut order: Vec<u32>) -> Result<()> {
        let (mut heads, mut values) = history::growing(self.read, prefix, order.len())?;
        let bucket = self
            .rows
            .bucket(order.first().map_or(0, |row| *row as usize));
        let instance = self.rollups.instance(self.read, bucket)?;
        let ahead_until = self.rollups.ahead_until(instance.as_ref());
        history::drop_repetitions(self.read, &heads, self.rows, &mut order, ahead_until)?;
        let end = self.rows.mark();
        if order.is_empty() {
            return Ok(());
        }
        self.note_users(&order);
        self.recent.add(self.rows, &order);
        self.rollups
            .add(self.read, self.rows, &order, instance.as_ref())?;
        let follows = |last: &PartHead| last.number.checked_add(1).ok_or_else(damaged);
        let mut next = heads.last().map_or(Ok(0), follows)?;
        while let Some(last) = heads.pop_if(|last| last.may_take(order.len())) {
            let Some(value) = values.pop() else { break };
            // Records of the part are older: among equal ones they come first.
            let (from, mark) = (self.rows.len(), self.rows.mark());
            let items = self.rows.all_items();
            value.add_to(self.rows)?;
            if self.rows.all_items() - items > CHUNK_ITEMS_MAX - PROCESS_ITEMS_MAX {
                // The part is full of process items, which its head does not show; so are those before it.
                self.rows.truncate(mark);
                break;
            }
            let taken = from..self.rows.len();
            order.splice(0..0, taken.filter_map(|row| u32::try_from(row).ok()));
            next = last.number;
            self.slice.merged.push(last.key);
            self.slice.work.add(0);
        }
        let rows = &*self.rows;
        if !order.is_sorted_by_key(|row| rows.order(*row as usize)) {
            rows.sort(&mut order);
        }
        let mut rest = order.as_slice();
        while !rest.is_empty() {
            let (part, tail) = self.parts.write(rows, rest);
            let key = history::part_key(prefix, next);
            // A part that is replaced need not be removed.
            self.slice.merged.pop_if(|merged| *merged == key);
            self.slice.work.add(part.len());
            self.slice.parts.push((key, part));
            rest = tail;
            next = next.checked_add(1).ok_or_else(damaged)?;
        }
        self.rows.truncate(end);
        Ok(())
    }

    /// Collects the newest records of the users in `order`. Records without a username are skipped.
    fn note_users(&mut self, order: &[u32]) {
        let rows = &*self.rows;
        let user = |row: u32| rows.user(row as usize);
        for same in order.chunk_by(|a, b| user(*a) == user(*b)) {
            let Some(first) = same.first().copied().filter(|row| user(*row) != NO_TEXT) else {
                continue;
            };
            let key = user_key(rows.username(first as usize));
            if key.is_empty() {
                continue;
            }
            let known = self.users.get(key.as_ref()).copied();
            let place = known.unwrap_or(self.news.len() as u64);
            if known.is_none() {
                self.users.insert(key.into_owned(), place);
                self.news.push(News::default());
            }
            let place = usize::try_from(place).unwrap_or(usize::MAX);
            if let Some(news) = self.news.get_mut(place) {
                for row in same {
                    news.add(rows, *row);
                }
            }
        }
    }

    fn finish(mut self, encoder: &mut BlockEncoder) -> Result<Slice> {
        for (user, place) in &self.users {
            let place = usize::try_from(*place).unwrap_or(usize::MAX);
            let Some(news) = self.news.get(place) else {
                continue;
            };
            let key = key_name(user);
            let value = users::updated(self.read, &key, self.rows, news, encoder)?;
            self.slice.users.extend(value.map(|value| (key, value)));
        }
        self.slice.recent = self.recent.finish(self.read, self.rows, encoder)?;
        self.slice.rollups = self.rollups.finish();
        Ok(self.slice)
    }
}

impl Slice {
    /// Records that the whole pass files, exact repetitions included.
    pub(crate) fn records(&self) -> u64 {
        self.records
    }

    /// Records that the whole pass removes from the queue and cannot file.
    pub(crate) fn set_aside(&self) -> u64 {
        self.set_aside
    }

    /// The class of its write.
    pub(crate) fn class(&self) -> WriteClass {
        if self.held.is_some() {
            WriteClass::Essential
        } else {
            WriteClass::Filing
        }
    }

    /// Writes the slice. Does nothing if the queue is not filed as far as when this was prepared, or if it leaves records out and
    /// a hold was written since. Returns whether [`remove_filed`] has something to do.
    pub(crate) fn apply(self, tables: &mut Tables<'_>) -> Result<bool> {
        if let Some(names) = &self.held
            && !Arc::ptr_eq(names, &held::names(tables)?)
        {
            return Ok(false);
        }
        if meta::filed(tables)? != self.before {
            return Ok(false);
        }
        for key in &self.merged {
            history::remove_part(tables, key)?;
        }
        for (key, value) in &self.parts {
            tables.put(Table::History, key, value)?;
        }
        for (key, value) in &self.users {
            tables.put(Table::Users, key, value)?;
        }
        keep_damaged(tables, &self.kept)?;
        self.recent.put(tables)?;
        self.rollups.put(tables)?;
        if self.after.is_some() {
            let filed = Filed {
                pass: self.after,
                ..self.before
            };
            meta::set_filed(tables, &filed)?;
            return Ok(false);
        }
        let below = self.last_block.saturating_add(1);
        meta::set_filed(tables, &Filed { below, pass: None })?;
        tables.effects.queue.filed_below = Some(below);
        if self.keeps_blocks {
            set_kept_until(tables, below)?;
        } else {
            forget_kept(tables)?;
        }
        let more = remove_filed(tables)?;
        Ok(recent::remove_left_out(tables)? || more)
    }
}
