//! A row of the audit.

use serde::{Serialize, Serializer};

use crate::timestamp::Timestamp;

use super::Action;

/// What an audit row records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum AuditAction {
    /// A call of the Actions area.
    Lifecycle(Action),
    /// `RemoveWorkSpaceDbEntry`.
    RemoveWorkspace,
    /// A litigation hold was placed.
    PlaceHold,
    /// A litigation hold was released.
    ReleaseHold,
    /// An API key was issued.
    IssueKey,
    /// An API key was revoked.
    RevokeKey,
    /// Workspaces were imported.
    ImportWorkspaces,
    /// A workspace was replaced, or an import changed its state or its identity.
    UpdateWorkspace,
    /// A backup was written into the folder of the server.
    BackUp,
    /// A copy of the store was sent.
    DownloadBackup,
    /// Records were exported.
    QueryExport,
    /// The API keys were listed.
    ListKeys,
    /// A copy of a store was opened to be written for the first time.
    StartOnCopy,
    /// Telemetry was removed because somebody asked for it.
    RemoveTelemetry,
    /// A batch of actions was stopped.
    StopBatch,
    /// A fleet of several nodes was changed: its settings, the rules by which it writes, or the list of its nodes.
    ConfigureFleet,
}

impl AuditAction {
    /// Every action, in the order of their numbers in the file.
    pub const ALL: [Self; 22] = [
        Self::Lifecycle(Action::Reboot),
        Self::Lifecycle(Action::RecoveryReboot),
        Self::Lifecycle(Action::Rebuild),
        Self::Lifecycle(Action::Restore),
        Self::Lifecycle(Action::Terminate),
        Self::Lifecycle(Action::Start),
        Self::Lifecycle(Action::ChangeComputeType),
        Self::RemoveWorkspace,
        Self::PlaceHold,
        Self::ReleaseHold,
        Self::IssueKey,
        Self::RevokeKey,
        Self::ImportWorkspaces,
        Self::UpdateWorkspace,
        Self::BackUp,
        Self::DownloadBackup,
        Self::QueryExport,
        Self::ListKeys,
        Self::StartOnCopy,
        Self::RemoveTelemetry,
        Self::StopBatch,
        Self::ConfigureFleet,
    ];

    /// Whether the action hands something out and changes nothing.
    pub(crate) const fn is_access(self) -> bool {
        matches!(
            self,
            Self::BackUp | Self::DownloadBackup | Self::QueryExport | Self::ListKeys
        )
    }

    /// The actions that a key can be limited to: those on the desktops themselves, and the removal of their records.
    pub const LIMITABLE: [Self; 8] = {
        let [a, b, c, d, e, f, g, h, ..] = Self::ALL;
        [a, b, c, d, e, f, g, h]
    };

    /// The action of [`Self::LIMITABLE`] with that name, in any case. The name may end before `WorkSpace`: `Reboot`, `Remove`.
    #[must_use]
    pub fn limitable(name: &str) -> Option<Self> {
        Self::LIMITABLE.into_iter().find(|action| {
            let whole = action.as_str();
            let short = whole
                .split_once("WorkSpace")
                .map_or(whole, |(short, _)| short);
            [whole, short]
                .iter()
                .any(|known| known.eq_ignore_ascii_case(name))
        })
    }

    /// Whether the action destroys data that cannot be recovered: Rebuild, Restore, Terminate, `RemoveWorkSpaceDbEntry`.
    #[must_use]
    pub const fn is_destructive(self) -> bool {
        use Action::{Rebuild, Restore, Terminate};
        matches!(
            self,
            Self::Lifecycle(Rebuild | Restore | Terminate) | Self::RemoveWorkspace
        )
    }

    /// The action as written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Lifecycle(action) => action.as_str(),
            Self::RemoveWorkspace => "RemoveWorkSpaceDbEntry",
            Self::PlaceHold => "PlaceLitigationHold",
            Self::ReleaseHold => "ReleaseLitigationHold",
            Self::IssueKey => "IssueKey",
            Self::RevokeKey => "RevokeKey",
            Self::ImportWorkspaces => "ImportWorkSpaces",
            Self::UpdateWorkspace => "UpdateWorkSpace",
            Self::BackUp => "BackUp",
            Self::DownloadBackup => "DownloadBackup",
            Self::QueryExport => "QueryExport",
            Self::ListKeys => "ListKeys",
            Self::StartOnCopy => "StartOnCopy",
            Self::RemoveTelemetry => "RemoveTelemetry",
            Self::StopBatch => "StopBatch",
            Self::ConfigureFleet => "ConfigureFleet",
        }
    }
}

impl From<Action> for AuditAction {
    fn from(action: Action) -> Self {
        Self::Lifecycle(action)
    }
}

impl Serialize for AuditAction {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for AuditAction {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "AuditAction".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "What was asked for: a lifecycle action, by the last segment of its path, or a change by the operator.",
            "type": "string",
            "x-extensible-enum": Self::ALL.map(Self::as_str),
        })
    }
}

/// The schema of the actions that are [`AuditAction::LIMITABLE`].
#[cfg(feature = "schema")]
pub(crate) struct BatchAction;

#[cfg(feature = "schema")]
impl schemars::JsonSchema for BatchAction {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "BatchAction".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "An action that a batch can start and that a key can be limited to: a lifecycle action, or `RemoveWorkSpaceDbEntry`. \
                A request may write it in any case, and may end it before `WorkSpace`: `Reboot`.",
            "type": "string",
            "x-extensible-enum": AuditAction::LIMITABLE.map(AuditAction::as_str),
        })
    }
}

/// The outcome of an audited call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = super::schema::open_enum))]
#[non_exhaustive]
pub enum AuditResult {
    /// Accepted and still running.
    Accepted,
    /// Done.
    Completed,
    /// Accepted, then failed.
    Failed,
    /// Refused; `detail` begins with the code of the problem.
    Refused,
    /// Accepted, with nothing to do.
    NoChange,
    /// Accepted, then cancelled by another action.
    Cancelled,
}

impl AuditResult {
    /// Every result, in the order of their numbers in the file.
    pub const ALL: [Self; 6] = [
        Self::Accepted,
        Self::Completed,
        Self::Failed,
        Self::Refused,
        Self::NoChange,
        Self::Cancelled,
    ];

    /// The result as written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "Accepted",
            Self::Completed => "Completed",
            Self::Failed => "Failed",
            Self::Refused => "Refused",
            Self::NoChange => "NoChange",
            Self::Cancelled => "Cancelled",
        }
    }
}

/// One row of the audit: a call that changed the fleet, handed out data, or was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "AdminActivity"))]
#[serde(rename_all = "camelCase")]
pub struct AuditEntry {
    /// Number of the row; never used twice.
    pub id: u64,
    /// When the call was made.
    #[serde(rename = "activityTime")]
    pub time: Timestamp,
    /// Who asked, in free text: the parameter `requester` of the call, else the name of the key.
    pub requester: String,
    /// What was asked for.
    pub action: AuditAction,
    /// `workSpId` of the workspace, as named in the call or found by its account.
    #[serde(rename = "workSpaceId")]
    pub workspace_id: Option<String>,
    /// User of the workspace at that time.
    pub username: Option<String>,
    /// Computer name of the workspace at that time.
    pub computer_name: Option<String>,
    /// The outcome.
    pub result: AuditResult,
    /// State before the call.
    pub previous_state: Option<String>,
    /// State after it; while an action runs, the transitional one.
    pub new_state: Option<String>,
    /// When the action ended, or was refused.
    pub completed_time: Option<Timestamp>,
    /// Code of the refusal and the key that it is about, what the host said of a failure, what changed of an identity, or what was handed out;
    /// then how many calls the row counts.
    pub detail: Option<String>,
    /// Name of the key used, or of the caller that a host has authenticated otherwise; null where the host itself acted. A client can choose
    /// `requester`, and never this.
    pub api_key_name: Option<String>,
    /// Whether the clock ends the action, and no provider carries it out: nothing happens to a desktop. Left out where it does not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub simulated: bool,
    /// Number of the batch that the action is of. Left out where it is of none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch_id: Option<u64>,
    /// Number of the key used; `None` when the host itself or a principal acted, and in rows that a version without it wrote. `GetAdminActivity` does not
    /// return it.
    #[serde(skip)]
    pub api_key_id: Option<u64>,
}
