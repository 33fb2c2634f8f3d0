//! Stats posts, each answered when it is durable, by 1, 8 and 64 producers; the simplest durable stores beside them.
//!
//! The stores beside the engine take the body as it is: they neither route nor parse nor validate. They are the floor.

#![expect(clippy::expect_used, reason = "a bench that cannot run must stop")]
#![expect(
    clippy::print_stderr,
    reason = "what the disk costs belongs beside the figures"
)]

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use deskfleet::{CommitDriver, Engine};
use deskfleet_benches::{
    Grouped, LogSink, RowSink, Sink, open, stats_json, stats_post, sync_micros_median,
};
use http::StatusCode;

const PRODUCERS: [u64; 3] = [1, 8, 64];
/// Posts by each producer in one iteration.
const POSTS: u64 = 16;

/// The next record to send; no two sends are alike, or the engine would see repetitions.
static NEXT: AtomicU64 = AtomicU64::new(0);

fn record() -> Bytes {
    stats_json(NEXT.fetch_add(1, Ordering::Relaxed))
}

fn ingest(criterion: &mut Criterion) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    eprintln!(
        "fdatasync of 4 KiB, median: {} µs",
        sync_micros_median(folder.path())
    );
    for producers in PRODUCERS {
        let mut group = criterion.benchmark_group(format!("ingest/{producers}"));
        group
            .sample_size(10)
            .throughput(Throughput::Elements(producers * POSTS));
        with_folder(|folder| {
            let engine = open(Some(folder), CommitDriver::Caller).engine;
            group.bench_function("handle", |bencher| {
                bencher.iter_custom(|times| {
                    by_threads(times, producers, |body| handle(&engine, body))
                });
            });
        });
        with_folder(|folder| {
            let engine = open(Some(folder), CommitDriver::Thread).engine;
            group.bench_function("call", |bencher| {
                bencher.iter_custom(|times| by_tasks(times, producers, &engine));
            });
        });
        with_folder(|folder| {
            let log = Grouped::new(LogSink::create(folder));
            group.bench_function("log", |bencher| {
                bencher.iter_custom(|times| by_threads(times, producers, |body| put(&log, body)));
            });
        });
        with_folder(|folder| {
            let rows = Grouped::new(RowSink::create(folder));
            group.bench_function("redb_rows", |bencher| {
                bencher.iter_custom(|times| by_threads(times, producers, |body| put(&rows, body)));
            });
        });
        group.finish();
    }
}

fn with_folder(body: impl FnOnce(&Path)) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    body(folder.path());
}

fn handle(engine: &Engine, body: Bytes) {
    let status = engine.handle(stats_post(body)).status();
    assert_eq!(status, StatusCode::OK);
}

fn put<S: Sink>(store: &Grouped<S>, body: Bytes) {
    store.put(body);
}

/// `times` iterations, each producer a thread of its own.
fn by_threads(times: u64, producers: u64, post: impl Fn(Bytes) + Sync) -> Duration {
    let start = Instant::now();
    thread::scope(|scope| {
        for _ in 0..producers {
            scope.spawn(|| {
                for _ in 0..times * POSTS {
                    post(record());
                }
            });
        }
    });
    start.elapsed()
}

/// `times` iterations, each producer a task on one thread.
fn by_tasks(times: u64, producers: u64, engine: &Engine) -> Duration {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.build().expect("a runtime");
    let start = Instant::now();
    runtime.block_on(async {
        let post = |engine: Engine| async move {
            for _ in 0..times * POSTS {
                let status = engine.call(stats_post(record())).await.status();
                assert_eq!(status, StatusCode::OK);
            }
        };
        let tasks: Vec<_> = (0..producers)
            .map(|_| tokio::spawn(post(engine.clone())))
            .collect();
        for task in tasks {
            task.await.expect("a producer");
        }
    });
    start.elapsed()
}

criterion_group!(benches, ingest);
criterion_main!(benches);
