//! The index entries of queue blocks in memory, and the changes of a transaction.

use crate::model::{Stream, user_key};
use crate::timestamp::Timestamp;

use super::rows::Rows;
use super::texts::hash;

/// The newest filed time of each stream in a block, if any.
type Newest = [Option<Timestamp>; Stream::ALL.len()];

/// The index entry of a block: its record count, its oldest and newest times, and hashes of the names in it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Contents {
    pub(super) records: u64,
    /// The bytes of the block.
    pub(super) block_bytes: u64,
    /// When its first record was received.
    pub(super) received_at: Option<Timestamp>,
    newest: Newest,
    /// Whether it is unreadable.
    pub(super) unreadable: bool,
    /// Hashes of (stream, instance) and of (stream, user); sorted once the block is complete. A collision costs a useless read of
    /// a block.
    names: Vec<u64>,
}

impl Contents {
    /// The entry of `block`, which has these rows.
    pub(super) fn from_rows(rows: &Rows, block: &[u8]) -> Self {
        let mut contents = Self::default();
        for row in 0..rows.len() {
            let names = (rows.instance_id(row), rows.username(row));
            let times = (rows.received_at(row), rows.filed_at(row));
            contents.add(rows.stream(row), names, times);
        }
        contents.take_whole(block)
    }

    /// The entry of an unreadable `block`.
    pub(super) fn unreadable(block: &[u8]) -> Self {
        Self {
            block_bytes: block.len() as u64,
            unreadable: true,
            ..Self::default()
        }
    }

    /// Adds a record: its stream, its instance and user, when it was received and where it is filed.
    pub(super) fn add(
        &mut self,
        stream: Stream,
        (instance, user): (&str, &str),
        (received, filed): (Timestamp, Timestamp),
    ) {
        self.records += 1;
        self.received_at.get_or_insert(received);
        if let Some(newest) = self.newest.get_mut(usize::from(stream.number() - 1)) {
            *newest = (*newest).max(Some(filed));
        }
        self.names.push(instance_hash(stream, instance));
        self.names.push(user_hash(stream, &user_key(user)));
    }

    /// Finishes the entry of `block` in as little memory as possible, and starts an empty one.
    pub(super) fn take_whole(&mut self, block: &[u8]) -> Self {
        self.names.sort_unstable();
        self.names.dedup();
        let names = self.names.as_slice().to_vec();
        self.names.clear();
        Self {
            records: std::mem::take(&mut self.records),
            block_bytes: block.len() as u64,
            received_at: self.received_at.take(),
            newest: std::mem::take(&mut self.newest),
            unreadable: false,
            names,
        }
    }

    /// The memory of the names, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.names.capacity() * size_of::<u64>()
    }

    /// The newest filed time of a stream; `None` without a record of it.
    pub(super) fn newest(&self, stream: Stream) -> Option<Timestamp> {
        *self.newest.get(usize::from(stream.number() - 1))?
    }

    /// Whether the finished entry has a name.
    pub(super) fn has_name(&self, hash: u64) -> bool {
        self.names.binary_search(&hash).is_ok()
    }
}

pub(super) fn instance_hash(stream: Stream, instance: &str) -> u64 {
    hash(stream.number(), instance)
}

pub(super) fn user_hash(stream: Stream, user_key: &str) -> u64 {
    hash(stream.number() | 0x80, user_key)
}

/// The changes of a transaction to the queue.
#[derive(Debug, Default)]
pub(crate) struct QueueChanges {
    pub(super) added: Vec<(u64, Contents)>,
    /// All blocks below this number were filed.
    pub(in crate::store) filed_below: Option<u64>,
    /// Blocks that were set aside in the table.
    pub(super) set_aside: u64,
}
