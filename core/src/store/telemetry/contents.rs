//! What is remembered of a block beside the file, and what a transaction changes of that.

use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher;

use crate::model::{Stream, user_key};
use crate::timestamp::Timestamp;

use super::rows::Rows;

/// What a block holds: its record count, and hashes of the names in it.
#[derive(Debug, Clone, Default)]
pub(super) struct Contents {
    pub(super) records: u64,
    /// The newest filed time of each stream in it.
    newest: [Option<Timestamp>; Stream::ALL.len()],
    /// Hashes of (stream, instance) and of (stream, user), sorted once the block is closed. A collision costs a look into a block
    /// in vain.
    names: Vec<u64>,
}

impl Contents {
    pub(super) fn of(rows: &Rows) -> Self {
        let mut contents = Self::default();
        for row in 0..rows.len() {
            let names = (rows.instance_id(row), rows.username(row));
            contents.add(rows.stream(row), names, rows.filed_at(row));
        }
        contents.close();
        contents
    }

    /// Adds a record: its stream, its instance and user, and where it is filed.
    pub(super) fn add(&mut self, stream: Stream, (instance, user): (&str, &str), filed: Timestamp) {
        self.records += 1;
        if let Some(newest) = self.newest.get_mut(usize::from(stream.number() - 1)) {
            *newest = (*newest).max(Some(filed));
        }
        self.names.push(instance_hash(stream, instance));
        self.names.push(user_hash(stream, &user_key(user)));
    }

    /// Nothing is added any more.
    pub(super) fn close(&mut self) {
        self.names.sort_unstable();
        self.names.dedup();
        self.names.shrink_to_fit();
    }

    /// The newest filed time of a stream; `None` when there is nothing of it.
    pub(super) fn newest(&self, stream: Stream) -> Option<Timestamp> {
        *self.newest.get(usize::from(stream.number() - 1))?
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

pub(super) fn user_hash(stream: Stream, user_key: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write_u8(stream.number() | 0x80);
    hasher.write(user_key.as_bytes());
    hasher.finish()
}

/// What a transaction did to the queue.
#[derive(Debug, Default)]
pub(crate) struct QueueChanges {
    pub(super) added: Vec<(u64, Contents)>,
    pub(super) removed: Vec<u64>,
}
