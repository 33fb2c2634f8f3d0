//! Upkeep by a thread of the engine: who forgets `maintain` does not end with a full queue.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use deskfleet::{
    CommitDriver, Config, Engine, EngineBuilder, ErrorKind, Event, ManualClock, StatsRecord, Upkeep,
};
use deskfleet_tests::conformance::case::NOW;

/// Longer than anything here takes on a busy host.
const PATIENCE: Duration = Duration::from_secs(60);

fn until(what: &str, holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        thread::sleep(Duration::from_millis(10));
    }
}

fn builder() -> EngineBuilder {
    let mut config = Config::default();
    config.commit_driver = CommitDriver::Thread;
    config.limits.queue_records = 100;
    Engine::builder().seed(7).config(config)
}

fn frozen() -> ManualClock {
    ManualClock::new(NOW.parse().unwrap())
}

/// Records until the queue is full.
fn fill(engine: &Engine) {
    let record = |id| StatsRecord {
        id: Some(id),
        instance_id: "ws-1".into(),
        ..StatsRecord::default()
    };
    for id in 0..1000 {
        if let Err(refusal) = engine.record(record(id)) {
            assert_eq!(refusal.kind(), ErrorKind::QueueFull);
            return;
        }
    }
    panic!("the queue is never full");
}

#[test]
fn engine_with_commit_thread_files_a_full_queue_without_a_call_of_the_host() {
    let engine = builder().clock(frozen()).open_in_memory().unwrap();
    fill(&engine);
    until("filed by upkeep", || engine.queue_count() == 0);
    engine.record(StatsRecord::default()).unwrap();
}

#[test]
fn engine_with_upkeep_of_the_host_stays_full_until_it_calls() {
    let builder = builder().clock(frozen()).upkeep(Upkeep::Host);
    let engine = builder.open_in_memory().unwrap();
    fill(&engine);
    thread::sleep(Duration::from_millis(1500));
    assert_eq!(engine.queue_count(), 100);
    engine.maintain().unwrap();
    assert_eq!(engine.queue_count(), 0);
}

#[test]
fn caller_that_commits_can_have_a_thread_for_upkeep() {
    let mut config = Config::default();
    config.limits.queue_records = 100;
    let builder = builder().config(config).clock(frozen());
    let engine = builder.upkeep(Upkeep::Thread).open_in_memory().unwrap();
    fill(&engine);
    until("filed by upkeep", || engine.queue_count() == 0);
}

#[test]
fn upkeep_thread_ends_with_close_and_with_the_last_clone() {
    for closes in [true, false] {
        let held = Arc::new(());
        let in_observer = Arc::clone(&held);
        let builder = builder().clock(frozen()).observer(move |_: &Event<'_>| {
            let _ = &in_observer;
        });
        let engine = builder.open_in_memory().unwrap();
        let begun = Instant::now();
        if closes {
            engine.close().unwrap();
        }
        drop(engine);
        // What the engine was given is dropped with the last of its threads.
        assert_eq!(Arc::strong_count(&held), 1);
        assert!(begun.elapsed() < PATIENCE);
    }
}

#[test]
fn upkeep_that_panics_is_reported_and_goes_on() {
    let failing = Arc::new(AtomicBool::new(true));
    let reported = Arc::new(Mutex::new(Vec::new()));
    let (fails, kinds) = (Arc::clone(&failing), Arc::clone(&reported));
    let clock = move || {
        let is_upkeep = thread::current().name() == Some("deskfleet-upkeep");
        let panics = is_upkeep && fails.load(Ordering::SeqCst);
        assert!(!panics, "as the test wants it");
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_000_000)
    };
    let builder = builder().clock(clock).observer(move |event: &Event<'_>| {
        if let Event::UpkeepFailed { error } = event {
            kinds.lock().unwrap().push(error.kind());
        }
    });
    let engine = builder.open_in_memory().unwrap();
    fill(&engine);
    until("reported", || !reported.lock().unwrap().is_empty());
    failing.store(false, Ordering::SeqCst);
    until("filed once the clock works", || engine.queue_count() == 0);
    assert_eq!(*reported.lock().unwrap(), [ErrorKind::Internal]);
}
