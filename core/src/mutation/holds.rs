//! Placing and releasing litigation holds.

use crate::error::{EngineError, ErrorKind, Result};
use crate::model::{AuditAction, AuditResult, LitigationHold, WorkspaceView};
use crate::store::workspaces::Entry;
use crate::store::{holds, workspaces};

use super::audit::Row;
use super::{Caller, Context, Outcome};

impl Context<'_, '_> {
    pub(crate) fn place_hold(
        &mut self,
        id: &str,
        matter: String,
        reason: Option<String>,
        by: &Caller,
    ) -> Result<Outcome<WorkspaceView>> {
        let (row, entry) = self.hold_row(AuditAction::PlaceHold, id, by)?;
        let Some(mut entry) = entry else {
            return self.refused(row, EngineError::no_workspace());
        };
        let hold = LitigationHold {
            matter,
            reason,
            placed_by: by.name().to_owned(),
            placed_at: self.now,
        };
        holds::put(self.tables, id, &hold)?;
        entry.held = true;
        self.finish_hold(row, entry)
    }

    pub(crate) fn release_hold(&mut self, id: &str, by: &Caller) -> Result<Outcome<WorkspaceView>> {
        let (row, entry) = self.hold_row(AuditAction::ReleaseHold, id, by)?;
        let Some(mut entry) = entry else {
            return self.refused(row, EngineError::no_workspace());
        };
        if !entry.held {
            let error = EngineError::new(
                ErrorKind::NotFound,
                "The WorkSpace is not on litigation hold.",
            );
            return self.refused(row, error);
        }
        holds::remove(self.tables, id)?;
        entry.held = false;
        self.finish_hold(row, entry)
    }

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
