//! Write transactions: one at a time, durable or not there.

use std::cell::RefCell;
use std::sync::atomic::Ordering;

use redb::{Database, Durability, WriteTransaction};

use crate::config::CommitPhases;
use crate::error::{EngineError, ErrorKind, Result};
use crate::locks::{lock, read, write};
use crate::model::WriteClass;

use super::failure::{from_commit, from_storage, from_transaction, indeterminate, unavailable};
use super::table::{Effects, Snapshot, Tables};
use super::{Store, WriteFailure, closed};
use crate::store::fleet::keys::KeyIndex;

impl Store {
    /// Runs `work` in one transaction; its writes are durable when this returns `Ok`. `class` is the class of its first write
    /// that is refused as space shrinks.
    ///
    /// After an error of `work` or of the medium nothing of it takes effect, now or after a crash, unless the error is
    /// [`ErrorKind::Indeterminate`]: then all of it does or nothing. After an error of the medium the file is opened again.
    pub(crate) fn write<R>(
        &self,
        class: WriteClass,
        work: impl FnOnce(&mut Tables<'_>) -> Result<R>,
    ) -> Result<R, WriteFailure> {
        let _one_at_a_time = lock(&self.writing);
        let _usable = self.reserve_for(class);
        self.open_gate()?;
        self.medium.begin();
        self.try_write(work).map_err(|error| self.failed(error))
    }

    /// Converts the error of a transaction; the file is opened again if the medium failed.
    fn failed(&self, error: EngineError) -> WriteFailure {
        let medium_failed = matches!(
            error.kind(),
            ErrorKind::StorageUnavailable | ErrorKind::Corrupted
        );
        let error = if self.medium.is_in_doubt() {
            indeterminate(error)
        } else {
            error
        };
        let reopened = medium_failed && self.reopen().is_ok();
        WriteFailure { error, reopened }
    }

    /// Makes lazy commits durable.
    #[cfg(feature = "cluster")]
    pub(crate) fn sync(&self) -> Result<(), WriteFailure> {
        let _one_at_a_time = lock(&self.writing);
        let _usable = self.reserve_for(WriteClass::Essential);
        self.open_gate()?;
        self.medium.begin();
        let synced = self
            .database()
            .as_ref()
            .ok_or_else(closed)
            .and_then(|database| {
                let transaction = self.begin(database)?;
                transaction.commit().map_err(from_commit)
            });
        synced.map_err(|error| self.failed(error))
    }

    /// The same in a read-only store: the writes of `work` stay in memory.
    pub(crate) fn write_in_memory<R>(
        &self,
        work: impl FnOnce(&mut Tables<'_>) -> Result<R>,
    ) -> Result<R> {
        let _one_at_a_time = lock(&self.writing);
        self.try_write(work)
    }

    /// Makes sure that a database is open and that its writes reach the medium.
    pub(super) fn open_gate(&self) -> Result<()> {
        if self.options.is_read_only() {
            let message = "the store was opened for reading only";
            return Err(EngineError::new(ErrorKind::StorageUnavailable, message));
        }
        self.ensure_open()?;
        // The lock keeps others from opening the database again meanwhile.
        let _open = self.database();
        if self.medium.is_gated() {
            self.medium.open_gate()
        } else {
            Ok(())
        }
    }

    /// Makes everything readable durable: writes in doubt after a failed commit are written again first.
    pub(crate) fn confirm(&self) -> Result<()> {
        if !self.options.is_read_only() && (self.medium.has_failed() || self.medium.is_gated()) {
            self.open_gate()?;
        }
        Ok(())
    }

    fn begin(&self, database: &Database) -> Result<WriteTransaction> {
        let mut transaction = database.begin_write().map_err(from_transaction)?;
        transaction.set_two_phase_commit(self.options.commit_phases == CommitPhases::Two);
        transaction.set_quick_repair(self.options.quick_repair);
        Ok(transaction)
    }

    fn try_write<R>(&self, work: impl FnOnce(&mut Tables<'_>) -> Result<R>) -> Result<R> {
        let slot = self.database();
        let database = slot.as_ref().ok_or_else(closed)?;
        let mut transaction = self.begin(database)?;
        if self.options.is_lazy() {
            let lazy = transaction.set_durability(Durability::None);
            lazy.map_err(unavailable)?;
        }
        let (result, effects, fleet_written) = {
            let mut tables = Tables::new(&transaction);
            tables.effects.next_block = read(&self.queue).next();
            tables.effects.held = RefCell::new(lock(&self.held).clone());
            let result = work(&mut tables)?;
            if !tables.written.get() {
                *lock(&self.held) = tables.effects.held.take();
                drop(tables);
                transaction.abort().map_err(from_storage)?;
                return Ok(result);
            }
            let fleet_written = tables.fleet_written.get();
            (result, tables.effects, fleet_written)
        };
        self.commit(database, transaction, effects, fleet_written)?;
        Ok(result)
    }

    /// Makes a transaction durable, and then changes the memory beside the file. It is not a part of [`Self::try_write`], which
    /// is compiled for each kind of work.
    fn commit(
        &self,
        database: &Database,
        transaction: WriteTransaction,
        effects: Effects,
        fleet_written: bool,
    ) -> Result<()> {
        transaction.commit().map_err(from_commit)?;
        self.fleet_version
            .fetch_add(u64::from(fleet_written), Ordering::AcqRel);
        lock(&self.seen).commit(effects.seen.into_inner());
        *lock(&self.held) = effects.held.into_inner();
        let keys_changed = effects.keys_changed;
        let filed_below = effects.queue.filed_below;
        self.change_queue(|index| index.publish(effects.queue));
        if let Some((_, log)) = self.log()
            && let Some(first_unfiled) = filed_below
        {
            log.set_filed(first_unfiled);
        }
        if keys_changed {
            let snapshot = Snapshot::open(database)?;
            let mut keys = write(&self.keys);
            *keys = KeyIndex::rebuild(&snapshot, &keys)?;
        }
        // Events come after the keys, so that a woken stream sees the keys of its event.
        if let Some(last_event) = effects.last_event {
            self.last_event.store(last_event, Ordering::Release);
        }
        Ok(())
    }
}
