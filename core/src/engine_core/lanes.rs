//! The two lanes of writes, each with one commit at a time: telemetry for the segments of the queue, and all other writes for the
//! store. Neither waits for the other.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Poll, Waker};

use crate::config::CommitDriver;
use crate::mutation::Outcome;
use crate::observer::Event;
use crate::store::disk::file_of_process::OwnProcess;
use crate::store::panic_text;
use crate::store::telemetry::arrivals::Arrivals;
use crate::store::telemetry::segments::Available;
use crate::store::writer::{Batch, OwnThreads, Ticket, Writer};

use super::write::Write;
use super::{EngineCore, lost};

/// A lane of writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    Store,
    Queue(Available),
}

impl Lane {
    /// The name of the thread that commits for it.
    pub(crate) fn thread_name(self) -> &'static str {
        match self {
            Self::Store => "deskfleet-writer",
            Self::Queue(_) => "deskfleet-queue",
        }
    }
}

/// What is pending in the lane of the store.
pub(super) enum Submission {
    Write(Write),
    /// Telemetry, if the queue has no lane of its own.
    Telemetry(Arriving),
}

/// Pending telemetry.
pub(super) enum Arriving {
    /// A batch, accepted as a whole.
    Batch(Box<Arrivals>),
    /// The records that have gathered until the commit.
    Gathered,
}

/// A claim to an outcome.
#[derive(Debug)]
pub(crate) struct Claim {
    lane: Lane,
    ticket: Ticket<Outcome>,
}

impl Claim {
    /// Another claim to the same outcome.
    pub(super) fn share(&self) -> Self {
        Self {
            lane: self.lane,
            ticket: self.ticket.share(),
        }
    }
}

/// The batch that one caller commits.
pub(super) enum CommitJob<'w> {
    Store(Vec<Submission>, Batch<'w, Submission, Outcome>),
    Queue(Available, Vec<Arriving>, Batch<'w, Arriving, Outcome>),
}

/// The pending writes.
pub(super) struct Lanes {
    store: Writer<Submission, Outcome>,
    queue: Writer<Arriving, Outcome>,
    own_threads: Arc<OwnThreads>,
    /// Whether the queue has segments, and telemetry therefore a lane of its own.
    has_log: Option<Available>,
    /// The process that has the threads.
    process: Option<OwnProcess>,
}

impl Lanes {
    pub(super) fn new(driver: CommitDriver, has_log: Option<Available>) -> Self {
        let has_thread = driver == CommitDriver::Thread;
        let own_threads: Arc<OwnThreads> = Arc::default();
        let lost = || Err(lost());
        Self {
            store: Writer::new(has_thread, Arc::clone(&own_threads), lost),
            queue: Writer::new(has_thread, Arc::clone(&own_threads), lost),
            own_threads,
            has_log,
            process: has_thread.then(OwnProcess::new),
        }
    }

    /// Lets callers commit in a forked child, where a thread would be waited for without end; its store refuses them.
    fn follow_fork(&self) {
        if self.process.as_ref().is_some_and(OwnProcess::is_parent) {
            self.store.close_in_child();
            self.queue.close_in_child();
        }
    }

    pub(super) fn submit(&self, write: Write) -> Claim {
        self.follow_fork();
        Claim {
            lane: Lane::Store,
            ticket: self.store.submit(Submission::Write(write)),
        }
    }

    pub(super) fn submit_telemetry(&self, arriving: Arriving) -> Claim {
        self.follow_fork();
        if let Some(available) = self.has_log {
            let (lane, ticket) = (Lane::Queue(available), self.queue.submit(arriving));
            return Claim { lane, ticket };
        }
        Claim {
            lane: Lane::Store,
            ticket: self.store.submit(Submission::Telemetry(arriving)),
        }
    }

    fn wait(&self, claim: &mut Claim) -> Result<Outcome, CommitJob<'_>> {
        self.follow_fork();
        match claim.lane {
            Lane::Store => self.store.wait(&mut claim.ticket).or_lead(CommitJob::Store),
            Lane::Queue(here) => {
                let turn = self.queue.wait(&mut claim.ticket);
                turn.or_lead(|all, batch| CommitJob::Queue(here, all, batch))
            }
        }
    }

    fn poll(
        &self,
        claim: &mut Claim,
        waker: &Waker,
        may_lead: bool,
    ) -> Poll<Result<Outcome, CommitJob<'_>>> {
        let ticket = &mut claim.ticket;
        match claim.lane {
            Lane::Store => {
                let turn = self.store.poll(ticket, waker, may_lead);
                turn.map(|turn| turn.or_lead(CommitJob::Store))
            }
            Lane::Queue(here) => {
                let turn = self.queue.poll(ticket, waker, may_lead);
                turn.map(|turn| turn.or_lead(|all, batch| CommitJob::Queue(here, all, batch)))
            }
        }
    }

    /// If this thread is one of the engine's own, lets callers commit until [`Self::step_in`]: it is about to wait for a caller,
    /// which may wait for a commit.
    pub(super) fn step_out(&self) {
        if self.own_threads.step_out() {
            self.store.let_callers_lead();
            self.queue.let_callers_lead();
        }
    }

    /// Ends [`Self::step_out`]: this thread commits again.
    fn step_in(&self) {
        if self.own_threads.step_in() {
            self.store.callers_have_led();
            self.queue.callers_have_led();
        }
    }

    /// Takes the pending batch of a lane, unless a caller commits it.
    fn lead(&self, lane: Lane) -> Option<CommitJob<'_>> {
        Some(match lane {
            Lane::Store => {
                let (all, batch) = self.store.lead()?;
                CommitJob::Store(all, batch)
            }
            Lane::Queue(here) => {
                let (all, batch) = self.queue.lead()?;
                CommitJob::Queue(here, all, batch)
            }
        })
    }

    /// The same for the thread of a lane, which waits for it; `None` at its end.
    fn lead_next(&self, lane: Lane, give_way: fn()) -> Option<CommitJob<'_>> {
        Some(match lane {
            Lane::Store => {
                let (all, batch) = self.store.lead_next(give_way)?;
                CommitJob::Store(all, batch)
            }
            Lane::Queue(here) => {
                let (all, batch) = self.queue.lead_next(give_way)?;
                CommitJob::Queue(here, all, batch)
            }
        })
    }
}

impl EngineCore {
    /// The lanes of this engine.
    pub(crate) fn lanes(&self) -> impl Iterator<Item = Lane> + use<> {
        let queue = self.lanes.has_log.map(Lane::Queue);
        [Lane::Store].into_iter().chain(queue)
    }

    /// Blocks until the outcome is there; commits the pending batch of its lane if no other caller does.
    pub(crate) fn wait(&self, claim: &mut Claim) -> Outcome {
        loop {
            match self.lanes.wait(claim) {
                Ok(outcome) => return outcome,
                Err(job) => self.commit_as_caller(job),
            };
        }
    }

    /// As [`Self::wait`], for a future, which does not commit if the host does.
    pub(crate) fn poll(&self, claim: &mut Claim, waker: &Waker) -> Poll<Outcome> {
        let may_lead = self.config.commit_driver != CommitDriver::Host;
        loop {
            match std::task::ready!(self.lanes.poll(claim, waker, may_lead)) {
                Ok(outcome) => return Poll::Ready(outcome),
                Err(job) => self.commit_as_caller(job),
            };
        }
    }

    /// Commits pending writes, unless another caller does; returns the number of mutations.
    pub(crate) fn lead(&self) -> usize {
        self.lanes()
            .filter_map(|lane| self.lanes.lead(lane))
            .map(|job| self.commit_as_caller(job))
            .sum()
    }

    fn commit_as_caller(&self, job: CommitJob<'_>) -> usize {
        let count = self.commit(job);
        if !self.lanes.own_threads.has_this() {
            self.file_above_high_water();
        }
        count
    }

    /// The loop of a commit thread: commits batches of a lane until [`Self::stop_threads`]. `give_way` lets other threads run. A panic ends
    /// a batch and not the thread, because later callers would wait for ever.
    pub(crate) fn commit_forever(&self, lane: Lane, give_way: fn()) {
        while let Some(job) = self.lanes.lead_next(lane, give_way) {
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.commit(job))) {
                let panic = panic_text(&*panic);
                self.observe(&Event::WriterThreadRestarted { panic });
            }
            self.lanes.step_in();
        }
    }

    /// Ends the threads once nothing is pending; callers commit from then on. That of upkeep ends when it is unparked.
    pub(crate) fn stop_threads(&self) {
        self.stopping.store(true, Ordering::Release);
        self.lanes.store.close();
        if self.lanes.has_log.is_some() {
            self.lanes.queue.close();
        }
    }
}
