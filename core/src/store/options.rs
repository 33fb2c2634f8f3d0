//! How a store is opened.

use crate::config::{CommitPhases, Config, QueueStorage};
use crate::timestamp::Timestamp;

/// How a store is opened.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoreOptions {
    /// redb's page cache, in bytes.
    pub(crate) cache_bytes: usize,
    /// In how many steps a commit becomes durable.
    pub(crate) commit_phases: CommitPhases,
    /// Whether each commit also saves the allocator state.
    pub(crate) quick_repair: bool,
    /// Whether the checksums of a file are left alone when it is opened.
    pub(crate) trust_file: bool,
    /// Whether nothing is ever written.
    pub(crate) read_only: bool,
    /// Where the queue is kept, of a store that is opened by its path.
    pub(crate) queue_storage: QueueStorage,
    /// The time, for a file that begins now.
    pub(crate) now: Timestamp,
}

impl StoreOptions {
    pub(crate) fn of(config: &Config, now: Timestamp) -> Self {
        Self {
            cache_bytes: config.limits.cache_bytes,
            commit_phases: config.commit_phases,
            quick_repair: config.quick_repair,
            trust_file: config.trust_file,
            read_only: false,
            queue_storage: config.queue_storage,
            now,
        }
    }
}
