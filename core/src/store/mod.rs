//! The embedded store: one redb file, its tables, and the memory beside it. The only folder that names redb.

pub(crate) mod audit;
pub mod backends;
pub(crate) mod checking;
pub(crate) mod cluster;
pub(crate) mod codec;
mod copy;
mod cursor;
pub(crate) mod events;
mod failure;
mod file;
mod file_of_process;
mod folder;
mod folding;
pub(crate) mod held;
pub(crate) mod holds;
pub(crate) mod keys;
mod lifetime;
mod medium;
pub(crate) mod meta;
mod opening;
mod options;
pub(crate) mod pending;
mod queue_log;
pub(crate) mod repeats;
mod reporting;
pub(crate) mod rollup;
mod seen;
pub(crate) mod segments;
pub(crate) mod table;
pub(crate) mod telemetry;
pub(crate) mod verify;
pub(crate) mod workspaces;
pub(crate) mod writer;
mod writing;

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};

use redb::{Database, StorageBackend};

use crate::error::{EngineError, ErrorKind, Result};
use crate::locks::{lock, read, write};

use failure::from_compaction;
use file::Place;
use keys::KeyIndex;
pub(crate) use medium::panic_text;
pub(crate) use options::StoreOptions;
#[cfg(feature = "cluster")]
pub(crate) use options::Writing;

use medium::Medium;
use opening::caught;
use seen::SeenTimes;
use segments::SegmentLog;
use table::Snapshot;
use telemetry::queue::{PendingBlock, QueueIndex, Wanted, unfiled};
use verify::CheckReport;

/// The store. Reads are snapshots; writes go through [`Self::write`], one transaction at a time.
pub(crate) struct Store {
    medium: Medium,
    /// Where its file stands, if it has one.
    place: Option<Place>,
    options: StoreOptions,
    /// `None` after an I/O error until the file could be opened again, and after [`Self::close`].
    database: RwLock<Option<Database>>,
    closed: RwLock<bool>,
    /// Held while a transaction is written.
    writing: Mutex<()>,
    queue: RwLock<QueueIndex>,
    /// Where blocks of the queue are appended, unless the table takes them.
    log: Option<SegmentLog>,
    /// Held while blocks are appended.
    appending: Mutex<()>,
    /// The count of `queue`, to be read without its lock.
    queued: AtomicU64,
    /// Another number after each commit that wrote workspaces.
    fleet_version: AtomicU64,
    /// When each instance sent something last, as of the last commit.
    seen: Mutex<SeenTimes>,
    /// Held while these are read: of those who ask at the same time one reads.
    reading_seen: Mutex<()>,
    /// The number of the last event that is durable.
    last_event: AtomicU64,
    keys: RwLock<KeyIndex>,
}

/// A transaction that did not become durable.
#[derive(Debug)]
pub(crate) struct WriteFailure {
    pub(crate) error: EngineError,
    /// Whether the file was opened again, so that the next write may succeed.
    pub(crate) reopened: bool,
}

impl From<EngineError> for WriteFailure {
    fn from(error: EngineError) -> Self {
        Self {
            error,
            reopened: false,
        }
    }
}

impl Store {
    /// The store as of the last commit.
    pub(crate) fn snapshot(&self) -> Result<Snapshot> {
        self.ensure_open()?;
        Snapshot::of(self.database().as_ref().ok_or_else(closed)?)
    }

    /// Opens the database again where it was given up or the medium failed.
    fn ensure_open(&self) -> Result<()> {
        if self.medium.has_failed() || self.database().is_none() {
            self.reopened(&mut self.database_mut())?;
        }
        Ok(())
    }

    /// The store as of one moment: the tables as of the last commit, and the blocks of the queue that are `wanted` and not filed
    /// there.
    pub(crate) fn moment(&self, wanted: Wanted<'_>) -> Result<(Snapshot, Vec<PendingBlock>)> {
        self.ensure_open()?;
        let slot = self.database();
        let database = slot.as_ref().ok_or_else(closed)?;
        // Nothing is added to the queue in between: who sees a write sees the telemetry that was acknowledged before it.
        let queue = read(&self.queue);
        let snapshot = Snapshot::of(database)?;
        let blocks = queue.blocks(wanted);
        drop(queue);
        let blocks = unfiled(&snapshot, blocks)?;
        Ok((snapshot, blocks))
    }

    /// Drops the database and opens it again: redb refuses all work after an I/O error until then. What either writes
    /// waits at the gate for the next write.
    fn reopen(&self) -> Result<()> {
        let mut slot = self.database_mut();
        self.give_up(&mut slot);
        self.reopened(&mut slot).map(drop)
    }

    fn give_up(&self, slot: &mut Option<Database>) {
        self.medium.close_gate();
        // It is opened again, and then says what is wrong.
        let _ = caught(|| {
            *slot = None;
            Ok(())
        });
    }

    /// The database, opened again where it was given up or the medium failed, be it under a read.
    fn reopened<'s>(&self, slot: &'s mut Option<Database>) -> Result<&'s Database> {
        if slot.is_some() && self.medium.has_failed() {
            self.give_up(slot);
        }
        if slot.is_none() {
            if *read(&self.closed) {
                return Err(closed());
            }
            // This process wrote the file, and callers shall not wait for all of it to be read.
            let options = StoreOptions {
                trust_file: true,
                ..self.options
            };
            let open = |queue: &mut QueueIndex| {
                opening::open(&self.medium, options, &read(&self.keys), queue)
            };
            let opened = self.change_queue(open)?;
            self.fleet_version.fetch_add(1, Ordering::AcqRel);
            lock(&self.seen).forget();
            *write(&self.keys) = opened.keys;
            self.last_event.store(opened.last_event, Ordering::Release);
            *slot = Some(opened.database);
        }
        slot.as_ref().ok_or_else(closed)
    }

    /// Makes sure that the file is where it was opened.
    pub(crate) fn check_place(&self) -> Result<()> {
        self.place.as_ref().map_or(Ok(()), Place::check)
    }

    /// Whether nothing is ever written.
    pub(crate) fn is_read_only(&self) -> bool {
        self.options.is_read_only()
    }

    /// Telemetry records that wait to be filed.
    pub(crate) fn queued(&self) -> u64 {
        self.queued.load(Ordering::Acquire)
    }

    /// The same number as long as no workspace is written. Take this before the snapshot it is kept with.
    pub(crate) fn fleet_version(&self) -> u64 {
        self.fleet_version.load(Ordering::Acquire)
    }

    /// The number of the last event; 0 before the first.
    pub(crate) fn last_event(&self) -> u64 {
        self.last_event.load(Ordering::Acquire)
    }

    /// The length of the medium, in bytes.
    pub(crate) fn bytes(&self) -> Result<u64> {
        self.medium.len().map_err(failure::unavailable)
    }

    fn change_queue<R>(&self, change: impl FnOnce(&mut QueueIndex) -> R) -> R {
        let mut index = write(&self.queue);
        let changed = change(&mut index);
        self.queued.store(index.records(), Ordering::Release);
        changed
    }

    /// The blocks to be filed.
    pub(crate) fn queue(&self) -> RwLockReadGuard<'_, QueueIndex> {
        read(&self.queue)
    }

    /// The keys as of the last commit.
    pub(crate) fn keys(&self) -> RwLockReadGuard<'_, KeyIndex> {
        read(&self.keys)
    }

    /// Checks every page and every value; nothing else reads or writes in the meantime.
    pub(crate) fn check(&self) -> Result<CheckReport> {
        let _no_appends = lock(&self.appending);
        let mut slot = self.database_mut();
        self.reopened(&mut slot)?;
        let database = slot.as_mut().ok_or_else(closed)?;
        let pages = checking::pages(database)?;
        let mut report = checking::values(database, self.log())?;
        report.problems.splice(..0, pages);
        Ok(report)
    }

    /// Moves what is stored towards the front of the file and cuts it; returns whether anything moved.
    pub(crate) fn compact(&self) -> Result<bool> {
        self.open_gate()?;
        let mut slot = self.database_mut();
        let database = slot.as_mut().ok_or_else(closed)?;
        database.compact().map_err(from_compaction)
    }

    /// Copies the store as of the last commit into a new file at `destination`.
    pub(crate) fn copy_to(&self, destination: &Path) -> Result<()> {
        file::create_new(destination, |backend| self.copy_into(backend))
    }

    /// Copies the store as of the last commit into `backend`, which holds nothing yet.
    pub(crate) fn copy_into(&self, backend: impl StorageBackend) -> Result<()> {
        let (snapshot, queued) = self.moment(Wanted::All)?;
        copy::copy(&snapshot, &queued, backend, self.options.cache_bytes)
    }

    fn database(&self) -> RwLockReadGuard<'_, Option<Database>> {
        read(&self.database)
    }

    fn database_mut(&self) -> RwLockWriteGuard<'_, Option<Database>> {
        write(&self.database)
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store")
            .field("medium", &self.medium)
            .field("queued", &self.queued())
            .finish_non_exhaustive()
    }
}

fn closed() -> EngineError {
    EngineError::new(ErrorKind::StorageUnavailable, "the engine was closed")
}
