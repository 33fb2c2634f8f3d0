//! Upkeep: ending what is due, filing, removing what is too old. Each takes bounded steps, and can stop between two of them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread::{self, Thread};

use crate::config::{Actions, RetentionDays};
use crate::domain::retention::{clock_was_set, last_day_sealed};
use crate::error::{EngineError, ErrorKind, Result};
use crate::limits::{
    FILE_EVERY_SECONDS, FILE_RECORDS_MAX, MAINTENANCE_IDS_MAX, MAINTENANCE_ROWS_MAX,
    QUESTION_FILES_MAX, SEAL_STEPS_MAX, UPKEEP_EVERY,
};
use crate::locks::lock;
use crate::mutation::{Derived, Maintenance, Removing};
use crate::observer::Event;
use crate::store::meta::{self, FORMAT};
use crate::store::telemetry::filing::{Pass, Slice};
use crate::store::telemetry::removal::Omit;
use crate::store::telemetry::segments::Available;
use crate::store::telemetry::work::Work;
use crate::store::telemetry::{queue, recent, sealing};
use crate::store::{Recovery, panic_text};
use crate::timestamp::{TICKS_PER_SECOND, Timestamp};
use crate::view::{Reader, events, upkeep};

use super::EngineCore;

/// Called between two steps; returns whether to go on.
pub(crate) type GoOn<'g> = &'g dyn Fn() -> bool;

/// The thread that did upkeep last. WebAssembly has none, and its module no code for it.
#[derive(Debug, Default)]
pub(super) struct UpkeepThread(Mutex<Option<(Available, Thread)>>);

impl EngineCore {
    /// How long history is kept; on a node by the fleet's settings.
    pub(crate) fn retention_days(&self) -> RetentionDays {
        if let Some(cluster) = self.cluster() {
            return cluster.shared(|config| config.retention_days);
        }
        self.config.retention_days
    }

    /// How actions end; on a node by the fleet's settings.
    pub(crate) fn actions(&self) -> Actions {
        if let Some(cluster) = self.cluster() {
            return cluster.shared(|config| config.actions);
        }
        self.config.actions
    }

    /// The days and the number of events that are kept.
    fn event_retention(&self) -> (u16, u64) {
        if let Some(cluster) = self.cluster() {
            return cluster.shared(|config| (config.retention_days.events, config.limits.events));
        }
        (self.config.retention_days.events, self.config.limits.events)
    }

    /// Files all records that are pending when it is called; returns their number. Steps are prepared beside the writer, which
    /// goes on committing.
    pub(crate) fn file_pending(&self, go_on: GoOn<'_>) -> Result<u64> {
        let filed = self.file_all(go_on, None).map(|(filed, _)| filed);
        if self.is_node()
            && let Ok(records @ 1..) = filed
        {
            self.observe(&Event::Filed { records });
        }
        filed
    }

    /// As [`Self::file_pending`], without the records that `omit` selects; returns the numbers filed and omitted. On a node no observer is
    /// notified here, because the node may be applying an entry.
    pub(crate) fn file_all(&self, go_on: GoOn<'_>, omit: Option<Omit<'_>>) -> Result<(u64, u64)> {
        let one_at_a_time = self.filing_turn();
        let filed = self.file_queued(go_on, omit);
        self.note_filing(&filed);
        drop(one_at_a_time);
        filed
    }

    /// Files passes until what was queued is filed. The caller has the turn to file.
    fn file_queued(&self, go_on: GoOn<'_>, omit: Option<Omit<'_>>) -> Result<(u64, u64)> {
        let waited = self.queued();
        let (mut filed, mut omitted) = (0, 0);
        // Records of unreadable blocks are not counted.
        while (filed < waited || self.store.queue().has_unreadable()) && go_on() {
            match self.file_step(go_on, omit)? {
                None => break,
                Some((records, left_out)) => {
                    filed += records;
                    omitted += left_out;
                }
            }
        }
        if filed > 0 {
            self.filed_at.store(self.now().ticks(), Ordering::Release);
        }
        Ok((filed, omitted))
    }

    /// Files pending records, so that history has all that were accepted until now. Returns whether the caller must read the
    /// queue as well, because the disk has no room to file it.
    pub(crate) fn file_for_export(&self) -> Result<bool> {
        if self.queued() == 0 {
            return Ok(false);
        }
        match self.file_pending(&|| true) {
            Err(error) if error.is_for_space() => Ok(true),
            filed => filed.map(|_| false),
        }
    }

    /// Files a short queue; returns the number of records that are left to upkeep.
    pub(super) fn file_short_queue(&self) -> u64 {
        let queued = self.queued();
        let is_short = queued <= QUESTION_FILES_MAX && !self.store.is_read_only();
        // A failure to file does not fail the question.
        let is_filed = queued == 0 || is_short && self.file_pending(&|| true).is_ok();
        if is_filed { 0 } else { queued }
    }

    /// The queued records at which upkeep files without waiting for its time: half of a short queue.
    fn filing_mark(&self) -> u64 {
        let limits = &self.config.limits;
        let mark = limits.queue_high_water.min(FILE_RECORDS_MAX as u64);
        mark.min(limits.queue_records.div_ceil(2))
    }

    /// Has the thread that does upkeep file at once when the queue is above its mark, unless it could not.
    pub(super) fn wake_upkeep(&self) {
        if self.store.queued() >= self.filing_mark()
            && self.filing_failed().is_none()
            && let Some((_, thread)) = &*lock(&self.upkeep_thread.0)
        {
            thread.unpark();
        }
    }

    /// Files one step when the queue is above its high-water mark: a host that never files must not end in a full queue. A caller
    /// that has committed and delivered the outcomes calls this, so no other caller waits.
    pub(super) fn file_above_high_water(&self) {
        if self.store.queued() < self.config.limits.queue_high_water {
            return;
        }
        let Some(one_at_a_time) = self.try_filing_turn() else {
            return;
        };
        let filed = self.file_step(&|| true, None);
        drop(one_at_a_time);
        if let Err(error) = filed {
            self.observe(&Event::CommitFailed { error: &error });
        }
    }

    /// Files one pass; returns the number of records and how many of them it left out. `None` if nothing is pending or it stopped
    /// early. The caller holds the lock of filing.
    fn file_step(&self, go_on: GoOn<'_>, omit: Option<Omit<'_>>) -> Result<Option<(u64, u64)>> {
        let mut pass = self.begin_pass(omit)?;
        if pass.as_ref().is_some_and(Pass::met_damage_in_table) && !self.store.is_read_only() {
            // The block may be in memory alone.
            self.store.read_anew()?;
            pass = self.begin_pass(omit)?;
        }
        let Some(mut pass) = pass else {
            return Ok(None);
        };
        // Before a slice is written: the pass removes these blocks from the queue.
        if !self.store.set_aside(pass.damaged())? {
            pass.keep_damaged();
        }
        // A node leaves nothing out: what a removal selects is removed, and forgotten, once it is filed.
        if (omit.is_none() || self.is_node()) && self.keep_blocks(pass.last_block())? {
            pass.keep_blocks();
        }
        let mut next = None;
        while let Some(slice) = pass.next_slice(&self.store.snapshot()?)? {
            next = self.write_slice(slice)?.then_some(Maintenance::RemoveFiled);
            if !pass.has_ended() && !go_on() {
                return Ok(None);
            }
        }
        self.take_steps(next)?;
        let mut omitted = 0;
        if omit.is_some() {
            let snapshot = self.store.snapshot()?;
            omitted = pass.omitted(&snapshot)?;
            if !pass.is_written(&snapshot)? {
                // A hold was placed meanwhile: the next pass uses the names of now.
                return Ok(Some((0, omitted)));
            }
        }
        let records = pass.records();
        self.store.recycle_segments(self.is_short_of_space());
        // An observer on a node may write, and thereby apply an entry before which the queue is filed.
        if !self.is_node() {
            self.observe(&Event::Filed { records });
        }
        Ok(Some((records, omitted)))
    }

    fn begin_pass(&self, omit: Option<Omit<'_>>) -> Result<Option<Pass>> {
        let removal = omit.map(|omit| self.removal(omit)).transpose()?;
        let removal = removal.as_ref();
        // Not `reader`, which on a volatile store waits for a commit.
        let begun = meta::filed(&self.store.snapshot()?)?.pass;
        let blocks = self.store.queue().oldest_blocks(begun.as_ref());
        Pass::begin(&self.store.snapshot()?, blocks, Work::WRITTEN_MAX, removal)
    }

    /// Writes a slice; returns whether filed blocks can be removed. On a read-only store the slice is applied in memory.
    fn write_slice(&self, slice: Slice) -> Result<bool> {
        if !self.store.is_read_only() {
            return self.run(slice);
        }
        self.store.write_in_memory(|tables| slice.apply(tables))?;
        Ok(false)
    }

    /// Files pending records if they fill a step or the last filing was some seconds ago.
    fn file_when_due(&self, go_on: GoOn<'_>) -> Result<()> {
        let full = self.store.queued() >= self.filing_mark();
        if full || self.is_due(&self.filed_at, FILE_EVERY_SECONDS) {
            self.file_pending(go_on)?;
        }
        Ok(())
    }

    /// Whether `done_at`, in ticks, is at least `seconds` ago. A clock that was set back counts as due.
    pub(super) fn is_due(&self, done_at: &AtomicI64, seconds: i64) -> bool {
        let now = self.now();
        let last = Timestamp::from_ticks(done_at.load(Ordering::Acquire));
        now < last || now >= last.plus_seconds(seconds)
    }

    /// Ends due actions, files when it is time and seals some finished days; once an hour it also removes what is too old. A step
    /// that lacks space is left for a later call, and the other steps still free space.
    pub(crate) fn maintain(&self, go_on: GoOn<'_>) -> Result<()> {
        if let Some(here) = Available::HERE.filter(|_| self.commit_threads() > 0) {
            *lock(&self.upkeep_thread.0) = Some((here, thread::current()));
        }
        self.check_file()?;
        self.keep_reserve_reported();
        let began = self.now();
        let maintained = self.take_all_steps(go_on);
        // Conditions are checked also after a failed step: that is when they matter.
        let watched = self.watch_conditions(began);
        let maintained = maintained.and(watched);
        if let Err(error) = &maintained {
            self.store.note_damage(error);
        }
        self.report_damage();
        maintained
    }

    /// The loop of the thread of upkeep: maintains once a second until [`Self::stop_threads`]. A panic ends a round and not the thread,
    /// because the queue would fill up. Of failures in a row each 60th is reported.
    pub(crate) fn maintain_forever(&self) {
        let is_stopping = || self.stopping.load(Ordering::Acquire);
        let mut failures = 0_u64;
        loop {
            // Parking may end early, when the queue is above its mark or for no reason, which is harmless.
            thread::park_timeout(UPKEEP_EVERY);
            if is_stopping() {
                return;
            }
            let round = catch_unwind(AssertUnwindSafe(|| self.maintain(&|| !is_stopping())));
            let round = round.unwrap_or_else(|panic| {
                let message = format!("upkeep panicked: {}", panic_text(&*panic));
                Err(EngineError::new(ErrorKind::Internal, message))
            });
            match round {
                Ok(()) => failures = 0,
                Err(_) if is_stopping() => return,
                Err(error) => {
                    if failures.is_multiple_of(60) {
                        self.observe(&Event::UpkeepFailed { error: &error });
                    }
                    failures += 1;
                }
            }
        }
    }

    fn take_all_steps(&self, go_on: GoOn<'_>) -> Result<()> {
        let mut refused = Ok(());
        let mut unless_refused = |done: Result<()>| match done {
            Err(error) if error.is_for_space() => {
                refused = Err(error);
                Ok(())
            }
            done => done,
        };
        // Synced first, so that a later failure does not leave these entries to be applied again.
        let synced = self.sync_entries();
        unless_refused(self.settle_due(go_on))?;
        let advanced = self.advance_batches(go_on);
        // A failure of these does not stop the other steps.
        let filed = self.file_when_due(go_on);
        unless_refused(self.seal(go_on))?;
        unless_refused(self.drop_accepted())?;
        unless_refused(self.remove_filed())?;
        self.write_key_uses()?;
        if go_on() {
            self.sweep_when_due(go_on)?;
        }
        if self.is_short_of_space() {
            self.store.recycle_segments(true);
        } else if self.has_space_for_segments() && !self.store.is_read_only() {
            unless_refused(self.store.make_segments_ready())?;
        }
        synced.and(filed).and(advanced).and(refused)
    }

    /// Makes durable what is only in the log, and gives its segments back.
    fn sync_entries(&self) -> Result<()> {
        if self.store.has_log().is_none() || self.store.unsynced_bytes() == 0 {
            return Ok(());
        }
        let synced = self.store.sync();
        self.store.recycle_segments(self.is_short_of_space());
        synced.map_err(|failure| failure.error)
    }

    /// Ends due actions.
    fn settle_due(&self, go_on: GoOn<'_>) -> Result<()> {
        let due = || upkeep::due(&self.reader()?);
        self.take_steps_for_ids(go_on, &due, &Maintenance::Settle)
    }

    /// Takes steps for the ids that `read_ids` returns, again and again while it returns as many as it can.
    fn take_steps_for_ids(
        &self,
        go_on: GoOn<'_>,
        read_ids: &dyn Fn() -> Result<Vec<String>>,
        step: &dyn Fn(Vec<String>) -> Maintenance,
    ) -> Result<()> {
        while go_on() {
            let ids = read_ids()?;
            for ids in ids.chunks(MAINTENANCE_ROWS_MAX) {
                self.take_step(step(ids.to_vec()))?;
            }
            // Only a full list is followed by another: a clock that is set back meanwhile must not make this spin.
            if ids.len() < MAINTENANCE_IDS_MAX {
                break;
            }
        }
        Ok(())
    }

    /// Goes on with the batches of actions.
    fn advance_batches(&self, go_on: GoOn<'_>) -> Result<()> {
        for id in upkeep::batches_to_advance(&self.reader()?)? {
            if !go_on() {
                break;
            }
            self.take_step(Maintenance::AdvanceActionBatch(id))?;
        }
        Ok(())
    }

    /// Removes what is too old once an hour, by a clock that is near the last removal. The time of a clock that was never set is
    /// not stored: retention would have to advance from there by a day an hour.
    fn sweep_when_due(&self, go_on: GoOn<'_>) -> Result<()> {
        let now = self.now();
        if !clock_was_set(now) {
            return Ok(());
        }
        let Some(time) = lock(&self.clock_watch).due(now, self.swept()) else {
            return Ok(());
        };
        if time < now {
            let ahead = now.ticks().saturating_sub(time.ticks());
            let seconds = ahead.unsigned_abs() / TICKS_PER_SECOND.unsigned_abs();
            self.observe(&Event::RetentionBehind { seconds });
        }
        self.sweep(time, go_on)
    }

    /// Takes some steps of sealing if a day is over: upkeep runs often, and filing must not wait for a whole fleet.
    fn seal(&self, go_on: GoOn<'_>) -> Result<()> {
        let _one_at_a_time = self.filing_turn();
        for _ in 0..SEAL_STEPS_MAX {
            if !go_on() {
                break;
            }
            let reader = self.reader()?;
            let last_day = last_day_sealed(reader.now);
            let Some(sealing) = sealing::prepare(&reader.snapshot, last_day)? else {
                break;
            };
            self.take_step(Maintenance::Seal(Box::new(sealing)))?;
        }
        Ok(())
    }

    /// Removes what is too old at the given time.
    pub(crate) fn sweep(&self, time: Timestamp, go_on: GoOn<'_>) -> Result<()> {
        self.take_step(Maintenance::Sweep(time))?;
        self.swept_at.store(time.ticks(), Ordering::Release);
        // Stored now and not at the end: if a later step fails, each attempt would advance retention by a day under a clock that
        // is ahead.
        lock(&self.clock_watch).swept();
        let terminated = || upkeep::terminated(&Reader::new(&self.store, time)?);
        let drop_terminated = |ids| Maintenance::DropTerminated(time, ids);
        self.take_steps_for_ids(go_on, &terminated, &drop_terminated)?;
        for of in Derived::ALL {
            if !self.drop_derived(of, time, go_on)? {
                return Ok(());
            }
        }
        let others = [
            Maintenance::DropAudit(time, None),
            Maintenance::DropEvents(self.first_event_kept(time)?),
        ];
        for mut step in others {
            loop {
                if !go_on() {
                    return Ok(());
                }
                let Some(next) = self.take_step(step)? else {
                    break;
                };
                step = next;
            }
        }
        Ok(())
    }

    /// Removes old records of one kind, each step prepared beside the writer; returns whether that was all.
    fn drop_derived(&self, of: Derived, time: Timestamp, go_on: GoOn<'_>) -> Result<bool> {
        self.each_span(of, Removing::Old(time), go_on, &mut |span| {
            self.take_step(Maintenance::DropDerived(of, time, span))?;
            Ok(())
        })
    }

    /// The number below which events are removed, looked up beside the writer.
    fn first_event_kept(&self, time: Timestamp) -> Result<u64> {
        let (days, count) = self.event_retention();
        events::first_kept(&Reader::new(&self.store, time)?, days, count)
    }

    /// Notifies the observer of how the store was opened: without a lock, converted from an older format, recovered after a crash. A
    /// read-only store recovers in memory alone, which is not reported.
    pub(crate) fn report_opening(&self) {
        if !self.store.is_locked() {
            self.observe(&Event::NotLocked);
        }
        let Recovery {
            is_repaired,
            records,
            converted_from,
        } = self.store.recovery();
        if let Some(from) = converted_from {
            self.observe(&Event::Converted { from, to: FORMAT });
        }
        if (is_repaired || records > 0) && !self.store.is_read_only() {
            self.observe(&Event::Recovered { records });
        }
    }

    /// If the store is a copy that is opened for writing for the first time, notifies the observer, writes the audit row and clears the mark
    /// of a copy. On a full disk the mark stays, and the next opening reports the copy again. A node only clears the mark.
    pub(crate) fn report_start_on_copy(&self) -> Result<()> {
        let made_at = meta::copied(&self.store.snapshot()?)?;
        let Some(made_at) = made_at.filter(|_| !self.store.is_read_only()) else {
            return Ok(());
        };
        if self.is_node() {
            return self.take_step(Maintenance::NoteCopy).map(drop);
        }
        self.observe(&Event::StartedOnCopy { made_at });
        match self.take_step(Maintenance::NoteCopy) {
            Err(error) if error.is_for_space() => Ok(()),
            noted => noted.map(drop),
        }
    }

    /// Removes filed blocks that are no longer kept, and recent activities that are too old or were removed from history.
    pub(super) fn remove_filed(&self) -> Result<()> {
        if self.store.is_read_only() {
            return Ok(());
        }
        let snapshot = self.store.snapshot()?;
        if !recent::has_left_out(&snapshot)? && !queue::has_filed(&snapshot)? {
            return Ok(());
        }
        drop(snapshot);
        self.take_steps(Some(Maintenance::RemoveFiled))
    }

    /// Takes a step and all further steps of its kind.
    fn take_steps(&self, mut next: Option<Maintenance>) -> Result<()> {
        while let Some(step) = next {
            next = self.take_step(step)?;
        }
        Ok(())
    }

    /// Takes one step; returns the next one of its kind if there is more to do.
    pub(super) fn take_step(&self, step: Maintenance) -> Result<Option<Maintenance>> {
        self.run(step)
    }
}
