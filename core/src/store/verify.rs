//! Checking a store: every value can be read, and the tables agree.

use crate::error::Result;

use super::table::{ALL_KEYS, Read, Step, Table};
use super::telemetry::{history, queue};
use super::{audit, keys, pending, workspaces};

/// What a check found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// What is broken, a sentence each; empty when the store is whole.
    pub problems: Vec<String>,
    /// Workspaces, those no longer listed included.
    pub workspaces: u64,
    /// Telemetry records that wait.
    pub queued_records: u64,
    /// Telemetry records filed.
    pub history_records: u64,
    /// Audit rows.
    pub audit_rows: u64,
    /// API keys, revoked ones included.
    pub keys: u64,
}

/// Reads every table of `read`.
pub(crate) fn verify(read: &impl Read) -> Result<CheckReport> {
    let mut report = CheckReport::default();
    let mut problems = Vec::new();
    report.workspaces = workspaces::verify(read, |problem| problems.push(problem))?;
    report.history_records = history::verify(read, |problem| problems.push(problem))?;
    match queue::count(read) {
        Ok(records) => report.queued_records = records,
        Err(error) => problems.push(format!("queue: {error}")),
    }
    let audited = audit::scan_after(read, None, |_| {
        report.audit_rows += 1;
        Ok(Step::Continue(()))
    });
    if let Err(error) = audited {
        problems.push(format!("audit row behind {}: {error}", report.audit_rows));
    }
    match keys::all(read) {
        Ok(keys) => report.keys = keys.len() as u64,
        Err(error) => problems.push(format!("keys: {error}")),
    }
    let outbox = pending::for_each(read, |row| {
        let running = workspaces::get(read, &row.workspace_id)?.and_then(|entry| entry.transition);
        if running.is_none_or(|running| running.id != row.id || running.due_at != row.due_at) {
            problems.push(format!(
                "action {}: outbox and workspace {} disagree",
                row.id, row.workspace_id
            ));
        }
        Ok(Step::Continue(()))
    });
    if let Err(error) = outbox {
        problems.push(format!("outbox: {error}"));
    }
    let mut without_workspace = Vec::new();
    read.scan(Table::Holds, ALL_KEYS, |id, _| {
        if !read.contains(Table::Workspaces, id)? {
            without_workspace.push(format!(
                "hold on {}: no such workspace",
                String::from_utf8_lossy(id)
            ));
        }
        Ok(Step::Continue(()))
    })?;
    problems.extend(without_workspace);
    report.problems = problems;
    Ok(report)
}
