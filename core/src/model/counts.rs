//! Counts and figures of a whole fleet and its store, for monitoring.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::limits::FLEET_VALUES_MAX;
use crate::timestamp::Timestamp;

use super::{Action, State};

/// The workspaces that are listed, counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FleetCounts {
    /// In the order of [`State::ALL`].
    by_state: [u64; State::ALL.len()],
    /// Workspaces in a state that is none of [`State::ALL`], or without one.
    pub in_other_state: u64,
    /// Workspaces on litigation hold.
    pub held: u64,
    /// Actions that were accepted and have not ended.
    pub actions: u64,
    /// When the oldest of these actions was accepted.
    pub oldest_action: Option<Timestamp>,
    /// Workspaces by running mode. In this map and those below, `unknown` are those without a value, and `other` those with a value after
    /// the first [`FLEET_VALUES_MAX`].
    pub by_running_mode: BTreeMap<String, u64>,
    /// Workspaces by compute type.
    pub by_compute_type: BTreeMap<String, u64>,
    /// Workspaces by region.
    pub by_region: BTreeMap<String, u64>,
    /// Workspaces by protocol.
    pub by_protocol: BTreeMap<String, u64>,
}

impl FleetCounts {
    /// The workspaces in `state`.
    #[must_use]
    pub fn in_state(&self, state: State) -> u64 {
        self.by_state.get(state as usize).copied().unwrap_or(0)
    }

    /// All workspaces.
    #[must_use]
    pub fn workspaces(&self) -> u64 {
        self.by_state.iter().sum::<u64>() + self.in_other_state
    }

    /// Counts a workspace.
    pub(crate) fn add(&mut self, state: Option<&str>, held: bool) {
        let place = state
            .and_then(State::named)
            .and_then(|state| self.by_state.get_mut(state as usize));
        *place.unwrap_or(&mut self.in_other_state) += 1;
        self.held += u64::from(held);
    }

    /// Counts the properties of a workspace: running mode, compute type, region, protocol.
    pub(crate) fn add_properties(&mut self, properties: [Option<&str>; 4]) {
        let maps = [
            &mut self.by_running_mode,
            &mut self.by_compute_type,
            &mut self.by_region,
            &mut self.by_protocol,
        ];
        for (map, value) in maps.into_iter().zip(properties) {
            let mut value = value.unwrap_or("unknown");
            if map.len() >= FLEET_VALUES_MAX && !map.contains_key(value) {
                value = "other";
            }
            match map.get_mut(value) {
                Some(count) => *count += 1,
                None => {
                    map.insert(value.to_owned(), 1);
                }
            }
        }
    }

    /// Counts an action that was accepted at `requested_at`.
    pub(crate) fn add_action(&mut self, requested_at: Timestamp) {
        self.actions += 1;
        let oldest = self.oldest_action.get_or_insert(requested_at);
        *oldest = requested_at.min(*oldest);
    }
}

/// How much is stored, and how far upkeep has come.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct StoreStatus {
    /// The length of the file, or of the memory in its place.
    pub bytes: u64,
    /// Free bytes of the medium, where the host reports them.
    pub free_bytes: Option<u64>,
    /// Telemetry records that were accepted and are not filed yet.
    pub queue_records: u64,
    /// The bytes that these records take.
    pub queue_bytes: u64,
    /// When the first of these records was received.
    pub oldest_queued: Option<Timestamp>,
    /// The time up to which retention was applied: that of the last removal of old data; null before the first.
    pub retention_applied: Option<Timestamp>,
    /// The actions that are simulated: the clock ends them, and nothing happens to a desktop.
    pub simulated: Vec<Action>,
}
