//! The latency of posts beside clients that ask expensive questions.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use deskfleet::Engine;
use tokio::runtime::Runtime;

use crate::fixture::{FILE, issue_key, put_workspaces};
use crate::load::{Load, turn};
use crate::servers::{Disk, Protocol, Served, ServerProcess};

/// Deep sorts, long windows and a list of 100 values.
const QUESTIONS: [&str; 6] = [
    "workspaces?sort=-healthScore,-cpuP95,username&window=365d&limit=500",
    "workspaces?sort=-cpu,-memory,computerName&q=9&limit=500",
    "top?metric=memory&from=-365d&limit=500",
    "heatmap?of=reporting&from=-365d",
    "series?from=-365d&step=1h",
    "advice?from=-365d&limit=500",
];

/// Posts by the clients of `load`, alone and beside `askers` connections that each wait for the answer to one question after the
/// other; prints the latencies and how the questions were answered.
///
/// # Panics
/// When a client of `load` fails.
pub fn questions_beside(
    runtime: &Runtime,
    disk: &Disk,
    load: Load,
    (workspaces, askers): (usize, usize),
    time: Duration,
) {
    let fill = |folder: &Path| fill(folder, workspaces);
    let (server, key) = ServerProcess::start_filled(Served::Deskfleet, Protocol::Http1, disk, fill);
    let list = (0..100).map(|number| format!("region-{number}"));
    let list = list.collect::<Vec<_>>().join(",");
    println!(
        "{workspaces} workspaces, {} clients post\n  {:24} {:>10} {:>8} {:>8}",
        load.clients, "", "a second", "p50 µs", "p99 µs"
    );
    for (name, askers) in [("alone", 0), ("beside the questions", askers)] {
        let stop = Arc::new(AtomicBool::new(false));
        let asking: Vec<_> = (0..askers)
            .map(|number| {
                let question = QUESTIONS.get(number % (QUESTIONS.len() + 1)).copied();
                let question = question.map_or_else(
                    || format!("workspaces?region=in.{list}&sort=-lastSeen"),
                    str::to_owned,
                );
                let (address, key, stop) = (server.address, key.clone(), Arc::clone(&stop));
                let ask = move || ask(address, &key, &question, &stop);
                // A thread that only waits.
                let builder = thread::Builder::new().stack_size(64 * 1024);
                builder.spawn(ask).expect("a thread")
            })
            .collect();
        let turns = turn(runtime, &server, load, time);
        stop.store(true, Ordering::Relaxed);
        let mut statuses = BTreeMap::<u16, u64>::new();
        for counted in asking {
            for (status, count) in counted.join().expect("an asker") {
                *statuses.entry(status).or_default() += count;
            }
        }
        if let Some(turn) = turns {
            let (p50, p99) = (turn.latency.p50, turn.latency.p99);
            println!("  {name:24} {:>10.0} {p50:>8.0} {p99:>8.0}", turn.rate);
        }
        if askers > 0 {
            println!("  answers by status, 0 for a connection that was closed: {statuses:?}");
        }
    }
}

/// Asks one question after the other; returns how many answers had each status.
fn ask(address: SocketAddr, key: &str, question: &str, stop: &AtomicBool) -> BTreeMap<u16, u64> {
    let request = format!(
        "GET /query/{question} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: {key}\r\nconnection: close\r\n\r\n"
    );
    let mut statuses = BTreeMap::new();
    while !stop.load(Ordering::Relaxed) {
        let status = answered(address, &request).unwrap_or(0);
        *statuses.entry(status).or_default() += 1;
    }
    statuses
}

/// The status of the answer, all of which is read.
fn answered(address: SocketAddr, request: &str) -> Option<u16> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).ok()?;
    let status = answer.get("HTTP/1.1 ".len().."HTTP/1.1 200".len())?;
    str::from_utf8(status).ok()?.parse().ok()
}

/// Puts a fleet into the store of a server that is not started yet; returns a key.
fn fill(folder: &Path, workspaces: usize) -> String {
    let builder = Engine::builder().clock(SystemTime::now).seed(1);
    let engine = builder.open(folder.join(FILE)).expect("an engine opens");
    put_workspaces(&engine, workspaces);
    let key = issue_key(&engine);
    engine.close().expect("the file is closed");
    key
}
