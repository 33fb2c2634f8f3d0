//! Copying a store entry by entry, while it is written to.

use std::ops::Bound;

use redb::{Database, StorageBackend, WriteTransaction};

use crate::error::{EngineError, ErrorKind, Result};
use crate::timestamp::Timestamp;

use super::failure::{from_commit, from_database, from_storage, from_table, from_transaction};
use super::meta::{COPIED_KEY, FORMAT_KEY, KEPT_KEY, LOG_KEY, LOG_POSITION_KEY, LOG_SETTINGS_KEY};
use super::table::{Read, Snapshot, Step, Table};
use super::telemetry::pending_block::{PendingBlock, each_whole};

/// Keys of `meta` that a copy has otherwise, or not.
const NOT_COPIED: [&[u8]; 6] = [
    LOG_KEY,
    LOG_POSITION_KEY,
    LOG_SETTINGS_KEY,
    COPIED_KEY,
    KEPT_KEY,
    FORMAT_KEY,
];
/// Entries in one transaction of the copy; bounds its memory.
const ENTRIES_MAX: usize = 10_000;

type Entries<'t> = redb::Table<'t, &'static [u8], &'static [u8]>;

/// The backend of a copy. Its errors name the copy, because the store that is read may be whole.
struct Destination<'d> {
    database: Database,
    name: &'d str,
}

impl Destination<'_> {
    fn begin(&self) -> Result<WriteTransaction> {
        let begun = self.database.begin_write();
        begun.map_err(|error| unwritten(self.name, from_transaction(error)))
    }

    fn commit(&self, transaction: WriteTransaction) -> Result<()> {
        let committed = transaction.commit();
        committed.map_err(|error| unwritten(self.name, from_commit(error)))
    }

    fn open<'t>(&self, transaction: &'t WriteTransaction, table: Table) -> Result<Entries<'t>> {
        let entries = transaction.open_table(table.definition());
        entries.map_err(|error| unwritten(self.name, from_table(error)))
    }

    fn insert(&self, entries: &mut Entries<'_>, key: &[u8], value: &[u8]) -> Result<()> {
        let inserted = entries.insert(key, value);
        inserted.map_err(|error| unwritten(self.name, from_storage(error)))?;
        Ok(())
    }
}

/// The subject of an error of the copy.
fn unwritten(name: &str, error: EngineError) -> EngineError {
    let message =
        format!("{name}: the copy cannot be written; look for a full or read-only disk there");
    error.restated(ErrorKind::StorageUnavailable, message)
}

/// Copies all of `snapshot` into the empty `backend`, with a page cache of `cache_bytes`. Messages call it by the name passed
/// with it. The blocks of the queue, `queued`, go into its table, and the copy records that it was made at `now`. The format is
/// copied last: a copy that was cut short has none and is refused. Returns the number of damaged blocks that were left out.
pub(super) fn copy(
    snapshot: &Snapshot,
    queued: &[PendingBlock],
    (name, backend): (&str, impl StorageBackend),
    (cache_bytes, now): (usize, Timestamp),
) -> Result<usize> {
    let database = Database::builder()
        .set_cache_size(cache_bytes)
        .create_with_backend(backend)
        .map_err(|error| unwritten(name, from_database(error)))?;
    let copy = Destination { database, name };
    let others = |table: &Table| !matches!(table, Table::Meta | Table::Queue);
    for table in Table::ALL.into_iter().filter(others) {
        copy_table(snapshot, &copy, table)?;
    }
    let left_out = copy_queue(snapshot, &copy, queued)?;
    put(&copy, COPIED_KEY, &now.ticks().to_le_bytes())?;
    copy_table(snapshot, &copy, Table::Meta)?;
    let format = snapshot.get(Table::Meta, FORMAT_KEY, |value| Ok(value.to_vec()))?;
    if let Some(format) = format {
        put(&copy, FORMAT_KEY, &format)?;
    }
    Ok(left_out)
}

/// Puts one value into `meta`.
fn put(copy: &Destination<'_>, key: &[u8], value: &[u8]) -> Result<()> {
    let transaction = copy.begin()?;
    copy.insert(&mut copy.open(&transaction, Table::Meta)?, key, value)?;
    copy.commit(transaction)
}

fn copy_queue(
    snapshot: &Snapshot,
    copy: &Destination<'_>,
    queued: &[PendingBlock],
) -> Result<usize> {
    let transaction = copy.begin()?;
    let mut table = copy.open(&transaction, Table::Queue)?;
    let damaged = each_whole(snapshot, queued, |key, block| {
        copy.insert(&mut table, key, block)
    })?;
    drop(table);
    copy.commit(transaction)?;
    Ok(damaged.len())
}

fn copy_table(snapshot: &Snapshot, copy: &Destination<'_>, table: Table) -> Result<()> {
    let mut last: Option<Vec<u8>> = None;
    loop {
        let transaction = copy.begin()?;
        let copied = copy_entries(snapshot, (copy, &transaction), table, &mut last)?;
        copy.commit(transaction)?;
        if copied < ENTRIES_MAX {
            return Ok(());
        }
    }
}

/// Copies up to [`ENTRIES_MAX`] entries after the key `last`, and advances `last`.
fn copy_entries(
    snapshot: &Snapshot,
    (copy, transaction): (&Destination<'_>, &WriteTransaction),
    table: Table,
    last: &mut Option<Vec<u8>>,
) -> Result<usize> {
    let mut destination = copy.open(transaction, table)?;
    let mut copied = 0;
    let start = last.take();
    let after = start.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
    snapshot.scan(table, (after, Bound::Unbounded), |key, value| {
        // The copy has no segments, its own time, and gets its format at the end.
        if table == Table::Meta && NOT_COPIED.contains(&key) {
            return Ok(Step::Continue(()));
        }
        copy.insert(&mut destination, key, value)?;
        copied += 1;
        if copied < ENTRIES_MAX {
            return Ok(Step::Continue(()));
        }
        *last = Some(key.to_vec());
        Ok(Step::Break(()))
    })?;
    Ok(copied)
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use redb::{ReadableDatabase as _, ReadableTableMetadata as _};

    use super::*;
    use crate::config::Config;
    use crate::error::error_chain;
    use crate::model::WriteClass;
    use crate::store::disk::backends::MemoryBackend;
    use crate::store::{Store, StoreOptions};

    /// Keeps what the file holds after each sync.
    #[derive(Debug, Default)]
    struct Synced {
        file: MemoryBackend,
        /// Whether no write finds room.
        is_full: bool,
        states: Arc<Mutex<Vec<Vec<u8>>>>,
    }

    impl StorageBackend for Synced {
        fn len(&self) -> io::Result<u64> {
            self.file.len()
        }

        fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
            self.file.read(offset, out)
        }

        fn set_len(&self, length: u64) -> io::Result<()> {
            self.file.set_len(length)
        }

        fn sync_data(&self) -> io::Result<()> {
            let mut state = vec![0; usize::try_from(self.file.len()?).unwrap()];
            self.file.read(0, &mut state)?;
            self.states.lock().unwrap().push(state);
            self.file.sync_data()
        }

        fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
            if self.is_full {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.file.write(offset, data)
        }
    }

    #[test]
    fn copy_names_its_format_once_all_the_rest_is_in_it() {
        let now = Timestamp::UNIX_EPOCH;
        let store =
            Store::open_in_memory(StoreOptions::from_config(&Config::default(), now)).unwrap();
        let written = store.write(WriteClass::Fleet, |tables| {
            for id in 0..=ENTRIES_MAX {
                tables.put(Table::Meta, format!("ids/{id}").as_bytes(), b"")?;
            }
            Ok(())
        });
        written.unwrap();
        let backend = Synced::default();
        let states = Arc::clone(&backend.states);
        let options = (
            StoreOptions::from_config(&Config::default(), now).cache_bytes,
            now,
        );
        let backend = ("the copy", backend);
        copy(&store.snapshot().unwrap(), &[], backend, options).unwrap();
        let (mut named, mut cut) = (0, 0);
        for state in states.lock().unwrap().iter() {
            let file = MemoryBackend::new();
            file.set_len(state.len() as u64).unwrap();
            file.write(0, state).unwrap();
            let Ok(database) = Database::builder().create_with_backend(file) else {
                continue;
            };
            let read = database.begin_read().unwrap();
            let Ok(meta) = read.open_table(Table::Meta.definition()) else {
                continue;
            };
            if meta.get(FORMAT_KEY).unwrap().is_some() {
                named = meta.len().unwrap();
            } else {
                cut = meta.len().unwrap();
            }
            assert!(named == 0 || named > cut && cut > ENTRIES_MAX as u64);
        }
        assert!(named > cut && cut > ENTRIES_MAX as u64, "{named}, {cut}");
    }

    #[test]
    fn copy_into_a_full_destination_names_it_and_not_the_store() {
        let now = Timestamp::UNIX_EPOCH;
        let store =
            Store::open_in_memory(StoreOptions::from_config(&Config::default(), now)).unwrap();
        let full = Synced {
            is_full: true,
            ..Synced::default()
        };
        let options = (
            StoreOptions::from_config(&Config::default(), now).cache_bytes,
            now,
        );
        let copied = copy(
            &store.snapshot().unwrap(),
            &[],
            ("copy.redb", full),
            options,
        );
        let error = copied.unwrap_err();
        assert!(error.is_for_space(), "{error:?}");
        assert_eq!(
            error_chain(&error),
            format!(
                "copy.redb: the copy cannot be written; look for a full or read-only disk there: {}",
                io::Error::from(io::ErrorKind::StorageFull)
            )
        );
    }
}
