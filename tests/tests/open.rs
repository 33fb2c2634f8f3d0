//! Opening files: second openers, foreign files, damaged files. A refused file stays as it is.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use deskfleet::backends::{MemoryBackend, StorageBackend};
use deskfleet::{Engine, EngineBuilder, EngineError, ErrorKind, Event, ManualClock};
use deskfleet_tests::conformance::case::NOW;
use deskfleet_tests::conformance::fixtures::{desk, stats};
use redb::{Database, TableDefinition};
use tempfile::TempDir;

fn open(path: &Path) -> Result<Engine, EngineError> {
    let clock = ManualClock::new(NOW.parse().unwrap());
    Engine::builder().clock(clock).seed(7).open(path)
}

fn new_store_path() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("fleet.redb");
    (folder, path)
}

/// Opens, fills and closes a store.
fn filled(path: &Path) {
    let engine = open(path).unwrap();
    engine
        .put_workspace(desk("ws-1", "AVAILABLE", "jdoe"))
        .unwrap();
    engine.record(stats("ws-1", "jdoe", 1, NOW)).unwrap();
    engine.close().unwrap();
}

/// The refusal, which must name the file and leave it as it is.
fn refused(path: &Path, kind: ErrorKind) {
    let before = fs::read(path).unwrap();
    let error = open(path).expect_err("this file must be refused");
    assert_eq!(error.kind(), kind, "{error}");
    assert!(
        error.to_string().contains(path.to_str().unwrap()),
        "{error} names the file"
    );
    assert_eq!(
        fs::read(path).unwrap(),
        before,
        "a refused file stays as it was"
    );
}

#[test]
fn reopened_file_has_what_was_written() {
    let (_folder, path) = new_store_path();
    filled(&path);
    let engine = open(&path).unwrap();
    assert_eq!(
        engine.workspace("ws-1").unwrap().unwrap().workspace,
        desk("ws-1", "AVAILABLE", "jdoe")
    );
    assert_eq!(engine.queue_count(), 1);
}

#[test]
fn second_open_returns_already_open() {
    let (_folder, path) = new_store_path();
    let engine = open(&path).unwrap();
    let error = open(&path).expect_err("one engine at a time");
    assert_eq!(error.kind(), ErrorKind::AlreadyOpen);
    assert!(
        error.to_string().contains(path.to_str().unwrap()),
        "{error} names the file"
    );
    engine
        .put_workspace(desk("ws-1", "AVAILABLE", "jdoe"))
        .unwrap();
    engine.close().unwrap();
    drop(engine);
    assert!(open(&path).unwrap().workspace("ws-1").unwrap().is_some());
}

/// A backend without locks.
#[derive(Debug, Default)]
struct Lockless(MemoryBackend);

impl StorageBackend for Lockless {
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

#[test]
fn store_without_a_lock_is_reported_once() {
    let (_folder, path) = new_store_path();
    let reported = Arc::new(AtomicUsize::new(0));
    let counted = |open: &dyn Fn(EngineBuilder) -> Result<Engine, EngineError>| {
        let seen = Arc::clone(&reported);
        let clock = ManualClock::new(NOW.parse().unwrap());
        let builder = Engine::builder()
            .clock(clock)
            .seed(7)
            .observer(move |event: &Event<'_>| {
                let is_reported = matches!(event, Event::NotLocked);
                seen.fetch_add(usize::from(is_reported), Ordering::Relaxed);
            });
        let engine = open(builder).unwrap();
        // One of them only reads.
        let _ = engine.record(stats("ws-1", "jdoe", 1, NOW));
        let _ = engine.maintain();
        engine.close().unwrap();
        reported.swap(0, Ordering::Relaxed)
    };
    assert_eq!(counted(&|it| it.open_backend(Lockless::default())), 1);
    assert_eq!(counted(&|it| it.open_backend(MemoryBackend::new())), 0);
    assert_eq!(counted(&|it| it.open(&path)), 0);
    assert_eq!(counted(&|it| it.open_read_only(&path)), 0);
}

#[test]
fn closed_engine_returns_503_and_frees_the_file() {
    let (_folder, path) = new_store_path();
    let engine = open(&path).unwrap();
    engine.close().unwrap();
    let post = http::Request::post("/api/Stats/Post").header("content-type", "application/json");
    assert_eq!(engine.handle(post.body("{}".into()).unwrap()).status(), 503);
    assert_eq!(
        engine
            .put_workspace(desk("ws-1", "AVAILABLE", "jdoe"))
            .unwrap_err()
            .kind(),
        ErrorKind::StorageUnavailable
    );
    assert!(
        open(&path).is_ok(),
        "closed means closed, even while a clone is alive"
    );
}

#[test]
fn text_file_is_refused_as_foreign() {
    let (_folder, path) = new_store_path();
    for text in ["x", "Dear diary,\n", &"not a store\n".repeat(10_000)] {
        fs::write(&path, text).unwrap();
        refused(&path, ErrorKind::ForeignFile);
    }
}

#[test]
fn redb_file_of_another_program_is_refused_as_foreign() {
    const TABLE: TableDefinition<'_, u64, &str> = TableDefinition::new("notes");
    let (_folder, path) = new_store_path();
    let database = Database::create(&path).unwrap();
    let write = database.begin_write().unwrap();
    write
        .open_table(TABLE)
        .unwrap()
        .insert(1, "a note")
        .unwrap();
    write.commit().unwrap();
    drop(database);
    refused(&path, ErrorKind::ForeignFile);
    let database = Database::open(&path).unwrap();
    let read = redb::ReadableDatabase::begin_read(&database).unwrap();
    assert_eq!(
        read.open_table(TABLE)
            .unwrap()
            .get(1)
            .unwrap()
            .unwrap()
            .value(),
        "a note"
    );
}

/// A truncated file is refused or, if nothing relevant was lost, opened; never a panic, never an empty store.
#[test]
fn truncated_file_is_refused_without_a_panic() {
    let (_folder, path) = new_store_path();
    filled(&path);
    let whole = fs::read(&path).unwrap();
    let mut refusals = 0;
    for eighths in 1..8 {
        fs::write(&path, &whole[..whole.len() * eighths / 8]).unwrap();
        match open(&path) {
            Ok(engine) => assert!(
                engine.workspace("ws-1").unwrap().is_some(),
                "{eighths}/8 opened without its contents"
            ),
            Err(error) => {
                refusals += 1;
                assert!(
                    matches!(error.kind(), ErrorKind::Corrupted | ErrorKind::ForeignFile),
                    "{error}"
                );
                assert!(
                    error.to_string().contains(path.to_str().unwrap()),
                    "{error} names the file"
                );
            }
        }
    }
    assert!(refusals > 0, "a quarter of a file is no store");
    fs::write(&path, &whole[..100]).unwrap();
    assert!(open(&path).is_err());
}

#[test]
fn path_of_a_folder_or_in_no_folder_is_an_error() {
    let folder = TempDir::new().unwrap();
    assert!(open(folder.path()).is_err());
    let error = open(&folder.path().join("missing/fleet.redb")).unwrap_err();
    assert!(
        error.to_string().contains("missing"),
        "{error} names the file"
    );
}

#[test]
fn engine_in_memory_is_refused_with_the_documented_kinds() {
    let builder = || Engine::builder().clock(ManualClock::new(NOW.parse().unwrap()));
    let out_of_range = builder().seed(7).limits(|limits| limits.uri_bytes = 0);
    let without_random = builder().random(|_| Err(()));
    for (builder, kind) in [
        (out_of_range, ErrorKind::Configuration),
        (without_random, ErrorKind::Internal),
    ] {
        assert_eq!(builder.open_in_memory().unwrap_err().kind(), kind);
    }
}

/// A backup made while records arrive is a normal store.
#[test]
fn backup_opens_with_the_data_of_the_store() {
    let (folder, path) = new_store_path();
    filled(&path);
    let engine = open(&path).unwrap();
    let copy = folder.path().join("copy.redb");
    engine.backup(&copy).unwrap();
    engine.remove_workspace("ws-1").unwrap();
    let restored = open(&copy).unwrap();
    assert!(restored.workspace("ws-1").unwrap().is_some());
    assert_eq!(restored.queue_count(), 1);
    assert_eq!(restored.check().unwrap().problems, Vec::<String>::new());
    assert!(
        engine.backup(&copy).is_err(),
        "a backup never writes over a file"
    );
}
