//! A workspace record and what the engine keeps with it.

use serde::{Deserialize, Serialize};

use crate::timestamp::Timestamp;

use super::{Action, ComputeType, LitigationHold, Named, Protocol, RunningMode, State, Vocabulary};

/// One workspace: a virtual desktop, as the inventory has it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "WorkSpaceDetails"))]
#[serde(rename_all = "camelCase", default)]
pub struct Workspace {
    /// Identifier, for example `ws-8k2m4n6p1`; 1 to 64 code points, compared exactly.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = crate::limits::WORKSPACE_ID_MAX)))]
    #[serde(rename = "workSpId")]
    pub id: String,
    /// Name of the computer, for example `WSAMZN-4F7Q2L9A`.
    #[cfg_attr(feature = "schema", schemars(length(max = crate::limits::WORKSPACE_FIELD_MAX)))]
    pub computer_name: Option<String>,
    /// Cloud account that it runs in.
    #[cfg_attr(feature = "schema", schemars(length(max = crate::limits::WORKSPACE_FIELD_MAX)))]
    pub account: Option<String>,
    /// Cloud region that it runs in, for example `eu-central-1`.
    #[cfg_attr(feature = "schema", schemars(length(max = crate::limits::WORKSPACE_FIELD_MAX)))]
    pub region: Option<String>,
    /// Directory that the user belongs to, for example `d-9067a1b2c3`.
    #[cfg_attr(feature = "schema", schemars(length(max = crate::limits::WORKSPACE_FIELD_MAX)))]
    pub directory_id: Option<String>,
    /// When it runs.
    pub running_mode: Option<Named<RunningMode>>,
    /// Its hardware.
    pub compute_type_name: Option<Named<ComputeType>>,
    /// Its streaming protocol.
    pub protocol: Option<Named<Protocol>>,
    /// User that it belongs to.
    #[cfg_attr(feature = "schema", schemars(length(max = crate::limits::WORKSPACE_FIELD_MAX)))]
    pub username: Option<String>,
    /// Its state.
    pub state: Option<Named<State>>,
}

impl Workspace {
    /// The wire names, in the order of the interface document.
    pub const FIELDS: [&'static str; 10] = [
        "workSpId",
        "computerName",
        "account",
        "region",
        "directoryId",
        "runningMode",
        "computeTypeName",
        "protocol",
        "username",
        "state",
    ];

    /// The values, in the order of [`Self::FIELDS`].
    #[must_use]
    pub fn values(&self) -> [Option<&str>; 10] {
        [
            Some(&self.id),
            self.computer_name.as_deref(),
            self.account.as_deref(),
            self.region.as_deref(),
            self.directory_id.as_deref(),
            self.running_mode.as_deref(),
            self.compute_type_name.as_deref(),
            self.protocol.as_deref(),
            self.username.as_deref(),
            self.state.as_deref(),
        ]
    }

    /// Makes a [`Named::Other`] that names a known value that value.
    pub(crate) fn normalize(&mut self) {
        fn known<T: Vocabulary>(value: &mut Option<Named<T>>) {
            if let Some(Named::Other(text)) = value {
                *value = Some(Named::from(std::mem::take(text)));
            }
        }
        known(&mut self.running_mode);
        known(&mut self.compute_type_name);
        known(&mut self.protocol);
        known(&mut self.state);
    }

    /// A workspace of these values, in the order of [`Self::FIELDS`].
    pub(crate) fn of_values(values: [Option<&str>; 10]) -> Self {
        let [
            id,
            computer_name,
            account,
            region,
            directory_id,
            running_mode,
            compute_type_name,
            protocol,
            username,
            state,
        ] = values;
        Self {
            id: id.unwrap_or_default().to_owned(),
            computer_name: computer_name.map(str::to_owned),
            account: account.map(str::to_owned),
            region: region.map(str::to_owned),
            directory_id: directory_id.map(str::to_owned),
            running_mode: running_mode.map(Named::from),
            compute_type_name: compute_type_name.map(Named::from),
            protocol: protocol.map(Named::from),
            username: username.map(str::to_owned),
            state: state.map(Named::from),
        }
    }
}

/// An accepted action that has not ended: a row of the outbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PendingAction {
    /// Number of the action, also that of its audit row.
    pub id: u64,
    /// What was asked for.
    pub action: Action,
    /// `workSpId` of the workspace.
    #[serde(rename = "workSpaceId")]
    pub workspace_id: String,
    /// When it was accepted.
    pub requested_at: Timestamp,
    /// When the clock ends it; null where the host does.
    pub due_at: Option<Timestamp>,
    /// The new compute type of a `ChangeComputeType`; null for other actions.
    pub compute_type: Option<String>,
    /// How many times it was dispatched: how many attempts providers have begun.
    pub attempts: u32,
    /// When it was dispatched last; null where it was not.
    pub last_attempt_at: Option<Timestamp>,
    /// Who dispatched it last; null where nobody did.
    pub provider: Option<String>,
    /// What the provider noted of that attempt, such as a request id that its support asks for; null where it noted nothing.
    pub note: Option<String>,
}

/// One workspace with its running action and its hold, at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "WorkSpaceView"))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WorkspaceView {
    /// The record, with the state at that moment.
    #[serde(rename = "workSpace")]
    pub workspace: Workspace,
    /// The action that runs; null where none does.
    pub transition: Option<PendingAction>,
    /// The litigation hold; null where none is placed.
    pub litigation_hold: Option<LitigationHold>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values_get_their_canonical_spelling_and_unknown_ones_stay() {
        let mut workspace = Workspace {
            state: Some("available".into()),
            running_mode: Some(Named::Other("AutoStop".into())),
            protocol: Some("rdp".into()),
            compute_type_name: Some(Named::Other("power".into())),
            ..Workspace::default()
        };
        workspace.normalize();
        assert_eq!(workspace.state, Some(State::Available.into()));
        assert_eq!(workspace.running_mode.as_deref(), Some("AUTO_STOP"));
        assert_eq!(workspace.protocol.as_deref(), Some("rdp"));
        assert_eq!(workspace.compute_type_name.as_deref(), Some("POWER"));
        let same = Workspace::of_values(workspace.values());
        assert_eq!(same, workspace);
    }
}
