//! A workspace record and what the engine keeps with it.

use serde::{Deserialize, Serialize};

use crate::timestamp::Timestamp;

use super::{Action, LitigationHold};

/// One workspace, as the interface's `WorkSpaceDetails` has it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Workspace {
    /// Identifier, for example `ws-8k2m4n6p1`; at most 64 code points, compared exactly.
    #[serde(rename = "workSpId")]
    pub id: String,
    /// Name of the computer.
    pub computer_name: Option<String>,
    /// Cloud account.
    pub account: Option<String>,
    /// Cloud region.
    pub region: Option<String>,
    /// Directory the user belongs to.
    pub directory_id: Option<String>,
    /// How it runs; see [`RunningMode`](super::RunningMode).
    pub running_mode: Option<String>,
    /// Its compute type; see [`ComputeType`](super::ComputeType).
    pub compute_type_name: Option<String>,
    /// Its streaming protocol; see [`Protocol`](super::Protocol).
    pub protocol: Option<String>,
    /// The user.
    pub username: Option<String>,
    /// Its state; see [`State`](super::State).
    pub state: Option<String>,
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

    /// The fields that may be null, in the order of [`Self::FIELDS`] without the first.
    pub(crate) fn optional_mut(&mut self) -> [&mut Option<String>; 9] {
        [
            &mut self.computer_name,
            &mut self.account,
            &mut self.region,
            &mut self.directory_id,
            &mut self.running_mode,
            &mut self.compute_type_name,
            &mut self.protocol,
            &mut self.username,
            &mut self.state,
        ]
    }
}

/// An accepted action that has not ended: a row of the outbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingAction {
    /// The action's number, also that of its audit row.
    pub id: u64,
    /// What was asked for.
    pub action: Action,
    /// The workspace.
    pub workspace_id: String,
    /// When it was accepted.
    pub requested_at: Timestamp,
    /// When the clock ends it; `None` when the host does.
    pub due_at: Option<Timestamp>,
    /// The new compute type of a `ChangeComputeType`.
    pub compute_type: Option<String>,
}

/// One workspace with its running action and its hold, at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceView {
    /// The record, with the state as of that moment.
    pub workspace: Workspace,
    /// The action that is running, if one is.
    pub transition: Option<PendingAction>,
    /// The hold, if one is placed.
    pub litigation_hold: Option<LitigationHold>,
}
