//! Every write, as data: `apply(tables, mutation, now)` decides and writes, and is deterministic.
//!
//! A refused mutation writes nothing but its audit row and harms nobody else in its transaction. An error of the store
//! fails the whole transaction.

mod actions;
mod audit;
mod holds;
mod keys;
mod maintenance;
mod telemetry;
mod workspaces;

use crate::config::Config;
use crate::error::Result;
use crate::model::{
    ActionRequest, AuditAction, FailedState, KeyInfo, NewKey, SecretHash, Workspace, WorkspaceView,
};
use crate::store::table::Tables;
use crate::store::telemetry::arrivals::Arrivals;
use crate::store::telemetry::filing::Filing;
use crate::timestamp::Timestamp;

pub(crate) use maintenance::Maintenance;

/// Who asks for a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caller {
    /// Name of the key used; `None` for the host itself.
    pub(crate) key_name: Option<String>,
}

impl Caller {
    /// The host itself, through the typed API.
    pub(crate) const HOST: Self = Self { key_name: None };

    /// What the audit says when the caller names no requester.
    fn name(&self) -> &str {
        self.key_name.as_deref().unwrap_or("host")
    }
}

/// A change.
#[derive(Debug, Clone)]
pub(crate) enum Mutation {
    /// Creates or replaces workspaces, all of them.
    PutWorkspaces(Vec<Workspace>),
    /// Creates or replaces one workspace and answers it.
    PutWorkspace(Box<Workspace>),
    RemoveWorkspace {
        id: Option<String>,
        by: Caller,
    },
    PlaceHold {
        id: String,
        matter: String,
        reason: Option<String>,
        by: Caller,
    },
    ReleaseHold {
        id: String,
        by: Caller,
    },
    Act {
        request: Box<ActionRequest>,
        by: Caller,
    },
    /// Writes the audit row of a call that was refused before it could become a mutation.
    Refuse {
        row: Box<Refused>,
        by: Caller,
    },
    CompleteAction(u64),
    FailAction {
        id: u64,
        state: FailedState,
        detail: Option<String>,
    },
    /// Telemetry, as blocks.
    Telemetry(Box<Arrivals>),
    IssueKey {
        key: NewKey,
        hash: SecretHash,
        by: Caller,
    },
    RevokeKey {
        id: u64,
        by: Caller,
    },
    TouchKeys(Vec<(u64, Timestamp)>),
    /// One step of filing.
    File(Box<Filing>),
    /// One step of upkeep.
    Maintain(Maintenance),
}

impl Mutation {
    /// Whether it gives space or takes rights back, and so goes on when little space is left.
    pub(crate) fn relieves(&self) -> bool {
        matches!(
            self,
            Self::RevokeKey { .. } | Self::TouchKeys(_) | Self::File(_) | Self::Maintain(_)
        )
    }
}

/// A call refused before its parameters could be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) action: AuditAction,
    /// The code it was answered with.
    pub(crate) code: &'static str,
    pub(crate) workspace_id: Option<String>,
    pub(crate) requester: Option<String>,
}

/// What an accepted mutation tells its caller.
#[derive(Debug, Clone)]
pub(crate) enum Done {
    Nothing,
    Workspace(Box<WorkspaceView>),
    Key(KeyInfo),
    /// The next step of the same upkeep, if there is more to do.
    Maintained(Option<Maintenance>),
}

/// How a mutation ended, once durable: done, or refused by a rule.
pub(crate) type Outcome = Result<Done>;

/// What `apply` works with.
pub(crate) struct Context<'c, 't> {
    pub(crate) tables: &'c mut Tables<'t>,
    pub(crate) config: &'c Config,
    pub(crate) now: Timestamp,
}

impl Context<'_, '_> {
    /// Applies one mutation. The outer error is the store's, the inner one a refusal.
    pub(crate) fn apply(&mut self, mutation: Mutation) -> Result<Outcome> {
        match mutation {
            Mutation::PutWorkspaces(workspaces) => self.put_workspaces(workspaces),
            Mutation::PutWorkspace(workspace) => self.put_workspace(*workspace),
            Mutation::RemoveWorkspace { id, by } => self.remove_workspace(id, &by),
            Mutation::PlaceHold {
                id,
                matter,
                reason,
                by,
            } => self.place_hold(&id, matter, reason, &by),
            Mutation::ReleaseHold { id, by } => self.release_hold(&id, &by),
            Mutation::Act { request, by } => self.act(&request, &by),
            Mutation::Refuse { row, by } => self.refuse(*row, &by),
            Mutation::CompleteAction(id) => self.complete_action(id),
            Mutation::FailAction { id, state, detail } => self.fail_action(id, state, detail),
            Mutation::Telemetry(arrivals) => self.accept_telemetry(*arrivals),
            Mutation::IssueKey { key, hash, by } => self.issue_key(key, hash, &by),
            Mutation::RevokeKey { id, by } => self.revoke_key(id, &by),
            Mutation::TouchKeys(used) => self.touch_keys(&used),
            Mutation::File(filing) => {
                filing.apply(self.tables)?;
                Ok(Ok(Done::Nothing))
            }
            Mutation::Maintain(step) => self.maintain(step),
        }
    }
}
