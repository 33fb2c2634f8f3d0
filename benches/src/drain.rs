//! The engine's server at full speed for a while, and how long it takes to file what it accepted.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tokio::time::sleep;

use crate::figures::float;
use crate::load::{Load, Running};
use crate::servers::{Disk, Protocol, Served, ServerProcess};

/// The bound of the wait.
const LONGEST: Duration = Duration::from_secs(600);

/// Keeps the server busy for this time, then waits until its queue is empty; prints both second by second.
///
/// # Panics
/// When a client breaks down, or the queue does not get empty.
pub fn drain(runtime: &Runtime, disk: &Disk, busy: Duration, clients: usize) {
    let server = ServerProcess::start(Served::Deskfleet, Protocol::Http1, disk);
    let load = Load::with_clients(clients);
    let pause = Duration::from_secs(1).min(busy);
    println!(
        "{clients} clients for {} s, then the queue drains",
        busy.as_secs()
    );
    println!(
        "  {:>4} {:>10} {:>10} {:>8}",
        "s", "accepted/s", "queued", "RSS MiB"
    );
    let start = Instant::now();
    let report = |accepted: u64| {
        let queued = queued(server.address);
        let second = start.elapsed().as_secs();
        let rss = server.memory_bytes().0 >> 20;
        println!("  {second:>4} {accepted:>10} {queued:>10} {rss:>8}");
        queued
    };
    let finished = runtime.block_on(async {
        let running = Running::start(server.address, load).await;
        let running = running.expect("it speaks HTTP/1.1");
        let mut before = 0;
        while start.elapsed() < busy {
            sleep(pause).await;
            let now = running.accepted();
            report(now - before);
            before = now;
        }
        running.finish().await
    });
    let ended = Instant::now();
    while report(0) > 0 {
        assert!(ended.elapsed() < LONGEST, "the queue does not get empty");
        std::thread::sleep(pause);
    }
    let (accepted, refused) = (finished.accepted, finished.refused);
    println!(
        "  {accepted} accepted, {:.0}/s, {refused} refused; empty after {:.1} s; peak RSS {} MiB",
        float(accepted) / busy.as_secs_f64(),
        ended.elapsed().as_secs_f64(),
        server.memory_bytes().1 >> 20,
    );
}

/// The response of `/api/Stats/queue/count`.
pub(crate) fn queued(address: SocketAddr) -> u64 {
    let mut stream = TcpStream::connect(address).expect("a connection");
    let request =
        "GET /api/Stats/queue/count HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).expect("it is sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
    body.trim().parse().expect("a count")
}
