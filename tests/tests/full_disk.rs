//! A disk that fills up: what gives way first, what goes on, and what comes back.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use deskfleet::{
    ActivityRecord, Clock as _, CommitDriver, Config, Engine, EngineBuilder, ErrorKind, Event,
    IssuedKey, ManualClock, NewKey, Nullable, Scope, Upkeep, Workspace, cluster::MemoryLog,
};
use deskfleet_tests::cluster::node;
use deskfleet_tests::conformance::case::NOW;
use deskfleet_tests::disk::{Disk, Fault};
use deskfleet_tests::posting::{ids, post};
use http::Request;
use tempfile::TempDir;

const MIB: u64 = 1024 * 1024;

fn builder(driver: CommitDriver) -> EngineBuilder {
    let mut config = Config::default();
    config.commit_driver = driver;
    Engine::builder()
        .clock(ManualClock::new(NOW.parse().unwrap()))
        .seed(7)
        .config(config)
        .upkeep(Upkeep::Host)
}

/// A builder of engines for which the host reports this much free space.
fn with_space(driver: CommitDriver, bytes: u64) -> (EngineBuilder, Arc<AtomicU64>) {
    let free = Arc::new(AtomicU64::new(bytes));
    let reported = Arc::clone(&free);
    let builder = builder(driver).free_space(move || Some(reported.load(Ordering::SeqCst)));
    (builder, free)
}

fn status(engine: &Engine, id: usize) -> u16 {
    engine.handle(post(0, id)).status().as_u16()
}

fn issue(engine: &Engine, name: &str) -> deskfleet::Result<IssuedKey> {
    engine.issue_key(NewKey::new(name, [Scope::Admin]))
}

fn put(engine: &Engine, id: &str) -> deskfleet::Result<()> {
    engine.put_workspace(Workspace {
        id: id.to_owned(),
        ..Workspace::default()
    })
}

fn is_low<T>(result: deskfleet::Result<T>) -> bool {
    result.is_err_and(|error| error.kind() == ErrorKind::LowDisk && error.is_for_space())
}

#[test]
fn classes_of_writes_give_way_one_after_another_and_essential_ones_never_do() {
    let (builder, free) = with_space(CommitDriver::Caller, u64::MAX);
    let engine = builder.open_in_memory().unwrap();
    let keys = ["a", "b", "c"].map(|name| issue(&engine, name).unwrap());
    put(&engine, "ws-1").unwrap();
    free.store(33 * MIB, Ordering::SeqCst);
    assert_eq!(status(&engine, 1), 200);
    engine.ready().unwrap();
    // Telemetry leaves 32 MiB free.
    free.store(32 * MIB, Ordering::SeqCst);
    assert_eq!(status(&engine, 2), 503);
    free.store(32 * MIB - 1, Ordering::SeqCst);
    let not_ready = engine.ready().unwrap_err();
    let message = "telemetry is refused: 33554431 bytes are free on the disk, 33554432 are needed; free some \
                space, or remove telemetry";
    assert_eq!(not_ready.to_string(), message);
    free.store(16 * MIB, Ordering::SeqCst);
    put(&engine, "ws-2").unwrap();
    free.store(16 * MIB - 1, Ordering::SeqCst);
    assert!(is_low(put(&engine, "ws-3")));
    assert!(is_low(issue(&engine, "d")));
    free.store(8 * MIB, Ordering::SeqCst);
    assert_eq!(engine.file_pending().unwrap(), 1);
    free.store(33 * MIB, Ordering::SeqCst);
    assert_eq!(status(&engine, 3), 200);
    free.store(8 * MIB - 1, Ordering::SeqCst);
    assert!(is_low(engine.file_pending()));
    for left in [8 * MIB - 1, 0] {
        free.store(left, Ordering::SeqCst);
        engine.place_hold("ws-1", "A", None).unwrap();
        engine.release_hold("ws-1").unwrap();
        engine.apply_retention().unwrap();
        engine.compact().unwrap();
    }
    engine.revoke_key(keys[0].info.id).unwrap();
    // A last use that is still to be stored must not make it fail.
    let list = Request::get("/operator/keys").header("x-api-key", &keys[2].secret);
    let list = list.body(Bytes::new()).unwrap();
    assert_eq!(engine.handle(list).status(), 200);
    engine.close().unwrap();
}

#[test]
fn upkeep_on_a_full_disk_removes_what_is_old_though_filing_is_refused() {
    let (builder, free) = with_space(CommitDriver::Caller, u64::MAX);
    let clock = ManualClock::new(NOW.parse().unwrap());
    let engine = builder.clock(clock.clone()).open_in_memory().unwrap();
    engine.maintain().unwrap();
    let applied = |engine: &Engine| engine.store_status().unwrap().retention_applied;
    let before = applied(&engine);
    assert_eq!(status(&engine, 1), 200);
    clock.set(clock.now().plus_seconds(7_200));
    free.store(0, Ordering::SeqCst);
    assert!(is_low(engine.maintain()), "a record waits");
    assert_eq!(engine.queue_count(), 1);
    assert!(applied(&engine) > before);
}

/// Sends all, commits once, and returns their statuses.
fn statuses<const N: usize>(engine: &Engine, requests: [Request<Bytes>; N]) -> [u16; N] {
    let mut context = Context::from_waker(Waker::noop());
    let mut futures = requests.map(|request| Box::pin(engine.call(request)));
    for future in &mut futures {
        assert!(future.as_mut().poll(&mut context).is_pending());
    }
    engine.commit_pending();
    futures.each_mut().map(|future| {
        match future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
        {
            Poll::Ready(response) => response.status().as_u16(),
            Poll::Pending => panic!("the commit is over"),
        }
    })
}

#[test]
fn writes_of_one_commit_are_judged_each_by_its_own_class() {
    let (builder, free) = with_space(CommitDriver::Host, u64::MAX);
    let engine = builder.open_in_memory().unwrap();
    let [key, other] = ["a", "b"].map(|name| issue(&engine, name).unwrap());
    put(&engine, "ws-1").unwrap();
    let requests = || {
        let request = |method: &str, path: String| {
            let request = Request::builder().method(method).uri(path);
            let request = request.header("x-api-key", &key.secret);
            request.header("content-type", "application/json")
        };
        let put = request("PUT", "/operator/workspaces/ws-1".to_owned());
        let hold = "/operator/workspaces/ws-1/litigation-hold".to_owned();
        let hold = request("PUT", hold).body(Bytes::from_static(b"{\"matter\":\"A\"}"));
        let revoke = request("DELETE", format!("/operator/keys/{}", other.info.id));
        [
            post(0, 1),
            put.body(Bytes::from_static(b"{}")).unwrap(),
            hold.unwrap(),
            revoke.body(Bytes::new()).unwrap(),
            post(0, 2),
        ]
    };
    free.store(0, Ordering::SeqCst);
    assert_eq!(statuses(&engine, requests()), [503, 503, 200, 200, 503]);
    free.store(20 * MIB, Ordering::SeqCst);
    assert_eq!(statuses(&engine, requests()), [503, 200, 200, 200, 503]);
    assert_eq!(engine.queue_count(), 0);
}

#[test]
fn batch_that_would_leave_too_little_space_is_refused_though_there_is_more_before_it() {
    for in_segments in [false, true] {
        let (builder, free) = with_space(CommitDriver::Caller, 32 * MIB + 200_000);
        let disk = Disk::new();
        let engine = if in_segments {
            builder.open_backend_with_queue(disk.backend(), disk.folder())
        } else {
            builder.open_in_memory()
        };
        let engine = engine.unwrap();
        let record = |length| ActivityRecord {
            activity: Nullable::Value("x".repeat(length)),
            ..ActivityRecord::default()
        };
        engine.record(record(50_000)).unwrap();
        assert!(is_low(engine.record(record(250_000))));
        free.store(u64::MAX, Ordering::SeqCst);
        engine.record(record(250_000)).unwrap();
        assert_eq!(engine.queue_count(), 2);
    }
}

/// A close that has no room to move the queue, and the next start.
#[test]
fn close_without_room_for_the_queue_succeeds_and_leaves_it_in_its_segments() {
    let disk = Disk::new();
    let open = |free: &Arc<AtomicU64>| {
        let reported = Arc::clone(free);
        let builder = builder(CommitDriver::Caller);
        let builder = builder.free_space(move || Some(reported.load(Ordering::SeqCst)));
        builder.open_backend_with_queue(disk.backend(), disk.folder())
    };
    let free = Arc::new(AtomicU64::new(u64::MAX));
    let engine = open(&free).unwrap();
    (0..200).for_each(|id| assert_eq!(status(&engine, id), 200));
    free.store(0, Ordering::SeqCst);
    disk.fail(Fault::Full(0));
    engine.close().unwrap();
    let left = disk.contents();
    let engine = open(&free).unwrap();
    assert_eq!(ids(&engine, 0), (0..200).collect::<Vec<_>>());
    assert_eq!(status(&engine, 200), 503);
    engine.close().unwrap();
    assert_eq!(
        disk.contents().queue.map(|queue| queue.len()),
        left.queue.map(|queue| queue.len()),
        "no segment was removed"
    );
    disk.fail(Fault::None);
    free.store(u64::MAX, Ordering::SeqCst);
    let engine = open(&free).unwrap();
    assert_eq!(status(&engine, 200), 200);
    engine.file_pending().unwrap();
    engine.close().unwrap();
    let engine = open(&free).unwrap();
    assert_eq!(ids(&engine, 0), (0..=200).collect::<Vec<_>>());
}

/// Mounts a file system of some MB, if that is allowed.
struct Volume(TempDir);

impl Volume {
    fn mount() -> Option<Self> {
        let folder = TempDir::new().unwrap();
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=24m", "tmpfs"])
            .arg(folder.path())
            .output();
        mount
            .is_ok_and(|done| done.status.success())
            .then_some(Self(folder))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Takes all that is free.
    fn fill(&self) {
        let mut file = fs::File::create(self.path("balloon")).unwrap();
        while file.write_all(&[1; 4096]).is_ok() {}
    }
}

impl Drop for Volume {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

fn of_reserve(event: &Event<'_>) -> Option<&'static str> {
    if matches!(event, Event::ReserveMissing { .. }) {
        return Some("missing");
    }
    matches!(event, Event::ReserveMade).then_some("made")
}

#[test]
fn essential_writes_on_a_full_volume_take_its_reserve_which_comes_back() {
    let Some(volume) = Volume::mount() else {
        // Written past the capture of the test runner: a skipped test must not look like one that passed.
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED essential_writes_on_a_full_volume_take_its_reserve_which_comes_back: nothing may be mounted here"
        );
        return;
    };
    let (path, reserve) = (volume.path("fleet.redb"), volume.path("fleet.redb-reserve"));
    let free = Arc::new(AtomicU64::new(64 * MIB));
    let events: Arc<std::sync::Mutex<Vec<&str>>> = Arc::default();
    let open = |path: &Path| {
        let (reported, events) = (Arc::clone(&free), Arc::clone(&events));
        let observer = move |event: &Event<'_>| {
            events.lock().unwrap().extend(of_reserve(event));
        };
        let builder = builder(CommitDriver::Caller).observer(observer);
        let builder = builder.free_space(move || Some(reported.load(Ordering::SeqCst)));
        builder.open(path).unwrap()
    };
    let engine = open(&path);
    assert_eq!(fs::metadata(&reserve).unwrap().len(), 4 * MIB);
    let keys: Vec<_> = (0..40)
        .map(|number| issue(&engine, &format!("key-{number}")).unwrap().info.id)
        .collect();
    put(&engine, "ws-1").unwrap();
    (0..100).for_each(|id| assert_eq!(status(&engine, id), 200));
    volume.fill();
    free.store(0, Ordering::SeqCst);
    assert_eq!(status(&engine, 100), 503);
    assert!(is_low(put(&engine, "ws-2")));
    assert!(reserve.exists(), "it is for neither");
    engine.place_hold("ws-1", "A", None).unwrap();
    for key in &keys[..20] {
        engine.revoke_key(*key).unwrap();
    }
    engine.apply_retention().unwrap();
    assert!(is_low(engine.maintain()));
    engine.close().unwrap();
    // What offline commands do.
    let engine = open(&path);
    for key in &keys[20..30] {
        engine.revoke_key(*key).unwrap();
    }
    engine.compact().unwrap();
    engine.close().unwrap();
    let engine = open(&path);
    assert_eq!(ids(&engine, 0), (0..100).collect::<Vec<_>>());
    assert!(!reserve.exists(), "it was used");
    assert!(is_low(engine.maintain()));
    let keys = engine.keys();
    let revoked = keys.iter().filter(|key| key.revoked.is_some());
    assert_eq!(revoked.count(), 30);
    fs::remove_file(volume.path("balloon")).unwrap();
    free.store(11 * MIB, Ordering::SeqCst);
    engine.maintain().unwrap();
    assert!(!reserve.exists(), "filing comes first");
    free.store(12 * MIB, Ordering::SeqCst);
    engine.maintain().unwrap();
    assert_eq!(fs::metadata(&reserve).unwrap().len(), 4 * MIB);
    assert_eq!(*events.lock().unwrap(), ["missing", "missing", "made"]);
    engine.close().unwrap();
    assert!(engine_report(&path).is_empty());
}

fn engine_report(path: &Path) -> Vec<String> {
    Engine::check_file(path).unwrap().problems
}

#[test]
fn node_on_a_full_disk_stops_and_applies_again_what_it_could_not_sync() {
    let clock = ManualClock::new(node::start());
    let log = MemoryLog::new(clock.clone());
    let (one, disk) = (node::node(1, &clock, &log), Disk::new());
    let open = || {
        let builder = node::builder(2, &clock).log(log.clone(), "node-2");
        builder.open_backend(disk.backend()).unwrap()
    };
    let two = open();
    node::follow(&two);
    disk.fail(Fault::Full(0));
    let workspaces = (0..2000).map(|id| node::workspace(&format!("ws-{id}")));
    one.put_workspaces(workspaces.collect()).unwrap();
    node::follow(&two);
    let failed = disk.failed();
    two.close().unwrap();
    assert!(disk.failed() > failed, "it had to be synced");
    disk.fail(Fault::None);
    let two = open();
    node::follow(&two);
    assert_eq!(two.position(), one.position());
    assert!(two.workspace("ws-1999").unwrap().is_some());
}
