//! The outbox and the audit, as they stand now.

use crate::error::Result;
use crate::model::{AuditEntry, AuditResult, PendingAction};
use crate::store::table::Step;
use crate::store::{audit, pending, workspaces};
use crate::timestamp::Timestamp;

use super::{Reader, workspaces as views};

/// Shows the actions that run to `show`, in the order of their numbers, those after the number `after`, until `show` breaks.
pub(crate) fn running(
    reader: &Reader,
    after: Option<u64>,
    mut show: impl FnMut(PendingAction) -> Step,
) -> Result<()> {
    pending::scan_after(&reader.snapshot, after, |row| {
        let action = workspaces::with(&reader.snapshot, &row.workspace_id, |entry| {
            let running = reader.current(entry).transition;
            Ok(running.map(|running| views::pending(&row.workspace_id, running)))
        })?;
        Ok(action.flatten().map_or(Step::Continue(()), &mut show))
    })
}

/// Shows the rows of the audit to `show`, newest first, those before the number `before`, until `show` breaks. The row of an
/// action that was due by now is shown completed.
pub(crate) fn audit(
    reader: &Reader,
    before: Option<u64>,
    mut show: impl FnMut(&AuditEntry) -> Step,
) -> Result<()> {
    audit::scan_before(&reader.snapshot, before, |mut row| {
        if row.result == AuditResult::Accepted
            && let Some((due_at, state)) = ended(reader, row.id)?
        {
            row.result = AuditResult::Completed;
            row.completed_time = Some(due_at);
            row.new_state = Some(state.to_owned());
        }
        Ok(show(&row))
    })
}

/// When and in which state the clock ended an action whose end is not written yet.
fn ended(reader: &Reader, id: u64) -> Result<Option<(Timestamp, &'static str)>> {
    let Some(row) = pending::get(&reader.snapshot, id)? else {
        return Ok(None);
    };
    let ended = workspaces::with(&reader.snapshot, &row.workspace_id, |entry| {
        let running = entry.transition.filter(|running| running.id == id);
        let outcome = running.map(|running| running.outcome.as_str());
        let entry = reader.current(entry);
        let ended = entry.transition.is_none();
        Ok(outcome
            .filter(|_| ended)
            .map(|state| (entry.state_since, state)))
    })?;
    Ok(ended.flatten())
}
