//! Filing: moving queued records into per-instance history.
//!
//! A step is prepared from a snapshot, concurrently with the writer, and is then plain data: keys and values to put and keys
//! to remove. Only filing and sealing write history, and one step is prepared at a time, so the snapshot is still current
//! when the step is written, in one transaction with the removal of the blocks it came from.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::limits::{CHUNK_ITEMS_MAX, PROCESS_ITEMS_MAX};
use crate::model::user_key;
use crate::store::meta;
use crate::store::table::{Read, Table, Tables};

use super::block::BlockEncoder;
use super::history::{self, PartWriter};
use super::key_name;
use super::queue::{self, PendingBlock};
use super::rows::{NO_TEXT, Rows};
use super::users::{self, News};

/// One step of filing, ready to be written.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filing {
    /// Records in the blocks, exact repetitions included.
    pub(crate) records: u64,
    blocks: Vec<u64>,
    /// Parts that were taken into others.
    merged: Vec<Vec<u8>>,
    /// Keys and values.
    parts: Vec<(Vec<u8>, Vec<u8>)>,
    users: Vec<(Vec<u8>, Vec<u8>)>,
}

/// Prepares the filing of the oldest of `pending`; `None` when there is none.
pub(crate) fn prepare(read: &impl Read, pending: &[PendingBlock]) -> Result<Option<Filing>> {
    let mut rows = Rows::default();
    let blocks = queue::oldest(read, pending, &mut rows)?;
    if blocks.is_empty() {
        return Ok(None);
    }
    let mut preparation = Preparation {
        read,
        filing: Filing {
            records: rows.len() as u64,
            blocks,
            ..Filing::default()
        },
        rows,
        parts: PartWriter::default(),
        users: BTreeMap::new(),
    };
    for order in preparation.rows.buckets() {
        preparation.add_bucket(order)?;
    }
    preparation.finish().map(Some)
}

/// A step of filing that is being prepared.
struct Preparation<'s, R> {
    read: &'s R,
    filing: Filing,
    /// The records of the blocks, and while a bucket is added, those of the parts it is merged with.
    rows: Rows,
    parts: PartWriter,
    /// By their compare names.
    users: BTreeMap<String, News>,
}

impl<R: Read> Preparation<'_, R> {
    /// Adds the parts that the rows in `order`, all of one bucket, become.
    ///
    /// Parts grow like a binary counter: the new records are merged with the last part if that is no larger than they are, and
    /// so on, so a record is written again only a few times until its part is full.
    fn add_bucket(&mut self, mut order: Vec<u32>) -> Result<()> {
        let Some(first) = order.first() else {
            return Ok(());
        };
        let bucket = self.rows.bucket(*first as usize);
        let prefix = history::bucket_prefix(bucket);
        let (mut heads, mut values) = history::growing(self.read, &prefix, order.len())?;
        history::drop_repetitions(self.read, &heads, &mut self.rows, &mut order)?;
        let end = self.rows.mark();
        if order.is_empty() {
            return Ok(());
        }
        self.note_users(&order);
        let mut next = heads.last().map_or(0, |last| last.number + 1);
        while let Some(last) = heads.pop_if(|last| last.may_take(order.len())) {
            let Some(value) = values.pop() else { break };
            // Those of the part are older: of equal ones they come first.
            let (from, mark) = (self.rows.len(), self.rows.mark());
            let items = self.rows.all_items();
            value.add_to(&mut self.rows)?;
            if self.rows.all_items() - items > CHUNK_ITEMS_MAX - PROCESS_ITEMS_MAX {
                // Full of process items, which its head does not say; so are those before it.
                self.rows.truncate(mark);
                break;
            }
            let taken = from..self.rows.len();
            order.splice(0..0, taken.filter_map(|row| u32::try_from(row).ok()));
            next = last.number;
            self.filing.merged.push(last.key);
        }
        let rows = &self.rows;
        if !order.is_sorted_by_key(|row| rows.order(*row as usize)) {
            rows.sort(&mut order);
        }
        let mut rest = order.as_slice();
        while !rest.is_empty() {
            let (part, tail) = self.parts.write(rows, rest);
            let key = history::part_key(&prefix, next);
            // A part that is put again need not be removed.
            self.filing.merged.pop_if(|merged| *merged == key);
            self.filing.parts.push((key, part));
            rest = tail;
            next += 1;
        }
        self.rows.truncate(end);
        Ok(())
    }

    /// Collects what the rows in `order` contain about their users. Records without a username are skipped.
    fn note_users(&mut self, order: &[u32]) {
        let rows = &self.rows;
        let user = |row: u32| rows.user(row as usize);
        for same in order.chunk_by(|a, b| user(*a) == user(*b)) {
            let Some(first) = same.first().copied().filter(|row| user(*row) != NO_TEXT) else {
                continue;
            };
            let key = user_key(rows.username(first as usize));
            if key.is_empty() {
                continue;
            }
            if !self.users.contains_key(key.as_ref()) {
                self.users.insert(key.clone().into_owned(), News::default());
            }
            if let Some(news) = self.users.get_mut(key.as_ref()) {
                for row in same {
                    news.add(rows, *row);
                }
            }
        }
    }

    fn finish(mut self) -> Result<Filing> {
        let mut encoder = BlockEncoder::default();
        for (user, news) in &self.users {
            let key = key_name(user);
            let value = users::updated(self.read, &key, &mut self.rows, news, &mut encoder)?;
            self.filing.users.extend(value.map(|value| (key, value)));
        }
        Ok(self.filing)
    }
}

impl Filing {
    /// Writes the step. Does nothing when one of its blocks was filed meanwhile.
    pub(crate) fn apply(self, tables: &mut Tables<'_>) -> Result<()> {
        let first = meta::first_unfiled(tables)?;
        if self.blocks.first().is_none_or(|block| *block < first) {
            return Ok(());
        }
        queue::remove(tables, &self.blocks)?;
        for key in &self.merged {
            history::remove_part(tables, key)?;
        }
        for (key, value) in &self.parts {
            tables.put(Table::History, key, value)?;
        }
        for (key, value) in &self.users {
            tables.put(Table::Users, key, value)?;
        }
        Ok(())
    }
}
