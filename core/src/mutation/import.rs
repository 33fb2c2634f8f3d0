//! Importing workspaces.

use crate::error::{EngineError, Result};
use crate::model::{AuditAction, AuditResult, Workspace, WorkspacePatch};
use crate::store::audit;

use super::workspaces::refusal;
use super::{Caller, Context, Mutation, Outcome};

/// What an import has done so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ImportCounts {
    pub(crate) created: u64,
    pub(crate) updated: u64,
    /// Refused by a rule, or not readable.
    pub(crate) rejected: u64,
}

/// Applies a part of an import, each record by itself, and brings the import's audit row up to date.
#[derive(Debug)]
pub(crate) struct ImportWorkspaces {
    /// With the line of each.
    pub(crate) records: Vec<(u64, WorkspacePatch)>,
    /// What was done before.
    pub(crate) counts: ImportCounts,
    /// The audit row, once there is one.
    pub(crate) row: Option<u64>,
    /// How the import ends, if this is its last part.
    pub(crate) ends: Option<AuditResult>,
    pub(crate) by: Caller,
}

/// What a part of an import has done.
#[derive(Debug)]
pub(crate) struct Imported {
    pub(crate) row: u64,
    /// With those from before.
    pub(crate) counts: ImportCounts,
    /// The refused records, by their lines.
    pub(crate) refused: Vec<(u64, EngineError)>,
}

impl Mutation for ImportWorkspaces {
    type Output = Imported;

    fn apply(self, context: &mut Context<'_, '_>) -> Result<Outcome<Imported>> {
        let mut counts = self.counts;
        let mut refused = Vec::new();
        for (line, patch) in self.records {
            match context.import(patch, &self.by)? {
                Ok(true) => counts.created += 1,
                Ok(false) => counts.updated += 1,
                Err(error) => refused.push((line, error)),
            }
        }
        counts.rejected += refused.len() as u64;
        let row = context.import_row(self.row, counts, self.ends, &self.by)?;
        Ok(Ok(Imported {
            row,
            counts,
            refused,
        }))
    }
}

impl Context<'_, '_> {
    /// Applies one record; returns whether that created the workspace.
    fn import(&mut self, patch: WorkspacePatch, by: &Caller) -> Result<Result<bool>> {
        let id = patch.id.value().cloned().unwrap_or_default();
        let old = self.settled(&id)?;
        let created = old.is_none();
        let mut workspace = old.as_ref().map_or_else(
            || Workspace {
                id,
                ..Workspace::default()
            },
            |old| old.workspace.clone(),
        );
        patch.apply_to(&mut workspace);
        if let Some(refused) = old.as_ref().and_then(|old| refusal(old, &workspace)) {
            return Ok(Err(refused));
        }
        self.store_workspace(old, workspace, by)?;
        Ok(Ok(created))
    }

    /// Writes the audit row of an import, or again with the counts and the result of now; returns its number.
    fn import_row(
        &mut self,
        id: Option<u64>,
        counts: ImportCounts,
        ends: Option<AuditResult>,
        by: &Caller,
    ) -> Result<u64> {
        let result = ends.unwrap_or(AuditResult::Accepted);
        let detail = format!(
            "{} created, {} updated, {} rejected",
            counts.created, counts.updated, counts.rejected
        );
        let Some(id) = id else {
            let mut row = self.row(AuditAction::ImportWorkspaces, by, None);
            row.set_detail(&detail);
            return self.write_row(row, result);
        };
        if let Some(mut entry) = audit::get(self.tables, id)? {
            entry.result = result;
            entry.detail = Some(detail);
            entry.completed_time = ends.map(|_| self.now);
            audit::put(self.tables, &entry)?;
        }
        Ok(id)
    }
}
