//! A store in memory: telemetry is acknowledged before its commit, invisibly to clients.

use std::sync::Barrier;
use std::thread;

use bytes::Bytes;
use deskfleet::limits::VOLATILE_RECORDS_MAX;
use deskfleet::{
    CommitDriver, Config, Engine, HistoryQuery, ManualClock, Stream, Upkeep, Workspace,
};
use deskfleet_tests::conformance::case::NOW;
use deskfleet_tests::disk::{Disk, Fault};
use deskfleet_tests::posting::{ids, post};
use http::Request;

fn volatile(disk: &Disk, configure: impl FnOnce(&mut Config)) -> Engine {
    let mut config = Config::default();
    configure(&mut config);
    Engine::builder()
        .clock(ManualClock::new(NOW.parse().unwrap()))
        .seed(1)
        .config(config)
        .upkeep(Upkeep::Host)
        .open_volatile(disk.backend())
        .unwrap()
}

fn records(engine: &Engine, count: usize) {
    for id in 0..count {
        assert_eq!(engine.handle(post(0, id)).status(), 200);
    }
}

/// Whether this read returns three records that no commit has stored yet.
fn sees_all(read: impl Fn(&Engine) -> usize) {
    let disk = Disk::new();
    let engine = volatile(&disk, |_| {});
    let before = disk.syncs();
    records(&engine, 3);
    assert_eq!(disk.syncs(), before, "a post alone commits nothing");
    assert_eq!(read(&engine), 3);
    assert!(disk.syncs() > before);
}

#[test]
fn volatile_read_sees_every_acknowledged_record() {
    sees_all(|engine| ids(engine, 0).len());
    sees_all(|engine| usize::try_from(engine.queue_count()).unwrap());
    sees_all(|engine| usize::try_from(engine.file_pending().unwrap()).unwrap());
    sees_all(|engine| {
        let request = Request::get("/api/Stats/queue/count").body(Bytes::new());
        let response = engine.handle(request.unwrap());
        str::from_utf8(response.body()).unwrap().parse().unwrap()
    });
    sees_all(|engine| {
        let copy = Disk::new();
        engine.backup_to(copy.backend()).unwrap();
        ids(&volatile(&copy, |_| {}), 0).len()
    });
    sees_all(|engine| {
        assert_eq!(engine.check().unwrap().problems, Vec::<String>::new());
        ids(engine, 0).len()
    });
    sees_all(|engine| {
        engine.maintain().unwrap();
        let page = engine.history(&HistoryQuery {
            limit: 10,
            ..HistoryQuery::new(Stream::Stats, "i-0")
        });
        page.unwrap().records.len()
    });
}

#[test]
fn unread_volatile_records_are_committed_at_the_bound() {
    let disk = Disk::new();
    let engine = volatile(&disk, |_| {});
    let before = disk.syncs();
    let bound = usize::try_from(VOLATILE_RECORDS_MAX).unwrap();
    records(&engine, bound - 1);
    assert_eq!(disk.syncs(), before);
    records(&engine, 1);
    assert!(disk.syncs() > before);
}

#[test]
fn close_commits_pending_records() {
    let disk = Disk::new();
    let engine = volatile(&disk, |_| {});
    records(&engine, 5);
    engine.close().unwrap();
    assert_eq!(volatile(&disk, |_| {}).queue_count(), 5);
}

#[test]
fn other_volatile_writes_return_after_their_commit() {
    let disk = Disk::new();
    let engine = volatile(&disk, |_| {});
    records(&engine, 1);
    disk.fail(Fault::Writes);
    let workspace = Workspace {
        id: "ws-1".into(),
        ..Workspace::default()
    };
    engine.put_workspace(workspace).unwrap_err();
}

#[test]
fn pending_volatile_records_count_in_the_queue() {
    let engine = volatile(&Disk::new(), |config| config.limits.queue_records = 3);
    records(&engine, 3);
    assert_eq!(engine.handle(post(0, 4)).status(), 503);
    engine.file_pending().unwrap();
    records(&engine, 1);
}

#[test]
fn concurrent_volatile_reads_see_acknowledged_records() {
    const THREADS: usize = 4;
    const POSTS: usize = 40;
    for driver in [
        CommitDriver::Caller,
        CommitDriver::Thread,
        CommitDriver::Host,
    ] {
        let engine = volatile(&Disk::new(), |config| config.commit_driver = driver);
        let start = Barrier::new(THREADS);
        thread::scope(|scope| {
            for instance in 0..THREADS {
                let (engine, start) = (engine.clone(), &start);
                scope.spawn(move || {
                    start.wait();
                    for id in 0..POSTS {
                        assert_eq!(engine.handle(post(instance, id)).status(), 200);
                        assert!(ids(&engine, instance).contains(&id), "{driver:?}");
                    }
                });
            }
        });
        assert_eq!(engine.queue_count(), (THREADS * POSTS) as u64);
    }
}
