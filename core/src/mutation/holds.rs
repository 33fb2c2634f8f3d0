//! Placing and releasing litigation holds.

use crate::error::{EngineError, ErrorKind, Result};
use crate::model::{AuditAction, AuditResult, LitigationHold, WorkspaceView, WriteClass};
use crate::store::fleet::workspaces::Entry;
use crate::store::fleet::{holds, workspaces};

use super::audit::Row;
use super::{Caller, Context, Mutation, Outcome};

/// Places or replaces a hold on a workspace and on those whose id is another spelling of the same id.
#[derive(Debug)]
pub(crate) struct PlaceHold {
    pub(crate) id: String,
    pub(crate) matter: String,
    pub(crate) reason: Option<String>,
    pub(crate) by: Caller,
}

impl Mutation for PlaceHold {
    type Output = WorkspaceView;

    fn class(&self) -> WriteClass {
        WriteClass::Essential
    }

    fn apply(self, context: &mut Context<'_, '_>) -> Result<Outcome<WorkspaceView>> {
        let (row, entry) = context.hold_row(AuditAction::PlaceHold, &self.id, &self.by)?;
        let Some(entry) = entry else {
            return context.refused(row, EngineError::no_workspace());
        };
        let hold = LitigationHold {
            matter: self.matter,
            reason: self.reason,
            placed_by: self.by.name().to_owned(),
            placed_at: context.now,
        };
        let replaced = holds::get(context.tables, &self.id)?;
        for id in workspaces::other_spellings(context.tables, &self.id)? {
            let (row, entry) = context.hold_row(AuditAction::PlaceHold, &id, &self.by)?;
            let other_hold = holds::get(context.tables, &id)?;
            if let Some(other) = entry
                && (other_hold.is_none() || other_hold == replaced)
            {
                context.hold(row, other, &hold, &self.by)?;
            }
        }
        context.hold(row, entry, &hold, &self.by).map(Ok)
    }
}

/// Releases the hold on a workspace, and those placed with it on other spellings of its id.
#[derive(Debug)]
pub(crate) struct ReleaseHold {
    pub(crate) id: String,
    pub(crate) by: Caller,
}

impl Mutation for ReleaseHold {
    type Output = WorkspaceView;

    fn class(&self) -> WriteClass {
        WriteClass::Essential
    }

    fn apply(self, context: &mut Context<'_, '_>) -> Result<Outcome<WorkspaceView>> {
        let (row, entry) = context.hold_row(AuditAction::ReleaseHold, &self.id, &self.by)?;
        let Some(entry) = entry else {
            return context.refused(row, EngineError::no_workspace());
        };
        let Some(hold) = holds::get(context.tables, &self.id)? else {
            let error = EngineError::new(
                ErrorKind::NotFound,
                "The WorkSpace is not on litigation hold.",
            );
            return context.refused(row, error);
        };
        for id in workspaces::other_spellings(context.tables, &self.id)? {
            let (row, entry) = context.hold_row(AuditAction::ReleaseHold, &id, &self.by)?;
            if let Some(other) = entry
                && holds::get(context.tables, &id)?.as_ref() == Some(&hold)
            {
                context.release(row, other, &self.by)?;
            }
        }
        context.release(row, entry, &self.by).map(Ok)
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

    fn hold(
        &mut self,
        row: Row,
        mut entry: Entry,
        hold: &LitigationHold,
        by: &Caller,
    ) -> Result<WorkspaceView> {
        holds::put(self.tables, &entry.workspace.id, hold)?;
        let replaced = std::mem::replace(&mut entry.held, true);
        self.hold_placed(&entry.workspace, replaced, by)?;
        self.finish_hold(row, entry)
    }

    fn release(&mut self, row: Row, mut entry: Entry, by: &Caller) -> Result<WorkspaceView> {
        holds::remove(self.tables, &entry.workspace.id)?;
        entry.held = false;
        self.hold_released(&entry.workspace, by)?;
        self.finish_hold(row, entry)
    }

    fn finish_hold(&mut self, row: Row, entry: Entry) -> Result<WorkspaceView> {
        workspaces::put(self.tables, &entry)?;
        self.write_row(row, AuditResult::Completed)?;
        self.view(entry)
    }
}
