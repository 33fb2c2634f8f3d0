//! Appending to the event log, in the transaction of the change that an event reports.

use crate::error::Result;
use crate::model::{
    AuditResult, Condition, EventDetail, EventType, FleetEvent, KeyInfo, Workspace,
};
use crate::store::fleet::pending::Dispatched;
use crate::store::fleet::workspaces::Transition;
use crate::store::fleet::{audit, events};
use crate::timestamp::Timestamp;

use super::workspaces::Listed;
use super::{Caller, Context};

impl Context<'_, '_> {
    fn append(
        &mut self,
        kind: EventType,
        about: Option<&Workspace>,
        detail: &EventDetail<'_>,
    ) -> Result<()> {
        let event = FleetEvent {
            id: 0,
            at: self.now,
            kind,
            workspace_id: about.map(|workspace| workspace.id.clone()),
            username: about.and_then(|workspace| workspace.username.clone()),
            detail: detail.to_json(),
        };
        events::append(self.tables, event)
    }

    /// `workspace.changed`, if `new` differs from `old`.
    pub(super) fn workspace_changed(
        &mut self,
        old: Option<&Workspace>,
        new: &Workspace,
        by: &Caller,
    ) -> Result<()> {
        let empty = Workspace::default();
        let values = old.unwrap_or(&empty).values();
        let pairs = values.into_iter().zip(new.values());
        let names = Workspace::FIELDS.into_iter().zip(pairs);
        // The id is left out, because it identifies the workspace.
        let changed = names.skip(1).filter(|(_, (old, new))| old != new);
        let fields: Vec<_> = changed.map(|(name, _)| name).collect();
        if old.is_some() && fields.is_empty() {
            return Ok(());
        }
        let detail = EventDetail {
            by: Some(by.name()),
            is_new: Some(old.is_none()),
            fields: Some(&fields),
            previous_state: old.and_then(|old| old.state.as_deref()),
            state: new.state.as_deref(),
            ..EventDetail::default()
        };
        self.append(EventType::WorkspaceChanged, Some(new), &detail)
    }

    /// `workspace.removed`, by a call or, without one, by retention.
    pub(super) fn workspace_removed(&mut self, old: &Workspace, by: Option<&Caller>) -> Result<()> {
        let detail = EventDetail {
            by: by.map(Caller::name),
            previous_state: old.state.as_deref(),
            reason: Some(by.map_or("Expired", |_| "Removed")),
            ..EventDetail::default()
        };
        self.append(EventType::WorkspaceRemoved, Some(old), &detail)
    }

    /// `action.accepted`
    pub(super) fn action_accepted(
        &mut self,
        workspace: &Workspace,
        previous_state: Option<&str>,
        action: &Transition,
        by: &Caller,
    ) -> Result<()> {
        let detail = EventDetail {
            by: Some(by.name()),
            previous_state,
            due_at: action.due_at,
            ..self.of_action(workspace, action)?
        };
        self.append(EventType::ActionAccepted, Some(workspace), &detail)
    }

    /// `condition.raised`; a node has no events of its own conditions.
    pub(super) fn condition_raised(&mut self, condition: &Condition) -> Result<()> {
        let subjects = Some(&*condition.subjects).filter(|subjects| !subjects.is_empty());
        let detail = EventDetail {
            text: Some(&condition.text),
            count: condition.count,
            subjects,
            ..of_condition(condition)
        };
        self.append_unless_here(EventType::ConditionRaised, &detail)
    }

    /// `condition.cleared`: it lasted until now.
    pub(super) fn condition_cleared(&mut self, condition: &Condition) -> Result<()> {
        let detail = EventDetail {
            until: Some(self.now),
            ..of_condition(condition)
        };
        self.append_unless_here(EventType::ConditionCleared, &detail)
    }

    fn append_unless_here(&mut self, kind: EventType, detail: &EventDetail<'_>) -> Result<()> {
        if self.here {
            return Ok(());
        }
        self.append(kind, None, detail)
    }

    /// `action.dispatched`
    pub(super) fn action_dispatched(
        &mut self,
        workspace: &Workspace,
        action: &Transition,
        dispatched: &Dispatched,
    ) -> Result<()> {
        let detail = EventDetail {
            provider: Some(&dispatched.attempt.provider),
            attempt: Some(dispatched.attempt.number),
            ..self.of_action(workspace, action)?
        };
        self.append(EventType::ActionDispatched, Some(workspace), &detail)
    }

    /// `action.completed`: the action ended at the time `at`.
    pub(super) fn action_completed(
        &mut self,
        workspace: &Workspace,
        action: &Transition,
        at: Timestamp,
    ) -> Result<()> {
        let detail = EventDetail {
            completed_time: Some(at),
            ..self.of_action(workspace, action)?
        };
        self.append(EventType::ActionCompleted, Some(workspace), &detail)
    }

    /// `action.failed`: the action failed or was cancelled, which left the workspace as it is.
    pub(super) fn action_failed(
        &mut self,
        workspace: &Workspace,
        action: &Transition,
        result: AuditResult,
        message: Option<&str>,
    ) -> Result<()> {
        let detail = EventDetail {
            result: Some(result.as_str()),
            message,
            ..self.of_action(workspace, action)?
        };
        self.append(EventType::ActionFailed, Some(workspace), &detail)
    }

    /// What the events of an action have in common; the number of its batch is in its audit row.
    fn of_action<'d>(
        &self,
        workspace: &'d Workspace,
        action: &'d Transition,
    ) -> Result<EventDetail<'d>> {
        let row = audit::get(self.tables, action.id)?;
        Ok(EventDetail {
            state: workspace.state.as_deref(),
            action_id: Some(action.id),
            action: Some(action.action.as_str()),
            batch_id: row.and_then(|row| row.batch_id),
            compute_type: action.compute_type.as_deref(),
            ..EventDetail::default()
        })
    }

    /// `hold.placed`, without matter and reason, because the log is kept after the release.
    pub(super) fn hold_placed(
        &mut self,
        workspace: &Workspace,
        replaced: bool,
        by: &Caller,
    ) -> Result<()> {
        let detail = EventDetail {
            by: Some(by.name()),
            replaced: Some(replaced),
            ..EventDetail::default()
        };
        self.append(EventType::HoldPlaced, Some(workspace), &detail)
    }

    /// `hold.released`
    pub(super) fn hold_released(&mut self, workspace: &Workspace, by: &Caller) -> Result<()> {
        let detail = EventDetail {
            by: Some(by.name()),
            ..EventDetail::default()
        };
        self.append(EventType::HoldReleased, Some(workspace), &detail)
    }

    /// `key.issued`
    pub(super) fn key_issued(&mut self, key: &KeyInfo, by: &Caller) -> Result<()> {
        let detail = EventDetail {
            scopes: Some(key.scopes),
            expires: key.expires,
            ..of_key(key, by)
        };
        self.append(EventType::KeyIssued, None, &detail)
    }

    /// `key.revoked`
    pub(super) fn key_revoked(&mut self, key: &KeyInfo, by: &Caller) -> Result<()> {
        self.append(EventType::KeyRevoked, None, &of_key(key, by))
    }

    /// `import.committed`, if the part changed something.
    pub(super) fn import_committed(
        &mut self,
        audit_id: Option<u64>,
        (created, changed): (u64, u64),
        listed: Listed,
        by: &Caller,
    ) -> Result<()> {
        if created + changed == 0 {
            return Ok(());
        }
        let detail = EventDetail {
            by: Some(by.name()),
            audit_id,
            created: Some(created),
            changed: Some(changed),
            listed: (listed == Listed::All).then_some(true),
            ..EventDetail::default()
        };
        self.append(EventType::ImportCommitted, None, &detail)
    }

    /// `telemetry.filed`
    pub(super) fn telemetry_filed(&mut self, records: u64, damaged: u64) -> Result<()> {
        let detail = EventDetail {
            records: Some(records),
            damaged: (damaged > 0).then_some(damaged),
            ..EventDetail::default()
        };
        self.append(EventType::TelemetryFiled, None, &detail)
    }
}

fn of_condition(condition: &Condition) -> EventDetail<'_> {
    EventDetail {
        code: Some(&condition.code),
        severity: Some(condition.severity.as_str()),
        since: Some(condition.since),
        ..EventDetail::default()
    }
}

fn of_key<'d>(key: &'d KeyInfo, by: &'d Caller) -> EventDetail<'d> {
    EventDetail {
        by: Some(by.name()),
        key_id: Some(key.id),
        name: Some(&key.name),
        ..EventDetail::default()
    }
}
