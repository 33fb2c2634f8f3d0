//! The tables of the file and the two ways to read them.

use std::cell::{Cell, OnceCell, RefCell};
use std::ops::{Bound, ControlFlow};
use std::sync::Arc;

use redb::{
    AccessGuard, Database, ReadOnlyTable, ReadTransaction, ReadableDatabase, ReadableTable,
    TableDefinition, TableError, WriteTransaction,
};

use crate::error::{EngineError, ErrorKind, Result};
use crate::limits::MAINTENANCE_ROWS_MAX;

use super::codec::damaged;
use super::failure::{from_storage, from_table, from_transaction};
use super::seen::SeenChanges;
use super::telemetry::contents::QueueChanges;
use crate::store::fleet::held_names::HeldNames;

pub(super) type Bytes = &'static [u8];

/// A table of the file. Keys and values are bytes; the module named after the table says which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Table {
    Meta,
    Workspaces,
    WorkspacesByUser,
    WorkspacesByComputer,
    Holds,
    Pending,
    Audit,
    Keys,
    Queue,
    History,
    Users,
    /// The activities of the last 25 hours, by time.
    Recent,
    /// Of each instance its newest Stats values and the rollup of its newest day.
    Latest,
    /// Rollups of earlier days.
    Daily,
    /// Rollups of hours.
    Hourly,
    Events,
}

impl Table {
    pub(crate) const ALL: [Self; 16] = [
        Self::Meta,
        Self::Workspaces,
        Self::WorkspacesByUser,
        Self::WorkspacesByComputer,
        Self::Holds,
        Self::Pending,
        Self::Audit,
        Self::Keys,
        Self::Queue,
        Self::History,
        Self::Users,
        Self::Recent,
        Self::Latest,
        Self::Daily,
        Self::Hourly,
        Self::Events,
    ];

    pub(super) const fn definition(self) -> TableDefinition<'static, Bytes, Bytes> {
        TableDefinition::new(match self {
            Self::Meta => "meta",
            Self::Workspaces => "workspaces",
            Self::WorkspacesByUser => "workspaces_by_user",
            Self::WorkspacesByComputer => "workspaces_by_computer",
            Self::Holds => "holds",
            Self::Pending => "pending",
            Self::Audit => "audit",
            Self::Keys => "keys",
            Self::Queue => "queue",
            Self::History => "history",
            Self::Users => "users",
            Self::Recent => "recent",
            Self::Latest => "latest",
            Self::Daily => "daily",
            Self::Hourly => "hourly",
            Self::Events => "events",
        })
    }
}

/// A range of keys.
pub(crate) type KeyRange<'k> = (Bound<&'k [u8]>, Bound<&'k [u8]>);

/// Everything.
pub(crate) const ALL_KEYS: KeyRange<'static> = (Bound::Unbounded, Bound::Unbounded);

/// The keys after `key`; all keys without one.
pub(crate) fn after_key<K: AsRef<[u8]> + ?Sized>(key: Option<&K>) -> KeyRange<'_> {
    let start = key.map_or(Bound::Unbounded, |key| Bound::Excluded(key.as_ref()));
    (start, Bound::Unbounded)
}

/// The keys from `from` to before `before`; none if the range is reversed.
pub(crate) fn key_range<'k>(from: Option<&'k [u8]>, before: Option<&'k [u8]>) -> KeyRange<'k> {
    let from = from.unwrap_or_default();
    let end = before.map_or(Bound::Unbounded, |before| Bound::Excluded(before.max(from)));
    (Bound::Included(from), end)
}

/// The number in the key of a row.
pub(super) fn row_number(key: &[u8]) -> Result<u64> {
    key.try_into()
        .map(u64::from_be_bytes)
        .map_err(|_| damaged())
}

/// The first key after all that begin with `prefix`; `None` when nothing follows them.
pub(crate) fn after_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if last < u8::MAX {
            end.push(last + 1);
            return Some(end);
        }
    }
    None
}

/// Whether a scan goes on.
pub(crate) type Step = ControlFlow<()>;

/// The function that a scan calls with each key and value.
type Visit<'v> = dyn FnMut(&[u8], &[u8]) -> Result<Step> + 'v;

/// Reads tables: a [`Snapshot`] as of the last commit, or the [`Tables`] of the transaction being written.
pub(crate) trait Read {
    /// Calls `read` with the value of `key`, if there is one.
    fn get<R>(
        &self,
        table: Table,
        key: &[u8],
        read: impl FnOnce(&[u8]) -> Result<R>,
    ) -> Result<Option<R>>;

    /// Visits the entries of `range` until `visit` breaks: first to last, or last to first.
    fn walk(
        &self,
        table: Table,
        range: KeyRange<'_>,
        back: bool,
        visit: impl FnMut(&[u8], &[u8]) -> Result<Step>,
    ) -> Result<()>;

    /// Visits the entries of `range`, first to last, until `visit` breaks.
    fn scan(
        &self,
        table: Table,
        range: KeyRange<'_>,
        visit: impl FnMut(&[u8], &[u8]) -> Result<Step>,
    ) -> Result<()> {
        self.walk(table, range, false, visit)
    }

    /// Visits the entries of `range`, last to first, until `visit` breaks.
    fn scan_back(
        &self,
        table: Table,
        range: KeyRange<'_>,
        visit: impl FnMut(&[u8], &[u8]) -> Result<Step>,
    ) -> Result<()> {
        self.walk(table, range, true, visit)
    }

    /// Whether there is a value at `key`.
    fn contains(&self, table: Table, key: &[u8]) -> Result<bool> {
        Ok(self.get(table, key, |_| Ok(()))?.is_some())
    }
}

// There is one compiled copy for each kind of table and not one for each caller, so the WebAssembly module is smaller.

#[inline(never)]
fn find<'t>(
    table: &'t impl ReadableTable<Bytes, Bytes>,
    key: &[u8],
) -> Result<Option<AccessGuard<'t, Bytes>>> {
    table.get(key).map_err(from_storage)
}

#[inline(never)]
fn walk(
    table: &impl ReadableTable<Bytes, Bytes>,
    range: KeyRange<'_>,
    back: bool,
    visit: &mut Visit<'_>,
) -> Result<()> {
    let mut entries = table.range::<&[u8]>(range).map_err(from_storage)?;
    while let Some(entry) = if back {
        entries.next_back()
    } else {
        entries.next()
    } {
        let (key, value) = entry.map_err(from_storage)?;
        if visit(key.value(), value.value())?.is_break() {
            break;
        }
    }
    Ok(())
}

/// The tables opened so far, each at its first use.
struct Opened<T>([OnceCell<T>; Table::ALL.len()]);

impl<T> Opened<T> {
    fn new() -> Self {
        Self([const { OnceCell::new() }; Table::ALL.len()])
    }

    fn get(&self, table: Table, open: impl FnOnce() -> Result<T, TableError>) -> Result<&T> {
        let cell = self.0.get(table as usize).ok_or_else(no_such_table)?;
        if cell.get().is_none() {
            // Nothing else fills the cell: a transaction stays on one thread.
            let _ = cell.set(open().map_err(from_table)?);
        }
        cell.get().ok_or_else(no_such_table)
    }
}

/// The store as of one commit; later commits do not show.
pub(crate) struct Snapshot {
    transaction: ReadTransaction,
    opened: Opened<ReadOnlyTable<Bytes, Bytes>>,
}

impl Snapshot {
    pub(super) fn open(database: &Database) -> Result<Self> {
        Ok(Self {
            transaction: database.begin_read().map_err(from_transaction)?,
            opened: Opened::new(),
        })
    }

    pub(super) fn table(&self, table: Table) -> Result<&ReadOnlyTable<Bytes, Bytes>> {
        let open = || self.transaction.open_table(table.definition());
        self.opened.get(table, open)
    }
}

impl Read for Snapshot {
    fn get<R>(
        &self,
        table: Table,
        key: &[u8],
        read: impl FnOnce(&[u8]) -> Result<R>,
    ) -> Result<Option<R>> {
        let found = find(self.table(table)?, key)?;
        found.map(|value| read(value.value())).transpose()
    }

    fn walk(
        &self,
        table: Table,
        range: KeyRange<'_>,
        back: bool,
        mut visit: impl FnMut(&[u8], &[u8]) -> Result<Step>,
    ) -> Result<()> {
        walk(self.table(table)?, range, back, &mut visit)
    }
}

type OpenTable<'t> = RefCell<redb::Table<'t, Bytes, Bytes>>;

/// The tables of one write transaction. The cost of a commit is the tables and pages it touches.
pub(crate) struct Tables<'t> {
    transaction: &'t WriteTransaction,
    opened: Opened<OpenTable<'t>>,
    /// Whether anything was written: a transaction without writes needs no commit.
    pub(super) written: Cell<bool>,
    /// Whether a workspace was written.
    pub(super) fleet_written: Cell<bool>,
    /// Changes of the memory beside the file, applied once the transaction is durable.
    pub(super) effects: Effects,
}

/// The changes of a transaction in memory, applied only once it is durable.
#[derive(Debug, Default)]
pub(super) struct Effects {
    /// Blocks added and removed.
    pub(super) queue: QueueChanges,
    /// Changes of the times in rows of `latest`.
    pub(super) seen: RefCell<SeenChanges>,
    /// The number of the last event that was appended.
    pub(super) last_event: Option<u64>,
    /// Whether a key was written.
    pub(super) keys_changed: bool,
    /// The number of the next block.
    pub(super) next_block: u64,
    /// The names of the workspaces on hold, if they were read since the holds were written last.
    pub(super) held: RefCell<Option<Arc<HeldNames>>>,
}

impl<'t> Tables<'t> {
    pub(super) fn new(transaction: &'t WriteTransaction) -> Self {
        Self {
            transaction,
            opened: Opened::new(),
            written: Cell::new(false),
            fleet_written: Cell::new(false),
            effects: Effects::default(),
        }
    }

    fn table(&self, table: Table) -> Result<&OpenTable<'t>> {
        let open = || self.transaction.open_table(table.definition());
        self.opened.get(table, || open().map(RefCell::new))
    }

    /// Stores or replaces `value` at `key`.
    pub(crate) fn put(&self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        self.replace(table, key, Some(value), &mut |_| ()).map(drop)
    }

    /// Stores `value` at `key`, or removes `key` for `None`. Calls `old` with the old value, and returns whether there was one.
    pub(super) fn replace(
        &self,
        table: Table,
        key: &[u8],
        value: Option<&[u8]>,
        old: &mut dyn FnMut(&[u8]),
    ) -> Result<bool> {
        let mut table = self.table(table)?.try_borrow_mut().map_err(|_| in_scan())?;
        let was = match value {
            Some(value) => table.insert(key, value),
            None => table.remove(key),
        };
        let was = was.map_err(from_storage)?;
        if let Some(was) = &was {
            old(was.value());
        }
        self.written
            .set(self.written.get() || value.is_some() || was.is_some());
        Ok(was.is_some())
    }

    /// Removes every entry of a range.
    pub(super) fn clear(&self, table: Table, range: KeyRange<'_>) -> Result<()> {
        while self.remove_some(table, range, MAINTENANCE_ROWS_MAX)? {}
        Ok(())
    }

    /// Removes the first entries of a range, at most `max`; returns whether there may be more.
    pub(super) fn remove_some(
        &self,
        table: Table,
        range: KeyRange<'_>,
        max: usize,
    ) -> Result<bool> {
        let mut keys = Vec::new();
        self.scan(table, range, |key, _| {
            keys.push(key.to_vec());
            Ok(if keys.len() < max {
                Step::Continue(())
            } else {
                Step::Break(())
            })
        })?;
        for key in &keys {
            self.remove(table, key)?;
        }
        Ok(keys.len() == max)
    }

    /// Removes `key`; returns whether it was there.
    pub(crate) fn remove(&self, table: Table, key: &[u8]) -> Result<bool> {
        self.replace(table, key, None, &mut |_| ())
    }
}

impl Read for Tables<'_> {
    fn get<R>(
        &self,
        table: Table,
        key: &[u8],
        read: impl FnOnce(&[u8]) -> Result<R>,
    ) -> Result<Option<R>> {
        let table = self.table(table)?.borrow();
        let found = find(&*table, key)?;
        found.map(|value| read(value.value())).transpose()
    }

    fn walk(
        &self,
        table: Table,
        range: KeyRange<'_>,
        back: bool,
        mut visit: impl FnMut(&[u8], &[u8]) -> Result<Step>,
    ) -> Result<()> {
        walk(&*self.table(table)?.borrow(), range, back, &mut visit)
    }
}

fn no_such_table() -> EngineError {
    let message = "a table is missing from the list of tables";
    EngineError::new(ErrorKind::Internal, message)
}

fn in_scan() -> EngineError {
    let message = "a table was written while it was being read";
    EngineError::new(ErrorKind::Internal, message)
}

#[cfg(test)]
mod tests;
