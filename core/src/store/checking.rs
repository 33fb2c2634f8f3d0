//! Checking the database itself, open or as a file.

use std::path::Path;

use redb::{Database, StorageBackend};

use crate::config::Config;
use crate::error::{ErrorKind, Result, error_chain};
use crate::timestamp::Timestamp;

use super::failure::{from_database, unavailable};
use super::opening::{self, caught};
use super::table::Snapshot;
use super::telemetry::queue::QueueIndex;
use super::verify::{CheckReport, verify};
use crate::store::StoreOptions;
use crate::store::disk::damage::DamageFile;
use crate::store::disk::file;
use crate::store::disk::folder::FileFolder;
use crate::store::disk::medium::Medium;
use crate::store::telemetry::queue_log;
use crate::store::telemetry::segments::{Available, SegmentLog};

/// Checks the file at `path` without changing a byte of it.
pub(crate) fn file(path: &Path) -> Result<CheckReport> {
    // The database is opened twice: redb must not be used after it found damage, and closing it uses it.
    let look_at_pages = |backend| caught(|| pages(&mut inspected(backend)?));
    let look_at_values = |backend| {
        let folder = FileFolder::beside(path).map_err(unavailable)?;
        let log = SegmentLog::new(Box::new(folder))?;
        let aside = DamageFile::beside(log.with_proof().0, path).map_err(unavailable)?;
        let mut report = caught(|| values(&inspected(backend)?, Some(log.with_proof())))?;
        report.problems.extend(aside.problem());
        Ok(report)
    };
    let checked = file::open_to_read(path, look_at_pages).and_then(|(pages, place)| {
        // Dropping it frees the file to be opened again.
        drop(place);
        let (mut report, _) = file::open_to_read(path, look_at_values)?;
        report.problems.splice(..0, pages);
        Ok(report)
    });
    match checked {
        Err(error) if error.kind() == ErrorKind::Corrupted => Ok(CheckReport::unreadable(&error)),
        checked => checked,
    }
}

/// Opens the backend as far as possible. Nothing is written, because the gate never opens.
fn inspected(backend: impl StorageBackend) -> Result<Database> {
    let options = StoreOptions {
        trust_file: true,
        ..StoreOptions::from_config(&Config::default(), Timestamp::UNIX_EPOCH)
    };
    opening::database(&Medium::new(backend, true)?, options).map(|(database, _)| database)
}

/// Compares every checksum; returns what is wrong.
pub(super) fn pages(database: &mut Database) -> Result<Option<String>> {
    match caught(|| database.check_integrity().map_err(from_database)) {
        Ok(true) => Ok(None),
        Ok(false) => Ok(Some(
            "the map of the free pages was wrong, and is made anew when the file is opened"
                .to_owned(),
        )),
        Err(error) if error.kind() == ErrorKind::Corrupted => Ok(Some(format!(
            "checksums differ: {}; rows that are not named below may hold wrong values",
            error_chain(&error)
        ))),
        Err(error) => Err(error),
    }
}

/// Reads every table, and the segments of the queue.
pub(super) fn values(
    database: &Database,
    log: Option<(Available, &SegmentLog)>,
) -> Result<CheckReport> {
    caught(|| {
        let snapshot = Snapshot::open(database)?;
        let mut report = verify(&snapshot);
        let mut queue = QueueIndex::default();
        // The report has the problems of the table.
        if queue.reload(&snapshot).is_ok() {
            match queue_log::check(&snapshot, log, &mut queue) {
                Ok(()) => {
                    report.queued_records = queue.records();
                    report.problems.extend(queue.damage());
                }
                Err(error) => report.problems.push(error_chain(&error)),
            }
        }
        Ok(report)
    })
}
