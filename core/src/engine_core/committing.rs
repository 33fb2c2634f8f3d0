//! The pending writes and who commits them, in one order: a batch goes into the log of the store and is then applied to the tables, or is
//! one transaction of these where the store has no log of its own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::task::{Poll, Waker};

use crate::config::CommitDriver;
use crate::error::Result;
use crate::locks::lock;
use crate::model::WriteClass;
use crate::mutation::{Context, Mutation, Outcome};
use crate::observer::Event;
use crate::store::disk::file_of_process::OwnProcess;
use crate::store::telemetry::arrivals::Arrivals;
use crate::store::writer::{Batch, Turn, Writer};
use crate::store::{WriteFailure, panic_text};
use crate::timestamp::Timestamp;

use super::intake::Intake;
use super::pending::Output;
use super::write::{Arriving, Claim, Submission, Write, apply_all};
use super::{EngineCore, lost};

/// The batch that one caller commits.
pub(super) type Pending<'w> = Batch<'w, Submission, Outcome>;

/// The pending writes.
pub(super) struct Commits {
    writer: Writer<Submission, Outcome>,
    threads: usize,
    /// The process that has the threads.
    process: Option<OwnProcess>,
}

impl Commits {
    /// With `overlaps` a batch is written while the one before it is applied.
    pub(super) fn new(driver: CommitDriver, overlaps: bool) -> Self {
        let threads = match driver {
            CommitDriver::Thread => 1 + usize::from(overlaps),
            CommitDriver::Caller | CommitDriver::Host => 0,
        };
        Self {
            writer: Writer::new(threads, || Err(lost())),
            threads,
            process: (threads > 0).then(OwnProcess::new),
        }
    }

    /// Lets callers commit in a forked child, where a thread would be waited for without end; its store refuses them.
    fn writer(&self) -> &Writer<Submission, Outcome> {
        if self.process.as_ref().is_some_and(OwnProcess::was_forked) {
            self.writer.close_in_child();
        }
        &self.writer
    }

    pub(super) fn submit(&self, submission: Submission) -> Claim {
        self.writer().submit(submission)
    }

    /// As [`Writer::step_out`].
    pub(super) fn step_out(&self) {
        self.writer.step_out();
    }
}

/// The records of a commit. When it is dropped they are no longer in flight, however the commit ended.
pub(super) struct Landing<'m> {
    intake: &'m Intake,
    pub(super) records: u64,
}

impl Landing<'_> {
    pub(super) fn take(&mut self, arriving: Arriving) -> Arrivals {
        let arrivals = match arriving {
            Arriving::Batch(arrivals) => *arrivals,
            Arriving::Gathered => self.intake.take(),
        };
        self.records += arrivals.records();
        arrivals
    }

    pub(super) fn count(&self) -> usize {
        usize::try_from(self.records).unwrap_or(usize::MAX)
    }
}

impl Drop for Landing<'_> {
    fn drop(&mut self) {
        self.intake.landed(self.records);
    }
}

impl EngineCore {
    /// Blocks until the outcome is there; commits the pending batch if no other caller does.
    pub(crate) fn wait(&self, claim: &mut Claim) -> Outcome {
        let writer = self.commits.writer();
        loop {
            match writer.wait(claim) {
                Turn::Outcome(outcome) => return outcome,
                Turn::Lead(submissions, batch) => self.commit_as_caller(submissions, batch),
            };
        }
    }

    /// As [`Self::wait`], for a future, which does not commit if the host does.
    pub(crate) fn poll(&self, claim: &mut Claim, waker: &Waker) -> Poll<Outcome> {
        let may_lead = self.config.commit_driver != CommitDriver::Host;
        let writer = self.commits.writer();
        loop {
            match std::task::ready!(writer.poll(claim, waker, may_lead)) {
                Turn::Outcome(outcome) => return Poll::Ready(outcome),
                Turn::Lead(submissions, batch) => self.commit_as_caller(submissions, batch),
            };
        }
    }

    /// Commits pending writes, unless another caller does; returns the number of mutations.
    pub(crate) fn lead(&self) -> usize {
        let taken = self.commits.writer.lead();
        taken.map_or(0, |(submissions, batch)| {
            self.commit_as_caller(submissions, batch)
        })
    }

    fn commit_as_caller(&self, submissions: Vec<Submission>, batch: Pending<'_>) -> usize {
        let count = self.commit(submissions, batch);
        if !self.commits.writer.is_own_thread() {
            self.file_above_high_water();
        }
        count
    }

    /// How many threads of the engine's own commit.
    pub(crate) fn commit_threads(&self) -> usize {
        self.commits.threads
    }

    /// The loop of a commit thread: commits batches until [`Self::stop_threads`]. `give_way` lets other threads run. A panic ends a batch
    /// and not the thread, because later callers would wait for ever.
    pub(crate) fn commit_forever(&self, give_way: fn()) {
        while let Some((submissions, batch)) = self.commits.writer.lead_next(give_way) {
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.commit(submissions, batch))) {
                let panic = panic_text(&*panic);
                self.observe(&Event::WriterThreadRestarted { panic });
            }
            self.wake_upkeep();
            self.commits.writer.step_in();
        }
    }

    /// Ends the threads once nothing is pending; callers commit from then on. That of upkeep ends when it is unparked.
    pub(crate) fn stop_threads(&self) {
        self.stopping.store(true, Ordering::Release);
        self.commits.writer.close();
    }

    /// Commits a batch. Returns the number of mutations; each telemetry record counts as one.
    fn commit(&self, submissions: Vec<Submission>, batch: Pending<'_>) -> usize {
        let begun = self.now();
        let landing = Landing {
            intake: &self.intake,
            records: 0,
        };
        let (mutations, failure) = if let Some(here) = self.store.has_log() {
            self.commit_to_log(here, submissions, batch, landing)
        } else {
            self.commit_to_tables(submissions, batch, landing)
        };
        self.report_commit(begun, mutations, failure.as_ref());
        mutations
    }

    /// Notifies the host of a commit, and of why a part of it failed.
    fn report_commit(&self, begun: Timestamp, mutations: usize, failure: Option<&WriteFailure>) {
        // Streams are woken also after a failure, which may have reopened the file with events that were in doubt.
        self.wake_for_events();
        match failure {
            None => self.observe(&Event::Committed {
                mutations,
                duration: self.now().duration_since(begun),
            }),
            Some(failure) => {
                if failure.reopened {
                    self.observe(&Event::Reopened);
                }
                let error = &failure.error;
                self.observe(&Event::CommitFailed { error });
            }
        }
    }

    /// Commits a batch as one transaction, or on a node through the log of the fleet; its telemetry becomes mutations like any other.
    fn commit_to_tables(
        &self,
        submissions: Vec<Submission>,
        mut batch: Pending<'_>,
        mut landing: Landing<'_>,
    ) -> (usize, Option<WriteFailure>) {
        let submitted = submissions.len();
        let mut count = 0;
        let (mut writes, mut parts) = (Vec::with_capacity(submissions.len()), Vec::new());
        for submission in submissions {
            let before = writes.len();
            match submission {
                Submission::Write(write) => {
                    count += 1;
                    writes.push(write);
                }
                Submission::Telemetry(arriving) => {
                    writes.extend(self.writes_of_telemetry(landing.take(arriving)));
                }
            }
            parts.push(writes.len() - before);
        }
        let written = self.write(writes).map(|outcomes| {
            let mut outcomes = outcomes.into_iter();
            let whole = |part: usize| outcomes.by_ref().take(part).collect();
            parts.into_iter().map(whole).collect::<Vec<Outcome>>()
        });
        count += landing.count();
        let records = landing.records;
        drop(landing);
        match written {
            Ok(outcomes) => {
                self.rate.add(self.now(), records);
                batch.resolve(outcomes.into_iter().enumerate());
                (count, None)
            }
            Err(failure) => {
                batch.resolve((0..submitted).map(|index| (index, Err(failure.error.clone()))));
                (count, Some(failure))
            }
        }
    }

    /// Whether writes go into a log beside the tables.
    pub(super) fn logs(&self) -> bool {
        self.is_node() || self.store.has_log().is_some()
    }

    /// Applies a mutation that no log has, in a durable transaction of its own. It waits for no other write.
    pub(super) fn run_apart<M: Mutation>(&self, mutation: M) -> Result<M::Output> {
        let (kept, output) = Output::unknown();
        self.write_apart(Write::keeping(mutation, move |returned| {
            *lock(&kept) = Some(returned);
        }))?;
        output.take()
    }

    /// The same for any mutation: it is compiled once.
    fn write_apart(&self, write: Write) -> Outcome {
        self.store.check_file(false)?;
        let class = write.class;
        self.space_left().take(class, write.bytes as u64)?;
        let now = self.now();
        let written = self.write_to_tables(class, vec![Ok(write)], now);
        self.report_commit(now, 1, written.as_ref().err());
        let outcomes = written.map_err(|failure| failure.error)?;
        outcomes.into_iter().next().unwrap_or_else(|| Err(lost()))
    }

    /// Commits writes in one transaction, or on a node through the log of the fleet.
    fn write_to_tables(
        &self,
        class: WriteClass,
        writes: Vec<Result<Write>>,
        now: Timestamp,
    ) -> Result<Vec<Outcome>, WriteFailure> {
        self.store.write(class, |tables| {
            let mut context = Context::new(tables, &self.config, now);
            context.here = self.is_node();
            apply_all(writes, &mut context)
        })
    }

    /// One transaction.
    fn write(&self, writes: Vec<Write>) -> Result<Vec<Outcome>, WriteFailure> {
        self.store.check_file(false)?;
        let (class, writes) = self.space_left().for_writes(writes)?;
        if let Some(cluster) = self.cluster() {
            return self.write_as_node(cluster, writes);
        }
        self.write_to_tables(class, writes, self.now())
    }
}
