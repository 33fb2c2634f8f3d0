//! The simulation: one seed decides what clients send, how the clock moves, when the disk fails and when the power is
//! cut; observers check the promises. The same seed gives the same run, to the byte.
//!
//! A run is on one thread: calls are pending side by side and are committed together, as on an executor. [`order`]
//! covers threads.

mod calls;
pub(crate) mod disk;
mod fact;
pub(crate) mod fault;
pub(crate) mod fault_schedule;
mod fleet;
mod hostile;
pub mod mutants;
pub mod observers;
pub mod order;
mod power;
mod providers;
mod reader;
mod reading;
mod steps;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};

pub use fact::{Answer, Ending, Fact, Intent, Mark, Observer, Reading, Upkeep, UpkeepEnd, Verdict};
pub use fleet::STABLE;

use crate::files::Part;
use disk::Disk;
use world::World;

/// The outcome of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Every fact, one per line.
    pub transcript: String,
    /// Counts of what happened, so that a suite can check that nothing was left out.
    pub tally: Tally,
}

/// Counts of what happened in runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Calls.
    pub calls: u64,
    /// Calls that succeeded.
    pub done: u64,
    /// Calls whose end is unknown.
    pub unknown: u64,
    /// Records acknowledged.
    pub records: u64,
    /// Records filed.
    pub filed: u64,
    /// Faults of the disk that the engine met.
    pub faults: u64,
    /// Power cuts.
    pub crashes: u64,
    /// Attempts at actions that providers began.
    pub attempts: u64,
    /// Crashes of providers.
    pub provider_crashes: u64,
    /// Jumps of the clock.
    pub jumps: u64,
    /// Episodes of a wrong clock, with upkeep.
    pub episodes: u64,
    /// Floods of records by hostile agents.
    pub floods: u64,
    /// Records that retention removed.
    pub removed: u64,
    /// Times that everything was read.
    pub readings: u64,
}

impl Tally {
    /// Adds another.
    pub fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.done += other.done;
        self.unknown += other.unknown;
        self.records += other.records;
        self.filed += other.filed;
        self.faults += other.faults;
        self.crashes += other.crashes;
        self.attempts += other.attempts;
        self.provider_crashes += other.provider_crashes;
        self.jumps += other.jumps;
        self.episodes += other.episodes;
        self.floods += other.floods;
        self.removed += other.removed;
        self.readings += other.readings;
    }
}

/// Runs a seed with every observer.
///
/// # Errors
/// Which promise was broken and how, with the last facts before it.
pub fn run(seed: u64) -> Result<Outcome, String> {
    run_with(seed, observers::all())
}

/// Runs a seed with these observers.
///
/// # Errors
/// Those of [`run`].
pub fn run_with(seed: u64, observers: Vec<Box<dyn Observer>>) -> Result<Outcome, String> {
    run_on(Disk::default(), seed, observers)
}

/// Runs a seed with every observer on a mutant of the disk, whose syncs of this part do nothing.
///
/// # Errors
/// Those of [`run`]: some seeds must have one.
pub fn run_without_syncs(seed: u64, part: Part) -> Result<Outcome, String> {
    run_on(Disk::without_syncs(Some(part)), seed, observers::all())
}

fn run_on(disk: Disk, seed: u64, observers: Vec<Box<dyn Observer>>) -> Result<Outcome, String> {
    let ended = catch_unwind(AssertUnwindSafe(|| {
        World::new(seed, disk, observers)?.live()
    }));
    match ended {
        Ok(outcome) => outcome,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            Err(format!("a panic: {}", text.unwrap_or_default()))
        }
    }
}

/// The command that runs one seed again.
pub fn replay(seed: u64) -> String {
    format!(
        "DESKFLEET_SIMULATION_SEED={seed} cargo test -p deskfleet-tests --test suites -- --nocapture simulation_of_the_named_seed"
    )
}
