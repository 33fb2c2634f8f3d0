//! Accepted telemetry in the order of its receipt, from Rust.

use std::fmt;
use std::str::FromStr;

use crate::engine::Engine;
use crate::error::{EngineError, ErrorKind, Result};
use crate::model::Received;

/// A place in the order in which a store accepts telemetry; see [`Engine::accepted`]. As text it can be kept elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AcceptedPosition {
    /// The id of what is kept.
    id: u64,
    /// The number of the next block.
    next: u64,
}

impl fmt::Display for AcceptedPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}-{}", self.id, self.next)
    }
}

impl FromStr for AcceptedPosition {
    type Err = EngineError;

    /// # Errors
    /// [`ErrorKind::InvalidParameter`] on a text that is none.
    fn from_str(text: &str) -> Result<Self> {
        let parts = text.split_once('-').and_then(|(id, next)| {
            let is_hexadecimal = id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
            let is_decimal = next.bytes().all(|byte| byte.is_ascii_digit());
            let id = u64::from_str_radix(id, 16)
                .ok()
                .filter(|_| is_hexadecimal)?;
            Some((id, next.parse().ok().filter(|_| is_decimal)?))
        });
        let message =
            "not a position in the order of receipt; give the text of an `AcceptedPosition`";
        let invalid = || EngineError::new(ErrorKind::InvalidParameter, message);
        parts
            .map(|(id, next)| Self { id, next })
            .ok_or_else(invalid)
    }
}

/// Telemetry in the order of its receipt; see [`Engine::accepted`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Accepted {
    /// The records, the first accepted first.
    pub records: Vec<Received>,
    /// The place after them.
    pub position: AcceptedPosition,
    /// Whether records after the given place are not kept any more, are damaged, or are those of another store: read history again, then go on
    /// after `position`.
    pub missed: bool,
}

/// Telemetry in the order of its receipt.
impl Engine {
    /// Reads the telemetry that was accepted after a place, oldest first; without a place, from the oldest that is kept. For a
    /// program that copies telemetry elsewhere: each accepted record comes once, however late its own time is, also after a restart or a
    /// crash. Records that were sent twice come twice.
    ///
    /// It reads whole batches until it has `enough` records; at the end there are none. The store must be opened with
    /// [`EngineBuilder::keep_accepted`](crate::EngineBuilder::keep_accepted). A backup keeps none of it: a store that is opened from one starts with no records kept. A copy of the file that was put back
    /// in its place counts as the file itself.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use deskfleet::{Engine, StatsRecord};
    ///
    /// let engine = Engine::builder().keep_accepted(Duration::from_secs(86_400)).open_in_memory()?;
    /// engine.record(StatsRecord { instance_id: "ws-1".into(), ..StatsRecord::default() })?;
    /// let first = engine.accepted(None, 1000)?;
    /// assert_eq!(first.records.len(), 1);
    ///
    /// // Its own time is long ago, and still it comes next.
    /// let late = StatsRecord { update_time: Some("2020-01-01T00:00:00Z".parse()?), ..StatsRecord::default() };
    /// engine.record(late)?;
    /// let place = first.position.to_string();
    /// let second = engine.accepted(Some(place.parse()?), 1000)?;
    /// assert!(second.records.len() == 1 && !second.missed);
    /// assert!(engine.accepted(Some(second.position), 1000)?.records.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] when the store keeps none, [`ErrorKind::StorageUnavailable`] when it cannot be read,
    /// [`ErrorKind::Corrupted`] on a damaged batch, which the next filing sets aside.
    pub fn accepted(&self, after: Option<AcceptedPosition>, enough: usize) -> Result<Accepted> {
        let place = after.map(|position| (position.id, position.next));
        let (id, found, missed) = self.core().accepted(place, enough)?;
        Ok(Accepted {
            records: found.records,
            position: AcceptedPosition {
                id,
                next: found.next,
            },
            missed,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};
    use std::time::Duration;

    use super::*;
    use crate::clock::ManualClock;
    use crate::config::Config;
    use crate::model::{StatsRecord, TelemetrySelection, WriteClass};
    use crate::store::meta;
    use crate::store::table::{ALL_KEYS, Read as _, Step, Table};
    use crate::store::{Store, StoreOptions};
    use crate::timestamp::Timestamp;

    /// A folder with a store that keeps one filed record; with the place before it.
    fn filed(name: &str) -> (PathBuf, PathBuf, AcceptedPosition) {
        let folder = format!("deskfleet-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        std::fs::create_dir(&folder).unwrap();
        let path = folder.join("fleet.redb");
        let engine = keeping(&path);
        let begin = engine.accepted(None, 1).unwrap().position;
        let record = StatsRecord {
            instance_id: "ws-1".into(),
            ..StatsRecord::default()
        };
        engine.record(record).unwrap();
        engine.file_pending().unwrap();
        assert_eq!(engine.accepted(Some(begin), 1).unwrap().records.len(), 1);
        engine.close().unwrap();
        (folder, path, begin)
    }

    fn keeping(path: &Path) -> Engine {
        let builder = Engine::builder().clock(ManualClock::new(Timestamp::UNIX_EPOCH));
        let builder = builder.seed(1).keep_accepted(Duration::from_secs(60));
        builder.open(path).unwrap()
    }

    fn store(path: &Path) -> Store {
        let options = StoreOptions::from_config(&Config::default(), Timestamp::UNIX_EPOCH);
        Store::open_path(path, options).unwrap()
    }

    fn queue_rows(path: &Path) -> usize {
        let store = store(path);
        let mut rows = 0;
        let count = |_: &[u8], _: &[u8]| {
            rows += 1;
            Ok(Step::Continue(()))
        };
        let snapshot = store.snapshot().unwrap();
        snapshot.scan(Table::Queue, ALL_KEYS, count).unwrap();
        drop(snapshot);
        store.close(false).unwrap();
        rows
    }

    #[test]
    fn reader_learns_that_code_without_the_order_of_receipt_filed() {
        let (folder, path, begin) = filed("order");
        let store = store(&path);
        let filed = store.write(WriteClass::Essential, |tables| {
            let mut filed = meta::filed(tables)?;
            filed.below += 1;
            meta::set_filed(tables, &filed)
        });
        filed.unwrap();
        store.close(false).unwrap();
        let engine = keeping(&path);
        assert!(engine.accepted(Some(begin), 1).unwrap().missed);
        engine.close().unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn removal_leaves_no_row_of_what_was_kept_also_where_it_is_kept_no_longer() {
        for keeps in [true, false] {
            let (folder, path, begin) = filed(&format!("removed-{keeps}"));
            assert_eq!(queue_rows(&path), 1);
            let plain = Engine::builder().clock(ManualClock::new(Timestamp::UNIX_EPOCH));
            let engine = if keeps {
                keeping(&path)
            } else {
                plain.seed(1).open(&path).unwrap()
            };
            let selection = TelemetrySelection {
                instance_id: Some("ws-1".to_owned()),
                ..TelemetrySelection::default()
            };
            engine.remove_telemetry(&selection).unwrap();
            if keeps {
                let after = engine.accepted(Some(begin), 1).unwrap();
                assert!(after.missed && after.records.is_empty());
            }
            engine.close().unwrap();
            assert_eq!(queue_rows(&path), 0, "keeps: {keeps}");
            std::fs::remove_dir_all(&folder).unwrap();
        }
    }
}
