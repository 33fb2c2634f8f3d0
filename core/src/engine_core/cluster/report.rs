//! What a node reports of itself to the log.

use serde::{Deserialize, Serialize};

/// The report of a node, which is JSON. What a version does not write has its default.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Report {
    pub(super) applied: u64,
    pub(super) durable: u64,
    pub(super) chain: String,
    pub(super) rules: u16,
    pub(super) version: String,
    /// The process, in hexadecimal digits.
    pub(super) process: String,
    pub(super) halted: Option<String>,
    pub(super) halt_code: Option<String>,
    /// The codes of the conditions for which the node is not ready.
    pub(super) unready: Vec<String>,
    /// The codes of its other conditions.
    pub(super) warnings: Vec<String>,
    /// The takeover of the log after which the node restored what it had; 0 where there is none.
    pub(super) takeover: u64,
    /// The age up to which the node wants entries kept.
    pub(super) keep_seconds: u32,
}

impl Report {
    pub(super) fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// A report that cannot be read is that of a node at the beginning of the log.
    pub(super) fn parse(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }

    /// Whether both are at one position but applied different entries.
    pub(super) fn differs_from(&self, other: &Self) -> bool {
        let is_known = !self.chain.is_empty() && !other.chain.is_empty();
        is_known && self.applied == other.applied && self.chain != other.chain
    }
}
