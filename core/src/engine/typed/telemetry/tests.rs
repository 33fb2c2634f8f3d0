//! Reads and crashes between the slices of a pass of filing.

use std::cell::Cell;
use std::io;
use std::sync::Arc;

use crate::clock::ManualClock;
use crate::engine::EngineBuilder;
use crate::model::{ActivityRecord, Nullable, StatsRecord, Stream, TelemetrySelection, Workspace};
use crate::mutation::{Derived, Removing};
use crate::store::disk::backends::{MemoryBackend, StorageBackend};
use crate::store::fleet::held_names::HeldNames;
use crate::store::meta;
use crate::store::telemetry::filing::Pass;
use crate::store::telemetry::rows::Rows;
use crate::store::telemetry::work::Work;
use crate::timestamp::Timestamp;

use super::*;

const DESKTOPS: i32 = 6;

/// What a store is on after its engine is gone.
#[derive(Debug, Clone, Default)]
struct Shared(Arc<MemoryBackend>);

impl StorageBackend for Shared {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read(offset, out)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write(offset, data)
    }
}

fn now() -> Timestamp {
    "2026-11-20T12:00:00Z".parse().unwrap()
}

fn builder() -> EngineBuilder {
    Engine::builder().clock(ManualClock::new(now())).seed(1)
}

fn text(text: &str) -> Nullable<String> {
    Nullable::Value(text.to_owned())
}

fn desktop(number: i32) -> String {
    // Of different lengths: the order of the keys is not that of the names.
    format!(
        "ws-{}",
        "1".repeat(usize::try_from(number).unwrap() % 3) + &number.to_string()
    )
}

/// Statistics; without a time nothing says that they are a repetition.
fn stats(number: i32, id: i32, time: Option<Timestamp>) -> Record {
    Record::Stats(Box::new(StatsRecord {
        id: Some(id),
        update_time: time,
        username: text(&format!("user{}", number % 4)),
        instance_id: text(&desktop(number)),
        ..StatsRecord::default()
    }))
}

fn activity(number: i32, id: i32) -> Record {
    Record::Activity(Box::new(ActivityRecord {
        id: Some(id),
        activity: text("Logon"),
        username: text(&format!("user{}", number % 4)),
        instance_id: text(&desktop(number)),
        ..ActivityRecord::default()
    }))
}

/// Records of every desktop on two days, in blocks of their own, some of them twice.
fn post(engine: &Engine, round: i32) {
    let time = |day: i64| Some(now().plus_seconds(i64::from(round) - day * 86_400));
    for number in 0..DESKTOPS {
        let records = [
            stats(number, round, None),
            stats(number, round, time(0)),
            stats(number, round, time(0)),
            stats(number, round, time(1)),
            activity(number, round),
        ];
        engine.record_all(&records).unwrap();
    }
    // Once more, in another block.
    engine.record(stats(0, round, time(0))).unwrap();
}

/// Those that [`post`] posts in one round, without repetitions.
const ROUND: u64 = 4 * DESKTOPS as u64;

/// All that reads show.
fn seen(engine: &Engine) -> Vec<String> {
    let mut seen = Vec::new();
    for number in 0..DESKTOPS {
        for stream in [Stream::Stats, Stream::Activity] {
            let query = HistoryQuery {
                limit: 3,
                ..HistoryQuery::new(stream, desktop(number))
            };
            let records = engine
                .all_history(query)
                .map(|record| format!("{:?}", record.unwrap()));
            seen.extend(records);
        }
        seen.push(format!(
            "{:?}",
            engine.user(&format!("user{number}")).unwrap()
        ));
    }
    let mut activities: Vec<_> = engine.activity_24_hours().unwrap();
    activities.sort_by_key(|view| format!("{view:?}"));
    seen.push(format!("{activities:?}"));
    seen
}

fn pass(engine: &Engine, slice_max: Work) -> Option<Pass> {
    let store = &engine.core().store;
    let begun = meta::filed(&store.snapshot().unwrap()).unwrap().pass;
    let blocks = store.queue().oldest_blocks(begun.as_ref());
    Pass::begin(&store.snapshot().unwrap(), blocks, slice_max, None).unwrap()
}

/// Prepares and writes the next slice; returns whether there was one.
fn write_slice(engine: &Engine, pass: &mut Pass) -> bool {
    let core = engine.core();
    let slice = pass.next_slice(&core.store.snapshot().unwrap()).unwrap();
    slice.map(|slice| core.run(slice).unwrap()).is_some()
}

/// The store as a crash leaves it, opened again.
fn crashed(engine: &Engine) -> Engine {
    let copy = Shared::default();
    engine.backup_to(copy.clone()).unwrap();
    builder().open_backend(copy).unwrap()
}

#[test]
fn each_record_is_seen_once_between_the_slices_of_a_pass_and_after_a_crash_there() {
    let buckets = 3 * usize::try_from(DESKTOPS).unwrap();
    for (rows, expected) in [(1, buckets), (8, buckets / 2), (1000, 1)] {
        let engine = builder().open_in_memory().unwrap();
        // Filed before: parts that the pass merges with.
        post(&engine, 0);
        engine.file_pending().unwrap();
        post(&engine, 1);
        let mut pass = pass(&engine, Work::new(rows, usize::MAX)).unwrap();
        // Behind the pass.
        post(&engine, 2);
        let (all, queued) = (seen(&engine), engine.queue_count());
        let mut slices = 0;
        while write_slice(&engine, &mut pass) {
            slices += 1;
            assert_eq!(seen(&engine), all, "after slice {slices}");
            let crashed = crashed(&engine);
            assert_eq!(seen(&crashed), all, "crashed after slice {slices}");
            assert!(crashed.queue_count() <= queued);
            let report = crashed.check().unwrap();
            assert_eq!(report.queued_records, crashed.queue_count());
            crashed.file_pending().unwrap();
            assert_eq!(seen(&crashed), all, "filed after slice {slices}");
            assert_eq!(crashed.queue_count(), 0);
            assert_eq!(crashed.check().unwrap().history_records, 3 * ROUND);
            assert!(crashed.check().unwrap().problems.is_empty());
        }
        assert_eq!(slices, expected, "slices of {rows} rows");
        engine.file_pending().unwrap();
        assert_eq!(engine.check().unwrap().history_records, 3 * ROUND);
    }
}

#[test]
fn crash_in_a_pass_that_went_on_after_a_crash_loses_nothing() {
    let mut engine = builder().open_in_memory().unwrap();
    post(&engine, 0);
    let all = seen(&engine);
    let mut crashes = 0;
    // A slice of one bucket, then a crash.
    while let Some(mut pass) = pass(&engine, Work::new(1, 1)) {
        assert!(write_slice(&engine, &mut pass));
        engine = crashed(&engine);
        assert_eq!(seen(&engine), all, "after crash {crashes}");
        crashes += 1;
    }
    assert_eq!(crashes, 3 * DESKTOPS);
    assert_eq!(engine.check().unwrap().history_records, ROUND);
}

#[test]
fn slice_that_was_prepared_before_another_was_written_does_nothing() {
    let engine = builder().open_in_memory().unwrap();
    post(&engine, 0);
    let all = seen(&engine);
    let max = Work::new(1, 1);
    let (mut first, mut second) = (pass(&engine, max).unwrap(), pass(&engine, max).unwrap());
    assert!(write_slice(&engine, &mut first));
    assert!(write_slice(&engine, &mut second));
    assert_eq!(seen(&engine), all);
    engine.file_pending().unwrap();
    assert_eq!(seen(&engine), all);
    assert_eq!(engine.check().unwrap().history_records, ROUND);
}

#[test]
fn hold_placed_while_a_removal_files_the_queue_keeps_what_it_names() {
    for hold_at in [0, 1] {
        let engine = builder().open_in_memory().unwrap();
        let workspace = Workspace {
            id: desktop(1),
            ..Workspace::default()
        };
        engine.put_workspace(workspace).unwrap();
        post(&engine, 0);
        let queued = engine.queue_count();
        let asked = Cell::new(0);
        let omit = |held: &HeldNames, rows: &Rows, row: usize| {
            if asked.replace(asked.get() + 1) == hold_at {
                engine.place_hold(&desktop(1), "A", None).unwrap();
            }
            !held.has_instance(rows.instance_id(row))
        };
        let filed = engine.core().file_all(&|| true, Some(&omit)).unwrap();
        let of = |stream| HistoryQuery::new(stream, desktop(1));
        let kept = Stream::ALL.map(|stream| engine.all_history(of(stream)).count());
        // One of its five repeats another.
        assert_eq!(filed, (queued, queued - 5));
        assert_eq!(kept.iter().sum::<usize>(), 4);
        assert_eq!(engine.queue_count(), 0);
    }
}

#[test]
fn removal_that_a_hold_interrupts_counts_what_was_removed_before() {
    let engine = builder().open_in_memory().unwrap();
    // Every second desktop is kept, and those are more than a slice writes.
    let sent: Vec<_> = (0..2000).map(|number| stats(number, 1, None)).collect();
    engine.record_all(&sent).unwrap();
    let workspace = Workspace {
        id: "held".to_owned(),
        ..Workspace::default()
    };
    engine.put_workspace(workspace).unwrap();
    let omit = |_: &HeldNames, rows: &Rows, row: usize| {
        rows.instance_id(row).ends_with(['1', '3', '5', '7', '9'])
    };
    let asked = Cell::new(0);
    let go_on = || {
        // Between the first slice and the second.
        if asked.replace(asked.get() + 1) == 1 {
            engine.place_hold("held", "A", None).unwrap();
        }
        true
    };
    let (filed, omitted) = engine.core().file_all(&go_on, Some(&omit)).unwrap();
    assert!(filed < 2000, "a second pass goes on: {filed}");
    assert_eq!(omitted, 1000);
    assert_eq!(engine.queue_count(), 0);
}

#[test]
fn nothing_is_filed_or_sealed_between_looking_up_and_removing() {
    let engine = builder().open_in_memory().unwrap();
    post(&engine, 0);
    engine.file_pending().unwrap();
    let core = engine.core();
    let selection = TelemetrySelection {
        stream: Some(Stream::Stats),
        ..TelemetrySelection::default()
    };
    for removing in [Removing::Selected(&selection), Removing::Old(now())] {
        let mut taken = 0;
        let of = Derived::History(Stream::Stats);
        core.each_span(of, removing, &|| true, &mut |_| {
            taken += 1;
            assert!(core.try_filing_turn().is_none());
            Ok(())
        })
        .unwrap();
        assert!(taken > 0 && core.try_filing_turn().is_some());
    }
}
