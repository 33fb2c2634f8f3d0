//! SQLite as a durable store: WAL, `synchronous=FULL`, one transaction per batch, a prepared statement.

use std::path::Path;

use bytes::Bytes;
use rusqlite::{Connection, params};

use crate::grouped::Sink;
use crate::stats_row::StatsRow;

/// Whether the rows have an index by instance and time. A query for the last day of a desktop needs it; writing is
/// faster without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Indexed {
    /// With the index.
    Yes,
    /// Rows in the order of arrival only.
    No,
}

/// A database file. Bodies go into rows of one text column, [`StatsRow`]s into rows of 23 columns.
#[derive(Debug)]
pub struct SqliteSink {
    connection: Connection,
}

const TABLES: &str = "
    CREATE TABLE bodies (number INTEGER PRIMARY KEY, body TEXT NOT NULL);
    CREATE TABLE stats (
        number INTEGER PRIMARY KEY, id INTEGER, computeTypeName TEXT, updatetime TEXT, username TEXT,
        processorCount INTEGER, processorInUse INTEGER, physicalMemory INTEGER, availablePhysicalMemory INTEGER,
        virtualMemory INTEGER, availableVirtualMemory INTEGER, memoryInUse INTEGER, rootTotal INTEGER,
        rootAvailable INTEGER, userTotal INTEGER, userAvailable INTEGER, diskReads REAL, diskWrites REAL,
        networkReceived REAL, networkSent REAL, uptime REAL, osVersion TEXT, tenantId TEXT, instanceId TEXT
    );";
const INDEX: &str = "CREATE INDEX stats_by_instance ON stats (instanceId, updatetime);";
const INSERT_BODY: &str = "INSERT INTO bodies (body) VALUES (?)";
const INSERT_ROW: &str = "INSERT INTO stats (
        id, computeTypeName, updatetime, username, processorCount, processorInUse, physicalMemory,
        availablePhysicalMemory, virtualMemory, availableVirtualMemory, memoryInUse, rootTotal, rootAvailable,
        userTotal, userAvailable, diskReads, diskWrites, networkReceived, networkSent, uptime, osVersion, tenantId,
        instanceId
    ) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";

impl SqliteSink {
    /// Creates the database in `folder`.
    ///
    /// # Panics
    /// When it cannot be created.
    #[must_use]
    pub fn create(folder: &Path, indexed: Indexed) -> Self {
        let connection = Connection::open(folder.join("bench.sqlite")).expect("a database");
        for (name, value) in [("journal_mode", "WAL"), ("synchronous", "FULL")] {
            connection
                .pragma_update(None, name, value)
                .expect("a setting");
        }
        connection.execute_batch(TABLES).expect("tables");
        if indexed == Indexed::Yes {
            connection.execute_batch(INDEX).expect("an index");
        }
        Self { connection }
    }

    fn commit<R>(
        &mut self,
        insert: &str,
        batch: &[R],
        put: impl Fn(&mut rusqlite::Statement<'_>, &R) -> rusqlite::Result<usize>,
    ) {
        let transaction = self.connection.transaction().expect("a transaction");
        {
            let mut statement = transaction.prepare_cached(insert).expect("a statement");
            for record in batch {
                put(&mut statement, record).expect("a row");
            }
        }
        transaction.commit().expect("a commit");
    }
}

impl Sink for SqliteSink {
    fn commit(&mut self, batch: &[Bytes]) {
        self.commit(INSERT_BODY, batch, |statement, body| {
            let text = std::str::from_utf8(body).expect("JSON");
            statement.execute([text])
        });
    }
}

impl Sink<StatsRow> for SqliteSink {
    fn commit(&mut self, batch: &[StatsRow]) {
        self.commit(INSERT_ROW, batch, |statement, row| {
            statement.execute(params![
                row.id,
                row.compute_type_name,
                row.updatetime,
                row.username,
                row.processor_count,
                row.processor_in_use,
                row.physical_memory,
                row.available_physical_memory,
                row.virtual_memory,
                row.available_virtual_memory,
                row.memory_in_use,
                row.root_total,
                row.root_available,
                row.user_total,
                row.user_available,
                row.disk_reads,
                row.disk_writes,
                row.network_received,
                row.network_sent,
                row.uptime,
                row.os_version,
                row.tenant_id,
                row.instance_id,
            ])
        });
    }
}
