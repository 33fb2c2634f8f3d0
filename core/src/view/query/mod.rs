//! The answers to questions about the fleet.

pub(crate) mod workspaces;
