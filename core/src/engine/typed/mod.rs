//! The engine for a Rust program: the same rules as over HTTP, without URLs. Where a call needs a key over HTTP, the
//! audit names the caller `host` here.

mod actions;
mod batch;
mod keys;
mod running;
mod telemetry;
mod workspaces;

use crate::domain::validation;
use crate::error::{EngineError, Result};
use crate::mutation::Mutation;

use super::Engine;

pub use batch::TelemetryBatch;
pub use workspaces::WorkspacePage;

impl From<validation::Violation> for EngineError {
    fn from(violation: validation::Violation) -> Self {
        Self::invalid(violation.field, violation.message)
    }
}

impl Engine {
    /// Runs a mutation of which only the success matters.
    fn done(&self, mutation: Mutation) -> Result<()> {
        self.machine().run(mutation).map(drop)
    }
}
