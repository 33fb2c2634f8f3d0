//! The queue in segments beside the store: how it begins, ends, and is found again after a crash.

use std::fs;
use std::path::{Path, PathBuf};

use deskfleet::{
    Config, Engine, EngineBuilder, ErrorKind, HistoryQuery, ManualClock, QueueStorage, Record,
    StatsRecord, Stream, Workspace,
};
use deskfleet_tests::disk::{Disk, Fault, Operation};
use deskfleet_tests::files::{Part, Queue};
use tempfile::TempDir;

fn builder() -> EngineBuilder {
    let clock = ManualClock::new("2026-11-20T08:00:00Z".parse().unwrap());
    Engine::builder().clock(clock).seed(1)
}

fn with_table() -> EngineBuilder {
    let mut config = Config::default();
    config.queue_storage = QueueStorage::Table;
    builder().config(config)
}

fn post(engine: &Engine, id: i32) -> deskfleet::Result<()> {
    engine.record(Record::Stats(Box::new(StatsRecord {
        id: Some(id),
        instance_id: "i-1".into(),
        ..StatsRecord::default()
    })))
}

fn ids(engine: &Engine) -> Vec<i32> {
    let query = HistoryQuery::new(Stream::Stats, "i-1");
    let page = engine.history(&query).unwrap();
    let ids = page.records.iter().map(|received| match &received.record {
        Record::Stats(stats) => stats.id,
        Record::Activity(_) | Record::Startup(_) | Record::Processes(_) => None,
    });
    ids.map(Option::unwrap).collect()
}

fn queue_of(store: &Path) -> PathBuf {
    PathBuf::from(format!("{}-queue", store.display()))
}

/// A store as a crash leaves it: filed are 1 and 2, queued 3 and 4.
fn crashed(folder: &Path) -> PathBuf {
    let (open, path) = (folder.join("open.redb"), folder.join("fleet.redb"));
    let engine = builder().open(&open).unwrap();
    for id in 1..=4 {
        post(&engine, id).unwrap();
        if id == 2 {
            engine.file_pending().unwrap();
        }
    }
    fs::copy(&open, &path).unwrap();
    fs::create_dir(queue_of(&path)).unwrap();
    for segment in fs::read_dir(queue_of(&open)).unwrap() {
        let segment = segment.unwrap();
        let to = queue_of(&path).join(segment.file_name());
        fs::copy(segment.path(), to).unwrap();
    }
    path
}

fn only(folder: &Path, name: &str) -> bool {
    let names = fs::read_dir(folder).unwrap();
    let names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    names == [name]
}

#[test]
fn closed_store_is_one_file_and_keeps_its_queue() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("fleet.redb");
    for round in 0..3 {
        let engine = builder().open(&path).unwrap();
        assert_eq!(engine.queue_count(), round);
        assert!(only(folder.path(), "fleet.redb"), "nothing was posted yet");
        post(&engine, i32::try_from(round).unwrap()).unwrap();
        assert!(queue_of(&path).join("000000.segment").exists());
        engine.close().unwrap();
        assert!(only(folder.path(), "fleet.redb"));
    }
    let engine = builder().open(&path).unwrap();
    assert_eq!(engine.file_pending().unwrap(), 3);
    assert_eq!(ids(&engine), [0, 1, 2]);
}

#[test]
fn store_after_a_crash_has_filed_and_queued_records_once() {
    let folder = TempDir::new().unwrap();
    let path = crashed(folder.path());
    let engine = builder().open(&path).unwrap();
    assert_eq!((engine.queue_count(), ids(&engine)), (2, vec![1, 2, 3, 4]));
    post(&engine, 5).unwrap();
    assert_eq!(engine.file_pending().unwrap(), 3);
    assert_eq!(ids(&engine), [1, 2, 3, 4, 5]);
    engine.close().unwrap();
    assert!(!queue_of(&path).exists());
}

#[test]
fn backup_of_a_queue_in_segments_is_one_file() {
    let folder = TempDir::new().unwrap();
    let engine = builder().open(crashed(folder.path())).unwrap();
    let copy = folder.path().join("copy.redb");
    engine.backup(&copy).unwrap();
    engine.close().unwrap();
    assert!(!queue_of(&copy).exists());
    for read_only in [true, false] {
        let opened = if read_only {
            builder().open_read_only(&copy)
        } else {
            builder().open(&copy)
        };
        let engine = opened.unwrap();
        assert_eq!(engine.check().unwrap().problems, Vec::<String>::new());
        assert_eq!((engine.queue_count(), ids(&engine)), (2, vec![1, 2, 3, 4]));
    }
}

#[test]
fn store_without_its_segments_is_refused_and_opens_with_an_empty_folder() {
    let folder = TempDir::new().unwrap();
    let path = crashed(folder.path());
    let before = fs::read(&path).unwrap();
    fs::remove_dir_all(queue_of(&path)).unwrap();
    for refused in [builder().open(&path), with_table().open(&path)] {
        let error = refused.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StorageUnavailable);
        let message = error.to_string();
        assert!(
            message.contains("fleet.redb") && message.contains("empty"),
            "{message}"
        );
    }
    let checked = Engine::check_file(&path).unwrap();
    assert!(checked.problems[0].contains("folder of the queue"));
    assert_eq!(fs::read(&path).unwrap(), before);
    fs::create_dir(queue_of(&path)).unwrap();
    let engine = builder().open(&path).unwrap();
    assert_eq!((engine.queue_count(), ids(&engine)), (0, vec![1, 2]));
    post(&engine, 6).unwrap();
    assert_eq!(ids(&engine), [1, 2, 6]);
}

#[test]
fn segments_of_another_store_are_refused_and_left_alone() {
    let folder = TempDir::new().unwrap();
    let path = crashed(folder.path());
    let other = folder.path().join("other.redb");
    let engine = builder().seed(2).open(&other).unwrap();
    post(&engine, 1).unwrap();
    engine.close().unwrap();
    fs::rename(&other, &path).unwrap();
    let segment = queue_of(&path).join("000000.segment");
    let before = (fs::read(&path).unwrap(), fs::read(&segment).unwrap());
    let error = builder().open(&path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ForeignFile);
    assert!(error.to_string().contains("another store"), "{error}");
    assert_eq!(
        (fs::read(&path).unwrap(), fs::read(&segment).unwrap()),
        before
    );
}

#[test]
fn store_with_its_queue_in_the_table_has_no_folder_and_takes_over_segments() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("table.redb");
    let engine = with_table().open(&path).unwrap();
    post(&engine, 1).unwrap();
    assert!(only(folder.path(), "table.redb"));
    engine.close().unwrap();

    let path = crashed(folder.path());
    let engine = with_table().open(&path).unwrap();
    assert!(!queue_of(&path).exists());
    post(&engine, 5).unwrap();
    assert_eq!(
        (engine.queue_count(), ids(&engine)),
        (3, vec![1, 2, 3, 4, 5])
    );
    engine.file_pending().unwrap();
    engine.close().unwrap();
    let engine = builder().open(&path).unwrap();
    post(&engine, 6).unwrap();
    assert_eq!(ids(&engine), [1, 2, 3, 4, 5, 6]);
}

#[test]
fn backend_without_the_segments_of_its_queue_is_refused() {
    let folder = TempDir::new().unwrap();
    let file = fs::File::options()
        .read(true)
        .write(true)
        .open(crashed(folder.path()))
        .unwrap();
    let backend = deskfleet::backends::FileBackend::new(file).unwrap();
    let error = builder().open_backend(backend).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StorageUnavailable);
    assert!(error.to_string().contains("segments"), "{error}");
}

#[test]
fn store_whose_queue_did_not_begin_is_one_file_when_it_is_closed() {
    let mut failed = 0;
    for nth in 0..4 {
        let disk = Disk::new();
        let open = |queue: Queue| queue.open(builder(), &Config::default(), &disk);
        let engine = open(Queue::Folder).unwrap();
        // What it should have made durable is written nevertheless.
        disk.fail(Fault::Once(Operation::Sync, nth));
        failed += u32::from(post(&engine, 1).is_err());
        disk.fail(Fault::None);
        engine.close().unwrap();
        assert_eq!(disk.contents().queue, None, "{nth}");
        open(Queue::Table).unwrap();
    }
    assert!(failed > 1, "{failed}");
}

#[test]
fn segments_that_cannot_be_removed_are_not_taken_for_those_of_another_store() {
    let disk = Disk::new();
    let open = |seed| Queue::Folder.open(builder().seed(seed), &Config::default(), &disk);
    let engine = open(1).unwrap();
    post(&engine, 1).unwrap();
    disk.fail_part(Part::Queue, Fault::Writes);
    engine.close().unwrap();
    let engine = open(2).unwrap();
    let error = post(&engine, 2).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StorageUnavailable);
    engine.close().unwrap();
    disk.fail(Fault::None);
    let engine = open(3).unwrap();
    post(&engine, 3).unwrap();
    assert_eq!(ids(&engine).len(), 2);
}

#[test]
fn posts_without_the_folder_are_refused_and_the_rest_goes_on() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("fleet.redb");
    let engine = builder().open(&path).unwrap();
    post(&engine, 1).unwrap();
    engine.ready().unwrap();
    fs::remove_dir_all(queue_of(&path)).unwrap();
    for refused in [post(&engine, 2), engine.ready()] {
        let error = refused.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StorageUnavailable);
        assert!(error.to_string().contains("segment"), "{error}");
    }
    assert_eq!(ids(&engine), [1]);
    engine
        .put_workspace(Workspace {
            id: "ws-1".into(),
            ..Workspace::default()
        })
        .unwrap();
    engine.close().unwrap();
    let engine = builder().open(&path).unwrap();
    assert_eq!((engine.queue_count(), ids(&engine)), (1, vec![1]));
    post(&engine, 3).unwrap();
    fs::rename(queue_of(&path), folder.path().join("away")).unwrap();
    assert_eq!(engine.file_pending().unwrap(), 2);
    post(&engine, 4).unwrap_err();
    fs::rename(folder.path().join("away"), queue_of(&path)).unwrap();
    post(&engine, 5).unwrap();
    assert_eq!(ids(&engine), [1, 3, 5]);
}
