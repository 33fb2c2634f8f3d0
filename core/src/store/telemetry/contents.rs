//! What the index in memory keeps of a queue block, and what a transaction changes there.

use crate::model::{Stream, user_key};
use crate::timestamp::Timestamp;

use super::rows::Rows;
use super::texts::hash;

/// The newest filed time of each stream, where there is one.
type Newest = [Option<Timestamp>; Stream::ALL.len()];

/// What a block holds: its record count, how old and how new it is, and hashes of the names in it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Contents {
    pub(super) records: u64,
    /// The bytes of the block.
    pub(super) block_bytes: u64,
    /// When its first record was received.
    pub(super) received_at: Option<Timestamp>,
    newest: Newest,
    /// Whether nothing of it could be read.
    pub(super) unreadable: bool,
    /// Hashes of (stream, instance) and of (stream, user); sorted once it is whole. A collision costs reading a block in vain.
    names: Vec<u64>,
}

impl Contents {
    /// Of `block`, which holds these rows.
    pub(super) fn from_rows(rows: &Rows, block: &[u8]) -> Self {
        let mut contents = Self::default();
        for row in 0..rows.len() {
            let names = (rows.instance_id(row), rows.username(row));
            let times = (rows.received_at(row), rows.filed_at(row));
            contents.add(rows.stream(row), names, times);
        }
        contents.take_whole(block)
    }

    /// Of `block`, which cannot be read.
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

    /// All that was added, which is in `block`, in no more memory than it takes; another block can be begun then.
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

    /// The newest filed time of a stream; `None` when there is nothing of it.
    pub(super) fn newest(&self, stream: Stream) -> Option<Timestamp> {
        *self.newest.get(usize::from(stream.number() - 1))?
    }

    /// Whether a name is in what is whole.
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

/// What a transaction did to the queue.
#[derive(Debug, Default)]
pub(crate) struct QueueChanges {
    pub(super) added: Vec<(u64, Contents)>,
    /// All blocks below this number were filed.
    pub(in crate::store) filed_below: Option<u64>,
    /// Blocks that were set aside in the table.
    pub(super) set_aside: u64,
}
