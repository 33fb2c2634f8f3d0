//! Whole servers under load, each in its own process: the engine's, and the simplest comparable ones.
//!
//! A request is one POST of a Stats record of about 600 bytes, acknowledged when it is durable; each client has one in
//! flight. The servers take turns. The figures are medians over the rounds: of the rate, and of the ratio to the echo
//! of the same round. Then follow the processor time of the server per request, during the turn and including its work
//! afterwards (the engine files what it accepted), and its peak memory.
//!
//! ```sh
//! cargo bench -p deskfleet-benches --bench server
//! cargo bench -p deskfleet-benches --bench server -- --rounds 3 --seconds 1 --servers echo,deskfleet --clients 64
//! cargo bench -p deskfleet-benches --bench server -- drain
//! ```

#![expect(clippy::expect_used, reason = "a bench that cannot run must stop")]
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::path::Path;
use std::time::Duration;

use deskfleet_benches::drain::drain;
use deskfleet_benches::figures::{median, percentile};
use deskfleet_benches::load::{Load, STREAMS, Turn, lone_client, runtime, turn};
use deskfleet_benches::servers::{Protocol, Served, ServerProcess, serve_if_asked};
use deskfleet_benches::{SyncMicros, folder_or, is_measuring};
use tokio::runtime::Runtime;

/// The file for the rates of `--save`.
const SAVED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/plots/server.csv");

struct Options {
    drain: bool,
    save: bool,
    rounds: usize,
    time: Duration,
    servers: Vec<Served>,
    clients: Vec<usize>,
}

impl Options {
    fn of_arguments() -> Result<Self, lexopt::Error> {
        use lexopt::prelude::{Long, Short, Value, ValueExt};
        let mut options = if is_measuring() {
            Self::new(5, Duration::from_secs(3), vec![64, 256])
        } else {
            Self::new(1, Duration::from_millis(100), vec![4])
        };
        let mut arguments = lexopt::Parser::from_env();
        while let Some(argument) = arguments.next()? {
            match argument {
                Value(mode) if mode == "drain" => options.drain = true,
                Long("save") => options.save = true,
                Long("rounds") => options.rounds = arguments.value()?.parse()?,
                Long("seconds") => {
                    options.time = Duration::from_secs_f64(arguments.value()?.parse()?);
                }
                Long("servers") => options.servers = list(&arguments.value()?, Served::named)?,
                Long("clients") => options.clients = list(&arguments.value()?, |n| n.parse().ok())?,
                // Arguments of cargo itself, and names of other benches.
                Long("bench" | "test") | Value(_) => {}
                other @ (Long(_) | Short(_)) => return Err(other.unexpected()),
            }
        }
        Ok(options)
    }

    fn new(rounds: usize, time: Duration, clients: Vec<usize>) -> Self {
        Self {
            drain: false,
            save: false,
            rounds,
            time,
            servers: Served::ALL.to_vec(),
            clients,
        }
    }
}

fn list<T>(
    text: &std::ffi::OsStr,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Vec<T>, lexopt::Error> {
    let text = text.to_string_lossy();
    let parsed = text.split(',').map(|item| {
        let unknown = || lexopt::Error::Custom(format!("unknown: {item}").into());
        parse(item).ok_or_else(unknown)
    });
    parsed.collect()
}

fn main() -> Result<(), lexopt::Error> {
    if serve_if_asked() {
        return Ok(());
    }
    let options = Options::of_arguments()?;
    let folder = folder_or(env!("CARGO_TARGET_TMPDIR"));
    let runtime = runtime();
    if options.drain || !is_measuring() {
        let (busy, clients) = if is_measuring() {
            (Duration::from_secs(60), 256)
        } else {
            (Duration::from_millis(300), 4)
        };
        drain(&runtime, &folder, busy, clients);
    }
    if !options.drain {
        let mut saved = vec!["server,clients,requests_a_second,of_echo".to_owned()];
        for clients in &options.clients {
            saved.extend(load(&runtime, &folder, &options, Protocol::Http1, *clients));
        }
        if options.save {
            std::fs::write(SAVED, saved.join("\n") + "\n").expect("the rates are saved");
        }
        let streams = if is_measuring() { 8 * STREAMS } else { 4 };
        load(&runtime, &folder, &options, Protocol::Http2, streams);
        lone(&folder, &options);
    }
    Ok(())
}

/// The servers under the load of `clients` clients; returns the figures to save.
fn load(
    runtime: &Runtime,
    folder: &Path,
    options: &Options,
    protocol: Protocol,
    clients: usize,
) -> Vec<String> {
    let load = Load { protocol, clients };
    // axum stands for the usual setup, which does not include this protocol.
    let speaks = |served: &Served| {
        protocol == Protocol::Http1 || !matches!(served, Served::Sqlite | Served::SqliteUnindexed)
    };
    let started = options.servers.iter().copied().filter(speaks);
    let servers: Vec<_> = started
        .map(|served| ServerProcess::start(served, protocol, folder))
        .collect();
    let mut syncs = Vec::new();
    let mut rounds: Vec<Vec<Option<Turn>>> = Vec::new();
    for _ in 0..options.rounds {
        syncs.push(SyncMicros::measure(folder));
        let turns = servers
            .iter()
            .map(|server| turn(runtime, server, load, options.time));
        rounds.push(turns.collect());
    }
    let client_cpu = median(
        rounds
            .iter()
            .flatten()
            .flatten()
            .map(|turn| turn.client_cpu),
    );
    let sync = SyncMicros::median(&syncs);
    println!(
        "{clients} clients over {}; {sync}; the client itself {client_cpu:.1} µs a request",
        match protocol {
            Protocol::Http1 => "HTTP/1.1",
            Protocol::Http2 => "HTTP/2, 32 streams a connection",
        }
    );
    println!(
        "  {:22} {:>10} {:>8} {:>8} {:>8} {:>10} {:>10}",
        "", "requests/s", "of echo", "CPU µs", "of echo", "CPU in all", "peak MiB"
    );
    let mut saved = Vec::new();
    for (index, server) in servers.iter().enumerate() {
        if let Some((rate, ratio)) = print_row(server, index, &rounds) {
            let name = server.served.name();
            saved.push(format!("{name},{clients},{rate:.0},{ratio:.3}"));
        }
    }
    saved
}

/// One row: the medians of a server; returns the rate and its ratio for `--save`.
fn print_row(
    server: &ServerProcess,
    index: usize,
    rounds: &[Vec<Option<Turn>>],
) -> Option<(f64, f64)> {
    let name = server.served.name();
    let pairs: Vec<(&Turn, &Turn)> = rounds
        .iter()
        .filter_map(|round| Some((round.get(index)?.as_ref()?, round.first()?.as_ref()?)))
        .collect();
    if pairs.is_empty() {
        println!("  {name:22} built without this protocol");
        return None;
    }
    let of = |figure: fn(&Turn) -> f64| median(pairs.iter().map(|(turn, _)| figure(turn)));
    let ratio = |figure: fn(&Turn) -> f64| {
        median(
            pairs
                .iter()
                .map(|(turn, first)| figure(turn) / figure(first)),
        )
    };
    let refused: u64 = pairs.iter().map(|(turn, _)| turn.refused).sum();
    let refused = match refused {
        0 => String::new(),
        refused => format!("  {refused} refused"),
    };
    let (rate, of_first) = (of(|turn| turn.rate), ratio(|turn| turn.rate));
    println!(
        "  {name:22} {rate:>10.0} {of_first:>8.2} {:>8.1} {:>8.2} {:>10.1} {:>10}{refused}",
        of(|turn| turn.cpu),
        ratio(|turn| turn.cpu),
        of(|turn| turn.cpu_in_all),
        server.memory_bytes().1 >> 20,
    );
    Some((rate, of_first))
}

/// One client alone: the latency of a response.
fn lone(folder: &Path, options: &Options) {
    let servers: Vec<_> = options
        .servers
        .iter()
        .map(|served| ServerProcess::start(*served, Protocol::Http1, folder))
        .collect();
    let mut rounds = Vec::new();
    let mut syncs = Vec::new();
    for _ in 0..options.rounds {
        syncs.push(SyncMicros::measure(folder));
        let turns = servers.iter().map(|server| {
            let times = lone_client(server.address, options.time);
            server.settle(options.time);
            (percentile(times.clone(), 50), percentile(times, 99))
        });
        rounds.push(turns.collect::<Vec<_>>());
    }
    let log = servers
        .iter()
        .position(|server| server.served == Served::Log);
    println!(
        "one client; {}\n  {:22} {:>8} {:>8} {:>14}",
        SyncMicros::median(&syncs),
        "",
        "p50 µs",
        "p99 µs",
        "p50 of the log"
    );
    for (index, server) in servers.iter().enumerate() {
        let turns = || rounds.iter().filter_map(|round| round.get(index));
        let ratios = rounds.iter().filter_map(|round| {
            let (own, log) = (round.get(index)?, round.get(log?)?);
            Some(own.0 / log.0)
        });
        println!(
            "  {:22} {:>8.0} {:>8.0} {:>14.2}",
            server.served.name(),
            median(turns().map(|turn| turn.0)),
            median(turns().map(|turn| turn.1)),
            median(ratios),
        );
    }
}
