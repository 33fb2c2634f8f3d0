//! The answers to questions about the fleet.

pub(crate) mod coverage;
pub(crate) mod workspaces;
