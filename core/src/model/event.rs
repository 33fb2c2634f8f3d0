//! An event of the log of the fleet.

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::timestamp::Timestamp;

use super::Scopes;

/// What an event reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum EventType {
    /// A workspace was created, or members of its record changed. An import makes one [`Self::ImportCommitted`] instead.
    WorkspaceChanged,
    /// The record of a workspace was removed: by a call, or by retention.
    WorkspaceRemoved,
    /// A lifecycle action began.
    ActionAccepted,
    /// A provider began an attempt to make a lifecycle action happen.
    ActionDispatched,
    /// A lifecycle action ended as intended.
    ActionCompleted,
    /// A lifecycle action failed, or was cancelled by another action or by a replaced state.
    ActionFailed,
    /// A litigation hold was placed, or replaced.
    HoldPlaced,
    /// A litigation hold was released.
    HoldReleased,
    /// An API key was issued.
    KeyIssued,
    /// An API key was revoked.
    KeyRevoked,
    /// A part of an import, at most 1000 workspaces, was committed.
    ImportCommitted,
    /// Telemetry records were filed into history.
    TelemetryFiled,
    /// Something is wrong since now, or its severity changed.
    ConditionRaised,
    /// It is not wrong any more.
    ConditionCleared,
    /// Events are missing: those that follow the position that was asked for are no longer kept, or the store is another one. Read
    /// the fleet again, and go on after the number of this event. It is not stored.
    Resync,
}

impl EventType {
    /// The types that are stored, in the order of their numbers in the file.
    pub const STORED: [Self; 14] = [
        Self::WorkspaceChanged,
        Self::WorkspaceRemoved,
        Self::ActionAccepted,
        Self::ActionCompleted,
        Self::ActionFailed,
        Self::HoldPlaced,
        Self::HoldReleased,
        Self::KeyIssued,
        Self::KeyRevoked,
        Self::ImportCommitted,
        Self::TelemetryFiled,
        Self::ActionDispatched,
        Self::ConditionRaised,
        Self::ConditionCleared,
    ];

    /// The type as written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::WorkspaceChanged => "workspace.changed",
            Self::WorkspaceRemoved => "workspace.removed",
            Self::ActionAccepted => "action.accepted",
            Self::ActionDispatched => "action.dispatched",
            Self::ActionCompleted => "action.completed",
            Self::ActionFailed => "action.failed",
            Self::HoldPlaced => "hold.placed",
            Self::HoldReleased => "hold.released",
            Self::KeyIssued => "key.issued",
            Self::KeyRevoked => "key.revoked",
            Self::ImportCommitted => "import.committed",
            Self::TelemetryFiled => "telemetry.filed",
            Self::ConditionRaised => "condition.raised",
            Self::ConditionCleared => "condition.cleared",
            Self::Resync => "resync",
        }
    }
}

impl Serialize for EventType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for EventType {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "EventType".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let stored = Self::STORED.map(Self::as_str);
        let all: Vec<_> = stored.into_iter().chain(["resync"]).collect();
        schemars::json_schema!({
            "description": "What an event reports. `resync`: events are missing, as those after the position that was asked for are no \
                longer kept; read the fleet again, and go on after the number of this event.",
            "type": "string",
            "x-extensible-enum": all,
        })
    }
}

/// One event of the log: a change of the fleet that is durable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "FleetEvent"))]
#[serde(rename_all = "camelCase")]
pub struct FleetEvent {
    /// Number of the event; later events have greater ones, and none is used twice. That of a `resync` is the position to go on after.
    pub id: u64,
    /// When it was written.
    pub at: Timestamp,
    /// What happened.
    #[serde(rename = "type")]
    pub kind: EventType,
    /// `workSpId` of the workspace, where it is about one.
    #[serde(rename = "workSpaceId")]
    pub workspace_id: Option<String>,
    /// User of the workspace after the change; of a removed one, the last.
    pub username: Option<String>,
    /// More about it: a JSON object, as text, with some of these members by its type.
    ///
    /// - `workspace.…`: `by`, `isNew`, `fields`, `previousState`, `state`, `reason`
    /// - `action.…`: `by`, `actionId`, `action`, `batchId`, `previousState`, `state`, `dueAt`, `provider`, `attempt`, `computeType`,
    ///   `completedTime`, `result`, `message`
    /// - `hold.…`: `by`, `replaced`
    /// - `key.…`: `by`, `keyId`, `name`, `scopes`, `expires`
    /// - `import.committed`: `by`, `auditId`, `created`, `changed`, `listed`
    /// - `telemetry.filed`: `records`, `damaged`
    /// - `condition.…`: `code`, `severity`, `since`, `until`, `text`, `count`, `subjects`
    /// - `resync`: `oldest`
    #[serde(serialize_with = "raw_json")]
    #[cfg_attr(
        feature = "schema",
        schemars(
            with = "EventDetail<'static>",
            description = "More about it, by its type."
        )
    )]
    pub detail: String,
}

impl FleetEvent {
    /// The event as JSON, as over HTTP.
    #[must_use]
    pub fn to_json(&self) -> String {
        // `detail` is JSON, or the store would have refused it.
        serde_json::to_string(self).unwrap_or_default()
    }
}

fn raw_json<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    let raw: &RawValue =
        serde_json::from_slice(text.as_bytes()).map_err(serde::ser::Error::custom)?;
    raw.serialize(serializer)
}

/// Whether `text` can be the detail of an event.
pub(crate) fn is_detail(text: &str) -> bool {
    text.starts_with('{') && serde_json::from_slice::<&RawValue>(text.as_bytes()).is_ok()
}

/// What an event says beside its type, workspace and user. The members that its type does not have are absent; new versions may add
/// some.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "EventDetail"))]
#[serde(rename_all = "camelCase")]
pub(crate) struct EventDetail<'d> {
    /// Name of the key that asked for it; `host` for the host itself. Absent where the clock or upkeep did it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) by: Option<&'d str>,
    /// `workspace.changed`: whether the workspace was created.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) is_new: Option<bool>,
    /// `workspace.changed`: the members that changed, by their names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fields: Option<&'d [&'static str]>,
    /// State before the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) previous_state: Option<&'d str>,
    /// State after the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) state: Option<&'d str>,
    /// `workspace.removed`: `Removed` by a call, or `Expired` after its time as TERMINATED.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<&'d str>,
    /// Number of the action, which is that of its audit row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) action_id: Option<u64>,
    /// The action, by the last segment of its path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) action: Option<&'d str>,
    /// Number of the batch that the action is of; absent where it is of none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) batch_id: Option<u64>,
    /// `action.accepted`: when the clock ends it; absent where the host does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) due_at: Option<Timestamp>,
    /// `action.dispatched`: who began the attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) provider: Option<&'d str>,
    /// `action.dispatched`: number of the attempt, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) attempt: Option<u32>,
    /// Compute type that the action changes to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) compute_type: Option<&'d str>,
    /// `action.completed`: when it ended. The event is written with a later call about the workspace or by upkeep.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) completed_time: Option<Timestamp>,
    /// `action.failed`: `Failed`, or `Cancelled` by another action or by a replaced state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) result: Option<&'d str>,
    /// `action.failed`: what the host said of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<&'d str>,
    /// `hold.placed`: whether there was a hold already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) replaced: Option<bool>,
    /// Number of the key that was issued or revoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) key_id: Option<u64>,
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<&'d str>,
    /// `key.issued`: its scopes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) scopes: Option<Scopes>,
    /// `key.issued`: when it expires; absent for never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expires: Option<Timestamp>,
    /// `import.committed`: the audit row of the import; absent where the import has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) audit_id: Option<u64>,
    /// `import.committed`: workspaces that this part created.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) created: Option<u64>,
    /// `import.committed`: workspaces that this part changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) changed: Option<u64>,
    /// `import.committed`: true where each workspace of this part that was created or changed has a `workspace.changed` before it; absent
    /// where the part had more than 100, and those alone have one whose state or user changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) listed: Option<bool>,
    /// `telemetry.filed`: records, exact repetitions included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) records: Option<u64>,
    /// `telemetry.filed`: records that were acknowledged and could not be read any more; absent where there are none. They are in no
    /// history.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) damaged: Option<u64>,
    /// `condition.raised`, `condition.cleared`: its code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) code: Option<&'d str>,
    /// Its severity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) severity: Option<&'d str>,
    /// Since when it lasts, or lasted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) since: Option<Timestamp>,
    /// `condition.cleared`: until when it lasted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) until: Option<Timestamp>,
    /// `condition.raised`: what is wrong and what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<&'d str>,
    /// `condition.raised`: how many desktops, actions or keys it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) count: Option<u64>,
    /// `condition.raised`: the first ten of them, as `/query/conditions` has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) subjects: Option<&'d [String]>,
    /// `resync`: number of the oldest event that is kept, or of the next one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) oldest: Option<u64>,
}

impl EventDetail<'_> {
    /// As it is stored: the members in the order above, no white space.
    pub(crate) fn to_json(&self) -> String {
        // Members of these types can always be written.
        serde_json::to_string(self).unwrap_or_else(|_| "{}".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_is_written_with_its_detail_as_an_object() {
        let event = FleetEvent {
            id: 7,
            at: Timestamp::UNIX_EPOCH,
            kind: EventType::ActionFailed,
            workspace_id: Some("ws-\"1".into()),
            username: None,
            detail: EventDetail {
                action_id: Some(3),
                message: Some("disk \"C\""),
                ..EventDetail::default()
            }
            .to_json(),
        };
        assert!(is_detail(&event.detail));
        assert_eq!(
            event.to_json(),
            r#"{"id":7,"at":"1970-01-01T00:00:00Z","type":"action.failed","workSpaceId":"ws-\"1","username":null,"detail":{"actionId":3,"message":"disk \"C\""}}"#
        );
    }

    #[test]
    fn detail_that_is_no_json_object_is_refused() {
        for bad in ["", "null", "[]", "{", "{}x", "\"{}\"", "{'a':1}"] {
            assert!(!is_detail(bad), "{bad}");
        }
        assert!(is_detail("{}"));
    }
}
