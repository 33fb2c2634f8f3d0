//! Writes in the log beside the store that no transaction of the file has durably: after a crash they are applied again, each once, and a
//! damaged one is never left out silently.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use deskfleet::{
    Action, ActionRequest, CommitDriver, Config, Engine, EngineError, ErrorKind, ManualClock,
    NewKey, QueueStorage, Scope, TelemetrySelection,
};
use deskfleet_tests::conformance::case::NOW;
use deskfleet_tests::conformance::fixtures::{desk, stats};
use deskfleet_tests::crash::facts::Facts;
use deskfleet_tests::crash::recording::{Io, Recorder};
use deskfleet_tests::damaged_queue::beside;
use deskfleet_tests::disk::{Disk, Fault, Operation};
use deskfleet_tests::files::{Contents, FileId, Files, Part, Queue};
use deskfleet_tests::transport::block_on;

/// The bytes of a header, with what fills its sector.
const HEADER: usize = 512;

fn open_with(disk: &impl Files, config: &Config) -> Result<Engine, EngineError> {
    let builder = Engine::builder().clock(ManualClock::new(NOW.parse().unwrap()));
    Queue::Folder.open(builder.seed(5), config, disk)
}

fn open(disk: &impl Files) -> Result<Engine, EngineError> {
    open_with(disk, &Config::default())
}

fn post(engine: &Engine, id: i32) {
    engine.record(stats("ws-0", "jdoe", id, NOW)).unwrap();
}

/// Begins the log, with nothing in it that the file lacks.
fn begin(engine: &Engine) {
    engine
        .put_workspace(desk("ws-0", "AVAILABLE", "jdoe"))
        .unwrap();
    post(engine, 1);
    engine.file_pending().unwrap();
}

/// Writes of several kinds.
fn write(engine: &Engine, number: usize) {
    let id = format!("ws-{number}");
    match number % 4 {
        0 => {
            engine
                .act(ActionRequest::new(Action::Reboot, "ws-0"))
                .map(drop)
                .unwrap_or_default();
        }
        1 => engine
            .put_workspace(desk(&id, "AVAILABLE", "asmith"))
            .unwrap(),
        2 => engine.place_hold("ws-0", &id, None).unwrap(),
        _ => drop(engine.issue_key(NewKey::new(&id, [Scope::Read])).unwrap()),
    }
}

/// The frames in the segments: the file and the bytes of each, without the header before the first.
fn frames(disk: &Recorder) -> Vec<(u32, std::ops::Range<usize>)> {
    let mut made = Vec::new();
    let mut frames = Vec::new();
    for io in disk.log() {
        if let Io::Make(number) = io {
            made.push(number);
        } else if let Io::Write(file, offset, data) = io
            && file != FileId::STORE
            && data[0] != 0
        {
            let start = usize::try_from(offset).unwrap();
            let number = made[file.0 as usize - 1];
            frames.push((number, start.max(HEADER)..start + data.len()));
        }
    }
    frames
}

#[test]
fn entries_are_applied_again_once_by_each_opening_after_a_crash() {
    let disk = Recorder::default();
    let engine = open(&disk).unwrap();
    begin(&engine);
    for number in 0..12 {
        write(&engine, number);
        post(&engine, 10 + i32::try_from(number).unwrap());
    }
    let facts = Facts::read(&engine).unwrap();
    let mut contents = disk.contents();
    for _ in 0..3 {
        let disk = Disk::holding(contents);
        let engine = open(&disk).unwrap();
        assert_eq!(Facts::read(&engine).unwrap(), facts);
        contents = disk.contents();
    }
    let disk = Disk::holding(contents);
    let engine = open(&disk).unwrap();
    engine.close().unwrap();
    assert!(disk.contents().queue.is_none(), "closed, it is one file");
    assert_eq!(Facts::read(&open(&disk).unwrap()).unwrap(), facts);
}

#[test]
fn entries_are_applied_by_the_settings_of_their_time() {
    let disk = Disk::crashing();
    let engine = open(&disk).unwrap();
    begin(&engine);
    post(&engine, 2);
    engine
        .act(ActionRequest::new(Action::Reboot, "ws-0"))
        .unwrap();
    let facts = Facts::read(&engine).unwrap();
    let mut other = Config::default();
    other.actions.durations.reboot = std::time::Duration::from_secs(3600);
    let disk = Disk::holding(disk.durable());
    let engine = open_with(&disk, &other).unwrap();
    assert_eq!(Facts::read(&engine).unwrap(), facts);
    // What is written from now on is applied by the new ones.
    engine
        .put_workspace(desk("ws-1", "AVAILABLE", "asmith"))
        .unwrap();
    engine
        .act(ActionRequest::new(Action::Reboot, "ws-1"))
        .unwrap();
    let facts = Facts::read(&engine).unwrap();
    let disk = Disk::holding(disk.contents());
    assert_eq!(Facts::read(&open(&disk).unwrap()).unwrap(), facts);
}

#[test]
fn first_write_and_long_ones_have_no_entry() {
    let disk = Disk::crashing();
    let engine = open(&disk).unwrap();
    let put = |number: usize| {
        let desk = desk(&format!("ws-{number}"), "AVAILABLE", "asmith");
        engine.put_workspace(desk).unwrap();
    };
    put(0);
    assert!(
        disk.contents().queue.is_none(),
        "a command leaves no folder"
    );
    put(1);
    let log = |disk: &Disk| {
        disk.contents()
            .queue
            .unwrap()
            .into_values()
            .flatten()
            .collect::<Vec<_>>()
    };
    let holds = |disk: &Disk, text: &[u8]| log(disk).windows(text.len()).any(|bytes| bytes == text);
    assert!(!holds(&disk, b"ws-0") && holds(&disk, b"ws-1"));
    let many = (0..9000).map(|number| {
        let mut desk = desk(&format!("many-{number}"), "AVAILABLE", "asmith");
        desk.computer_name = Some("x".repeat(200));
        desk
    });
    engine.put_workspaces(many.collect()).unwrap();
    assert!(!holds(&disk, b"many-5"));
    put(2);
    assert!(holds(&disk, b"ws-2"));
    let facts = Facts::read(&engine).unwrap();
    let cut = open(&Disk::holding(disk.durable())).unwrap();
    assert_eq!(Facts::read(&cut).unwrap(), facts);
}

/// Writes what a disk holds into files.
fn stored(contents: &Contents, path: &Path) {
    fs::write(path, &contents.store).unwrap();
    let queue = beside(path, "-queue");
    fs::create_dir(&queue).unwrap();
    for (number, bytes) in contents.queue.iter().flatten() {
        fs::write(queue.join(format!("{number:06}.segment")), bytes).unwrap();
    }
}

/// Copies a store that is open, as a crash leaves it.
fn copied(path: &Path, to: &Path) {
    let queue = |path: &Path| beside(path, "-queue");
    fs::copy(path, to).unwrap();
    fs::create_dir(queue(to)).unwrap();
    for segment in fs::read_dir(queue(path)).unwrap() {
        let segment = segment.unwrap();
        fs::copy(segment.path(), queue(to).join(segment.file_name())).unwrap();
    }
}

fn bytes_of(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(bytes_of(&path));
        } else {
            found.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    found
}

#[test]
fn entries_are_read_and_checked_without_a_change_of_a_byte() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [path, copy] = [&folders[0], &folders[1]].map(|folder| folder.path().join("fleet.redb"));
    let builder = || {
        let clock = ManualClock::new(NOW.parse().unwrap());
        Engine::builder().clock(clock).seed(5)
    };
    let engine = builder().open(&path).unwrap();
    begin(&engine);
    for number in 0..8 {
        write(&engine, number);
        post(&engine, 10 + i32::try_from(number).unwrap());
    }
    let facts = Facts::read(&engine).unwrap();
    copied(&path, &copy);
    let before = bytes_of(folders[1].path());
    let reader = builder().open_read_only(&copy).unwrap();
    assert_eq!(Facts::read(&reader).unwrap(), facts);
    let backup = folders[0].path().join("backup.redb");
    reader.backup(&backup).unwrap();
    drop(reader);
    assert_eq!(
        Engine::check_file(&copy).unwrap().problems,
        Vec::<String>::new()
    );
    assert_eq!(bytes_of(folders[1].path()), before);
    assert_eq!(
        Facts::read(&builder().open_read_only(&backup).unwrap()).unwrap(),
        facts
    );
    // Nothing is lost either where the queue moves into the file.
    let mut table = Config::default();
    table.queue_storage = QueueStorage::Table;
    let engine = builder().config(table).open(&copy).unwrap();
    assert_eq!(Facts::read(&engine).unwrap(), facts);
    assert!(
        bytes_of(folders[1].path())
            .keys()
            .all(|file| file.extension().is_some())
    );
}

/// Each bit of a frame that holds an entry, one at a time.
#[test]
fn damaged_entry_is_refused_unless_the_file_has_it() {
    let disk = Recorder::default();
    let engine = open(&disk).unwrap();
    begin(&engine);
    let (mut facts, mut written) = (Vec::new(), Vec::new());
    for number in 1..4 {
        let before = frames(&disk).len();
        write(&engine, number);
        written.push(frames(&disk).swap_remove(before));
        post(&engine, 10 + i32::try_from(number).unwrap());
        facts.push(Facts::read(&engine).unwrap());
    }
    let whole = facts.pop().unwrap();
    let contents = disk.contents();
    let open_damaged = |contents: &Contents, file: u32, place: usize, bit: u8| {
        let mut contents = contents.clone();
        contents.queue.as_mut().unwrap().get_mut(&file).unwrap()[place] ^= bit;
        open(&Disk::holding(contents))
    };
    let (mut refused, mut tried) = (0, 0);
    for (file, bytes) in &written {
        for place in bytes.clone() {
            tried += 1;
            match open_damaged(&contents, *file, place, 1 << (place % 8)) {
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Corrupted, "{error}");
                    assert!(error.to_string().contains("restore a backup"), "{error}");
                    refused += 1;
                }
                // Nothing is written after the end of a frame.
                Ok(engine) => assert_eq!(Facts::read(&engine).unwrap(), whole, "{place}"),
            }
        }
    }
    assert!(refused > 250, "{refused} of {tried}");
    let mut damaged = contents;
    let (file, bytes) = &written[0];
    damaged.queue.as_mut().unwrap().get_mut(file).unwrap()[bytes.start + 40] ^= 1;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fleet.redb");
    stored(&damaged, &path);
    let problems = Engine::check_file(&path).unwrap().problems;
    assert!(
        problems.len() == 1 && problems[0].contains("acknowledged are missing"),
        "{problems:?}"
    );
    // Once the file has them, no damage of these frames matters.
    engine.maintain().unwrap();
    let synced = disk.contents();
    let kept = Facts::read(&open(&Disk::holding(synced.clone())).unwrap()).unwrap();
    for (file, bytes) in &written {
        for place in bytes.clone().step_by(7) {
            let engine = open_damaged(&synced, *file, place, 1).unwrap();
            assert_eq!(Facts::read(&engine).unwrap(), kept, "{place}");
        }
    }
}

/// The storage of the tables fails after the entry was appended: the write is refused for good, or in doubt and then applied.
#[test]
fn entry_that_cannot_be_applied_is_passed_over_or_applied_later() {
    let (mut refused, mut doubtful) = (0, 0);
    let operations = [
        Operation::Read,
        Operation::Write,
        Operation::Sync,
        Operation::SetLen,
    ];
    for operation in operations {
        for nth in 0..12 {
            for lasts in [false, true] {
                let disk = Disk::crashing();
                let mut config = Config::default();
                config.limits.cache_bytes = 0;
                let engine = open_with(&disk, &config).unwrap();
                begin(&engine);
                post(&engine, 2);
                write(&engine, 1);
                let fault = if lasts { Fault::From } else { Fault::Once };
                disk.fail_part(Part::Store, fault(operation, nth));
                let written = engine.put_workspace(desk("ws-9", "AVAILABLE", "asmith"));
                disk.fail(Fault::None);
                let there = |engine: &Engine| engine.workspace("ws-9").unwrap().is_some();
                let there_now = there(&engine);
                match &written {
                    Ok(()) => assert!(there_now),
                    Err(error) if error.kind() == ErrorKind::Indeterminate => doubtful += 1,
                    Err(_) => {
                        refused += 1;
                        assert!(!there_now, "{operation:?} {nth}");
                    }
                }
                // Another write is acknowledged after it: a crash changes neither.
                engine
                    .put_workspace(desk("ws-8", "AVAILABLE", "asmith"))
                    .unwrap();
                let facts = Facts::read(&engine).unwrap();
                assert_eq!(there(&engine), there_now, "{operation:?} {nth}");
                let cut = open(&Disk::holding(disk.durable())).unwrap();
                assert_eq!(Facts::read(&cut).unwrap(), facts, "{operation:?} {nth}");
            }
        }
    }
    println!("{refused} refused, {doubtful} in doubt");
    assert!(refused > 0, "no write was refused");
}

/// An entry whose sync failed, which an older record keeps from being trimmed: a later write that has no entry decides that it never was.
#[test]
fn entry_in_doubt_does_not_come_back_after_a_later_write() {
    for size in [1, 9000] {
        let disk = Disk::crashing();
        let engine = open(&disk).unwrap();
        begin(&engine);
        post(&engine, 2);
        disk.fail_part(Part::Queue, Fault::Once(Operation::Sync, 0));
        let doubtful = engine.put_workspace(desk("ws-1", "AVAILABLE", "first"));
        disk.fail(Fault::None);
        assert_eq!(doubtful.unwrap_err().kind(), ErrorKind::Indeterminate);
        let long = (0..size).map(|number| {
            let mut desk = desk(&format!("ws-{}", number + 1), "AVAILABLE", "second");
            desk.computer_name = Some("x".repeat(200));
            desk
        });
        engine.put_workspaces(long.collect()).unwrap();
        let facts = Facts::read(&engine).unwrap();
        for contents in [disk.contents(), disk.durable()] {
            let engine = open(&Disk::holding(contents)).unwrap();
            assert_eq!(Facts::read(&engine).unwrap(), facts, "{size}");
            let found = engine.workspace("ws-1").unwrap().unwrap().workspace;
            assert_eq!(found.username.as_deref(), Some("second"));
        }
    }
}

/// A record that is refused for want of space is not acknowledged with the write that shares its batch.
#[test]
fn refused_record_is_refused_also_beside_a_write() {
    let disk = Disk::default();
    let free = Arc::new(AtomicU64::new(u64::MAX));
    let mut config = Config::default();
    config.commit_driver = CommitDriver::Host;
    let least = config.limits.free_bytes_min;
    let builder = Engine::builder()
        .clock(ManualClock::new(NOW.parse().unwrap()))
        .seed(5)
        .free_space({
            let free = Arc::clone(&free);
            move || Some(free.load(Ordering::SeqCst))
        });
    let engine = Queue::Folder.open(builder, &config, &disk).unwrap();
    begin(&engine);
    free.store(least * 3 / 4, Ordering::SeqCst);
    let posted = engine.record_async(stats("ws-0", "jdoe", 2, NOW)).unwrap();
    let put = engine.act_async(ActionRequest::new(Action::Reboot, "ws-0"));
    engine.commit_pending();
    assert_eq!(block_on(posted).unwrap_err().kind(), ErrorKind::LowDisk);
    block_on(put).unwrap();
    assert_eq!(engine.queue_count(), 0);
}

/// A store that only changes its inventory uses its segments again.
#[test]
fn segments_of_entries_alone_are_used_again() {
    let disk = Disk::default();
    let engine = open(&disk).unwrap();
    for number in 0..400 {
        engine
            .put_workspace(desk(&format!("ws-{number}"), "AVAILABLE", "asmith"))
            .unwrap();
        engine.maintain().unwrap();
        let segments = disk.contents().queue.map_or(0, |queue| queue.len());
        assert!(segments < 14, "{segments} after {number}");
    }
}

/// Removing telemetry is in the log, and what it removes is filed before: both in the same order after a crash.
#[test]
fn removal_after_filing_is_applied_again_to_the_same_records() {
    let disk = Disk::crashing();
    let engine = open(&disk).unwrap();
    begin(&engine);
    for id in 2..40 {
        post(&engine, id);
    }
    let selection = TelemetrySelection {
        instance_id: Some("ws-0".into()),
        ..TelemetrySelection::default()
    };
    engine.remove_telemetry(&selection).unwrap();
    post(&engine, 99);
    let facts = Facts::read(&engine).unwrap();
    let cut = open(&Disk::holding(disk.durable())).unwrap();
    assert_eq!(Facts::read(&cut).unwrap(), facts);
}
