//! Writing audit rows.

use std::borrow::Cow;

use crate::domain::validation;
use crate::error::{EngineError, Result};
use crate::limits::{REPEATABLE_ROWS_MAX, WORKSPACE_ID_MAX};
use crate::model::{AuditAction, AuditEntry, AuditResult, Workspace};
use crate::store::repeats::Repeats;
use crate::store::{audit, meta};

use super::{Caller, Context, HOST_NAME, Mutation, Outcome};

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
        let state = workspace.state.clone().map(String::from);
        self.entry.previous_state.clone_from(&state);
        self.entry.new_state = state;
    }

    /// Names the workspace as the call did. No workspace has a longer id than is kept.
    pub(super) fn set_id(&mut self, id: Option<String>) {
        self.entry.workspace_id = id.map(|id| id.chars().take(WORKSPACE_ID_MAX).collect());
    }

    /// Names the workspace as it was, its state after the change, and its new user where that changes.
    pub(super) fn changes(&mut self, old: &Workspace, new: &Workspace) {
        self.about(old);
        self.entry.new_state = new.state.clone().map(String::from);
        if old.username != new.username {
            let [old, new] = [old, new].map(|of| of.username.as_deref().unwrap_or("null"));
            self.entry.detail = Some(format!("username changed from {old} to {new}"));
        }
    }

    pub(super) fn set_previous_state(&mut self, state: Option<String>) {
        self.entry.previous_state = state;
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
                api_key_name: by.key.as_ref().map(|(_, name)| name.clone()),
                api_key_id: by.key.as_ref().map(|(id, _)| *id),
            },
        }
    }

    /// Writes the row; answers its number.
    pub(super) fn write_row(&mut self, row: Row, result: AuditResult) -> Result<u64> {
        let mut entry = row.entry;
        entry.id = meta::next(self.tables, meta::Sequence::Audit)?;
        entry.result = result;
        entry.completed_time = match result {
            AuditResult::Completed | AuditResult::NoChange | AuditResult::Failed => Some(self.now),
            AuditResult::Accepted | AuditResult::Refused | AuditResult::Cancelled => None,
        };
        audit::put(self.tables, &entry)?;
        Ok(entry.id)
    }

    /// Writes the row of a call that changed nothing, or counts it in the row of an equal one of the same key and minute. When a
    /// key has many different ones in a minute, those that follow are only counted: by what was asked and how it ended.
    pub(super) fn write_repeatable_row(&mut self, row: Row, result: AuditResult) -> Result<()> {
        let mut repeats = Repeats::of(self.tables, row.entry.api_key_name.as_deref(), self.now)?;
        let mut entry = AuditEntry {
            result,
            ..row.entry
        };
        let is_new = repeats.equal(&entry).is_none();
        if is_new && repeats.rows.len() >= REPEATABLE_ROWS_MAX {
            entry = AuditEntry {
                requester: (entry.api_key_name.clone()).unwrap_or_else(|| HOST_NAME.to_owned()),
                workspace_id: None,
                username: None,
                computer_name: None,
                previous_state: None,
                new_state: None,
                ..entry
            };
        }
        if let Some(repeated) = repeats.equal(&entry)
            && let Some(mut first) = audit::get(self.tables, repeated.id)?
        {
            repeated.count = repeated.count.saturating_add(1);
            let times = format!("({} times)", repeated.count);
            first.detail = Some(match &entry.detail {
                Some(detail) => format!("{detail} {times}"),
                None => times,
            });
            audit::put(self.tables, &first)?;
        } else {
            let id = self.write_row(
                Row {
                    entry: entry.clone(),
                },
                result,
            )?;
            repeats.add(&AuditEntry { id, ..entry });
        }
        repeats.put(self.tables)
    }

    /// Writes the row of a refusal and hands the refusal back.
    pub(super) fn refused<T>(&mut self, mut row: Row, error: EngineError) -> Result<Outcome<T>> {
        row.set_detail(error.kind().code());
        self.write_repeatable_row(row, AuditResult::Refused)?;
        Ok(Err(error))
    }
}

/// Writes the row of a call that was refused before its parameters could be read.
#[derive(Debug)]
pub(crate) struct AuditRefusal {
    pub(crate) action: AuditAction,
    /// The code of the response.
    pub(crate) code: Cow<'static, str>,
    pub(crate) workspace_id: Option<String>,
    pub(crate) requester: Option<String>,
    pub(crate) by: Caller,
}

impl Mutation for AuditRefusal {
    type Output = ();

    fn apply(self, context: &mut Context<'_, '_>) -> Result<Outcome> {
        let mut row = context.row(self.action, &self.by, self.requester.as_deref());
        row.set_id(self.workspace_id);
        row.set_detail(&self.code);
        context.write_repeatable_row(row, AuditResult::Refused)?;
        Ok(Ok(()))
    }
}
