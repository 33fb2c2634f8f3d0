//! The simulation of several nodes: each seed is a whole run of a fleet.
//!
//! `DESKFLEET_SIMULATION_SEEDS` sets their number, `DESKFLEET_SIMULATION_FIRST` is the first of them. A failing seed prints the command that
//! replays it.

#![allow(clippy::print_stdout, reason = "tests")]

use std::env;

use deskfleet_tests::cluster::log::Delivery;
use deskfleet_tests::cluster::{Tally, replay, run, run_delivering, run_losing_tail};

/// Seeds of the default.
const SEEDS: u64 = 1000;

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
            ("restarts", tally.restarts * 2),
            ("joins", tally.joined),
            ("takeovers", tally.takeovers),
            ("entries that were restored", tally.restored),
            ("jumps of a clock", tally.jumps),
            ("readings", tally.readings),
            ("uses of a key", tally.asked * 2),
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

/// Seeds of each mutant.
const SEEDS_OF_MUTANT: u64 = 60;

#[test]
fn log_that_lost_its_tail_gets_it_back_or_stops_every_node_that_had_applied_it() {
    let (mut stopped, mut restored) = (0, 0);
    for seed in 0..SEEDS_OF_MUTANT {
        let ended = run_losing_tail(seed).unwrap_or_else(|broken| panic!("seed {seed}: {broken}"));
        stopped += ended.0;
        restored += ended.1;
    }
    println!("{stopped} nodes stopped, {restored} went on with what the log had lost");
    assert!(
        stopped >= SEEDS_OF_MUTANT / 2,
        "only {stopped} nodes stopped"
    );
    assert!(
        restored >= SEEDS_OF_MUTANT / 4,
        "only {restored} nodes went on"
    );
}

/// Every one is detected, and most by what the node holds, not by the chain alone.
fn is_detected(delivery: impl Fn(u64) -> Delivery) {
    let (mut detected, mut by_contents) = (0, 0);
    for seed in 0..SEEDS_OF_MUTANT {
        let Some(found) = run_delivering(seed, &delivery).unwrap() else {
            continue;
        };
        detected += 1;
        by_contents += u32::from(found.contains("in the end node"));
    }
    println!("{detected} detected, {by_contents} by what a node holds");
    assert!(detected >= 20, "only {detected} runs had the mutant");
    assert!(
        by_contents * 2 > detected,
        "only {by_contents} of {detected}"
    );
}

#[test]
fn node_that_skips_an_entry_is_detected() {
    is_detected(|_| Delivery::Next);
}

#[test]
fn node_that_gets_other_bytes_is_detected() {
    is_detected(|position| Delivery::BodyOf(position - 1));
}
