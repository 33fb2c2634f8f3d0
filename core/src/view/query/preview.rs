//! What an action would do now.

use crate::config::ActionDriver;
use crate::domain::key_limits;
use crate::domain::lifecycle::{self, Decision};
use crate::error::{EngineError, ErrorKind, Result};
use crate::limits::PREVIEW_IDS_MAX;
use crate::model::row::row;
use crate::model::{
    Action, AuditAction, AuditResult, ComputeType, KeyInfo, KeyLimits, Rows, State,
};
use crate::store::fleet::keys::Destructive;
use crate::store::fleet::workspaces::{self, EntryRef};
use crate::view::Reader;

use super::{Fleet, FleetQuery};

row! {
    /// What an action would do to a workspace now.
    pub struct PreviewRow {
        /// `workSpId` of the workspace.
        work_space_id: String = "workSpaceId",
        /// What the action would return: `Accepted`, `NoChange` or `Refused`.
        outcome: AuditResult = "outcome",
        /// Code of the refusal; null where the action would not be refused.
        code: Option<&'static str> = "code",
        /// The state of the workspace now; null where there is no such workspace or the state is unknown.
        state: Option<String> = "state",
        /// The state while the action would run; null where it would not be accepted.
        would_become: Option<State> = "wouldBecome",
        /// Whether the clock would end the action, and nothing would happen to the desktop.
        simulated: bool = "simulated",
    }
}

/// Which action to preview, on which workspaces.
///
/// ```
/// use deskfleet::{Action, Engine, query::PreviewQuery};
///
/// let engine = Engine::in_memory()?;
/// let workspace_ids = vec!["ws-1".to_owned()];
/// let rows = engine.query(&PreviewQuery { action: Action::Reboot, workspace_ids, compute_type: None })?;
/// assert_eq!(rows.rows[0].code, Some("WorkSpaceNotFound"));
/// # Ok::<(), deskfleet::EngineError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreviewQuery {
    /// The action.
    pub action: Action,
    /// The workspaces, at most 1000.
    pub workspace_ids: Vec<String>,
    /// The new type of a [`Action::ChangeComputeType`].
    pub compute_type: Option<String>,
}

impl FleetQuery for PreviewQuery {
    type Answer = Rows<PreviewRow>;

    fn answer(&self, fleet: &Fleet<'_>) -> Result<Self::Answer> {
        self.answer_for(fleet, None)
    }
}

impl PreviewQuery {
    /// The same for a key; `None` for the host.
    pub(crate) fn answer_for(
        &self,
        fleet: &Fleet<'_>,
        key: Option<&KeyInfo>,
    ) -> Result<Rows<PreviewRow>> {
        let simulated = fleet.readers.actions().driver_of(self.action) == ActionDriver::Clock;
        preview(&fleet.readers.tables()?, self, key, simulated)
    }
}

/// What the action would do to each of the workspaces, in their order; nothing is written.
fn preview(
    reader: &Reader,
    query: &PreviewQuery,
    key: Option<&KeyInfo>,
    simulated: bool,
) -> Result<Rows<PreviewRow>> {
    if query.workspace_ids.len() > PREVIEW_IDS_MAX {
        let message = format!("Send at most {PREVIEW_IDS_MAX} ids.");
        return Err(EngineError::invalid("workSpaceIds", message));
    }
    let asked = query.compute_type.as_deref();
    let compute_type = lifecycle::new_compute_type(query.action, asked)?;
    let unlimited = KeyLimits::default();
    let limits = key.map_or(&unlimited, |key| &key.limits);
    // How many more destructive actions the key may start in this hour.
    let mut left = u64::MAX;
    if let (Some(key), Some(max)) = (key, limits.destructive_per_hour)
        && AuditAction::Lifecycle(query.action).is_destructive()
    {
        let hour = Destructive::in_hour(&reader.snapshot, key.id, reader.now)?;
        left = u64::from(max).saturating_sub(hour.count);
    }
    let ids = query.workspace_ids.iter();
    let rows = ids.map(|id| {
        let mut row = one(reader, query.action, id, compute_type.as_ref(), limits)?;
        row.simulated = simulated;
        if row.outcome == AuditResult::Accepted {
            if left == 0 {
                row.outcome = AuditResult::Refused;
                row.code = Some(ErrorKind::Throttled.code());
                row.would_become = None;
            }
            left = left.saturating_sub(1);
        }
        Ok(row)
    });
    Ok(Rows::whole(rows.collect::<Result<_>>()?, reader.now))
}

fn one(
    reader: &Reader,
    action: Action,
    id: &str,
    compute_type: Option<&ComputeType>,
    limits: &KeyLimits,
) -> Result<PreviewRow> {
    let mut row = PreviewRow {
        work_space_id: id.to_owned(),
        outcome: AuditResult::Refused,
        code: None,
        state: None,
        would_become: None,
        simulated: false,
    };
    let entry = workspaces::with_entry(&reader.snapshot, id, |entry| {
        Ok(reader.listed(entry).map(EntryRef::into_entry))
    })?;
    let audited = AuditAction::Lifecycle(action);
    let Some(entry) = entry.flatten() else {
        // As the action itself: whether the key may do it comes before whether there is such a desktop.
        let forbidden = key_limits::allow_action(limits, audited).err();
        let refused = forbidden.map_or(ErrorKind::WorkSpaceNotFound, |error| error.kind());
        row.code = Some(refused.code());
        return Ok(row);
    };
    if let Err(error) = key_limits::allow(limits, audited, &entry.workspace) {
        row.code = Some(error.kind().code());
        row.state = entry.workspace.state.map(String::from);
        return Ok(row);
    }
    match lifecycle::decide(action, entry.situation(), compute_type, reader.now) {
        Decision::Accept { via, .. } => {
            row.outcome = AuditResult::Accepted;
            row.would_become = Some(via);
        }
        Decision::NoChange => row.outcome = AuditResult::NoChange,
        Decision::Refuse(refusal) => row.code = Some(refusal.kind().code()),
    }
    row.state = entry.workspace.state.map(String::from);
    Ok(row)
}
