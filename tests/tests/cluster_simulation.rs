//! The simulation of several nodes: each seed is a whole run of a fleet.
//!
//! `DESKFLEET_SIMULATION_SEEDS` sets their number, `DESKFLEET_SIMULATION_FIRST` is the first of them. A failing seed prints the command that
//! replays it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests"
)]

use std::env;

use deskfleet_tests::cluster::{Tally, replay, run};

/// Seeds of the default.
const SEEDS: u64 = 100;

fn number(name: &str) -> Option<u64> {
    env::var(name)
        .ok()
        .map(|text| text.parse().expect("a number"))
}

fn lived(seed: u64) -> Tally {
    match run(seed) {
        Ok(outcome) => outcome.tally,
        Err(broken) => panic!("seed {seed}\n{broken}\nreplay with: {}", replay(seed)),
    }
}

#[test]
fn cluster_of_every_seed_keeps_every_promise() {
    let first = number("DESKFLEET_SIMULATION_FIRST").unwrap_or(0);
    let seeds = number("DESKFLEET_SIMULATION_SEEDS").unwrap_or(SEEDS);
    let mut tally = Tally::default();
    for seed in first..first + seeds {
        tally.add(&lived(seed));
    }
    println!("{seeds} seeds: {tally:?}");
    // A run in which nothing happens proves nothing.
    if seeds >= SEEDS {
        for (what, count) in [
            ("writes", tally.done / 10),
            ("refusals", tally.refused),
            ("writes without the log", tally.unavailable),
            ("writes without an end", tally.unknown * 4),
            ("faults", tally.faults),
            ("power cuts", tally.cuts),
            ("power cuts that lost entries", tally.again * 4),
            ("restarts", tally.restarts),
            ("joins", tally.joined),
            ("jumps of a clock", tally.jumps),
            ("readings", tally.readings),
        ] {
            assert!(count >= seeds / 2, "too few {what}: {tally:?}");
        }
    }
}

/// The seed of `DESKFLEET_SIMULATION_SEED`, with its whole transcript.
#[test]
fn cluster_of_the_named_seed_keeps_every_promise() {
    let Some(seed) = number("DESKFLEET_SIMULATION_SEED") else {
        assert!(lived(0).entries > 0);
        return;
    };
    match run(seed) {
        Ok(outcome) => println!("{}{:?}", outcome.transcript, outcome.tally),
        Err(broken) => panic!("{broken}"),
    }
}

#[test]
fn cluster_of_one_seed_repeats_to_the_byte() {
    for seed in 0..5 {
        let (first, second) = (run(seed).unwrap(), run(seed).unwrap());
        assert!(first == second, "seed {seed} differs from itself");
    }
    assert_ne!(run(1).unwrap().transcript, run(2).unwrap().transcript);
}
