//! Copying a store entry by entry, while it is written to.

use std::ops::Bound;

use redb::{Database, StorageBackend, WriteTransaction};

use crate::error::Result;

use super::failure::{from_commit, from_database, from_storage, from_table, from_transaction};
use super::meta::LOG_KEY;
use super::table::{Read, Snapshot, Step, Table};
use super::telemetry::queue::{self, PendingBlock};

/// Entries in one transaction of the copy; bounds its memory.
const ENTRIES_MAX: usize = 10_000;

/// Copies all of `snapshot` into the empty `backend`, with a page cache of `cache_bytes`, and the blocks of the queue that are in
/// segments into its table. `meta` is copied last: a copy that was cut short names no format and is refused.
pub(super) fn copy(
    snapshot: &Snapshot,
    queued: &[PendingBlock],
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
    for table in others {
        copy_table(snapshot, &database, table)?;
    }
    copy_queue(snapshot, &database, queued)?;
    meta.into_iter()
        .try_for_each(|table| copy_table(snapshot, &database, table))
}

fn copy_queue(snapshot: &Snapshot, database: &Database, queued: &[PendingBlock]) -> Result<()> {
    let transaction = database.begin_write().map_err(from_transaction)?;
    let mut table = transaction
        .open_table(Table::Queue.definition())
        .map_err(from_table)?;
    queue::each_in_segment(snapshot, queued, |key, block| {
        table.insert(key, block).map_err(from_storage)?;
        Ok(())
    })?;
    drop(table);
    transaction.commit().map_err(from_commit)
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
        // The copy has no segments.
        if table == Table::Meta && key == LOG_KEY {
            return Ok(Step::Continue(()));
        }
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
