//! Nodes and the servers of their log, each on a host of its own, with packets between them dropped under load, in one direction or both:
//! what was acknowledged is there, once, and all nodes hold the same.
//!
//! Each round has another cut. An ordinary run has the first three of each log;
//! `DESKFLEET_PARTITION_ROUNDS=70 cargo test -p deskfleet-server --all-features --test suites partitions:: -- --nocapture` is the long form.
#![cfg(all(target_os = "linux", feature = "postgres", feature = "nats"))]

use std::time::Duration;

use crate::fleet::Fleet;
use crate::servers::nats::Nats;
use crate::servers::network::{Host, Network};
use crate::servers::postgres::Postgres;

/// Cuts in an ordinary run.
const ROUNDS: usize = 3;
/// The servers of the log.
const LOG: [usize; 3] = [0, 1, 2];
const NODES: [usize; 2] = [3, 4];
/// The stream of the entries in NATS.
const STREAM: &str = "df_fleet";

/// Between whom packets are dropped. The leader is the server of the log that acknowledges writes, the others are the other two.
#[derive(Debug, Clone, Copy)]
enum Cut {
    LeaderAndOthers,
    LeaderToOthers,
    OthersToLeader,
    LeaderAndAll,
    NodeAndLog,
    NodeToLog,
    LogToNode,
}

/// In the order of the rounds, with the seconds that each lasts. Another leader of JetStream takes 4 to 9 s.
const CUTS: [(Cut, u64); 7] = [
    (Cut::LeaderAndAll, 8),
    (Cut::NodeToLog, 3),
    (Cut::OthersToLeader, 3),
    (Cut::LeaderToOthers, 10),
    (Cut::LogToNode, 12),
    (Cut::LeaderAndOthers, 10),
    (Cut::NodeAndLog, 6),
];

impl Cut {
    fn begin(self, network: &Network, leader: usize) {
        let others: Vec<_> = LOG.into_iter().filter(|server| *server != leader).collect();
        let all: Vec<_> = others.iter().chain(&NODES).copied().collect();
        let (leader, node) = ([leader], [NODES[0]]);
        match self {
            Self::LeaderAndOthers => network.cut_both(&leader, &others),
            Self::LeaderToOthers => network.cut(&leader, &others),
            Self::OthersToLeader => network.cut(&others, &leader),
            Self::LeaderAndAll => network.cut_both(&leader, &all),
            Self::NodeAndLog => network.cut_both(&node, &LOG),
            Self::NodeToLog => network.cut(&node, &LOG),
            Self::LogToNode => network.cut(&LOG, &node),
        }
    }
}

fn rounds() -> usize {
    std::env::var("DESKFLEET_PARTITION_ROUNDS").map_or(ROUNDS, |rounds| rounds.parse().unwrap())
}

fn network() -> Option<Network> {
    Network::start(LOG.len() + NODES.len())
}

fn hosts(network: &Network, numbers: &[usize]) -> Vec<Host> {
    numbers.iter().map(|host| network.host(*host)).collect()
}

fn wait(milliseconds: u64) {
    std::thread::sleep(Duration::from_millis(milliseconds));
}

#[test]
fn acknowledged_writes_survive_partitions_of_jetstream() {
    let Some(network) = network() else { return };
    let Some(nats) = Nats::start_on(hosts(&network, &LOG)) else {
        return;
    };
    let mut fleet = Fleet::start(nats.url(), hosts(&network, &NODES));
    for (round, (cut, seconds)) in CUTS.into_iter().cycle().take(rounds()).enumerate() {
        let leader = nats.leader(STREAM);
        fleet.write_during(&format!("{round}"), |_| {
            wait(300);
            cut.begin(&network, leader);
            wait(seconds * 1000);
            assert!(network.heal() > 0, "{cut:?} dropped nothing");
            wait(300);
        });
        nats.wait_until_complete();
        fleet.check(&format!("{round}"));
    }
    println!("JetStream, {}", fleet.finish());
}

#[test]
fn acknowledged_writes_survive_partitions_of_postgresql() {
    let Some(network) = network() else { return };
    let Some(mut postgres) = Postgres::start_on(&hosts(&network, &LOG)) else {
        return;
    };
    let mut fleet = Fleet::start(postgres.url(), hosts(&network, &NODES));
    for (round, (cut, seconds)) in CUTS.into_iter().cycle().take(rounds()).enumerate() {
        fleet.write_during(&format!("{round}"), |_| {
            wait(300);
            cut.begin(&network, postgres.primary());
            if matches!(cut, Cut::LeaderAndAll) {
                wait(1000);
                // A person promotes a standby, and fences the old primary before it is reached again.
                let old = postgres.primary();
                postgres.promote();
                wait(1000);
                postgres.kill(old);
            } else {
                wait(seconds * 1000);
            }
            assert!(network.heal() > 0, "{cut:?} dropped nothing");
            wait(300);
        });
        postgres.revive();
        fleet.check(&format!("{round}"));
    }
    println!("PostgreSQL, {}", fleet.finish());
}
