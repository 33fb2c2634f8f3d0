//! What is remembered of a block beside the file, and what a transaction changes of that.

use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher;

use crate::model::{Received, RecordRef, Stream, user_key};

/// What a block holds: its record count, and hashes of the names in it.
#[derive(Debug, Clone, Default)]
pub(super) struct Contents {
    pub(super) records: u64,
    streams: u8,
    /// Hashes of (stream, instance) and of users, sorted once the block is closed. A collision costs a look into a block
    /// in vain.
    names: Vec<u64>,
}

impl Contents {
    pub(super) fn of(records: &[Received]) -> Self {
        let mut contents = Self::default();
        for received in records {
            contents.add(&RecordRef::of(&received.record));
        }
        contents.close();
        contents
    }

    pub(super) fn add(&mut self, record: &RecordRef<'_>) {
        let stream = record.stream();
        self.records += 1;
        self.streams |= 1 << stream.number();
        self.names.push(instance_hash(stream, record.instance_id()));
        self.names.push(user_hash(&user_key(record.username())));
    }

    /// Nothing is added any more.
    pub(super) fn close(&mut self) {
        self.names.sort_unstable();
        self.names.dedup();
        self.names.shrink_to_fit();
    }

    /// The memory of the names, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.names.capacity() * size_of::<u64>()
    }

    pub(super) fn has_stream(&self, stream: Stream) -> bool {
        self.streams & (1 << stream.number()) != 0
    }

    pub(super) fn has_name(&self, hash: u64) -> bool {
        self.names.binary_search(&hash).is_ok()
    }
}

pub(super) fn instance_hash(stream: Stream, instance: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write_u8(stream.number());
    hasher.write(instance.as_bytes());
    hasher.finish()
}

pub(super) fn user_hash(user_key: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write_u8(0);
    hasher.write(user_key.as_bytes());
    hasher.finish()
}

/// What a transaction did to the queue.
#[derive(Debug, Default)]
pub(crate) struct QueueChanges {
    pub(super) added: Vec<(u64, Contents)>,
    pub(super) removed: Vec<u64>,
}
