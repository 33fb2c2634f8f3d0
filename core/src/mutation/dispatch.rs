//! What a provider reports about an action while it carries it out.

use crate::domain::lifecycle::{self, Refusal};
use crate::error::{EngineError, ErrorKind, Result};
use crate::model::{Attempt, AuditResult, PendingAction};
use crate::store::fleet::leases;
use crate::store::fleet::pending::{self, Dispatched};
use crate::store::fleet::workspaces::{Entry, Transition};
use crate::timestamp::Timestamp;

use super::actions::refusal_error;
use super::{Context, Mutation, Outcome};

/// Takes or extends the lease of a provider, or ends it where it lasts no time.
#[derive(Debug)]
pub(crate) struct TakeLease {
    pub(crate) provider: String,
    pub(crate) instance: String,
    pub(crate) seconds: u32,
}

impl Mutation for TakeLease {
    /// When it ends.
    type Output = Timestamp;

    fn apply(self, context: &mut Context<'_, '_>) -> Result<Outcome<Timestamp>> {
        let (provider, instance) = (&self.provider, &self.instance);
        let (tables, now) = (&*context.tables, context.now);
        if let Some(refused) = leases::refusal(tables, provider, Some(instance), now)? {
            return Ok(Err(refused));
        }
        let until = now.plus_seconds(self.seconds.into());
        if until > now {
            leases::put(tables, provider, instance, until)?;
        } else {
            leases::remove(tables, provider)?;
        }
        Ok(Ok(until))
    }
}

/// Records that a provider begins an attempt, unless it must not.
#[derive(Debug)]
pub(crate) struct DispatchAction {
    pub(crate) id: u64,
    pub(crate) attempt: Attempt,
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
        let Attempt {
            provider, instance, ..
        } = &self.attempt;
        let instance = instance.as_deref();
        if let Some(refused) = leases::refusal(context.tables, provider, instance, context.now)? {
            return Ok(Err(refused));
        }
        let Some(mut row) = pending::get(context.tables, self.id)? else {
            return Ok(Err(no_action()));
        };
        let before = row.dispatched.take();
        let attempts = before.as_ref().map_or(0, |before| before.attempt.number);
        match before {
            // The request was repeated because its response was lost.
            Some(same) if same.attempt == self.attempt => {
                row.dispatched = Some(same);
            }
            _ if attempts.checked_add(1) == Some(self.attempt.number) => {
                let dispatched = Dispatched {
                    attempt: self.attempt,
                    begun_at: context.now,
                    note: None,
                };
                context.action_dispatched(&entry.workspace, &running, &dispatched)?;
                row.dispatched = Some(dispatched);
                pending::put(context.tables, &row)?;
            }
            _ => {
                let next = attempts.saturating_add(1);
                let message = format!("The next attempt of the action is {next}.");
                return Ok(Err(EngineError::new(
                    ErrorKind::InvalidResourceState,
                    message,
                )));
            }
        }
        Ok(Ok(row.into_action(running)))
    }
}

/// Records what the provider's support will ask for.
#[derive(Debug)]
pub(crate) struct NoteAction {
    pub(crate) id: u64,
    /// The number of the attempt, which must be the last one.
    pub(crate) attempt: u32,
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
        let last = row.dispatched.as_mut();
        let Some(dispatched) = last.filter(|last| last.attempt.number == self.attempt) else {
            return Ok(Err(EngineError::new(
                ErrorKind::InvalidResourceState,
                "The attempt is not the last one of the action.",
            )));
        };
        dispatched.note = Some(self.note);
        pending::put(context.tables, &row)?;
        Ok(Ok(()))
    }
}

/// Why the action must not be carried out, if so: it may have been cancelled or held since it was accepted.
fn refusal(entry: &Entry, running: &Transition) -> Option<EngineError> {
    if running.due_at.is_some() {
        let message = "The clock ends this action; set actions.driver to host before actions are accepted that a provider is to drive.";
        return Some(EngineError::new(ErrorKind::InvalidResourceState, message));
    }
    let forbidden = entry.held && lifecycle::is_refused_under_hold(running.action);
    forbidden.then(|| refusal_error(Refusal::LitigationHold, running.action, entry, None))
}

fn no_action() -> EngineError {
    EngineError::new(ErrorKind::NotFound, "No such action.")
}

impl Context<'_, '_> {
    /// The refusal of a request for the action `id`, which does not run because of `error`.
    fn cancelled_or(&self, id: u64, error: EngineError) -> Result<EngineError> {
        if self.end_of(id)? == Some(AuditResult::Cancelled) {
            let message = "The action was cancelled; it must not be carried out.";
            return Ok(EngineError::new(ErrorKind::Cancelled, message));
        }
        Ok(error)
    }
}
