//! The embedded store: one redb file, its tables, and the memory beside it. The only folder that names redb.

pub(crate) mod audit;
mod codec;
mod copy;
mod failure;
mod file;
pub(crate) mod holds;
pub(crate) mod keys;
mod medium;
pub(crate) mod meta;
pub(crate) mod pending;
pub(crate) mod table;
pub(crate) mod telemetry;
pub(crate) mod verify;
pub(crate) mod workspaces;
pub(crate) mod writer;

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use redb::backends::InMemoryBackend;
use redb::{Database, ReadableDatabase, StorageBackend, WriteTransaction};

use crate::error::{EngineError, ErrorKind, Result};
use crate::timestamp::Timestamp;

use failure::{
    from_commit, from_compaction, from_database, from_storage, from_transaction, unavailable,
};
use keys::KeyIndex;
use medium::Medium;
use table::{Snapshot, Table, Tables};
use telemetry::queue::QueueIndex;

/// How a store is opened.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoreOptions {
    /// redb's page cache, in bytes.
    pub(crate) cache_bytes: usize,
    /// Whether each commit also saves the allocator state.
    pub(crate) quick_repair: bool,
    /// The time, for a file that begins now.
    pub(crate) now: Timestamp,
}

/// The store. Reads are snapshots; writes go through [`Self::write`], one transaction at a time.
pub(crate) struct Store {
    medium: Medium,
    options: StoreOptions,
    /// `None` after an I/O error until the file could be opened again, and after [`Self::close`].
    database: RwLock<Option<Database>>,
    closed: RwLock<bool>,
    queue: RwLock<QueueIndex>,
    /// The count of `queue`, to be read without its lock.
    queued: AtomicU64,
    keys: RwLock<KeyIndex>,
}

/// A transaction that did not become durable.
#[derive(Debug)]
pub(crate) struct WriteFailure {
    pub(crate) error: EngineError,
    /// Whether the file was opened again, so that the next write may succeed.
    pub(crate) reopened: bool,
}

impl Store {
    /// Opens or creates the file at `path`.
    pub(crate) fn open_path(path: &Path, options: StoreOptions) -> Result<Self> {
        file::open(path, |backend| Self::open(backend, options))
    }

    /// A store that lives as long as the process.
    pub(crate) fn open_in_memory(options: StoreOptions) -> Result<Self> {
        Self::open(InMemoryBackend::new(), options)
    }

    /// Opens what the backend holds, or begins a new store on it.
    pub(crate) fn open(backend: impl StorageBackend, options: StoreOptions) -> Result<Self> {
        let medium = Medium::new(backend)?;
        let opened = Self::open_medium(&medium, options, &KeyIndex::default());
        match opened.and_then(|opened| medium.open_gate().map(|()| opened)) {
            Ok((database, queue, keys)) => Ok(Self {
                medium,
                options,
                database: RwLock::new(Some(database)),
                closed: RwLock::new(false),
                queued: AtomicU64::new(queue.records()),
                queue: RwLock::new(queue),
                keys: RwLock::new(keys),
            }),
            Err(error) => {
                // The error above says what is wrong; that the lock could not be given back as well adds nothing.
                let _ = medium.release();
                Err(error)
            }
        }
    }

    /// Opens what the medium holds. What opening writes waits at the gate.
    fn open_medium(
        medium: &Medium,
        options: StoreOptions,
        old_keys: &KeyIndex,
    ) -> Result<(Database, QueueIndex, KeyIndex)> {
        let new = medium.is_new()?;
        if !new {
            medium.check_magic()?;
        }
        medium.close_gate();
        let database = Database::builder()
            .set_cache_size(options.cache_bytes)
            .create_with_backend(medium.clone())
            .map_err(from_database)?;
        if is_empty(&database)? {
            initialise(&database, options.now)?;
        }
        let snapshot = Snapshot::new(database.begin_read().map_err(from_transaction)?);
        check_ours(&snapshot)?;
        let queue = QueueIndex::rebuild(&snapshot)?;
        let keys = KeyIndex::rebuild(&snapshot, old_keys)?;
        Ok((database, queue, keys))
    }

    /// The store as of the last commit.
    pub(crate) fn snapshot(&self) -> Result<Snapshot> {
        if let Some(database) = self.database().as_ref() {
            return Ok(Snapshot::new(
                database.begin_read().map_err(from_transaction)?,
            ));
        }
        let mut slot = self.database_mut();
        let database = self.reopened(&mut slot)?;
        Ok(Snapshot::new(
            database.begin_read().map_err(from_transaction)?,
        ))
    }

    /// Runs `work` in one transaction; when this answers `Ok`, what it wrote is durable.
    ///
    /// An error of `work` or of the medium leaves nothing behind. After an error of the medium the file is opened again.
    pub(crate) fn write<R>(
        &self,
        work: impl FnOnce(&mut Tables<'_>) -> Result<R>,
    ) -> Result<R, WriteFailure> {
        if let Err(error) = self.open_gate() {
            return Err(WriteFailure {
                error,
                reopened: false,
            });
        }
        self.try_write(work).map_err(|error| {
            let medium_failed = matches!(
                error.kind(),
                ErrorKind::StorageUnavailable | ErrorKind::Corrupted
            );
            let reopened = medium_failed && self.reopen().is_ok();
            WriteFailure { error, reopened }
        })
    }

    /// Makes sure of an open database whose writes reach the medium.
    fn open_gate(&self) -> Result<()> {
        if self.database().is_none() {
            let mut slot = self.database_mut();
            self.reopened(&mut slot)?;
        }
        if self.medium.is_gated() {
            self.medium.open_gate()
        } else {
            Ok(())
        }
    }

    fn try_write<R>(&self, work: impl FnOnce(&mut Tables<'_>) -> Result<R>) -> Result<R> {
        let slot = self.database();
        let database = slot.as_ref().ok_or_else(closed)?;
        let mut transaction = database.begin_write().map_err(from_transaction)?;
        transaction.set_quick_repair(self.options.quick_repair);
        let (result, effects, written) = {
            let mut tables = Tables::new(&transaction);
            tables.effects.next_block = read(&self.queue).next();
            let result = work(&mut tables)?;
            let effects = std::mem::take(&mut tables.effects);
            (result, effects, tables.written.get())
        };
        if !written {
            transaction.abort().map_err(from_storage)?;
            return Ok(result);
        }
        transaction.commit().map_err(from_commit)?;
        let keys_changed = effects.keys_changed;
        let mut index = write(&self.queue);
        index.publish(effects.queue);
        self.queued.store(index.records(), Ordering::Release);
        drop(index);
        if keys_changed {
            let snapshot = Snapshot::new(database.begin_read().map_err(from_transaction)?);
            let mut keys = write(&self.keys);
            *keys = KeyIndex::rebuild(&snapshot, &keys)?;
        }
        Ok(result)
    }

    /// Drops the database and opens it again: redb refuses all work after an I/O error until then. What either writes
    /// waits at the gate for the next write.
    fn reopen(&self) -> Result<()> {
        let mut slot = self.database_mut();
        self.medium.close_gate();
        *slot = None;
        self.reopened(&mut slot).map(drop)
    }

    fn reopened<'s>(&self, slot: &'s mut Option<Database>) -> Result<&'s Database> {
        if slot.is_none() {
            if *read(&self.closed) {
                return Err(closed());
            }
            let (database, queue, keys) =
                Self::open_medium(&self.medium, self.options, &read(&self.keys))?;
            self.queued.store(queue.records(), Ordering::Release);
            *write(&self.queue) = queue;
            *write(&self.keys) = keys;
            *slot = Some(database);
        }
        slot.as_ref().ok_or_else(closed)
    }

    /// Telemetry records that wait to be filed.
    pub(crate) fn queued(&self) -> u64 {
        self.queued.load(Ordering::Acquire)
    }

    /// What waits to be filed. Take this before the snapshot it is used with: a block filed in between is then found
    /// in history.
    pub(crate) fn queue(&self) -> RwLockReadGuard<'_, QueueIndex> {
        read(&self.queue)
    }

    /// The keys as of the last commit.
    pub(crate) fn keys(&self) -> RwLockReadGuard<'_, KeyIndex> {
        read(&self.keys)
    }

    /// Checks every page of the file; answers whether it was whole.
    pub(crate) fn check_pages(&self) -> Result<bool> {
        self.open_gate()?;
        let mut slot = self.database_mut();
        let database = slot.as_mut().ok_or_else(closed)?;
        database.check_integrity().map_err(from_database)
    }

    /// Moves what is stored towards the front of the file and cuts it; answers whether anything moved.
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
        copy::copy(&self.snapshot()?, backend, self.options.cache_bytes)
    }

    /// Closes the file and gives its lock back. Later calls are refused.
    pub(crate) fn close(&self) -> Result<()> {
        let mut slot = self.database_mut();
        let mut closed = write(&self.closed);
        if std::mem::replace(&mut *closed, true) {
            return Ok(());
        }
        *slot = None;
        self.medium.release().map_err(unavailable)
    }

    fn database(&self) -> RwLockReadGuard<'_, Option<Database>> {
        read(&self.database)
    }

    fn database_mut(&self) -> RwLockWriteGuard<'_, Option<Database>> {
        write(&self.database)
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // Nobody is left to tell; an unclean file is repaired when it is opened next.
        let _ = self.close();
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

// A panic while a lock is held leaves plain data behind it that is still whole.
fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

fn closed() -> EngineError {
    EngineError::new(ErrorKind::StorageUnavailable, "the engine was closed")
}

fn is_empty(database: &Database) -> Result<bool> {
    let transaction = database.begin_read().map_err(from_transaction)?;
    let tables = transaction.list_tables().map_err(from_storage)?.count();
    let multimaps = transaction
        .list_multimap_tables()
        .map_err(from_storage)?
        .count();
    Ok(tables + multimaps == 0)
}

/// Makes every table, so that no reader meets one that is missing.
fn initialise(database: &Database, now: Timestamp) -> Result<()> {
    let transaction: WriteTransaction = database.begin_write().map_err(from_transaction)?;
    {
        for table in Table::ALL {
            transaction
                .open_table(table.definition())
                .map_err(failure::from_table)?;
        }
        let tables = Tables::new(&transaction);
        meta::write_format(&tables)?;
        // Nothing is too old yet, and a clock that jumps before the first removal has something to be held against.
        meta::set_swept(&tables, now)?;
    }
    transaction.commit().map_err(from_commit)
}

fn check_ours(snapshot: &Snapshot) -> Result<()> {
    let foreign = |error: Option<EngineError>| {
        let said = "the file is a redb database, but not a finished deskfleet store; it was left untouched: name \
                    another path, or restore a backup";
        match error {
            Some(error) => EngineError::caused(ErrorKind::ForeignFile, said, error),
            None => EngineError::new(ErrorKind::ForeignFile, said),
        }
    };
    match meta::check_format(snapshot) {
        Ok(Some(())) => Ok(()),
        Ok(None) => Err(foreign(None)),
        Err(error) if error.kind() == ErrorKind::ForeignFile => Err(foreign(Some(error))),
        Err(error) => Err(error),
    }
}
