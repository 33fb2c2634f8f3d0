//! The tables of the fleet: workspaces, holds, actions that are due, the audit, keys and events.

pub(crate) mod action_batches;
pub(crate) mod audit;
pub(crate) mod events;
pub(crate) mod held;
pub(crate) mod held_names;
pub(crate) mod holds;
pub(crate) mod keys;
pub(crate) mod leases;
pub(crate) mod noted;
pub(crate) mod pending;
pub(crate) mod repeats;
pub(crate) mod workspaces;
