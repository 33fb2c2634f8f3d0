//! Stats posts, each answered when it is durable, by 1, 8 and 64 producers; the simplest durable stores beside them.
//!
//! The stores beside the engine take the body as it is: they neither route nor parse nor validate. They are the floor.
//!
//! `handle` and `call` measure the queue alone. `handle_and_file` is the steady state of a host that never files: above
//! the high-water mark each commit files as well.
//!
//! Not a criterion bench: what a sync costs changes from second to second, so the stores take turns in short rounds and
//! what is told is the median over the rounds, of the rate and of the ratio to the log in the same round.
//! `DESKFLEET_BENCH_DIR` names another folder; in memory (`/dev/shm`) what is left is the processor's part.

#![expect(clippy::expect_used, reason = "a bench that cannot run must stop")]
#![expect(clippy::print_stdout, reason = "a bench tells its figures")]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use deskfleet::{CommitDriver, Engine, Limits};
use deskfleet_benches::figures::median;
use deskfleet_benches::{
    Grouped, LogSink, RowSink, is_measuring, open, stats_json, stats_post, sync_micros_median,
};
use http::StatusCode;

const PRODUCERS: [usize; 3] = [1, 8, 64];
/// In the order of their turns; the log is what the others are compared with.
const STORES: [&str; 5] = ["log", "redb_rows", "handle", "call", "handle_and_file"];

/// The next record to send; no two sends are alike, or the engine would see repetitions.
static NEXT: AtomicU64 = AtomicU64::new(0);

fn record() -> Bytes {
    stats_json(NEXT.fetch_add(1, Ordering::Relaxed))
}

struct Stores {
    log: Grouped<LogSink>,
    rows: Grouped<RowSink>,
    /// Its callers commit.
    by_caller: Engine,
    /// A thread of its own commits.
    by_thread: Engine,
    /// Files by itself above the high-water mark, as it does unless configured.
    filing: Engine,
}

impl Stores {
    fn create(folder: &Path) -> Self {
        let inner = |name: &str| {
            let inner = folder.join(name);
            std::fs::create_dir(&inner).expect("a folder");
            inner
        };
        Self {
            log: Grouped::new(LogSink::create(folder)),
            rows: Grouped::new(RowSink::create(folder)),
            by_caller: open(Some(&inner("caller")), |_| {}).engine,
            by_thread: open(Some(&inner("thread")), |config| {
                config.commit_driver = CommitDriver::Thread;
            })
            .engine,
            filing: open(Some(&inner("filing")), |config| {
                config.limits = Limits::default();
            })
            .engine,
        }
    }

    /// Records a second over one turn of the store.
    fn turn(&self, store: &str, producers: usize, time: Duration) -> f64 {
        match store {
            "log" => by_threads(producers, time, |body| self.log.put(body)),
            "redb_rows" => by_threads(producers, time, |body| self.rows.put(body)),
            "handle" => by_threads(producers, time, |body| handle(&self.by_caller, body)),
            "handle_and_file" => by_threads(producers, time, |body| handle(&self.filing, body)),
            _ => by_tasks(producers, time, &self.by_thread),
        }
    }
}

fn handle(engine: &Engine, body: Bytes) {
    let status = engine.handle(stats_post(body)).status();
    assert_eq!(status, StatusCode::OK);
}

fn main() {
    let (rounds, time) = if is_measuring() {
        (15, Duration::from_millis(300))
    } else {
        (1, Duration::from_millis(10))
    };
    let folder = std::env::var_os("DESKFLEET_BENCH_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_TARGET_TMPDIR")), PathBuf::from);
    let folder = tempfile::tempdir_in(folder).expect("a folder");
    let stores = Stores::create(folder.path());
    for producers in PRODUCERS {
        let sync = sync_micros_median(folder.path());
        println!("{producers} producers; fdatasync of 4 KiB now: {sync:.0} µs (median)");
        let rounds: Vec<[f64; 5]> = (0..rounds)
            .map(|_| STORES.map(|store| stores.turn(store, producers, time)))
            .collect();
        for (index, store) in STORES.iter().enumerate() {
            let rate = median(rounds.iter().filter_map(|round| round.get(index).copied()));
            let ratio = median(
                rounds
                    .iter()
                    .filter_map(|round| Some(round.get(index)? / round.first()?)),
            );
            println!("  {store:15} {rate:>9.0} records/s  {ratio:.2} of the log");
        }
    }
    file(&stores.by_caller);
}

/// Files what the turns left in the queue.
fn file(engine: &Engine) {
    let start = Instant::now();
    let count = engine.file_pending().expect("filing");
    let count = u32::try_from(count).expect("a count");
    let rate = f64::from(count) / start.elapsed().as_secs_f64();
    println!("filing {count} records of 1000 instances: {rate:.0} records/s");
}

/// Each producer is a thread of its own.
fn by_threads(producers: usize, time: Duration, post: impl Fn(Bytes) + Sync) -> f64 {
    let stop = AtomicBool::new(false);
    let start = Instant::now();
    let count: u32 = thread::scope(|scope| {
        let produce = || {
            let mut count = 0;
            while !stop.load(Ordering::Relaxed) {
                post(record());
                count += 1;
            }
            count
        };
        let producers: Vec<_> = (0..producers).map(|_| scope.spawn(produce)).collect();
        thread::sleep(time);
        stop.store(true, Ordering::Relaxed);
        let counts = producers
            .into_iter()
            .map(|producer| producer.join().expect("a producer"));
        counts.sum::<u32>()
    });
    f64::from(count) / start.elapsed().as_secs_f64()
}

/// Each producer is a task, all on one thread.
fn by_tasks(producers: usize, time: Duration, engine: &Engine) -> f64 {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.build().expect("a runtime");
    let start = Instant::now();
    let count: u32 = runtime.block_on(async {
        let produce = |engine: Engine| async move {
            let mut count = 0;
            while start.elapsed() < time {
                let status = engine.call(stats_post(record())).await.status();
                assert_eq!(status, StatusCode::OK);
                count += 1;
            }
            count
        };
        let tasks: Vec<_> = (0..producers)
            .map(|_| tokio::spawn(produce(engine.clone())))
            .collect();
        let mut count = 0;
        for task in tasks {
            count += task.await.expect("a producer");
        }
        count
    });
    f64::from(count) / start.elapsed().as_secs_f64()
}
