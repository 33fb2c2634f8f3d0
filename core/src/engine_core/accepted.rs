//! Accepted telemetry in the order of its receipt, which the store keeps for a while when the host asks for it.

use crate::error::{EngineError, ErrorKind, Result};
use crate::mutation::Maintenance;
use crate::store::meta::{self, Kept};
use crate::store::telemetry::accepted::{self, InOrder, Keeping};
use crate::store::telemetry::queue::Wanted;
use crate::store::telemetry::segments::Available;
use crate::timestamp::Timestamp;

use super::EngineCore;

/// Filed blocks are put into the table in transactions of about this length.
const PART_BYTES: usize = 256 * 1024;
/// How far the clock may be ahead of the last removal before it is not believed.
const AHEAD_SECONDS_MAX: i64 = 26 * 3600;

impl EngineCore {
    /// Starts or stops keeping filed blocks, as the host configured it. A full disk does not fail the opening.
    pub(crate) fn begin_keeping(&self) -> Result<()> {
        let Some(here) = Available::HERE.filter(|_| !self.store.is_read_only()) else {
            return Ok(());
        };
        let snapshot = self.store.snapshot()?;
        let filed = meta::filed(&snapshot)?.below;
        let keeping = match (self.injected.keep_accepted, meta::kept(&snapshot)?) {
            // What other code filed, as in WebAssembly, is not kept.
            (Some(_), Some(kept)) if kept.until != filed => Keeping::Begin(Kept {
                from: filed,
                until: filed,
                ..kept
            }),
            (Some(_), None) => Keeping::Begin(Kept {
                id: self.random_id()?,
                from: filed,
                until: filed,
            }),
            (None, Some(_)) => Keeping::End,
            (Some(_), Some(_)) | (None, None) => return Ok(()),
        };
        drop(snapshot);
        match self.take_step(Maintenance::Keep(here, keeping)) {
            Err(error) if error.is_for_space() => Ok(()),
            begun => begun.map(drop),
        }
    }

    /// Copies the blocks up to number `last`, which are about to be filed, into the table; returns whether the store keeps them.
    pub(super) fn keep_blocks(&self, last: u64) -> Result<bool> {
        let Some(here) = Available::HERE else {
            return Ok(false);
        };
        if !self.store.is_read_only() && self.injected.keep_accepted.is_none() {
            return Ok(false);
        }
        let snapshot = self.store.snapshot()?;
        if meta::kept(&snapshot)?.is_none() {
            return Ok(false);
        }
        let blocks = self.store.queue().blocks(Wanted::All);
        for part in accepted::to_keep(&snapshot, &blocks, last, PART_BYTES)? {
            let keeping = Keeping::Blocks(part);
            if self.store.is_read_only() {
                self.store.write_in_memory(|tables| keeping.apply(tables))?;
            } else {
                self.take_step(Maintenance::Keep(here, keeping))?;
            }
        }
        Ok(true)
    }

    /// Drops kept blocks that were received too long ago, or all of them on a disk that is short of space.
    pub(super) fn drop_accepted(&self) -> Result<()> {
        let Some((here, time)) = self.injected.keep_accepted else {
            return Ok(());
        };
        let snapshot = self.store.snapshot()?;
        let Some(kept) = meta::kept(&snapshot)? else {
            return Ok(());
        };
        // A clock that is ahead must not drop what a reader still wants.
        let swept = self.swept().unwrap_or(Timestamp::MIN);
        let now = self.now().min(swept.plus_seconds(AHEAD_SECONDS_MAX));
        let oldest = if self.is_short_of_space() {
            Timestamp::MAX
        } else {
            let days = self.retention_days();
            let days = [days.stats, days.activity, days.startup, days.processes];
            let days = days.into_iter().min().unwrap_or_default();
            let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
            now.plus_seconds(-seconds.min(i64::from(days) * 86_400))
        };
        let below = accepted::received_before(&snapshot, kept, oldest, now)?;
        drop(snapshot);
        if below == kept.from {
            return Ok(());
        }
        let keeping = Keeping::Drop { id: kept.id, below };
        self.take_step(Maintenance::Keep(here, keeping)).map(drop)
    }

    /// Reads accepted records from a place on: the id of what is kept and the number of a block; without one from the oldest. Returns the
    /// id, the records, and whether some after that place are not kept any more.
    pub(crate) fn accepted(
        &self,
        place: Option<(u64, u64)>,
        enough: usize,
    ) -> Result<(u64, InOrder, bool)> {
        self.settle();
        let wanted = place.map_or(0, |(_, number)| number);
        let (snapshot, (pending, next)) = self.store.moment_with(|queue| {
            let pending = queue.blocks_from(wanted, enough as u64);
            (pending, queue.next())
        })?;
        let Some(kept) = meta::kept(&snapshot)? else {
            let message = "this store keeps no telemetry in the order of its receipt; open it for writing with `EngineBuilder::keep_accepted`";
            return Err(EngineError::new(ErrorKind::Configuration, message));
        };
        // A position beyond the end is from a newer copy of the file, which an older one has replaced.
        let is_kept = |(id, number)| id == kept.id && (kept.from..=next).contains(&number);
        let missed = place.is_some_and(|place| !is_kept(place));
        if missed && wanted > 0 {
            // From the oldest on.
            return self
                .accepted(None, enough)
                .map(|(id, found, _)| (id, found, true));
        }
        let from = wanted.max(kept.from);
        let found = accepted::read_in_order(&snapshot, &pending, from, enough)?;
        drop(snapshot);
        // Returned records must survive a crash: otherwise other records would get their numbers.
        match self.cluster() {
            Some(cluster) => self.sync_applied(cluster)?,
            None => self.store.confirm()?,
        }
        let missed = missed || found.has_damage;
        Ok((kept.id, found, missed))
    }
}
