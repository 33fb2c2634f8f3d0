//! The outbox and the audit, as they stand now.

use crate::error::Result;
use crate::model::{AuditEntry, AuditResult, PendingAction};
use crate::store::table::Step;
use crate::store::{audit, pending, workspaces};
use crate::timestamp::Timestamp;

use super::{Reader, workspaces as views};

/// The actions that run, in the order of their numbers.
pub(crate) fn running(reader: &Reader) -> Result<Vec<PendingAction>> {
    let mut actions = Vec::new();
    pending::for_each(&reader.snapshot, |row| {
        let action = workspaces::with(&reader.snapshot, &row.workspace_id, |entry| {
            let running = entry.as_of(reader.now).transition;
            Ok(running.map(|running| views::pending(&row.workspace_id, running)))
        })?;
        actions.extend(action.flatten());
        Ok(Step::Continue(()))
    })?;
    Ok(actions)
}

/// The newest `count` rows of the audit, newest first. The row of an action that was due by now is shown completed.
pub(crate) fn audit(reader: &Reader, count: usize) -> Result<Vec<AuditEntry>> {
    let mut rows = audit::newest(&reader.snapshot, count)?;
    for row in &mut rows {
        if row.result != AuditResult::Accepted {
            continue;
        }
        if let Some((due_at, state)) = ended(reader, row.id)? {
            row.result = AuditResult::Completed;
            row.completed_time = Some(due_at);
            row.new_state = Some(state.to_owned());
        }
    }
    Ok(rows)
}

/// When and in which state the clock ended an action whose end is not written yet.
fn ended(reader: &Reader, id: u64) -> Result<Option<(Timestamp, &'static str)>> {
    let Some(row) = pending::get(&reader.snapshot, id)? else {
        return Ok(None);
    };
    let ended = workspaces::with(&reader.snapshot, &row.workspace_id, |entry| {
        let running = entry.transition.filter(|running| running.id == id);
        let outcome = running.map(|running| running.outcome.as_str());
        let entry = entry.as_of(reader.now);
        let ended = entry.transition.is_none();
        Ok(outcome
            .filter(|_| ended)
            .map(|state| (entry.state_since, state)))
    })?;
    Ok(ended.flatten())
}
