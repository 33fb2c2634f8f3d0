//! Filing: moving queued records into per-instance history.
//!
//! A step is prepared from a snapshot, beside the writer, and is then plain data: keys and values to put and keys to
//! remove. Nothing but filing and sealing puts into history and one step is prepared at a time, so what the snapshot said
//! still holds when the step is written, in one transaction with the removal of the blocks it came from.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::limits::{CHUNK_BYTES_MAX, CHUNK_RECORDS_MAX};
use crate::model::{Received, history_order, user_key, without_repetitions};
use crate::store::table::{Read, Table, Tables};

use super::history::{self, Bucket, PartHead};
use super::queue;
use super::users::{self, UserLatest};

/// One step of filing, ready to be written.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filing {
    /// Records in the blocks, exact repetitions included.
    pub(crate) records: u64,
    blocks: Vec<u64>,
    parts: Vec<(Vec<u8>, Vec<u8>)>,
    merged: Vec<Vec<u8>>,
    users: BTreeMap<String, UserLatest>,
}

/// Prepares the filing of the oldest blocks; `None` when nothing waits.
pub(crate) fn prepare(read: &impl Read) -> Result<Option<Filing>> {
    let mut filing = Filing::default();
    let mut records = Vec::new();
    for (number, block) in queue::oldest(read)? {
        filing.blocks.push(number);
        records.extend(block);
    }
    if filing.blocks.is_empty() {
        return Ok(None);
    }
    filing.records = records.len() as u64;
    // Stable, so that of the records of one bucket the first accepted stays the first.
    records.sort_by(|a, b| Bucket::order(a).cmp(&Bucket::order(b)));
    for same in history::by_bucket(records) {
        if let Some(bucket) = same.first().map(Bucket::of) {
            filing.add_bucket(read, &bucket, same)?;
        }
    }
    Ok(Some(filing))
}

impl Filing {
    /// Adds the parts that `records`, all of `bucket`, become.
    ///
    /// Parts grow like a binary counter: the new records take in the last part where that is no larger than they are, and
    /// so on, so a record is written again only a few times until its part is full.
    fn add_bucket(
        &mut self,
        read: &impl Read,
        bucket: &Bucket,
        records: Vec<Received>,
    ) -> Result<()> {
        let prefix = bucket.prefix();
        let mut heads = history::heads(read, &prefix)?;
        let known = history::meeting(read, &heads, &records)?;
        let mut fresh = without_repetitions(&known, records);
        if fresh.is_empty() {
            return Ok(());
        }
        self.note_users(read, &fresh)?;
        let mut next = heads.last().map_or(0, |last| last.part + 1);
        while let Some(last) = heads.pop_if(|last| last.records <= fresh.len() && last.has_room()) {
            let mut merged = history::part(read, &last.key)?;
            merged.append(&mut fresh);
            fresh = merged;
            next = last.part;
            self.merged.push(last.key);
        }
        fresh.sort_by_key(history_order);
        let mut rest = fresh.as_slice();
        while !rest.is_empty() {
            let (part, tail) = history::encode(rest);
            self.parts.push((history::part_key(&prefix, next), part));
            rest = tail;
            next += 1;
        }
        Ok(())
    }

    /// Takes what `records` tell of their users over what is known. Records without a username are nobody's.
    fn note_users(&mut self, read: &impl Read, records: &[Received]) -> Result<()> {
        let mut by_name: BTreeMap<&str, Vec<&Received>> = BTreeMap::new();
        for received in records {
            by_name
                .entry(received.record.username())
                .or_default()
                .push(received);
        }
        for (name, records) in by_name {
            let user = user_key(name).into_owned();
            if user.is_empty() {
                continue;
            }
            let known = match self.users.remove(&user) {
                Some(known) => Some(known),
                None => users::get(read, &user)?,
            };
            if let Some(latest) = UserLatest::newest(known, records.into_iter()) {
                self.users.insert(user, latest);
            }
        }
        Ok(())
    }

    /// Writes the step. Does nothing when a block of it is gone.
    pub(crate) fn apply(self, tables: &mut Tables<'_>) -> Result<()> {
        for number in &self.blocks {
            if !tables.contains(Table::Queue, &number.to_be_bytes())? {
                return Ok(());
            }
        }
        queue::remove(tables, &self.blocks)?;
        for key in &self.merged {
            history::remove_part(tables, key)?;
        }
        for (key, value) in &self.parts {
            tables.put(Table::History, key, value)?;
        }
        for (user, latest) in &self.users {
            users::put(tables, user, latest)?;
        }
        Ok(())
    }
}

impl PartHead {
    /// Whether the part may still take records in.
    fn has_room(&self) -> bool {
        self.records < CHUNK_RECORDS_MAX && self.bytes < CHUNK_BYTES_MAX
    }
}
