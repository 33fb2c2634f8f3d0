//! The simulation of a fleet of several nodes: one seed decides what clients send through which node, when a node follows the log, stops,
//! loses its power or joins again, and when the log fails. The same seed gives the same run, to the byte.
//!
//! The order of the log is the witness: an engine that applies it alone, from the first entry on, is what all others must equal.

pub mod digest;
mod events;
mod judging;
pub mod log;
pub mod steps;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};

pub use world::{Outcome, Tally, World};

/// Runs a seed.
///
/// # Errors
/// Which promise was broken and how.
pub fn run(seed: u64) -> Result<Outcome, String> {
    run_with(seed, |_| Ok(()))
}

/// Runs a seed on a fleet that `prepare` changed before its end: while its nodes still have to follow.
///
/// # Errors
/// Those of [`run`].
pub fn run_with(
    seed: u64,
    prepare: impl FnOnce(&mut World) -> Result<(), String>,
) -> Result<Outcome, String> {
    let ended = catch_unwind(AssertUnwindSafe(|| World::new(seed)?.live(prepare)));
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
        "DESKFLEET_SIMULATION_SEED={seed} cargo test -p deskfleet-tests --test cluster_simulation -- --nocapture cluster_of_the_named_seed"
    )
}
