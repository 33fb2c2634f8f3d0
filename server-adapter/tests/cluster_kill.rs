//! Three servers over one log in PostgreSQL, with the primary killed under load over and over, and servers too: acknowledged writes are
//! there, once, on each of them.
//!
//! `DESKFLEET_CLUSTER_ROUNDS=100 cargo test -p deskfleet-server --all-features --test cluster_kill -- --nocapture` is the long form.
#![cfg(all(unix, feature = "postgres"))]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

mod load;
#[allow(
    clippy::pedantic,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    dead_code,
    missing_debug_implementations,
    unreachable_pub,
    reason = "servers for several suites, each of which needs a part"
)]
#[path = "../../tests/src/servers/postgres.rs"]
mod postgres;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use load::ledger::Ledger;
use load::{Client, Place, Served, write_to};
use postgres::Postgres;

/// Fails a test instead of hanging; nothing is measured by it.
const PATIENCE: Duration = Duration::from_secs(180);
/// Rounds in an ordinary run.
const ROUNDS: u32 = 4;

fn rounds() -> u32 {
    std::env::var("DESKFLEET_CLUSTER_ROUNDS").map_or(ROUNDS, |rounds| rounds.parse().unwrap())
}

/// The nodes; one that does not run is `None`.
struct Fleet {
    places: Vec<Place>,
    log: String,
    nodes: Vec<Option<Served>>,
    admin: String,
}

impl Fleet {
    /// The first node begins with a store that has a key, the others with its backup.
    fn start(log: String) -> Self {
        let first = Place::new();
        let admin = first.admin.clone();
        let mut fleet = Self {
            places: vec![first],
            log,
            nodes: vec![None],
            admin,
        };
        fleet.serve(0);
        for node in 1..3 {
            let place = Place::empty(&fleet.admin);
            std::fs::write(place.file("key"), &fleet.admin).unwrap();
            fleet.places.push(place);
            fleet.nodes.push(None);
            fleet.serve(node);
        }
        fleet
    }

    fn serve(&mut self, node: usize) {
        let join = match &self.nodes[0] {
            Some(first) if node > 0 => {
                format!("--join http://{} --join-key-file key", first.address)
            }
            _ => String::new(),
        };
        let options = format!("--quiet --log {} --node node-{node} {join}", self.log);
        self.nodes[node] = Some(self.places[node].serve_with(&options));
    }

    fn address(&self, node: usize) -> std::net::SocketAddr {
        self.nodes[node].as_ref().unwrap().address
    }

    /// Waits until each node has what was written by now.
    fn meet(&self, name: &str) {
        let mut first = Client::connect(self.address(0), &self.admin).unwrap();
        let line = format!("/operator/workspaces/met-{name}");
        let begun = Instant::now();
        loop {
            assert!(begun.elapsed() < PATIENCE, "the log does not return");
            let (status, said) = first.ask(&format!("PUT {line}"), "{}").unwrap();
            match status {
                200 | 201 => break,
                503 => std::thread::sleep(Duration::from_millis(200)),
                _ => panic!("{status} {said}"),
            }
        }
        for node in 1..self.nodes.len() {
            let mut client = Client::connect(self.address(node), &self.admin).unwrap();
            while client.ask(&format!("GET {line}"), "").unwrap().0 != 200 {
                assert!(begun.elapsed() < PATIENCE, "node {node} does not follow");
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }
}

#[test]
fn acknowledged_writes_survive_the_death_of_the_primary_and_of_nodes() {
    let Some(mut postgres) = Postgres::start() else {
        return;
    };
    let mut fleet = Fleet::start(postgres.url());
    let (mut durable, mut records, mut open) = (0, 0, 0);
    let mut all: Vec<Ledger> = Vec::new();
    for round in 0..rounds() {
        let is_over = Arc::new(AtomicBool::new(false));
        let servers: Vec<_> = (0..3)
            .map(|node| (fleet.address(node), format!("{round}-{node}")))
            .collect();
        let admin = fleet.admin.clone();
        let ledger = write_to(&servers, &admin, &is_over, || {
            let spread = round.wrapping_mul(2_654_435_761) >> 20;
            std::thread::sleep(Duration::from_millis(u64::from(100 + spread % 400)));
            if round % 2 == 1 {
                fleet.nodes[2].as_mut().unwrap().kill();
            }
            postgres.kill_primary();
            postgres.promote();
            std::thread::sleep(Duration::from_millis(300));
            is_over.store(true, Ordering::Relaxed);
        });
        postgres.revive();
        if round % 2 == 1 {
            fleet.serve(2);
        }
        durable += ledger.durable.len();
        records += ledger
            .durable
            .iter()
            .map(load::ledger::Fact::records)
            .sum::<usize>();
        open += ledger.open.len();
        all.push(ledger);
        let ledger = all.last().unwrap();
        fleet.meet(&format!("{round}"));
        for node in 0..3 {
            ledger.check(fleet.address(node), &fleet.admin);
            // What the check wrote.
            fleet.meet(&format!("{round}-{node}"));
        }
    }
    for ledger in &all {
        for node in 0..3 {
            ledger.check_kept(fleet.address(node), &fleet.admin);
        }
    }
    assert!(durable > 0, "nothing was acknowledged");
    println!(
        "{} rounds: {durable} writes acknowledged, {records} records among them, {open} in flight; none lost, none doubled",
        rounds()
    );
}
