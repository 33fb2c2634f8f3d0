//! Stats posts, each acknowledged when it is durable, by 1 to 512 producers; the simplest durable stores beside them.
//!
//! A store beside the engine writes the body unread, without routing, parsing or validating: it is the floor. Rows
//! labelled so read the JSON into a struct first, which a store must do that is to be queried.
//!
//! Producers are threads that wait (`handle` and the stores up to it) or tasks on one thread (`call` and its log).
//! `handle` and `call` measure the queue alone, with commits in one phase, the default, or in two. `handle, filing` is
//! the steady state of a host that never files: above the high-water mark each commit files as well.
//!
//! Not a criterion bench: the time of a sync changes from second to second, so the stores take turns in short rounds.
//! The figures are medians over the rounds, of the rate and of the ratios within the same round. `DESKFLEET_BENCH_DIR`
//! names another folder; in memory (`/dev/shm`) only processor time is left.

#![expect(clippy::expect_used, reason = "a bench that cannot run must stop")]
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use deskfleet::{CommitDriver, CommitPhases, Config, Engine, Limits};
use deskfleet_benches::figures::{float, median, percentile};
use deskfleet_benches::{
    Grouped, Indexed, LogSink, RowSink, SqliteSink, StatsRow, SyncMicros, Writer, folder_or,
    is_measuring, open, stats_body, stats_post,
};
use http::StatusCode;

const PRODUCERS: [usize; 4] = [1, 8, 64, 512];

/// The next record to send; no two are equal, because the engine would drop repetitions.
static NEXT: AtomicU64 = AtomicU64::new(0);

fn record() -> Bytes {
    stats_body(NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Records per second of `producers` producers over a turn of this length.
type Turn = Box<dyn Fn(usize, Duration) -> f64>;
/// Returns when the record is durable.
type Post = Arc<dyn Fn(Bytes) + Send + Sync>;

/// In the order of their turns.
struct Store {
    name: &'static str,
    /// The log to compare with: the one with the same kind of producers.
    log: &'static str,
    turn: Turn,
    /// For one producer alone.
    post: Option<Post>,
}

impl Store {
    fn of_threads(name: &'static str, post: impl Fn(Bytes) + Send + Sync + 'static) -> Self {
        let post: Post = Arc::new(post);
        let theirs = Arc::clone(&post);
        Self {
            name,
            log: "log",
            turn: Box::new(move |producers, time| by_threads(producers, time, &*theirs)),
            post: Some(post),
        }
    }

    fn of_tasks<F>(name: &'static str, post: impl Fn(Bytes) -> F + Clone + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Self {
            name,
            log: "log of tasks",
            turn: Box::new(move |producers, time| by_tasks(producers, time, &post)),
            post: None,
        }
    }
}

/// Calls `inner` with a new folder of that name.
fn inside<T>(folder: &Path, name: &str, inner: impl FnOnce(&Path) -> T) -> T {
    let folder = folder.join(name);
    std::fs::create_dir(&folder).expect("a folder");
    inner(&folder)
}

/// The stores; `by_caller` is the engine behind `handle`.
fn stores(folder: &Path, by_caller: &Engine) -> Vec<Store> {
    let grouped_log = |name| inside(folder, name, |folder| Grouped::new(LogSink::create(folder)));
    let (log, log_parsed) = (grouped_log("log"), grouped_log("log_parsed"));
    let rows = inside(folder, "rows", |folder| {
        Grouped::new(RowSink::create(folder))
    });
    let sqlite = |name| {
        inside(folder, name, |folder| {
            SqliteSink::create(folder, Indexed::No)
        })
    };
    let bodies: Grouped<_, Bytes> = Grouped::new(sqlite("bodies"));
    let columns: Grouped<_, StatsRow> = Grouped::new(sqlite("columns"));
    let by_caller = by_caller.clone();
    let two_phases = |name, driver| {
        let change = |config: &mut Config| {
            config.commit_driver = driver;
            config.commit_phases = CommitPhases::Two;
        };
        inside(folder, name, |folder| open(Some(folder), change)).engine
    };
    let by_caller_two = two_phases("caller_two", CommitDriver::Caller);
    let by_thread_two = two_phases("thread_two", CommitDriver::Thread);
    let filing = inside(folder, "filing", |folder| {
        open(Some(folder), |config| config.limits = Limits::default()).engine
    });
    let by_thread = inside(folder, "thread", |folder| {
        open(Some(folder), |config| {
            config.commit_driver = CommitDriver::Thread;
        })
        .engine
    });
    let writer = |name| {
        Arc::new(inside(folder, name, |folder| {
            Writer::new(LogSink::create(folder))
        }))
    };
    let (tasks, tasks_parsed) = (writer("tasks"), writer("tasks_parsed"));
    vec![
        Store::of_threads("log", move |body| log.put(body)),
        Store::of_threads("log, JSON parsed", move |body| {
            std::hint::black_box(StatsRow::parse(&body));
            log_parsed.put(body);
        }),
        Store::of_threads("redb rows", move |body| rows.put(body)),
        Store::of_threads("SQLite", move |body| bodies.put(body)),
        Store::of_threads("SQLite, JSON parsed", move |body| {
            columns.put(StatsRow::parse(&body));
        }),
        Store::of_threads("handle", move |body| handle(&by_caller, body)),
        Store::of_threads("handle, two phases", move |body| {
            handle(&by_caller_two, body);
        }),
        Store::of_threads("handle, filing", move |body| handle(&filing, body)),
        Store::of_tasks("log of tasks", move |body| {
            let log = Arc::clone(&tasks);
            async move { log.put(body).await }
        }),
        Store::of_tasks("log of tasks, JSON parsed", move |body| {
            let log = Arc::clone(&tasks_parsed);
            async move {
                std::hint::black_box(StatsRow::parse(&body));
                log.put(body).await;
            }
        }),
        Store::of_tasks("call", move |body| call(&by_thread, body)),
        Store::of_tasks("call, two phases", move |body| call(&by_thread_two, body)),
    ]
}

fn handle(engine: &Engine, body: Bytes) {
    let status = engine.handle(stats_post(body)).status();
    assert_eq!(status, StatusCode::OK);
}

fn call(engine: &Engine, body: Bytes) -> impl Future<Output = ()> + use<> {
    let answered = engine.call(stats_post(body));
    async { assert_eq!(answered.await.status(), StatusCode::OK) }
}

fn main() {
    let (rounds, time) = if is_measuring() {
        (15, Duration::from_millis(300))
    } else {
        (1, Duration::from_millis(10))
    };
    let folder = folder_or(env!("CARGO_TARGET_TMPDIR"));
    let folder = tempfile::tempdir_in(folder).expect("a folder");
    let by_caller = inside(folder.path(), "caller", |folder| open(Some(folder), |_| {}));
    let stores = stores(folder.path(), &by_caller.engine);
    for producers in PRODUCERS {
        let sync = SyncMicros::measure(folder.path());
        println!("{producers} producers; {sync}");
        let rounds: Vec<Vec<f64>> = (0..rounds)
            .map(|_| {
                let turns = stores.iter().map(|store| (store.turn)(producers, time));
                turns.collect()
            })
            .collect();
        print_rows(&stores, &rounds);
    }
    lone(&stores, rounds, time);
    file(&by_caller.engine);
}

/// One row per store: its rate, and the ratios to its log, to its log that parses, and to SQLite that parses.
fn print_rows(stores: &[Store], rounds: &[Vec<f64>]) {
    println!(
        "  {:26} {:>10} {:>8} {:>15} {:>18}",
        "", "records/s", "of log", "of log, parsed", "of SQLite, parsed"
    );
    let place = |name: &str| stores.iter().position(|store| store.name == name);
    for (index, store) in stores.iter().enumerate() {
        let rate = median(rounds.iter().filter_map(|round| round.get(index).copied()));
        let of = |name: &str| {
            let base = place(name).expect("a store");
            let ratio = |round: &Vec<f64>| Some(round.get(index)? / round.get(base)?);
            median(rounds.iter().filter_map(ratio))
        };
        println!(
            "  {:26} {rate:>10.0} {:>8.2} {:>15.2} {:>18.2}",
            store.name,
            of(store.log),
            of(&format!("{}, JSON parsed", store.log)),
            of("SQLite, JSON parsed"),
        );
    }
}

/// One thread alone: how long a record takes.
fn lone(stores: &[Store], rounds: usize, time: Duration) {
    println!("one producer's wait for each record");
    println!(
        "  {:26} {:>8} {:>8} {:>8}",
        "", "p50 µs", "p99 µs", "of log"
    );
    let rounds: Vec<Vec<(f64, f64)>> = (0..rounds)
        .map(|_| {
            let waits = stores.iter().filter_map(|store| {
                let times = waits(&**store.post.as_ref()?, time);
                Some((percentile(times.clone(), 50), percentile(times, 99)))
            });
            waits.collect()
        })
        .collect();
    let waiting = stores.iter().filter(|store| store.post.is_some());
    for (index, store) in waiting.enumerate() {
        let own = || rounds.iter().filter_map(|round| round.get(index));
        let ratios = rounds
            .iter()
            .filter_map(|round| Some(round.get(index)?.0 / round.first()?.0));
        println!(
            "  {:26} {:>8.0} {:>8.0} {:>8.2}",
            store.name,
            median(own().map(|wait| wait.0)),
            median(own().map(|wait| wait.1)),
            median(ratios),
        );
    }
}

/// The waits of one producer, in microseconds.
fn waits(post: &dyn Fn(Bytes), time: Duration) -> Vec<f64> {
    let mut waits = Vec::new();
    let start = Instant::now();
    while start.elapsed() < time {
        let record = record();
        let sent = Instant::now();
        post(record);
        waits.push(sent.elapsed().as_secs_f64() * 1e6);
    }
    waits
}

/// Files the records that the turns left in the queue.
fn file(engine: &Engine) {
    let start = Instant::now();
    let count = engine.file_pending().expect("filing");
    let rate = float(count) / start.elapsed().as_secs_f64();
    println!("filing {count} records of 1000 instances: {rate:.0} records/s");
}

/// Each producer is a thread of its own.
fn by_threads(producers: usize, time: Duration, post: &(dyn Fn(Bytes) + Sync)) -> f64 {
    let stop = AtomicBool::new(false);
    let ready = Barrier::new(producers + 1);
    let (start, count) = thread::scope(|scope| {
        let produce = || {
            ready.wait();
            let mut count = 0;
            while !stop.load(Ordering::Relaxed) {
                post(record());
                count += 1;
            }
            count
        };
        let producers: Vec<_> = (0..producers).map(|_| scope.spawn(produce)).collect();
        ready.wait();
        let start = Instant::now();
        thread::sleep(time);
        stop.store(true, Ordering::Relaxed);
        let counts = producers
            .into_iter()
            .map(|producer| producer.join().expect("a producer"));
        (start, counts.sum())
    });
    float(count) / start.elapsed().as_secs_f64()
}

/// Each producer is a task, all on one thread.
fn by_tasks<F: Future<Output = ()> + Send + 'static>(
    producers: usize,
    time: Duration,
    post: &(impl Fn(Bytes) -> F + Clone + Send + 'static),
) -> f64 {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.build().expect("a runtime");
    let start = Instant::now();
    let count = runtime.block_on(async {
        let produce = |post: _| produce(post, start, time);
        let tasks: Vec<_> = (0..producers)
            .map(|_| tokio::spawn(produce(post.clone())))
            .collect();
        let mut count = 0;
        for task in tasks {
            count += task.await.expect("a producer");
        }
        count
    });
    float(count) / start.elapsed().as_secs_f64()
}

async fn produce<F: Future<Output = ()>>(
    post: impl Fn(Bytes) -> F,
    start: Instant,
    time: Duration,
) -> u64 {
    let mut count = 0;
    while start.elapsed() < time {
        post(record()).await;
        count += 1;
    }
    count
}
