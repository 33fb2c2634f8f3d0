//! What a provider says of an action while it makes it happen.

use crate::domain::lifecycle::{self, Refusal};
use crate::error::{EngineError, ErrorKind, Result};
use crate::model::{AuditResult, PendingAction};
use crate::store::pending::{self, Dispatched};
use crate::store::workspaces::{Entry, Transition};

use super::actions::refusal_error;
use super::{Context, Mutation, Outcome};

/// Notes that a provider begins an attempt, unless it must not.
#[derive(Debug)]
pub(crate) struct DispatchAction {
    pub(crate) id: u64,
    pub(crate) provider: String,
    /// From 1.
    pub(crate) attempt: u32,
}

impl Mutation for DispatchAction {
    type Output = PendingAction;

    fn apply(self, context: &mut Context<'_, '_>) -> Result<Outcome<PendingAction>> {
        let (entry, running) = match context.running(self.id)? {
            Ok(running) => running,
            Err(error) => return Ok(Err(context.cancelled_or(self.id, error)?)),
        };
        if let Some(refused) = refusal(&entry, &running) {
            return Ok(Err(refused));
        }
        let Some(mut row) = pending::get(context.tables, self.id)? else {
            return Ok(Err(no_action()));
        };
        let before = row.dispatched.take();
        let attempts = before.as_ref().map_or(0, |before| before.attempts);
        match before {
            // Sent again, as no response came.
            Some(same) if same.attempts == self.attempt && same.provider == self.provider => {
                row.dispatched = Some(same);
            }
            _ if attempts.checked_add(1) == Some(self.attempt) => {
                let dispatched = Dispatched {
                    attempts: self.attempt,
                    last_at: context.now,
                    provider: self.provider,
                    note: None,
                };
                context.action_dispatched(&entry.workspace, &running, &dispatched)?;
                row.dispatched = Some(dispatched);
                pending::put(context.tables, &row)?;
            }
            _ => {
                let next = attempts.saturating_add(1);
                let said = format!("The next attempt of the action is {next}.");
                return Ok(Err(EngineError::new(ErrorKind::InvalidResourceState, said)));
            }
        }
        Ok(Ok(row.with(running)))
    }
}

/// Notes what a provider will be asked for when somebody looks into an action.
#[derive(Debug)]
pub(crate) struct NoteAction {
    pub(crate) id: u64,
    pub(crate) note: String,
}

impl Mutation for NoteAction {
    type Output = ();

    fn apply(self, context: &mut Context<'_, '_>) -> Result<Outcome> {
        if let Err(error) = context.running(self.id)? {
            return Ok(Err(context.cancelled_or(self.id, error)?));
        }
        let Some(mut row) = pending::get(context.tables, self.id)? else {
            return Ok(Err(no_action()));
        };
        let Some(dispatched) = &mut row.dispatched else {
            return Ok(Err(EngineError::new(
                ErrorKind::InvalidResourceState,
                "The action has not been dispatched.",
            )));
        };
        dispatched.note = Some(self.note);
        pending::put(context.tables, &row)?;
        Ok(Ok(()))
    }
}

/// Why the action must not be carried out, if it must not: much may have happened since it was accepted.
fn refusal(entry: &Entry, running: &Transition) -> Option<EngineError> {
    if running.due_at.is_some() {
        let said = "The clock ends this action; set actions.driver to host before actions are accepted that a provider is to drive.";
        return Some(EngineError::new(ErrorKind::InvalidResourceState, said));
    }
    let forbidden = entry.held && lifecycle::is_refused_under_hold(running.action);
    forbidden.then(|| refusal_error(Refusal::LitigationHold, running.action, entry, None))
}

fn no_action() -> EngineError {
    EngineError::new(ErrorKind::NotFound, "No such action.")
}

impl Context<'_, '_> {
    /// The refusal of what needs the action `id` to run, where it does not for `error`.
    fn cancelled_or(&self, id: u64, error: EngineError) -> Result<EngineError> {
        if self.end_of(id)? == Some(AuditResult::Cancelled) {
            let said = "The action was cancelled; it must not be carried out.";
            return Ok(EngineError::new(ErrorKind::Cancelled, said));
        }
        Ok(error)
    }
}
