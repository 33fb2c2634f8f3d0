//! Write transactions: one at a time. Each is durable at once, or the log has what it applies.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering;

use redb::{Database, Durability, WriteTransaction};

use crate::config::CommitPhases;
use crate::error::{EngineError, ErrorKind, Result};
use crate::locks::{lock, read, write};
use crate::model::WriteClass;

use super::failure::{from_commit, from_storage, from_transaction, indeterminate, unavailable};
use super::table::{Effects, Snapshot, Tables};
use super::{Store, StoreOptions, WriteFailure, closed, meta};
use crate::store::fleet::keys::KeyIndex;

/// How a transaction is committed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Commit {
    /// Whether it is synced, with all before it.
    durable: bool,
    /// How many entries of the journal it applies, or passes over.
    entries: usize,
    /// Whether it is made also if nothing was written.
    always: bool,
}

impl Commit {
    pub(super) const DURABLE: Self = Self {
        durable: true,
        entries: 0,
        always: false,
    };
}

impl Store {
    /// Runs `work` in one transaction; its writes are durable when this returns `Ok`, unless the log of a fleet has them. `class` is the
    /// class of its first write that is refused as space shrinks.
    ///
    /// After an error of `work` or of the medium nothing of it takes effect, now or after a crash, unless the error is
    /// [`ErrorKind::Indeterminate`]: then all of it does or nothing. After an error of the medium the file is opened again.
    pub(crate) fn write<R>(
        &self,
        class: WriteClass,
        work: impl FnOnce(&mut Tables<'_>) -> Result<R>,
    ) -> Result<R, WriteFailure> {
        let commit = Commit {
            durable: !self.options.is_lazy(),
            ..Commit::DURABLE
        };
        self.transact(class, commit, work)
    }

    /// Makes what was written without a sync durable.
    pub(crate) fn sync(&self) -> Result<(), WriteFailure> {
        let commit = Commit {
            always: true,
            ..Commit::DURABLE
        };
        self.transact(WriteClass::Essential, commit, |_| Ok(()))
    }

    /// Applies the entry at `position` of the log by `work`, without a sync. After an error it is passed over, now and after a crash,
    /// unless the error is [`ErrorKind::Indeterminate`]: then it is applied when the file is opened again.
    pub(crate) fn apply<R>(
        &self,
        position: u64,
        class: WriteClass,
        work: impl FnOnce(&mut Tables<'_>) -> Result<R>,
    ) -> Result<R, WriteFailure> {
        let through = || lock(&self.journal).through(position);
        let pass_over = |entries| {
            let commit = Commit {
                entries,
                always: true,
                ..Commit::DURABLE
            };
            self.transact(WriteClass::Essential, commit, |_| Ok(()))
        };
        let applied = catch_unwind(AssertUnwindSafe(|| {
            // Earlier entries whose commit panicked were never acknowledged. Durably, because this one is applied to tables without them.
            if let earlier @ 1.. = through().saturating_sub(1) {
                pass_over(earlier)?;
            }
            let commit = Commit {
                durable: false,
                entries: 1,
                always: true,
            };
            self.transact(class, commit, work)
        }));
        if let Ok(Ok(applied)) = applied {
            return Ok(applied);
        }
        let passed_over = pass_over(through());
        if passed_over.is_err() {
            // No transaction is under way meanwhile, which would not have it and forget it.
            let mut slot = self.database_mut();
            let entries = through();
            lock(&self.journal).mark_applied(entries);
            self.give_up(&mut slot);
        }
        let mut failure = match applied {
            Ok(applied) => applied.err().unwrap_or_else(|| closed().into()),
            Err(panic) => resume_unwind(panic),
        };
        if passed_over.is_err() {
            failure.error = indeterminate(failure.error);
        }
        Err(failure)
    }

    /// Runs `work` in one durable transaction, and passes over what the log may have that was never acknowledged. Only the caller applies
    /// entries.
    pub(crate) fn write_beside_log<R>(
        &self,
        class: WriteClass,
        work: impl FnOnce(&mut Tables<'_>) -> Result<R>,
    ) -> Result<R, WriteFailure> {
        let entries = lock(&self.journal).unsettled();
        let commit = Commit {
            entries,
            always: entries > 0,
            ..Commit::DURABLE
        };
        self.transact(class, commit, work)
    }

    pub(super) fn transact<R>(
        &self,
        class: WriteClass,
        commit: Commit,
        work: impl FnOnce(&mut Tables<'_>) -> Result<R>,
    ) -> Result<R, WriteFailure> {
        let _one_at_a_time = lock(&self.writing);
        let _usable = self.reserve_for(class);
        self.open_gate()?;
        self.medium.begin();
        let written = self.try_write(commit, work);
        written.map_err(|error| self.failed(error))
    }

    /// Bytes of entries in the log that would be applied again after a crash.
    pub(crate) fn unsynced_bytes(&self) -> usize {
        lock(&self.journal).bytes()
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

    /// Runs `work` in one transaction of a read-only store: its writes stay in memory.
    pub(crate) fn write_in_memory<R>(
        &self,
        work: impl FnOnce(&mut Tables<'_>) -> Result<R>,
    ) -> Result<R> {
        let _one_at_a_time = lock(&self.writing);
        let commit = Commit {
            durable: false,
            ..Commit::DURABLE
        };
        self.try_write(commit, work)
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

    fn try_write<R>(
        &self,
        commit: Commit,
        work: impl FnOnce(&mut Tables<'_>) -> Result<R>,
    ) -> Result<R> {
        let slot = self.database();
        let database = slot.as_ref().ok_or_else(closed)?;
        let transaction = self.begin(database, commit)?;
        let (result, effects, fleet_written, needed) = {
            let mut tables = Tables::new(&transaction);
            tables.effects.next_block = read(&self.queue).next();
            tables.effects.held = RefCell::new(lock(&self.held).clone());
            let result = work(&mut tables)?;
            if !tables.written.get() && !commit.always {
                *lock(&self.held) = tables.effects.held.take();
                drop(tables);
                transaction.abort().map_err(from_storage)?;
                return Ok(result);
            }
            let needed = self.put_position(&tables, commit.entries)?;
            let fleet_written = tables.fleet_written.get();
            (result, tables.effects, fleet_written, needed)
        };
        self.commit(database, transaction, effects, fleet_written)?;
        self.note_commit(commit, needed);
        Ok(result)
    }

    fn begin(&self, database: &Database, commit: Commit) -> Result<WriteTransaction> {
        if !self.options.is_read_only() && self.medium.is_gated() {
            // A reader has opened the file again since the gate was opened.
            self.medium.open_gate()?;
        }
        begin(database, self.options, commit.durable)
    }

    /// Records what the tables have of the log.
    fn note_commit(&self, commit: Commit, needed: Option<u64>) {
        let Some((_, log)) = self.log() else { return };
        let mut journal = lock(&self.journal);
        journal.mark_applied(commit.entries);
        if commit.durable {
            journal.drop_durable();
            drop(journal);
            if let Some(needed) = needed {
                log.set_needed(needed);
            }
        }
    }

    /// Stores how much of the log the tables have after this transaction, in which `entries` more are applied. Returns the number of the
    /// first item that is needed from then on.
    fn put_position(&self, tables: &Tables<'_>, entries: usize) -> Result<Option<u64>> {
        if !self.log().is_some_and(|(_, log)| log.has_begun()) {
            return Ok(None);
        }
        // The queue's lock first, as where items are appended.
        let queue = read(&self.queue);
        let needed = queue.first_in_segments(tables.effects.queue.filed_below);
        let needed = needed.unwrap_or_else(|| queue.next());
        let position = lock(&self.journal).position(entries, needed);
        drop(queue);
        meta::set_log_position(tables, position)?;
        Ok(Some(position.from))
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
        self.change_queue(|index| index.publish(effects.queue));
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

/// A transaction that is synced if it is `durable`.
pub(super) fn begin(
    database: &Database,
    options: StoreOptions,
    durable: bool,
) -> Result<WriteTransaction> {
    let mut transaction = database.begin_write().map_err(from_transaction)?;
    transaction.set_two_phase_commit(options.commit_phases == CommitPhases::Two);
    transaction.set_quick_repair(options.quick_repair);
    if !durable {
        let unsynced = transaction.set_durability(Durability::None);
        unsynced.map_err(unavailable)?;
    }
    Ok(transaction)
}
