//! How a store is opened.

use crate::config::{CommitPhases, Config, QueueStorage};
use crate::error::Result;
use crate::store::table::Tables;
use crate::store::telemetry::segments::Available;
use crate::timestamp::Timestamp;

/// How a store is opened.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoreOptions {
    /// redb's page cache, in bytes.
    pub(crate) cache_bytes: usize,
    /// The steps in which a commit becomes durable.
    pub(crate) commit_phases: CommitPhases,
    /// Whether each commit also saves the allocator state.
    pub(crate) quick_repair: bool,
    /// Whether opening skips the checksums of the file.
    pub(crate) trust_file: bool,
    /// When what is written becomes durable.
    pub(crate) writing: Writing,
    /// Where the queue of a store that is opened by its path is.
    pub(crate) queue_storage: QueueStorage,
    /// The time, for a file that begins now.
    pub(crate) now: Timestamp,
    /// Applies entries of the log that a crash left.
    pub(crate) replay: Option<(Available, Replay)>,
}

/// Applies an entry of the log to the tables as they were before it.
pub(crate) type Replay = fn(&mut Tables<'_>, &[u8]) -> Result<()>;

/// When what is written becomes durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Writing {
    /// The store is read-only.
    Never,
    /// With each commit.
    Synced,
    /// Later, because the log has it.
    Lazy,
}

impl StoreOptions {
    pub(super) fn is_read_only(&self) -> bool {
        self.writing == Writing::Never
    }

    pub(super) fn is_lazy(&self) -> bool {
        !self.is_read_only() && self.writing != Writing::Synced
    }

    pub(crate) fn from_config(config: &Config, now: Timestamp) -> Self {
        Self {
            cache_bytes: config.limits.cache_bytes,
            commit_phases: config.commit_phases,
            quick_repair: config.quick_repair,
            trust_file: config.trust_file,
            writing: Writing::Synced,
            queue_storage: config.queue_storage,
            now,
            replay: None,
        }
    }
}
