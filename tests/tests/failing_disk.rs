//! Disks that fail during a commit: a batch is acknowledged as a whole or not at all, and acknowledged data stays.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use deskfleet::{
    ActivityRecord, CommitDriver, Engine, ErrorKind, Event, ManualClock, Record, WorkspaceQuery,
};
use deskfleet_tests::conformance::case::NOW;
use deskfleet_tests::conformance::fixtures::{desk, fleet};
use deskfleet_tests::disk::{Disk, Fault, Operation};
use deskfleet_tests::files::{Part, Queue};
use deskfleet_tests::posting::{batch_status, engine, engine_on, ids, post};

/// Records that each thread posts.
const POSTS: usize = 25;

/// Fails the n-th write or sync of a batch, for every n until the batch succeeds: all of it returns 503 or all of it
/// 200, no acknowledged record is lost by a power cut, and after the repair the engine goes on.
fn failing_batches(fault: fn(u64) -> Fault) {
    for queue in Queue::ALL {
        failing_batches_of(queue, fault);
    }
}

fn failing_batches_of(queue: Queue, fault: fn(u64) -> Fault) {
    let mut failed = 0;
    for n in 0.. {
        let disk = Disk::crashing();
        let store = engine_on(CommitDriver::Host, queue, &disk);
        assert_eq!(batch_status(&store, &[post(0, 0)]), 200);
        disk.fail(fault(n));
        let batch: Vec<_> = (1..=5).map(|id| post(0, id)).collect();
        let status = batch_status(&store, &batch);
        disk.fail(Fault::None);
        let expected: Vec<usize> = if status == 200 {
            (0..=5).collect()
        } else {
            vec![0]
        };
        if status == 200 {
            assert_eq!(ids(&store, 0), expected);
        }
        assert_eq!(batch_status(&store, &[post(1, 7)]), 200);
        let cut = Disk::holding(disk.durable());
        drop(store);
        let reopened = engine_on(CommitDriver::Caller, queue, &cut);
        let held = ids(&reopened, 0);
        assert!(
            expected.iter().all(|id| held.contains(id)),
            "fault {n}: acknowledged {expected:?}, held {held:?}"
        );
        assert!(
            held.len() == 1 || held.len() == 6,
            "fault {n}: half a batch: {held:?}"
        );
        assert_eq!(
            ids(&reopened, 1),
            [7],
            "fault {n}: the record after the repair"
        );
        assert_eq!(
            reopened.check().unwrap().problems,
            Vec::<String>::new(),
            "fault {n}"
        );
        if status == 200 {
            break;
        }
        failed += 1;
    }
    assert!(failed > 0, "no fault was ever hit");
}

#[test]
fn nth_write_failure_keeps_acknowledged_writes() {
    failing_batches(Fault::Write);
}

#[test]
fn nth_sync_failure_keeps_acknowledged_writes() {
    failing_batches(Fault::Sync);
}

/// Threads post while the disk fails and is repaired; each keeps its acknowledged records.
#[test]
fn failing_disk_under_many_threads_keeps_acknowledged_records() {
    for queue in Queue::ALL {
        many_threads(queue);
    }
}

fn many_threads(queue: Queue) {
    let disk = Disk::crashing();
    let store = engine_on(CommitDriver::Caller, queue, &disk);
    let acknowledged: Vec<Vec<usize>> = thread::scope(|scope| {
        let spawn = |instance: usize| {
            let (store, disk) = (store.clone(), disk.clone());
            scope.spawn(move || {
                let mut good = Vec::new();
                for id in 0..POSTS {
                    if instance == 0 && id % 8 == 4 {
                        disk.fail(Fault::Sync(0));
                    }
                    let status = store.handle(post(instance, id)).status();
                    assert!(status == 200 || status == 503, "{status}");
                    if status == 200 {
                        good.push(id);
                    }
                    if instance == 0 && id % 8 == 6 {
                        disk.fail(Fault::None);
                    }
                }
                good
            })
        };
        let threads: Vec<_> = (0..4).map(spawn).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    disk.fail(Fault::None);
    let cut = Disk::holding(disk.durable());
    drop(store);
    let reopened = engine_on(CommitDriver::Caller, queue, &cut);
    for (instance, good) in acknowledged.iter().enumerate() {
        let held = ids(&reopened, instance);
        assert!(
            good.iter().all(|id| held.contains(id)),
            "instance {instance}: acknowledged {good:?}, held {held:?}"
        );
    }
    assert!(
        acknowledged.iter().any(|good| good.len() < POSTS),
        "the disk failed for one thread at least"
    );
}

/// The number of listed workspaces.
fn listed(engine: &Engine) -> usize {
    let mut count = 0;
    let mut token = None;
    loop {
        let page = engine
            .workspaces(&WorkspaceQuery {
                limit: 500,
                next_token: token.clone(),
                ..WorkspaceQuery::default()
            })
            .unwrap();
        count += page.workspaces.len();
        token = page.next_token;
        if token.is_none() {
            return count;
        }
    }
}

/// A bulk upsert is all or nothing per 1000, wherever the disk breaks and the power goes.
#[test]
fn bulk_upsert_on_a_failing_disk_leaves_whole_transactions() {
    let mut failed = 0;
    for n in 0.. {
        let disk = Disk::crashing();
        let store = engine(CommitDriver::Caller, disk.backend());
        disk.fail(Fault::Sync(n));
        let result = store.put_workspaces(fleet(2500).collect());
        disk.fail(Fault::None);
        drop(store);
        disk.lose_unsynced();
        let count = listed(&engine(CommitDriver::Caller, disk.backend()));
        assert!(
            matches!(count, 0 | 1000 | 2000 | 2500),
            "fault {n}: {count} workspaces"
        );
        if let Ok(upserted) = result {
            assert_eq!((upserted, count), (2500, 2500));
            break;
        }
        failed += 1;
    }
    assert!(failed > 0, "the disk never broke");
}

/// A clock that is forty days ahead advances retention by a day an hour, not by a day for each attempt to continue a
/// sweep.
#[test]
fn failed_sweeps_under_a_clock_ahead_advance_retention_by_a_day_an_hour() {
    let disk = Disk::new();
    let clock = ManualClock::new(NOW.parse().unwrap());
    let (breaking, begun) = (disk.clone(), AtomicBool::new(false));
    // The disk fails once the start of a sweep is stored.
    let observer = move |event: &Event<'_>| {
        if matches!(event, Event::RetentionBehind { .. }) {
            begun.store(true, Ordering::Relaxed);
        } else if matches!(event, Event::Committed { .. }) && begun.swap(false, Ordering::Relaxed) {
            breaking.fail(Fault::Writes);
        }
    };
    let builder = Engine::builder().clock(clock.clone()).seed(7);
    let backend = disk.backend();
    let engine = builder.observer(observer).open_backend(backend).unwrap();
    assert_eq!(batch_status(&engine, &[post(0, 1)]), 200);
    // Removed after seven days, as soon as the disk works.
    let terminated = desk("ws-1", "TERMINATED", "jdoe");
    engine.put_workspace(terminated).unwrap();
    engine.file_pending().unwrap();
    engine.maintain().unwrap();
    clock.advance_seconds(40 * 86_400);
    engine.maintain().unwrap();
    let mut failed = 0;
    for attempt in 0..50 {
        clock.advance_seconds(if attempt < 10 { 3600 } else { 0 });
        failed += u32::from(engine.maintain().is_err());
        disk.fail(Fault::None);
    }
    assert!(failed > 0, "no sweep was cut off");
    assert_eq!(ids(&engine, 0), [1], "after {failed} sweeps that failed");
    clock.advance_seconds(3600);
    let _ = engine.maintain();
    disk.fail(Fault::None);
    assert_eq!(ids(&engine, 0), [1], "after {failed} sweeps that failed");
}

#[test]
fn engine_that_cannot_file_is_not_ready_until_it_can() {
    let disk = Disk::new();
    let builder = Engine::builder().clock(ManualClock::new(NOW.parse().unwrap()));
    let engine = builder
        .seed(7)
        .open_backend_with_queue(disk.backend(), disk.folder())
        .unwrap();
    let record = ActivityRecord {
        instance_id: "ws-1".into(),
        ..ActivityRecord::default()
    };
    engine.record(Record::Activity(Box::new(record))).unwrap();
    engine.ready().unwrap();
    disk.fail_part(Part::Queue, Fault::From(Operation::Read, 0));
    for _ in 0..2 {
        let failed = engine.file_pending().unwrap_err();
        assert_eq!(failed.kind(), ErrorKind::StorageUnavailable);
        assert_eq!(engine.ready().unwrap_err().to_string(), failed.to_string());
    }
    disk.fail(Fault::None);
    assert_eq!(engine.file_pending().unwrap(), 1);
    engine.ready().unwrap();
}
