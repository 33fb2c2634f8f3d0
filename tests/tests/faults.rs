//! Disks that fail, transiently or until they are repaired, and full disks: writes return 503 with `Retry-After`, reads
//! go on, and service resumes without a restart.

#![allow(clippy::print_stdout, reason = "tests")]

use std::fs;
use std::io::Write as _;
use std::process::Command;

use bytes::Bytes;
use deskfleet::{ActivityRecord, Engine, ErrorKind, ManualClock, NewKey, Nullable, Record, Scope};
use deskfleet_tests::conformance::case::NOW;
use deskfleet_tests::disk::{Disk, Fault, Operation};
use deskfleet_tests::failing::{Acknowledged, Case, PROFILE, failure_of_the_disk, status};
use deskfleet_tests::files::{Part, Queue};
use http::Request;
use tempfile::TempDir;

/// Reads, by endpoint.
fn reads(engine: &Engine, key: &str) -> Vec<u16> {
    let paths = [
        "/api/Information/GetAllWorkSpaces",
        "/api/Information/Get24HourActivity",
        "/api/Information/GetAdminActivity",
    ];
    let ask = |path: &str| {
        let request = Request::get(path).header("x-api-key", key);
        status(&engine.handle(request.body(Bytes::new()).unwrap()))
    };
    paths.into_iter().map(ask).collect()
}

/// Writes of several kinds, and filing.
fn writes(engine: &Engine, acknowledged: &mut Acknowledged, large: bool) {
    if large {
        let grown = engine.record_all(&vec![long_activity(); 40]);
        // It says so where it finds too little space to move what is stored.
        let compacted = engine.compact().map(drop);
        let compacted = match compacted {
            Err(error) if error.kind() == ErrorKind::LowDisk => Ok(()),
            compacted => compacted,
        };
        for error in [grown.err(), compacted.err()].into_iter().flatten() {
            failure_of_the_disk(&error);
        }
    }
    for round in 0..3 {
        acknowledged.post(engine, 10 + round);
        acknowledged.put(engine, &format!("ws-{round}"));
        if let Err(error) = engine.file_pending() {
            failure_of_the_disk(&error);
        }
    }
}

/// A record whose text makes the file grow.
fn long_activity() -> Record {
    Record::Activity(Box::new(ActivityRecord {
        activity: Nullable::Value("x".repeat(60_000)),
        instance_id: Nullable::Value("i-long".to_owned()),
        ..ActivityRecord::default()
    }))
}

/// Writes on a failing disk, repairs it, goes on, and cuts the power. Returns whether the disk failed at all.
fn survives(case: &Case, fault: Fault) -> bool {
    let what = format!("{fault:?}, {case:?}");
    let disk = Disk::crashing();
    let store = case.engine(&disk);
    let key = store
        .issue_key(NewKey::new("reader", [Scope::Read]))
        .unwrap();
    let mut acknowledged = Acknowledged::default();
    // A second write would begin the log.
    if case.posted {
        assert!(acknowledged.put(&store, "ws-a"));
        assert!(acknowledged.post(&store, 1));
        store.file_pending().unwrap();
        assert!(acknowledged.post(&store, 2));
    }

    case.fail(&disk, fault);
    writes(&store, &mut acknowledged, case.large);
    let failed = disk.failed() > 0;
    let statuses = reads(&store, &key.secret);
    assert!(
        !case.reads_work || statuses == [200; 3],
        "{what}: reads go on: {statuses:?}"
    );
    disk.fail(Fault::None);

    assert_eq!(
        reads(&store, &key.secret),
        [200; 3],
        "{what}: reads come back without a write"
    );
    assert!(
        acknowledged.post(&store, 90),
        "{what}: no restart is needed"
    );
    assert!(acknowledged.put(&store, "ws-z"), "{what}");
    assert_eq!(reads(&store, &key.secret), [200; 3], "{what}");
    let cut = Disk::holding(disk.durable());
    acknowledged.demand(&store, &what);
    case.close(&store, &disk, &acknowledged, &what);
    acknowledged.demand(&case.engine(&cut), &format!("{what}, power cut"));
    failed
}

/// Every n, until the disk sees fewer operations.
fn for_all_n(operation: Operation) {
    let reads_work = !matches!(operation, Operation::Read | Operation::List);
    for case in Case::all(reads_work, operation == Operation::SetLen) {
        if !reads_work && !case.setup.name.starts_with(PROFILE) {
            continue; // Reads are the same in every profile.
        }
        for fault in [Fault::Once, Fault::From] {
            let failures = (0..).take_while(|n| survives(&case, fault(operation, *n)));
            let failures = failures.count();
            println!("{operation:?}: {failures} places, {case:?}");
            let is_of_folder = matches!(
                operation,
                Operation::Create | Operation::List | Operation::Open | Operation::Remove
            );
            let some = match (case.setup.queue, case.part) {
                (Queue::Table, _) | (_, Some(Part::Store)) => !is_of_folder,
                (Queue::Folder, _) => match operation {
                    Operation::Create => !case.posted,
                    // The folder is listed when it is opened and closed; records in memory are not read.
                    Operation::List | Operation::Remove => false,
                    Operation::Read
                    | Operation::Write
                    | Operation::SetLen
                    | Operation::Sync
                    | Operation::Open => true,
                },
            };
            assert!(
                failures > 0 || !some,
                "{operation:?} never failed, {case:?}"
            );
        }
    }
}

#[test]
fn nth_read_failure_keeps_acknowledged_writes() {
    for_all_n(Operation::Read);
}

#[test]
fn nth_write_failure_keeps_acknowledged_writes() {
    for_all_n(Operation::Write);
}

#[test]
fn nth_resize_failure_keeps_acknowledged_writes() {
    for_all_n(Operation::SetLen);
}

#[test]
fn nth_sync_failure_keeps_acknowledged_writes() {
    for_all_n(Operation::Sync);
}

#[test]
fn nth_failure_to_make_list_or_remove_a_segment_keeps_acknowledged_writes() {
    for operation in [
        Operation::Create,
        Operation::List,
        Operation::Open,
        Operation::Remove,
    ] {
        for_all_n(operation);
    }
}

#[test]
fn full_disk_at_every_block_keeps_acknowledged_writes() {
    for (large, step) in [(false, 1), (true, 37)] {
        for case in Case::all(true, large) {
            let left = (0..).step_by(step);
            let failures = left.take_while(|left| survives(&case, Fault::Full(*left)));
            let failures = failures.count();
            println!("full: {failures} places, {case:?}");
            assert!(failures > 0, "it was never full");
        }
    }
}

/// Mounts a file system of a few MB, if that is allowed.
struct SmallDisk(TempDir);

impl SmallDisk {
    fn mount() -> Option<Self> {
        let folder = TempDir::new().unwrap();
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=4m", "tmpfs"])
            .arg(folder.path())
            .output();
        mount
            .is_ok_and(|done| done.status.success())
            .then_some(Self(folder))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

/// The same on a real file system, through the file backend.
#[test]
fn full_file_system_keeps_acknowledged_writes() {
    let Some(disk) = SmallDisk::mount() else {
        // Written past the capture of the test runner: a skipped test must not look like one that passed.
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED full_file_system_keeps_acknowledged_writes: nothing may be mounted here"
        );
        return;
    };
    let (path, balloon) = (
        disk.0.path().join("fleet.redb"),
        disk.0.path().join("balloon"),
    );
    let open = || {
        let builder = Engine::builder().clock(ManualClock::new(NOW.parse().unwrap()));
        builder.seed(7).open(&path).unwrap()
    };
    let store = open();
    let key = store
        .issue_key(NewKey::new("reader", [Scope::Read]))
        .unwrap();
    let mut acknowledged = Acknowledged::default();
    for round in 0..3 {
        let mut file = fs::File::create(&balloon).unwrap();
        while file.write_all(&[1; 4096]).is_ok() {}
        let full = (0..20_000).any(|id| !acknowledged.post(&store, round * 20_000 + id));
        assert!(full, "round {round}: the disk never was full");
        assert_eq!(reads(&store, &key.secret), [200; 3]);
        drop(file);
        fs::remove_file(&balloon).unwrap();
        assert!(
            acknowledged.put(&store, &format!("ws-{round}")),
            "no restart is needed"
        );
        store.file_pending().unwrap();
    }
    let counted = |store: &Engine| {
        let report = store.check().unwrap();
        assert_eq!(report.problems, Vec::<String>::new());
        (
            report.queued_records + report.history_records,
            report.workspaces,
        )
    };
    let records = acknowledged.records.len() as u64;
    let held = counted(&store);
    assert!(held.0 >= records && held.1 == 3, "{held:?} of {records}");
    store.close().unwrap();
    assert_eq!(counted(&open()), held);
}
