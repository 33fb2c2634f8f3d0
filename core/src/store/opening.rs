//! Opening the store on a medium, if it is ours, whole, and of a format that we read. Writes of opening stay at the gate.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use redb::{Database, ReadableDatabase, WriteTransaction};

use crate::error::{EngineError, ErrorKind, Result};
use crate::timestamp::Timestamp;

use super::StoreOptions;
use super::failure::{from_commit, from_database, from_storage, from_table, from_transaction};
use super::journal::{Journal, LogPosition};
use super::meta::{self, FORMAT, OLDEST_FORMAT};
use super::table::{Snapshot, Table, Tables};
use super::telemetry::queue::QueueIndex;
use super::writing::begin;
use crate::store::disk::medium::{Medium, panic_text};
use crate::store::fleet::events;
use crate::store::fleet::keys::KeyIndex;
use crate::store::telemetry::segments::Available;

/// What a store has in memory, beside its queue.
pub(super) struct Loaded {
    pub(super) keys: KeyIndex,
    pub(super) last_event: u64,
}

/// Reads which blocks of the queue the tables have, and which are filed.
pub(super) fn reload(database: &Database, queue: &mut QueueIndex) -> Result<()> {
    caught(|| queue.reload(&Snapshot::open(database)?))
}

/// Applies the entries of the journal that the tables lack, and reads what a store has in memory.
pub(super) fn load(
    database: &Database,
    options: StoreOptions,
    journal: &mut Journal,
    old_keys: &KeyIndex,
) -> Result<Loaded> {
    caught(|| {
        replay(database, options, journal)?;
        let snapshot = Snapshot::open(database)?;
        Ok(Loaded {
            keys: KeyIndex::rebuild(&snapshot, old_keys)?,
            last_event: events::last(&snapshot)?,
        })
    })
}

fn replay(database: &Database, options: StoreOptions, journal: &mut Journal) -> Result<()> {
    if Available::HERE.is_none() {
        return Ok(());
    }
    let position = meta::log_position(&Snapshot::open(database)?)?.unwrap_or_default();
    journal.align(position.entries);
    let mut lacking = journal.lacking(position.entries).peekable();
    if lacking.peek().is_none() {
        return Ok(());
    }
    let Some((_, replay)) = options.replay else {
        let message = "what a crash left in the log beside the store cannot be applied here";
        return Err(EngineError::new(ErrorKind::Internal, message));
    };
    let transaction = begin(database, options, false)?;
    let mut tables = Tables::new(&transaction);
    for entry in lacking {
        replay(&mut tables, entry)?;
    }
    let entries = journal.applied_count();
    meta::set_log_position(
        &tables,
        LogPosition {
            entries,
            ..position
        },
    )?;
    drop(tables);
    transaction.commit().map_err(from_commit)
}

/// Opens the database of a format that we read, or begins a new one. Returns whether redb repaired it too. The gate is closed when this
/// returns.
pub(super) fn database(medium: &Medium, options: StoreOptions) -> Result<(Database, bool)> {
    let new = medium.is_new()?;
    if new && options.is_read_only() {
        let message = "there is no store yet: only an engine that writes begins one";
        return Err(EngineError::new(ErrorKind::StorageUnavailable, message));
    }
    medium.close_gate();
    medium.hold_unsynced()?;
    if new {
        medium.clear()?;
    }
    caught(|| {
        let (database, is_repaired) = compared(medium, options, !new && !options.trust_file)?;
        if is_empty(&database)? {
            initialise(&database, options.now)?;
        }
        let snapshot = Snapshot::open(&database)?;
        check_ours(&snapshot)?;
        if !meta::is_current(&snapshot)? {
            make_tables(&database)?;
        }
        drop(snapshot);
        Ok((database, is_repaired))
    })
}

/// redb opens a cleanly closed file without reading it, and repairs any other, which compares every checksum. So this compares
/// the checksums of a closed file. Returns whether the file was repaired too.
fn compared(medium: &Medium, options: StoreOptions, compare: bool) -> Result<(Database, bool)> {
    let repaired = Arc::new(AtomicBool::new(false));
    let repairs = Arc::clone(&repaired);
    let mut database = Database::builder()
        .set_cache_size(options.cache_bytes)
        .set_repair_callback(move |_| repairs.store(true, Ordering::Relaxed))
        .create_with_backend(medium.clone())
        .map_err(from_database)?;
    let is_repaired = repaired.load(Ordering::Relaxed);
    if compare && !is_repaired {
        // redb repaired the map of free pages; stored data was not touched.
        database.check_integrity().map_err(from_database)?;
    }
    Ok((database, is_repaired))
}

/// Runs redb over bytes that may be damaged: a panic means that they are.
pub(super) fn caught<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    // The unfinished result of `work` is dropped; the medium below it is only bytes.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        Err(EngineError::caused(
            ErrorKind::Corrupted,
            "the file is damaged: restore a backup",
            panic_text(&*panic).to_owned(),
        ))
    })
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

/// Creates the tables that older formats lack.
fn make_tables(database: &Database) -> Result<()> {
    let transaction = database.begin_write().map_err(from_transaction)?;
    open_tables(&transaction)?;
    transaction.commit().map_err(from_commit)
}

/// Opens every table, which creates missing ones, so that readers find all tables.
fn open_tables(transaction: &WriteTransaction) -> Result<()> {
    for table in Table::ALL {
        transaction
            .open_table(table.definition())
            .map_err(from_table)?;
    }
    Ok(())
}

/// Creates every table of a new file.
fn initialise(database: &Database, now: Timestamp) -> Result<()> {
    let transaction = database.begin_write().map_err(from_transaction)?;
    {
        open_tables(&transaction)?;
        let tables = Tables::new(&transaction);
        meta::write_format(&tables)?;
        // Nothing is too old yet, and a clock that jumps before the first removal can be compared with this time.
        meta::set_swept(&tables, now)?;
    }
    transaction.commit().map_err(from_commit)
}

/// Refuses a file that is no store, and a store of a format that this code does not read.
fn check_ours(snapshot: &Snapshot) -> Result<()> {
    const FOREIGN: &str = "the file is a redb database, but not a finished deskfleet store; it was left untouched: name \
                           another path, or restore a backup";
    let format = match meta::format(snapshot) {
        Err(error) if error.kind() == ErrorKind::ForeignFile => {
            return Err(EngineError::caused(ErrorKind::ForeignFile, FOREIGN, error));
        }
        format => format?,
    };
    let (kind, message) = match format {
        None => (ErrorKind::ForeignFile, FOREIGN.to_owned()),
        Some(OLDEST_FORMAT..=FORMAT) => return Ok(()),
        Some(older @ ..OLDEST_FORMAT) => (
            ErrorKind::ForeignFile,
            format!(
                "the file has format {older}, which no release of deskfleet wrote; it was left untouched: export it with \
                 the build that wrote it, and import that into a new store"
            ),
        ),
        Some(newer) => (
            ErrorKind::NewerFormat,
            format!(
                "the file has format {newer}, this deskfleet reads up to format {FORMAT}; it was left untouched: \
                 use a newer deskfleet"
            ),
        ),
    };
    Err(EngineError::new(kind, message))
}
