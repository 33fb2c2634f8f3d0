//! Copying a store entry by entry, while it is written to.

use std::ops::Bound;

use redb::{Database, StorageBackend, WriteTransaction};

use crate::error::Result;

use super::failure::{from_commit, from_database, from_storage, from_table, from_transaction};
use super::table::{Read, Snapshot, Step, Table};

/// Entries in one transaction of the copy; bounds its memory.
const ENTRIES_MAX: usize = 10_000;

/// Copies all of `snapshot` into the empty `backend`, with a page cache of `cache_bytes`. `meta` is copied last: a copy that
/// was cut short names no format and is refused.
pub(super) fn copy(
    snapshot: &Snapshot,
    backend: impl StorageBackend,
    cache_bytes: usize,
) -> Result<()> {
    let database = Database::builder()
        .set_cache_size(cache_bytes)
        .create_with_backend(backend)
        .map_err(from_database)?;
    let (meta, others): (Vec<Table>, Vec<Table>) = Table::ALL
        .into_iter()
        .partition(|table| *table == Table::Meta);
    for table in others.into_iter().chain(meta) {
        copy_table(snapshot, &database, table)?;
    }
    Ok(())
}

fn copy_table(snapshot: &Snapshot, database: &Database, table: Table) -> Result<()> {
    let mut last: Option<Vec<u8>> = None;
    loop {
        let transaction = database.begin_write().map_err(from_transaction)?;
        let copied = copy_entries(snapshot, &transaction, table, &mut last)?;
        transaction.commit().map_err(from_commit)?;
        if copied < ENTRIES_MAX {
            return Ok(());
        }
    }
}

/// Copies up to [`ENTRIES_MAX`] entries after the key `last`, and moves it on.
fn copy_entries(
    snapshot: &Snapshot,
    transaction: &WriteTransaction,
    table: Table,
    last: &mut Option<Vec<u8>>,
) -> Result<usize> {
    let mut destination = transaction
        .open_table(table.definition())
        .map_err(from_table)?;
    let mut copied = 0;
    let start = last.take();
    let after = start.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
    snapshot.scan(table, (after, Bound::Unbounded), |key, value| {
        destination.insert(key, value).map_err(from_storage)?;
        copied += 1;
        if copied < ENTRIES_MAX {
            return Ok(Step::Continue(()));
        }
        *last = Some(key.to_vec());
        Ok(Step::Break(()))
    })?;
    Ok(copied)
}
