//! The audit, newest first, as it stands now.

use crate::domain::paging::{self, List};
use crate::error::Result;
use crate::limits::{AUDIT_ROWS_EXAMINED_MAX, PAGE_ITEMS_DEFAULT};
use crate::model::identity::folded;
use crate::model::{AuditAction, AuditEntry, AuditResult};
use crate::store::fleet::audit::{self, StoredRow};
use crate::store::fleet::{pending, workspaces};
use crate::store::table::Step;
use crate::timestamp::Timestamp;

use super::Reader;
use super::pages::{Listed, PageEnd};
use crate::domain::term::is_folded;

/// Which page of which rows of the audit: those that pass every filter.
///
/// ```
/// use deskfleet::{ActionRequest, AuditQuery, AuditResult, Engine};
///
/// let engine = Engine::in_memory()?;
/// assert!(engine.act(ActionRequest::reboot("ws-1")).is_err());
/// let refused = AuditQuery { result: Some(AuditResult::Refused), ..AuditQuery::default() };
/// let page = engine.audit(&refused)?;
/// assert_eq!(page.rows[0].detail.as_deref(), Some("WorkSpaceNotFound"));
/// # Ok::<(), deskfleet::EngineError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditQuery {
    /// Calls at this time or later. Default no bound.
    pub from: Option<Timestamp>,
    /// Calls before this time. Default no bound.
    pub to: Option<Timestamp>,
    /// Calls about this workspace, compared without case. Default all.
    pub workspace_id: Option<String>,
    /// Calls of this requester, compared without case. Default all.
    pub requester: Option<String>,
    /// Calls for this. Default all.
    pub action: Option<AuditAction>,
    /// Calls with this outcome, as it is now. Default all.
    pub result: Option<AuditResult>,
    /// The actions of this batch, and its stop. Default all.
    pub batch_id: Option<u64>,
    /// Most rows on the page, at least 1. Default 50.
    pub limit: u32,
    /// The token of the page before. Default none: the first page.
    pub next_token: Option<String>,
}

impl Default for AuditQuery {
    fn default() -> Self {
        Self {
            from: None,
            to: None,
            workspace_id: None,
            requester: None,
            action: None,
            result: None,
            batch_id: None,
            limit: PAGE_ITEMS_DEFAULT.unsigned_abs(),
            next_token: None,
        }
    }
}

/// One page of the audit, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuditPage {
    /// The rows: as many as were asked for, or fewer, even none, where
    /// [`AUDIT_ROWS_EXAMINED_MAX`](crate::limits::AUDIT_ROWS_EXAMINED_MAX) rows were examined.
    pub rows: Vec<AuditEntry>,
    /// The token of the next page. `None` only where no older row passes the filters.
    pub next_token: Option<String>,
}

/// A list of audit rows. Between two calls it holds no snapshot, only its position.
#[derive(Debug)]
pub(crate) struct AuditRows {
    /// Its names are folded.
    query: AuditQuery,
    /// The row that was examined last.
    before: Option<u64>,
    left: usize,
    examined_left: usize,
}

impl AuditRows {
    /// The newest `count` rows.
    pub(crate) fn newest(count: usize) -> Self {
        Self {
            query: AuditQuery::default(),
            before: None,
            left: count,
            examined_left: usize::MAX,
        }
    }

    /// One page.
    pub(crate) fn page(mut query: AuditQuery) -> Result<Self> {
        let before = paging::position(List::Audit, query.next_token.as_deref())?;
        for name in [&mut query.workspace_id, &mut query.requester] {
            *name = name.take().map(|name| folded(&name).into_owned());
        }
        Ok(Self {
            before,
            left: usize::try_from(query.limit.max(1)).unwrap_or(usize::MAX),
            examined_left: AUDIT_ROWS_EXAMINED_MAX,
            query,
        })
    }

    /// The row as it stands now, if it passes the filters.
    fn accepted(&self, reader: &Reader, row: StoredRow<'_>) -> Result<Option<AuditEntry>> {
        let query = &self.query;
        let is = |wanted: &Option<String>, value: Option<&str>| {
            let same = |wanted| value.is_some_and(|value| is_folded(value, wanted));
            wanted.as_deref().is_none_or(same)
        };
        let passes = query.from.is_none_or(|from| row.time >= from)
            && query.to.is_none_or(|to| row.time < to)
            && query.action.is_none_or(|action| row.action == action)
            && is(&query.requester, Some(row.requester))
            && is(&query.workspace_id, row.workspace_id);
        // The action of a row may have ended since.
        let running = row.result == AuditResult::Accepted;
        let wanted = |result| query.result.is_none_or(|wanted| wanted == result);
        if !passes || !running && !wanted(row.result) {
            return Ok(None);
        }
        let entry = current(reader, row)?;
        let is_of_batch = query.batch_id.is_none_or(|id| entry.batch_id == Some(id));
        Ok((is_of_batch && wanted(entry.result)).then_some(entry))
    }
}

impl Listed for AuditRows {
    type Item = AuditEntry;

    fn step(
        &mut self,
        reader: &Reader,
        show: &mut dyn FnMut(AuditEntry) -> Step,
    ) -> Result<PageEnd> {
        let mut end = PageEnd::Over;
        audit::scan_before(&reader.snapshot, self.before, &mut |row| {
            let id = row.id;
            let from_here = || PageEnd::More(paging::token(List::Audit, &id.saturating_add(1)));
            if self.examined_left == 0 {
                end = from_here();
                return Ok(Step::Break(()));
            }
            self.examined_left -= 1;
            let mut step = Step::Continue(());
            if let Some(entry) = self.accepted(reader, row)? {
                if self.left == 0 {
                    end = from_here();
                    return Ok(Step::Break(()));
                }
                self.left -= 1;
                step = show(entry);
                if step.is_break() {
                    end = PageEnd::Stopped;
                }
            }
            self.before = Some(id);
            Ok(step)
        })?;
        Ok(end)
    }
}

/// Shows the audit rows of the workspace `id`, newest first, from the row before the number `before` back to the time `from`. If
/// it stopped after [`AUDIT_ROWS_EXAMINED_MAX`] rows, it returns the number and the time of that row.
pub(super) fn of_workspace(
    reader: &Reader,
    id: &str,
    before: u64,
    from: Timestamp,
    show: &mut dyn FnMut(AuditEntry),
) -> Result<Option<(u64, Timestamp)>> {
    // The clock may have been set back meanwhile.
    let end = from.plus_seconds(-24 * 60 * 60);
    let (mut examined, mut stopped) = (0, None);
    audit::scan_before(&reader.snapshot, Some(before), &mut |row| {
        if row.time < end {
            return Ok(Step::Break(()));
        }
        let place = (row.id, row.time);
        if row.workspace_id == Some(id) {
            show(current(reader, row)?);
        }
        examined += 1;
        if examined == AUDIT_ROWS_EXAMINED_MAX {
            stopped = Some(place);
            return Ok(Step::Break(()));
        }
        Ok(Step::Continue(()))
    })?;
    Ok(stopped)
}

/// The number after that of the newest row.
pub(super) fn next_number(reader: &Reader) -> Result<u64> {
    let mut end = 0;
    audit::scan_before(&reader.snapshot, None, &mut |row| {
        end = row.id.saturating_add(1);
        Ok(Step::Break(()))
    })?;
    Ok(end)
}

/// The row as it stands now: the clock may have ended its action.
fn current(reader: &Reader, row: StoredRow<'_>) -> Result<AuditEntry> {
    let mut entry = row.entry()?;
    if entry.result == AuditResult::Accepted
        && let Some((due_at, state)) = ended(reader, entry.id)?
    {
        entry.result = AuditResult::Completed;
        entry.completed_time = Some(due_at);
        entry.new_state = Some(state.to_owned());
    }
    Ok(entry)
}

/// When and in which state the clock ended an action whose end is not written yet.
fn ended(reader: &Reader, id: u64) -> Result<Option<(Timestamp, &'static str)>> {
    let Some(row) = pending::get(&reader.snapshot, id)? else {
        return Ok(None);
    };
    let ended = workspaces::with_entry(&reader.snapshot, &row.workspace_id, |entry| {
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
