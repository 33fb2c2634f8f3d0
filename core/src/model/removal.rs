//! Telemetry that is removed because somebody asks for it.

use serde::{Deserialize, Serialize};

use crate::timestamp::Timestamp;

use super::Stream;
use super::identity::folded;

/// Which telemetry to remove: what meets everything that is given. At least one member must be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TelemetrySelection {
    /// Records of this instance: the workspace id or computer name that they name, in any case and spelling.
    pub instance_id: Option<String>,
    /// Records of this stream.
    pub stream: Option<Stream>,
    /// Records whose day is before that of this time, in UTC: the day of [`Received::filed_at`](super::Received::filed_at). Default those of
    /// all days.
    pub before: Option<Timestamp>,
}

impl TelemetrySelection {
    /// The first day that is not removed.
    pub(crate) fn first_day_kept(&self) -> u32 {
        self.before.map_or(u32::MAX, Timestamp::day)
    }

    /// Whether it has a record of that stream and instance, with that time in history.
    pub(crate) fn has(&self, stream: Stream, instance_id: &str, filed_at: Timestamp) -> bool {
        self.stream.is_none_or(|of| of == stream)
            && self
                .instance_id
                .as_ref()
                .is_none_or(|of| folded(of) == folded(instance_id))
            && filed_at.day() < self.first_day_kept()
    }

    /// What the audit says of it.
    pub(crate) fn described(&self) -> String {
        let mut parts = Vec::new();
        parts.extend(self.instance_id.as_ref().map(|name| {
            let name: String = name.chars().take(crate::limits::WORKSPACE_ID_MAX).collect();
            format!("instance={name}")
        }));
        parts.extend(self.stream.map(|of| format!("stream={}", of.name())));
        parts.extend(self.before.map(|time| format!("before={time}")));
        parts.join(" ")
    }
}

/// How many records were removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RemovedTelemetry {
    /// Records that were removed.
    pub removed: u64,
    /// Selected records that were kept, as they may belong to a workspace on litigation hold: of history those of the same instance, stream
    /// and day as one that does.
    pub kept: u64,
}

impl RemovedTelemetry {
    /// Counts records, kept or removed.
    pub(crate) fn add(&mut self, records: u64, is_kept: bool) {
        let of = if is_kept {
            &mut self.kept
        } else {
            &mut self.removed
        };
        *of = of.saturating_add(records);
    }

    /// Adds another count.
    pub(crate) fn add_all(&mut self, other: Self) {
        self.add(other.removed, false);
        self.add(other.kept, true);
    }
}
