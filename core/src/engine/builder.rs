//! Opening an engine.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use redb::StorageBackend;

use crate::api::router::Router;
use crate::clock::Clock;
use crate::config::{CommitDriver, Config, Limits};
use crate::engine_core::{EngineCore, FreeSpace, HostConditions, Injected, SharedLog};
use crate::error::{EngineError, ErrorKind, Result};
#[cfg(feature = "cluster")]
use crate::limits::LOG_KEEP_SECONDS_MAX;
use crate::locks::lock;
use crate::model::Condition;
#[cfg(feature = "cluster")]
use crate::mutation::logged::entry::RULES;
use crate::mutation::logged::replaying::TimedEntry;
use crate::observer::Observer;
use crate::random::{FillRandom, SplitMix};
use crate::store::disk::backends::SegmentFolder;
use crate::store::disk::file_of_process::OwnProcess;
use crate::store::telemetry::segments::{Available, SegmentLog};
use crate::store::{Replay, Store, StoreOptions, Writing};

use crate::timestamp::Timestamp;

use super::{Engine, Running};

/// Who does upkeep: calls [`Engine::maintain`], without which telemetry is never filed, compacted or removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Upkeep {
    /// The host, about once a second.
    Host,
    /// A thread of the engine, once a second until the engine is closed or its last clone is dropped.
    /// [`Event::UpkeepFailed`](crate::Event::UpkeepFailed) reports a round that fails. A store that is only read has no upkeep.
    Thread,
}

/// What an [`Engine`] is opened with.
///
/// The clock and the randomness are those of the operating system unless others are given; without the feature `system` both
/// must be given.
#[must_use]
pub struct EngineBuilder {
    config: Config,
    clock: Option<Box<dyn Clock>>,
    fill_random: Option<Box<FillRandom>>,
    observer: Option<Box<dyn Observer>>,
    free_space: Option<Box<FreeSpace>>,
    conditions: Option<Box<HostConditions>>,
    segment_bytes: Option<u32>,
    keep_accepted: Option<Duration>,
    upkeep: Option<Upkeep>,
    log: Option<SharedLog>,
}

#[cfg_attr(
    not(feature = "system"),
    expect(
        clippy::derivable_impls,
        reason = "with the feature it cannot be derived"
    )
)]
impl Default for EngineBuilder {
    fn default() -> Self {
        Self {
            config: Config::default(),
            #[cfg(feature = "system")]
            clock: Some(Box::new(crate::clock::SystemClock)),
            #[cfg(not(feature = "system"))]
            clock: None,
            #[cfg(feature = "system")]
            fill_random: Some(Box::new(|buffer| getrandom::fill(buffer).is_ok())),
            #[cfg(not(feature = "system"))]
            fill_random: None,
            observer: None,
            free_space: None,
            conditions: None,
            segment_bytes: None,
            keep_accepted: None,
            upkeep: None,
            log: None,
        }
    }
}

impl EngineBuilder {
    /// The clock: `std::time::SystemTime::now`, a closure, or a [`ManualClock`](crate::ManualClock).
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Some(Box::new(clock));
        self
    }

    /// The randomness that API keys are made of, for example `getrandom::fill`.
    pub fn random<E>(
        mut self,
        fill: impl Fn(&mut [u8]) -> Result<(), E> + Send + Sync + 'static,
    ) -> Self {
        self.fill_random = Some(Box::new(move |buffer| fill(buffer).is_ok()));
        self
    }

    /// Randomness from a seed, for a test double: the same seed and the same requests give the same bytes. Anyone who
    /// knows the seed knows the API keys.
    pub fn seed(mut self, seed: u64) -> Self {
        let random = SplitMix::new(seed);
        self.fill_random = Some(Box::new(move |buffer| {
            random.fill(buffer);
            true
        }));
        self
    }

    /// Receives the events of the engine.
    pub fn observer(mut self, observer: impl Observer) -> Self {
        self.observer = Some(Box::new(observer));
        self
    }

    /// The configuration, as a whole: limits that were changed before are those of `config` then. `Config::default()` is what the
    /// interface promises.
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// Changes the limits of the configuration: `.limits(|limits| limits.cache_bytes = 16 << 20)`.
    pub fn limits(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.config.limits);
        self
    }

    /// Who does upkeep. By default it is [`Upkeep::Thread`] with [`CommitDriver::Thread`], else [`Upkeep::Host`].
    ///
    /// ```
    /// use deskfleet::{Engine, Upkeep};
    ///
    /// let engine = Engine::builder().upkeep(Upkeep::Thread).open_in_memory()?;
    /// # engine.close()?;
    /// # Ok::<(), deskfleet::EngineError>(())
    /// ```
    pub fn upkeep(mut self, upkeep: Upkeep) -> Self {
        self.upkeep = Some(upkeep);
        self
    }

    /// Returns the free bytes of the medium, where the host knows them; called before each commit. See
    /// [`Limits::free_bytes_min`](crate::Limits::free_bytes_min).
    pub fn free_space(mut self, probe: impl Fn() -> Option<u64> + Send + Sync + 'static) -> Self {
        self.free_space = Some(Box::new(probe));
        self
    }

    /// Returns what is wrong beside the engine, such as an old backup; called whenever conditions are listed, and by a node once a second, so it
    /// should read memory only. See [`Engine::conditions`].
    pub fn conditions(
        mut self,
        observed: impl Fn() -> Vec<Condition> + Send + Sync + 'static,
    ) -> Self {
        self.conditions = Some(Box::new(observed));
        self
    }

    /// Keeps accepted telemetry for that long after its receipt, in the order of it, for [`Engine::accepted`]; at most for as long as the
    /// shortest retention of a stream. The file has it twice meanwhile: 20 to 90 bytes more a record, most where each came alone. It is dropped
    /// earlier where the disk is short of space, whenever telemetry is [removed](Engine::remove_telemetry), and where the store is opened
    /// without this. Not in WebAssembly.
    pub fn keep_accepted(mut self, time: Duration) -> Self {
        self.keep_accepted = Some(time);
        self
    }

    /// Makes the engine a node of a fleet. All engines that share `log` have the same data; a write is acknowledged once it is in
    /// the log and applied here. `node` is its name among them. Later writes wait for the log, so it should respond within
    /// milliseconds.
    ///
    /// The store can be made again from the log and the backup of another node, so it is synced only once a second. A host calls
    /// [`Engine::follow`] in a loop.
    #[cfg(feature = "cluster")]
    pub fn log(mut self, log: impl crate::log::Log, node: impl Into<String>) -> Self {
        self.log = Some(SharedLog {
            can_share: crate::log::CanShare::HERE,
            log: Box::new(log),
            node: node.into(),
            rules: RULES,
            keep_seconds: 0,
        });
        self
    }

    /// Keeps the entries of the log that are younger than `time`, by the clock of the log and for a year at most, also once all nodes have them: a node
    /// that was away for less goes on without the backup of another. The longest time of all nodes on the list counts. After [`Self::log`].
    #[cfg(feature = "cluster")]
    pub fn log_keep(mut self, time: Duration) -> Self {
        if let Some(log) = &mut self.log {
            let seconds = u32::try_from(time.as_secs()).unwrap_or(u32::MAX);
            log.keep_seconds = seconds.min(LOG_KEEP_SECONDS_MAX);
        }
        self
    }

    /// Makes a node of another version, as far as the rules go that it knows: for tests, after [`Self::log`].
    #[cfg(feature = "cluster")]
    #[doc(hidden)]
    pub fn rules(mut self, rules: u16) -> Self {
        if let Some(log) = &mut self.log {
            log.rules = rules;
        }
        self
    }

    /// As [`Self::log`], for a program that ends soon: it is not listed among the nodes, so the log is not kept for it, and its clock is
    /// not compared.
    #[cfg(feature = "cluster")]
    pub fn log_unlisted(self, log: impl crate::log::Log) -> Self {
        self.log(log, "")
    }

    /// Opens the file at `path`, or creates it.
    ///
    /// # Errors
    /// A file that is refused is left untouched, and a new one that cannot be begun is removed.
    ///
    /// - [`ErrorKind::AlreadyOpen`] when an engine has it open.
    /// - [`ErrorKind::ForeignFile`] and [`ErrorKind::NewerFormat`] when it is not ours or too new.
    /// - [`ErrorKind::Corrupted`] when it is damaged.
    /// - [`ErrorKind::StorageUnavailable`] when it, or a file beside it, cannot be opened, read or written.
    /// - [`ErrorKind::Indeterminate`] when the storage failed while a write of the opening was made durable, such as the conversion of an
    ///   older format. The next opening finds all of it or nothing.
    /// - [`ErrorKind::LowDisk`] when a node of a fleet is opened on a copy of a store, and the medium has too little free space.
    /// - [`ErrorKind::Configuration`] when the clock or the randomness is missing, a value of the configuration is out of range, no thread
    ///   can be started, or the file is that of a node of a fleet and is opened without its log.
    /// - [`ErrorKind::Internal`] when the randomness fails.
    pub fn open(self, path: impl AsRef<Path>) -> Result<Engine> {
        let path = path.as_ref();
        self.open_store(|options| Store::open_path(path, options))
    }

    /// Opens the file at `path`, and never creates it.
    ///
    /// # Errors
    /// Those of [`Self::open`]; [`ErrorKind::StorageUnavailable`] when there is no such file.
    pub fn open_existing(self, path: impl AsRef<Path>) -> Result<Engine> {
        let path = path.as_ref();
        self.open_store(|options| Store::open_existing(path, options))
    }

    /// Opens the file at `path` for reading: not a byte of it changes, and a file without write permission or on a read-only file
    /// system opens as well. Any number of engines, in one process or many, may have it open this way, and none that writes at the same
    /// time: beside one that writes, open a copy that [`Engine::backup`] makes while it runs. Writes are refused with
    /// [`ErrorKind::StorageUnavailable`], and [`Engine::ready`] fails.
    ///
    /// # Errors
    /// Those of [`Self::open`]; [`ErrorKind::StorageUnavailable`] when there is no such file.
    pub fn open_read_only(self, path: impl AsRef<Path>) -> Result<Engine> {
        let path = path.as_ref();
        self.open_store(|options| Store::open_read_only(path, options))
    }

    /// Opens an engine that lives in memory and is gone with it.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] when the clock or the randomness is missing, a value of the configuration is out of range, or no thread
    /// can be started; [`ErrorKind::Internal`] when the randomness fails.
    pub fn open_in_memory(self) -> Result<Engine> {
        self.open_store(Store::open_in_memory)
    }

    /// Opens what a backend of the host's own holds, or begins a new store on it.
    ///
    /// # Errors
    /// Those of [`Self::open`].
    pub fn open_backend(self, backend: impl StorageBackend) -> Result<Engine> {
        self.open_store(|options| Store::open(backend, None, options))
    }

    /// Opens what a backend of the host's own holds for reading: not a byte of it changes. As [`Self::open_read_only`].
    ///
    /// # Errors
    /// Those of [`Self::open`]; [`ErrorKind::StorageUnavailable`] when it holds nothing.
    pub fn open_backend_read_only(self, backend: impl StorageBackend) -> Result<Engine> {
        self.open_store(|options| Store::open_backend_read_only(backend, options))
    }

    /// Opens what a backend of the host's own holds, or begins a new store on it, with the queue in segments in a folder of the host's
    /// own, as [`Self::open`] has them in a folder beside the file. Not in WebAssembly.
    ///
    /// # Errors
    /// Those of [`Self::open`].
    pub fn open_backend_with_queue(
        self,
        backend: impl StorageBackend,
        folder: impl SegmentFolder,
    ) -> Result<Engine> {
        let log = SegmentLog::new(Box::new(folder))?;
        let log = match self.segment_bytes {
            Some(bytes) => log.with_segment_bytes(bytes),
            None => log,
        };
        self.open_store(|options| Store::open(backend, Some(log), options))
    }

    /// The length of the segments of [`Self::open_backend_with_queue`], in bytes, for tests that fill many.
    #[doc(hidden)]
    pub fn segment_bytes(mut self, bytes: u32) -> Self {
        self.segment_bytes = Some(bytes);
        self
    }

    /// Opens a backend that ends with the process, or begins a new store on it.
    ///
    /// On such a backend durable means no more than visible. So a record that is posted to a Stats endpoint is acknowledged once
    /// it is accepted. It is committed with others before the next read of any caller, after some thousand records, and when the
    /// engine is closed. If that commit fails, records that were acknowledged with 200 are lost. All other writes are
    /// acknowledged after their commit. Never use this for a backend that keeps anything.
    ///
    /// # Errors
    /// Those of [`Self::open`].
    pub fn open_volatile(self, backend: impl StorageBackend) -> Result<Engine> {
        self.open_with(true, |options| Store::open(backend, None, options))
    }

    /// Turns the file of a node into a store of its own that no longer follows the log; returns whether it was the file of a
    /// node. It lacks entries that the node had not applied yet.
    ///
    /// # Errors
    /// Those of [`Self::open_existing`].
    pub fn leave_fleet(self, path: impl AsRef<Path>) -> Result<bool> {
        let clock = self.clock.as_ref();
        let now = clock.map_or(Timestamp::UNIX_EPOCH, |clock| clock.now());
        let options = StoreOptions {
            writing: Writing::Lazy,
            ..store_options(&self.config, now)
        };
        let store = Store::open_existing(path.as_ref(), options)?;
        let left = store.write(crate::model::WriteClass::Essential, |tables| {
            crate::store::cluster::leave(tables)
        });
        let left = left.and_then(|left| store.sync().map(|()| left));
        let left = left.map_err(|failure| failure.error)?;
        store.close(true)?;
        Ok(left)
    }

    fn open_store(self, open: impl FnOnce(StoreOptions) -> Result<Store>) -> Result<Engine> {
        self.open_with(false, open)
    }

    fn open_with(
        self,
        volatile: bool,
        open: impl FnOnce(StoreOptions) -> Result<Store>,
    ) -> Result<Engine> {
        let upkeep = self.chosen_upkeep();
        let (config, injected) = self.checked(volatile)?;
        let router = Router::new().map_err(|error| {
            EngineError::caused(ErrorKind::Internal, "two routes have the same path", error)
        })?;
        let store = open(engine_options(&config, &injected)?)?;
        let running = Running {
            core: Arc::new(EngineCore::new(store, config, injected)?),
            router,
            threads: Mutex::default(),
            process: OwnProcess::new(),
        };
        running.start(upkeep)?;
        Ok(Engine {
            running: Arc::new(running),
        })
    }

    fn chosen_upkeep(&self) -> Upkeep {
        let with_thread = self.config.commit_driver == CommitDriver::Thread;
        self.upkeep.unwrap_or(if with_thread {
            Upkeep::Thread
        } else {
            Upkeep::Host
        })
    }

    /// The configuration, if it is valid, and what the host injected, if nothing is missing.
    fn checked(mut self, volatile: bool) -> Result<(Config, Injected)> {
        // Here, because the configuration may be given after the log.
        if self.log.is_some() {
            self.config.queue_storage = crate::config::QueueStorage::Table;
        }
        self.config.validate()?;
        let injected = Injected {
            clock: self.clock.ok_or_else(|| {
                misconfigured("an engine needs a clock: call .clock(..), or enable the feature `system`")
            })?,
            fill_random: self.fill_random.ok_or_else(|| {
                misconfigured(
                    "an engine needs randomness: call .random(..), or .seed(..) for a test, or enable the feature `system`",
                )
            })?,
            observer: self.observer,
            free_space: self.free_space,
            conditions: self.conditions,
            keep_accepted: Available::HERE.zip(self.keep_accepted),
            volatile,
            log: self.log,
        };
        Ok((self.config, injected))
    }
}

impl Running {
    /// Starts the threads of the engine, and does what comes first after opening.
    fn start(&self, upkeep: Upkeep) -> Result<()> {
        for _ in 0..self.core.commit_threads() {
            let core = Arc::clone(&self.core);
            let thread = spawn("deskfleet-commit", move || {
                core.commit_forever(std::thread::yield_now);
            })?;
            lock(&self.threads).push(thread);
        }
        self.core.report_opening();
        self.core.report_start_on_copy()?;
        self.core.begin_keeping()?;
        if upkeep == Upkeep::Thread && !self.core.store.is_read_only() {
            let core = Arc::clone(&self.core);
            let thread = spawn("deskfleet-upkeep", move || core.maintain_forever())?;
            lock(&self.threads).push(thread);
        }
        Ok(())
    }
}

fn misconfigured(what: &str) -> EngineError {
    EngineError::new(ErrorKind::Configuration, what)
}

/// The options of the store of an engine. A node writes lazily.
fn engine_options(config: &Config, injected: &Injected) -> Result<StoreOptions> {
    let mut options = store_options(config, injected.clock.now());
    if injected.log.is_some() {
        if injected.volatile {
            return Err(misconfigured(
                "a node of a fleet answers telemetry once it is in the log: open it with another method than `open_volatile`",
            ));
        }
        options.writing = Writing::Lazy;
    }
    Ok(options)
}

fn store_options(config: &Config, now: Timestamp) -> StoreOptions {
    StoreOptions {
        replay: Available::HERE.map(|here| (here, TimedEntry::replay as Replay)),
        ..StoreOptions::from_config(config, now)
    }
}

/// Opening with defaults, with the feature `system`.
#[cfg(feature = "system")]
impl Engine {
    /// Opens the file at `path`, or creates it, with the default configuration and the system's clock and randomness.
    /// [`Self::builder`] is for everything else.
    ///
    /// # Errors
    /// Those of [`EngineBuilder::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::builder().open(path)
    }

    /// Opens an engine that lives in memory and is gone with its last clone.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`] when the randomness of the operating system fails.
    pub fn in_memory() -> Result<Self> {
        Self::builder().open_in_memory()
    }
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> Result<std::thread::JoinHandle<()>> {
    // Known at compile time, so that the WebAssembly module has no code for threads.
    let spawned = if cfg!(all(target_arch = "wasm32", target_os = "unknown")) {
        Err(std::io::ErrorKind::Unsupported.into())
    } else {
        std::thread::Builder::new().name(name.to_owned()).spawn(run)
    };
    spawned.map_err(|error| {
        EngineError::caused(
            ErrorKind::Configuration,
            "no thread can be started here; choose another commit driver, and Upkeep::Host",
            error,
        )
    })
}

impl fmt::Debug for EngineBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EngineBuilder")
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(feature = "system")))]
mod tests {
    use crate::clock::ManualClock;

    use super::*;

    #[test]
    fn builder_without_clock_or_randomness_returns_an_error() {
        let clock = ManualClock::new("2026-11-20".parse().unwrap());
        for builder in [Engine::builder().seed(7), Engine::builder().clock(clock)] {
            let error = builder.open_in_memory().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Configuration);
            assert!(error.context().contains("feature `system`"), "{error}");
        }
    }
}
