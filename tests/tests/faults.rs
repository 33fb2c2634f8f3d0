//! Disks that fail, transiently or until they are repaired, and full disks: writes return 503 with `Retry-After`, reads
//! go on, and service resumes without a restart.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests"
)]

use std::fs;
use std::io::Write as _;
use std::process::Command;

use bytes::Bytes;
use deskfleet::{
    ActivityRecord, Config, Engine, EngineError, ErrorKind, ManualClock, NewKey, Nullable, Record,
    Scope, StorageBackend,
};
use deskfleet_tests::conformance::case::NOW;
use deskfleet_tests::conformance::fixtures::desk;
use deskfleet_tests::crash::profiles;
use deskfleet_tests::disk::{Disk, Fault, Operation};
use deskfleet_tests::posting::{ids, post};
use http::{Request, Response};
use tempfile::TempDir;

/// An engine that caches next to nothing, so that it reads its disk.
fn engine(config: &Config, backend: impl StorageBackend) -> Engine {
    let mut config = config.clone();
    config.limits.cache_bytes = 0;
    let builder = Engine::builder().clock(ManualClock::new(NOW.parse().unwrap()));
    builder
        .seed(7)
        .config(config)
        .open_backend(backend)
        .unwrap()
}

fn status(response: &Response<Bytes>) -> u16 {
    let status = response.status().as_u16();
    assert!(matches!(status, 200 | 503), "{status}");
    let retry = response.headers().contains_key("retry-after");
    assert_eq!(retry, status == 503, "a 503 has Retry-After");
    status
}

/// The result of a write on a failing disk.
fn failure_of_the_disk(error: &EngineError) {
    let kind = error.kind();
    assert!(
        matches!(
            kind,
            ErrorKind::StorageUnavailable | ErrorKind::Indeterminate
        ),
        "{error}"
    );
}

/// What was acknowledged.
#[derive(Debug, Default, Clone)]
struct Acknowledged {
    records: Vec<usize>,
    desks: Vec<String>,
}

impl Acknowledged {
    fn post(&mut self, engine: &Engine, id: usize) -> bool {
        let good = status(&engine.handle(post(0, id))) == 200;
        if good {
            self.records.push(id);
        }
        good
    }

    fn put(&mut self, engine: &Engine, id: &str) -> bool {
        match engine.put_workspace(desk(id, "AVAILABLE", "jdoe")) {
            Ok(()) => self.desks.push(id.to_owned()),
            Err(error) => {
                failure_of_the_disk(&error);
                return false;
            }
        }
        true
    }

    /// All of it is there, and the store is whole.
    fn demand(&self, engine: &Engine, what: &str) {
        let held = ids(engine, 0);
        assert!(
            self.records.iter().all(|id| held.contains(id)),
            "{what}: acknowledged {:?}, held {held:?}",
            self.records
        );
        for id in &self.desks {
            assert!(
                engine.workspace(id).unwrap().is_some(),
                "{what}: {id} is lost"
            );
        }
        let problems = engine.check().unwrap().problems;
        assert_eq!(problems, Vec::<String>::new(), "{what}");
    }
}

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
        let compacted = engine.compact().map(drop);
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
fn survives(config: &Config, fault: Fault, [reads_work, large]: [bool; 2]) -> bool {
    let what = format!("{fault:?}");
    let disk = Disk::crashing();
    let store = engine(config, disk.backend());
    let key = store
        .issue_key(NewKey {
            name: "reader".to_owned(),
            scopes: [Scope::Read].into_iter().collect(),
            expires: None,
        })
        .unwrap();
    let mut acknowledged = Acknowledged::default();
    assert!(acknowledged.post(&store, 1) && acknowledged.put(&store, "ws-a"));
    store.file_pending().unwrap();
    assert!(acknowledged.post(&store, 2));

    disk.fail(fault);
    writes(&store, &mut acknowledged, large);
    let failed = disk.failed() > 0;
    let statuses = reads(&store, &key.secret);
    assert!(
        !reads_work || statuses == [200; 3],
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
    drop(store);
    acknowledged.demand(
        &engine(config, cut.backend()),
        &format!("{what}, power cut"),
    );
    failed
}

/// Every n, until the disk sees fewer operations.
fn for_all_n(operation: Operation, config: &Config) {
    for fault in [Fault::Once, Fault::From] {
        let kind = [operation != Operation::Read, operation == Operation::SetLen];
        let failures = (0..).take_while(|n| survives(config, fault(operation, *n), kind));
        let failures = failures.count();
        println!("{operation:?}: {failures} places");
        assert!(failures > 0, "{operation:?} never failed");
    }
}

#[test]
fn nth_read_failure_keeps_acknowledged_writes() {
    for_all_n(Operation::Read, &Config::default());
}

#[test]
fn nth_write_failure_keeps_acknowledged_writes() {
    for (_, config) in profiles() {
        for_all_n(Operation::Write, &config);
    }
}

#[test]
fn nth_resize_failure_keeps_acknowledged_writes() {
    for (_, config) in profiles() {
        for_all_n(Operation::SetLen, &config);
    }
}

#[test]
fn nth_sync_failure_keeps_acknowledged_writes() {
    for (_, config) in profiles() {
        for_all_n(Operation::Sync, &config);
    }
}

#[test]
fn full_disk_at_every_block_keeps_acknowledged_writes() {
    for (_, config) in profiles() {
        for (large, step) in [(false, 1), (true, 37)] {
            let left = (0..).step_by(step);
            let failures =
                left.take_while(|left| survives(&config, Fault::Full(*left), [true, large]));
            let failures = failures.count();
            println!("full: {failures} places");
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
        .issue_key(NewKey {
            name: "reader".to_owned(),
            scopes: [Scope::Read].into_iter().collect(),
            expires: None,
        })
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
