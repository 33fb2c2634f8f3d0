//! The parts of an engine and how they are connected: the store, the writer, and what the host injected.

#[cfg(feature = "cluster")]
mod cluster;
mod condition;
mod conditions;
mod events;
mod filing;
mod intake;
mod keys;
mod lanes;
mod monitoring;
mod pending;
mod rate;
mod reading;
mod rejections;
mod removal;
mod upkeep;
mod write;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use crate::clock::Clock;
use crate::config::Config;
use crate::domain::retention::ClockWatch;
use crate::error::{EngineError, ErrorKind, Result};
#[cfg(feature = "cluster")]
use crate::log::Log;
use crate::mutation::{Context, Outcome};
use crate::observer::{Event, Observer};
use crate::random::{FillRandom, SplitMix};
use crate::store::telemetry::arrivals::Arrivals;
use crate::store::writer::Batch;
use crate::store::{Store, WriteFailure, meta};
use crate::timestamp::Timestamp;

#[cfg(feature = "cluster")]
use cluster::Cluster;
use condition::Reported;
pub(crate) use conditions::HostConditions;
use events::EventWaiters;
use filing::Filing;
pub(crate) use intake::IncomingBatch;
use intake::Intake;
pub(crate) use lanes::Claim;
use lanes::{Arriving, CommitJob, Lanes, Submission};
use monitoring::KnownFleet;
pub(crate) use pending::{Outcomes, Output, PendingWrite};
use rate::Rate;
use rejections::Rejections;
use write::Write;

/// Returns the free bytes of the medium, where they are known.
pub(crate) type FreeSpace = dyn Fn() -> Option<u64> + Send + Sync;

/// What the host injected.
pub(crate) struct Injected {
    pub(crate) clock: Box<dyn Clock>,
    pub(crate) fill_random: Box<FillRandom>,
    pub(crate) observer: Option<Box<dyn Observer>>,
    pub(crate) free_space: Option<Box<FreeSpace>>,
    pub(crate) conditions: Option<Box<HostConditions>>,
    /// Nothing outlives the store, so telemetry is acknowledged before its commit.
    pub(crate) volatile: bool,
    /// The log that this engine shares, and its name as a node.
    #[cfg(feature = "cluster")]
    pub(crate) log: Option<SharedLog>,
}

/// The log that an engine shares with others, and its name among them.
#[cfg(feature = "cluster")]
pub(crate) struct SharedLog {
    pub(crate) log: Box<dyn Log>,
    pub(crate) node: String,
}

pub(crate) struct EngineCore {
    pub(crate) store: Store,
    pub(crate) config: Config,
    /// Makes trace ids; seeded once.
    pub(crate) trace_random: SplitMix,
    injected: Injected,
    lanes: Lanes,
    #[cfg(feature = "cluster")]
    cluster: Option<Cluster>,
    intake: Intake,
    /// Requests of each key in its current minute.
    key_minutes: Mutex<BTreeMap<u64, (i64, u32)>>,
    filing: Filing,
    /// Locked while rows of the whole fleet are sorted, one sort at a time: the figures of a million instances are 100 MB.
    sorting: Mutex<()>,
    /// When something was last filed because the host asked, in ticks.
    filed_at: AtomicI64,
    /// When conditions were last looked for, in ticks.
    watched_at: AtomicI64,
    /// The time of the last sweep, in ticks; [`i64::MIN`] when there was none.
    swept_at: AtomicI64,
    /// What was last reported to the host of the file.
    reported: Reported,
    /// Decides when the next sweep is due.
    clock_watch: Mutex<ClockWatch>,
    event_waiters: EventWaiters,
    /// `None` until the first count.
    fleet: Mutex<Option<KnownFleet>>,
    rate: Rate,
    rejections: Rejections,
    /// Ends the thread of upkeep.
    stopping: AtomicBool,
}

impl EngineCore {
    pub(crate) fn new(store: Store, config: Config, injected: Injected) -> Result<Self> {
        #[cfg(feature = "cluster")]
        let (mut config, mut injected) = (config, injected);
        #[cfg(feature = "cluster")]
        let cluster = match injected.log.take() {
            Some(shared) => {
                let mut process = [0; 8];
                if !(injected.fill_random)(&mut process) {
                    return Err(no_random());
                }
                Some(Cluster::begin(shared, &store, &mut config, process)?)
            }
            None => None,
        };
        let mut seed = [0; 8];
        if !(injected.fill_random)(&mut seed) {
            return Err(no_random());
        }
        let swept = meta::swept(&store.snapshot()?)?;
        let core = Self {
            swept_at: AtomicI64::new(swept.map_or(i64::MIN, Timestamp::ticks)),
            lanes: Lanes::new(config.commit_driver, store.has_log()),
            #[cfg(feature = "cluster")]
            cluster,
            store,
            config,
            trace_random: SplitMix::new(u64::from_le_bytes(seed)),
            injected,
            intake: Intake::default(),
            key_minutes: Mutex::default(),
            filing: Filing::default(),
            sorting: Mutex::default(),
            filed_at: AtomicI64::new(i64::MIN),
            watched_at: AtomicI64::new(i64::MIN),
            reported: Reported::default(),
            clock_watch: Mutex::default(),
            event_waiters: EventWaiters::default(),
            fleet: Mutex::default(),
            rate: Rate::default(),
            rejections: Rejections::default(),
            stopping: AtomicBool::new(false),
        };
        // Upkeep reports a missing reserve.
        let _ = core.keep_reserve();
        Ok(core)
    }

    /// The time of the clock. On a node it is at least the time of the last applied entry, which another node's clock may have
    /// dated a moment later.
    pub(crate) fn now(&self) -> Timestamp {
        let now = self.injected.clock.now();
        #[cfg(feature = "cluster")]
        if let Some(cluster) = &self.cluster {
            return now.max(cluster.applied_time());
        }
        now
    }

    /// Whether this is a node of a fleet.
    #[cfg_attr(
        not(feature = "cluster"),
        expect(clippy::unused_self, reason = "only a node has a log")
    )]
    fn is_node(&self) -> bool {
        #[cfg(feature = "cluster")]
        return self.cluster().is_some();
        #[cfg(not(feature = "cluster"))]
        false
    }

    /// The time of the last sweep.
    fn swept(&self) -> Option<Timestamp> {
        let ticks = self.swept_at.load(Ordering::Acquire);
        (ticks != i64::MIN).then(|| Timestamp::from_ticks(ticks))
    }

    /// Commits a batch; its lane is free again when this returns. Returns the number of mutations; each telemetry record counts
    /// as one.
    fn commit(&self, job: CommitJob<'_>) -> usize {
        let begun = self.now();
        let landing = Landing {
            intake: &self.intake,
            records: 0,
        };
        let (mutations, failure) = match job {
            CommitJob::Store(submissions, batch) => {
                self.commit_to_store(submissions, batch, landing)
            }
            CommitJob::Queue(_, arriving, batch) => self.commit_to_queue(arriving, batch, landing),
        };
        let duration = self.now().duration_since(begun);
        // Streams are woken also after a failure, which may have reopened the file with events that were in doubt.
        self.wake_for_events();
        match failure {
            None => self.observe(&Event::Committed {
                mutations,
                duration,
            }),
            Some(failure) => {
                if failure.reopened {
                    self.observe(&Event::Reopened);
                }
                let error = &failure.error;
                self.observe(&Event::CommitFailed { error });
            }
        }
        mutations
    }

    fn commit_to_store(
        &self,
        submissions: Vec<Submission>,
        mut batch: Batch<'_, Submission, Outcome>,
        mut landing: Landing<'_>,
    ) -> (usize, Option<WriteFailure>) {
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
                batch.resolve(outcomes);
                (count, None)
            }
            Err(failure) => {
                batch.resolve(std::iter::repeat_with(|| Err(failure.error.clone())));
                (count, Some(failure))
            }
        }
    }

    fn commit_to_queue(
        &self,
        arriving: Vec<Arriving>,
        mut batch: Batch<'_, Arriving, Outcome>,
        mut landing: Landing<'_>,
    ) -> (usize, Option<WriteFailure>) {
        let submissions = arriving.len();
        let arrivals: Vec<_> = arriving
            .into_iter()
            .map(|each| landing.take(each))
            .collect();
        let (accepted, refusal) = match self.may_append() {
            Ok(()) => self.space_left().for_arrivals(arrivals),
            Err(error) => (Vec::new(), Some(error)),
        };
        let mut outcomes = self.store.append(&|| self.new_log_id(), accepted);
        outcomes.resize_with(submissions, || refusal.clone().map_or(Ok(()), Err));
        let count = landing.count();
        drop(landing);
        let failure = outcomes.iter().find_map(|outcome| outcome.clone().err());
        if failure.is_none() {
            self.rate.add(self.now(), count as u64);
        }
        batch.resolve(outcomes);
        (count, failure.map(WriteFailure::from))
    }

    /// Whether the files of the store are where they were opened.
    fn may_append(&self) -> Result<()> {
        self.store.check_place(false)?;
        self.store.check_folder()
    }

    /// One transaction.
    fn write(&self, writes: Vec<Write>) -> Result<Vec<Outcome>, WriteFailure> {
        self.store.check_place(false)?;
        let (class, writes) = self.space_left().for_writes(writes)?;
        #[cfg(feature = "cluster")]
        if let Some(cluster) = &self.cluster {
            return self.write_as_node(cluster, writes);
        }
        let now = self.now();
        self.store.write(class, |tables| {
            let mut context = Context::new(tables, &self.config, now);
            let apply = |write: Result<Write>| match write {
                Ok(write) => (write.apply)(&mut context),
                Err(refusal) => Ok(Err(refusal)),
            };
            writes.into_iter().map(apply).collect()
        })
    }

    /// Id of a new queue log, from the host's secure randomness: clients see trace ids and could otherwise forge bytes that pass as a
    /// frame.
    fn new_log_id(&self) -> Result<u64> {
        let mut id = [0; 8];
        if !(self.injected.fill_random)(&mut id) {
            return Err(no_random());
        }
        Ok(u64::from_le_bytes(id))
    }

    /// Commits pending writes, writes what is only in memory, and closes the file.
    pub(crate) fn close(&self) -> Result<()> {
        self.stop_threads();
        self.end_event_streams();
        while self.lead() > 0 {}
        let kept = match self.write_key_uses() {
            #[cfg(feature = "cluster")]
            Err(_) if self.cluster.is_some() => Ok(()),
            kept => kept,
        };
        let moves_queue = self.has_space_for_queue();
        #[cfg(feature = "cluster")]
        if let Some(cluster) = &self.cluster
            && let Err(error) = self.sync_applied(cluster)
            && !error.is_for_space()
        {
            // Without space the node applies it again from the log at the next start.
            return self.store.close(moves_queue).and(Err(error));
        }
        self.store.close(moves_queue).and(kept)
    }
}

/// The records of a commit. When it is dropped they are no longer in flight, however the commit ended.
struct Landing<'m> {
    intake: &'m Intake,
    records: u64,
}

impl Landing<'_> {
    fn take(&mut self, arriving: Arriving) -> Arrivals {
        let arrivals = match arriving {
            Arriving::Batch(arrivals) => *arrivals,
            Arriving::Gathered => self.intake.take(),
        };
        self.records += arrivals.records();
        arrivals
    }

    fn count(&self) -> usize {
        usize::try_from(self.records).unwrap_or(usize::MAX)
    }
}

impl Drop for Landing<'_> {
    fn drop(&mut self) {
        self.intake.landed(self.records);
    }
}

/// The error of a write whose commit panicked: it may be durable or not.
fn lost() -> EngineError {
    let message = "the commit ended in a panic; the write may or may not be there";
    EngineError::new(ErrorKind::Indeterminate, message)
}

impl std::fmt::Debug for EngineCore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EngineCore")
            .field("store", &self.store)
            .finish_non_exhaustive()
    }
}

fn no_random() -> EngineError {
    EngineError::new(ErrorKind::Internal, "the host's random source failed")
}
