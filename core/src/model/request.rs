//! What a host passes to the typed API.

use serde::Serialize;

use crate::timestamp::Timestamp;

use super::{Action, KeyLimits, Scope, Scopes, State};

/// A lifecycle action to perform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionRequest {
    /// What to do.
    pub action: Action,
    /// The workspace; may be left out if `sam_account` has only one live workspace.
    pub workspace_id: Option<String>,
    /// The account that must own the workspace, or whose only live workspace is meant.
    pub sam_account: Option<String>,
    /// Who asks, in free text; truncated to 256 code points.
    pub requester: Option<String>,
    /// The new type of a [`Action::ChangeComputeType`].
    pub compute_type: Option<String>,
}

impl ActionRequest {
    /// `action` on the workspace of that id.
    #[must_use]
    pub fn new(action: Action, workspace_id: impl Into<String>) -> Self {
        Self {
            action,
            workspace_id: Some(workspace_id.into()),
            sam_account: None,
            requester: None,
            compute_type: None,
        }
    }

    /// Reboots the workspace.
    #[must_use]
    pub fn reboot(workspace_id: impl Into<String>) -> Self {
        Self::new(Action::Reboot, workspace_id)
    }

    /// Moves the workspace to a new host, with the same volumes and id.
    #[must_use]
    pub fn recovery_reboot(workspace_id: impl Into<String>) -> Self {
        Self::new(Action::RecoveryReboot, workspace_id)
    }

    /// Rebuilds the workspace from its image.
    #[must_use]
    pub fn rebuild(workspace_id: impl Into<String>) -> Self {
        Self::new(Action::Rebuild, workspace_id)
    }

    /// Restores the workspace from its last backup.
    #[must_use]
    pub fn restore(workspace_id: impl Into<String>) -> Self {
        Self::new(Action::Restore, workspace_id)
    }

    /// Terminates the workspace.
    #[must_use]
    pub fn terminate(workspace_id: impl Into<String>) -> Self {
        Self::new(Action::Terminate, workspace_id)
    }

    /// Starts a stopped workspace.
    #[must_use]
    pub fn start(workspace_id: impl Into<String>) -> Self {
        Self::new(Action::Start, workspace_id)
    }

    /// Changes the compute type of the workspace.
    #[must_use]
    pub fn change_compute_type(
        workspace_id: impl Into<String>,
        compute_type: impl Into<String>,
    ) -> Self {
        Self {
            compute_type: Some(compute_type.into()),
            ..Self::new(Action::ChangeComputeType, workspace_id)
        }
    }
}

/// The state a failed action leaves the workspace in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename_all = "UPPERCASE"))]
#[cfg_attr(feature = "schema", schemars(transform = super::schema::closed_enum))]
#[non_exhaustive]
pub enum FailedState {
    /// It cannot be used before it is repaired.
    #[default]
    Error,
    /// It runs, but does not respond to health checks.
    Unhealthy,
}

impl From<FailedState> for State {
    fn from(failed: FailedState) -> Self {
        match failed {
            FailedState::Error => Self::Error,
            FailedState::Unhealthy => Self::Unhealthy,
        }
    }
}

/// How far an action is that has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ActionState {
    /// It has not ended: any of the two others.
    #[default]
    Pending,
    /// No provider has begun it.
    Waiting,
    /// A provider has begun it.
    Dispatched,
}

impl ActionState {
    pub(crate) const ALL: [Self; 3] = [Self::Pending, Self::Waiting, Self::Dispatched];

    /// The state as written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Waiting => "waiting",
            Self::Dispatched => "dispatched",
        }
    }
}

/// An attempt of a provider to make an action happen.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Attempt {
    /// Which one of the action it is, from 1.
    pub number: u32,
    /// The name of the provider, for people and the audit; 1 to 256 code points.
    pub provider: String,
    /// Distinguishes two processes of that name: a text that each of them chooses at random, 1 to 256 code points. Without it they may
    /// both begin the same attempt.
    pub instance: Option<String>,
}

impl Attempt {
    /// An attempt of a provider that has one process.
    #[must_use]
    pub fn new(number: u32, provider: impl Into<String>) -> Self {
        Self {
            number,
            provider: provider.into(),
            instance: None,
        }
    }
}

/// The right of one process of a provider to begin attempts: while it lasts, the attempts of another process of that name are refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ProviderLease {
    /// The name of the provider, as in its attempts.
    pub provider: String,
    /// The process that has it, as in its attempts.
    pub instance: String,
    /// When it ends, unless it is extended before.
    pub until: Timestamp,
}

/// An API key to issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct NewKey {
    /// Name, for people and the audit; 1 to 256 code points.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = crate::limits::TEXT_MAX)))]
    pub name: String,
    /// What it may do; not empty.
    pub scopes: Scopes,
    /// When it stops being accepted; absent or null: never.
    pub expires: Option<Timestamp>,
    /// What it may do less than its scopes allow.
    #[serde(flatten)]
    pub limits: KeyLimits,
}

impl NewKey {
    /// A key without expiry and limits.
    #[must_use]
    pub fn new(name: impl Into<String>, scopes: impl IntoIterator<Item = Scope>) -> Self {
        Self {
            name: name.into(),
            scopes: scopes.into_iter().collect(),
            expires: None,
            limits: KeyLimits::default(),
        }
    }

    /// The same key with an expiry, if there is one.
    #[must_use]
    pub fn expiring(mut self, expires: impl Into<Option<Timestamp>>) -> Self {
        self.expires = expires.into();
        self
    }

    /// The same key with these limits.
    #[must_use]
    pub fn limited(mut self, limits: KeyLimits) -> Self {
        self.limits = limits;
        self
    }
}
