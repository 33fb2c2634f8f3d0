//! The simplest durable stores: a log, and redb with one row for each record.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use bytes::Bytes;
use redb::{Database, TableDefinition};

use crate::grouped::Sink;

const ROWS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("rows");

/// An append-only file, one `fdatasync` for each batch.
#[derive(Debug)]
pub struct LogSink {
    file: File,
    buffer: Vec<u8>,
}

impl LogSink {
    /// Creates the log in `folder`.
    ///
    /// # Panics
    /// When it cannot be created.
    #[must_use]
    pub fn create(folder: &Path) -> Self {
        Self {
            file: File::create(folder.join("bench.log")).expect("a log file"),
            buffer: Vec::new(),
        }
    }
}

impl Sink for LogSink {
    fn commit(&mut self, batch: &[Bytes]) {
        self.buffer.clear();
        for record in batch {
            let length = u32::try_from(record.len()).expect("a short record");
            self.buffer.extend_from_slice(&length.to_le_bytes());
            self.buffer.extend_from_slice(record);
        }
        self.file
            .write_all(&self.buffer)
            .expect("the log is written");
        self.file.sync_data().expect("the log is synced");
    }
}

/// redb, one transaction per batch, the JSON of a record as one row.
#[derive(Debug)]
pub struct RowSink {
    database: Database,
    next: u64,
}

impl RowSink {
    /// Creates the database in `folder`.
    ///
    /// # Panics
    /// When it cannot be created.
    #[must_use]
    pub fn create(folder: &Path) -> Self {
        let database = Database::builder()
            .set_cache_size(32 * 1024 * 1024)
            .create(folder.join("rows.redb"));
        Self {
            database: database.expect("a database"),
            next: 0,
        }
    }
}

impl Sink for RowSink {
    fn commit(&mut self, batch: &[Bytes]) {
        let transaction = self.database.begin_write().expect("a transaction");
        {
            let mut table = transaction.open_table(ROWS).expect("a table");
            for record in batch {
                table.insert(self.next, record.as_ref()).expect("a row");
                self.next += 1;
            }
        }
        transaction.commit().expect("a commit");
    }
}
