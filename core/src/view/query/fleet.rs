//! The fleet in one object.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::timestamp::Timestamp;

/// The fleet in numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FleetSummary {
    /// Listed workspaces.
    pub work_spaces: u64,
    /// Workspaces by state; those in none that is known are `other`.
    pub by_state: BTreeMap<String, u64>,
    /// Workspaces by running mode; `unknown` where it is not known. Of this and the maps below, values beyond the first 200 are `other`.
    pub by_running_mode: BTreeMap<String, u64>,
    /// Workspaces by compute type.
    pub by_compute_type: BTreeMap<String, u64>,
    /// Workspaces by region.
    pub by_region: BTreeMap<String, u64>,
    /// Workspaces by protocol.
    pub by_protocol: BTreeMap<String, u64>,
    /// Workspaces on litigation hold.
    pub on_hold: u64,
    /// Workspaces on which an action runs.
    pub in_transition: u64,
    /// Instances that sent telemetry in the last 15 minutes; where more than 1000 records are queued, as far as it is filed.
    #[serde(rename = "reporting15m")]
    pub reporting_15m: u64,
    /// Instances that sent telemetry in the last 24 hours, likewise.
    #[serde(rename = "reporting24h")]
    pub reporting_24h: u64,
    /// Records committed per second, over the last minute; since this engine was opened.
    pub records_per_second: f64,
    /// Records that are not filed yet.
    pub queued: u64,
    /// The length of the store, in bytes.
    pub store_bytes: u64,
    /// The moment of the answer.
    pub at: Timestamp,
}
