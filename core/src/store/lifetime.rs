//! How a store begins and ends.

use std::path::Path;
use std::sync::RwLock;
use std::sync::atomic::AtomicU64;

use redb::StorageBackend;

use crate::config::CommitPhases;
use crate::error::Result;
use crate::locks::write;

use super::backends::MemoryBackend;
use super::failure::unavailable;
use super::file::{self, Place};
use super::keys::KeyIndex;
use super::medium::Medium;
use super::opening::{self, caught};
use super::{Store, StoreOptions, folding, meta};

impl Store {
    /// Opens or creates the file at `path`.
    pub(crate) fn open_path(path: &Path, options: StoreOptions) -> Result<Self> {
        let (store, place) = file::open(path, |backend| Self::open(backend, options))?;
        Ok(store.at(place))
    }

    /// Opens the file at `path`, which must be there.
    pub(crate) fn open_existing(path: &Path, options: StoreOptions) -> Result<Self> {
        let (store, place) = file::open_existing(path, |backend| Self::open(backend, options))?;
        Ok(store.at(place))
    }

    /// Opens the file at `path` and never writes to it.
    pub(crate) fn open_read_only(path: &Path, options: StoreOptions) -> Result<Self> {
        let options = StoreOptions {
            read_only: true,
            ..options
        };
        let opened = file::open_to_read(path, |backend| Self::open(backend, options));
        let (store, place) = opened?;
        Ok(store.at(place))
    }

    fn at(mut self, place: Place) -> Self {
        self.place = Some(place);
        self
    }

    /// A store that lives as long as the process.
    pub(crate) fn open_in_memory(options: StoreOptions) -> Result<Self> {
        // Nothing outlives a crash here.
        let options = StoreOptions {
            commit_phases: CommitPhases::One,
            ..options
        };
        Self::open(MemoryBackend::new(), options)
    }

    /// Opens what the backend holds, or begins a new store on it.
    pub(crate) fn open(backend: impl StorageBackend, options: StoreOptions) -> Result<Self> {
        let medium = Medium::new(backend)?;
        let opened = opening::open(&medium, options, &KeyIndex::default());
        let begun = opened.and_then(|opened| {
            if !options.read_only {
                medium.open_gate()?;
            }
            Ok(opened)
        });
        match begun {
            Ok(opened) => {
                let store = Self {
                    medium,
                    place: None,
                    options,
                    database: RwLock::new(Some(opened.database)),
                    closed: RwLock::new(false),
                    queued: AtomicU64::new(opened.queue.records()),
                    fleet_version: AtomicU64::new(0),
                    queue: RwLock::new(opened.queue),
                    keys: RwLock::new(opened.keys),
                };
                store.fold_names()?;
                Ok(store)
            }
            Err(error) => {
                // The error above says what is wrong; that the lock could not be given back as well adds nothing.
                let _ = medium.release();
                Err(error)
            }
        }
    }

    /// Rebuilds the keys that are made of names where the file was written with another folding.
    fn fold_names(&self) -> Result<()> {
        if meta::is_folded(&self.snapshot()?)? {
            return Ok(());
        }
        if self.options.read_only {
            // For those who read here: it waits at the gate for good.
            return self.try_write(|tables| folding::fold_names(tables));
        }
        self.write(|tables| folding::fold_names(tables))
            .map_err(|failure| failure.error)
    }

    /// Closes the file and gives its lock back. Later calls are refused.
    pub(crate) fn close(&self) -> Result<()> {
        let mut slot = self.database_mut();
        let mut closed = write(&self.closed);
        if std::mem::replace(&mut *closed, true) {
            return Ok(());
        }
        // What closing writes is made from what the file holds.
        let ended = caught(|| {
            *slot = None;
            Ok(())
        });
        self.medium.release().map_err(unavailable).and(ended)
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // There is no caller to report an error to; an unclean file is repaired when it is opened next.
        let _ = self.close();
    }
}
