//! A litigation hold.

use serde::{Deserialize, Serialize};

use crate::timestamp::Timestamp;

/// Why a workspace must be kept, and since when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LitigationHold {
    /// The legal matter; at most 256 code points.
    pub matter: String,
    /// The reason; at most 256 code points.
    pub reason: Option<String>,
    /// Who placed it: the name of the key, or the host.
    pub placed_by: String,
    /// When it was placed.
    pub placed_at: Timestamp,
}
