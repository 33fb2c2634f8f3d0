//! The latency of posts second by second, while the engine files what it accepts.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::time::{Instant, sleep, sleep_until};

use crate::drain::queued;
use crate::figures::float;
use crate::latency::{Latencies, Latency};
use crate::load::{Load, Running};
use crate::servers::{Disk, Protocol, Served, ServerProcess};

/// The header of the lines that [`tail`] returns.
pub const COLUMNS: &str = "server,second,posts_a_second,p50_us,p99_us,max_us";

/// Keeps a server busy for this time; prints rate and latencies of each second, and returns them as lines to save.
///
/// A response counts in the second in which it arrives, with its whole time.
///
/// # Panics
/// When a client fails.
#[must_use]
pub fn tail(
    runtime: &Runtime,
    disk: &Disk,
    served: Served,
    load: Load,
    time: Duration,
) -> Vec<String> {
    let server = ServerProcess::start(served, Protocol::Http1, disk);
    let window = Duration::from_secs(1).min(time);
    let name = served.name();
    println!(
        "{name}, {} clients, {} desktops",
        load.clients, load.desktops
    );
    println!(
        "  {:>6} {:>10} {:>8} {:>8} {:>9}",
        "s", "posts/s", "p50 µs", "p99 µs", "max µs"
    );
    let row = |second: &str, posts: f64, latency: Latency| {
        let Latency { p50, p99, max } = latency;
        println!("  {second:>6} {posts:>10.0} {p50:>8.0} {p99:>8.0} {max:>9.0}");
        format!("{name},{second},{posts:.0},{p50:.0},{p99:.0},{max:.0}")
    };
    let windows = runtime.block_on(windows(&server, load, time, window));
    let rate = |latencies: &Latencies, time: Duration| {
        let posts = float(latencies.count());
        posts / time.as_secs_f64()
    };
    let mut all = Latencies::default();
    let mut saved = Vec::new();
    for (second, latencies) in (1..).zip(&windows) {
        let second: u32 = second;
        saved.push(row(
            &second.to_string(),
            rate(latencies, window),
            latencies.summary(),
        ));
        all.extend(latencies);
    }
    let whole = all.summary();
    row("in all", rate(&all, time), whole);
    println!(
        "  p99 is {:.1} × p50; peak RSS {} MiB",
        whole.p99 / whole.p50,
        server.memory_bytes().1 >> 20,
    );
    if served == Served::Deskfleet {
        let queued = queued(server.address);
        println!("  {queued} posts are not filed yet");
    }
    saved
}

/// The times of the responses, window by window, after one window that does not count.
async fn windows(
    server: &ServerProcess,
    load: Load,
    time: Duration,
    window: Duration,
) -> Vec<Latencies> {
    let running = Running::start(server.address, load).await;
    let running = running.expect("it speaks HTTP/1.1");
    sleep(window).await;
    drop(running.take_latencies());
    let start = Instant::now();
    let mut ends = start;
    let mut windows = Vec::new();
    while ends < start + time {
        ends += window;
        sleep_until(ends).await;
        // Summed up later: sorting would keep the clients waiting.
        windows.push(running.take_latencies());
    }
    let finished = running.finish().await;
    assert_eq!(finished.refused, 0, "the server refuses");
    if let Some(last) = windows.last_mut() {
        last.extend(&finished.latencies);
    }
    windows
}
