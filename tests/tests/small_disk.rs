//! A disk of 64 MiB that telemetry alone fills: what upkeep, removal, closing and the next start give back.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use deskfleet::{
    ActivityRecord, Clock as _, CommitDriver, Config, Engine, ManualClock, Nullable,
    TelemetrySelection,
};
use deskfleet_tests::conformance::case::NOW;
use tempfile::TempDir;

const MIB: u64 = 1024 * 1024;

/// The bytes that the files below a folder take.
fn taken(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let of = |entry: fs::DirEntry| match entry.metadata() {
        Ok(found) if found.is_dir() => taken(&entry.path()),
        found => found.map_or(0, |found| found.blocks() * 512),
    };
    entries.map(of).sum()
}

struct SmallDisk {
    folder: TempDir,
    clock: ManualClock,
    /// What another program takes of it.
    foreign: Arc<AtomicU64>,
}

impl SmallDisk {
    fn new() -> Self {
        Self {
            folder: TempDir::new().unwrap(),
            clock: ManualClock::new(NOW.parse().unwrap()),
            foreign: Arc::default(),
        }
    }

    fn open(&self) -> Engine {
        let (folder, foreign) = (self.folder.path().to_owned(), Arc::clone(&self.foreign));
        let free = move || {
            let taken = taken(&folder) + foreign.load(Ordering::SeqCst);
            Some((64 * MIB).saturating_sub(taken))
        };
        let mut config = Config::default();
        config.commit_driver = CommitDriver::Caller;
        let builder = Engine::builder().config(config).clock(self.clock.clone());
        let builder = builder.seed(7).free_space(free);
        builder.open(self.folder.path().join("fleet.redb")).unwrap()
    }

    fn queue_bytes(&self) -> u64 {
        let folder = self.folder.path().join("fleet.redb-queue");
        if folder.exists() { taken(&folder) } else { 0 }
    }

    /// Posts until it is refused; returns how many records.
    fn fill(&self, engine: &Engine) -> u64 {
        let mut random = fastrand::Rng::with_seed(3);
        let mut posted = 0;
        loop {
            let text: String = std::iter::repeat_with(|| random.alphanumeric())
                .take(500_000)
                .collect();
            let record = ActivityRecord {
                instance_id: "ws-1".into(),
                activity: Nullable::Value(text),
                activity_time: Some(self.clock.now()),
                ..ActivityRecord::default()
            };
            if let Err(error) = engine.record(record) {
                assert!(error.is_for_space(), "{error}");
                return posted;
            }
            posted += 1;
            assert!(posted < 200, "the disk is never full");
        }
    }

    /// Lets upkeep come again and again; whether that is refused depends on what is left.
    fn keep_up(&self, engine: &Engine) {
        for _ in 0..5 {
            self.clock.set(self.clock.now().plus_seconds(60));
            let _ = engine.maintain();
        }
    }
}

fn everything(clock: &ManualClock) -> TelemetrySelection {
    TelemetrySelection {
        before: Some(clock.now().plus_seconds(3 * 86_400)),
        ..TelemetrySelection::default()
    }
}

#[test]
fn segments_that_are_filed_are_given_back_and_removal_makes_room_for_telemetry() {
    let disk = SmallDisk::new();
    let engine = disk.open();
    let posted = disk.fill(&engine);
    disk.keep_up(&engine);
    assert_eq!(engine.queue_count(), 0);
    assert_eq!(disk.queue_bytes(), 0, "nothing is queued");
    while disk.fill(&engine) > 0 {
        disk.keep_up(&engine);
    }
    let removed = engine.remove_telemetry(&everything(&disk.clock)).unwrap();
    assert!(removed.removed >= posted, "{removed:?}");
    engine.ready().unwrap();
    assert!(disk.fill(&engine) >= posted / 2);
    engine.close().unwrap();
}

#[test]
fn closing_and_opening_without_a_free_byte_give_filed_segments_back() {
    let disk = SmallDisk::new();
    let engine = disk.open();
    disk.fill(&engine);
    engine.file_pending().unwrap();
    let left = disk.queue_bytes();
    disk.foreign.store(64 * MIB, Ordering::SeqCst);
    engine.close().unwrap();
    assert_eq!(disk.queue_bytes(), 0, "of {left}");

    let disk = SmallDisk::new();
    let engine = disk.open();
    disk.fill(&engine);
    disk.foreign.store(64 * MIB, Ordering::SeqCst);
    let queued = engine.queue_count();
    assert!(queued > 0);
    engine.close().unwrap();
    assert!(disk.queue_bytes() > 0, "what is not filed stays");
    let engine = disk.open();
    assert_eq!(engine.queue_count(), queued);
    engine.remove_telemetry(&everything(&disk.clock)).unwrap();
    // The removal itself is in the log until the file is synced.
    disk.keep_up(&engine);
    assert_eq!(disk.queue_bytes(), 0);
    engine.close().unwrap();
}

#[test]
fn upkeep_on_a_disk_that_ready_segments_would_make_short_of_space_comes_to_rest() {
    let disk = SmallDisk::new();
    let engine = disk.open();
    let record = ActivityRecord {
        instance_id: "ws-1".into(),
        ..ActivityRecord::default()
    };
    engine.record(record).unwrap();
    disk.keep_up(&engine);
    for free in (36..56).step_by(2) {
        // Without what the queue takes.
        let others = taken(disk.folder.path()) - disk.queue_bytes();
        disk.foreign
            .store((64 - free) * MIB - others, Ordering::SeqCst);
        disk.keep_up(&engine);
        let rested = disk.queue_bytes();
        for _ in 0..3 {
            disk.clock.set(disk.clock.now().plus_seconds(1));
            engine.maintain().unwrap();
            assert_eq!(disk.queue_bytes(), rested, "{free} MiB without the queue");
        }
    }
    assert!(disk.queue_bytes() > 0, "segments are ready");
    engine.close().unwrap();
}
