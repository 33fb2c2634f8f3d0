//! The workspaces as rows: filtered, sorted, a page of them.

use std::time::Duration;

use crate::domain::comparison::Comparisons;
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
        workspace_id: String = "workSpId",
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
        /// Directory of its user.
        directory_id: Option<String> = "directoryId",
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
        /// Time of the newest statistics, where that is longer ago than `alerts.silent_after`: the figures of the row are of then, and are none
        /// to filters and sorts. Null where they are current.
        as_of: Option<Timestamp> = "asOf",
    }
}

/// Which workspaces, in which order.
///
/// ```
/// use deskfleet::{Engine, Paging, query::WorkspaceRowsQuery};
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
    /// What is wanted of figures, each a column and comparisons that must all hold: `("cpu", "gt.80")`, `("lastSeen", "lt.-1h")`,
    /// `("memory", "ge.20,lt.40")`, `("cpu", "null")`. Default nothing.
    pub figures: Vec<(String, String)>,
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
        let reads_all = self.paging.sort.is_some() || !self.figures.is_empty();
        let _one_at_a_time = reads_all.then(|| fleet.readers.lock_sorting());
        let silent_after = fleet.readers.config().alerts.silent_after;
        workspaces(&reader, self, (fleet.texts_max, silent_after))
    }
}

impl Ask for WorkspaceRowsQuery {
    const QUESTION: Question = Question::Workspaces;
    const COLUMNS: &'static [Column] = WorkspaceRow::COLUMNS;

    fn parse(query: Query<'_>, _: Timestamp) -> Result<Self> {
        Ok(Self {
            filter: query.filter()?,
            figures: Self::COLUMNS
                .iter()
                .skip(LAST_SEEN)
                .filter_map(|column| Some((column.name.to_owned(), query.text(column.name)?)))
                .collect(),
            paging: query.paging_of_columns()?,
            window: query.window()?,
        })
    }
}

/// A page of workspaces; in the order of the ids it ends early after `texts_max` bytes of texts.
fn workspaces(
    reader: &Reader,
    query: &WorkspaceRowsQuery,
    (texts_max, silent_after): (usize, Duration),
) -> Result<Rows<WorkspaceRow>> {
    let columns = WorkspaceRow::COLUMNS;
    let order = Order::wanted(query.paging.sort.as_deref(), columns)?;
    let is_figure = |column| column >= LAST_SEEN;
    let wanted = Comparisons::parse(&query.figures, columns, is_figure, reader.now)?;
    let window = query.window.map(|window| reader.now - window);
    let reads = |column| order.has(column) || wanted.has(column);
    check_window(&order, &wanted, window)?;
    let current_from = match silent_after {
        Duration::ZERO => Timestamp::MIN,
        after => reader.now - after,
    };
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
    let figures = (CPU_AVG..)
        .zip(WindowFigure::ALL)
        .filter(|(column, _)| reads(*column));
    let figures: Vec<_> = figures.map(|(_, figure)| figure).collect();
    let read = days.clone().filter(|_| !figures.is_empty());
    let read = read.map(|days| Window {
        days,
        wanted: figures,
    });
    // Only a sort or a filter by figures needs those of the whole fleet.
    let desktops = if (LAST_SEEN..=AS_OF).any(reads) {
        Some(Desktops::read(&reader.snapshot, read.as_ref())?)
    } else {
        None
    };
    let picked = Picked::new(Question::Workspaces, order, &query.paging)?;
    let figures = FleetFigures {
        desktops: desktops.as_ref(),
        wanted,
        current_from,
    };
    let picked = pick(reader, query, picked, &figures, texts_max)?;
    let (mut rows, next_token) = picked.finish();
    if desktops.is_none() {
        for row in &mut rows {
            row.find_figures(reader, current_from)?;
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

/// Refuses a sort or a comparison of a figure of a window where there is none.
fn check_window(order: &Order, wanted: &Comparisons, window: Option<Timestamp>) -> Result<()> {
    let read = |column: &usize| order.has(*column) || wanted.has(*column);
    let (None, Some(column)) = (window, (CPU_AVG..=HEALTH_SCORE).find(read)) else {
        return Ok(());
    };
    let (parameter, message) = if order.has(column) {
        (
            "sort",
            "Send `window`, such as window=24h, to sort by a figure of a window.",
        )
    } else {
        (
            "window",
            "Send window, such as window=24h, to compare a figure of a window.",
        )
    };
    Err(EngineError::invalid(parameter, message))
}

/// The figures of the fleet, and what is wanted of them.
struct FleetFigures<'d> {
    /// Those of all desktops, if they are needed.
    desktops: Option<&'d Desktops>,
    wanted: Comparisons,
    /// Figures of before are of the past.
    current_from: Timestamp,
}

/// Selects the rows of the page, with figures if those of all desktops are given.
fn pick(
    reader: &Reader,
    query: &WorkspaceRowsQuery,
    mut picked: Picked<WorkspaceRow>,
    figures: &FleetFigures<'_>,
    texts_max: usize,
) -> Result<Picked<WorkspaceRow>> {
    let listing = Listing::Filtered(Box::new(Matcher::new(&query.filter)));
    let after = picked.begins_after();
    let mut texts = 0;
    Workspaces::all(listing, after).step(reader, &mut |entry| {
        let desktops = figures.desktops;
        let known = desktops.and_then(|desktops| desktops.find_workspace(entry));
        let candidate = Candidate {
            entry,
            figures: known.unwrap_or_default(),
            current_from: figures.current_from,
        };
        if !figures.wanted.accept(|column| candidate.cell(column)) {
            return Step::Continue(());
        }
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
    fn find_figures(&mut self, reader: &Reader, current_from: Timestamp) -> Result<()> {
        let (id, computer) = (&self.workspace_id, self.computer_name.as_deref());
        if let Some(figures) = figures_of(&reader.snapshot, id, computer)? {
            self.set_figures(&figures, current_from);
        }
        Ok(())
    }

    #[inline(never)]
    fn set_figures(&mut self, figures: &Figures, current_from: Timestamp) {
        self.last_seen = figures.last_seen;
        self.as_of = figures.last_seen.filter(|seen| *seen < current_from);
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
        let id = self.workspace_id.as_str();
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
    /// Figures of before are of the past.
    current_from: Timestamp,
}

/// The first column of a figure; all that follow are figures.
const LAST_SEEN: usize = 10;

/// The columns of figures in the newest statistics.
const NEWEST_FIRST: usize = 11;
const NEWEST_LAST: usize = 15;

/// The columns of a window, in the order of [`WindowFigure::ALL`].
const CPU_AVG: usize = 16;
const CPU_P95: usize = 17;
const MEMORY_P95: usize = 18;
const HEALTH_SCORE: usize = 19;
const CLOCK_AHEAD_SECONDS: usize = 20;
const AS_OF: usize = 21;

impl<'a> Candidate<'a, '_> {
    /// The value of a column for filters and sorts, without making the row: figures of the past are none.
    fn cell(self, column: usize) -> Cell<'a> {
        let texts = self.texts();
        let text = |text: Option<&'a str>| text.map_or(Cell::Null, Cell::Text);
        let past = self
            .figures
            .last_seen
            .filter(|seen| *seen < self.current_from);
        match (texts.get(column), column) {
            (Some(value), _) => text(*value),
            (None, 8) => Cell::Bool(self.entry.held),
            (None, 9) => text(self.action().map(Action::as_str)),
            (None, LAST_SEEN) => self.figures.last_seen.map_or(Cell::Null, Cell::Time),
            (None, AS_OF) => past.map_or(Cell::Null, Cell::Time),
            (None, NEWEST_FIRST..=NEWEST_LAST | CLOCK_AHEAD_SECONDS) if past.is_some() => {
                Cell::Null
            }
            (None, 15) => self.figures.uptime_seconds.map_or(Cell::Null, Cell::Int),
            (None, CLOCK_AHEAD_SECONDS) => {
                let seconds = self.figures.clock_ahead_seconds;
                seconds.map_or(Cell::Null, Cell::Int)
            }
            (None, _) => self.number(column).map_or(Cell::Null, Cell::Number),
        }
    }

    /// The values of the first columns, in their order.
    fn texts(self) -> [Option<&'a str>; 8] {
        let [
            id,
            computer,
            _,
            region,
            directory,
            mode,
            compute_type,
            _,
            user,
            state,
        ] = self.entry.values;
        [
            id,
            computer,
            user,
            state,
            mode,
            compute_type,
            region,
            directory,
        ]
    }

    fn number(self, column: usize) -> Option<f64> {
        let figures = self.figures;
        match column {
            11 => figures.cpu,
            12 => figures.memory,
            13 => figures.root_volume,
            14 => figures.user_volume,
            CPU_AVG => figures.window.cpu_avg,
            CPU_P95 => figures.window.cpu_p95,
            MEMORY_P95 => figures.window.memory_p95,
            HEALTH_SCORE => figures.window.health_score,
            _ => None,
        }
    }

    fn row(self) -> WorkspaceRow {
        let [
            id,
            computer,
            user,
            state,
            mode,
            compute_type,
            region,
            directory,
        ] = self.texts();
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let mut row = WorkspaceRow {
            workspace_id: id.unwrap_or_default().to_owned(),
            computer_name: owned(computer),
            username: owned(user),
            state: owned(state),
            running_mode: owned(mode),
            compute_type_name: owned(compute_type),
            region: owned(region),
            directory_id: owned(directory),
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
            as_of: None,
        };
        row.set_figures(&self.figures, self.current_from);
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
            for current_from in [Timestamp::MIN, Timestamp::MAX] {
                let candidate = Candidate {
                    entry: &entry,
                    figures,
                    current_from,
                };
                let row = candidate.row();
                let is_past = current_from == Timestamp::MAX;
                assert_eq!(row.as_of.is_some(), is_past);
                for column in 0..=WorkspaceRow::COLUMNS.len() {
                    let hidden = (NEWEST_FIRST..=NEWEST_LAST).contains(&column)
                        || column == CLOCK_AHEAD_SECONDS;
                    let expected = if is_past && hidden {
                        Cell::Null
                    } else {
                        row.cell(column)
                    };
                    assert_eq!(candidate.cell(column), expected, "{column}");
                }
                assert_eq!(row.region.as_deref(), Some("d"));
            }
        }
    }
}
