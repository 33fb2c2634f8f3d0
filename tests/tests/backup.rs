//! Backups beside writers: each is the store as of one commit, no earlier than its begin and no later than its end.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::SystemTime;

use bytes::Bytes;
use deskfleet::{
    AuditAction, CommitDriver, Config, Engine, Event, HistoryQuery, ManualClock, Record, Stream,
    Timestamp, Upkeep, Workspace,
};
use http::Request;

const WRITERS: usize = 3;
const COPIES: usize = 5;

fn open(file: &Path) -> Engine {
    let mut config = Config::default();
    config.commit_driver = CommitDriver::Thread;
    Engine::builder()
        .clock(SystemTime::now)
        .seed(1)
        .config(config)
        .upkeep(Upkeep::Host)
        .open(file)
        .unwrap()
}

/// Writes a workspace and then a record of it, repeatedly; `acknowledged` counts the pairs.
fn write(engine: &Engine, writer: usize, acknowledged: &AtomicU64, stop: &AtomicBool) {
    for number in 0.. {
        if stop.load(Ordering::SeqCst) {
            break;
        }
        let id = format!("w-{writer}-{number}");
        engine
            .put_workspace(Workspace {
                id: id.clone(),
                ..Workspace::default()
            })
            .unwrap();
        let body = format!(r#"{{"id":{number},"instanceId":"i-{writer}"}}"#);
        let request = Request::post("/api/Stats/Post")
            .header("content-type", "application/json")
            .body(Bytes::from(body))
            .unwrap();
        assert_eq!(engine.handle(request).status(), 200);
        acknowledged.store(number + 1, Ordering::SeqCst);
    }
}

/// The number of pairs of `writer` in a store: they are its first ones, and the last may lack its record.
fn pairs(engine: &Engine, writer: usize) -> u64 {
    let mut ids = Vec::new();
    let mut token = None;
    loop {
        let instance = format!("i-{writer}");
        let page = engine
            .history(&HistoryQuery {
                limit: 500,
                next_token: token.clone(),
                ..HistoryQuery::new(Stream::Stats, &instance)
            })
            .unwrap();
        ids.extend(page.records.iter().map(|received| {
            let id = match &received.record {
                Record::Stats(stats) => stats.id,
                Record::Activity(_) | Record::Startup(_) | Record::Processes(_) => None,
            };
            u64::from(id.unwrap().unsigned_abs())
        }));
        token = page.next_token;
        if token.is_none() {
            break;
        }
    }
    ids.sort_unstable();
    let records = ids.len() as u64;
    assert!(
        ids.into_iter().eq(0..records),
        "records are missing or there twice"
    );
    let has = |number: u64| {
        let id = format!("w-{writer}-{number}");
        engine.workspace(&id).unwrap().is_some()
    };
    assert!((0..records).all(has), "a record before its workspace");
    assert!(!has(records + 1), "a workspace after one that is missing");
    records
}

#[test]
fn backup_beside_writers_is_one_moment_of_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(&folder.path().join("fleet.redb"));
    let counts: [AtomicU64; WRITERS] = std::array::from_fn(|_| AtomicU64::new(0));
    let stop = AtomicBool::new(false);
    let now = || counts.each_ref().map(|count| count.load(Ordering::SeqCst));
    let bounds: Vec<_> = thread::scope(|scope| {
        for (writer, count) in counts.iter().enumerate() {
            let (engine, stop) = (&engine, &stop);
            scope.spawn(move || write(engine, writer, count, stop));
        }
        let copied = (0..COPIES).map(|copy| {
            // More must have been written meanwhile, and some of it filed.
            let before = now();
            while now()
                .iter()
                .zip(before)
                .any(|(now, before)| *now < before + 20)
            {
                thread::yield_now();
            }
            if copy % 2 == 1 {
                engine.file_pending().unwrap();
            }
            let earliest = now();
            engine.backup(folder.path().join(copy.to_string())).unwrap();
            (earliest, now())
        });
        let bounds = copied.collect();
        stop.store(true, Ordering::SeqCst);
        bounds
    });
    for (copy, (earliest, latest)) in bounds.into_iter().enumerate() {
        let restored = open(&folder.path().join(copy.to_string()));
        let report = restored.check().unwrap();
        assert_eq!(report.problems, Vec::<String>::new());
        for writer in 0..WRITERS {
            let pairs = pairs(&restored, writer);
            let bounds = earliest[writer]..=latest[writer] + 1;
            assert!(bounds.contains(&pairs), "{pairs} of {bounds:?}");
        }
        // It is a normal store: it can be written to and compacted.
        write(
            &restored,
            WRITERS,
            &AtomicU64::new(0),
            &AtomicBool::new(true),
        );
        restored
            .put_workspace(Workspace {
                id: "new".into(),
                ..Workspace::default()
            })
            .unwrap();
        restored.compact().unwrap();
        assert!(restored.workspace("new").unwrap().is_some());
        assert!(restored.check().unwrap().problems.is_empty());
    }
}

#[test]
fn first_start_on_a_copy_is_an_audit_row_and_an_event() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let made_at: Timestamp = "2026-11-20T12:00:00Z".parse().unwrap();
    let seen: Arc<Mutex<Vec<Timestamp>>> = Arc::default();
    let open = |driver| {
        let (note, mut config) = (Arc::clone(&seen), Config::default());
        config.commit_driver = driver;
        let observer = move |event: &Event<'_>| {
            if let Event::StartedOnCopy { made_at } = event {
                note.lock().unwrap().push(*made_at);
            }
        };
        let builder = Engine::builder().clock(ManualClock::new(made_at)).seed(1);
        builder
            .observer(observer)
            .config(config)
            .upkeep(Upkeep::Host)
    };
    let starts = |engine: &Engine| {
        let rows = engine.admin_activity(100).unwrap().into_iter();
        let starts = rows.filter(|row| row.action == AuditAction::StartOnCopy);
        starts.map(|row| row.detail.unwrap()).collect::<Vec<_>>()
    };
    let message = "the copy was made at 2026-11-20T12:00:00Z: later revocations of keys and holds are missing";
    let engine = open(CommitDriver::Caller).open(path("a")).unwrap();
    engine.backup(path("b")).unwrap();
    engine.close().unwrap();
    let again = open(CommitDriver::Caller).open(path("a")).unwrap();
    assert_eq!(starts(&again), [""; 0], "the original is no copy");
    let read = open(CommitDriver::Caller)
        .open_read_only(path("b"))
        .unwrap();
    assert_eq!(starts(&read), [""; 0]);
    read.close().unwrap();
    assert_eq!(*seen.lock().unwrap(), []);
    for (driver, starts_until_now) in [(CommitDriver::Thread, 1), (CommitDriver::Host, 1)] {
        let copy = open(driver).open(path("b")).unwrap();
        assert_eq!(starts(&copy), vec![message; starts_until_now]);
        assert_eq!(*seen.lock().unwrap(), vec![made_at; starts_until_now]);
        copy.close().unwrap();
    }
    // A copy of the copy is one again.
    let copy = open(CommitDriver::Caller).open(path("b")).unwrap();
    copy.backup(path("c")).unwrap();
    let copy = open(CommitDriver::Host).open(path("c")).unwrap();
    assert_eq!(starts(&copy), [message, message]);
}
