//! The outbox, as it stands now.

use std::cmp::Reverse;

use crate::domain::paging::{self, List};
use crate::error::{EngineError, ErrorKind, Result};
use crate::limits::{PAGE_ITEMS_DEFAULT, STALLED_SECONDS, UNATTENDED_SECONDS};
use crate::model::{ActionBatch, ActionState, PendingAction};
use crate::sorting::sorted_by_key;
use crate::store::fleet::pending::Pending;
use crate::store::fleet::workspaces::Transition;
use crate::store::fleet::{action_batches as stored, pending, workspaces};
use crate::store::table::Step;
use crate::timestamp::Timestamp;

use super::Reader;
use super::pages::{Listed, PageEnd};

/// Which page of which actions that have not ended: those that pass every filter.
///
/// ```
/// use deskfleet::{ActionQuery, ActionState, Engine};
///
/// let engine = Engine::in_memory()?;
/// let waiting = ActionQuery { state: ActionState::Waiting, ..ActionQuery::default() };
/// assert!(engine.actions(&waiting)?.actions.is_empty());
/// # Ok::<(), deskfleet::EngineError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionQuery {
    /// How far the actions are. Default [`ActionState::Pending`], all.
    pub state: ActionState,
    /// The action on this workspace, compared exactly. Default all.
    pub workspace_id: Option<String>,
    /// Most actions on the page, at least 1. Default 50.
    pub limit: u32,
    /// The token of the page before. Default none: the first page.
    pub next_token: Option<String>,
}

impl Default for ActionQuery {
    fn default() -> Self {
        Self {
            state: ActionState::Pending,
            workspace_id: None,
            limit: PAGE_ITEMS_DEFAULT.unsigned_abs(),
            next_token: None,
        }
    }
}

/// One page of the outbox.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ActionPage {
    /// The actions, in the order they were accepted.
    pub actions: Vec<PendingAction>,
    /// The token of the next page; `None` on the last.
    pub next_token: Option<String>,
}

/// A list of actions in progress. Between two calls it holds no snapshot, only its position.
#[derive(Debug)]
pub(crate) struct Actions {
    state: ActionState,
    workspace_id: Option<String>,
    /// The action that was shown last.
    after: Option<u64>,
    left: usize,
}

impl Actions {
    /// All that have not ended.
    pub(crate) fn all() -> Self {
        Self {
            state: ActionState::Pending,
            workspace_id: None,
            after: None,
            left: usize::MAX,
        }
    }

    /// One page.
    pub(crate) fn page(query: &ActionQuery) -> Result<Self> {
        Ok(Self {
            state: query.state,
            workspace_id: query.workspace_id.clone(),
            after: paging::position(List::Actions, query.next_token.as_deref())?,
            left: usize::try_from(query.limit.max(1)).unwrap_or(usize::MAX),
        })
    }

    /// The action of a row, if it runs and passes the filters.
    fn wanted(&self, reader: &Reader, row: Pending) -> Result<Option<PendingAction>> {
        let wanted = match self.state {
            ActionState::Pending => true,
            ActionState::Waiting => row.dispatched.is_none(),
            ActionState::Dispatched => row.dispatched.is_some(),
        };
        if !wanted {
            return Ok(None);
        }
        let running = running(reader, &row)?;
        Ok(running.map(|running| row.into_action(running)))
    }
}

impl Listed for Actions {
    type Item = PendingAction;

    fn step(
        &mut self,
        reader: &Reader,
        show: &mut dyn FnMut(PendingAction) -> Step,
    ) -> Result<PageEnd> {
        let mut end = PageEnd::Over;
        let (after, workspace_id) = (self.after, self.workspace_id.clone());
        let mut visit = |row: Pending| {
            let Some(action) = self.wanted(reader, row)? else {
                return Ok(Step::Continue(()));
            };
            if self.left == 0 {
                let last = self.after.unwrap_or_default();
                end = PageEnd::More(paging::token(List::Actions, &last));
                return Ok(Step::Break(()));
            }
            self.left -= 1;
            self.after = Some(action.id);
            let step = show(action);
            if step.is_break() {
                end = PageEnd::Stopped;
            }
            Ok(step)
        };
        match workspace_id {
            None => pending::scan_after(&reader.snapshot, after, &mut visit)?,
            Some(id) => {
                let number = workspaces::with_entry(&reader.snapshot, &id, |entry| {
                    Ok(entry.transition.map(|running| running.id))
                })?;
                let next = number.flatten();
                if let Some(id) = next.filter(|id| after.is_none_or(|after| *id > after))
                    && let Some(row) = pending::get(&reader.snapshot, id)?
                {
                    let _: Step = visit(row)?;
                }
            }
        }
        Ok(end)
    }
}

/// The remaining members of the action of a row, if it runs.
fn running(reader: &Reader, row: &Pending) -> Result<Option<Transition>> {
    let running = workspaces::with_entry(&reader.snapshot, &row.workspace_id, |entry| {
        let running = reader.current(entry).transition;
        Ok(running.map(Transition::into_owned))
    })?;
    Ok(running.flatten())
}

/// Actions that only the host ends, without news for too long.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unattended {
    /// Those that no provider has begun within [`UNATTENDED_SECONDS`], by the time they were accepted.
    pub waiting: Option<ActionsSince>,
    /// Those whose last attempt began [`STALLED_SECONDS`] ago or earlier, by that time.
    pub stalled: Option<ActionsSince>,
}

/// One or more actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ActionsSince {
    /// Their number, at least 1.
    pub actions: u64,
    /// The earliest time of one of them.
    pub since: Timestamp,
}

/// Whether a provider has begun the action of a row, and since when there is no news of it; `None` for one that the clock ends, or whose news
/// are recent.
pub(super) fn without_news(reader: &Reader, row: &Pending) -> Result<Option<(bool, Timestamp)>> {
    if row.due_at.is_some() {
        return Ok(None);
    }
    let Some(running) = running(reader, row)? else {
        return Ok(None);
    };
    let (since, bound) = match &row.dispatched {
        None => (running.requested_at, UNATTENDED_SECONDS),
        Some(last) => (last.begun_at, STALLED_SECONDS),
    };
    let is_late = since.plus_seconds(bound) <= reader.now;
    Ok(is_late.then_some((row.dispatched.is_some(), since)))
}

/// Counts them, in the whole outbox.
pub(crate) fn unattended(reader: &Reader) -> Result<Unattended> {
    let mut found = Unattended::default();
    pending::scan_after(&reader.snapshot, None, &mut |row| {
        if let Some((is_begun, since)) = without_news(reader, &row)? {
            let kind = if is_begun {
                &mut found.stalled
            } else {
                &mut found.waiting
            };
            let counted = kind.get_or_insert(ActionsSince { actions: 0, since });
            counted.actions += 1;
            counted.since = counted.since.min(since);
        }
        Ok(Step::Continue(()))
    })?;
    Ok(found)
}

/// The batch of actions of that number, as of its last step.
pub(crate) fn batch_of(reader: &Reader, id: u64) -> Result<ActionBatch> {
    let batch = stored::get(&reader.snapshot, id)?;
    batch.ok_or_else(|| EngineError::new(ErrorKind::NotFound, "No such batch."))
}

/// The batches of actions that run, and the newest that have ended; newest first, without their items.
pub(crate) fn batches(reader: &Reader) -> Result<Vec<ActionBatch>> {
    let mut all: Vec<ActionBatch> = Vec::new();
    for is_running in [true, false] {
        stored::each(&reader.snapshot, is_running, &mut |mut batch| {
            batch.items = Vec::new();
            all.push(batch);
            Ok(())
        })?;
    }
    let newest_first = sorted_by_key(all.len(), |row| all.get(row).map(|batch| Reverse(batch.id)));
    let row = |row: u32| all.get(row as usize).cloned();
    Ok(newest_first.into_iter().filter_map(row).collect())
}
