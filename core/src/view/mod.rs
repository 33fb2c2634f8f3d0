//! Every read: what the store holds, as it stands at one moment of the clock.

pub(crate) mod actions;
pub(crate) mod activity;
pub(crate) mod history;
pub(crate) mod upkeep;
pub(crate) mod user;
pub(crate) mod workspaces;

use crate::domain::retention::is_listed;
use crate::error::Result;
use crate::store::Store;
use crate::store::table::Snapshot;
use crate::store::telemetry::queue::{PendingBlock, Wanted};
use crate::store::workspaces::EntryRef;
use crate::timestamp::Timestamp;

/// A snapshot of the store and the time it is read at.
pub(crate) struct Reader {
    pub(crate) snapshot: Snapshot,
    pub(crate) now: Timestamp,
    /// The queue blocks that may hold what is wanted.
    blocks: Vec<PendingBlock>,
}

impl Reader {
    /// Reads tables only.
    pub(crate) fn new(store: &Store, now: Timestamp) -> Result<Self> {
        Ok(Self {
            snapshot: store.snapshot()?,
            now,
            blocks: Vec::new(),
        })
    }

    /// Reads telemetry as well, of what is `wanted`.
    pub(crate) fn with_queue(store: &Store, now: Timestamp, wanted: Wanted<'_>) -> Result<Self> {
        // The index first: a block that is filed before the snapshot is taken is found in history then, while one that
        // is taken out of the index afterwards is still in the snapshot.
        let blocks = store.queue().blocks(wanted);
        Ok(Self {
            snapshot: store.snapshot()?,
            now,
            blocks,
        })
    }

    /// Whether a workspace is listed now.
    fn lists(&self, entry: &EntryRef<'_>) -> bool {
        let entry = entry.as_of(self.now);
        is_listed(entry.state(), entry.state_since, entry.held, self.now)
    }
}
