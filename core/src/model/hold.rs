//! A litigation hold.

use serde::{Deserialize, Serialize};

use crate::timestamp::Timestamp;

/// Why a workspace must be kept, and since when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LitigationHold {
    /// The legal matter; at most 256 code points.
    #[cfg_attr(feature = "schema", schemars(length(max = crate::limits::TEXT_MAX)))]
    pub matter: String,
    /// The reason, if one was given; at most 256 code points.
    #[cfg_attr(feature = "schema", schemars(length(max = crate::limits::TEXT_MAX)))]
    pub reason: Option<String>,
    /// Who placed it: the name of the key, or `host`.
    pub placed_by: String,
    /// When it was placed.
    pub placed_at: Timestamp,
}
