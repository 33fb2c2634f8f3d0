//! The answers to questions about the fleet.

pub(crate) mod advice;
pub(crate) mod coverage;
mod desktops;
pub(crate) mod fleet;
pub(crate) mod health;
pub(crate) mod preview;
pub(crate) mod processes;
pub(crate) mod top;
pub(crate) mod workspaces;
