//! Importing workspaces.

use crate::domain::keys as rules;
use crate::error::{EngineError, ErrorKind, Result};
use crate::model::{AuditAction, AuditResult, Workspace, WorkspacePatch};
use crate::store::fleet::workspaces::Entry;
use crate::store::fleet::{audit, keys};
use crate::store::table::Read;

use super::workspaces::{Listed, Stored, new_id_refusal, refusal};
use super::{Caller, Context, Mutation, Outcome};

/// The counts of an import so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ImportCounts {
    pub(crate) created: u64,
    pub(crate) updated: u64,
    /// Refused by a rule, or not readable.
    pub(crate) rejected: u64,
}

/// Applies a part of an import, each record by itself, and brings the import's audit row up to date. Nothing of the part is
/// applied once the key of the caller is no longer accepted: it may have been revoked since the import began.
#[derive(Debug)]
pub(crate) struct ImportWorkspaces {
    /// The records, each with its line.
    pub(crate) records: Vec<(u64, WorkspacePatch)>,
    /// The counts before this part.
    pub(crate) counts: ImportCounts,
    /// The audit row, once there is one.
    pub(crate) row: Option<u64>,
    /// How the import ends, if this is its last part.
    pub(crate) ends: Option<AuditResult>,
    pub(crate) by: Caller,
}

/// The result of a part of an import.
#[derive(Debug)]
pub(crate) struct Imported {
    pub(crate) row: u64,
    /// The counts, those before this part included.
    pub(crate) counts: ImportCounts,
    /// The refused records, by their lines.
    pub(crate) refused: Vec<(u64, EngineError)>,
    /// Why nothing of the part was applied and the import ended, if so.
    pub(crate) ended: Option<EngineError>,
}

impl Mutation for ImportWorkspaces {
    type Output = Imported;

    fn apply(self, context: &mut Context<'_, '_>) -> Result<Outcome<Imported>> {
        let mut counts = self.counts;
        if !context.is_accepted(&self.by)? {
            let row = context.import_row(self.row, counts, Some(AuditResult::Failed), &self.by)?;
            let message = "The API key is no longer accepted.";
            return Ok(Ok(Imported {
                row,
                counts,
                refused: Vec::new(),
                ended: Some(EngineError::new(ErrorKind::InvalidApiKey, message)),
            }));
        }
        let mut refused = Vec::new();
        let mut changed = 0;
        let listed = Listed::for_part(self.records.len());
        for (line, patch) in self.records {
            match context.import(patch, listed, &self.by)? {
                Ok(Stored::Created) => counts.created += 1,
                Ok(Stored::Changed) => {
                    counts.updated += 1;
                    changed += 1;
                }
                Ok(Stored::Unchanged) => counts.updated += 1,
                Err(error) => refused.push((line, error)),
            }
        }
        let created = counts.created - self.counts.created;
        counts.rejected += refused.len() as u64;
        let row = context.import_row(self.row, counts, self.ends, &self.by)?;
        context.import_committed(Some(row), (created, changed), listed, &self.by)?;
        Ok(Ok(Imported {
            row,
            counts,
            refused,
            ended: None,
        }))
    }
}

/// The workspace that an import makes of `old`, or of none, with a record of its id. The inner error is a rule that forbids it.
pub(crate) fn merge_record(
    read: &impl Read,
    old: Option<&Entry>,
    patch: WorkspacePatch,
) -> Result<Result<Workspace>> {
    let Some(old) = old else {
        let id = patch.id.value().cloned().unwrap_or_default();
        if let Some(refused) = new_id_refusal(read, &id)? {
            return Ok(Err(refused));
        }
        let mut workspace = Workspace {
            id,
            ..Workspace::default()
        };
        patch.apply_to(&mut workspace);
        return Ok(Ok(workspace));
    };
    let mut workspace = old.workspace.clone();
    patch.apply_to(&mut workspace);
    Ok(match refusal(old, &workspace) {
        Some(refused) => Err(refused),
        None => Ok(workspace),
    })
}

impl Context<'_, '_> {
    /// Whether the key of the caller is accepted now; always for the host itself.
    fn is_accepted(&self, by: &Caller) -> Result<bool> {
        let Some(id) = by.key_id() else {
            return Ok(true);
        };
        let key = keys::get(self.tables, id)?;
        Ok(key.is_some_and(|key| rules::is_accepted(&key.info, self.now)))
    }

    /// Applies one record.
    fn import(
        &mut self,
        patch: WorkspacePatch,
        listed: Listed,
        by: &Caller,
    ) -> Result<Result<Stored>> {
        let id = patch.id.value().cloned().unwrap_or_default();
        let old = self.settled(&id)?;
        match merge_record(self.tables, old.as_ref(), patch)? {
            Ok(workspace) => self.store_workspace(old, workspace, listed, by).map(Ok),
            Err(refused) => Ok(Err(refused)),
        }
    }

    /// Writes or updates the audit row of an import with the current counts and result; returns its number.
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
