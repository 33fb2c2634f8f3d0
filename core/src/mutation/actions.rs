//! Lifecycle actions: accepting them, and the three ways they end.

use crate::config::ActionDriver;
use crate::domain::key_limits;
use crate::domain::lifecycle::{self, Decision, Refusal};
use crate::domain::retention;
use crate::domain::transition::{Standing, standing};
use crate::error::{EngineError, ErrorKind, Result};
use crate::model::{
    Action, ActionRequest, AuditAction, AuditResult, ComputeType, FailedState, State, Workspace,
    user_key,
};
use crate::store::fleet::pending::Pending;
use crate::store::fleet::workspaces::{Entry, Transition};
use crate::store::fleet::{audit, pending, workspaces};
use crate::timestamp::Timestamp;

use super::audit::Row;
use super::{Caller, Context, Mutation, Outcome};

/// Starts a lifecycle action; returns its number, or `None` if nothing changes.
#[derive(Debug)]
pub(crate) struct Act {
    pub(crate) request: ActionRequest,
    pub(crate) by: Caller,
}

impl Mutation for Act {
    type Output = Option<u64>;

    fn apply(self, context: &mut Context<'_, '_>) -> Result<Outcome<Option<u64>>> {
        let request = &self.request;
        let action = AuditAction::Lifecycle(request.action);
        let mut row = context.row(action, &self.by, request.requester.as_deref());
        row.set_id(request.workspace_id.clone().filter(|id| !id.is_empty()));
        let compute_type =
            match lifecycle::new_compute_type(request.action, request.compute_type.as_deref()) {
                Ok(compute_type) => compute_type,
                Err(error) => return context.refused(row, error),
            };
        let entry = match context.find(request)? {
            Ok(entry) => entry,
            Err(error) => return context.refused(row, error),
        };
        row.about(&entry.workspace);
        let limits = context.limits(&self.by)?;
        if let Err(error) = key_limits::allow(&limits, action, &entry.workspace) {
            return context.refused(row, error);
        }
        let situation = entry.situation();
        let now = context.now;
        let decision = lifecycle::decide(request.action, situation, compute_type.as_ref(), now);
        match decision {
            Decision::Accept { via, then } => {
                if let Err(error) = context.count_destructive(&self.by, &limits, action)? {
                    return context.refused(row, error);
                }
                let transition = (via, then);
                let id = context.accept_action(row, entry, &self, transition, compute_type)?;
                Ok(Ok(Some(id)))
            }
            Decision::NoChange => {
                context.write_repeatable_row(row, AuditResult::NoChange)?;
                Ok(Ok(None))
            }
            Decision::Refuse(refusal) => {
                let error = refusal_error(refusal, request.action, &entry, compute_type.as_ref());
                context.refused(row, error)
            }
        }
    }
}

/// Ends an action as intended.
#[derive(Debug)]
pub(crate) struct CompleteAction(pub(crate) u64);

impl Mutation for CompleteAction {
    type Output = ();

    fn apply(self, context: &mut Context<'_, '_>) -> Result<Outcome> {
        let (mut entry, transition) = match context.running(self.0)? {
            Ok(running) => running,
            Err(error) => return Ok(Err(error)),
        };
        context.complete_action(&mut entry, &transition, context.now)?;
        Ok(Ok(()))
    }
}

/// Ends an action as failed.
#[derive(Debug)]
pub(crate) struct FailAction {
    pub(crate) id: u64,
    pub(crate) state: FailedState,
    pub(crate) detail: Option<String>,
}

impl Mutation for FailAction {
    type Output = ();

    fn apply(self, context: &mut Context<'_, '_>) -> Result<Outcome> {
        let (mut entry, transition) = match context.running(self.id)? {
            Ok(running) => running,
            Err(error) => return Ok(Err(error)),
        };
        let state = State::from(self.state);
        let ended = Some((state.as_str(), context.now));
        entry.workspace.state = Some(state.into());
        entry.state_since = context.now;
        let (failed, message) = (AuditResult::Failed, self.detail.as_deref());
        context.action_failed(&entry.workspace, &transition, failed, message)?;
        context.end_row(&transition, failed, ended, self.detail)?;
        workspaces::put(context.tables, &entry)?;
        Ok(Ok(()))
    }
}

impl Context<'_, '_> {
    /// The workspace of a request, after applying a due transition.
    fn find(&mut self, request: &ActionRequest) -> Result<Result<Entry>> {
        let account = request
            .sam_account
            .as_deref()
            .filter(|account| !account.is_empty());
        let id = request.workspace_id.as_deref().filter(|id| !id.is_empty());
        match (id, account) {
            (Some(id), account) => {
                let entry = self.settled(id)?;
                let owned = |entry: &Entry| {
                    let owner = entry.workspace.username.as_deref().map(user_key);
                    account.is_none_or(|account| owner == Some(user_key(account)))
                };
                Ok(entry.filter(owned).ok_or_else(EngineError::no_workspace))
            }
            (None, Some(account)) => self.only_live_workspace(account),
            (None, None) => Ok(Err(EngineError::no_workspace())),
        }
    }

    fn only_live_workspace(&mut self, account: &str) -> Result<Result<Entry>> {
        let mut live = Vec::new();
        for id in workspaces::of_user(self.tables, &user_key(account))? {
            if let Some(entry) = self.settled(&id)? {
                let state = entry.workspace.state.as_deref().and_then(State::named);
                if state != Some(State::Terminated) {
                    live.push(entry);
                }
            }
        }
        let several = live.len() > 1;
        let first = live
            .into_iter()
            .next()
            .ok_or_else(EngineError::no_workspace);
        if several {
            return Ok(Err(EngineError::new(
                ErrorKind::AmbiguousWorkSpace,
                "The account owns several WorkSpaces; name one with workSpaceId.",
            )));
        }
        Ok(first)
    }

    fn accept_action(
        &mut self,
        mut row: Row,
        mut entry: Entry,
        act: &Act,
        (via, then): (State, State),
        compute_type: Option<ComputeType>,
    ) -> Result<u64> {
        let action = act.request.action;
        if let Some(running) = entry.transition.take() {
            self.cancel(&entry.workspace, &running)?;
        }
        let due_at = match self.config.actions.driver_of(action) {
            ActionDriver::Clock => {
                Some(self.now + self.config.actions.durations.for_action(action))
            }
            ActionDriver::Host => None,
        };
        row.set_new_state(Some(via.as_str().to_owned()));
        row.set_simulated(due_at.is_some());
        let id = self.write_row(row, AuditResult::Accepted)?;
        let previous = entry.workspace.state.replace(via.into());
        entry.state_since = self.now;
        let transition = Transition {
            id,
            action,
            requested_at: self.now,
            due_at,
            outcome: then,
            compute_type: compute_type.map(|new| new.as_str().to_owned()),
        };
        self.action_accepted(&entry.workspace, previous.as_deref(), &transition, &act.by)?;
        entry.transition = Some(transition);
        self.put_running(&entry)?;
        Ok(id)
    }

    /// Writes a workspace and its running action.
    fn put_running(&mut self, entry: &Entry) -> Result<()> {
        workspaces::put(self.tables, entry)?;
        let Some(running) = &entry.transition else {
            return Ok(());
        };
        let dispatched = pending::get(self.tables, running.id)?.and_then(|row| row.dispatched);
        pending::put(
            self.tables,
            &Pending {
                id: running.id,
                due_at: running.due_at,
                workspace_id: entry.workspace.id.clone(),
                dispatched,
            },
        )
    }

    /// The workspace of that id, after applying and writing a due transition. An action that was accepted by a clock ahead of now
    /// restarts now; this is stored, so a later read does not restart it again.
    pub(super) fn settled(&mut self, id: &str) -> Result<Option<Entry>> {
        let Some(mut entry) = workspaces::get(self.tables, id)? else {
            return Ok(None);
        };
        if let Some(mut running) = entry.transition.take() {
            match standing(running.requested_at, running.due_at, self.now) {
                Standing::Running => entry.transition = Some(running),
                Standing::Begun { due_at } => {
                    (running.requested_at, running.due_at) = (self.now, due_at);
                    entry.state_since = self.now;
                    entry.transition = Some(running);
                    self.put_running(&entry)?;
                }
                Standing::Ended { at } => self.complete_action(&mut entry, &running, at)?,
            }
        }
        let state = entry.workspace.state.as_deref();
        let listed = retention::is_listed(state, entry.state_since, entry.held, self.now);
        Ok(listed.then_some(entry))
    }

    /// Ends a transition as intended, at the time `at`.
    fn complete_action(
        &mut self,
        entry: &mut Entry,
        transition: &Transition,
        at: Timestamp,
    ) -> Result<()> {
        let state = transition.outcome.as_str();
        self.end_row(transition, AuditResult::Completed, Some((state, at)), None)?;
        if let Some(compute_type) = &transition.compute_type {
            entry.workspace.compute_type_name = Some(compute_type.as_str().into());
        }
        entry.workspace.state = Some(transition.outcome.into());
        entry.state_since = at;
        self.action_completed(&entry.workspace, transition, at)?;
        workspaces::put(self.tables, entry)
    }

    /// Cancels an action; the caller gives the workspace another state.
    pub(super) fn cancel(&mut self, workspace: &Workspace, running: &Transition) -> Result<()> {
        self.action_failed(workspace, running, AuditResult::Cancelled, None)?;
        self.end_row(running, AuditResult::Cancelled, None, None)
    }

    /// Takes an action out of the outbox and completes its audit row.
    fn end_row(
        &mut self,
        transition: &Transition,
        result: AuditResult,
        ended: Option<(&str, Timestamp)>,
        detail: Option<String>,
    ) -> Result<()> {
        let dispatched = pending::get(self.tables, transition.id)?.and_then(|row| row.dispatched);
        pending::remove(self.tables, transition.id)?;
        if let Some(mut row) = audit::get(self.tables, transition.id)? {
            row.result = result;
            row.detail = match (detail, dispatched) {
                (detail, None) => detail,
                (None, Some(by)) => Some(by.summary()),
                (Some(detail), Some(by)) => Some(format!("{detail} ({})", by.summary())),
            };
            row.completed_time = Some(ended.map_or(self.now, |(_, at)| at));
            if let Some((state, _)) = ended {
                row.new_state = Some(state.to_owned());
            }
            audit::put(self.tables, &row)?;
        }
        Ok(())
    }

    /// The workspace of a running action, and the transition taken out of it.
    pub(super) fn running(&mut self, id: u64) -> Result<Result<(Entry, Transition)>> {
        if let Some(row) = pending::get(self.tables, id)?
            && let Some(mut entry) = self.settled(&row.workspace_id)?
            && let Some(transition) = entry.transition.take_if(|running| running.id == id)
        {
            return Ok(Ok((entry, transition)));
        }
        Ok(Err(if self.end_of(id)?.is_some() {
            EngineError::new(
                ErrorKind::InvalidResourceState,
                "The action has ended already.",
            )
        } else {
            EngineError::new(ErrorKind::NotFound, "No such action.")
        }))
    }

    /// How an ended action ended; `None` if no action has that number.
    pub(super) fn end_of(&self, id: u64) -> Result<Option<AuditResult>> {
        let row = audit::get(self.tables, id)?;
        let row = row.filter(|row| matches!(row.action, AuditAction::Lifecycle(_)));
        Ok(row.map(|row| row.result))
    }
}

pub(super) fn refusal_error(
    refusal: Refusal,
    action: Action,
    entry: &Entry,
    compute_type: Option<&ComputeType>,
) -> EngineError {
    let workspace = &entry.workspace;
    let id = &workspace.id;
    let state = workspace.state.as_deref().unwrap_or("in no known state");
    let message = match refusal {
        Refusal::LitigationHold => format!(
            "WorkSpace {id} is on litigation hold; {action} would destroy what must be kept."
        ),
        Refusal::OperationInProgress => {
            format!("WorkSpace {id} is {state}; {action} must wait until that has ended.")
        }
        Refusal::InvalidResourceState => format!(
            "WorkSpace {id} is {state}; {action} needs {}.",
            lifecycle::needs(action, workspace.state.as_deref())
        ),
        Refusal::UnsupportedConfiguration => format!(
            "WorkSpace {id} is of type {}; that cannot be changed to {}.",
            workspace.compute_type_name.as_deref().unwrap_or("unknown"),
            compute_type.map_or("unknown", ComputeType::as_str),
        ),
    };
    EngineError::new(refusal.kind(), message)
}
