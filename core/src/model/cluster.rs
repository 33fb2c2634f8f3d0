//! A fleet of several nodes, as one of them sees it.

use serde::{Deserialize, Serialize};

use crate::timestamp::Timestamp;

/// A fleet of several nodes, as one of them sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ClusterStatus {
    /// The name of the node that answers.
    pub node: String,
    /// Names the fleet: the id of the first entry of its log, 32 hexadecimal digits; `null` before it was read.
    pub fleet: Option<String>,
    /// The position of the last entry that this node has applied.
    pub position: u64,
    /// The time of that entry.
    pub position_at: Option<Timestamp>,
    /// The first and the last position that the log holds; `null` where it cannot be reached.
    pub log: Option<LogPositions>,
    /// Why this node applies nothing more or takes no writes, why the log cannot be reached, or that another process has its name.
    pub problem: Option<String>,
    /// The [code](NodeStatus::halt_code) of why this node applies nothing more: one that has another log is not in the list.
    #[serde(default)]
    pub halt_code: Option<String>,
    /// The rules by which the nodes write; `deskfleet cluster finalize` raises them. 0 in the response of a node of an earlier version.
    #[serde(default)]
    pub rules: u16,
    /// All nodes that reported, by their names.
    pub nodes: Vec<NodeStatus>,
}

/// The positions that the log holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LogPositions {
    /// The first that was not removed.
    pub first: u64,
    /// The last; 0 before the first entry.
    pub last: u64,
}

/// What a node of the fleet said last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NodeStatus {
    /// Its name.
    pub node: String,
    /// When it said this, by the clock of the log.
    pub reported_at: Timestamp,
    /// The position of the last entry that it had applied.
    pub position: u64,
    /// The same as of the last sync of its file.
    pub durable: u64,
    /// Entries of those in the log now that it had not applied when it said this; under load some hundreds in a second.
    pub lag: u64,
    /// The hash chain over the log up to its position: of nodes at one position it is the same.
    pub chain: String,
    /// The newest rules that it knows; 0 while it copies the store of another node.
    pub rules: u16,
    /// The version of deskfleet; empty while it copies the store of another node.
    pub version: String,
    /// Why it applies nothing more.
    pub halted: Option<String>,
    /// The code of that: `LogLostEntries` (the log lost what the node had applied, or has other entries there), `OtherLog` (the log is empty or of
    /// another fleet), `Trimmed` (it no longer has what the node lacks), `NewerRules` (a newer version wrote the next entry), `DamagedEntry` (the
    /// next entry cannot be read).
    #[serde(default)]
    pub halt_code: Option<String>,
    /// The codes of the conditions for which it is not ready, such as `LowDisk`: it refuses writes, or some of them.
    #[serde(default)]
    pub unready: Vec<String>,
    /// The codes of its other conditions, such as `ArchiveFailing`: it serves, but somebody should look at it. None of a node of an earlier version.
    #[serde(default)]
    pub warnings: Vec<String>,
}
