//! The simulation suite: each seed is a whole run of an engine.
//!
//! `DESKFLEET_SIMULATION_SEEDS` sets their number; CI takes the default, a long run 100 000.
//! `DESKFLEET_SIMULATION_FIRST` is the first of them. A failing seed prints the command that replays it.

#![allow(clippy::print_stdout, reason = "tests")]

use std::env;

use deskfleet::CommitDriver;
use deskfleet_tests::files::Part;
use deskfleet_tests::simulation::mutants::mutants;
use deskfleet_tests::simulation::order::{history, order};
use deskfleet_tests::simulation::{Tally, replay, run, run_with, run_without_syncs};

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
fn simulation_of_every_seed_keeps_every_promise() {
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
            ("calls answered well", tally.done / 20),
            ("calls without an end", tally.unknown),
            ("records", tally.records / 10),
            ("records filed", tally.filed / 10),
            ("faults met", tally.faults),
            ("power cuts", tally.crashes),
            ("attempts of providers", tally.attempts),
            ("crashes of providers", tally.provider_crashes),
            ("jumps of the clock", tally.jumps),
            ("episodes of a wrong clock", tally.episodes),
            ("floods", tally.floods),
            ("records removed by retention", tally.removed),
            ("readings", tally.readings),
        ] {
            assert!(count >= seeds / 2, "too few {what}: {tally:?}");
        }
    }
}

/// The seed of `DESKFLEET_SIMULATION_SEED`, with its whole transcript.
#[test]
fn simulation_of_the_named_seed_keeps_every_promise() {
    let Some(seed) = number("DESKFLEET_SIMULATION_SEED") else {
        return lived(0)
            .readings
            .checked_sub(1)
            .map(drop)
            .expect("a reading");
    };
    match run(seed) {
        Ok(outcome) => println!("{}{:?}", outcome.transcript, outcome.tally),
        Err(broken) => panic!("{broken}"),
    }
}

#[test]
fn simulation_of_one_seed_repeats_to_the_byte() {
    for seed in 0..20 {
        let (first, second) = (run(seed).unwrap(), run(seed).unwrap());
        assert!(first == second, "seed {seed} differs from itself");
        assert!(first.transcript.len() > 1000, "{}", first.transcript);
    }
    assert_ne!(run(1).unwrap().transcript, run(2).unwrap().transcript);
}

/// Seeds tried until one shows the mutant.
const SEEDS_PER_MUTANT: u64 = 300;

/// Each mutant changes the facts of a good run: its observer must report its promise as broken.
#[test]
fn every_mutant_is_detected() {
    for mutant in mutants() {
        let promise = (mutant.observer)().promise();
        let caught = (0..SEEDS_PER_MUTANT).any(|seed| {
            run_with(seed, vec![mutant.observer_of_mutant()])
                .is_err_and(|broken| broken.contains(promise))
        });
        assert!(caught, "not detected: {}, against: {promise}", mutant.about);
    }
}

/// Mutants: a disk whose syncs of one part do nothing.
#[test]
fn every_part_without_syncs_is_detected() {
    for part in Part::ALL {
        let broken = (0..SEEDS_PER_MUTANT).any(|seed| run_without_syncs(seed, part).is_err());
        assert!(broken, "not detected: {part:?} without syncs");
    }
}

/// Threads on one workspace: some order explains all their results. The seed decides what they do, not how they interleave.
fn threads_agree(driver: CommitDriver) {
    let rounds = number("DESKFLEET_SIMULATION_ROUNDS").unwrap_or(150);
    let mut overlapping = 0;
    for seed in 0..rounds {
        let history = history(seed, driver, 4, 4);
        let order = order(&history);
        assert!(order.is_some(), "no order explains {history:#?}");
        let meets = |left: usize, right: usize| {
            history[left].began < history[right].ended && history[right].began < history[left].ended
        };
        let met = (0..history.len()).any(|left| (0..left).any(|right| meets(left, right)));
        overlapping += u64::from(met);
    }
    assert!(overlapping > 0, "the threads never met");
}

#[test]
fn concurrent_responses_with_caller_commits_are_linearizable() {
    threads_agree(CommitDriver::Caller);
}

#[test]
fn concurrent_responses_with_a_writer_thread_are_linearizable() {
    threads_agree(CommitDriver::Thread);
}
