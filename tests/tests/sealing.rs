//! Sealing: a finished day is merged once, invisibly to reads.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use deskfleet::{
    Clock, Engine, Event, HistoryQuery, ManualClock, Received, Record, StatsRecord, Stream,
    Timestamp,
};
use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};

const DAY: i64 = 86_400;
const DESKTOPS: [&str; 3] = ["ws-1", "ws-2", "ws-3"];
const HISTORY: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("history");

struct Fixture {
    engine: Engine,
    clock: ManualClock,
    commits: Arc<AtomicUsize>,
    folder: tempfile::TempDir,
}

impl Fixture {
    /// A day in which each record was filed by itself.
    fn after_a_day(records: i64) -> Self {
        let clock = ManualClock::new("2026-11-20T00:00:00Z".parse().unwrap());
        let commits = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&commits);
        let engine = Engine::builder()
            .clock(clock.clone())
            .seed(1)
            .observer(move |event: &Event<'_>| {
                if matches!(event, Event::Committed { .. }) {
                    counted.fetch_add(1, Ordering::SeqCst);
                }
            })
            .open_in_memory()
            .unwrap();
        let fixture = Self {
            engine,
            clock,
            commits,
            folder: tempfile::tempdir().unwrap(),
        };
        for number in 0..records {
            fixture.clock.advance_seconds(DAY / records - 1);
            for desktop in DESKTOPS {
                fixture.post(desktop, number, fixture.clock.now());
            }
            fixture.engine.file_pending().unwrap();
        }
        fixture
    }

    fn post(&self, desktop: &str, number: i64, time: Timestamp) {
        let record = StatsRecord {
            id: i32::try_from(number).ok(),
            instance_id: desktop.into(),
            update_time: Some(time),
            available_physical_memory: Some(number * number % 1000 * 4096),
            ..StatsRecord::default()
        };
        self.engine.record(Record::Stats(Box::new(record))).unwrap();
    }

    fn history(&self) -> Vec<Vec<Received>> {
        let all = |desktop| {
            self.engine.history(&HistoryQuery {
                limit: 10_000,
                ..HistoryQuery::new(Stream::Stats, desktop)
            })
        };
        DESKTOPS
            .iter()
            .map(|desktop| all(*desktop).unwrap().records)
            .collect()
    }

    /// Calls upkeep as often as a host does in a minute; returns the number of commits.
    fn maintain(&self) -> usize {
        let before = self.commits.load(Ordering::SeqCst);
        for _ in 0..60 {
            self.engine.maintain().unwrap();
        }
        self.commits.load(Ordering::SeqCst) - before
    }

    fn parts(&self) -> usize {
        let path = self.folder.path().join("copy.redb");
        self.engine.backup(&path).unwrap();
        let parts = count(&path);
        std::fs::remove_file(&path).unwrap();
        parts
    }
}

fn count(path: &Path) -> usize {
    let database = Database::open(path).unwrap();
    let transaction = database.begin_read().unwrap();
    let table = transaction.open_table(HISTORY).unwrap();
    table.iter().unwrap().count()
}

#[test]
fn finished_day_is_merged_once() {
    let fixture = Fixture::after_a_day(127);
    let before = fixture.history();
    assert_eq!(before.iter().map(Vec::len).sum::<usize>(), 3 * 127);
    fixture.maintain();
    assert_eq!(fixture.parts(), 3 * 7, "the day is not over");

    fixture.clock.advance_seconds(3600);
    fixture.maintain();
    fixture.clock.advance_seconds(3600);
    fixture.maintain();
    assert_eq!(fixture.parts(), 3);
    assert_eq!(fixture.history(), before);
    assert_eq!(
        fixture.engine.check().unwrap().problems,
        Vec::<String>::new()
    );
    assert_eq!(fixture.maintain(), 0, "there is nothing left to do");
}

#[test]
fn record_after_sealing_is_kept_beside_the_sealed_part() {
    let fixture = Fixture::after_a_day(20);
    fixture.clock.advance_seconds(DAY);
    fixture.maintain();
    assert_eq!(fixture.parts(), 3);
    let late = fixture.clock.now().plus_seconds(-DAY - DAY / 2);
    fixture.post("ws-2", 20, late);
    fixture.maintain();
    assert_eq!(fixture.parts(), 4);
    // Sent again, it is a repetition.
    fixture.post("ws-2", 20, late);
    fixture.engine.file_pending().unwrap();
    fixture.maintain();
    assert_eq!(fixture.parts(), 4);
    let history = fixture.history();
    assert_eq!(
        history.iter().map(Vec::len).collect::<Vec<_>>(),
        [20, 21, 20]
    );
    assert!(
        history
            .iter()
            .all(|records| records.is_sorted_by_key(|r| r.filed_at))
    );
    assert_eq!(
        fixture.engine.check().unwrap().problems,
        Vec::<String>::new()
    );
}

#[test]
fn day_is_sealed_and_removed_by_retention() {
    let fixture = Fixture::after_a_day(10);
    for day in 1..4 {
        fixture.clock.advance_seconds(DAY);
        for number in 0..7 {
            fixture.post("ws-1", number, fixture.clock.now().plus_seconds(number));
            fixture.engine.file_pending().unwrap();
        }
        fixture.maintain();
        assert_eq!(
            fixture.parts(),
            3 + day - 1 + 3,
            "the last day has three parts"
        );
    }
    for _ in 0..40 {
        fixture.clock.advance_seconds(DAY);
        fixture.maintain();
    }
    assert_eq!(fixture.parts(), 0);
}
