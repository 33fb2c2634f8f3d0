//! Finds the work of upkeep in a snapshot, so that it does not block the writer; the mutation checks again.

use crate::domain::transition::{Standing, standing};
use crate::error::Result;
use crate::limits::MAINTENANCE_IDS_MAX;
use crate::model::AuditResult;
use crate::store::fleet::workspaces::Transition;
use crate::store::fleet::{action_batches, pending, workspaces};
use crate::store::table::Step;

use super::Reader;

/// Workspaces with an action that is due, or that was accepted by a clock ahead of now; at most one step's worth.
pub(crate) fn due(reader: &Reader) -> Result<Vec<String>> {
    let mut ids = Vec::new();
    pending::scan_after(&reader.snapshot, None, &mut |row| {
        let is_due = row.due_at.is_some_and(|due_at| due_at <= reader.now);
        let is_moved = || {
            workspaces::with_entry(&reader.snapshot, &row.workspace_id, |entry| {
                let running = |running: Transition<&str>| {
                    standing(running.requested_at, running.due_at, reader.now)
                };
                Ok(entry.transition.map(running) != Some(Standing::Running))
            })
        };
        if is_due || is_moved()? == Some(true) {
            ids.push(row.workspace_id);
        }
        Ok(enough(&ids))
    })?;
    Ok(ids)
}

/// The batches of actions that can go on: of which an action has ended, or that may begin another one.
pub(crate) fn batches_to_advance(reader: &Reader) -> Result<Vec<u64>> {
    let mut ids = Vec::new();
    action_batches::each(&reader.snapshot, true, &mut |batch| {
        let mut can_go_on = batch.can_begin();
        for item in &batch.items {
            if let (Some(AuditResult::Accepted), Some(id)) = (item.result, item.action_id) {
                can_go_on = can_go_on || pending::get(&reader.snapshot, id)?.is_none();
            }
        }
        if can_go_on {
            ids.push(batch.id);
        }
        Ok(())
    })?;
    Ok(ids)
}

/// Workspaces that have been TERMINATED for long enough, at most one step's worth.
pub(crate) fn terminated(reader: &Reader) -> Result<Vec<String>> {
    let mut ids = Vec::new();
    workspaces::scan_after(&reader.snapshot, None, &mut |entry| {
        if reader.listed(entry).is_none() {
            ids.push(entry.id().to_owned());
        }
        Ok(enough(&ids))
    })?;
    Ok(ids)
}

fn enough(ids: &[String]) -> Step {
    if ids.len() < MAINTENANCE_IDS_MAX {
        Step::Continue(())
    } else {
        Step::Break(())
    }
}
