//! Every read: the contents of the store at one moment of the clock.

pub(crate) mod actions;
pub(crate) mod activity;
pub(crate) mod audit;
pub(crate) mod events;
pub(crate) mod fleet;
pub(crate) mod history;
pub(crate) mod keys;
pub(crate) mod pages;
pub(crate) mod query;
pub(crate) mod upkeep;
pub(crate) mod user;
pub(crate) mod workspaces;

use crate::domain::retention::is_listed;
use crate::domain::transition::{Standing, standing};
use crate::error::Result;
use crate::store::Store;
use crate::store::fleet::workspaces::EntryRef;
use crate::store::table::Snapshot;
use crate::store::telemetry::pending_block::PendingBlock;
use crate::store::telemetry::queue::Wanted;
use crate::timestamp::Timestamp;

/// A snapshot of the store and the time it is read at.
pub(crate) struct Reader {
    pub(crate) snapshot: Snapshot,
    pub(crate) now: Timestamp,
    /// The queue blocks that may have wanted records.
    blocks: Vec<PendingBlock>,
    /// Queued records that are missing in the rollups.
    pub(crate) unfiled: u64,
}

impl Reader {
    /// Reads tables only.
    pub(crate) fn new(store: &Store, now: Timestamp) -> Result<Self> {
        Ok(Self {
            snapshot: store.snapshot()?,
            now,
            blocks: Vec::new(),
            unfiled: 0,
        })
    }

    /// Reads `wanted` telemetry as well.
    pub(crate) fn with_queue(store: &Store, now: Timestamp, wanted: Wanted<'_>) -> Result<Self> {
        let (snapshot, blocks) = store.moment(wanted)?;
        Ok(Self {
            snapshot,
            now,
            blocks,
            unfiled: 0,
        })
    }

    /// A workspace as of now: a due action has ended, and one that was requested by a clock ahead has just begun.
    fn current<'e>(&self, mut entry: EntryRef<'e>) -> EntryRef<'e> {
        let Some(running) = &mut entry.transition else {
            return entry;
        };
        match standing(running.requested_at, running.due_at, self.now) {
            Standing::Running => {}
            Standing::Begun { due_at } => {
                (running.requested_at, running.due_at) = (self.now, due_at);
                entry.state_since = self.now;
            }
            Standing::Ended { at } => entry.finish_action(at),
        }
        entry
    }

    /// A workspace as it stands now, if it is listed.
    fn listed<'e>(&self, entry: EntryRef<'e>) -> Option<EntryRef<'e>> {
        let entry = self.current(entry);
        is_listed(entry.state(), entry.state_since, entry.held, self.now).then_some(entry)
    }
}
