//! The parts of an engine, wired: the store, the writer, and what the host injected.

#[cfg(feature = "cluster")]
mod cluster;
mod condition;
mod events;
mod intake;
mod keys;
mod lanes;
mod monitoring;
mod pending;
mod rate;
mod upkeep;
mod write;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

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
use crate::store::telemetry::newest::SharedWindows;
use crate::store::telemetry::queue::Wanted;
use crate::store::writer::Batch;
use crate::store::{Store, WriteFailure, meta};
use crate::timestamp::Timestamp;
use crate::view::Reader;

#[cfg(feature = "cluster")]
use cluster::Cluster;
use events::EventWaiters;
use intake::Intake;
pub(crate) use lanes::Lane;
use lanes::{Arriving, Lanes, Submission, Work};
use monitoring::KnownFleet;
pub(crate) use pending::{Outcomes, Output, PendingWrite};
use rate::Rate;
use write::Write;

/// Returns the free bytes of the medium, where they are known.
pub(crate) type FreeSpace = dyn Fn() -> Option<u64> + Send + Sync;

/// What the host injected.
pub(crate) struct Injected {
    pub(crate) clock: Box<dyn Clock>,
    pub(crate) fill_random: Box<FillRandom>,
    pub(crate) observer: Option<Box<dyn Observer>>,
    pub(crate) free_space: Option<Box<FreeSpace>>,
    /// Nothing outlives the store, so telemetry is answered before its commit.
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
    /// What those who read the activities of a day at the same time have in common.
    pub(crate) newest: Arc<SharedWindows>,
    /// Requests of each key in its current minute.
    key_minutes: Mutex<BTreeMap<u64, (i64, u32)>>,
    /// Held while a step of filing or sealing is prepared and written: each builds on what the one before left.
    filing: Mutex<()>,
    /// When something was last filed because the host asked, in ticks.
    filed_at: AtomicI64,
    /// The time of the last sweep, in ticks; [`i64::MIN`] when there was none.
    swept_at: AtomicI64,
    /// Whether the file was not where it was opened when that was last looked at.
    displaced: AtomicBool,
    /// Decides when the next sweep is due.
    clock_watch: Mutex<ClockWatch>,
    event_waiters: EventWaiters,
    /// `None` until it is counted.
    fleet: Mutex<Option<KnownFleet>>,
    rate: Rate,
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
        Ok(Self {
            swept_at: AtomicI64::new(swept.map_or(i64::MIN, Timestamp::ticks)),
            lanes: Lanes::new(config.commit_driver, store.has_log()),
            #[cfg(feature = "cluster")]
            cluster,
            store,
            config,
            trace_random: SplitMix::new(u64::from_le_bytes(seed)),
            injected,
            intake: Intake::default(),
            newest: Arc::default(),
            key_minutes: Mutex::default(),
            filing: Mutex::default(),
            filed_at: AtomicI64::new(i64::MIN),
            displaced: AtomicBool::new(false),
            clock_watch: Mutex::default(),
            event_waiters: EventWaiters::default(),
            fleet: Mutex::default(),
            rate: Rate::default(),
        })
    }

    /// The time of the clock. A node of a fleet that has applied what another wrote a moment later by its own clock is there already.
    pub(crate) fn now(&self) -> Timestamp {
        let now = self.injected.clock.now();
        #[cfg(feature = "cluster")]
        if let Some(cluster) = &self.cluster {
            return now.max(cluster.at());
        }
        now
    }

    /// The time of the last sweep.
    fn swept(&self) -> Option<Timestamp> {
        let ticks = self.swept_at.load(Ordering::Acquire);
        (ticks != i64::MIN).then(|| Timestamp::from_ticks(ticks))
    }

    /// Notifies the host. Never while this thread commits: the host may call the engine from there. What the observer does wrong
    /// harms nobody who waits.
    pub(crate) fn observe(&self, event: &Event<'_>) {
        if let Some(observer) = &self.injected.observer {
            // The panic hook has reported it.
            let _ = catch_unwind(AssertUnwindSafe(|| observer.event(event)));
        }
    }

    /// Reads tables as of now.
    pub(crate) fn reader(&self) -> Result<Reader> {
        self.settle();
        Reader::new(&self.store, self.now())
    }

    /// Reads tables as of now, all of which is durable: for a host that acts on what it reads.
    pub(crate) fn durable_reader(&self) -> Result<Reader> {
        self.store.confirm()?;
        self.reader()
    }

    /// Reads tables and telemetry as of now.
    pub(crate) fn telemetry_reader(&self, wanted: Wanted<'_>) -> Result<Reader> {
        self.settle();
        Reader::with_queue(&self.store, self.now(), wanted)
    }

    // ---- writing

    /// Commits a batch; its lane is free again when this returns. Returns how many mutations that were, of which each record of
    /// telemetry is one.
    fn commit(&self, work: Work<'_>) -> usize {
        let begun = self.now();
        let landing = Landing {
            intake: &self.intake,
            records: 0,
        };
        let (mutations, failure) = match work {
            Work::Store(submissions, batch) => self.commit_to_store(submissions, batch, landing),
            Work::Queue(_, arriving, batch) => self.commit_to_queue(arriving, batch, landing),
        };
        let duration = self.now().duration_since(begun);
        // Also after a failure, which may have reopened a file with events that were in doubt.
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
        let outcomes = match self.may_append() {
            Ok(()) => self.store.append(&|| self.new_log_id(), arrivals),
            Err(error) => vec![Err(error); submissions],
        };
        let count = landing.count();
        drop(landing);
        let failure = outcomes.iter().find_map(|outcome| outcome.clone().err());
        if failure.is_none() {
            self.rate.add(self.now(), count as u64);
        }
        batch.resolve(outcomes);
        (count, failure.map(WriteFailure::from))
    }

    /// Whether telemetry is taken.
    fn may_append(&self) -> Result<()> {
        self.store.check_place()?;
        self.store.check_folder()?;
        self.low_disk().map_or(Ok(()), |low| Err(low.error))
    }

    /// One transaction.
    fn write(&self, writes: Vec<Write>) -> Result<Vec<Outcome>, WriteFailure> {
        self.store.check_place()?;
        let low = self.low_disk();
        if let Some(low) = &low
            && (low.refuses_all || !writes.iter().any(|write| write.relieves))
        {
            return Err(low.error.clone().into());
        }
        #[cfg(feature = "cluster")]
        if let Some(cluster) = &self.cluster {
            return self.write_as_node(cluster, writes, low.as_ref());
        }
        let now = self.now();
        self.store.write(|tables| {
            let mut context = Context::new(tables, &self.config, now);
            writes
                .into_iter()
                .map(|write| match &low {
                    Some(low) if !write.relieves => Ok(Err(low.error.clone())),
                    _ => (write.apply)(&mut context),
                })
                .collect()
        })
    }

    /// The id of a log of the queue that begins. Not made as trace ids are: from one of those a client could tell it, and with
    /// it what a commit that was cut short must hold to look whole.
    fn new_log_id(&self) -> Result<u64> {
        let mut id = [0; 8];
        if !(self.injected.fill_random)(&mut id) {
            return Err(no_random());
        }
        Ok(u64::from_le_bytes(id))
    }

    /// Commits what is pending, writes down what is only in memory, and closes the file.
    pub(crate) fn close(&self) -> Result<()> {
        self.stop_threads();
        self.end_event_streams();
        while self.lead() > 0 {}
        let kept = match self.write_key_uses() {
            // When a key was last used is not worth a failure to stop.
            Err(error) if error.kind() == ErrorKind::LowDisk => Ok(()),
            #[cfg(feature = "cluster")]
            Err(_) if self.cluster.is_some() => Ok(()),
            kept => kept,
        };
        #[cfg(feature = "cluster")]
        if let Some(cluster) = &self.cluster
            && let Err(error) = self.sync_applied(cluster)
        {
            return self.store.close().and(Err(error));
        }
        self.store.close().and(kept)
    }
}

/// Records being committed; however that ends, they are in flight no longer.
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

/// The error of a write whose commit panicked; whether it is durable is not known.
fn lost() -> EngineError {
    let said = "the commit ended in a panic; the write may or may not be there";
    EngineError::new(ErrorKind::Indeterminate, said)
}

impl std::fmt::Debug for EngineCore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EngineCore")
            .field("store", &self.store)
            .finish_non_exhaustive()
    }
}

fn no_random() -> EngineError {
    EngineError::new(
        ErrorKind::Internal,
        "no random bytes can be had from the host",
    )
}
