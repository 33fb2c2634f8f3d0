//! The durable arrival queue: blocks of records in the order they were accepted.
//!
//! Key: block number, 8 bytes big-endian. Value: a block. An index in memory tells which blocks a question needs.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::limits::{FILE_RECORDS_MAX, FILE_TEXT_BYTES_MAX};
use crate::model::{Received, Stream};
use crate::store::codec::Decoder;
use crate::store::table::{ALL_KEYS, Read, Step, Table, Tables};

use super::arrivals::Arrivals;
use super::codec;
use super::contents::{Contents, QueueChanges, instance_hash, user_hash};

/// Which blocks wait and what is in them; held in memory, rebuilt when the store is opened.
#[derive(Debug, Default)]
pub(crate) struct QueueIndex {
    blocks: BTreeMap<u64, Contents>,
    records: u64,
    /// The number of the next block; never used twice while the store is open.
    next: u64,
}

/// A block number and the time-ordered question it may answer.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Wanted<'a> {
    /// Records of one instance.
    Instance(Stream, &'a str),
    /// Records of one user, by [`user_key`].
    User(&'a str),
    /// Every record of a stream.
    Stream(Stream),
}

impl QueueIndex {
    /// Reads the whole queue.
    pub(crate) fn rebuild(read: &impl Read) -> Result<Self> {
        let mut index = Self::default();
        read.scan(Table::Queue, ALL_KEYS, |key, block| {
            let number = block_number(key)?;
            index.add(number, &codec::decode(block)?);
            index.next = number + 1;
            Ok(Step::Continue(()))
        })?;
        Ok(index)
    }

    /// Records that wait.
    pub(crate) fn records(&self) -> u64 {
        self.records
    }

    /// The blocks that may hold what is wanted, oldest first.
    pub(crate) fn blocks(&self, wanted: Wanted<'_>) -> Vec<u64> {
        let hash = match wanted {
            Wanted::Instance(stream, instance) => instance_hash(stream, instance),
            Wanted::User(user_key) => user_hash(user_key),
            Wanted::Stream(_) => 0,
        };
        let holds = |contents: &Contents| match wanted {
            Wanted::Stream(stream) => contents.has_stream(stream),
            Wanted::Instance(..) | Wanted::User(_) => contents.has_name(hash),
        };
        self.blocks
            .iter()
            .filter(|(_, contents)| holds(contents))
            .map(|(number, _)| *number)
            .collect()
    }

    fn add(&mut self, number: u64, records: &[Received]) {
        self.records += records.len() as u64;
        self.blocks.insert(number, Contents::of(records));
    }

    /// Takes over what a committed transaction did to the queue.
    pub(crate) fn publish(&mut self, changes: QueueChanges) {
        for (number, contents) in changes.added {
            self.records += contents.records;
            self.blocks.insert(number, contents);
            self.next = self.next.max(number + 1);
        }
        for number in changes.removed {
            if let Some(contents) = self.blocks.remove(&number) {
                self.records -= contents.records;
            }
        }
    }

    pub(crate) fn next(&self) -> u64 {
        self.next
    }
}

/// Writes `arrivals` behind what waits.
pub(crate) fn append(tables: &mut Tables<'_>, arrivals: Arrivals) -> Result<()> {
    for (block, contents) in arrivals.into_blocks() {
        let number = tables.effects.next_block;
        tables.put(Table::Queue, &number.to_be_bytes(), &block)?;
        tables.effects.next_block += 1;
        tables.effects.queue.added.push((number, contents));
    }
    Ok(())
}

/// The oldest blocks that wait, no more than fit the bounds of a step of filing unless the first alone does not.
pub(crate) fn oldest(read: &impl Read) -> Result<Vec<(u64, Vec<Received>)>> {
    let mut blocks = Vec::new();
    let (mut records, mut text_bytes) = (0, 0);
    read.scan(Table::Queue, ALL_KEYS, |key, block| {
        let counts = codec::counts(block)?;
        records += counts.records;
        text_bytes += counts.text_bytes;
        let too_much = records > FILE_RECORDS_MAX || text_bytes > FILE_TEXT_BYTES_MAX;
        if too_much && !blocks.is_empty() {
            return Ok(Step::Break(()));
        }
        blocks.push((block_number(key)?, codec::decode(block)?));
        Ok(Step::Continue(()))
    })?;
    Ok(blocks)
}

/// Removes blocks that were filed.
pub(super) fn remove(tables: &mut Tables<'_>, numbers: &[u64]) -> Result<()> {
    for number in numbers {
        tables.remove(Table::Queue, &number.to_be_bytes())?;
    }
    tables.effects.queue.removed.extend_from_slice(numbers);
    Ok(())
}

/// The records of the blocks that wait still; a block filed since the index was read is in history instead.
pub(crate) fn read_blocks(read: &impl Read, numbers: &[u64]) -> Result<Vec<Received>> {
    let mut records = Vec::new();
    for number in numbers {
        let block = read.get(Table::Queue, &number.to_be_bytes(), codec::decode)?;
        records.extend(block.unwrap_or_default());
    }
    Ok(records)
}

/// The records that wait, counted from the file.
pub(crate) fn count(read: &impl Read) -> Result<u64> {
    let mut records = 0;
    read.scan(Table::Queue, ALL_KEYS, |_, block| {
        records += codec::counts(block)?.records as u64;
        Ok(Step::Continue(()))
    })?;
    Ok(records)
}

fn block_number(key: &[u8]) -> Result<u64> {
    let mut decoder = Decoder::new(key);
    let number = u64::from_be_bytes(decoder.array()?);
    decoder.end()?;
    Ok(number)
}
