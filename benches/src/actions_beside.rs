//! The latency of lifecycle actions beside telemetry.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::net::SocketAddr;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use deskfleet::Engine;
use tokio::runtime::Runtime;
use tokio::task::spawn_blocking;

use crate::figures::float;
use crate::fixture::{FILE, issue_key, put_workspaces, workspace};
use crate::latency::{Latencies, Latency};
use crate::load::{Load, LoneClient, Running};
use crate::servers::{Disk, Protocol, Served, ServerProcess};

/// Time from one action to the next.
const EVERY: Duration = Duration::from_millis(20);

/// Restarts one workspace of `workspaces` after another, first alone, then for `time` beside the clients of `load`;
/// prints how long the responses take.
///
/// Each workspace is available and gets its turn again after 20 ms × `workspaces`, which must be more than the two
/// minutes of a restart if `time` is.
///
/// # Panics
/// When a client fails, or an action is refused.
pub fn actions_beside(
    runtime: &Runtime,
    disk: &Disk,
    load: Load,
    workspaces: usize,
    time: Duration,
) {
    let fill = |folder: &Path| fill(folder, workspaces);
    let filled = ServerProcess::start_filled(Served::Deskfleet, Protocol::Http1, disk, fill);
    let (server, key) = filled;
    let mut actions = Actions {
        address: server.address,
        key,
        next: (0..workspaces).cycle(),
    };
    println!(
        "an action every {} ms, {workspaces} workspaces, {} desktops post\n  {:22} {:>8} {:>8} {:>8} {:>9}",
        EVERY.as_millis(),
        load.desktops,
        "",
        "a second",
        "p50 µs",
        "p99 µs",
        "max µs"
    );
    print_row("action, alone", time / 4, &actions.post(time / 4));
    let (latencies, finished) = runtime.block_on(async {
        let running = Running::start(server.address, load).await;
        let running = running.expect("it speaks HTTP/1.1");
        // On a thread of its own, so that it does not wait for the other clients' work.
        let acting = spawn_blocking(move || actions.post(time));
        let latencies = acting.await.expect("the actions are accepted");
        (latencies, running.finish().await)
    });
    assert_eq!(finished.refused, 0, "the server refuses");
    let beside = format!("action, {} clients", load.clients);
    print_row(&beside, time, &latencies);
    print_row("their posts", time, &finished.latencies);
}

fn print_row(name: &str, time: Duration, latencies: &Latencies) {
    let Latency { p50, p99, max } = latencies.summary();
    let rate = float(latencies.count()) / time.as_secs_f64();
    println!("  {name:22} {rate:>8.0} {p50:>8.0} {p99:>8.0} {max:>9.0}");
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

struct Actions<N> {
    address: SocketAddr,
    key: String,
    /// The numbers of the workspaces to restart.
    next: N,
}

impl<N: Iterator<Item = usize>> Actions<N> {
    /// Restarts the next workspaces, one at a time.
    fn post(&mut self, time: Duration) -> Latencies {
        let mut client = LoneClient::connect(self.address);
        let mut latencies = Latencies::default();
        let start = Instant::now();
        let mut due = start;
        while due < start + time {
            let number = self.next.next().expect("there is always a next one");
            let request = format!(
                "POST /api/Actions/RebootWorkSpace?apiKey={}&workSpaceId={}&requester=bench HTTP/1.1\r\n\
                 host: 127.0.0.1\r\ncontent-length: 0\r\n\r\n",
                self.key,
                workspace(number).id,
            );
            let early = due.saturating_duration_since(Instant::now());
            sleep(early);
            // One that is due while the last one is not answered waits, and that counts.
            let sent = if early.is_zero() { due } else { Instant::now() };
            client.ask(request.as_bytes());
            latencies.add(sent.elapsed());
            due += EVERY;
        }
        latencies
    }
}
