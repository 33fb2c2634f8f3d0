//! Creating, replacing and removing workspace records.

use crate::error::{EngineError, ErrorKind, Result};
use crate::model::{AuditAction, AuditResult, PendingAction, Workspace, WorkspaceView};
use crate::store::workspaces::Entry;
use crate::store::{holds, workspaces};

use super::{Caller, Context, Mutation, Outcome};

/// Creates or replaces workspaces, all of them.
#[derive(Debug)]
pub(crate) struct PutWorkspaces(pub(crate) Vec<Workspace>);

impl Mutation for PutWorkspaces {
    type Output = ();

    fn apply(self, context: &mut Context<'_, '_>) -> Result<Outcome> {
        for workspace in self.0 {
            context.store_workspace(workspace)?;
        }
        Ok(Ok(()))
    }
}

/// Creates or replaces one workspace.
#[derive(Debug)]
pub(crate) struct PutWorkspace(pub(crate) Workspace);

impl Mutation for PutWorkspace {
    type Output = WorkspaceView;

    fn apply(self, context: &mut Context<'_, '_>) -> Result<Outcome<WorkspaceView>> {
        let entry = context.store_workspace(self.0)?;
        Ok(Ok(context.view(entry)?))
    }
}

/// Removes the record of a workspace.
#[derive(Debug)]
pub(crate) struct RemoveWorkspace {
    /// As the call named it, if it did.
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
        if entry.held {
            let said = format!(
                "WorkSpace {} is on litigation hold; release the hold first.",
                entry.workspace.id
            );
            return context.refused(row, EngineError::new(ErrorKind::LitigationHold, said));
        }
        if entry.transition.is_some() {
            let said = format!(
                "WorkSpace {} is {}; it can be removed once that has ended.",
                entry.workspace.id,
                entry.workspace.state.as_deref().unwrap_or_default(),
            );
            return context.refused(row, EngineError::new(ErrorKind::OperationInProgress, said));
        }
        row.set_new_state(None);
        workspaces::remove(context.tables, &entry)?;
        context.write_row(row, AuditResult::Completed)?;
        Ok(Ok(()))
    }
}

impl Context<'_, '_> {
    /// Stores a record. A running action goes on when the record shows its state, or none; else the host knows better
    /// and the action is cancelled.
    fn store_workspace(&mut self, workspace: Workspace) -> Result<Entry> {
        let old = self.settled(&workspace.id)?;
        let mut entry = Entry {
            workspace,
            state_since: self.now,
            held: false,
            transition: None,
        };
        if let Some(old) = old {
            entry.held = old.held;
            let running = old.transition.is_some();
            if running && entry.workspace.state.is_none() {
                entry.workspace.state.clone_from(&old.workspace.state);
            }
            if entry.workspace.state == old.workspace.state {
                entry.state_since = old.state_since;
                entry.transition = old.transition;
            } else if let Some(transition) = old.transition {
                self.end_row(&transition, AuditResult::Cancelled, None, None)?;
            }
        }
        workspaces::put(self.tables, &entry)?;
        Ok(entry)
    }

    /// A workspace with its running action and its hold.
    pub(super) fn view(&self, entry: Entry) -> Result<WorkspaceView> {
        let transition = entry.transition.map(|transition| PendingAction {
            id: transition.id,
            action: transition.action,
            workspace_id: entry.workspace.id.clone(),
            requested_at: transition.requested_at,
            due_at: transition.due_at,
            compute_type: transition.compute_type,
        });
        Ok(WorkspaceView {
            litigation_hold: holds::get(self.tables, &entry.workspace.id)?,
            workspace: entry.workspace,
            transition,
        })
    }
}
