//! Reading several ranges of a snapshot side by side.

use redb::{AccessGuard, Range, ReadableTableMetadata as _};

use crate::error::Result;

use super::failure::from_storage;
use super::table::{Bytes, KeyRange, Snapshot, Table};

/// The entries of a range, one after the other.
pub(crate) struct Cursor {
    entries: Range<'static, Bytes, Bytes>,
    /// The next one.
    next: Option<StoredEntry>,
}

/// A key and its value.
type StoredEntry = (AccessGuard<'static, Bytes>, AccessGuard<'static, Bytes>);

impl Snapshot {
    /// The entries of `range`, first to last.
    pub(crate) fn cursor(&self, table: Table, range: KeyRange<'_>) -> Result<Cursor> {
        let entries = self.table(table)?.range::<&[u8]>(range);
        let mut cursor = Cursor {
            entries: entries.map_err(from_storage)?,
            next: None,
        };
        cursor.advance()?;
        Ok(cursor)
    }

    /// The number of entries in a table.
    pub(crate) fn len(&self, table: Table) -> Result<u64> {
        self.table(table)?.len().map_err(from_storage)
    }
}

impl Cursor {
    /// The next key and its value; `None` at the end.
    pub(crate) fn peek(&self) -> Option<(&[u8], &[u8])> {
        let (key, value) = self.next.as_ref()?;
        Some((key.value(), value.value()))
    }

    /// Advances to the next entry.
    pub(crate) fn advance(&mut self) -> Result<()> {
        let next = self.entries.next().transpose();
        self.next = next.map_err(from_storage)?;
        Ok(())
    }
}
