//! Another program writes into the open file of a store: that is noticed, and nothing is written over it.

#![cfg(unix)]

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use deskfleet::{Engine, EngineBuilder, ErrorKind, ManualClock, Record, StatsRecord, Workspace};
use tempfile::TempDir;

/// Bytes of the header of a redb file.
const HEADER: u64 = 320;

fn builder() -> EngineBuilder {
    let clock = ManualClock::new("2026-11-20T08:00:00Z".parse().unwrap());
    Engine::builder().clock(clock).seed(1)
}

fn put(engine: &Engine, number: usize) -> deskfleet::Result<()> {
    let workspace = Workspace {
        id: format!("ws-{number}"),
        state: Some("AVAILABLE".into()),
        ..Workspace::default()
    };
    engine.put_workspace(workspace).map(drop)
}

fn post(engine: &Engine) -> deskfleet::Result<()> {
    engine.record(Record::Stats(Box::new(StatsRecord {
        instance_id: "i-1".into(),
        ..StatsRecord::default()
    })))
}

fn to_write(path: &Path) -> File {
    OpenOptions::new().write(true).open(path).unwrap()
}

/// Writes into the file of a running engine as `write` does, which gets an older copy of the file, until the engine is not ready.
fn write_into(how: &str, write: impl Fn(&Path, &[u8])) {
    let folder = TempDir::new().unwrap();
    let (path, copy) = (
        folder.path().join("fleet.redb"),
        folder.path().join("copy.redb"),
    );
    let engine = builder().open(&path).unwrap();
    put(&engine, 1).unwrap();
    engine.backup(&copy).unwrap();
    let older = fs::read(&path).unwrap();
    put(&engine, 2).unwrap();
    post(&engine).unwrap();
    engine.ready().unwrap();
    // Where the system counts time in coarse steps, the first may look like the engine's own.
    while engine.ready().is_ok() {
        write(&path, &older);
    }
    let refused = |result: deskfleet::Result<()>| {
        let error = result.expect_err(how);
        assert_eq!(
            error.kind(),
            ErrorKind::StorageUnavailable,
            "{how}: {error}"
        );
        assert!(
            error.to_string().contains("another program wrote"),
            "{how}: {error}"
        );
    };
    refused(engine.ready());
    refused(put(&engine, 3));
    refused(post(&engine));
    refused(engine.maintain());
    // What came into the file is left as it is, and so are the segments.
    let foreign = fs::read(&path).unwrap();
    engine.close().expect_err(how);
    drop(engine);
    assert!(fs::read(&path).unwrap() == foreign, "{how}");
    assert!(
        folder
            .path()
            .join("fleet.redb-queue/000000.segment")
            .exists()
    );
    // The backup in its place, without the queue of the lost file.
    fs::copy(&copy, &path).unwrap();
    fs::remove_dir_all(folder.path().join("fleet.redb-queue")).unwrap();
    let engine = builder().open(&path).unwrap();
    assert!(engine.workspace("ws-1").unwrap().is_some(), "{how}");
    put(&engine, 4).unwrap();
}

#[test]
fn file_that_is_overwritten_by_a_copy_is_noticed() {
    write_into("cp", |path, older| fs::write(path, older).unwrap());
}

#[test]
fn file_that_is_cut_is_noticed() {
    write_into("truncate", |path, _| to_write(path).set_len(4096).unwrap());
    write_into("truncate -s 0", |path, _| {
        to_write(path).set_len(0).unwrap();
    });
}

#[test]
fn file_that_grows_is_noticed() {
    write_into("append", |path, _| {
        let length = fs::metadata(path).unwrap().len();
        to_write(path).write_all_at(b"more", length).unwrap();
    });
}

#[test]
fn older_copy_of_the_same_length_and_time_is_noticed_by_its_header() {
    write_into("rsync --inplace --times", |path, older| {
        let before = fs::metadata(path).unwrap();
        assert_eq!(before.len(), older.len() as u64);
        let file = to_write(path);
        file.write_all_at(older, 0).unwrap();
        file.set_modified(before.modified().unwrap()).unwrap();
    });
}

#[test]
fn byte_after_the_header_is_noticed_by_the_time_of_the_change() {
    write_into("dd conv=notrunc", |path, _| {
        to_write(path).write_all_at(b"!", HEADER + 5000).unwrap();
    });
}

#[test]
fn own_writes_of_all_kinds_are_no_foreign_ones() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("fleet.redb");
    let engine = builder().open(&path).unwrap();
    let has_ended = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..60 {
                put(&engine, round).unwrap();
                post(&engine).unwrap();
                if round % 5 == 0 {
                    engine.file_pending().unwrap();
                    // Refused while the other thread reads.
                    let _ = engine.compact();
                    engine.maintain().unwrap();
                }
                if round % 20 == 0 {
                    engine
                        .backup(folder.path().join(format!("{round}.redb")))
                        .unwrap();
                }
            }
            has_ended.store(true, Ordering::Release);
        });
        while !has_ended.load(Ordering::Acquire) {
            engine.ready().unwrap();
            let read = File::open(&path).unwrap();
            assert!(read.metadata().unwrap().len() > 0);
        }
    });
    engine.close().unwrap();
    let engine = builder().open(&path).unwrap();
    engine.ready().unwrap();
    put(&engine, 99).unwrap();
    engine.ready().unwrap();
}
