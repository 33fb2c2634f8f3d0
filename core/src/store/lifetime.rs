//! Opening and closing a store.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, RwLock};

use redb::StorageBackend;

use crate::config::{CommitPhases, QueueStorage};
use crate::error::Result;
use crate::locks::{lock, read, write};
use crate::model::WriteClass;

use super::failure::unavailable;
use super::opening::{self, caught};
use super::options::Writing;
use super::table::{Snapshot, Tables};
use super::telemetry::queue::QueueIndex;
use crate::store::disk::backends::MemoryBackend;
use crate::store::disk::damage::DamageFile;
use crate::store::disk::file::{self, OpenFile};
use crate::store::disk::folder::FileFolder;
use crate::store::disk::medium::Medium;
use crate::store::disk::reserve::{Reserve, WithReserve};
use crate::store::fleet::keys::KeyIndex;
use crate::store::meta::FORMAT;
use crate::store::telemetry::queue_log;
use crate::store::telemetry::segments::SegmentLog;
use crate::store::{Recovery, Store, StoreOptions, cluster, folding, meta};

impl Store {
    /// Opens or creates the file at `path`.
    pub(crate) fn open_path(path: &Path, options: StoreOptions) -> Result<Self> {
        let opened = file::open(path, |backend| Self::open_file(backend, path, options));
        let (store, file) = opened?;
        store.attach_file(file)
    }

    /// Opens the file at `path`, which must be there.
    pub(crate) fn open_existing(path: &Path, options: StoreOptions) -> Result<Self> {
        let opened = file::open_existing(path, |backend| Self::open_file(backend, path, options));
        let (store, file) = opened?;
        store.attach_file(file)
    }

    /// Opens the file at `path` and never writes to it.
    pub(crate) fn open_read_only(path: &Path, options: StoreOptions) -> Result<Self> {
        let options = StoreOptions {
            writing: Writing::Never,
            ..options
        };
        let opened = file::open_to_read(path, |backend| Self::open_file(backend, path, options));
        let (store, file) = opened?;
        store.attach_file(file)
    }

    /// Opens what a backend holds, only to read it.
    pub(crate) fn open_backend_read_only(
        backend: impl StorageBackend,
        options: StoreOptions,
    ) -> Result<Self> {
        let options = StoreOptions {
            writing: Writing::Never,
            ..options
        };
        Self::open(backend, None, options)
    }

    fn open_file(backend: impl StorageBackend, path: &Path, options: StoreOptions) -> Result<Self> {
        let folder = FileFolder::beside(path).map_err(unavailable)?;
        let log = SegmentLog::new(Box::new(folder))?;
        let damage_file = DamageFile::beside(log.with_proof().0, path).map_err(unavailable)?;
        let reserve = Arc::new(Reserve::beside(path).map_err(unavailable)?);
        // The writes of opening are essential: they make a store usable again after a crash.
        let usable = reserve.usable();
        let file = WithReserve {
            file: backend,
            reserve: Arc::clone(&reserve),
        };
        let mut store = Self::open(file, Some(log), options)?;
        drop(usable);
        store.reserve = Some(reserve);
        store.damage_file = Some(damage_file);
        Ok(store)
    }

    fn attach_file(mut self, file: OpenFile) -> Result<Self> {
        self.file = Some(file);
        if self.options.queue_storage == QueueStorage::Table && !self.options.is_read_only() {
            match self.end_log() {
                // The old log is used until there is room.
                Err(error) if error.is_for_space() => {}
                ended => {
                    ended?;
                    self.log = self.log.take_if(|log| log.id_to_end().is_some());
                }
            }
        }
        Ok(self)
    }

    /// A store that lives as long as the process.
    pub(crate) fn open_in_memory(options: StoreOptions) -> Result<Self> {
        // Nothing survives a crash here, so no checks are needed.
        let options = StoreOptions {
            commit_phases: CommitPhases::One,
            ..options
        };
        Self::open(MemoryBackend::new(), None, options)
    }

    /// Opens the store on a backend, or begins a new one. The queue is in `log`, or in the table without one.
    pub(crate) fn open(
        backend: impl StorageBackend,
        log: Option<SegmentLog>,
        options: StoreOptions,
    ) -> Result<Self> {
        let medium = Medium::new(backend, options.is_read_only())?;
        let mut queue = QueueIndex::default();
        let opened = opening::database(&medium, options);
        let begun = opened.and_then(|(database, is_repaired)| {
            let read_only = options.is_read_only();
            opening::reload(&database, &mut queue)?;
            let stored = queue.records();
            let proven = log.as_ref().map(SegmentLog::with_proof);
            let recover = || queue_log::recover(&database, proven, read_only, &mut queue);
            let mut journal = caught(recover)?;
            if !read_only && !options.is_lazy() {
                cluster::refuse(&Snapshot::open(&database)?)?;
            }
            let loaded = opening::load(&database, options, &mut journal, &KeyIndex::default())?;
            if !read_only {
                medium.open_gate()?;
            }
            let recovery = Recovery {
                is_repaired,
                records: queue.records().saturating_sub(stored),
                converted_from: None,
            };
            Ok((database, journal, loaded, recovery))
        });
        match begun {
            Ok((database, journal, loaded, recovery)) => {
                let mut store = Self {
                    medium,
                    file: None,
                    damage_file: None,
                    damage_met: Mutex::default(),
                    reserve: None,
                    options,
                    database: RwLock::new(Some(database)),
                    closed: RwLock::new(false),
                    writing: Mutex::default(),
                    queued: AtomicU64::new(queue.records()),
                    fleet_version: AtomicU64::new(0),
                    seen: Mutex::default(),
                    reading_seen: Mutex::default(),
                    last_event: AtomicU64::new(loaded.last_event),
                    queue: RwLock::new(queue),
                    log,
                    appending: Mutex::default(),
                    journal: Mutex::new(journal),
                    has_written: AtomicBool::new(false),
                    keys: RwLock::new(loaded.keys),
                    held: Mutex::new(None),
                    recovery,
                };
                store.recovery.converted_from = store.convert()?;
                Ok(store)
            }
            Err(error) => {
                // The error above is the one to return; a failure to release the lock adds nothing.
                let _ = medium.release();
                Err(error)
            }
        }
    }

    /// Converts a file of an older format to this one, and rebuilds keys that are made of names if the file was written with
    /// another folding. Returns the older format.
    fn convert(&self) -> Result<Option<u32>> {
        let snapshot = self.snapshot()?;
        if meta::is_current(&snapshot)? {
            return Ok(None);
        }
        let older = meta::format(&snapshot)?.filter(|format| *format != FORMAT);
        let folded = meta::is_folded(&snapshot)?;
        drop(snapshot);
        let convert = |tables: &mut Tables<'_>| {
            if !folded {
                folding::fold_names(tables)?;
            }
            meta::write_format(tables)
        };
        if self.options.is_read_only() {
            // On a read-only store the conversion stays at the gate, in memory.
            return self.write_in_memory(convert).map(|()| None);
        }
        self.write(WriteClass::Essential, convert)
            .map_err(|failure| failure.error)?;
        Ok(older)
    }

    /// Closes the file and releases its lock. Later calls are refused. Without `moves_queue`, or without room on the disk, queued
    /// blocks stay in their segments, and the next opening takes them over as after a crash.
    pub(crate) fn close(&self, moves_queue: bool) -> Result<()> {
        let saved = {
            let _no_appends = lock(&self.appending);
            if *read(&self.closed) {
                return Ok(());
            }
            // A file that another program wrote to is left as it is.
            let _ = self.check_file(true);
            let saved = match if moves_queue { self.end_log() } else { Ok(()) } {
                Err(error) if error.is_for_space() => Ok(()),
                saved => saved,
            };
            *write(&self.closed) = true;
            saved
        };
        let _usable = self.reserve_for(WriteClass::Essential);
        let mut slot = self.database_mut();
        // Closing writes values that it reads from the file.
        let ended = caught(|| {
            *slot = None;
            Ok(())
        });
        let released = self.medium.release().map_err(unavailable);
        released.and(ended).and(saved)
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // There is no caller to report an error to; an unclean file is repaired when it is opened next.
        let _ = self.close(true);
    }
}
