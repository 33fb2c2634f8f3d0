//! Creating, replacing and removing workspace records.

use crate::error::{EngineError, ErrorKind, Result};
use crate::model::{AuditAction, AuditResult, PendingAction, Workspace, WorkspaceView};
use crate::store::workspaces::Entry;
use crate::store::{holds, workspaces};

use super::{Caller, Context, Outcome};

impl Context<'_, '_> {
    pub(crate) fn put_workspaces(&mut self, workspaces: Vec<Workspace>) -> Result<Outcome> {
        for workspace in workspaces {
            self.store_workspace(workspace)?;
        }
        Ok(Ok(()))
    }

    pub(crate) fn put_workspace(&mut self, workspace: Workspace) -> Result<Outcome<WorkspaceView>> {
        let entry = self.store_workspace(workspace)?;
        Ok(Ok(self.view(entry)?))
    }

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

    pub(crate) fn remove_workspace(&mut self, id: Option<String>, by: &Caller) -> Result<Outcome> {
        let mut row = self.row(AuditAction::RemoveWorkspace, by, None);
        let id = id.filter(|id| !id.is_empty());
        row.set_id(id.clone());
        let entry = match id {
            Some(id) => self.settled(&id)?,
            None => None,
        };
        let Some(entry) = entry else {
            return self.refused(row, EngineError::no_workspace());
        };
        row.about(&entry.workspace);
        if entry.held {
            let said = format!(
                "WorkSpace {} is on litigation hold; release the hold first.",
                entry.workspace.id
            );
            return self.refused(row, EngineError::new(ErrorKind::LitigationHold, said));
        }
        if entry.transition.is_some() {
            let said = format!(
                "WorkSpace {} is {}; it can be removed once that has ended.",
                entry.workspace.id,
                entry.workspace.state.as_deref().unwrap_or_default(),
            );
            return self.refused(row, EngineError::new(ErrorKind::OperationInProgress, said));
        }
        row.set_new_state(None);
        workspaces::remove(self.tables, &entry)?;
        self.write_row(row, AuditResult::Completed)?;
        Ok(Ok(()))
    }
}
