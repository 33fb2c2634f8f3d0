//! Writing audit rows.

use std::borrow::Cow;

use crate::domain::keys::HOST_NAME;
use crate::domain::validation;
use crate::error::{EngineError, Result};
use crate::limits::{REPEATABLE_ROWS_ALL_MAX, REPEATABLE_ROWS_MAX, TEXT_MAX, WORKSPACE_ID_MAX};
use crate::model::{AuditAction, AuditEntry, AuditResult, Workspace};
use crate::store::fleet::audit;
use crate::store::fleet::repeats::Counted;
use crate::store::meta;
use crate::store::table::{Read as _, Table};

use super::{Caller, Context, Mutation, Outcome};

/// The fields that identify a workspace.
pub(super) fn identity(of: &Workspace) -> [(&'static str, Option<&str>); 3] {
    [
        ("username", of.username.as_deref()),
        ("computerName", of.computer_name.as_deref()),
        ("directoryId", of.directory_id.as_deref()),
    ]
}

/// The key, in place of a workspace, under which rows about all existing workspaces are counted: no id is empty.
const OF_ALL: &str = "";
/// The same for rows of data that was handed out: no id has a line feed.
const OF_ACCESS: &str = "\n";

/// Separates the code of a refusal from the key that it is about; no code contains it.
const CODE_END: &str = ": ";

/// The detail of the row of a refusal.
pub(crate) fn refused_with<'c>(code: &'c str, key: Option<&str>) -> Cow<'c, str> {
    key.map_or_else(
        || code.into(),
        |key| format!("{code}{CODE_END}{key}").into(),
    )
}

/// The detail of a row that counts `count` calls.
fn times(detail: Option<&str>, count: u64) -> Option<String> {
    Some(match (detail, count) {
        (detail, 1) => return detail.map(str::to_owned),
        (Some(detail), _) => format!("{detail} ({count} times)"),
        (None, _) => format!("({count} times)"),
    })
}

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

    /// Names the workspace as it was, its state after the change, and what changes of its identity.
    pub(super) fn changes(&mut self, old: &Workspace, new: &Workspace) {
        self.about(old);
        self.entry.new_state = new.state.clone().map(String::from);
        let changed = identity(old)
            .into_iter()
            .zip(identity(new))
            .filter(|(old, new)| old != new);
        let changes: Vec<_> = changed
            .map(|((name, old), (_, new))| {
                let [old, new] = [old, new].map(|value| value.unwrap_or("null"));
                format!("{name} changed from {old} to {new}")
            })
            .collect();
        if !changes.is_empty() {
            self.entry.detail = Some(changes.join("; "));
        }
    }

    pub(super) fn set_previous_state(&mut self, state: Option<String>) {
        self.entry.previous_state = state;
    }

    pub(super) fn set_new_state(&mut self, state: Option<String>) {
        self.entry.new_state = state;
    }

    pub(super) fn set_simulated(&mut self, simulated: bool) {
        self.entry.simulated = simulated;
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
                requester: validation::truncate_requester(requester),
                action,
                workspace_id: None,
                username: None,
                computer_name: None,
                result: AuditResult::Completed,
                previous_state: None,
                new_state: None,
                completed_time: None,
                detail: None,
                simulated: false,
                batch_id: self.batch,
                api_key_name: by.key.as_ref().map(|(_, name)| name.clone()),
                api_key_id: by.key_id(),
            },
        }
    }

    /// Writes the row; returns its number.
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

    /// Writes the row of a call that changed nothing, or counts it in the row of an equal call of the same key and minute. Once a
    /// key has many different calls in a minute about missing workspaces, further ones are only counted, by action and outcome.
    /// Calls about existing workspaces keep the workspace until the key has very many about all of them.
    pub(super) fn write_repeatable_row(&mut self, row: Row, result: AuditResult) -> Result<()> {
        let mut entry = AuditEntry {
            result,
            ..row.entry
        };
        let mut calls = Counted::calls(self.tables, &entry, self.now)?;
        if calls.count == 0 {
            let existing = match &entry.workspace_id {
                Some(id) => self.tables.contains(Table::Workspaces, id.as_bytes())?,
                None => false,
            };
            let about = entry.workspace_id.as_deref().filter(|_| existing);
            let of = (entry.api_key_name.as_deref(), about);
            let mut rows = Counted::rows(self.tables, of, self.now)?;
            let mut all = Counted::rows(self.tables, (of.0, Some(OF_ALL)), self.now)?;
            let is_named = existing && all.count < REPEATABLE_ROWS_ALL_MAX;
            if rows.count < REPEATABLE_ROWS_MAX && (is_named || !existing) {
                rows.count += 1;
                rows.put(self.tables, self.now)?;
                if existing {
                    all.count += 1;
                    all.put(self.tables, self.now)?;
                }
            } else {
                entry.requester = entry
                    .api_key_name
                    .clone()
                    .unwrap_or_else(|| HOST_NAME.to_owned());
                // With it each batch would have a row of its own.
                entry.batch_id = None;
                if let (AuditResult::Refused, Some(detail)) = (result, &mut entry.detail) {
                    detail.truncate(detail.find(CODE_END).unwrap_or(detail.len()));
                }
                if !is_named {
                    entry = AuditEntry {
                        workspace_id: None,
                        username: None,
                        computer_name: None,
                        previous_state: None,
                        new_state: None,
                        ..entry
                    };
                }
                calls = Counted::calls(self.tables, &entry, self.now)?;
            }
        }
        self.count(calls, entry)
    }

    /// Writes the row of data that was handed out, or counts it in an equal row of the same key and minute. Once a key has many
    /// different ones in a minute, further ones are counted in a row without `detail`.
    fn write_access_row(&mut self, mut row: Row, detail: Option<String>) -> Result<()> {
        row.entry.detail = detail;
        let mut calls = Counted::calls(self.tables, &row.entry, self.now)?;
        if calls.count == 0 && row.entry.detail.is_some() {
            let of = (row.entry.api_key_name.as_deref(), Some(OF_ACCESS));
            let mut rows = Counted::rows(self.tables, of, self.now)?;
            if rows.count < REPEATABLE_ROWS_MAX {
                rows.count += 1;
                rows.put(self.tables, self.now)?;
            } else {
                row.entry.detail = None;
                calls = Counted::calls(self.tables, &row.entry, self.now)?;
            }
        }
        self.count(calls, row.entry)
    }

    /// Counts a call in the row of `calls`, or writes that row.
    fn count(&mut self, mut calls: Counted, entry: AuditEntry) -> Result<()> {
        let known = match calls.count {
            0 => None,
            _ => audit::get(self.tables, calls.row)?,
        };
        if let Some(mut known) = known {
            calls.count = calls.count.saturating_add(1);
            known.detail = times(entry.detail.as_deref(), calls.count);
            audit::put(self.tables, &known)?;
        } else {
            let result = entry.result;
            (calls.row, calls.count) = (self.write_row(Row { entry }, result)?, 1);
        }
        calls.put(self.tables, self.now)
    }

    /// Writes the row of a refusal and returns the refusal. If the row has a detail already, that is the key that the refusal is
    /// about.
    pub(super) fn refused<T>(&mut self, mut row: Row, error: EngineError) -> Result<Outcome<T>> {
        let detail = refused_with(error.kind().code(), row.entry.detail.as_deref());
        row.set_detail(&detail);
        self.write_repeatable_row(row, AuditResult::Refused)?;
        Ok(Err(error))
    }
}

/// Writes the row of a call that was refused before its parameters could be read.
#[derive(Debug)]
pub(crate) struct AuditRefusal {
    pub(crate) action: AuditAction,
    /// As [`refused_with`] writes it.
    pub(crate) detail: Cow<'static, str>,
    pub(crate) workspace_id: Option<String>,
    pub(crate) requester: Option<String>,
    pub(crate) by: Caller,
}

impl Mutation for AuditRefusal {
    type Output = ();

    fn apply(self, context: &mut Context<'_, '_>) -> Result<Outcome> {
        let mut row = context.row(self.action, &self.by, self.requester.as_deref());
        row.set_id(self.workspace_id);
        row.set_detail(&self.detail);
        context.write_repeatable_row(row, AuditResult::Refused)?;
        Ok(Ok(()))
    }
}

/// Writes the row of data that was handed out, or that the host refused. No key and no hold controls a copy that has left.
#[derive(Debug)]
pub(crate) struct AuditAccess {
    pub(crate) action: AuditAction,
    /// Which data; left out if it is longer than a row keeps.
    pub(crate) detail: Option<String>,
    /// The code of the refusal.
    pub(crate) refused: Option<Cow<'static, str>>,
    pub(crate) by: Caller,
}

impl Mutation for AuditAccess {
    type Output = ();

    fn apply(self, context: &mut Context<'_, '_>) -> Result<Outcome> {
        let mut row = context.row(self.action, &self.by, None);
        if let Some(code) = self.refused {
            row.set_detail(&code);
            context.write_repeatable_row(row, AuditResult::Refused)?;
            return Ok(Ok(()));
        }
        let detail = self.detail.filter(|text| text.chars().count() <= TEXT_MAX);
        // Only a node has settings of a fleet. Two equal changes are two: another one may have come between them.
        if cfg!(feature = "cluster") && self.action == AuditAction::ConfigureFleet {
            row.entry.detail = detail;
            context.write_row(row, AuditResult::Completed)?;
            return Ok(Ok(()));
        }
        context.write_access_row(row, detail)?;
        Ok(Ok(()))
    }
}
