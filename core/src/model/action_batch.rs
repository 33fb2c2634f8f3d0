//! An action on many workspaces: some at once, the others as those end.

use serde::Serialize;

use crate::timestamp::Timestamp;

use super::{AuditAction, AuditResult};

/// An action to start on many workspaces.
///
/// ```
/// use deskfleet::{Action, ActionBatchRequest, Engine, ErrorKind};
///
/// let engine = Engine::in_memory()?;
/// let mut request = ActionBatchRequest::new(Action::Reboot, ["ws-1", "ws-2"]);
/// request.at_once = Some(1);
/// request.stop_after_failures = Some(1);
/// let batch = engine.start_actions(request)?;
/// // There is no such workspace, so the second one was left as it is.
/// assert_eq!(batch.items[0].code.as_deref(), Some("WorkSpaceNotFound"));
/// assert_eq!(batch.items[1].result, None);
/// # Ok::<(), deskfleet::EngineError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ActionBatchRequest {
    /// The action, one of [`AuditAction::LIMITABLE`].
    pub action: AuditAction,
    /// The workspaces, each once: 1 to [`BATCH_IDS_MAX`](crate::limits::BATCH_IDS_MAX), in the order in which they begin.
    pub workspace_ids: Vec<String>,
    /// The new type of a `ChangeComputeType`.
    pub compute_type: Option<String>,
    /// Who asked, for the audit. Default the name of the key.
    pub requester: Option<String>,
    /// How many actions run at once, from 1. Default all.
    pub at_once: Option<u32>,
    /// How many are refused or fail, from 1, until no further one begins. Default any number.
    pub stop_after_failures: Option<u32>,
}

impl ActionBatchRequest {
    /// An action on all of the workspaces at once.
    pub fn new<I: Into<String>>(
        action: impl Into<AuditAction>,
        workspace_ids: impl IntoIterator<Item = I>,
    ) -> Self {
        Self {
            action: action.into(),
            workspace_ids: workspace_ids.into_iter().map(Into::into).collect(),
            compute_type: None,
            requester: None,
            at_once: None,
            stop_after_failures: None,
        }
    }
}

/// Why no further action of a batch begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = super::schema::open_enum))]
#[non_exhaustive]
pub enum BatchStop {
    /// Somebody stopped it.
    Requested,
    /// As many as `stopAfterFailures` were refused or failed.
    Failures,
    /// The key may start no further destructive action in this hour.
    Throttled,
    /// The key was revoked or has expired.
    KeyEnded,
}

impl BatchStop {
    /// Every reason, in the order of their numbers in the file.
    pub(crate) const ALL: [Self; 4] = [
        Self::Requested,
        Self::Failures,
        Self::Throttled,
        Self::KeyEnded,
    ];
}

/// A workspace of a batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct BatchItem {
    /// `workSpId` of the workspace, as the batch named it.
    #[serde(rename = "workSpaceId")]
    pub workspace_id: String,
    /// What came of it: `Accepted` while the action runs; null where it has not begun.
    pub result: Option<AuditResult>,
    /// Code of the refusal; null where it was not refused.
    pub code: Option<String>,
    /// Number of the action; null where none began.
    pub action_id: Option<u64>,
}

/// An action on many workspaces, and how far it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ActionBatch {
    /// Number of the batch, which the audit rows and events of its actions have too; never used twice.
    #[serde(rename = "batchId")]
    pub id: u64,
    /// The action.
    #[cfg_attr(feature = "schema", schemars(with = "super::BatchAction"))]
    pub action: AuditAction,
    /// The new type of a `ChangeComputeType`.
    pub compute_type: Option<String>,
    /// Who asked; null for the key.
    pub requester: Option<String>,
    /// Name of the key that started it; null where the host itself did.
    pub api_key_name: Option<String>,
    /// Number of that key.
    #[serde(skip)]
    pub api_key_id: Option<u64>,
    /// How many actions run at once.
    pub at_once: u32,
    /// How many are refused or fail until no further one begins; null for any number.
    pub stop_after_failures: Option<u32>,
    /// When it was started.
    pub started_at: Timestamp,
    /// When its last action ended; null while it runs.
    pub ended_at: Option<Timestamp>,
    /// Why no further action begins; null where all have begun or will.
    pub stopped: Option<BatchStop>,
    /// How many have not begun.
    pub waiting: u64,
    /// How many run.
    pub running: u64,
    /// How many ended as intended, or had nothing to do.
    pub succeeded: u64,
    /// How many were refused, failed or were cancelled.
    pub failed: u64,
    /// The workspaces, in their order; empty in a list of batches.
    #[serde(rename = "rows")]
    pub items: Vec<BatchItem>,
}

impl ActionBatch {
    /// Counts its items anew.
    pub(crate) fn count(&mut self) {
        (self.waiting, self.running, self.succeeded, self.failed) = (0, 0, 0, 0);
        for item in &self.items {
            let count = match item.result {
                None => &mut self.waiting,
                Some(AuditResult::Accepted) => &mut self.running,
                Some(AuditResult::Completed | AuditResult::NoChange) => &mut self.succeeded,
                Some(AuditResult::Failed | AuditResult::Refused | AuditResult::Cancelled) => {
                    &mut self.failed
                }
            };
            *count += 1;
        }
    }

    /// Whether a further action can begin now.
    pub(crate) fn can_begin(&self) -> bool {
        self.stopped.is_none() && self.waiting > 0 && self.running < u64::from(self.at_once)
    }
}
