//! `cluster`: looks after the nodes of a fleet.

use std::path::Path;

#[cfg(not(feature = "cluster"))]
use super::args::NodeArgs;
use super::failure::Failure;

/// `cluster leave`: a store of its own.
#[cfg(feature = "cluster")]
pub(crate) fn leave(file: &Path) -> Result<(), Failure> {
    use super::output::say;
    use super::store;

    store::must_exist(file)?;
    let builder = deskfleet::Engine::builder()
        .random(getrandom::fill)
        .clock(std::time::SystemTime::now);
    let left = builder.leave_fleet(file).map_err(|error| {
        store::explain(error, file, "Stop the node first, or take a backup of it.")
    })?;
    let outcome = if left {
        "is a store of its own now"
    } else {
        "was no file of a node; nothing was changed"
    };
    say!("{} {outcome}.", file.display());
    Ok(())
}

#[cfg(feature = "cluster")]
pub(crate) use super::cluster_nodes::{forget, status};

#[cfg(not(feature = "cluster"))]
pub(crate) fn leave(_: &Path) -> Result<(), Failure> {
    without()
}

#[cfg(not(feature = "cluster"))]
pub(crate) fn status(_: NodeArgs, _: bool) -> Result<(), Failure> {
    without()
}

#[cfg(not(feature = "cluster"))]
pub(crate) fn forget(_: NodeArgs, _: &str) -> Result<(), Failure> {
    without()
}

#[cfg(not(feature = "cluster"))]
fn without() -> Result<(), Failure> {
    let message = "this deskfleet knows nothing of several nodes: it was built without the features `postgres` and `nats`";
    Err(Failure(message.to_owned()))
}
