//! The table of the servers: what each reaches in turns, and how that compares with the others.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::time::Duration;

use tokio::runtime::Runtime;

use crate::figures::median;
use crate::latency::Latency;
use crate::load::{Load, Turn, lone_client, turn};
use crate::probe::SyncMicros;
use crate::rounds::Rounds;
use crate::servers::{Disk, Protocol, Served, ServerProcess};

/// Servers that take turns.
#[derive(Debug)]
pub struct Comparison<'a> {
    /// The disk of all of them.
    pub disk: &'a Disk,
    /// In the order of their turns and rows.
    pub servers: Vec<Served>,
    /// Turns of each.
    pub rounds: usize,
    /// The time of a turn.
    pub time: Duration,
}

impl Comparison<'_> {
    fn start(&self, protocol: Protocol) -> Vec<ServerProcess> {
        let served = self.servers.iter();
        let started = served.map(|served| ServerProcess::start(*served, protocol, self.disk));
        started.collect()
    }

    /// The rounds, and what a sync took meanwhile.
    fn rounds<T>(
        &self,
        started: &[ServerProcess],
        turn: impl Fn(&ServerProcess) -> Option<T>,
    ) -> (Rounds<T>, SyncMicros) {
        let mut rounds = Rounds::new(self.servers.clone());
        let mut syncs = Vec::new();
        for _ in 0..self.rounds {
            syncs.push(SyncMicros::measure(&self.disk.folder));
            rounds.add(started.iter().map(&turn));
        }
        (rounds, SyncMicros::median(&syncs))
    }

    /// Prints what they reach under a load; returns the figures to save.
    pub fn under(&self, runtime: &Runtime, load: Load) -> Vec<String> {
        let started = self.start(load.protocol);
        let (rounds, sync) = self.rounds(&started, |server| turn(runtime, server, load, self.time));
        println!(
            "{} clients over {}; {}; the client itself {:.1} µs a request",
            load.clients,
            match load.protocol {
                Protocol::Http1 => "HTTP/1.1",
                Protocol::Http2 => "HTTP/2, 32 streams a connection",
            },
            sync,
            median(rounds.all().map(|turn| turn.client_cpu)),
        );
        println!(
            "  {:16} {:>10} {:>7} {:>7} {:>11} {:>7} {:>7} {:>8} {:>7} {:>7} {:>10} {:>8}",
            "",
            "requests/s",
            "of echo",
            "of log",
            "of prealloc",
            "p50 µs",
            "p99 µs",
            "max µs",
            "CPU µs",
            "of log",
            "CPU in all",
            "peak MiB"
        );
        let mut saved = Vec::new();
        for server in &started {
            if let Some((rate, ratio)) = print_row(server, &rounds) {
                let name = server.served.name();
                saved.push(format!("{name},{},{rate:.0},{ratio:.3}", load.clients));
            }
        }
        saved
    }

    /// Processor time of a post, as a multiple of that of the first server, by the round in which that is least: other work on the host
    /// takes the caches of both, but not in the same turns. `None` when a server does not speak the protocol.
    pub fn least_cpu_ratio(&self, runtime: &Runtime, load: Load) -> Option<f64> {
        let (base, served) = (*self.servers.first()?, *self.servers.last()?);
        let started = self.start(load.protocol);
        let mut rounds = Rounds::new(self.servers.clone());
        for _ in 0..self.rounds {
            rounds.add(
                started
                    .iter()
                    .map(|server| turn(runtime, server, load, self.time)),
            );
        }
        rounds.least_ratio(served, base, |turn| turn.cpu)
    }

    /// Prints how long one client alone waits for a response.
    pub fn alone(&self) {
        let started = self.start(Protocol::Http1);
        let (rounds, sync) = self.rounds(&started, |server| {
            let latencies = lone_client(server.address, self.time);
            server.settle(self.time);
            Some(latencies.summary())
        });
        println!(
            "one client; {}\n  {:16} {:>7} {:>7} {:>8} {:>11} {:>11} {:>11}",
            sync, "", "p50 µs", "p99 µs", "max µs", "p50 of log", "of prealloc", "of sqlite"
        );
        for served in &self.servers {
            let latency = overall(rounds.turns_of(*served).copied());
            let p50_of = |base| ratio(rounds.ratio(*served, base, |latency| latency.p50));
            println!(
                "  {:16} {:>7.0} {:>7.0} {:>8.0} {:>11} {:>11} {:>11}",
                served.name(),
                latency.p50,
                latency.p99,
                latency.max,
                p50_of(Served::Log),
                p50_of(Served::LogPreallocated),
                p50_of(Served::Sqlite),
            );
        }
    }
}

/// One row: the figures of a server; returns the rate and its ratio to the echo for `--save`.
fn print_row(server: &ServerProcess, rounds: &Rounds<Turn>) -> Option<(f64, f64)> {
    let served = server.served;
    let name = served.name();
    if rounds.turns_of(served).next().is_none() {
        println!("  {name:16} built without this protocol");
        return None;
    }
    let of = |figure: fn(&Turn) -> f64| rounds.median(served, figure);
    let rate_of = |base| rounds.ratio(served, base, |turn| turn.rate);
    let refused: u64 = rounds.turns_of(served).map(|turn| turn.refused).sum();
    let refused = match refused {
        0 => String::new(),
        refused => format!("  {refused} refused"),
    };
    let latency = overall(rounds.turns_of(served).map(|turn| turn.latency));
    println!(
        "  {name:16} {:>10.0} {:>7} {:>7} {:>11} {:>7.0} {:>7.0} {:>8.0} {:>7.1} {:>7} {:>10.1} {:>8}{refused}",
        of(|turn| turn.rate),
        ratio(rate_of(Served::Echo)),
        ratio(rate_of(Served::Log)),
        ratio(rate_of(Served::LogPreallocated)),
        latency.p50,
        latency.p99,
        latency.max,
        of(|turn| turn.cpu),
        ratio(rounds.ratio(served, Served::Log, |turn| turn.cpu)),
        of(|turn| turn.cpu_in_all),
        server.memory_bytes().1 >> 20,
    );
    Some((
        of(|turn| turn.rate),
        rate_of(Served::Echo).unwrap_or(f64::NAN),
    ))
}

/// The medians of several turns, and the longest of all.
fn overall(turns: impl Iterator<Item = Latency>) -> Latency {
    let turns: Vec<_> = turns.collect();
    Latency {
        p50: median(turns.iter().map(|turn| turn.p50)),
        p99: median(turns.iter().map(|turn| turn.p99)),
        max: turns.iter().map(|turn| turn.max).fold(0.0, f64::max),
    }
}

/// A ratio, if its base took part.
fn ratio(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"))
}
