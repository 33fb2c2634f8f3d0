//! Every read: what the store holds, as it stands at one moment of the clock.

pub(crate) mod actions;
pub(crate) mod activity;
pub(crate) mod history;
pub(crate) mod upkeep;
pub(crate) mod user;
pub(crate) mod workspaces;

use crate::domain::retention::is_listed;
use crate::error::Result;
use crate::model::Stream;
use crate::store::Store;
use crate::store::table::Snapshot;
use crate::store::telemetry::queue::{self, WaitingBlock, Wanted};
use crate::store::telemetry::rows::Rows;
use crate::store::workspaces::EntryRef;
use crate::timestamp::Timestamp;

/// A snapshot of the store and the time it is read at.
pub(crate) struct Reader {
    pub(crate) snapshot: Snapshot,
    pub(crate) now: Timestamp,
    /// The queue blocks that may hold what is wanted.
    blocks: Vec<WaitingBlock>,
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

    /// Adds the queued records that `keep` wants to `rows`, in the order they were accepted. The reader must have been made
    /// for them.
    fn add_queued(&self, rows: &mut Rows, keep: impl Fn(&Rows, usize) -> bool) -> Result<()> {
        for block in &self.blocks {
            queue::add_block(&self.snapshot, block.number, rows, &keep)?;
        }
        Ok(())
    }

    /// As [`Self::add_queued`], but only so many of `stream` that the newest of them are there: all that is filed at
    /// `known`, or at the newest time found, and what that may repeat.
    fn add_newest(
        &self,
        rows: &mut Rows,
        stream: Stream,
        known: Option<Timestamp>,
        keep: impl Fn(&Rows, usize) -> bool,
    ) -> Result<()> {
        let times = self
            .blocks
            .iter()
            .filter_map(|block| Some((block.newest(stream)?, block.number)));
        let mut blocks: Vec<_> = times.collect();
        blocks.sort_unstable();
        let start = rows.len();
        let (mut newest, mut misdated, mut runs) = (known, false, Vec::new());
        while let Some((time, number)) = blocks.pop() {
            // What carries the time it is filed at repeats what is filed at that time too. The rest may stand anywhere.
            if !misdated && newest.is_some_and(|newest| time < newest) {
                break;
            }
            let from = rows.len();
            queue::add_block(&self.snapshot, number, rows, |rows, row| {
                rows.stream(row) == stream && keep(rows, row)
            })?;
            for row in from..rows.len() {
                newest = newest.max(Some(rows.filed_at(row)));
                misdated |= rows.is_misdated(row);
            }
            runs.push((number, from..rows.len()));
        }
        runs.sort_unstable_by_key(|(number, _)| *number);
        rows.arrange(start, runs.into_iter().flat_map(|(_, run)| run));
        Ok(())
    }
}
