//! Accepting telemetry: records that arrive during a commit gather here for the next one.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

use crate::domain::filing::{Dating, Times, times};
use crate::error::{EngineError, Result};
use crate::limits::VOLATILE_RECORDS_MAX;
use crate::locks::lock;
use crate::model::RecordRef;
use crate::store::telemetry::arrivals::Arrivals;

use super::EngineCore;
use super::write::{Arriving, Claim, Submission};

/// The records that gather for the next commit, and the counts of late and ahead ones since the engine was opened.
#[derive(Debug, Default)]
pub(super) struct Intake {
    gathering: Mutex<Gathering>,
    late: AtomicU64,
    ahead: AtomicU64,
}

#[derive(Debug, Default)]
struct Gathering {
    arrivals: Arrivals,
    /// The claim that the callers of these records share; `None` when there are none.
    claim: Option<Claim>,
    /// Accepted records that are not durable yet, those of the running commit included.
    in_flight: u64,
}

/// Records to accept together: all of them, or none.
#[derive(Debug, Default)]
pub(crate) struct IncomingBatch {
    arrivals: Arrivals,
    late: u64,
    ahead: u64,
}

impl IncomingBatch {
    /// The number of records.
    pub(crate) fn records(&self) -> u64 {
        self.arrivals.records()
    }

    /// The memory it takes, in bytes, to the nearest few KiB.
    pub(crate) fn bytes(&self) -> usize {
        self.arrivals.bytes()
    }
}

impl Intake {
    fn lock(&self) -> MutexGuard<'_, Gathering> {
        lock(&self.gathering)
    }

    /// Counts accepted records that were late, and those by clocks that were ahead.
    fn count(&self, late: u64, ahead: u64) {
        self.late.fetch_add(late, Ordering::Relaxed);
        self.ahead.fetch_add(ahead, Ordering::Relaxed);
    }

    /// Takes what has gathered; the next record starts a new batch.
    pub(super) fn take(&self) -> Arrivals {
        let mut gathering = self.lock();
        gathering.claim = None;
        gathering.arrivals.take()
    }

    /// Takes `records` off those in flight: they are in the queue, or never will be.
    pub(super) fn landed(&self, records: u64) {
        self.lock().in_flight -= records;
    }
}

impl EngineCore {
    /// The times of a record that is received now.
    fn times(&self, record: &RecordRef<'_>) -> Times {
        let days = self.retention_days().for_stream(record.stream());
        times(record.sent_time(), self.now(), days, self.swept())
    }

    /// Queues a record for the next commit. `None` on a volatile store, which acknowledges it at once.
    pub(crate) fn accept(&self, record: &RecordRef<'_>) -> Result<Option<Claim>> {
        let times = self.times(record);
        let mut gathering = self.intake.lock();
        self.make_room(&mut gathering, 1)?;
        gathering
            .arrivals
            .push(record, times.received_at, times.filed_at);
        match times.dating(record.sent_time()) {
            Dating::Current => {}
            Dating::Late => self.intake.count(1, 0),
            Dating::Ahead => self.intake.count(0, 1),
        }
        if gathering.claim.is_none() {
            let arriving = Submission::Telemetry(Arriving::Gathered);
            gathering.claim = Some(self.commits.submit(arriving));
        }
        if !self.injected.volatile {
            return Ok(gathering.claim.as_ref().map(Claim::share));
        }
        let enough = gathering.arrivals.records() >= VOLATILE_RECORDS_MAX;
        drop(gathering);
        if enough {
            self.lead();
        }
        Ok(None)
    }

    /// Commits telemetry that a volatile store acknowledged before its commit, so that reads see it. The caller that commits must
    /// not call this.
    pub(crate) fn settle(&self) {
        if !self.injected.volatile {
            return;
        }
        let gathering = self.intake.lock();
        if gathering.in_flight == 0 {
            return;
        }
        // Records of the running commit have no claim any more; an empty batch submitted now is committed after them.
        let claim = gathering.claim.as_ref().map(Claim::share);
        drop(gathering);
        let submit = || {
            let arriving = Submission::Telemetry(Arriving::Gathered);
            self.commits.submit(arriving)
        };
        let mut claim = claim.unwrap_or_else(submit);
        // The observer was notified of a failure.
        let _ = self.wait(&mut claim);
    }

    /// The records that were received late, and those by clocks that were ahead, since the engine was opened.
    pub(crate) fn late_and_ahead(&self) -> [u64; 2] {
        [&self.intake.late, &self.intake.ahead].map(|count| count.load(Ordering::Relaxed))
    }

    /// Telemetry records that are not filed yet.
    pub(crate) fn queued(&self) -> u64 {
        self.settle();
        self.store.queued()
    }

    /// Adds a record to a batch; returns how it was dated.
    pub(crate) fn push(&self, batch: &mut IncomingBatch, record: &RecordRef<'_>) -> Dating {
        let times = self.times(record);
        let arrivals = &mut batch.arrivals;
        arrivals.push(record, times.received_at, times.filed_at);
        let dating = times.dating(record.sent_time());
        match dating {
            Dating::Current => {}
            Dating::Late => batch.late += 1,
            Dating::Ahead => batch.ahead += 1,
        }
        dating
    }

    /// Queues a batch for the next commit: all of it, or nothing.
    pub(crate) fn accept_all(&self, batch: IncomingBatch) -> Result<Claim> {
        self.make_room(&mut self.intake.lock(), batch.records())?;
        Ok(self.submit_batch(batch.arrivals, batch.late, batch.ahead))
    }

    /// As [`Self::accept_all`], with a copy: the records stay in `batch`.
    pub(crate) fn accept_copy(&self, batch: &mut IncomingBatch) -> Result<Claim> {
        self.make_room(&mut self.intake.lock(), batch.records())?;
        let arrivals = batch.arrivals.take();
        batch.arrivals = arrivals.clone();
        Ok(self.submit_batch(arrivals, batch.late, batch.ahead))
    }

    fn submit_batch(&self, arrivals: Arrivals, late: u64, ahead: u64) -> Claim {
        self.intake.count(late, ahead);
        let batch = Arriving::Batch(Box::new(arrivals));
        self.commits.submit(Submission::Telemetry(batch))
    }

    fn make_room(&self, gathering: &mut Gathering, records: u64) -> Result<()> {
        let waiting = self.store.queued() + gathering.in_flight;
        if waiting + records > self.config.limits.queue_records {
            return Err(EngineError::queue_full());
        }
        gathering.in_flight += records;
        Ok(())
    }
}
