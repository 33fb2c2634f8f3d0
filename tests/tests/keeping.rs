//! Changes around the file of an open engine: it is removed, replaced, opened twice, or the disk fills up.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use deskfleet::{
    CommitDriver, Config, Engine, EngineBuilder, ErrorKind, Event, ManualClock, NewKey, Scope,
};
use deskfleet_tests::conformance::case::NOW;
use deskfleet_tests::posting::{ids, post};
use http::Request;
use tempfile::TempDir;

const MIB: u64 = 1024 * 1024;

fn builder() -> EngineBuilder {
    Engine::builder()
        .clock(ManualClock::new(NOW.parse().unwrap()))
        .seed(7)
}

fn status(engine: &Engine, id: usize) -> u16 {
    engine.handle(post(0, id)).status().as_u16()
}

fn key(engine: &Engine, name: &str) -> deskfleet::IssuedKey {
    let key = NewKey {
        name: name.to_owned(),
        scopes: [Scope::Admin].into_iter().collect(),
        expires: None,
    };
    engine.issue_key(key).unwrap()
}

#[test]
fn writes_with_the_file_removed_or_replaced_return_503_until_it_is_back() {
    let folder = TempDir::new().unwrap();
    let (path, away) = (folder.path().join("a.redb"), folder.path().join("b.redb"));
    let said: Arc<Mutex<Vec<String>>> = Arc::default();
    let note = Arc::clone(&said);
    let observer = move |event: &Event<'_>| {
        if let Event::FileDisplaced { error } = event {
            note.lock().unwrap().push(error.to_string());
        }
        if matches!(event, Event::FileReturned) {
            note.lock().unwrap().push("returned".to_owned());
        }
    };
    let engine = builder().observer(observer).open(&path).unwrap();
    assert_eq!(status(&engine, 1), 200);
    engine.ready().unwrap();
    for replaced in [false, true] {
        fs::rename(&path, &away).unwrap();
        if replaced {
            fs::write(&path, "another file").unwrap();
        }
        assert_eq!(status(&engine, 2), 503);
        let not_ready = engine.ready().unwrap_err();
        assert_eq!(not_ready.kind(), ErrorKind::StorageUnavailable);
        for _ in 0..2 {
            let refused = engine.maintain().unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::StorageUnavailable);
        }
        assert_eq!(ids(&engine, 0), [1], "reads go on");
        let copy = folder.path().join(format!("copy-{replaced}"));
        engine.backup(&copy).unwrap();
        assert_eq!(ids(&builder().open(copy).unwrap(), 0), [1]);
        fs::rename(&away, &path).unwrap();
        assert_eq!(status(&engine, 1), 200);
        engine.ready().unwrap();
        engine.maintain().unwrap();
    }
    let said = said.lock().unwrap();
    assert_eq!(said.len(), 4, "reported once each time: {said:?}");
    assert!(said[0].contains("removed or renamed"), "{said:?}");
    assert!(said[2].contains("another file"), "{said:?}");
    assert_eq!(
        (said[1].as_str(), said[3].as_str()),
        ("returned", "returned")
    );
}

/// An engine whose disk has this much free space.
fn with_space(driver: CommitDriver) -> (Engine, Arc<AtomicU64>) {
    let free = Arc::new(AtomicU64::new(32 * MIB));
    let reported = Arc::clone(&free);
    let mut config = Config::default();
    config.commit_driver = driver;
    let builder = builder().config(config);
    let builder = builder.free_space(move || Some(reported.load(Ordering::SeqCst)));
    (builder.open_in_memory().unwrap(), free)
}

fn is_low<T>(result: deskfleet::Result<T>) -> bool {
    result.is_err_and(|error| error.kind() == ErrorKind::LowDisk)
}

#[test]
fn low_disk_stops_writes_and_not_revocation_filing_or_retention() {
    let (engine, free) = with_space(CommitDriver::Caller);
    let keys = ["a", "b", "c"].map(|name| key(&engine, name));
    assert_eq!(status(&engine, 1), 200);
    free.store(32 * MIB - 1, Ordering::SeqCst);
    assert_eq!(status(&engine, 2), 503);
    assert!(is_low(engine.ready()));
    engine.revoke_key(keys[0].info.id).unwrap();
    assert_eq!(engine.file_pending().unwrap(), 1);
    engine.maintain().unwrap();
    engine.apply_retention().unwrap();
    free.store(4 * MIB, Ordering::SeqCst);
    engine.revoke_key(keys[1].info.id).unwrap();
    free.store(4 * MIB - 1, Ordering::SeqCst);
    assert!(is_low(engine.revoke_key(keys[2].info.id)));
    assert!(is_low(engine.apply_retention()));
    // A last use that is still to be stored must not make it fail.
    let list = Request::get("/operator/keys").header("x-api-key", &keys[2].secret);
    let list = list.body(Bytes::new()).unwrap();
    assert_eq!(engine.handle(list).status(), 200);
    engine.close().unwrap();
}

#[test]
fn revocation_beside_posts_on_a_low_disk_succeeds_and_posts_fail() {
    let (engine, free) = with_space(CommitDriver::Host);
    let [issued, _] = ["a", "b"].map(|name| key(&engine, name));
    let revoke = Request::delete(format!("/operator/keys/{}", issued.info.id));
    let revoke = revoke.header("x-api-key", &issued.secret);
    let revoke = revoke.body(Bytes::new()).unwrap();
    free.store(5 * MIB, Ordering::SeqCst);
    let requests = [post(0, 1), revoke, post(0, 2)];
    let mut futures = requests.map(|request| Box::pin(engine.call(request)));
    engine.commit_pending();
    let statuses = futures.each_mut().map(|future| {
        let mut context = Context::from_waker(Waker::noop());
        match future.as_mut().poll(&mut context) {
            Poll::Ready(response) => response.status().as_u16(),
            Poll::Pending => panic!("the commit is over"),
        }
    });
    assert_eq!(statuses, [503, 200, 503]);
    assert_eq!(engine.queue_count(), 0);
}

#[test]
fn file_opened_twice_in_one_process_is_already_open() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.redb");
    let engine = builder().open(&path).unwrap();
    let again = builder().open(&path).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::AlreadyOpen);
    assert!(again.to_string().contains("in this process"), "{again}");
    engine.close().unwrap();
    let second = builder().open(&path).unwrap();
    drop(engine);
    let again = builder().open(&path).unwrap_err().to_string();
    assert!(again.contains("in this process"), "{again}");
    drop(second);
    builder().open(&path).unwrap();
}

fn bytes_of(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap()
}

#[test]
fn read_only_engine_reads_copies_and_changes_no_byte() {
    let folder = TempDir::new().unwrap();
    let (path, crashed) = (folder.path().join("a.redb"), folder.path().join("b.redb"));
    let engine = builder().open(&path).unwrap();
    let issued = key(&engine, "a");
    assert_eq!(status(&engine, 1), 200);
    fs::copy(&path, &crashed).unwrap();
    let segment = |name: &str| folder.path().join(name).join("000000.segment");
    fs::create_dir(folder.path().join("b.redb-queue")).unwrap();
    fs::copy(segment("a.redb-queue"), segment("b.redb-queue")).unwrap();
    drop(engine);
    let queued = bytes_of(&segment("b.redb-queue"));
    for path in [path, crashed] {
        let before = bytes_of(&path);
        let engine = builder().open_read_only(&path).unwrap();
        assert_eq!(ids(&engine, 0), [1]);
        assert_eq!(engine.keys().len(), 1);
        engine.pending_actions().unwrap();
        let list = Request::get("/operator/keys").header("x-api-key", &issued.secret);
        let list = list.body(Bytes::new()).unwrap();
        assert_eq!(engine.handle(list).status(), 200);
        assert_eq!(status(&engine, 2), 503);
        assert!(engine.compact().is_err());
        let copy = path.with_extension("copy");
        engine.backup(&copy).unwrap();
        engine.close().unwrap();
        assert_eq!(bytes_of(&path), before, "{}", path.display());
        assert_eq!(ids(&builder().open(copy).unwrap(), 0), [1]);
    }
    assert_eq!(bytes_of(&segment("b.redb-queue")), queued);
    let none = builder().open_read_only(folder.path().join("none"));
    assert_eq!(none.unwrap_err().kind(), ErrorKind::StorageUnavailable);
    assert!(!folder.path().join("none").exists());
}

#[test]
fn configuration_out_of_range_is_refused_with_field_value_and_range() {
    let refused = |change: fn(&mut Config)| {
        let mut config = Config::default();
        change(&mut config);
        let error = builder().config(config).open_in_memory().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Configuration);
        error.to_string()
    };
    assert_eq!(
        refused(|config| config.limits.queue_records = 0),
        "limits.queue_records is 0; allowed is a whole number, 1 to 4294967296"
    );
    for (field, text) in [
        (
            "record_body_bytes",
            refused(|config| config.limits.record_body_bytes = 0),
        ),
        (
            "processes_body_bytes",
            refused(|config| config.limits.processes_body_bytes = usize::MAX),
        ),
        (
            "batch_body_bytes",
            refused(|config| config.limits.batch_body_bytes = usize::MAX),
        ),
        ("uri_bytes", refused(|config| config.limits.uri_bytes = 0)),
        (
            "headers_bytes",
            refused(|config| config.limits.headers_bytes = usize::MAX),
        ),
        (
            "queue_records",
            refused(|config| config.limits.queue_records = u64::MAX),
        ),
        (
            "queue_high_water",
            refused(|config| config.limits.queue_high_water = 0),
        ),
        (
            "key_requests_per_minute",
            refused(|config| config.limits.key_requests_per_minute = Some(0)),
        ),
        (
            "free_bytes_min",
            refused(|config| config.limits.free_bytes_min = u64::MAX),
        ),
        (
            "retention_days.audit",
            refused(|config| config.retention_days.audit = 0),
        ),
    ] {
        assert!(text.contains(field) && text.contains("allowed"), "{text}");
    }
    Config::default().validate().unwrap();
}
