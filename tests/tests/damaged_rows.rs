//! Rows that cannot be read: the store opens, goes on with the others, and says so.

#![cfg(unix)]

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use deskfleet::{Config, ManualClock, QueueStorage, StorageBackend, cluster::MemoryLog};
use deskfleet_tests::cluster::node::{
    builder as node_builder, follow, node, start, workspace as node_workspace,
};
use deskfleet_tests::damaged_queue::{
    beside, builder, filled, ids, is_damaged, post, reporting, workspace,
};
use deskfleet_tests::disk::Disk;
use deskfleet_tests::files::FileOf;
use redb::{Database, TableDefinition};
use tempfile::TempDir;

/// Overwrites the row of a table under valid checksums.
fn spoil(path: &Path, table: &str, key: &[u8]) {
    let database = Database::open(path).unwrap();
    let write = database.begin_write().unwrap();
    let definition = TableDefinition::<&[u8], &[u8]>::new(table);
    let mut open = write.open_table(definition).unwrap();
    assert!(open.insert(key, [0xff; 3].as_slice()).unwrap().is_some());
    drop(open);
    write.commit().unwrap();
}

#[test]
fn unreadable_row_of_the_queue_does_not_keep_the_store_from_opening() {
    for storage in [QueueStorage::Table, QueueStorage::Segments] {
        let folder = TempDir::new().unwrap();
        let (path, engine) = filled(folder.path());
        engine.close().unwrap();
        spoil(&path, "queue", &2_u64.to_be_bytes());
        let mut config = Config::default();
        config.queue_storage = storage;
        let disk = Disk::holding(fs::read(&path).unwrap());
        let stores = [
            builder().config(config.clone()).open(&path).unwrap(),
            builder()
                .config(config)
                .open_backend(disk.backend())
                .unwrap(),
        ];
        for engine in stores {
            assert!(is_damaged(&engine), "named before it is filed");
            assert_eq!(engine.check().unwrap().problems.len(), 1);
            assert_eq!(ids(&engine), [0, 1, 3]);
            post(&engine, 4).unwrap();
            engine.file_pending().unwrap();
            assert_eq!((ids(&engine), engine.queue_count()), (vec![0, 1, 3, 4], 0));
            assert!(is_damaged(&engine));
            engine.close().unwrap();
        }
        assert_eq!(
            fs::read_to_string(beside(&path, "-damaged"))
                .unwrap()
                .matches("\"ffffff\"")
                .count(),
            1
        );
        // Over a backend the table keeps it, and a copy leaves it out.
        let engine = builder().open_backend(disk.backend()).unwrap();
        assert!(is_damaged(&engine));
        let copy = Disk::new();
        engine.backup_to(copy.backend()).unwrap();
        let copy = builder().open_backend(copy.backend()).unwrap();
        copy.ready().unwrap();
        assert_eq!(ids(&copy), [0, 1, 3, 4]);
    }
}

#[test]
fn queue_of_one_unreadable_row_is_filed_to_its_end() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("fleet.redb");
    let engine = builder().open(&path).unwrap();
    post(&engine, 0).unwrap();
    engine.close().unwrap();
    spoil(&path, "queue", &0_u64.to_be_bytes());
    // As a crash leaves a line that it cut off.
    fs::write(beside(&path, "-damaged"), b"{\"block\":\xff").unwrap();
    let engine = builder().open(&path).unwrap();
    engine.file_pending().unwrap();
    let kept = fs::read(beside(&path, "-damaged")).unwrap();
    assert_eq!(kept.split(|byte| *byte == b'\n').count(), 3);
    fs::remove_file(beside(&path, "-damaged")).unwrap();
    engine.ready().unwrap();
    engine.close().unwrap();
    builder().open(&path).unwrap().ready().unwrap();
}

#[test]
fn damaged_row_that_a_write_meets_is_reported_at_ready() {
    let folder = TempDir::new().unwrap();
    let (path, engine) = filled(folder.path());
    engine.close().unwrap();
    spoil(&path, "workspaces", b"ws-1");
    let (reported, message) = reporting(builder());
    let engine = reported.open(&path).unwrap();
    engine.ready().unwrap();
    engine.put_workspace(workspace()).unwrap_err();
    assert!(is_damaged(&engine));
    // It meets the row as well.
    engine.maintain().unwrap_err();
    assert_eq!(message.lock().unwrap().len(), 1);
}

/// A backend that returns what it holds with each `jdoe` inverted, as long as it misreads.
#[derive(Debug)]
struct Misreading(FileOf<Disk>, Arc<AtomicBool>);

impl StorageBackend for Misreading {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read(offset, out)?;
        if self.1.load(Ordering::Acquire) {
            let found = out.windows(4).position(|bytes| bytes == b"jdoe");
            if let Some(at) = found {
                for byte in &mut out[at..at + 4] {
                    *byte = !*byte;
                }
            }
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write(offset, data)
    }
}

#[test]
fn row_that_was_misread_once_is_filed() {
    let disk = Disk::new();
    let engine = builder().open_backend(disk.backend()).unwrap();
    (0..3).for_each(|id| post(&engine, id).unwrap());
    engine.close().unwrap();
    let misreads = Arc::new(AtomicBool::new(true));
    let mut config = Config::default();
    config.trust_file = true;
    let engine = builder()
        .config(config)
        .open_backend(Misreading(disk.backend(), Arc::clone(&misreads)))
        .unwrap();
    assert!(is_damaged(&engine));
    misreads.store(false, Ordering::Release);
    engine.file_pending().unwrap();
    assert_eq!(ids(&engine), [0, 1, 2]);
    engine.ready().unwrap();
}

#[test]
fn node_with_an_unreadable_row_of_the_queue_applies_the_log_to_its_end() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("node.redb");
    let open = || {
        node_builder(2, &clock)
            .log(log.clone(), "two")
            .open(&path)
            .unwrap()
    };
    let (one, two) = (node(1, &clock, &log), open());
    one.put_workspace(node_workspace("ws-1")).unwrap();
    (0..3).for_each(|id| post(&one, id).unwrap());
    follow(&two);
    assert_eq!(two.queue_count(), 3);
    two.close().unwrap();
    spoil(&path, "queue", &1_u64.to_be_bytes());
    let two = open();
    assert!(is_damaged(&two));
    // Retention comes through the log, and what came before it has to be filed.
    clock.advance_seconds(400 * 24 * 3600);
    one.apply_retention().unwrap();
    one.put_workspace(node_workspace("ws-2")).unwrap();
    follow(&two);
    assert!(two.halted().is_none());
    assert!(two.workspace("ws-2").unwrap().is_some());
    assert_eq!(two.queue_count(), 0);
    post(&two, 3).unwrap();
    assert!(is_damaged(&two), "until a person has seen to it");
    let kept = fs::read_to_string(beside(&path, "-damaged")).unwrap();
    assert_eq!(kept.lines().count(), 1);
    two.close().unwrap();
}
