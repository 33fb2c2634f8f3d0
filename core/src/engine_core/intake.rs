//! Accepting telemetry: what arrives while a commit runs gathers here, and goes into the next one as a whole.

use std::sync::{Mutex, MutexGuard};

use crate::domain::filing::{Times, times};
use crate::error::{EngineError, Result};
use crate::limits::VOLATILE_RECORDS_MAX;
use crate::locks::lock;
use crate::model::RecordRef;
use crate::mutation::Outcome;
use crate::store::telemetry::arrivals::Arrivals;
use crate::store::writer::Ticket;

use super::{EngineCore, Submission};

/// The records that gather for the next commit.
#[derive(Debug, Default)]
pub(super) struct Intake(Mutex<Gathering>);

#[derive(Debug, Default)]
struct Gathering {
    arrivals: Arrivals,
    /// What those who wait for these records wait for; `None` when there are none.
    ticket: Option<Ticket<Outcome>>,
    /// Records accepted and not durable yet, those being committed included.
    in_flight: u64,
}

impl Intake {
    fn lock(&self) -> MutexGuard<'_, Gathering> {
        lock(&self.0)
    }

    /// Takes what has gathered; the next record starts a new batch.
    pub(super) fn take(&self) -> Arrivals {
        let mut gathering = self.lock();
        gathering.ticket = None;
        gathering.arrivals.take()
    }

    /// Notes that `records` more are in the queue now, or never will be.
    pub(super) fn landed(&self, records: u64) {
        self.lock().in_flight -= records;
    }
}

impl EngineCore {
    /// The times of a record that is received now.
    fn times(&self, record: &RecordRef<'_>) -> Times {
        let days = self.config.retention_days.of(record.stream());
        times(record.sent_time(), self.now(), days, self.swept())
    }

    /// Puts a record behind those that wait. `None` on a volatile store: there is nothing to wait for.
    pub(crate) fn accept(&self, record: &RecordRef<'_>) -> Result<Option<Ticket<Outcome>>> {
        let times = self.times(record);
        let mut gathering = self.intake.lock();
        self.make_room(&mut gathering, 1)?;
        gathering
            .arrivals
            .push(record, times.received_at, times.filed_at);
        if gathering.ticket.is_none() {
            gathering.ticket = Some(self.writer.submit(Submission::Gathered));
        }
        if !self.injected.volatile {
            return Ok(gathering.ticket.as_ref().map(Ticket::share));
        }
        let enough = gathering.arrivals.records() >= VOLATILE_RECORDS_MAX;
        drop(gathering);
        if enough {
            self.lead();
        }
        Ok(None)
    }

    /// Lets all telemetry be seen that was answered: on a volatile store that is before its commit. Not for the caller that commits.
    pub(crate) fn settle(&self) {
        if !self.injected.volatile {
            return;
        }
        let gathering = self.intake.lock();
        if gathering.in_flight == 0 {
            return;
        }
        // Records whose commit is under way have no ticket any more; what is submitted now is committed after them.
        let ticket = gathering.ticket.as_ref().map(Ticket::share);
        drop(gathering);
        let mut ticket = ticket.unwrap_or_else(|| self.writer.submit(Submission::Gathered));
        // The observer was notified of a failure.
        let _ = self.wait(&mut ticket);
    }

    /// Telemetry records that wait to be filed.
    pub(crate) fn queued(&self) -> u64 {
        self.settle();
        self.store.queued()
    }

    /// Adds a record to a batch that is to be accepted as a whole.
    pub(crate) fn push(&self, batch: &mut Arrivals, record: &RecordRef<'_>) {
        let times = self.times(record);
        batch.push(record, times.received_at, times.filed_at);
    }

    /// Puts a batch behind those that wait: all of it, or nothing.
    pub(crate) fn accept_all(&self, batch: Arrivals) -> Result<Ticket<Outcome>> {
        self.make_room(&mut self.intake.lock(), batch.records())?;
        Ok(self.writer.submit(Submission::Telemetry(Box::new(batch))))
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
