//! Three servers over one log, with what leads the log killed or stopped under load over and over, and servers too: acknowledged writes
//! are there, once, on each of them.
//!
//! `DESKFLEET_CLUSTER_ROUNDS=100 cargo test -p deskfleet-server --all-features --test suites cluster_kill:: -- --nocapture` is the long form.
#![cfg(all(unix, feature = "postgres", feature = "nats"))]

use std::time::Duration;

use crate::fleet::Fleet;
use crate::servers::nats::Nats;
use crate::servers::network::Host;
use crate::servers::postgres::Postgres;

/// Rounds in an ordinary run.
const ROUNDS: u32 = 4;
/// The stream of the entries in NATS.
const STREAM: &str = "df_fleet";

fn rounds() -> u32 {
    std::env::var("DESKFLEET_CLUSTER_ROUNDS").map_or(ROUNDS, |rounds| rounds.parse().unwrap())
}

fn local_hosts() -> Vec<Host> {
    vec![Host::local(); 3]
}

/// Waits until another moment in each round.
fn wait_for_moment(round: u32) {
    let spread = round.wrapping_mul(2_654_435_761) >> 20;
    std::thread::sleep(Duration::from_millis(u64::from(100 + spread % 400)));
}

fn kill_node(fleet: &mut Fleet, node: usize) {
    fleet.nodes[node].as_mut().unwrap().kill();
}

#[test]
fn acknowledged_writes_survive_the_death_of_the_primary_and_of_nodes() {
    let Some(mut postgres) = Postgres::start() else {
        return;
    };
    let mut fleet = Fleet::start(postgres.url(), local_hosts());
    for round in 0..rounds() {
        let kills_node = round % 2 == 1;
        fleet.write_during(&format!("{round}"), |fleet| {
            wait_for_moment(round);
            if kills_node {
                kill_node(fleet, 2);
            }
            postgres.kill_primary();
            postgres.promote();
            std::thread::sleep(Duration::from_millis(300));
        });
        postgres.revive();
        if kills_node {
            fleet.serve(2);
        }
        fleet.check(&format!("{round}"));
    }
    println!("PostgreSQL, {}", fleet.finish());
}

/// The nodes restore what the new primary lacks.
#[test]
fn acknowledged_writes_survive_a_standby_that_lags_and_takes_over() {
    let Some(mut postgres) = Postgres::start_asynchronous() else {
        return;
    };
    let mut fleet = Fleet::start(postgres.url(), local_hosts());
    let mut lost = 0;
    for round in 0..rounds() {
        fleet.write_during(&format!("{round}"), |_| {
            postgres.detach_standbys();
            wait_for_moment(round);
            let end = "SELECT seq FROM df_head";
            let before: u64 = postgres.sql(end).parse().unwrap();
            postgres.kill_primary();
            postgres.promote();
            // By now a node may have given some back already.
            lost += before.saturating_sub(postgres.sql(end).parse().unwrap());
            std::thread::sleep(Duration::from_millis(300));
        });
        postgres.revive();
        fleet.check(&format!("{round}"));
    }
    assert!(lost > 0, "no standby lacked an entry");
    println!(
        "PostgreSQL, {lost} entries lost and restored, {}",
        fleet.finish()
    );
}

#[test]
fn acknowledged_writes_survive_the_death_of_the_leader_of_jetstream_and_of_nodes() {
    let Some(mut nats) = Nats::start() else {
        return;
    };
    let mut fleet = Fleet::start(nats.url(), local_hosts());
    for round in 0..rounds() {
        let kills_node = round % 4 >= 2;
        fleet.write_during(&format!("{round}"), |fleet| {
            wait_for_moment(round);
            if kills_node {
                kill_node(fleet, 2);
            }
            if round % 2 == 0 {
                nats.kill_leader(STREAM);
                std::thread::sleep(Duration::from_secs(1));
                nats.revive();
            } else {
                // Long enough for another leader, which the old one meets when it goes on.
                let stopped = nats.stop_leader(STREAM);
                std::thread::sleep(Duration::from_secs(10));
                nats.resume(stopped);
                nats.wait_until_complete();
            }
            std::thread::sleep(Duration::from_millis(300));
        });
        if kills_node {
            fleet.serve(2);
        }
        fleet.check(&format!("{round}"));
    }
    println!("JetStream, {}", fleet.finish());
}
