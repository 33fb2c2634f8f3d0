//! The workspaces as rows: filtered, sorted, a page of them.

use std::time::Duration;

use crate::domain::order::{Order, Picked};
use crate::domain::query::Query;
use crate::domain::range::Range;
use crate::error::{EngineError, Result};
use crate::model::row::row;
use crate::model::{Action, Cell, Column, Paging, Question, Rows};
use crate::store::fleet::workspaces::EntryRef;
use crate::store::rollup::{daily, latest};
use crate::store::table::Step;
use crate::timestamp::Timestamp;
use crate::view::Reader;
use crate::view::workspaces::{Listing, Matcher, WorkspaceFilter, Workspaces};

use super::coverage::{Coverage, common_warnings};
use super::desktops::{Desktops, Figures, Window, WindowFigure, figures_of, instances};
use super::{Ask, Fleet, FleetQuery};

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
        /// Seconds that the clock of the desktop was ahead of that of the server in the newest statistics, which stand at their receipt for
        /// that; null where it was not more than 5 minutes ahead.
        clock_ahead_seconds: Option<i64> = "clockAheadSeconds",
    }
}

/// Which workspaces, in which order.
///
/// ```
/// use deskfleet::{Engine, Paging, WorkspaceRowsQuery};
///
/// let engine = Engine::in_memory()?;
/// let paging = Paging { sort: Some("-state,username".into()), ..Paging::default() };
/// let rows = engine.query(&WorkspaceRowsQuery { paging, ..WorkspaceRowsQuery::default() })?;
/// assert!(rows.rows.is_empty());
/// # Ok::<(), deskfleet::EngineError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkspaceRowsQuery {
    /// The workspaces that are wanted. Default all.
    pub filter: WorkspaceFilter,
    /// The order, by default that of the ids, byte by byte, and the page. In the default order a page is read from where the one before ended;
    /// under a sort the whole fleet is.
    pub paging: Paging,
    /// The time before now that `cpuAvg`, `cpuP95`, `memoryP95` and `healthScore` are of, widened to whole days (UTC); without it they
    /// are null, and nothing is sorted by them.
    pub window: Option<Duration>,
}

impl FleetQuery for WorkspaceRowsQuery {
    type Answer = Rows<WorkspaceRow>;

    fn answer(&self, fleet: &Fleet<'_>) -> Result<Self::Answer> {
        // This comes before the lock: filing here notifies the observer, which may ask a question too.
        let reader = fleet.readers.rollups()?;
        let _one_at_a_time = self
            .paging
            .sort
            .is_some()
            .then(|| fleet.readers.lock_sorting());
        workspaces(&reader, self, fleet.texts_max)
    }
}

impl Ask for WorkspaceRowsQuery {
    const QUESTION: Question = Question::Workspaces;
    const COLUMNS: &'static [Column] = WorkspaceRow::COLUMNS;

    fn parse(query: Query<'_>, _: Timestamp) -> Result<Self> {
        Ok(Self {
            filter: query.filter()?,
            paging: query.paging_of_columns()?,
            window: query.window()?,
        })
    }
}

/// A page of workspaces; in the order of the ids it ends early after `texts_max` bytes of texts.
fn workspaces(
    reader: &Reader,
    query: &WorkspaceRowsQuery,
    texts_max: usize,
) -> Result<Rows<WorkspaceRow>> {
    let order = Order::wanted(query.paging.sort.as_deref(), WorkspaceRow::COLUMNS)?;
    let window = query.window.map(|window| reader.now - window);
    let sorted_by = |column| order.has(column);
    if window.is_none() && (CPU_AVG..=HEALTH_SCORE).any(sorted_by) {
        let message = "Send `window`, such as window=24h, to sort by a figure of a window.";
        return Err(EngineError::invalid("sort", message));
    }
    let covered = window
        .map(|from| {
            Coverage::days(
                reader,
                Range {
                    from,
                    to: reader.now,
                },
            )
        })
        .transpose()?;
    let days = covered.as_ref().map(Coverage::days_covered);
    let wanted = (CPU_AVG..)
        .zip(WindowFigure::ALL)
        .filter(|(column, _)| sorted_by(*column));
    let wanted: Vec<_> = wanted.map(|(_, figure)| figure).collect();
    let sorted = days.clone().filter(|_| !wanted.is_empty());
    let sorted = sorted.map(|days| Window { days, wanted });
    // Only a sort by figures needs those of the whole fleet.
    let desktops = if (LAST_SEEN..=CLOCK_AHEAD_SECONDS).any(sorted_by) {
        Some(Desktops::read(&reader.snapshot, sorted.as_ref())?)
    } else {
        None
    };
    let picked = Picked::new(Question::Workspaces, order, &query.paging)?;
    let picked = pick(reader, query, picked, desktops.as_ref(), texts_max)?;
    let (mut rows, next_token) = picked.finish();
    if desktops.is_none() {
        for row in &mut rows {
            row.find_figures(reader)?;
        }
    }
    if let Some(days) = days {
        let wanted = WindowFigure::ALL.to_vec();
        let window = Window { days, wanted };
        for row in &mut rows {
            row.add_window(reader, &window)?;
        }
    }
    Ok(Rows {
        next_token,
        warnings: match covered {
            Some(covered) => covered.into_warnings(),
            None => common_warnings(reader),
        },
        ..Rows::whole(rows, reader.now)
    })
}

/// Selects the rows of the page, with figures if those of all desktops are given.
fn pick(
    reader: &Reader,
    query: &WorkspaceRowsQuery,
    mut picked: Picked<WorkspaceRow>,
    desktops: Option<&Desktops>,
    texts_max: usize,
) -> Result<Picked<WorkspaceRow>> {
    let listing = Listing::Filtered(Box::new(Matcher::new(&query.filter)));
    let after = picked.begins_after();
    let mut texts = 0;
    Workspaces::all(listing, after).step(reader, &mut |entry| {
        let known = desktops.and_then(|desktops| desktops.find_workspace(entry));
        let candidate = Candidate {
            entry,
            figures: known.unwrap_or_default(),
        };
        picked.offer(
            entry.id(),
            |column| candidate.cell(column),
            || candidate.row(),
        );
        texts += entry
            .values
            .iter()
            .flatten()
            .map(|text| text.len())
            .sum::<usize>();
        if texts > texts_max {
            picked.end_page();
        }
        if picked.is_complete() {
            Step::Break(())
        } else {
            Step::Continue(())
        }
    })?;
    Ok(picked)
}

impl WorkspaceRow {
    /// Looks up the figures of the newest record.
    fn find_figures(&mut self, reader: &Reader) -> Result<()> {
        let (id, computer) = (&self.work_sp_id, self.computer_name.as_deref());
        if let Some(figures) = figures_of(&reader.snapshot, id, computer)? {
            self.set_figures(&figures);
        }
        Ok(())
    }

    #[inline(never)]
    fn set_figures(&mut self, figures: &Figures) {
        self.last_seen = figures.last_seen;
        self.cpu = figures.cpu;
        self.memory = figures.memory;
        self.root_volume = figures.root_volume;
        self.user_volume = figures.user_volume;
        self.uptime_seconds = figures.uptime_seconds;
        self.clock_ahead_seconds = figures.clock_ahead_seconds;
        self.cpu_avg = figures.window.cpu_avg;
        self.cpu_p95 = figures.window.cpu_p95;
        self.memory_p95 = figures.window.memory_p95;
        self.health_score = figures.window.health_score;
    }

    /// Reads the figures of a window, of the instance whose newest figures the row has.
    fn add_window(&mut self, reader: &Reader, window: &Window) -> Result<()> {
        let snapshot = &reader.snapshot;
        let id = self.work_sp_id.as_str();
        for name in instances(reader, id, self.computer_name.as_deref())? {
            let known = latest::with_row(snapshot, name, |row| {
                Ok((row.stats.map(|newest| newest.order.0), row.session))
            })?;
            let (seen, session) = known.unwrap_or_default();
            if seen != self.last_seen {
                continue;
            }
            let days = window.days.clone();
            let mut found = None;
            daily::with_days(snapshot, name, days, &mut |days| {
                found = Some(window.figures(days, session)?);
                Ok(())
            })?;
            if let Some(figures) = found {
                self.cpu_avg = figures.cpu_avg;
                self.cpu_p95 = figures.cpu_p95;
                self.memory_p95 = figures.memory_p95;
                self.health_score = figures.health_score;
                break;
            }
        }
        Ok(())
    }
}

/// A workspace that may become a row.
#[derive(Clone, Copy)]
struct Candidate<'a, 'e> {
    entry: &'a EntryRef<'e>,
    figures: Figures,
}

/// The first column of a figure; all that follow are figures.
const LAST_SEEN: usize = 9;

/// The columns of a window, in the order of [`WindowFigure::ALL`].
const CPU_AVG: usize = 15;
const CPU_P95: usize = 16;
const MEMORY_P95: usize = 17;
const HEALTH_SCORE: usize = 18;
const CLOCK_AHEAD_SECONDS: usize = 19;

impl<'a> Candidate<'a, '_> {
    /// The value of a column, without making the row.
    fn cell(self, column: usize) -> Cell<'a> {
        let texts = self.texts();
        let text = |text: Option<&'a str>| text.map_or(Cell::Null, Cell::Text);
        match (texts.get(column), column) {
            (Some(value), _) => text(*value),
            (None, 7) => Cell::Bool(self.entry.held),
            (None, 8) => text(self.action().map(Action::as_str)),
            (None, LAST_SEEN) => self.figures.last_seen.map_or(Cell::Null, Cell::Time),
            (None, 14) => self.figures.uptime_seconds.map_or(Cell::Null, Cell::Int),
            (None, CLOCK_AHEAD_SECONDS) => {
                let seconds = self.figures.clock_ahead_seconds;
                seconds.map_or(Cell::Null, Cell::Int)
            }
            (None, _) => self.number(column).map_or(Cell::Null, Cell::Number),
        }
    }

    /// The values of the first columns, in their order.
    fn texts(self) -> [Option<&'a str>; 7] {
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
        [id, computer, user, state, mode, compute_type, region]
    }

    fn number(self, column: usize) -> Option<f64> {
        let figures = self.figures;
        match column {
            10 => figures.cpu,
            11 => figures.memory,
            12 => figures.root_volume,
            13 => figures.user_volume,
            CPU_AVG => figures.window.cpu_avg,
            CPU_P95 => figures.window.cpu_p95,
            MEMORY_P95 => figures.window.memory_p95,
            HEALTH_SCORE => figures.window.health_score,
            _ => None,
        }
    }

    fn row(self) -> WorkspaceRow {
        let [id, computer, user, state, mode, compute_type, region] = self.texts();
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let mut row = WorkspaceRow {
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
            clock_ahead_seconds: None,
        };
        row.set_figures(&self.figures);
        row
    }

    fn action(self) -> Option<Action> {
        self.entry.transition.map(|running| running.action)
    }
}

#[cfg(test)]
mod tests {
    use crate::model::{Row as _, State};
    use crate::store::fleet::workspaces::Transition;
    use crate::view::query::desktops::WindowFigures;

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
                known_since: Timestamp::MIN,
                held: transition.is_some(),
                plain: true,
                transition,
            };
            let figures = Figures {
                last_seen: Some(Timestamp::UNIX_EPOCH),
                cpu: Some(1.0),
                memory: Some(2.0),
                root_volume: Some(3.0),
                user_volume: Some(4.0),
                uptime_seconds: Some(5),
                clock_ahead_seconds: Some(6),
                window: WindowFigures {
                    cpu_avg: Some(6.0),
                    cpu_p95: Some(7.0),
                    memory_p95: Some(8.0),
                    health_score: Some(9.0),
                },
            };
            let candidate = Candidate {
                entry: &entry,
                figures,
            };
            let row = candidate.row();
            for column in 0..=WorkspaceRow::COLUMNS.len() {
                assert_eq!(candidate.cell(column), row.cell(column), "{column}");
            }
            assert_eq!(row.region.as_deref(), Some("d"));
        }
    }
}
