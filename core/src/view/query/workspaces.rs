//! The workspaces as rows: filtered, sorted, a page of them.

use crate::domain::order::{Order, Picked};
use crate::error::Result;
use crate::model::row::row;
use crate::model::{Action, Cell, Paging, Question, Rows};
use crate::store::table::Step;
use crate::store::workspaces::EntryRef;
use crate::timestamp::Timestamp;
use crate::view::Reader;
use crate::view::workspaces::{self, Listing, Matcher, WorkspaceFilter};

row! {
    /// A workspace with its hold, its running action and its newest telemetry.
    pub struct WorkspaceRow {
        /// Id of the workspace.
        work_sp_id: String = "workSpId",
        /// Name of its computer.
        computer_name: Option<String> = "computerName",
        /// User that it belongs to.
        username: Option<String> = "username",
        /// Its state.
        state: Option<String> = "state",
        /// When it runs and is billed.
        running_mode: Option<String> = "runningMode",
        /// Its hardware.
        compute_type_name: Option<String> = "computeTypeName",
        /// Cloud region.
        region: Option<String> = "region",
        /// Whether it is on litigation hold.
        on_hold: bool = "onHold",
        /// The action that runs, for example `RebootWorkSpace`; null where none does.
        transition: Option<String> = "transition",
        /// Time of the newest statistics.
        last_seen: Option<Timestamp> = "lastSeen",
        /// Processor load in the newest statistics, in percent.
        cpu: Option<f64> = "cpu",
        /// Memory in use in the newest statistics, in percent.
        memory: Option<f64> = "memory",
        /// Used part of the root volume in the newest statistics, in percent.
        root_volume: Option<f64> = "rootVolume",
        /// Used part of the user volume in the newest statistics, in percent.
        user_volume: Option<f64> = "userVolume",
        /// Time since the desktop started in the newest statistics, in seconds.
        uptime_seconds: Option<i64> = "uptimeSeconds",
        /// Mean processor load, in percent.
        cpu_avg: Option<f64> = "cpuAvg",
        /// 95th percentile of the processor load, in percent.
        cpu_p95: Option<f64> = "cpuP95",
        /// 95th percentile of the memory in use, in percent.
        memory_p95: Option<f64> = "memoryP95",
        /// The share of its active time in which it was not overloaded, in percent.
        health_score: Option<f64> = "healthScore",
    }
}

/// Which workspaces, in which order.
///
/// ```
/// use deskfleet::{Engine, Paging, WorkspaceRowsQuery};
///
/// let engine = Engine::in_memory()?;
/// let paging = Paging { sort: Some("-state,username".into()), ..Paging::default() };
/// let rows = engine.query_workspaces(&WorkspaceRowsQuery { paging, ..WorkspaceRowsQuery::default() })?;
/// assert!(rows.rows.is_empty());
/// # Ok::<(), deskfleet::EngineError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkspaceRowsQuery {
    /// The workspaces that are wanted. Default all.
    pub filter: WorkspaceFilter,
    /// The order, by default that of the ids, and the page.
    pub paging: Paging,
}

/// A page of workspaces.
pub(crate) fn workspaces(
    reader: &Reader,
    query: &WorkspaceRowsQuery,
) -> Result<Rows<WorkspaceRow>> {
    let sort = query.paging.sort.as_deref().unwrap_or("workSpId");
    let order = Order::parse(sort, WorkspaceRow::COLUMNS)?;
    let mut picked = Picked::new(Question::Workspaces, order, &query.paging)?;
    let listing = Listing::Filtered(Box::new(Matcher::new(&query.filter)));
    workspaces::page(reader, &listing, usize::MAX, None, |entry| {
        let candidate = Candidate { entry };
        picked.offer(
            entry.id(),
            |column| candidate.cell(column),
            || candidate.row(),
        );
        Step::Continue(())
    })?;
    let (rows, next_token) = picked.finish();
    Ok(Rows {
        next_token,
        ..Rows::whole(rows, reader.now)
    })
}

/// A workspace that may become a row.
#[derive(Clone, Copy)]
struct Candidate<'a, 'e> {
    entry: &'a EntryRef<'e>,
}

impl<'a> Candidate<'a, '_> {
    /// The value of a column, without making the row.
    fn cell(self, column: usize) -> Cell<'a> {
        let [
            id,
            computer,
            _,
            region,
            _,
            mode,
            compute_type,
            _,
            user,
            state,
        ] = self.entry.values;
        let action = self.action();
        let texts = [id, computer, user, state, mode, compute_type, region];
        let text = |text: Option<&'a str>| text.map_or(Cell::Null, Cell::Text);
        match (texts.get(column), column) {
            (Some(value), _) => text(*value),
            (None, 7) => Cell::Bool(self.entry.held),
            (None, 8) => text(action.map(Action::as_str)),
            // The telemetry.
            (None, _) => Cell::Null,
        }
    }

    fn row(self) -> WorkspaceRow {
        let [
            id,
            computer,
            _,
            region,
            _,
            mode,
            compute_type,
            _,
            user,
            state,
        ] = self.entry.values;
        let owned = |text: Option<&str>| text.map(str::to_owned);
        WorkspaceRow {
            work_sp_id: id.unwrap_or_default().to_owned(),
            computer_name: owned(computer),
            username: owned(user),
            state: owned(state),
            running_mode: owned(mode),
            compute_type_name: owned(compute_type),
            region: owned(region),
            on_hold: self.entry.held,
            transition: owned(self.action().map(Action::as_str)),
            last_seen: None,
            cpu: None,
            memory: None,
            root_volume: None,
            user_volume: None,
            uptime_seconds: None,
            cpu_avg: None,
            cpu_p95: None,
            memory_p95: None,
            health_score: None,
        }
    }

    fn action(self) -> Option<Action> {
        self.entry.transition.map(|running| running.action)
    }
}

#[cfg(test)]
mod tests {
    use crate::model::{Row as _, State};
    use crate::store::workspaces::Transition;

    use super::*;

    #[test]
    fn candidate_has_the_cells_of_its_row() {
        let mut values = [None; 10];
        for (value, text) in values.iter_mut().zip("abcdefghij".split("").skip(1)) {
            *value = Some(text);
        }
        let running = Transition {
            id: 1,
            action: Action::Reboot,
            requested_at: Timestamp::UNIX_EPOCH,
            due_at: None,
            outcome: State::Available,
            compute_type: None,
        };
        for transition in [None, Some(running)] {
            let entry = EntryRef {
                values,
                state_since: Timestamp::UNIX_EPOCH,
                held: transition.is_some(),
                plain: true,
                transition,
            };
            let candidate = Candidate { entry: &entry };
            let row = candidate.row();
            for column in 0..=WorkspaceRow::COLUMNS.len() {
                assert_eq!(candidate.cell(column), row.cell(column), "{column}");
            }
            assert_eq!(row.region.as_deref(), Some("d"));
        }
    }
}
