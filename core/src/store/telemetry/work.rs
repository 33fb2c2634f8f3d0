//! How much a transaction of upkeep does: other writes wait for it.

use crate::limits::{WORK_BYTES_MAX, WORK_ROWS_MAX};

/// Rows put, removed or read, and the bytes of the parts of history among them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Work {
    rows: usize,
    bytes: usize,
}

impl Work {
    /// No bound.
    pub(crate) const ANY: Self = Self::new(usize::MAX, usize::MAX);
    /// What one transaction writes.
    pub(crate) const WRITTEN_MAX: Self = Self::new(WORK_ROWS_MAX, WORK_BYTES_MAX);
    /// What one transaction reads and removes.
    pub(crate) const REMOVED_MAX: Self = Self::new(WORK_ROWS_MAX / 2, 2 * WORK_BYTES_MAX);

    pub(crate) const fn new(rows: usize, bytes: usize) -> Self {
        Self { rows, bytes }
    }

    /// Adds a row of that length.
    pub(crate) fn add(&mut self, bytes: usize) {
        self.rows += 1;
        self.bytes += bytes;
    }

    /// The same with more rows.
    pub(crate) fn with_rows(self, rows: usize) -> Self {
        Self {
            rows: self.rows + rows,
            ..self
        }
    }

    /// Whether that is all of `max`.
    pub(crate) fn is_all(self, max: Self) -> bool {
        self.rows >= max.rows || self.bytes >= max.bytes
    }
}
