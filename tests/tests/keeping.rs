//! Changes around the file of an open engine: it is removed, replaced, or opened twice.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use deskfleet::backends::FileBackend;
use deskfleet::{Config, Engine, EngineBuilder, ErrorKind, Event, ManualClock, NewKey, Scope};
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
    let key = NewKey::new(name, [Scope::Admin]);
    engine.issue_key(key).unwrap()
}

#[test]
fn writes_with_the_file_removed_or_replaced_return_503_until_it_is_back() {
    let folder = TempDir::new().unwrap();
    let (path, away) = (folder.path().join("a.redb"), folder.path().join("b.redb"));
    let message: Arc<Mutex<Vec<String>>> = Arc::default();
    let note = Arc::clone(&message);
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
    let message = message.lock().unwrap();
    assert_eq!(message.len(), 4, "reported once each time: {message:?}");
    assert!(message[0].contains("removed or renamed"), "{message:?}");
    assert!(message[2].contains("another file"), "{message:?}");
    assert_eq!(
        (message[1].as_str(), message[3].as_str()),
        ("returned", "returned")
    );
}

/// An engine on a disk whose free space is set, with a key, and the actions that it reported as having no row.
struct Audited {
    engine: Engine,
    admin: String,
    free: Arc<AtomicU64>,
    message: Arc<Mutex<Vec<&'static str>>>,
}

impl Audited {
    fn open() -> Self {
        let free = Arc::new(AtomicU64::new(32 * MIB));
        let (reported, message) = (Arc::clone(&free), Arc::<Mutex<Vec<&str>>>::default());
        let note = Arc::clone(&message);
        let observer = move |event: &Event<'_>| {
            if let Event::Unaudited { action } = event {
                note.lock().unwrap().push(*action);
            }
        };
        let builder = builder().observer(observer);
        let builder = builder.free_space(move || Some(reported.load(Ordering::SeqCst)));
        let engine = builder.open_in_memory().unwrap();
        let admin = key(&engine, "admin").secret;
        Self {
            engine,
            admin,
            free,
            message,
        }
    }
}

#[test]
fn access_without_room_for_its_row_is_answered_and_reported() {
    let Audited {
        engine,
        admin,
        free,
        message,
    } = Audited::open();
    let get = |target: &str| {
        let request = Request::get(target).header("x-api-key", &admin);
        let response = engine.handle(request.body(Bytes::new()).unwrap());
        response.status().as_u16()
    };
    let targets = ["/operator/keys", "/query/export?stream=stats"];
    let refused = ["/query/export", "/query/export?stream=x"];
    free.store(5 * MIB, Ordering::SeqCst);
    assert_eq!(targets.map(get), [200, 200]);
    assert_eq!(*message.lock().unwrap(), ["ListKeys", "QueryExport"]);
    assert_eq!(refused.map(get), [400, 400]);
    assert_eq!(message.lock().unwrap().len(), 4);
    assert_eq!(engine.admin_activity(10).unwrap().len(), 1, "the key");
    free.store(32 * MIB, Ordering::SeqCst);
    assert_eq!(targets.map(get), [200, 200]);
    assert_eq!(message.lock().unwrap().len(), 4);
    assert_eq!(engine.admin_activity(10).unwrap().len(), 3);
}

#[test]
fn refusal_without_room_for_its_row_is_answered_and_reported() {
    let Audited {
        engine,
        admin,
        free,
        message,
    } = Audited::open();
    let expected = [
        (
            "POST",
            "/api/Actions/RebootWorkSpace?workSpaceId=%ZZ",
            "RebootWorkSpace",
        ),
        (
            "POST",
            "/api/Information/RemoveWorkSpaceDbEntry?workSpaceId=%ZZ",
            "RemoveWorkSpaceDbEntry",
        ),
        ("PUT", "/operator/workspaces/ws-1", "UpdateWorkSpace"),
        (
            "PUT",
            "/operator/workspaces/ws-1/litigation-hold",
            "PlaceLitigationHold",
        ),
        ("DELETE", "/operator/telemetry", "RemoveTelemetry"),
        ("POST", "/operator/keys", "IssueKey"),
        ("DELETE", "/operator/keys/1?force=x", "RevokeKey"),
    ];
    let ask = |method: &str, target: &str| {
        let request = Request::builder().method(method).uri(target);
        let request = request
            .header("x-api-key", &admin)
            .header("content-type", "application/json");
        let response = engine.handle(request.body(Bytes::from_static(b"[")).unwrap());
        response.status().as_u16()
    };
    for left in [32 * MIB, 0] {
        free.store(left, Ordering::SeqCst);
        for (method, target, _) in expected {
            assert_eq!(ask(method, target), 400, "{method} {target}, {left}");
        }
    }
    assert_eq!(
        *message.lock().unwrap(),
        expected.map(|(.., action)| action)
    );
    let rows = engine.admin_activity(100).unwrap().len();
    assert_eq!(rows, 1 + expected.len(), "one of the key");
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
        let export = Request::get("/query/export?stream=x").header("x-api-key", &issued.secret);
        let export = export.body(Bytes::new()).unwrap();
        assert_eq!(engine.handle(export).status(), 400);
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
fn file_has_any_number_of_readers_or_one_writer() {
    let folder = TempDir::new().unwrap();
    let (path, copy) = (folder.path().join("a.redb"), folder.path().join("copy"));
    let read = |path: &Path| builder().open_read_only(path);
    let is_taken = |opened: deskfleet::Result<Engine>| {
        assert_eq!(opened.unwrap_err().kind(), ErrorKind::AlreadyOpen);
    };
    let writer = builder().open(&path).unwrap();
    assert_eq!(status(&writer, 1), 200);
    is_taken(read(&path));
    // Beside a writer a reader has a copy.
    writer.backup(&copy).unwrap();
    let beside = read(&copy).unwrap();
    assert_eq!(status(&writer, 2), 200);
    assert_eq!((ids(&writer, 0), ids(&beside, 0)), (vec![1, 2], vec![1]));
    writer.close().unwrap();
    let readers = [read(&path).unwrap(), read(&path).unwrap()];
    for reader in &readers {
        assert_eq!(ids(reader, 0), [1, 2]);
        let unready = reader.ready().unwrap_err();
        assert!(unready.context().contains("reading only"), "{unready}");
    }
    is_taken(builder().open(&path));
    drop(readers);
    assert!(builder().open(&path).unwrap().is_ready());
}

#[test]
fn backend_opened_to_read_is_read_and_no_byte_of_it_changes() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.redb");
    let engine = builder().open(&path).unwrap();
    assert_eq!(status(&engine, 1), 200);
    engine.close().unwrap();
    let before = bytes_of(&path);
    let backend = |path: &Path| {
        let mut options = fs::File::options();
        let options = options.read(true).write(true).create(true).truncate(false);
        FileBackend::new(options.open(path).unwrap()).unwrap()
    };
    let reader = builder().open_backend_read_only(backend(&path)).unwrap();
    assert_eq!(ids(&reader, 0), [1]);
    // Readers share the lock, and need no right to write.
    let only_read = FileBackend::new(fs::File::open(&path).unwrap()).unwrap();
    let second = builder().open_backend_read_only(only_read).unwrap();
    assert_eq!(ids(&second, 0), [1]);
    let taken = builder().open_backend(backend(&path)).unwrap_err();
    assert_eq!(taken.kind(), ErrorKind::AlreadyOpen);
    second.close().unwrap();
    assert_eq!(status(&reader, 2), 503);
    assert!(!reader.is_ready());
    reader.close().unwrap();
    assert_eq!(bytes_of(&path), before);
    let empty = folder.path().join("empty");
    for bytes in [0, 4096] {
        fs::write(&empty, vec![0; bytes]).unwrap();
        let refused = builder().open_backend_read_only(backend(&empty));
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::StorageUnavailable);
        assert_eq!(bytes_of(&empty), vec![0; bytes]);
    }
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
