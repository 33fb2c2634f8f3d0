//! The durable arrival queue: blocks of records in the order they were accepted.
//!
//! Key: block number, 8 bytes big-endian. Value: a block. An index in memory says which blocks a query needs.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::limits::{FILE_ITEMS_MAX, FILE_RECORDS_MAX, FILE_TEXT_BYTES_MAX};
use crate::model::Stream;
use crate::store::codec::Decoder;
use crate::store::table::{ALL_KEYS, Read, Step, Table, Tables};
use crate::timestamp::Timestamp;

use super::arrivals::Arrivals;
use super::block;
use super::contents::{Contents, QueueChanges, instance_hash, user_hash};
use super::rows::Rows;

/// Which blocks are pending and what is in them; held in memory, rebuilt when the store is opened.
#[derive(Debug, Default)]
pub(crate) struct QueueIndex {
    blocks: BTreeMap<u64, Contents>,
    records: u64,
    /// The bytes of the blocks.
    bytes: u64,
    /// The number of the next block; never used twice while the store is open.
    next: u64,
}

/// A block that may hold records of a query.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PendingBlock {
    pub(crate) number: u64,
    /// As [`Self::newest`], in the order of [`Stream::ALL`].
    newest: [Option<Timestamp>; Stream::ALL.len()],
}

impl PendingBlock {
    /// The newest filed time of `stream` in it, if it may hold records of the query.
    pub(crate) fn newest(&self, stream: Stream) -> Option<Timestamp> {
        *self.newest.get(usize::from(stream.number() - 1))?
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
}

impl QueueIndex {
    /// Reads the whole queue.
    pub(crate) fn rebuild(read: &impl Read) -> Result<Self> {
        let mut index = Self::default();
        let mut rows = Rows::default();
        read.scan(Table::Queue, ALL_KEYS, |key, block| {
            let number = block_number(key)?;
            rows.clear();
            block::decode_into(block, &mut rows)?;
            index.add(number, Contents::of(&rows, block));
            index.next = number + 1;
            Ok(Step::Continue(()))
        })?;
        Ok(index)
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
        let (_, first) = self.blocks.first_key_value()?;
        first.received_at
    }

    /// The blocks that may hold records of a query, oldest first, with the newest time of each stream that may be in them.
    pub(crate) fn blocks(&self, wanted: Wanted<'_>) -> Vec<PendingBlock> {
        let hashes = Stream::ALL.map(|stream| match wanted {
            Wanted::Instance(of, instance) if of == stream => Some(instance_hash(of, instance)),
            Wanted::User(user_key) => Some(user_hash(stream, user_key)),
            Wanted::Instance(..) | Wanted::Stream(_) => None,
        });
        let newest = |contents: &Contents| {
            let mut newest = [None; Stream::ALL.len()];
            for ((stream, hash), newest) in Stream::ALL.into_iter().zip(hashes).zip(&mut newest) {
                *newest = contents.newest(stream).filter(|_| match hash {
                    Some(hash) => contents.has_name(hash),
                    None => matches!(wanted, Wanted::Stream(of) if of == stream),
                });
            }
            newest
        };
        self.blocks
            .iter()
            .map(|(number, contents)| PendingBlock {
                number: *number,
                newest: newest(contents),
            })
            .filter(|block| block.newest.iter().any(Option::is_some))
            .collect()
    }

    fn add(&mut self, number: u64, contents: Contents) {
        self.records += contents.records;
        self.bytes += contents.block_bytes;
        self.blocks.insert(number, contents);
    }

    /// Adds what a committed transaction did to the queue.
    pub(crate) fn publish(&mut self, changes: QueueChanges) {
        for (number, contents) in changes.added {
            self.add(number, contents);
            self.next = self.next.max(number + 1);
        }
        for number in changes.removed {
            if let Some(contents) = self.blocks.remove(&number) {
                self.records -= contents.records;
                self.bytes -= contents.block_bytes;
            }
        }
    }

    pub(crate) fn next(&self) -> u64 {
        self.next
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

/// Adds the records of the oldest blocks to `rows`, no more than fit the bounds of a step of filing unless the first alone does
/// not; returns the numbers of the blocks.
pub(super) fn oldest(read: &impl Read, rows: &mut Rows) -> Result<Vec<u64>> {
    let mut blocks = Vec::new();
    let (mut records, mut text_bytes) = (0, 0);
    read.scan(Table::Queue, ALL_KEYS, |key, block| {
        let counts = block::counts(block)?;
        records += counts.records;
        text_bytes += counts.text_bytes;
        let too_much = records > FILE_RECORDS_MAX || text_bytes > FILE_TEXT_BYTES_MAX;
        if too_much && !blocks.is_empty() {
            return Ok(Step::Break(()));
        }
        blocks.push(block_number(key)?);
        block::decode_into(block, rows)?;
        Ok(if rows.all_items() < FILE_ITEMS_MAX {
            Step::Continue(())
        } else {
            Step::Break(())
        })
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

/// Adds the records of a block to `rows`; none when it was filed after the index was read: they are in history then.
pub(crate) fn add_block(read: &impl Read, number: u64, rows: &mut Rows) -> Result<()> {
    read.get(Table::Queue, &number.to_be_bytes(), |block| {
        block::decode_into(block, rows)
    })?;
    Ok(())
}

/// Reads the whole queue; returns how many records are in it.
pub(crate) fn verify(read: &impl Read) -> Result<u64> {
    Ok(QueueIndex::rebuild(read)?.records)
}

fn block_number(key: &[u8]) -> Result<u64> {
    let mut decoder = Decoder::new(key);
    let number = u64::from_be_bytes(decoder.array()?);
    decoder.end()?;
    Ok(number)
}
