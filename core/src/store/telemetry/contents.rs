//! What is remembered of a block beside the file, and what a transaction changes of that.

use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher;

use crate::model::{Received, Stream, user_key};

/// What a block holds: its record count, and hashes of the names in it.
#[derive(Debug)]
pub(super) struct Contents {
    pub(super) records: u64,
    pub(super) streams: u8,
    /// Hashes of (stream, instance) and of users, sorted. A collision costs a look into a block in vain.
    pub(super) names: Vec<u64>,
}

impl Contents {
    pub(super) fn of(records: &[Received]) -> Self {
        let mut names = Vec::with_capacity(2 * records.len());
        let mut streams = 0;
        for received in records {
            let stream = received.record.stream();
            streams |= 1 << stream.number();
            names.push(instance_hash(stream, received.record.instance_id()));
            names.push(user_hash(&user_key(received.record.username())));
        }
        names.sort_unstable();
        names.dedup();
        Self {
            records: records.len() as u64,
            streams,
            names,
        }
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
