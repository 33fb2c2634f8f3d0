//! Creating, replacing and removing workspace records.

use std::collections::BTreeMap;

use crate::domain::editing::{self, EditRefusal};
use crate::domain::key_limits;
use crate::domain::validation;
use crate::error::{EngineError, ErrorKind, Result};
use crate::limits::IMPORT_EVENTS_MAX;
use crate::model::identity::id_key;
use crate::model::{AuditAction, AuditResult, Workspace, WorkspaceView};
use crate::store::fleet::workspaces::Entry;
use crate::store::fleet::{holds, pending, workspaces};
use crate::store::table::Read;

use super::audit::identity;
use super::{Caller, Context, Mutation, Outcome};

/// Creates or replaces workspaces: all of them, or none if one is refused.
#[derive(Debug)]
pub(crate) struct PutWorkspaces(pub(crate) Vec<Workspace>);

impl Mutation for PutWorkspaces {
    type Output = ();

    fn apply(self, context: &mut Context<'_, '_>) -> Result<Outcome> {
        let mut new_ids = BTreeMap::new();
        for workspace in &self.0 {
            let id = workspace.id.as_str();
            let refused = match context.settled(id)? {
                Some(old) => refusal(&old, &replacing(&old, workspace.clone())),
                None => match new_ids.insert(id_key(id), id) {
                    Some(other) if other != id => Some(is_spelled_as(id, other)),
                    _ => new_id_refusal(context.tables, id)?,
                },
            };
            if let Some(refused) = refused {
                return Ok(Err(refused));
            }
        }
        let (mut created, mut changed) = (0, 0);
        let listed = Listed::for_part(self.0.len());
        for workspace in self.0 {
            let old = context.settled(&workspace.id)?;
            let workspace = old.as_ref().map_or_else(
                || workspace.clone(),
                |old| replacing(old, workspace.clone()),
            );
            match context.store_workspace(old, workspace, listed, &Caller::HOST)? {
                Stored::Created => created += 1,
                Stored::Changed => changed += 1,
                Stored::Unchanged => {}
            }
        }
        context.import_committed(None, (created, changed), listed, &Caller::HOST)?;
        Ok(Ok(()))
    }
}

/// Which workspaces of a part of an import have an event of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Listed {
    /// Each that is created or changed.
    All,
    /// Each whose state or user changes: an event for each desktop of a large import would push others out of the log.
    StateAndUser,
}

impl Listed {
    /// Of a part with that number of workspaces.
    pub(super) fn for_part(workspaces: usize) -> Self {
        if workspaces <= IMPORT_EVENTS_MAX {
            Self::All
        } else {
            Self::StateAndUser
        }
    }
}

/// Creates or replaces one workspace.
#[derive(Debug)]
pub(crate) struct PutWorkspace {
    pub(crate) workspace: Workspace,
    /// Whether to replace a state that an action is changing, which cancels the action.
    pub(crate) cancels_action: bool,
    pub(crate) by: Caller,
}

impl Mutation for PutWorkspace {
    type Output = WorkspaceView;

    fn apply(self, context: &mut Context<'_, '_>) -> Result<Outcome<WorkspaceView>> {
        let mut row = context.row(AuditAction::UpdateWorkspace, &self.by, None);
        let mut old = context.settled(&self.workspace.id)?;
        let Some(known) = &mut old else {
            row.about(&self.workspace);
            if let Some(refused) = new_id_refusal(context.tables, &self.workspace.id)? {
                return context.refused(row, refused);
            }
            row.set_previous_state(None);
            context.write_row(row, AuditResult::Completed)?;
            context.workspace_changed(None, &self.workspace, &self.by)?;
            let entry = context.put_entry(None, self.workspace)?;
            return Ok(Ok(context.view(entry)?));
        };
        row.about(&known.workspace);
        let new = replacing(known, self.workspace);
        let cancelled = known
            .transition
            .take_if(|_| self.cancels_action && known.workspace.state != new.state);
        if let Some(refused) = refusal(known, &new) {
            return context.refused(row, refused);
        }
        if let Some(cancelled) = cancelled {
            context.cancel(&known.workspace, &cancelled)?;
        }
        if known.workspace == new {
            context.write_repeatable_row(row, AuditResult::NoChange)?;
        } else {
            row.changes(&known.workspace, &new);
            context.write_row(row, AuditResult::Completed)?;
            context.workspace_changed(Some(&known.workspace), &new, &self.by)?;
        }
        let entry = context.put_entry(old, new)?;
        Ok(Ok(context.view(entry)?))
    }
}

/// The result of storing a workspace.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stored {
    Created,
    Changed,
    Unchanged,
}

/// Removes the record of a workspace.
#[derive(Debug)]
pub(crate) struct RemoveWorkspace {
    /// The id as the call named it, if it did.
    pub(crate) id: Option<String>,
    pub(crate) by: Caller,
}

impl Mutation for RemoveWorkspace {
    type Output = ();

    fn apply(self, context: &mut Context<'_, '_>) -> Result<Outcome> {
        let Self { id, by } = self;
        let mut row = context.row(AuditAction::RemoveWorkspace, &by, None);
        let id = id.filter(|id| !id.is_empty());
        row.set_id(id.clone());
        let entry = match id {
            Some(id) => context.settled(&id)?,
            None => None,
        };
        let Some(entry) = entry else {
            return context.refused(row, EngineError::no_workspace());
        };
        row.about(&entry.workspace);
        let action = AuditAction::RemoveWorkspace;
        let limits = context.limits(&by)?;
        if let Err(error) = key_limits::allow(&limits, action, &entry.workspace) {
            return context.refused(row, error);
        }
        if entry.held {
            let message = format!(
                "WorkSpace {} is on litigation hold; release the hold first.",
                entry.workspace.id
            );
            return context.refused(row, EngineError::new(ErrorKind::LitigationHold, message));
        }
        if entry.transition.is_some() {
            let message = format!(
                "WorkSpace {} is {}; it can be removed once that has ended.",
                entry.workspace.id,
                entry.workspace.state.as_deref().unwrap_or_default(),
            );
            return context.refused(
                row,
                EngineError::new(ErrorKind::OperationInProgress, message),
            );
        }
        if let Err(error) = context.count_destructive(&by, &limits, action)? {
            return context.refused(row, error);
        }
        row.set_new_state(None);
        workspaces::remove(context.tables, &entry)?;
        context.workspace_removed(&entry.workspace, Some(&by))?;
        context.write_row(row, AuditResult::Completed)?;
        Ok(Ok(()))
    }
}

/// The record that a put of `workspace` stores over `old`: without a state it leaves that of a running action alone.
fn replacing(old: &Entry, mut workspace: Workspace) -> Workspace {
    if old.transition.is_some() && workspace.state.is_none() {
        workspace.state.clone_from(&old.workspace.state);
    }
    workspace
}

/// Why `new` may not replace `old`, if so.
pub(super) fn refusal(old: &Entry, new: &Workspace) -> Option<EngineError> {
    let in_transition = old.transition.is_some();
    let refused = editing::refusal(&old.workspace, new, old.held, in_transition)?;
    let id = &new.id;
    let state = old.workspace.state.as_deref().unwrap_or_default();
    Some(match refused {
        EditRefusal::StateInTransition => EngineError::new(
            ErrorKind::OperationInProgress,
            format!("WorkSpace {id} is {state}; its state can be changed once that has ended."),
        ),
        EditRefusal::IdentityUnderHold(field) => EngineError::new(
            ErrorKind::LitigationHold,
            format!(
                "WorkSpace {id} is on litigation hold; {field} cannot be changed before the hold is released."
            ),
        ),
        EditRefusal::TerminationUnderHold => EngineError::new(
            ErrorKind::LitigationHold,
            format!(
                "WorkSpace {id} is on litigation hold; it cannot become TERMINATED before the hold is released."
            ),
        ),
    })
}

/// The refusal of a new id that another workspace has in another spelling.
pub(crate) fn is_spelled_as(id: &str, other: &str) -> EngineError {
    let message =
        format!("The id {id} is that of WorkSpace {other} in another spelling; use that one.");
    EngineError::invalid("workSpId", message)
}

/// Why no new workspace may have this id, if so.
pub(super) fn new_id_refusal(read: &impl Read, id: &str) -> Result<Option<EngineError>> {
    if let Err(violation) = validation::new_id(id) {
        return Ok(Some(EngineError::invalid(
            violation.field,
            violation.message,
        )));
    }
    let others = workspaces::other_spellings(read, id)?;
    Ok(others.first().map(|other| is_spelled_as(id, other)))
}

impl Context<'_, '_> {
    /// Stores a permitted record over `old`. A change of the state or the identity makes an audit row. The caller appends one
    /// event for all that it stores.
    pub(super) fn store_workspace(
        &mut self,
        old: Option<Entry>,
        workspace: Workspace,
        listed: Listed,
        by: &Caller,
    ) -> Result<Stored> {
        let stored = match &old {
            None => Stored::Created,
            Some(old) if old.workspace != workspace => Stored::Changed,
            Some(_) => Stored::Unchanged,
        };
        if let Some(Entry { workspace: old, .. }) = &old
            && (old.state != workspace.state || identity(old) != identity(&workspace))
        {
            let mut row = self.row(AuditAction::UpdateWorkspace, by, None);
            row.changes(old, &workspace);
            self.write_row(row, AuditResult::Completed)?;
        }
        let before = old.as_ref().map(|old| &old.workspace);
        let is_listed = match (listed, before) {
            (Listed::All, _) => true,
            (Listed::StateAndUser, Some(before)) => {
                (&before.state, &before.username) != (&workspace.state, &workspace.username)
            }
            (Listed::StateAndUser, None) => false,
        };
        if is_listed {
            self.workspace_changed(before, &workspace, by)?;
        }
        self.put_entry(old, workspace)?;
        Ok(stored)
    }

    /// Writes the record. A running action and a hold go on.
    fn put_entry(&mut self, old: Option<Entry>, workspace: Workspace) -> Result<Entry> {
        let mut entry = Entry {
            workspace,
            state_since: self.now,
            known_since: self.now,
            held: false,
            transition: None,
        };
        if let Some(old) = old {
            entry.known_since = old.known_since;
            entry.held = old.held;
            entry.transition = old.transition;
            if entry.workspace.state == old.workspace.state {
                entry.state_since = old.state_since;
            }
        }
        workspaces::put(self.tables, &entry)?;
        Ok(entry)
    }

    /// A workspace with its running action and its hold.
    pub(super) fn view(&self, entry: Entry) -> Result<WorkspaceView> {
        let id = &entry.workspace.id;
        let shown = |running| pending::shown(self.tables, id, running);
        Ok(WorkspaceView {
            transition: entry.transition.map(shown).transpose()?,
            litigation_hold: holds::get(self.tables, id)?,
            workspace: entry.workspace,
        })
    }
}
