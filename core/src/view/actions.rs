//! The outbox, as it stands now.

use crate::error::Result;
use crate::model::PendingAction;
use crate::store::table::Step;
use crate::store::{pending, workspaces};

use super::{Reader, workspaces as views};

/// Shows the actions that run to `show`, in the order of their numbers, those after the number `after`, until `show` breaks.
pub(crate) fn running(
    reader: &Reader,
    after: Option<u64>,
    mut show: impl FnMut(PendingAction) -> Step,
) -> Result<()> {
    pending::scan_after(&reader.snapshot, after, &mut |row| {
        let action = workspaces::with(&reader.snapshot, &row.workspace_id, |entry| {
            let running = reader.current(entry).transition;
            Ok(running.map(|running| views::pending(&row.workspace_id, running)))
        })?;
        Ok(action.flatten().map_or(Step::Continue(()), &mut show))
    })
}
