//! Damage to the queue under a running engine: no record changes, the others stay, and it is reported.

#![cfg(unix)]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use deskfleet::{Config, Engine, ErrorKind, EventType};
use deskfleet_tests::damaged_queue::{
    FRAME_HEAD, NOW, beside, builder, damage, filled, frame, ids, is_damaged, post, records,
    reporting, segment,
};
use deskfleet_tests::disk::{Disk, Fault, Operation};
use deskfleet_tests::events::kept;
use deskfleet_tests::files::{Part, Queue};
use tempfile::TempDir;

/// Flips a byte of a segment under a running engine, reads, files if so, closes and opens again; returns whether a record was lost.
fn flip_a_byte(offset: u64, block: Option<i32>, files: bool) {
    let what = format!("byte {offset}, filed {files}");
    let folder = TempDir::new().unwrap();
    let (path, engine) = filled(folder.path());
    let whole = records(&engine).unwrap();
    damage(&path, offset, 1);
    match records(&engine) {
        Ok(found) => assert!(found == whole && block.is_none(), "{what}"),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::StorageUnavailable, "{what}");
            assert!(block.is_some(), "{what}");
        }
    }
    let left: Vec<_> = (0..4).filter(|id| Some(*id) != block).collect();
    let whole: Vec<_> = left
        .iter()
        .map(|id| whole[usize::try_from(*id).unwrap()].clone())
        .collect();
    if files {
        engine.file_pending().unwrap();
        assert!(records(&engine).unwrap() == whole, "{what}");
        assert_eq!(is_damaged(&engine), block.is_some(), "{what}");
    }
    post(&engine, 9).unwrap();
    engine.close().unwrap();
    assert!(!beside(&path, "-queue").exists());
    let engine = builder().open(&path).unwrap();
    assert!(records(&engine).unwrap()[..whole.len()] == whole, "{what}");
    assert_eq!(ids(&engine).last(), Some(&9), "{what}");
    assert_eq!(is_damaged(&engine), block.is_some(), "{what}");
    let problems = engine.check().unwrap().problems.len();
    assert_eq!(problems, usize::from(block.is_some()), "{what}");
    assert_eq!(beside(&path, "-damaged").exists(), block.is_some());
    assert!(engine.workspace("ws-1").unwrap().is_some());
}

#[test]
fn flipped_byte_of_a_segment_in_use_loses_its_own_block_at_most() {
    let folder = TempDir::new().unwrap();
    let (path, engine) = filled(folder.path());
    let frames: Vec<_> = (0..4).map(|n| frame(&path, n)).collect();
    drop(engine);
    // The header, and all of the last frame but one; of the others the first and last bytes of a block.
    let (start, length) = frames[2];
    let mut bytes: Vec<_> = (0..48).step_by(5).collect();
    bytes.extend(start..start + FRAME_HEAD + length);
    for (start, length) in [frames[0], frames[1], frames[3]] {
        bytes.extend([start + FRAME_HEAD, start + FRAME_HEAD + length - 1]);
    }
    for (turn, offset) in bytes.into_iter().enumerate() {
        let hit = |(start, length): &(u64, u64)| {
            (start + FRAME_HEAD..start + FRAME_HEAD + length).contains(&offset)
        };
        let block = frames.iter().position(hit).filter(|block| *block > 0);
        let block = block.map(|block| i32::try_from(block).unwrap());
        flip_a_byte(offset, block, turn % 2 == 0);
    }
}

#[test]
fn damaged_block_is_kept_in_a_file_until_a_person_moves_it_away() {
    let folder = TempDir::new().unwrap();
    let (path, engine) = filled(folder.path());
    drop(engine);
    let (reported, message) = reporting(builder());
    let engine = reported.open(&path).unwrap();
    for id in 4..7 {
        post(&engine, id).unwrap();
    }
    let (start, length) = frame(&path, 1);
    damage(&path, start + FRAME_HEAD, 8);
    let bytes = fs::read(segment(&path)).unwrap();
    let at = usize::try_from(start + FRAME_HEAD).unwrap();
    let bytes = &bytes[at..at + usize::try_from(length).unwrap()];
    engine.maintain().unwrap();
    assert_eq!(ids(&engine), [0, 1, 2, 3, 4, 6]);
    let aside = beside(&path, "-damaged");
    let line = fs::read_to_string(&aside).unwrap();
    let hex = bytes.iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    });
    for part in [
        format!("\"place\":\"segment 0, byte {at}\""),
        "\"records\":1".to_owned(),
        format!("\"receivedAt\":\"{NOW}\""),
        format!("\"bytes\":\"{hex}\""),
    ] {
        assert!(line.contains(&part), "{part} in {line}");
    }
    assert_eq!(line.lines().count(), 1);
    assert!(is_damaged(&engine));
    engine.maintain().unwrap();
    let message = message.lock().unwrap().clone();
    assert_eq!(message.len(), 1, "{message:?}");
    assert!(
        message[0].contains(&aside.display().to_string()),
        "{message:?}"
    );
    let events = kept(&engine).unwrap();
    let filed: Vec<_> = events
        .iter()
        .filter(|event| event.kind == EventType::TelemetryFiled)
        .filter(|event| event.detail.contains("damaged"))
        .collect();
    assert_eq!(filed.len(), 1, "{events:?}");
    assert_eq!(filed[0].detail, "{\"records\":5,\"damaged\":1}");
    engine.close().unwrap();
    let report = Engine::check_file(&path).unwrap();
    assert!(report.problems[0].contains("-damaged"), "{report:?}");
    fs::remove_file(&aside).unwrap();
    assert_eq!(
        Engine::check_file(&path).unwrap().problems,
        Vec::<String>::new()
    );
    assert!(!is_damaged(&builder().open(&path).unwrap()));
}

/// The files of an engine as a kill leaves them.
fn killed(path: &Path, folder: &Path) -> PathBuf {
    let copy = folder.join("killed.redb");
    fs::copy(path, &copy).unwrap();
    fs::create_dir(beside(&copy, "-queue")).unwrap();
    fs::copy(segment(path), segment(&copy)).unwrap();
    copy
}

#[test]
fn damage_that_is_met_after_a_kill_does_not_keep_the_store_from_opening() {
    for n in 1..3 {
        let folder = TempDir::new().unwrap();
        let (path, _engine) = filled(folder.path());
        let (start, _) = frame(&path, n);
        damage(&path, start + FRAME_HEAD, 8);
        let killed = killed(&path, folder.path());
        let problems = Engine::check_file(&killed).unwrap().problems;
        assert_eq!(problems.len(), 1, "{problems:?}");
        // Once more killed before anything was filed.
        let engine = builder().open(&killed).unwrap();
        assert!(is_damaged(&engine));
        let again = folder.path().join("again");
        fs::create_dir(&again).unwrap();
        let killed = self::killed(&killed, &again);
        drop(engine);
        let engine = builder().open(&killed).unwrap();
        let left: Vec<_> = (0..4)
            .filter(|id| *id != i32::try_from(n).unwrap())
            .collect();
        assert_eq!(ids(&engine), left);
        engine.file_pending().unwrap();
        assert_eq!(ids(&engine), left);
        assert!(is_damaged(&engine));
        engine.close().unwrap();
        assert!(beside(&killed, "-damaged").exists());
        assert_eq!(ids(&builder().open(&killed).unwrap()), left);
    }
}

#[test]
fn backup_leaves_damage_out_and_says_so() {
    let folder = TempDir::new().unwrap();
    let (path, engine) = filled(folder.path());
    drop(engine);
    let (reported, message) = reporting(builder());
    let engine = reported.open(&path).unwrap();
    post(&engine, 4).unwrap();
    post(&engine, 5).unwrap();
    let (start, _) = frame(&path, 0);
    damage(&path, start + FRAME_HEAD, 8);
    let copy = folder.path().join("copy.redb");
    engine.backup(&copy).unwrap();
    let message = message.lock().unwrap().clone();
    assert_eq!(message.len(), 1, "{message:?}");
    assert!(
        message[0].contains("the backup lacks blocks"),
        "{message:?}"
    );
    let copy = builder().open(&copy).unwrap();
    assert_eq!(ids(&copy), [0, 1, 2, 3, 5]);
    copy.ready().unwrap();
    assert_eq!(copy.check().unwrap().problems, Vec::<String>::new());
}

#[test]
fn queue_of_damaged_blocks_alone_is_filed_to_its_end() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("fleet.redb");
    let engine = builder().open(&path).unwrap();
    (0..3).for_each(|id| post(&engine, id).unwrap());
    for n in 0..3 {
        let (start, length) = frame(&path, n);
        damage(&path, start + FRAME_HEAD, usize::try_from(length).unwrap());
    }
    engine.file_pending().unwrap();
    assert_eq!((engine.queue_count(), ids(&engine)), (0, Vec::new()));
    let lines = fs::read_to_string(beside(&path, "-damaged")).unwrap();
    assert_eq!(lines.lines().count(), 3);
    post(&engine, 3).unwrap();
    engine.file_pending().unwrap();
    assert_eq!(ids(&engine), [3]);
}

#[test]
fn read_that_fails_once_sets_nothing_aside() {
    for n in 0..6 {
        let disk = Disk::new();
        let engine = Queue::Folder
            .open(builder(), &Config::default(), &disk)
            .unwrap();
        (0..3).for_each(|id| post(&engine, id).unwrap());
        disk.fail_part(Part::Queue, Fault::Once(Operation::Read, n));
        engine.file_pending().unwrap();
        disk.fail(Fault::None);
        assert_eq!((ids(&engine), engine.queue_count()), (vec![0, 1, 2], 0));
        engine.ready().unwrap();
    }
}

#[test]
fn segments_that_cannot_be_read_stay_until_they_can() {
    let disk = Disk::new();
    let engine = Queue::Folder
        .open(builder(), &Config::default(), &disk)
        .unwrap();
    (0..3).for_each(|id| post(&engine, id).unwrap());
    disk.fail_part(Part::Queue, Fault::From(Operation::Read, 0));
    engine.file_pending().unwrap_err();
    assert_eq!(engine.queue_count(), 3);
    engine.close().unwrap_err();
    disk.fail(Fault::None);
    let engine = Queue::Folder
        .open(builder(), &Config::default(), &disk)
        .unwrap();
    assert_eq!(ids(&engine), [0, 1, 2]);
    engine.ready().unwrap();
}

#[test]
fn damage_that_cannot_be_set_aside_stops_filing_alone_and_loses_nothing_else() {
    let folder = TempDir::new().unwrap();
    let (path, engine) = filled(folder.path());
    drop(engine);
    let engine = builder().open(&path).unwrap();
    (4..6).for_each(|id| post(&engine, id).unwrap());
    let (start, _) = frame(&path, 0);
    damage(&path, start + FRAME_HEAD, 8);
    // Nothing can be written there.
    let aside = beside(&path, "-damaged");
    fs::create_dir(&aside).unwrap();
    let error = engine.maintain().unwrap_err();
    assert!(error.to_string().contains("-damaged"), "{error}");
    assert_eq!(engine.queue_count(), 5);
    post(&engine, 6).unwrap();
    // The second spare segment is made by the rest of upkeep.
    assert!(beside(&path, "-queue").join("000002.segment").exists());
    engine.close().unwrap();
    assert!(segment(&path).exists(), "closing leaves the segments");
    let engine = builder().open(&path).unwrap();
    assert_eq!(ids(&engine), [0, 1, 2, 3, 5, 6]);
    fs::remove_dir(&aside).unwrap();
    engine.file_pending().unwrap();
    assert_eq!(ids(&engine), [0, 1, 2, 3, 5, 6]);
    engine.close().unwrap();
    assert!(!beside(&path, "-queue").exists());
    assert_eq!(fs::read_to_string(&aside).unwrap().lines().count(), 1);
}

#[test]
fn damage_on_a_store_that_is_only_read_is_not_passed_over() {
    let folder = TempDir::new().unwrap();
    let (path, _engine) = filled(folder.path());
    let (start, _) = frame(&path, 1);
    damage(&path, start + FRAME_HEAD, 8);
    let killed = killed(&path, folder.path());
    let engine = builder().open_read_only(&killed).unwrap();
    let error = engine.file_pending().unwrap_err();
    assert!(error.to_string().contains("open it to write"), "{error}");
    assert!(!beside(&killed, "-damaged").exists());
}
