//! Servers over one log, clients that write through all of them, and whether each has what was acknowledged, once.
#![allow(dead_code, reason = "each suite uses a part of it")]

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::load::ledger::{Fact, Ledger};
use crate::load::{Client, PROGRAM, Place, Served, done, write_to};
use crate::servers::network::Host;

/// Fails a test instead of hanging; nothing is measured by it.
const PATIENCE: Duration = Duration::from_secs(180);

/// The nodes; one that does not run is `None`.
pub(crate) struct Fleet {
    pub(crate) nodes: Vec<Option<Served>>,
    places: Vec<Place>,
    hosts: Vec<Host>,
    log: String,
    admin: String,
    /// What was acknowledged in each round.
    ledgers: Vec<Ledger>,
    /// The longest time after a fault until each node took writes again and had those of the others.
    longest: Duration,
}

impl Fleet {
    /// A node on each host. The first begins with a store that has a key, the others with its backup.
    pub(crate) fn start(log: String, hosts: Vec<Host>) -> Self {
        let first = Place::new();
        let mut fleet = Self {
            nodes: Vec::new(),
            admin: first.admin.clone(),
            places: vec![first],
            hosts,
            log,
            ledgers: Vec::new(),
            longest: Duration::ZERO,
        };
        for node in 0..fleet.hosts.len() {
            if node > 0 {
                let place = Place::empty(&fleet.admin);
                std::fs::write(place.file("key"), &fleet.admin).unwrap();
                fleet.places.push(place);
            }
            fleet.nodes.push(None);
            fleet.serve(node);
        }
        fleet
    }

    /// Starts a node. The host drives its actions, so that no state changes by itself.
    pub(crate) fn serve(&mut self, node: usize) {
        let join = match &self.nodes[0] {
            Some(first) if node > 0 => {
                format!("--join http://{} --join-key-file key", first.address)
            }
            _ => String::new(),
        };
        let host = &self.hosts[node];
        let options = format!(
            "--listen {}:0 --quiet --set actions.driver=host --log {} --node node-{node} {join}",
            host.address, self.log
        );
        let served = self.places[node].serve_by(host.command(PROGRAM), &options);
        self.nodes[node] = Some(served);
    }

    /// The key of an administrator.
    pub(crate) fn admin(&self) -> &str {
        &self.admin
    }

    pub(crate) fn address(&self, node: usize) -> SocketAddr {
        self.nodes[node].as_ref().unwrap().address
    }

    /// Writes through all nodes until `event` is over; a client ends at the first refusal. The names of what is written begin with `round`.
    pub(crate) fn write_during(&mut self, round: &str, event: impl FnOnce(&mut Self)) {
        let is_over = Arc::new(AtomicBool::new(false));
        let servers: Vec<_> = (0..self.nodes.len())
            .map(|node| (self.address(node), format!("{round}-{node}")))
            .collect();
        let admin = self.admin.clone();
        let ledger = write_to(&servers, &admin, &is_over, || {
            event(self);
            is_over.store(true, Ordering::Relaxed);
        });
        self.ledgers.push(ledger);
    }

    /// Checks the last round on each node, once nothing is broken any more.
    pub(crate) fn check(&mut self, round: &str) {
        let begun = Instant::now();
        self.meet(round);
        self.longest = self.longest.max(begun.elapsed());
        for node in 0..self.nodes.len() {
            let ledger = self.ledgers.last().unwrap();
            ledger.check(self.address(node), &self.admin);
            // What the check wrote.
            self.meet(&format!("{round}-{node}"));
        }
    }

    /// Checks all rounds on each node, and that all hold the same; returns a line with what there was.
    pub(crate) fn finish(self) -> String {
        for node in 0..self.nodes.len() {
            for ledger in &self.ledgers {
                ledger.check_kept(self.address(node), &self.admin);
            }
        }
        let first = self.exported(0);
        assert!(first.iter().all(|export| !export.is_empty()));
        for node in 1..self.nodes.len() {
            for (first, own) in first.iter().zip(self.exported(node)) {
                let differing: Vec<_> = first.symmetric_difference(&own).take(5).collect();
                assert!(
                    differing.is_empty(),
                    "nodes 0 and {node} differ: {differing:#?}"
                );
            }
        }
        let durable = self.ledgers.iter().flat_map(|ledger| &ledger.durable);
        let records: usize = durable.clone().map(Fact::records).sum();
        let durable = durable.count();
        let open: usize = self.ledgers.iter().map(|ledger| ledger.open.len()).sum();
        assert!(durable > 0, "nothing was acknowledged");
        format!(
            "{} rounds: {durable} writes acknowledged, {records} records among them, {open} in flight; none lost, none doubled, all nodes the \
             same; the nodes met within {:?} after each",
            self.ledgers.len(),
            self.longest
        )
    }

    /// What a node holds, in lines: its workspaces, its audit, its telemetry.
    fn exported(&self, node: usize) -> [BTreeSet<String>; 3] {
        let address = self.address(node);
        let place = &self.places[node];
        std::fs::write(place.file("key"), &self.admin).unwrap();
        ["workspaces", "audit", "stats"].map(|what| {
            let export = format!("export {what} --url http://{address} --key-file key");
            let lines = done(place.path(), &export);
            // What reads a node writes rows into the audit of all.
            let is_access =
                |line: &&str| line.contains("\"QueryExport\"") || line.contains("\"ListKeys\"");
            let lines: Vec<_> = lines.lines().filter(|line| !is_access(line)).collect();
            let set: BTreeSet<_> = lines.iter().map(|line| (*line).to_owned()).collect();
            assert_eq!(
                set.len(),
                lines.len(),
                "{what} of node {node}: a line twice"
            );
            set
        })
    }

    /// Waits until each node takes a write, and has those of the others.
    fn meet(&self, name: &str) {
        let begun = Instant::now();
        let line = |node| format!("/operator/workspaces/met-{name}-{node}");
        for node in 0..self.nodes.len() {
            let mut client = self.client(node);
            loop {
                assert!(begun.elapsed() < PATIENCE, "the log does not return");
                let (status, message) = client.ask(&format!("PUT {}", line(node)), "{}").unwrap();
                match status {
                    200 | 201 => break,
                    503 => std::thread::sleep(Duration::from_millis(100)),
                    _ => panic!("{status} {message}"),
                }
            }
        }
        for node in 0..self.nodes.len() {
            let mut client = self.client(node);
            for other in 0..self.nodes.len() {
                let get = format!("GET {}", line(other));
                while client.ask(&get, "").unwrap().0 != 200 {
                    assert!(begun.elapsed() < PATIENCE, "node {node} does not follow");
                    std::thread::sleep(Duration::from_millis(20));
                }
            }
        }
    }

    fn client(&self, node: usize) -> Client {
        Client::connect(self.address(node), &self.admin).unwrap()
    }
}
