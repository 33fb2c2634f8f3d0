//! What open streams of events cost while nothing happens: memory, and the latency of posts beside them.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::{Duration, SystemTime};

use deskfleet::Engine;
use tokio::runtime::Runtime;

use crate::figures::{float, median};
use crate::fixture::{FILE, issue_key};
use crate::latency::Latency;
use crate::load::{Load, turn};
use crate::servers::{Disk, Protocol, Served, ServerProcess};

/// The longest wait for the server to rest.
const REST: Duration = Duration::from_secs(20);

/// Posts by the clients of `load`, alone and beside `streams` open streams of events in turns; prints the latencies, and what the
/// streams take of memory.
///
/// # Panics
/// When a client fails.
pub fn idle_streams(
    runtime: &Runtime,
    disk: &Disk,
    load: Load,
    streams: usize,
    (rounds, time): (usize, Duration),
) {
    let filled = ServerProcess::start_filled(Served::Deskfleet, Protocol::Http1, disk, issued_key);
    let (server, key) = filled;
    // What the first posts take of memory is not the streams'.
    let _ = turn(runtime, &server, load, time);
    server.settle(REST);
    let (before, _) = server.memory_bytes();
    let open = follow(server.address, &key, streams);
    server.settle(REST);
    let (after, _) = server.memory_bytes();
    drop(open);
    let mib = float(after.saturating_sub(before)) / 1024.0 / 1024.0;
    println!("{streams} open streams of events take {mib:.1} MiB\n");
    println!(
        "  {:24} {:>10} {:>8} {:>8}",
        format!("{} clients post", load.clients),
        "a second",
        "p50 µs",
        "p99 µs"
    );
    let mut turns = [Vec::new(), Vec::new()];
    for _ in 0..rounds {
        for (beside, turns) in [0, streams].into_iter().zip(&mut turns) {
            let open = follow(server.address, &key, beside);
            server.settle(REST);
            turns.extend(turn(runtime, &server, load, time));
            drop(open);
        }
    }
    for (name, turns) in ["alone", "beside the streams"].into_iter().zip(&turns) {
        let of =
            |figure: fn(&Latency) -> f64| median(turns.iter().map(|turn| figure(&turn.latency)));
        let rate = median(turns.iter().map(|turn| turn.rate));
        let (p50, p99) = (of(|latency| latency.p50), of(|latency| latency.p99));
        println!("  {name:24} {rate:>10.0} {p50:>8.0} {p99:>8.0}");
    }
}

/// A key for the store of a server that is not started yet.
fn issued_key(folder: &Path) -> String {
    let builder = Engine::builder().clock(SystemTime::now).seed(1);
    let engine = builder.open(folder.join(FILE)).expect("an engine opens");
    let key = issue_key(&engine);
    engine.close().expect("the file is closed");
    key
}

/// Streams of events, each with its first bytes.
fn follow(address: SocketAddr, key: &str, count: usize) -> Vec<TcpStream> {
    let request = format!(
        "GET /query/events HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: {key}\r\naccept: text/event-stream\r\n\r\n"
    );
    let begin = || {
        let mut stream = TcpStream::connect(address).expect("a connection");
        stream.write_all(request.as_bytes()).expect("a request");
        let mut head = [0; 12];
        stream.read_exact(&mut head).expect("a response");
        assert_eq!(&head, b"HTTP/1.1 200", "a stream");
        stream
    };
    (0..count).map(|_| begin()).collect()
}
