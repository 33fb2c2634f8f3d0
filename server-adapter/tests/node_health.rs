//! `/readyz` of a node whose log fails, whose clock is wrong or whose name another process has; and the end of one whose log does not
//! respond.
#![cfg(feature = "cluster")]

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{park, sleep, spawn as spawn_thread};
use std::time::{Duration, SystemTime};

use crate::client::{Answer, Client};
use deskfleet::backends::{MemoryBackend, StorageBackend};
use deskfleet::{
    Engine, Severity, Workspace,
    cluster::{
        Appended, EntryId, Log, LogBounds, LogEntry, LogError, LogErrorKind, MemoryLog, NodeReport,
    },
};
use deskfleet_server::{Metrics, RunningServer, ServerOptions, spawn};

/// Fails a test instead of hanging; nothing is measured by it.
const PATIENCE: Duration = Duration::from_secs(60);

/// What calls of a log come to.
#[derive(Clone, Copy)]
enum State {
    Works,
    Fails,
    /// They never return.
    Hangs,
}

/// A log in memory whose calls may fail or hang. Clones are the same.
#[derive(Clone)]
struct FaultyLog {
    log: MemoryLog,
    state: Arc<AtomicU8>,
}

impl FaultyLog {
    fn new() -> Self {
        Self {
            log: MemoryLog::new(SystemTime::now),
            state: Arc::new(AtomicU8::new(State::Works as u8)),
        }
    }

    fn set(&self, state: State) {
        self.state.store(state as u8, Ordering::SeqCst);
    }

    fn reached(&self) -> Result<&MemoryLog, LogError> {
        let state = || self.state.load(Ordering::SeqCst);
        while state() == State::Hangs as u8 {
            park();
        }
        if state() == State::Fails as u8 {
            return Err(LogError::new(LogErrorKind::Unavailable, "it is down"));
        }
        Ok(&self.log)
    }
}

impl Log for FaultyLog {
    fn append(&self, id: EntryId, body: &[u8]) -> Result<Appended, LogError> {
        self.reached()?.append(id, body)
    }

    fn read(
        &self,
        from: u64,
        bytes_max: usize,
        patience: Duration,
    ) -> Result<Vec<LogEntry>, LogError> {
        self.reached()?.read(from, bytes_max, patience)
    }

    fn bounds(&self, seen: u64) -> Result<LogBounds, LogError> {
        self.reached()?.bounds(seen)
    }

    fn trim(&self, below: u64) -> Result<(), LogError> {
        self.reached()?.trim(below)
    }

    fn report(&self, node: &str, report: &str) -> Result<(), LogError> {
        self.reached()?.report(node, report)
    }

    fn reports(&self) -> Result<Vec<NodeReport>, LogError> {
        self.reached()?.reports()
    }

    fn forget(&self, node: &str) -> Result<(), LogError> {
        self.reached()?.forget(node)
    }
}

/// A server of a node whose clock is `behind`.
fn serve(log: &FaultyLog, seed: u64, behind: Duration) -> RunningServer {
    let builder = Engine::builder().clock(move || SystemTime::now() - behind);
    let builder = builder.seed(seed).log(log.clone(), "node-1");
    spawn(builder.open_in_memory().unwrap(), ServerOptions::default()).unwrap()
}

/// Asks until it is so.
fn readyz_until(server: &RunningServer, is_so: impl Fn(&Answer) -> bool) -> Answer {
    let mut client = Client::connect(server.addr());
    for _ in 0..PATIENCE.as_millis() / 20 {
        let answer = client.ask("GET", "/readyz", "");
        if is_so(&answer) {
            return answer;
        }
        sleep(Duration::from_millis(20));
    }
    unreachable!("it does not happen")
}

#[test]
fn readyz_after_a_failed_call_of_the_log_is_503_until_one_succeeds() {
    let log = FaultyLog::new();
    let server = serve(&log, 1, Duration::ZERO);
    readyz_until(&server, |answer| answer.status == 200);
    log.set(State::Fails);
    let lost = readyz_until(&server, |answer| answer.status == 503);
    assert!(
        lost.body
            .starts_with("LogUnavailable: the log could not be used when that was tried last"),
        "{lost:?}"
    );
    log.set(State::Works);
    readyz_until(&server, |answer| answer.status == 200);
}

#[test]
fn readyz_with_a_wrong_clock_is_503_and_says_how_wrong_it_is() {
    let log = FaultyLog::new();
    let server = serve(&log, 1, Duration::from_secs(29));
    let wrong = readyz_until(&server, |answer| answer.body.starts_with("WrongClock: "));
    assert_eq!(wrong.status, 503);
    assert!(
        wrong.body.contains(" s behind that of the log"),
        "{wrong:?}"
    );
}

#[test]
fn readyz_of_a_node_whose_name_another_process_has_warns() {
    let log = FaultyLog::new();
    let servers = [1, 2].map(|seed| serve(&log, seed, Duration::ZERO));
    for server in &servers {
        let warned = readyz_until(server, |answer| answer.body.contains("\nwarning: "));
        assert_eq!(warned.status, 200);
        let warning = "\nwarning: another process reports under the name node-1: ";
        assert!(warned.body.contains(warning), "{warned:?}");
    }
}

#[test]
fn conditions_of_a_node_have_its_log_and_the_other_nodes() {
    let log = FaultyLog::new();
    log.log
        .report(
            "node-2",
            r#"{"applied":2,"chain":"00","rules":4,"halted":"it lost entries"}"#,
        )
        .unwrap();
    let metrics = Metrics::default();
    let observed = metrics.clone();
    let builder = Engine::builder().clock(SystemTime::now).seed(1);
    let builder = builder.conditions(move || observed.conditions(None, None));
    let builder = builder.log(log.clone(), "node-1");
    let engine = builder.open_in_memory().unwrap();
    let options = ServerOptions {
        metrics,
        ..ServerOptions::default()
    };
    let server = spawn(engine.clone(), options).unwrap();
    let worst = |code: &str| {
        for _ in 0..PATIENCE.as_millis() / 20 {
            let all = engine.conditions();
            if all.first().is_some_and(|of| of.code == code) {
                return all[0].clone();
            }
            sleep(Duration::from_millis(20));
        }
        unreachable!("{:?}", engine.conditions())
    };
    let halted = worst("NodesHalted");
    assert_eq!(
        (halted.severity, halted.subjects),
        (Severity::Warning, vec!["node-2".to_owned()])
    );
    // It says nothing of this node, which is ready.
    readyz_until(&server, |answer| answer.status == 200);
    log.set(State::Fails);
    let lost = worst("LogUnavailable");
    assert_eq!(lost.severity, Severity::Critical);
    let answer = readyz_until(&server, |answer| answer.status == 503);
    assert_eq!(answer.body, format!("LogUnavailable: {}\n", lost.text));
    let mut client = Client::connect(server.addr());
    let text = client.ask("GET", "/metrics", "").body;
    assert!(text.contains("\ndeskfleet_ready 0\n"), "{text}");
    log.set(State::Works);
    worst("NodesHalted");
}

/// A disk in memory that may be full. Clones are the same.
#[derive(Debug, Clone)]
struct SmallDisk {
    kept: Arc<MemoryBackend>,
    is_full: Arc<AtomicBool>,
}

impl SmallDisk {
    fn room(&self) -> io::Result<()> {
        let is_full = self.is_full.load(Ordering::SeqCst);
        (!is_full)
            .then_some(())
            .ok_or_else(|| io::ErrorKind::StorageFull.into())
    }
}

impl StorageBackend for SmallDisk {
    fn len(&self) -> io::Result<u64> {
        self.kept.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.kept.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.room().and_then(|()| self.kept.set_len(len))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.room().and_then(|()| self.kept.sync_data())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.room().and_then(|()| self.kept.write(offset, data))
    }
}

#[test]
fn node_with_a_full_disk_says_so_and_not_that_the_log_is_lost() {
    let log = FaultyLog::new();
    let disk = SmallDisk {
        kept: Arc::default(),
        is_full: Arc::default(),
    };
    let node = |name: &str, seed| {
        let builder = Engine::builder().clock(SystemTime::now).seed(seed);
        builder.log(log.clone(), name)
    };
    let first = node("node-1", 1).open_in_memory().unwrap();
    let is_full = Arc::clone(&disk.is_full);
    let free = move || Some(u64::from(!is_full.load(Ordering::SeqCst)) << 40);
    let second = node("node-2", 2).free_space(free);
    let second = second.open_backend(disk.clone()).unwrap();
    let servers =
        [first.clone(), second].map(|engine| spawn(engine, ServerOptions::default()).unwrap());
    for server in &servers {
        readyz_until(server, |answer| answer.status == 200);
    }
    disk.is_full.store(true, Ordering::SeqCst);
    let put = |number: u32| {
        let id = format!("ws-{number}");
        let workspace = Workspace {
            id,
            ..Workspace::default()
        };
        first.put_workspace(workspace).unwrap();
    };
    (0..20).for_each(put);
    let mut client = Client::connect(servers[1].addr());
    let mut failures = || {
        let metrics = client.ask("GET", "/metrics", "").body;
        let name = "\ndeskfleet_log_follow_failures_total ";
        let (_, value) = metrics.split_once(name).unwrap();
        value.lines().next().unwrap().parse::<u64>().unwrap()
    };
    let wait_for = |is_so: &mut dyn FnMut() -> bool| {
        let mut rounds = 0..PATIENCE.as_millis() / 20;
        while !is_so() {
            assert!(rounds.next().is_some(), "it does not happen");
            sleep(Duration::from_millis(20));
        }
    };
    wait_for(&mut || failures() > 0);
    let full = readyz_until(&servers[1], |answer| answer.status == 503);
    assert!(full.body.starts_with("LowDisk: "), "{full:?}");
    assert!(!full.body.contains("LogUnavailable"), "{full:?}");
    // It reports on, so that nobody takes it for one that is gone.
    let report = || {
        let nodes = first.cluster_status().unwrap().unwrap().nodes;
        nodes
            .into_iter()
            .find(|node| node.node == "node-2")
            .unwrap()
    };
    wait_for(&mut || report().unready == ["LowDisk"]);
    let at = report().reported_at;
    wait_for(&mut || report().reported_at > at);
    disk.is_full.store(false, Ordering::SeqCst);
    readyz_until(&servers[1], |answer| answer.status == 200);
    wait_for(&mut || report().unready.is_empty() && report().lag == 0);
}

#[test]
fn server_whose_log_does_not_respond_stops() {
    let log = FaultyLog::new();
    let server = serve(&log, 1, Duration::ZERO);
    readyz_until(&server, |answer| answer.status == 200);
    log.set(State::Hangs);
    // Until the thread that follows the log is in a call.
    sleep(Duration::from_secs(1));
    let (stopped, stops) = mpsc::channel();
    spawn_thread(move || stopped.send(server.stop().unwrap()));
    let drained = stops.recv_timeout(PATIENCE).expect("it stops");
    assert_eq!(drained.cut_off, 0);
}
