//! Writing audit rows.

use crate::domain::validation;
use crate::error::{EngineError, Result};
use crate::model::{AuditAction, AuditEntry, AuditResult, Workspace};
use crate::store::{audit, meta};

use super::{Caller, Context, Done, Outcome, Refused};

/// A row being made.
pub(super) struct Row {
    entry: AuditEntry,
}

impl Row {
    /// Names the workspace the row is about.
    pub(super) fn about(&mut self, workspace: &Workspace) {
        self.entry.workspace_id = Some(workspace.id.clone());
        self.entry.username.clone_from(&workspace.username);
        self.entry
            .computer_name
            .clone_from(&workspace.computer_name);
        self.entry.previous_state.clone_from(&workspace.state);
        self.entry.new_state.clone_from(&workspace.state);
    }

    pub(super) fn set_id(&mut self, id: Option<String>) {
        self.entry.workspace_id = id;
    }

    pub(super) fn set_new_state(&mut self, state: Option<String>) {
        self.entry.new_state = state;
    }

    pub(super) fn set_detail(&mut self, detail: &str) {
        self.entry.detail = Some(detail.to_owned());
    }
}

impl Context<'_, '_> {
    /// Begins a row for what `by` asks for now.
    pub(super) fn row(&self, action: AuditAction, by: &Caller, requester: Option<&str>) -> Row {
        let requester = requester
            .filter(|text| !text.is_empty())
            .unwrap_or_else(|| by.name());
        Row {
            entry: AuditEntry {
                id: 0,
                time: self.now,
                requester: validation::requester(requester),
                action,
                workspace_id: None,
                username: None,
                computer_name: None,
                result: AuditResult::Completed,
                previous_state: None,
                new_state: None,
                completed_time: None,
                detail: None,
                api_key_name: by.key_name.clone(),
            },
        }
    }

    /// Writes the row; answers its number.
    pub(super) fn write_row(&mut self, row: Row, result: AuditResult) -> Result<u64> {
        let mut entry = row.entry;
        entry.id = meta::next(self.tables, meta::Sequence::Audit)?;
        entry.result = result;
        entry.completed_time = match result {
            AuditResult::Completed | AuditResult::NoChange => Some(self.now),
            AuditResult::Accepted
            | AuditResult::Failed
            | AuditResult::Refused
            | AuditResult::Cancelled => None,
        };
        audit::put(self.tables, &entry)?;
        Ok(entry.id)
    }

    /// Writes the row of a refusal and hands the refusal back.
    pub(super) fn refused(&mut self, mut row: Row, error: EngineError) -> Result<Outcome> {
        row.set_detail(error.kind().code());
        self.write_row(row, AuditResult::Refused)?;
        Ok(Err(error))
    }

    /// Writes the row of a call that was refused on its way here.
    pub(super) fn refuse(&mut self, refused: Refused, by: &Caller) -> Result<Outcome> {
        let mut row = self.row(refused.action, by, refused.requester.as_deref());
        row.set_id(refused.workspace_id);
        row.set_detail(refused.code);
        self.write_row(row, AuditResult::Refused)?;
        Ok(Ok(Done::Nothing))
    }
}
