//! Nodes over a log: appends of entries, posts through one and three nodes against one engine alone, how late the others apply an entry, and
//! how fast a new node applies what there is; with servers also how long no post is acknowledged while the log fails over.
//!
//! The log is in memory, and with the feature `logs` also in PostgreSQL with two standbys and in NATS JetStream with three servers, where
//! those can be started. All servers and nodes share this host, so the figures compare; they are not those of a network. Post rates are medians
//! over the rounds, in which the engine alone and the nodes take turns.
//!
//! ```sh
//! cargo bench -p deskfleet-benches --bench log
//! cargo bench -p deskfleet-benches --features logs --bench log
//! cargo bench -p deskfleet-benches --features logs --bench log -- nats
//! ```

#![expect(clippy::expect_used, reason = "a bench that cannot run must stop")]
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

#[cfg(feature = "logs")]
#[allow(
    clippy::pedantic,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    dead_code,
    missing_debug_implementations,
    unreachable_pub,
    reason = "servers for several suites, each of which needs a part"
)]
#[path = "../../../tests/src/servers/mod.rs"]
mod started;

#[cfg(feature = "logs")]
mod servers;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use deskfleet::{
    Config, Engine,
    cluster::{EntryId, Log, MemoryLog},
};
use deskfleet_benches::figures::{float, median};
use deskfleet_benches::latency::Latencies;
use deskfleet_benches::{SyncMicros, folder_or, is_measuring, stats_body, stats_post};
use http::StatusCode;

/// Bytes of an entry: one record, about 700 records, and the most that NATS takes as configured by itself, without its headers.
const ENTRIES: [usize; 3] = [100, 60_000, 1_000_000];
/// Clients that post at once, over all nodes.
const CLIENTS: [usize; 4] = [1, 64, 256, 2048];
/// How long a follower waits for an entry; a new one ends that.
const PATIENCE: Duration = Duration::from_millis(500);
/// Between two attempts while a log fails over.
const RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// Opens a log of that name, or another handle of it.
type Open<'a, L> = &'a dyn Fn(&str) -> L;

/// How much is measured.
#[derive(Clone, Copy)]
struct Effort {
    rounds: usize,
    turn: Duration,
    /// Entries of which the delay is measured.
    entries: u32,
    /// Times that the log fails over.
    failovers: u32,
}

impl Effort {
    fn of_arguments() -> Self {
        if is_measuring() {
            Self {
                rounds: 5,
                turn: Duration::from_secs(2),
                entries: 1000,
                failovers: 10,
            }
        } else {
            Self {
                rounds: 1,
                turn: Duration::from_millis(20),
                entries: 5,
                failovers: 1,
            }
        }
    }
}

fn main() {
    let effort = Effort::of_arguments();
    let folder = folder_or(env!("CARGO_TARGET_TMPDIR"));
    let folder = tempfile::tempdir_in(folder).expect("a folder");
    println!("{}", SyncMicros::measure(folder.path()));
    let logs = RefCell::new(BTreeMap::new());
    let open = |name: &str| -> MemoryLog {
        let mut logs = logs.borrow_mut();
        let log = logs.entry(name.to_owned());
        log.or_insert_with(|| MemoryLog::new(SystemTime::now))
            .clone()
    };
    if is_wanted("memory") {
        measure("memory", effort, folder.path(), &open);
    }
    #[cfg(feature = "logs")]
    servers::measure_all(effort, folder.path());
}

/// Whether the log of that name is named in an argument, or none is.
fn is_wanted(name: &str) -> bool {
    let mut named = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'))
        .peekable();
    named.peek().is_none() || named.any(|wanted| wanted == name)
}

fn measure<L: Log>(name: &str, effort: Effort, folder: &Path, open: Open<'_, L>) {
    println!("\nlog in {name}");
    appends(effort, open);
    let folder = tempfile::tempdir_in(folder).expect("a folder");
    posts(effort, folder.path(), open);
    delays(effort, folder.path(), open);
}

/// Entries of each size, appended one after the other by one and by three at once.
fn appends<L: Log>(effort: Effort, open: Open<'_, L>) {
    for bytes in ENTRIES {
        for appenders in [1, 3] {
            let logs: Vec<L> = (0..appenders).map(|_| open("appends")).collect();
            let next = AtomicU64::new(0);
            let begun = Instant::now();
            let times = together(&logs, |log| {
                let mut times = Latencies::default();
                let mut body = incompressible(bytes);
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed).to_be_bytes();
                    body.splice(..8, number);
                    let mut id = EntryId([0; 16]);
                    id.0[..8].copy_from_slice(&((bytes * 8 + appenders) as u64).to_be_bytes());
                    id.0[8..].copy_from_slice(&number);
                    let sent = Instant::now();
                    log.append(id, &body).expect("an append");
                    times.add(sent.elapsed());
                    if begun.elapsed() >= effort.turn {
                        return times;
                    }
                }
            });
            let rate = float(times.count()) / begun.elapsed().as_secs_f64();
            let megabytes = rate * float(bytes as u64) / 1e6;
            let summary = times.summary();
            println!(
                "  entries of {bytes:>7} bytes, {appenders} at once: {rate:>7.0}/s, {megabytes:>5.0} MB/s, p50 {:.2} ms, p99 {:.1} ms",
                summary.p50 / 1e3,
                summary.p99 / 1e3
            );
            // A log in memory would hold all of it.
            let log = open("appends");
            let last = log.bounds(0).expect("the bounds").last;
            log.trim(last + 1).expect("a trimmed log");
        }
    }
}

fn incompressible(bytes: usize) -> Vec<u8> {
    let mixed = |index: u64| (index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56).to_le_bytes()[0];
    (0..bytes as u64).map(mixed).collect()
}

/// What each of several threads measured, one for each of `all`.
fn together<T: Sync>(all: &[T], work: impl Fn(&T) -> Latencies + Sync) -> Latencies {
    std::thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = all
            .iter()
            .map(|one| scope.spawn(move || work(one)))
            .collect();
        let mut all = Latencies::default();
        for thread in threads {
            all.extend(&thread.join().expect("a thread that ends"));
        }
        all
    })
}

/// An engine; as a node it follows its log on a thread until it is dropped.
struct Node {
    engine: Engine,
    is_over: Arc<AtomicBool>,
    follower: Option<JoinHandle<()>>,
}

impl Node {
    fn alone(folder: &Path) -> Self {
        Self {
            engine: builder()
                .open(folder.join("alone.redb"))
                .expect("an engine"),
            is_over: Arc::default(),
            follower: None,
        }
    }

    fn over(log: impl Log, folder: &Path, name: &str) -> Self {
        let builder = builder().log(log, name);
        let engine = builder.open(folder.join(name)).expect("a node");
        // It refuses writes until it has found its place in the log.
        engine
            .follow(Duration::ZERO)
            .expect("a log that can be followed");
        let is_over = Arc::new(AtomicBool::new(false));
        let (own, over) = (engine.clone(), Arc::clone(&is_over));
        let follower = std::thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                if own.follow(PATIENCE).is_err() {
                    // It fails over.
                    std::thread::sleep(RETRY_INTERVAL);
                }
            }
        });
        Self {
            engine,
            is_over,
            follower: Some(follower),
        }
    }

    fn post(&self, number: u64) {
        let answer = self.engine.handle(stats_post(stats_body(number)));
        assert_eq!(answer.status(), StatusCode::OK, "{:?}", answer.body());
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(follower) = self.follower.take() {
            // Its panic was printed.
            let _ = follower.join();
        }
    }
}

fn builder() -> deskfleet::EngineBuilder {
    let mut config = Config::default();
    // Nothing is filed meanwhile.
    config.limits.queue_records = deskfleet::limits::QUEUE_RECORDS_MAX;
    config.limits.queue_high_water = u64::MAX;
    Engine::builder().config(config)
}

/// Each number is that of one record.
fn next_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Posts by all clients for a turn, each to the next node: how many a second, and their times.
fn turn(nodes: &[Node], clients: usize, effort: Effort) -> (f64, Latencies) {
    let begun = Instant::now();
    let clients: Vec<&Node> = nodes.iter().cycle().take(clients).collect();
    let times = together(&clients, |node| {
        let mut times = Latencies::default();
        while begun.elapsed() < effort.turn {
            let sent = Instant::now();
            node.post(next_number());
            times.add(sent.elapsed());
        }
        times
    });
    (float(times.count()) / begun.elapsed().as_secs_f64(), times)
}

/// What a new node does with what one has posted; then posts a second through an engine alone, one node, three nodes.
fn posts<L: Log>(effort: Effort, folder: &Path, open: Open<'_, L>) {
    let fleets = [
        ("one engine without a log", vec![Node::alone(folder)]),
        ("one node", vec![Node::over(open("one"), folder, "one")]),
        (
            "three nodes",
            ["a", "b", "c"]
                .map(|name| Node::over(open("three"), folder, name))
                .into(),
        ),
    ];
    if let Some((_, nodes)) = fleets.get(1) {
        // First, as a log is trimmed after a minute.
        turn(nodes, 64, effort);
        let records = nodes.first().map_or(0, |node| node.engine.queue_count());
        catch_up(records, folder, open);
    }
    for clients in CLIENTS {
        let mut rates = [const { Vec::new() }; 3];
        let mut times = [const { Vec::new() }; 3];
        for _ in 0..effort.rounds {
            for ((_, nodes), (rates, times)) in
                fleets.iter().zip(rates.iter_mut().zip(times.iter_mut()))
            {
                let (rate, latencies) = turn(nodes, clients, effort);
                rates.push(rate);
                times.push(latencies.summary());
            }
        }
        let base = median(rates.iter().take(1).flatten().copied());
        for ((name, _), (rates, times)) in fleets.iter().zip(rates.iter().zip(&times)) {
            let rate = median(rates.iter().copied());
            println!(
                "  posts by {clients:>4} clients, {name:24} {rate:>7.0}/s, {:.2} of the first, p50 {:.2} ms, p99 {:.1} ms",
                rate / base,
                median(times.iter().map(|times| times.p50)) / 1e3,
                median(times.iter().map(|times| times.p99)) / 1e3
            );
        }
    }
}

/// A node that begins with nothing, and applies what the one node posted.
fn catch_up<L: Log>(records: u64, folder: &Path, open: Open<'_, L>) {
    let log = open("one");
    let last = log.bounds(0).expect("the bounds").last;
    let begun = Instant::now();
    let node = builder().log(log, "late").open(folder.join("late"));
    let node = node.expect("a node");
    while node.position() < Some(last) {
        node.follow(PATIENCE).expect("a log that can be followed");
    }
    let seconds = begun.elapsed().as_secs_f64();
    assert_eq!(node.queue_count(), records, "all records are applied");
    println!(
        "  a new node applies {last} entries with {records} records in {seconds:.2} s: {:.0} entries/s, {:.0} records/s",
        float(last) / seconds,
        float(records) / seconds
    );
}

/// From the response of one node until another has applied the entry, one entry at a time.
fn delays<L: Log>(effort: Effort, folder: &Path, open: Open<'_, L>) {
    let [one, two] = ["d", "e"].map(|name| Node::over(open("delays"), folder, name));
    let mut times = Latencies::default();
    for _ in 0..effort.entries {
        one.post(next_number());
        let answered = Instant::now();
        let position = one.engine.position();
        while two.engine.position() < position {
            // The other one is to have a processor.
            std::thread::sleep(Duration::from_micros(20));
        }
        times.add(answered.elapsed());
    }
    let summary = times.summary();
    println!(
        "  another node has applied an entry {:.1} ms after the response (p50), {:.1} ms (p99), {:.1} ms (longest)",
        summary.p50 / 1e3,
        summary.p99 / 1e3,
        summary.max / 1e3
    );
}
