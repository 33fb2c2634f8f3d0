//! Whole servers under load, each in its own process: the engine's, and the simplest comparable ones.
//!
//! A request is one POST of a Stats record of about 600 bytes, acknowledged when it is durable; each client has one in
//! flight. The servers take turns. The figures are medians over the rounds: of the rate, of its ratio to that of other
//! servers in the same round, and of the latencies; the longest latency is that of all rounds. Then follow the processor
//! time of the server per request, during the turn and including its work afterwards (the engine files what it
//! accepted), and its peak memory.
//!
//! ```sh
//! cargo bench -p deskfleet-benches --bench server
//! cargo bench -p deskfleet-benches --bench server -- --rounds 3 --seconds 1 --servers echo,deskfleet --clients 64
//! cargo bench -p deskfleet-benches --bench server -- --servers deskfleet --desktops 100000
//! cargo bench -p deskfleet-benches --bench server -- drain
//! cargo bench -p deskfleet-benches --bench server -- tail
//! cargo bench -p deskfleet-benches --bench server -- actions
//! cargo bench -p deskfleet-benches --bench server -- slow-syncs
//! cargo bench -p deskfleet-benches --bench server -- events
//! cargo bench -p deskfleet-benches --bench server -- questions
//! cargo bench -p deskfleet-benches --bench server -- bounds
//! ```

#![expect(clippy::expect_used, reason = "a bench that cannot run must stop")]
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::fs;
use std::process::ExitCode;
use std::time::Duration;

use deskfleet_benches::actions_beside::actions_beside;
use deskfleet_benches::comparison::Comparison;
use deskfleet_benches::drain::drain;
use deskfleet_benches::idle_streams::idle_streams;
use deskfleet_benches::load::{Load, STREAMS, runtime};
use deskfleet_benches::questions_beside::questions_beside;
use deskfleet_benches::servers::{Disk, Protocol, Served, serve_if_asked};
use deskfleet_benches::tail::{COLUMNS, tail};
use deskfleet_benches::{SyncMicros, folder_or, is_measuring};
use tokio::runtime::Runtime;

/// The folder for the figures of `--save`.
const PLOTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/plots");
/// What a sync takes longer in the mode about that.
const SYNC_DELAY: Duration = Duration::from_millis(2);

/// The most processor time that a post may take, as a multiple of that of the preallocated log, for each load: half above what a quiet host
/// measures, because on a busy one single ratios differ by a third.
const CPU_BOUNDS: [(Protocol, usize, f64); 3] = [
    (Protocol::Http1, 64, 2.5),
    (Protocol::Http1, 256, 2.9),
    (Protocol::Http2, 8 * STREAMS, 4.0),
];

/// What is measured.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// All servers, in turns.
    Turns,
    /// How the queue of the engine drains.
    Drain,
    /// Latencies second by second.
    Tail,
    /// Lifecycle actions beside telemetry.
    Actions,
    /// The servers in turns, on a disk with slow syncs.
    SlowSyncs,
    /// Open streams of events.
    Events,
    /// Expensive questions beside telemetry.
    Questions,
    /// Whether the processor time of a post is within its bounds.
    Bounds,
}

impl Mode {
    const ALL: [(&str, Self); 8] = [
        ("turns", Self::Turns),
        ("drain", Self::Drain),
        ("tail", Self::Tail),
        ("actions", Self::Actions),
        ("slow-syncs", Self::SlowSyncs),
        ("events", Self::Events),
        ("questions", Self::Questions),
        ("bounds", Self::Bounds),
    ];

    fn named(name: &std::ffi::OsStr) -> Option<Self> {
        let mode = Self::ALL.iter().find(|mode| name == mode.0);
        mode.map(|mode| mode.1)
    }
}

struct Options {
    modes: Vec<Mode>,
    save: bool,
    rounds: usize,
    time: Option<Duration>,
    servers: Option<Vec<Served>>,
    clients: Vec<usize>,
    /// The desktops that the clients report on in turns.
    desktops: Option<u64>,
    /// The desktops and workspaces where their number matters.
    fleet: u16,
    /// The streams of events that are open.
    streams: usize,
}

impl Options {
    fn of_arguments() -> Result<Self, lexopt::Error> {
        use lexopt::prelude::{Long, Short, Value, ValueExt};
        let mut options = Self::usual();
        let mut arguments = lexopt::Parser::from_env();
        while let Some(argument) = arguments.next()? {
            match argument {
                Value(mode) if Mode::named(&mode).is_some() => {
                    options.modes = Mode::named(&mode).into_iter().collect();
                }
                Long("save") => options.save = true,
                Long("rounds") => options.rounds = arguments.value()?.parse()?,
                Long("seconds") => {
                    let seconds = Duration::from_secs_f64(arguments.value()?.parse()?);
                    options.time = Some(seconds);
                }
                Long("servers") => {
                    options.servers = Some(list(&arguments.value()?, Served::named)?);
                }
                Long("clients") => options.clients = list(&arguments.value()?, |n| n.parse().ok())?,
                Long("desktops") => options.desktops = Some(arguments.value()?.parse()?),
                // Arguments of cargo itself, and names of other benches.
                Long("bench" | "test") | Value(_) => {}
                other @ (Long(_) | Short(_)) => return Err(other.unexpected()),
            }
        }
        Ok(options)
    }

    fn usual() -> Self {
        let measuring = is_measuring();
        Self {
            modes: if measuring {
                vec![Mode::Turns]
            } else {
                Mode::ALL.iter().map(|mode| mode.1).collect()
            },
            save: false,
            rounds: if measuring { 5 } else { 1 },
            time: (!measuring).then_some(Duration::from_millis(100)),
            servers: None,
            clients: if measuring { vec![64, 256] } else { vec![4] },
            desktops: None,
            fleet: if measuring { 10_000 } else { 100 },
            streams: if measuring { 1000 } else { 10 },
        }
    }

    fn seconds(&self, usual: u64) -> Duration {
        self.time.unwrap_or_else(|| Duration::from_secs(usual))
    }

    fn servers(&self, usual: &[Served]) -> Vec<Served> {
        self.servers.clone().unwrap_or_else(|| usual.to_vec())
    }

    fn compared<'a>(&self, disk: &'a Disk, usual: &[Served]) -> Comparison<'a> {
        Comparison {
            disk,
            servers: self.servers(usual),
            rounds: self.rounds,
            time: self.seconds(3),
        }
    }

    /// A load of turns.
    fn load(&self, clients: usize) -> Load {
        let usual = Load::with_clients(clients);
        Load {
            desktops: self.desktops.unwrap_or(usual.desktops),
            ..usual
        }
    }

    /// The first of the loads, by the fleet.
    fn load_of_fleet(&self) -> Load {
        Load {
            desktops: self.fleet.into(),
            ..Load::with_clients(self.clients.first().copied().unwrap_or(1))
        }
    }

    fn save(&self, name: &str, lines: &[String]) {
        if self.save {
            let saved = fs::write(format!("{PLOTS}/{name}.csv"), lines.join("\n") + "\n");
            saved.expect("the figures are saved");
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

fn main() -> Result<ExitCode, lexopt::Error> {
    if serve_if_asked() {
        return Ok(ExitCode::SUCCESS);
    }
    let mut holds = true;
    let options = Options::of_arguments()?;
    let mut disk = Disk {
        folder: folder_or(env!("CARGO_TARGET_TMPDIR")),
        sync_delay: Duration::ZERO,
    };
    let runtime = runtime();
    for mode in &options.modes {
        match mode {
            Mode::Turns => turns(&runtime, &disk, &options),
            Mode::Drain => {
                let clients = options.clients.last().copied().unwrap_or(1);
                drain(&runtime, &disk, options.seconds(60), clients);
            }
            Mode::Tail => tails(&runtime, &disk, &options),
            Mode::Actions => {
                let load = options.load_of_fleet();
                let workspaces = options.fleet.into();
                actions_beside(&runtime, &disk, load, workspaces, options.seconds(60));
            }
            Mode::Events => {
                let load = Load::with_clients(options.clients.first().copied().unwrap_or(1));
                let turns = (options.rounds, options.seconds(3));
                idle_streams(&runtime, &disk, load, options.streams, turns);
            }
            Mode::Questions => {
                let load = options.load_of_fleet();
                let sizes = (options.fleet.into(), options.streams);
                questions_beside(&runtime, &disk, load, sizes, options.seconds(5));
            }
            Mode::Bounds => holds &= bounds(&runtime, &disk, &options),
            Mode::SlowSyncs => {
                disk.sync_delay = SYNC_DELAY;
                slow_syncs(&runtime, &disk, &options);
                disk.sync_delay = Duration::ZERO;
            }
        }
    }
    Ok(if holds {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Compares the processor time of a post with that of the preallocated log; returns whether it is within the bounds.
fn bounds(runtime: &Runtime, disk: &Disk, options: &Options) -> bool {
    let compared = Comparison {
        disk,
        servers: vec![Served::LogPreallocated, Served::Deskfleet],
        rounds: if is_measuring() { 2 } else { 1 },
        time: options.time.unwrap_or(Duration::from_millis(500)),
    };
    let mut holds = true;
    for (protocol, clients, most) in CPU_BOUNDS {
        let load = Load {
            protocol,
            ..options.load(if is_measuring() { clients } else { 4 })
        };
        let Some(least) = compared.least_cpu_ratio(runtime, load) else {
            println!("{clients} clients: the server does not speak HTTP/2");
            continue;
        };
        let verdict = if least > most { "  TOO HIGH" } else { "" };
        println!("{clients} clients: {least:.2} of the log's, at most {most:.2}{verdict}");
        holds &= least <= most || !is_measuring();
    }
    holds
}

fn turns(runtime: &Runtime, disk: &Disk, options: &Options) {
    let mut servers = options.compared(disk, &Served::ALL);
    let mut saved = vec!["server,clients,requests_a_second,of_echo".to_owned()];
    for clients in &options.clients {
        saved.extend(servers.under(runtime, options.load(*clients)));
    }
    options.save("server", &saved);
    servers.alone();
    servers.servers.retain(|served| !served.is_sqlite());
    let streams = Load {
        protocol: Protocol::Http2,
        ..options.load(if is_measuring() { 8 * STREAMS } else { 4 })
    };
    servers.under(runtime, streams);
}

fn slow_syncs(runtime: &Runtime, disk: &Disk, options: &Options) {
    println!("each sync takes {} ms longer", disk.sync_delay.as_millis());
    let mut servers = options.compared(disk, &Served::ALL);
    servers.servers.retain(|served| !served.is_sqlite());
    for clients in &options.clients {
        servers.under(runtime, Load::with_clients(*clients));
    }
    servers.alone();
}

fn tails(runtime: &Runtime, disk: &Disk, options: &Options) {
    let load = options.load_of_fleet();
    // The log's latencies show what the host and its disk contributed.
    let servers = options.servers(&[Served::LogPreallocated, Served::Deskfleet]);
    let mut saved = vec![COLUMNS.to_owned()];
    for served in servers {
        let sync = SyncMicros::measure(&disk.folder);
        println!("{sync}");
        saved.extend(tail(runtime, disk, served, load, options.seconds(60)));
    }
    options.save("tail", &saved);
}
