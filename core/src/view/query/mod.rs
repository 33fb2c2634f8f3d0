//! The answers to questions about the fleet.

pub(crate) mod advice;
pub(crate) mod coverage;
mod desktops;
pub(crate) mod export;
pub(crate) mod fleet;
pub(crate) mod groups;
pub(crate) mod health;
pub(crate) mod heatmap;
pub(crate) mod holds;
pub(crate) mod preview;
pub(crate) mod processes;
pub(crate) mod series;
pub(crate) mod startup;
pub(crate) mod timeline;
pub(crate) mod top;
pub(crate) mod workspaces;
