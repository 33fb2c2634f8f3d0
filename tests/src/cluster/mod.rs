//! The simulation of a fleet of several nodes: one seed decides what clients send through which node, when a node follows the log, stops,
//! loses its power or joins again, and when the log fails. The same seed gives the same run, to the byte.
//!
//! The order of the log is the witness: an engine that applies it alone, from the first entry on, is what all others must equal.

pub mod digest;
mod events;
mod judging;
pub mod log;
pub mod node;
pub mod steps;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};

use log::Delivery;
pub use world::{Outcome, Tally, World};

/// Runs a seed.
///
/// # Errors
/// Which promise was broken and how.
pub fn run(seed: u64) -> Result<Outcome, String> {
    let ended = catch_unwind(AssertUnwindSafe(|| {
        let mut world = World::new(seed)?;
        world.act()?;
        world.finish()
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

/// A mutant: the log loses its last entries. Returns how many nodes stopped because of that, and with how many the log has again what they had applied.
///
/// # Errors
/// A node went on without what it had applied, or another stopped.
pub fn run_losing_tail(seed: u64) -> Result<(u64, u64), String> {
    let mut world = World::new(seed)?;
    world.act()?;
    world.lose_tail()
}

/// A mutant: a node meets something else in place of an entry. `None` where no node lacked entries.
///
/// # Errors
/// The node was not found out: the error says what the mutant did.
pub fn run_delivering(
    seed: u64,
    delivery: impl Fn(u64) -> Delivery,
) -> Result<Option<String>, String> {
    let mut world = World::new(seed)?;
    world.act()?;
    let Some(position) = world.deliver_wrongly(delivery) else {
        return Ok(None);
    };
    match world.finish() {
        Ok(_) => Err(format!(
            "seed {seed}: entry {position} was another, and nobody noticed"
        )),
        Err(found) => Ok(Some(found)),
    }
}

/// The command that runs one seed again.
pub fn replay(seed: u64) -> String {
    format!(
        "DESKFLEET_SIMULATION_SEED={seed} cargo test -p deskfleet-tests --test suites -- --nocapture cluster_of_the_named_seed"
    )
}
