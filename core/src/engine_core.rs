//! The parts of an engine and how they are connected: the store, the writer, and what the host injected.

mod accepted;
mod cluster;
mod committing;
mod condition;
mod conditions;
mod events;
mod filing;
mod intake;
mod keys;
mod logging;
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
use std::time::Duration;

use crate::clock::Clock;
use crate::config::Config;
use crate::domain::retention::ClockWatch;
use crate::error::{EngineError, ErrorKind, Result};
use crate::locks::lock;
use crate::log::{CanShare, Log};
use crate::model::WriteClass;
use crate::mutation::configure::shared_settings;
use crate::observer::Observer;
use crate::random::{FillRandom, SplitMix};
use crate::store::telemetry::segments::Available;
use crate::store::{Store, cluster as stored, meta};
use crate::timestamp::Timestamp;

use cluster::Cluster;
use committing::Commits;
use condition::Reported;
pub(crate) use conditions::HostConditions;
use events::EventWaiters;
use filing::Filing;
pub(crate) use intake::IncomingBatch;
use intake::Intake;
use monitoring::KnownFleet;
pub(crate) use pending::{Outcomes, Output, PendingWrite};
use rate::Rate;
use rejections::Rejections;
use upkeep::UpkeepThread;
pub(crate) use write::Claim;

/// Returns the free bytes of the medium, where they are known.
pub(crate) type FreeSpace = dyn Fn() -> Option<u64> + Send + Sync;

/// What the host injected.
pub(crate) struct Injected {
    pub(crate) clock: Box<dyn Clock>,
    pub(crate) fill_random: Box<FillRandom>,
    pub(crate) observer: Option<Box<dyn Observer>>,
    pub(crate) free_space: Option<Box<FreeSpace>>,
    pub(crate) conditions: Option<Box<HostConditions>>,
    /// How long accepted telemetry can be read in the order of its receipt. Not in WebAssembly, whose module has none of it.
    pub(crate) keep_accepted: Option<(Available, Duration)>,
    /// Nothing outlives the store, so telemetry is acknowledged before its commit.
    pub(crate) volatile: bool,
    /// The log that this engine shares, and its name as a node.
    pub(crate) log: Option<SharedLog>,
}

impl Injected {
    /// Bytes of the host's secure randomness.
    fn random<const BYTES: usize>(&self) -> Result<[u8; BYTES]> {
        let mut bytes = [0; BYTES];
        if (self.fill_random)(&mut bytes) {
            return Ok(bytes);
        }
        let message = "the host's random source failed";
        Err(EngineError::new(ErrorKind::Internal, message))
    }
}

/// The log that an engine shares with others, and its name among them.
pub(crate) struct SharedLog {
    pub(crate) can_share: CanShare,
    pub(crate) log: Box<dyn Log>,
    pub(crate) node: String,
    /// The newest rules that this program knows.
    pub(crate) rules: u16,
    /// The age up to which entries of the log are kept.
    pub(crate) keep_seconds: u32,
}

pub(crate) struct EngineCore {
    pub(crate) store: Store,
    pub(crate) config: Config,
    /// Makes trace ids; seeded once.
    pub(crate) trace_random: SplitMix,
    injected: Injected,
    commits: Commits,
    /// Locked while writes of a batch are applied that the log has.
    applying: Mutex<()>,
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
    upkeep_thread: UpkeepThread,
    /// Ends the thread of upkeep.
    stopping: AtomicBool,
}

impl EngineCore {
    pub(crate) fn new(store: Store, mut config: Config, mut injected: Injected) -> Result<Self> {
        let cluster = if let Some(shared) = injected.log.take() {
            let process = injected.random()?;
            Some(Cluster::begin(shared, &store, &mut config, process)?)
        } else {
            forget_left_fleet(&store)?;
            None
        };
        if store.has_log().is_some() {
            store.keep_log_settings(&shared_settings(&config))?;
        }
        let seed = injected.random()?;
        let swept = meta::swept(&store.snapshot()?)?;
        let core = Self {
            swept_at: AtomicI64::new(swept.map_or(i64::MIN, Timestamp::ticks)),
            commits: Commits::new(config.commit_driver, store.has_log().is_some()),
            applying: Mutex::default(),
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
            upkeep_thread: UpkeepThread::default(),
            stopping: AtomicBool::new(false),
        };
        // Upkeep reports a missing reserve.
        let _ = core.keep_reserve();
        Ok(core)
    }

    /// A number from the host's secure randomness.
    fn random_id(&self) -> Result<u64> {
        self.injected.random().map(u64::from_le_bytes)
    }

    /// The time of the clock. On a node it is at least the time of the last applied entry, which another node's clock may have
    /// dated a moment later.
    pub(crate) fn now(&self) -> Timestamp {
        let now = self.injected.clock.now();
        if let Some(cluster) = self.cluster() {
            return now.max(cluster.applied_time());
        }
        now
    }

    /// Whether this is a node of a fleet.
    fn is_node(&self) -> bool {
        self.cluster().is_some()
    }

    /// The time of the last sweep.
    fn swept(&self) -> Option<Timestamp> {
        let ticks = self.swept_at.load(Ordering::Acquire);
        (ticks != i64::MIN).then(|| Timestamp::from_ticks(ticks))
    }

    /// Commits pending writes, writes what is only in memory, and closes the file.
    pub(crate) fn close(&self) -> Result<()> {
        self.stop_threads();
        self.end_event_streams();
        while self.lead() > 0 {}
        let kept = match self.write_key_uses() {
            Err(_) if self.is_node() => Ok(()),
            kept => kept,
        };
        let moves_queue = self.has_space_for_queue();
        // What is in the log is applied before it ends.
        let _applied = lock(&self.applying);
        if let Some(cluster) = self.cluster()
            && let Err(error) = self.sync_applied(cluster)
            && !error.is_for_space()
        {
            // Without space the node applies it again from the log at the next start.
            return self.store.close(moves_queue).and(Err(error));
        }
        self.store.close(moves_queue).and(kept)
    }
}

/// The error of a write whose commit panicked: it may be durable or not.
/// Forgets the settings of a fleet that the store left: it is served alone, by those of its host. A program that knows no fleets leaves them there.
fn forget_left_fleet(store: &Store) -> Result<()> {
    if !cfg!(feature = "cluster") {
        return Ok(());
    }
    let snapshot = store.snapshot()?;
    let is_left = !store.is_read_only()
        && stored::applied(&snapshot)?.is_none()
        && stored::fleet_configuration(&snapshot)?.is_some();
    if !is_left {
        return Ok(());
    }
    let forgotten = store.write(WriteClass::Essential, |tables| {
        stored::forget_configuration(tables)
    });
    forgotten.map_err(|failure| failure.error)
}

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
