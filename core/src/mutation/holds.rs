//! Placing and releasing litigation holds.

use crate::error::{EngineError, ErrorKind, Result};
use crate::model::{AuditAction, AuditResult, LitigationHold, WorkspaceView};
use crate::store::workspaces::Entry;
use crate::store::{holds, workspaces};

use super::audit::Row;
use super::{Caller, Context, Mutation, Outcome};

/// Places a hold on a workspace, over one that is there.
#[derive(Debug)]
pub(crate) struct PlaceHold {
    pub(crate) id: String,
    pub(crate) matter: String,
    pub(crate) reason: Option<String>,
    pub(crate) by: Caller,
}

impl Mutation for PlaceHold {
    type Output = WorkspaceView;

    fn apply(self, context: &mut Context<'_, '_>) -> Result<Outcome<WorkspaceView>> {
        let (row, entry) = context.hold_row(AuditAction::PlaceHold, &self.id, &self.by)?;
        let Some(mut entry) = entry else {
            return context.refused(row, EngineError::no_workspace());
        };
        let hold = LitigationHold {
            matter: self.matter,
            reason: self.reason,
            placed_by: self.by.name().to_owned(),
            placed_at: context.now,
        };
        holds::put(context.tables, &self.id, &hold)?;
        let replaced = std::mem::replace(&mut entry.held, true);
        context.hold_placed(&entry.workspace, replaced, &self.by)?;
        context.finish_hold(row, entry)
    }
}

/// Releases the hold on a workspace.
#[derive(Debug)]
pub(crate) struct ReleaseHold {
    pub(crate) id: String,
    pub(crate) by: Caller,
}

impl Mutation for ReleaseHold {
    type Output = WorkspaceView;

    fn apply(self, context: &mut Context<'_, '_>) -> Result<Outcome<WorkspaceView>> {
        let (row, entry) = context.hold_row(AuditAction::ReleaseHold, &self.id, &self.by)?;
        let Some(mut entry) = entry else {
            return context.refused(row, EngineError::no_workspace());
        };
        if !entry.held {
            let error = EngineError::new(
                ErrorKind::NotFound,
                "The WorkSpace is not on litigation hold.",
            );
            return context.refused(row, error);
        }
        holds::remove(context.tables, &self.id)?;
        entry.held = false;
        context.hold_released(&entry.workspace, &self.by)?;
        context.finish_hold(row, entry)
    }
}

impl Context<'_, '_> {
    fn hold_row(
        &mut self,
        action: AuditAction,
        id: &str,
        by: &Caller,
    ) -> Result<(Row, Option<Entry>)> {
        let mut row = self.row(action, by, None);
        row.set_id(Some(id.to_owned()));
        let entry = self.settled(id)?;
        if let Some(entry) = &entry {
            row.about(&entry.workspace);
        }
        Ok((row, entry))
    }

    fn finish_hold(&mut self, row: Row, entry: Entry) -> Result<Outcome<WorkspaceView>> {
        workspaces::put(self.tables, &entry)?;
        self.write_row(row, AuditResult::Completed)?;
        Ok(Ok(self.view(entry)?))
    }
}
