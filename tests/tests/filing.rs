//! Reads while records arrive and are filed: from its acknowledgement on, each record appears exactly once.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use deskfleet::limits::FILE_RECORDS_MAX;
use deskfleet::{
    ActivityRecord, CommitDriver, Config, Engine, ErrorKind, HistoryQuery, ManualClock, Record,
    StatsRecord, Stream,
};
use deskfleet_tests::conformance::case::NOW;
use deskfleet_tests::disk::Disk;
use deskfleet_tests::posting::engine;
use http::Request;

const POSTS: usize = 400;

/// A record without a time, which is never a repetition: if it appeared twice, it would be counted twice.
fn post(stream: Stream, id: usize) -> Request<Bytes> {
    let (path, body) = match stream {
        Stream::Activity => (
            "PostActivity",
            format!(r#"{{"id":{id},"instanceId":"i","username":"jdoe"}}"#),
        ),
        Stream::Stats | Stream::Startup | Stream::Processes => {
            ("Post", format!(r#"{{"id":{id},"instanceId":"i"}}"#))
        }
    };
    let request =
        Request::post(format!("/api/Stats/{path}")).header("content-type", "application/json");
    request.body(body.into()).unwrap()
}

/// Posts and files from two threads while `read` collects all records of `stream`, repeatedly.
fn each_record_is_seen_once(stream: Stream, read: impl Fn(&Engine) -> Vec<Record>) {
    let engine = engine(CommitDriver::Caller, Disk::new().backend());
    let (acknowledged, done) = (AtomicUsize::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            for id in 0..POSTS {
                assert_eq!(engine.handle(post(stream, id)).status(), 200);
                acknowledged.store(id + 1, Ordering::SeqCst);
            }
            done.store(true, Ordering::SeqCst);
        });
        scope.spawn(|| {
            while !done.load(Ordering::SeqCst) {
                engine.file_pending().unwrap();
            }
        });
        while !done.load(Ordering::SeqCst) {
            let at_least = acknowledged.load(Ordering::SeqCst);
            let records = read(&engine);
            let seen = records.len();
            assert!(
                seen >= at_least,
                "{seen} records seen, {at_least} acknowledged before"
            );
            let mut texts: Vec<_> = records.iter().map(|record| format!("{record:?}")).collect();
            texts.sort();
            texts.dedup();
            assert_eq!(texts.len(), seen, "a record was seen twice");
            let user = engine.user("jdoe").unwrap();
            assert!(
                at_least == 0 || stream != Stream::Activity || user.is_some(),
                "the user of an acknowledged record is known"
            );
        }
    });
}

#[test]
fn history_during_filing_shows_each_record_once() {
    each_record_is_seen_once(Stream::Stats, |engine| {
        let page = engine
            .history(&HistoryQuery {
                limit: 500,
                ..HistoryQuery::new(Stream::Stats, "i")
            })
            .unwrap();
        page.records
            .into_iter()
            .map(|received| received.record)
            .collect()
    });
}

#[test]
fn last_24_hours_during_filing_show_each_record_once() {
    each_record_is_seen_once(Stream::Activity, |engine| {
        let views = engine.activity_24_hours().unwrap();
        views.into_iter().map(|view| view.received.record).collect()
    });
}

/// Statistics with only a number.
fn stats(id: i32) -> Record {
    Record::Stats(Box::new(StatsRecord {
        id: Some(id),
        ..StatsRecord::default()
    }))
}

#[test]
fn maintain_with_a_full_step_pending_files_at_once() {
    const STEP: u64 = FILE_RECORDS_MAX as u64;
    let engine = engine(CommitDriver::Caller, Disk::new().backend());
    engine.record(stats(0)).unwrap();
    engine.maintain().unwrap();
    assert_eq!(engine.queue_count(), 0);
    let records: Vec<_> = (1..).map(stats).take(FILE_RECORDS_MAX - 1).collect();
    engine.record_all(&records).unwrap();
    engine.maintain().unwrap();
    assert_eq!(engine.queue_count(), STEP - 1);
    engine.record(stats(-1)).unwrap();
    engine.maintain().unwrap();
    assert_eq!(engine.queue_count(), 0);
    assert_eq!(engine.check().unwrap().history_records, STEP + 1);
}

#[test]
fn maintenance_asked_to_stop_ends_after_its_step() {
    let engine = engine(CommitDriver::Caller, Disk::new().backend());
    let records = FILE_RECORDS_MAX + 10_000;
    let records: Vec<_> = (0..).map(stats).take(records).collect();
    engine.record_all(&records).unwrap();
    let all = records.len() as u64;
    engine.maintain_while(|| false).unwrap();
    assert_eq!(engine.queue_count(), all);
    let filed = || engine.queue_count() < all;
    engine.maintain_while(|| !filed()).unwrap();
    let left = engine.queue_count();
    assert!((10_000..all).contains(&left), "{left} left after a step");
    assert_eq!(engine.file_pending().unwrap(), left);
    assert_eq!(engine.queue_count(), 0);
    assert_eq!(engine.check().unwrap().history_records, all);
}

#[test]
fn crash_in_a_pass_of_many_desktops_loses_and_doubles_nothing() {
    const DESKTOPS: usize = 1200;
    // Without a time, so that nothing says that one is a repetition.
    let activity = |id: usize| {
        Record::Activity(Box::new(ActivityRecord {
            id: i32::try_from(id).ok(),
            instance_id: format!("i-{id}").into(),
            username: format!("user{id}").into(),
            ..ActivityRecord::default()
        }))
    };
    let ids = |engine: &Engine| {
        let views = engine.activity_24_hours().unwrap();
        let mut ids: Vec<_> = views
            .iter()
            .map(|view| view.received.record.clone())
            .collect();
        ids.sort_by_key(|record| format!("{record:?}"));
        ids
    };
    let disk = Disk::crashing();
    let engine_of = |disk: &Disk| engine(CommitDriver::Caller, disk.backend());
    let engine = engine_of(&disk);
    let records: Vec<_> = (0..DESKTOPS).map(activity).collect();
    engine.record_all(&records).unwrap();
    let all = ids(&engine);
    assert_eq!(all.len(), DESKTOPS);
    let images = Mutex::new(Vec::new());
    let keep = || {
        images.lock().unwrap().push(disk.durable());
        true
    };
    engine.maintain_while(keep).unwrap();
    assert_eq!(engine.queue_count(), 0);
    let mut partly_filed = 0;
    for image in images.into_inner().unwrap() {
        let engine = engine_of(&Disk::holding(image));
        let report = engine.check().unwrap();
        partly_filed += usize::from(report.queued_records > 0 && report.history_records > 0);
        assert_eq!(
            report.queued_records + report.history_records,
            DESKTOPS as u64
        );
        assert_eq!(ids(&engine), all);
        engine.file_pending().unwrap();
        assert_eq!(ids(&engine), all);
        assert_eq!(engine.check().unwrap().history_records, DESKTOPS as u64);
    }
    assert!(partly_filed > 2, "{partly_filed}");
}

/// With a clock that stands still nothing is due: only the length of the queue has it filed.
#[test]
fn thread_of_upkeep_files_a_short_queue_before_it_is_full_for_long() {
    let mut config = Config::default();
    config.commit_driver = CommitDriver::Thread;
    config.limits.queue_records = 300;
    let clock = ManualClock::new(NOW.parse().unwrap());
    let builder = Engine::builder().clock(clock).seed(3).config(config);
    let engine = builder.open_in_memory().unwrap();
    let begun = Instant::now();
    for number in 0..100 {
        let records: Vec<Record> = (0..100).map(|id| stats(number * 100 + id)).collect();
        while let Err(error) = engine.record_all(&records) {
            assert_eq!(error.kind(), ErrorKind::QueueFull);
            assert!(begun.elapsed() < Duration::from_secs(20), "at {number}");
            thread::yield_now();
        }
    }
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(10), "{took:?}");
    engine.close().unwrap();
}
