//! Telemetry in the order of its receipt: each accepted record comes once, however late its own time is. The simulation reads it through
//! crashes and faults.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use deskfleet::cluster::MemoryLog;
use deskfleet::{
    AcceptedPosition, CommitDriver, Config, Engine, EngineBuilder, ErrorKind, ManualClock, Record,
    TelemetrySelection,
};
use deskfleet_tests::conformance::case::NOW;
use deskfleet_tests::conformance::fixtures::stats;
use tempfile::TempDir;

const DAY: u64 = 86_400;

fn clock() -> ManualClock {
    ManualClock::new(NOW.parse().unwrap())
}

fn plain(clock: &ManualClock) -> EngineBuilder {
    Engine::builder().clock(clock.clone()).seed(3)
}

fn keeping(clock: &ManualClock) -> EngineBuilder {
    plain(clock).keep_accepted(Duration::from_secs(2 * DAY))
}

fn post(engine: &Engine, id: i32, time: &str) {
    engine.record(stats("ws-1", "jdoe", id, time)).unwrap();
}

fn id(record: &Record) -> i32 {
    match record {
        Record::Stats(stats) => stats.id.unwrap(),
        other @ (Record::Activity(_) | Record::Startup(_) | Record::Processes(_)) => {
            panic!("no statistics: {other:?}")
        }
    }
}

/// Reads to the end from a place on; returns the ids, the place after them, and whether some were missed.
fn read(engine: &Engine, after: Option<AcceptedPosition>) -> (Vec<i32>, AcceptedPosition, bool) {
    let (mut ids, mut place, mut missed) = (Vec::new(), after, false);
    loop {
        let page = engine.accepted(place, 3).unwrap();
        missed |= page.missed;
        if page.records.is_empty() {
            return (ids, page.position, missed);
        }
        ids.extend(page.records.iter().map(|read| id(&read.record)));
        place = Some(page.position.to_string().parse().unwrap());
    }
}

#[test]
fn late_records_come_after_those_received_before_them_also_after_a_restart() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("fleet.redb");
    let clock = clock();
    let engine = keeping(&clock).open(&path).unwrap();
    assert!(read(&engine, None).0.is_empty());
    for (number, time) in [(1, NOW), (2, "2025-01-01T00:00:00Z"), (3, NOW)] {
        post(&engine, number, time);
    }
    let (first, place, _) = read(&engine, None);
    assert_eq!(first, [1, 2, 3]);
    engine.file_pending().unwrap();
    post(&engine, 4, "2025-01-01T00:00:00Z");
    assert_eq!(read(&engine, Some(place)).0, [4]);
    engine.close().unwrap();

    let engine = keeping(&clock).open(&path).unwrap();
    assert_eq!(
        read(&engine, Some(place)),
        (vec![4], read(&engine, None).1, false)
    );
    engine.file_pending().unwrap();
    post(&engine, 5, NOW);
    assert_eq!(read(&engine, Some(place)).0, [4, 5]);
    assert_eq!(
        read(&engine, None).0,
        [1, 2, 3, 4, 5],
        "what is filed is kept"
    );
    assert_eq!(engine.check().unwrap().problems, Vec::<String>::new());
    engine.close().unwrap();

    // Opened without: it is kept no longer.
    let engine = plain(&clock).open(&path).unwrap();
    let error = engine.accepted(Some(place), 1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration);
    post(&engine, 6, NOW);
    engine.maintain().unwrap();
    engine.close().unwrap();
    let engine = keeping(&clock).open(&path).unwrap();
    post(&engine, 7, NOW);
    let (ids, _, missed) = read(&engine, Some(place));
    assert_eq!((ids, missed), (vec![7], true));
}

#[test]
fn what_is_too_old_is_dropped_but_not_by_a_clock_that_is_ahead_for_a_while() {
    let clock = clock();
    let engine = keeping(&clock).open_in_memory().unwrap();
    let begin = read(&engine, None).1;
    post(&engine, 1, NOW);
    engine.maintain().unwrap();
    clock.advance_seconds(400 * 86_400);
    engine.maintain().unwrap();
    clock.set(NOW.parse().unwrap());
    for hour in 0..40 {
        clock.advance_seconds(3600);
        engine.maintain().unwrap();
        assert_eq!(read(&engine, Some(begin)).0, [1], "hour {hour}");
    }
    post(&engine, 2, NOW);
    for _ in 0..20 {
        clock.advance_seconds(3600);
        engine.maintain().unwrap();
    }
    let (ids, _, missed) = read(&engine, Some(begin));
    assert_eq!((ids, missed), (vec![2], true));
}

#[test]
fn removal_drops_what_is_kept_and_a_reader_at_the_end_misses_nothing() {
    let clock = clock();
    let engine = keeping(&clock).open_in_memory().unwrap();
    let begin = read(&engine, None).1;
    post(&engine, 1, NOW);
    engine.file_pending().unwrap();
    post(&engine, 2, NOW);
    let (ids, end, _) = read(&engine, Some(begin));
    assert_eq!(ids, [1, 2]);
    let selection = TelemetrySelection {
        instance_id: Some("ws-1".into()),
        ..TelemetrySelection::default()
    };
    engine.remove_telemetry(&selection).unwrap();
    assert_eq!(read(&engine, Some(begin)), (vec![], end, true));
    assert_eq!(read(&engine, Some(end)), (vec![], end, false));
    post(&engine, 3, NOW);
    assert_eq!(read(&engine, Some(end)).0, [3]);
}

#[test]
fn block_of_a_clock_that_was_ahead_does_not_keep_those_after_it() {
    let clock = clock();
    let engine = keeping(&clock).open_in_memory().unwrap();
    let begin = read(&engine, None).1;
    post(&engine, 1, NOW);
    clock.advance_seconds(3 * 365 * 86_400);
    post(&engine, 2, NOW);
    engine.file_pending().unwrap();
    clock.set(NOW.parse().unwrap());
    for number in 3..150 {
        clock.advance_seconds(3600);
        post(&engine, number, NOW);
        engine.maintain().unwrap();
    }
    let (ids, _, missed) = read(&engine, Some(begin));
    assert!(missed && ids.len() < 60, "{ids:?}");
}

#[test]
fn questions_to_a_read_only_store_leave_the_order_as_it_is() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("fleet.redb");
    let clock = clock();
    let engine = keeping(&clock).open(&path).unwrap();
    let begin = read(&engine, None).1;
    post(&engine, 1, NOW);
    engine.file_pending().unwrap();
    post(&engine, 2, NOW);
    engine.close().unwrap();
    let reader = plain(&clock).open_read_only(&path).unwrap();
    assert_eq!(read(&reader, Some(begin)).0, [1, 2]);
    let export = deskfleet::query::ExportQuery::new(deskfleet::Stream::Stats);
    assert_eq!(reader.export(export).count(), 2);
    let (ids, _, missed) = read(&reader, Some(begin));
    assert_eq!((ids, missed), (vec![1, 2], false));
}

#[test]
fn disk_that_is_short_of_space_keeps_nothing_that_is_filed() {
    let free = Arc::new(AtomicU64::new(u64::MAX));
    let probe = Arc::clone(&free);
    let engine = keeping(&clock()).free_space(move || Some(probe.load(Ordering::Relaxed)));
    let engine = engine.open_in_memory().unwrap();
    let begin = read(&engine, None).1;
    post(&engine, 1, NOW);
    engine.maintain().unwrap();
    assert_eq!(
        read(&engine, Some(begin)),
        (vec![1], read(&engine, None).1, false)
    );
    free.store(1, Ordering::Relaxed);
    engine.maintain().unwrap();
    let (ids, _, missed) = read(&engine, Some(begin));
    assert_eq!((ids, missed), (vec![], true));
}

#[test]
fn backup_keeps_nothing_and_gives_other_places() {
    let folder = TempDir::new().unwrap();
    let [path, copy] = ["fleet.redb", "copy.redb"].map(|name| folder.path().join(name));
    let clock = clock();
    let engine = keeping(&clock).open(path).unwrap();
    post(&engine, 1, NOW);
    engine.file_pending().unwrap();
    post(&engine, 2, NOW);
    engine.backup(&copy).unwrap();
    let (ids, place, _) = read(&engine, None);
    assert_eq!(ids, [1, 2]);
    let reader = keeping(&clock).open_read_only(&copy).unwrap();
    let error = reader.accepted(None, 1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration);
    drop(reader);
    let restored = keeping(&clock).seed(4).open(&copy).unwrap();
    post(&restored, 3, NOW);
    let (ids, _, missed) = read(&restored, Some(place));
    assert_eq!((ids, missed), (vec![2, 3], true));
}

/// Says that all is over when it is dropped, as by a panic.
struct Over<'f>(&'f AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn each_record_of_many_threads_comes_once_while_others_file() {
    const THREADS: i32 = 4;
    const EACH: i32 = 500;
    let folder = TempDir::new().unwrap();
    let mut config = Config::default();
    config.commit_driver = CommitDriver::Thread;
    let engine = keeping(&clock())
        .config(config)
        .open(folder.path().join("fleet.redb"))
        .unwrap();
    let is_over = AtomicBool::new(false);
    let mut ids = Vec::new();
    std::thread::scope(|scope| {
        // A failure must end the thread that files as well.
        let _over = Over(&is_over);
        let posting = [0, 1, 2, 3].map(|thread| {
            let engine = &engine;
            scope.spawn(move || {
                (0..EACH).for_each(|number| post(engine, thread * EACH + number, NOW));
            })
        });
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                engine.file_pending().unwrap();
            }
        });
        let mut place = None;
        let mut read_on = || {
            let (more, next, missed) = read(&engine, place);
            assert!(!missed);
            place = Some(next);
            ids.extend(more);
        };
        while !posting
            .iter()
            .all(std::thread::ScopedJoinHandle::is_finished)
        {
            read_on();
        }
        read_on();
    });
    let distinct: BTreeSet<_> = ids.iter().copied().collect();
    assert_eq!(distinct, (0..THREADS * EACH).collect());
    assert_eq!(ids.len(), distinct.len(), "none came twice");
    // The records of a thread come in the order in which it sent them.
    for thread in 0..THREADS {
        let own = ids.iter().filter(|id| *id / EACH == thread);
        assert!(own.is_sorted());
    }
    engine.close().unwrap();
}

#[test]
fn retention_of_another_node_drops_nothing_that_is_kept() {
    let clock = clock();
    let log = MemoryLog::new(clock.clone());
    let [one, two] = [1, 2].map(|seed| {
        let builder = keeping(&clock).seed(seed);
        let node = builder.log(log.clone(), format!("node-{seed}"));
        node.open_in_memory().unwrap()
    });
    post(&one, 1, NOW);
    one.file_pending().unwrap();
    let begin = read(&one, None);
    assert_eq!(begin.0, [1]);
    two.follow(Duration::ZERO).unwrap();
    post(&two, 2, NOW);
    two.apply_retention().unwrap();
    one.follow(Duration::ZERO).unwrap();
    let (ids, _, missed) = read(&one, Some(begin.1));
    assert_eq!((ids, missed), (vec![2], false));
    assert_eq!(read(&one, None).0, [1, 2]);
    // A removal on one drops it on all.
    let selection = TelemetrySelection {
        instance_id: Some("ws-1".into()),
        ..TelemetrySelection::default()
    };
    one.follow(Duration::ZERO).unwrap();
    two.follow(Duration::ZERO).unwrap();
    two.remove_telemetry(&selection).unwrap();
    one.follow(Duration::ZERO).unwrap();
    let (ids, _, missed) = read(&one, Some(begin.1));
    assert_eq!((ids, missed), (vec![], true));
}

#[test]
fn text_that_is_no_position_is_refused() {
    for text in [
        "",
        "-",
        "0123456789abcdef",
        "0123456789abcde-1",
        "0123456789abcdef-",
        "0123456789abcdef-+1",
        "+123456789abcdef-1",
        "0123456789abcdef-99999999999999999999",
    ] {
        let error = text.parse::<AcceptedPosition>().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidParameter, "{text}");
    }
}
