//! The embedded store: one redb file, its tables, and the memory beside it. The only folder that names redb.

pub(crate) mod checking;
pub(crate) mod cluster;
pub(crate) mod codec;
mod copy;
mod cursor;
pub(crate) mod disk;
mod failure;
pub(crate) mod fleet;
mod folding;
mod journal;
mod lifetime;
pub(crate) mod meta;
mod opening;
mod options;
mod reporting;
pub(crate) mod rollup;
mod seen;
pub(crate) mod table;
pub(crate) mod telemetry;
pub(crate) mod verify;
pub(crate) mod writer;
mod writing;

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};

use redb::{Database, StorageBackend};

use crate::error::{EngineError, ErrorKind, Result};
use crate::locks::{lock, read, write};
use crate::model::WriteClass;
use crate::timestamp::Timestamp;

use disk::damage::DamageFile;
use disk::file::OpenFile;
pub(crate) use disk::medium::panic_text;
use failure::from_compaction;
use fleet::held_names::HeldNames;
use fleet::keys::KeyIndex;
use journal::Journal;
pub(crate) use options::StoreOptions;
pub(crate) use options::{Replay, Writing};
pub(crate) use telemetry::queue_log::NewLog;

use disk::medium::Medium;
use disk::reserve::{Reserve, Usable};
use opening::caught;
use seen::SeenTimes;
use table::Snapshot;
use telemetry::pending_block::{PendingBlock, unfiled};
use telemetry::queue::{QueueIndex, Wanted};
use telemetry::segments::SegmentLog;
use verify::CheckReport;

/// The store. Reads are snapshots; writes go through [`Self::write`], one transaction at a time.
pub(crate) struct Store {
    medium: Medium,
    /// The open file, if it has one.
    file: Option<OpenFile>,
    /// Where damaged blocks are kept, if it has a path.
    damage_file: Option<DamageFile>,
    /// The last damage that was met outside the queue.
    damage_met: Mutex<Option<EngineError>>,
    /// Space for essential writes on a full disk, for a store that has a file.
    reserve: Option<Arc<Reserve>>,
    options: StoreOptions,
    /// `None` after an I/O error until the file could be opened again, and after [`Self::close`].
    database: RwLock<Option<Database>>,
    closed: RwLock<bool>,
    /// Locked while a transaction is written.
    writing: Mutex<()>,
    queue: RwLock<QueueIndex>,
    /// The log beside the file, unless the queue is in the table.
    log: Option<SegmentLog>,
    /// Locked while items are appended to the log.
    appending: Mutex<()>,
    /// What of the log the file may lack. Locked after `queue`.
    journal: Mutex<Journal>,
    /// Whether this process has written anything but telemetry.
    has_written: AtomicBool,
    /// The count of `queue`, to be read without its lock.
    queued: AtomicU64,
    /// A number that changes with each commit that wrote workspaces.
    fleet_version: AtomicU64,
    /// When each instance last sent a record, as of the last commit.
    seen: Mutex<SeenTimes>,
    /// Locked while these are read, so that one of several concurrent callers reads.
    reading_seen: Mutex<()>,
    /// The number of the last event that is durable.
    last_event: AtomicU64,
    keys: RwLock<KeyIndex>,
    /// The names of the workspaces on hold as of the last commit, if they were read since.
    held: Mutex<Option<Arc<HeldNames>>>,
    recovery: Recovery,
}

/// What opening a store had to do because of what was before.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Recovery {
    /// Whether the file was not closed, as after a crash.
    pub(crate) is_repaired: bool,
    /// Telemetry records that were taken over from the segments.
    pub(crate) records: u64,
    /// The format of the file before, if that was an older one.
    pub(crate) converted_from: Option<u32>,
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
    /// What opening it had to do.
    pub(crate) fn recovery(&self) -> Recovery {
        self.recovery
    }

    /// Whether a lock keeps other engines out.
    pub(crate) fn is_locked(&self) -> bool {
        self.medium.is_locked()
    }

    /// The store as of the last commit.
    pub(crate) fn snapshot(&self) -> Result<Snapshot> {
        self.ensure_open()?;
        Snapshot::open(self.database().as_ref().ok_or_else(closed)?)
    }

    /// Opens the database again if it was dropped or the medium failed.
    fn ensure_open(&self) -> Result<()> {
        if self.medium.has_failed() || self.database().is_none() {
            self.reopened(&mut self.database_mut())?;
        }
        Ok(())
    }

    /// The store as of one moment: the tables as of the last commit, and the blocks of the queue that are `wanted` and not filed
    /// there.
    pub(crate) fn moment(&self, wanted: Wanted<'_>) -> Result<(Snapshot, Vec<PendingBlock>)> {
        let (snapshot, blocks) = self.moment_with(|queue| queue.blocks(wanted))?;
        let blocks = unfiled(&snapshot, blocks)?;
        Ok((snapshot, blocks))
    }

    /// A snapshot, and what `read_queue` finds in the queue at the same moment.
    pub(crate) fn moment_with<R>(
        &self,
        read_queue: impl FnOnce(&QueueIndex) -> R,
    ) -> Result<(Snapshot, R)> {
        self.ensure_open()?;
        let slot = self.database();
        let database = slot.as_ref().ok_or_else(closed)?;
        // The lock keeps the queue unchanged between the two, so a reader that sees a write sees the telemetry acknowledged
        // before it.
        let queue = read(&self.queue);
        let snapshot = Snapshot::open(database)?;
        Ok((snapshot, read_queue(&queue)))
    }

    /// Drops the database and opens it again: redb refuses all work after an I/O error until then. Their writes stay at the gate
    /// until the next write.
    fn reopen(&self) -> Result<()> {
        let mut slot = self.database_mut();
        self.give_up(&mut slot);
        self.reopened(&mut slot).map(drop)
    }

    /// Opens the database again, so that the next read comes from the medium and not from memory.
    pub(crate) fn read_anew(&self) -> Result<()> {
        if self.options.is_lazy() {
            self.sync().map_err(|failure| failure.error)?;
        }
        let _one_at_a_time = lock(&self.writing);
        self.reopen()
    }

    fn give_up(&self, slot: &mut Option<Database>) {
        self.medium.close_gate();
        // The next access opens the database again and reports the error.
        let _ = caught(|| {
            *slot = None;
            Ok(())
        });
    }

    /// The database, opened again if it was dropped or the medium failed, also under a read.
    fn reopened<'s>(&self, slot: &'s mut Option<Database>) -> Result<&'s Database> {
        if slot.is_some() && self.medium.has_failed() {
            self.give_up(slot);
        }
        if slot.is_none() {
            if *read(&self.closed) {
                return Err(closed());
            }
            // This process wrote the file, and callers must not wait until all of it is read.
            let options = StoreOptions {
                trust_file: true,
                ..self.options
            };
            let (database, _) = opening::database(&self.medium, options)?;
            self.change_queue(|queue| opening::reload(&database, queue))?;
            let mut journal = lock(&self.journal);
            let loaded = opening::load(&database, options, &mut journal, &read(&self.keys))?;
            drop(journal);
            self.fleet_version.fetch_add(1, Ordering::AcqRel);
            lock(&self.seen).forget();
            *lock(&self.held) = None;
            *write(&self.keys) = loaded.keys;
            self.last_event.store(loaded.last_event, Ordering::Release);
            *slot = Some(database);
        }
        slot.as_ref().ok_or_else(closed)
    }

    /// Checks that the file is where it was opened and that no other program wrote to it; with `reads` it also reads the header.
    pub(crate) fn check_file(&self, reads: bool) -> Result<()> {
        let file = self.file.as_ref();
        file.map_or(Ok(()), |file| file.check(reads))
    }

    /// Whether the store is read-only.
    pub(crate) fn is_read_only(&self) -> bool {
        self.options.is_read_only()
    }

    /// Telemetry records that are not filed yet.
    pub(crate) fn queued(&self) -> u64 {
        self.queued.load(Ordering::Acquire)
    }

    /// A number that is the same as long as no workspace is written. Read it before the snapshot to which it belongs.
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
        if pages.is_some() && self.log().is_some() {
            // redb may have gone back to what is durable.
            self.give_up(&mut slot);
            self.reopened(&mut slot)?;
        }
        let database = slot.as_ref().ok_or_else(closed)?;
        let mut report = checking::values(database, self.log())?;
        report.problems.splice(..0, pages);
        let aside = self.damage_file.as_ref();
        report.problems.extend(aside.and_then(DamageFile::problem));
        Ok(report)
    }

    /// Compacts the file: moves pages to the front and cuts it; returns whether anything moved.
    pub(crate) fn compact(&self) -> Result<bool> {
        let _one_at_a_time = lock(&self.writing);
        let _usable = self.reserve_for(WriteClass::Essential);
        self.open_gate()?;
        let mut slot = self.database_mut();
        let database = slot.as_mut().ok_or_else(closed)?;
        database.compact().map_err(from_compaction)
    }

    /// Whether it has a reserve, or cannot have one.
    pub(crate) fn has_reserve(&self) -> bool {
        self.is_read_only()
            || self
                .reserve
                .as_ref()
                .is_none_or(|reserve| reserve.is_kept())
    }

    /// Makes the reserve.
    pub(crate) fn make_reserve(&self) -> Result<()> {
        self.reserve.as_ref().map_or(Ok(()), |reserve| {
            reserve.make().map_err(|error| {
                let message = "the file that keeps space for what must be written on a full disk cannot be made beside the store: let this \
                            user write there, or free some space";
                EngineError::caused(ErrorKind::StorageUnavailable, message, error)
            })
        })
    }

    /// Lets writes of this class take the reserve while the result lives. Only the caller writes.
    fn reserve_for(&self, class: WriteClass) -> Option<Usable<'_>> {
        let reserve = self
            .reserve
            .as_ref()
            .filter(|_| class == WriteClass::Essential);
        reserve.map(|reserve| reserve.usable())
    }

    /// Copies the store as of the last commit into a new file at `destination`; returns as [`Self::copy_into`].
    pub(crate) fn copy_to(&self, destination: &Path, now: Timestamp) -> Result<usize> {
        let mut left_out = 0;
        disk::file::create_new(destination, |backend| {
            let name = destination.display().to_string();
            left_out = self.copy_into((&name, backend), now)?;
            Ok(())
        })?;
        Ok(left_out)
    }

    /// Copies the store as of the last commit into an empty backend, which messages call by the name passed with it. Returns the
    /// number of damaged blocks of the queue that were left out.
    pub(crate) fn copy_into(
        &self,
        backend: (&str, impl StorageBackend),
        now: Timestamp,
    ) -> Result<usize> {
        let (snapshot, queued) = self.moment(Wanted::All)?;
        let options = (self.options.cache_bytes, now);
        copy::copy(&snapshot, &queued, backend, options)
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
