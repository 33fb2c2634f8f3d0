//! What a response in chunks costs: counted, not timed.

use std::cell::Cell;

use crate::clock::ManualClock;
use crate::engine::Engine;
use crate::error::Result;
use crate::limits::NEWEST_WINDOW_BYTES;
use crate::model::{ActivityRecord, Record};
use crate::store::table::{KeyRange, Read, Snapshot, Step, Table};
use crate::store::telemetry::newest::NewestFirst;
use crate::timestamp::Timestamp;

/// A snapshot that counts the rows it shows.
struct Counting<'c> {
    snapshot: Snapshot,
    rows: &'c Cell<usize>,
}

impl Read for Counting<'_> {
    fn get<R>(
        &self,
        table: Table,
        key: &[u8],
        read: impl FnOnce(&[u8]) -> Result<R>,
    ) -> Result<Option<R>> {
        self.rows.set(self.rows.get() + 1);
        self.snapshot.get(table, key, read)
    }

    fn walk(
        &self,
        table: Table,
        range: KeyRange<'_>,
        back: bool,
        mut visit: impl FnMut(&[u8], &[u8]) -> Result<Step>,
    ) -> Result<()> {
        self.snapshot.walk(table, range, back, |key, value| {
            self.rows.set(self.rows.get() + 1);
            visit(key, value)
        })
    }
}

#[derive(Debug)]
struct Cost {
    looks: usize,
    rows: usize,
    memory_max: usize,
}

/// Reads `count` activities of `instances` instances, each `age` ticks old.
fn cost(count: i32, instances: i32, age: impl Fn(i64) -> i64) -> Cost {
    let now: Timestamp = "2026-11-20T23:00:00Z".parse().unwrap();
    let engine = Engine::builder()
        .clock(ManualClock::new(now))
        .seed(1)
        .open_in_memory()
        .unwrap();
    let records: Vec<_> = (0..count)
        .map(|id| {
            let back = age(id.into());
            Record::Activity(Box::new(ActivityRecord {
                id: Some(id),
                username: format!("user{}", id % instances).as_str().into(),
                activity_time: Some(Timestamp::from_ticks(now.ticks() - back)),
                instance_id: format!("ws-{}", id % instances).as_str().into(),
                ..ActivityRecord::default()
            }))
        })
        .collect();
    engine.record_all(&records).unwrap();
    while engine.file_pending().unwrap() > 0 {}
    let core = engine.core();
    let span = (now.plus_seconds(-24 * 3600), now);
    let mut newest = NewestFirst::new(span);
    let rows = Cell::new(0);
    let (mut looks, mut memory_max, mut found) = (0, 0, 0);
    while newest.needs_look() {
        let open = || {
            let snapshot = core.reader()?.snapshot;
            let rows = &rows;
            Ok((Counting { snapshot, rows }, Vec::new()))
        };
        newest.load_next(open).unwrap();
        looks += 1;
        memory_max = memory_max.max(newest.memory());
        while newest.take_next().is_some() {
            found += 1;
        }
    }
    assert_eq!(found, count);
    Cost {
        looks,
        rows: rows.get(),
        memory_max,
    }
}

/// How old the record with a number is, in ticks.
type Age = fn(i64) -> i64;

/// Whether the times are spread, all the same or in bursts, a look finds thousands of records, and reads few rows that another one reads.
#[test]
fn activities_of_a_day_take_few_looks_and_a_window_of_memory() {
    const COUNT: i32 = 12_000;
    const SECOND: i64 = 10_000_000;
    let same = |_| 0;
    let spread = |id| id * 3 * SECOND;
    // 1500 records in one second of each hour.
    let bursts = |id| id / 1500 * 3600 * SECOND + id % 1500;
    // The rows of the table that hold the records of one moment, which each look reads.
    let ages: [(Age, usize); 3] = [(same, 400), (spread, 10), (bursts, 60)];
    for (place, (age, same_rows)) in ages.into_iter().enumerate() {
        for instances in [12_000, 3] {
            let cost = cost(COUNT, instances, age);
            let case = format!("{instances} instances, ages {place}: {cost:?}");
            assert!(cost.looks <= 6, "{case}");
            assert!(cost.rows <= 400 + cost.looks * same_rows, "{case}");
            assert!(cost.memory_max <= NEWEST_WINDOW_BYTES, "{case}");
        }
    }
}
