//! Accepted telemetry in the order of its receipt, which the store keeps for a while when the host asks for it.

use crate::error::{EngineError, ErrorKind, Result};
use crate::mutation::Maintenance;
use crate::store::meta::{self, Kept};
use crate::store::telemetry::accepted::{self, InOrder};
use crate::store::telemetry::queue::Wanted;
use crate::store::telemetry::segments::Available;
use crate::timestamp::Timestamp;

use super::EngineCore;

/// Filed blocks are put into the table in transactions of about this length.
const PART_BYTES: usize = 256 * 1024;
/// How far the clock may be ahead of the last removal before it is not believed.
const AHEAD_SECONDS_MAX: i64 = 26 * 3600;

impl EngineCore {
    /// Has the store begin or end to keep what is filed, as the host asked.
    pub(crate) fn begin_keeping(&self) -> Result<()> {
        let Some(here) = Available::HERE.filter(|_| !self.store.is_read_only()) else {
            return Ok(());
        };
        let snapshot = self.store.snapshot()?;
        let kept = match (self.injected.keep_accepted, meta::kept(&snapshot)?) {
            (Some(_), None) => Some(Kept {
                id: self.random_id()?,
                from: meta::filed(&snapshot)?.below,
            }),
            // A build without this, as in WebAssembly, has removed what it filed.
            (Some(_), Some(kept)) if !accepted::is_there(&snapshot, kept)? => Some(Kept {
                from: meta::filed(&snapshot)?.below,
                ..kept
            }),
            (None, Some(_)) => None,
            (Some(_), Some(_)) | (None, None) => return Ok(()),
        };
        drop(snapshot);
        self.take_step(Maintenance::KeepFrom(here, kept)).map(drop)
    }

    /// Puts the blocks up to the number `last`, which are about to be filed, where they stay; returns whether they do.
    pub(super) fn keep_blocks(&self, last: u64) -> Result<bool> {
        let Some((here, _)) = self.injected.keep_accepted else {
            return Ok(false);
        };
        if self.store.is_read_only() {
            return Ok(false);
        }
        let snapshot = self.store.snapshot()?;
        let blocks = self.store.queue().blocks(Wanted::All);
        for part in accepted::to_keep(&snapshot, &blocks, last, PART_BYTES)? {
            self.take_step(Maintenance::Keep(here, part))?;
        }
        Ok(true)
    }

    /// Ends to keep what was received too long ago, or all that is filed on a disk that is short of space.
    pub(super) fn drop_accepted(&self) -> Result<()> {
        let Some((here, time)) = self.injected.keep_accepted else {
            return Ok(());
        };
        let snapshot = self.store.snapshot()?;
        // A copy has the mark of the store and none of what it keeps.
        let is_copy = meta::copied(&snapshot)?.is_some();
        let Some(kept) = meta::kept(&snapshot)?.filter(|_| !is_copy) else {
            return Ok(());
        };
        let oldest = if self.is_short_of_space() {
            Timestamp::MAX
        } else {
            let days = self.config.retention_days;
            let days = [days.stats, days.activity, days.startup, days.processes];
            let days = days.into_iter().min().unwrap_or_default();
            let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
            let seconds = seconds.min(i64::from(days) * 86_400);
            // A clock that is ahead must not drop what a reader still wants.
            let swept = self.swept().unwrap_or(Timestamp::MIN);
            let now = self.now().min(swept.plus_seconds(AHEAD_SECONDS_MAX));
            now.plus_seconds(-seconds)
        };
        let from = accepted::received_before(&snapshot, kept, oldest)?;
        drop(snapshot);
        if from == kept.from {
            return Ok(());
        }
        let kept = Some(Kept { from, ..kept });
        self.take_step(Maintenance::KeepFrom(here, kept)).map(drop)
    }

    /// Reads accepted records from a place on: the id of what is kept and the number of a block; without one from the oldest. Returns the
    /// id, the records, and whether some after that place are not kept any more.
    pub(crate) fn accepted(
        &self,
        place: Option<(u64, u64)>,
        enough: usize,
    ) -> Result<(u64, InOrder, bool)> {
        self.settle();
        // What was read once must not be lost at a crash: its numbers would be given to others.
        if self.is_node() {
            self.store.sync().map_err(|failure| failure.error)?;
        } else {
            self.store.confirm()?;
        }
        let (snapshot, pending) = self.store.moment(Wanted::All)?;
        let Some(kept) = meta::kept(&snapshot)? else {
            let message = "this store keeps no telemetry in the order of its receipt; open it with `EngineBuilder::keep_accepted`";
            return Err(EngineError::new(ErrorKind::Configuration, message));
        };
        let newest = pending.last().map(|last| last.number);
        let end = newest.map_or(meta::filed(&snapshot)?.below, |last| last.saturating_add(1));
        // A place after the end is one of a later state of the file, before an older one was put back.
        let is_kept = |(id, number): (u64, u64)| {
            id == kept.id && (kept.from..=end.max(kept.from)).contains(&number)
        };
        let missed = place.is_some_and(|place| !is_kept(place));
        let from = place
            .filter(|_| !missed)
            .map_or(kept.from, |(_, number)| number);
        let found = accepted::read_in_order(&snapshot, &pending, from, enough)?;
        Ok((kept.id, found, missed))
    }
}
