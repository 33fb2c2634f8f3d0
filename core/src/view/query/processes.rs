//! The processes of the desktops, added up by name.
//!
//! There is no rollup of processes: this reads their history, the newest day first, and the queue, until it has examined as many reports or items
//! as its limits allow.

use std::collections::BTreeMap;

use crate::domain::order::{Order, Picked};
use crate::domain::query::Query;
use crate::domain::range::Range;
use crate::error::Result;
use crate::limits::{
    PROCESS_ITEMS_EXAMINED_MAX, PROCESS_NAME_BYTES, PROCESS_NAMES_MAX, PROCESS_PENDING_BYTES_MAX,
    PROCESS_REPORTS_EXAMINED_MAX,
};
use crate::model::row::{rounded, row};
use crate::model::{Column, Paging, Question, Row as _, Rows, Stream};
use crate::store::table::Step;
use crate::store::telemetry::history;
use crate::store::telemetry::queue::Wanted;
use crate::store::telemetry::rows::Rows as Records;
use crate::timestamp::Timestamp;
use crate::view::Reader;

use super::{Ask, Fleet, FleetQuery};

row! {
    /// A process by its name.
    pub struct ProcessRow {
        /// Name of the executable, of a long one its begin.
        process_name: String = "processName",
        /// Instances that reported it.
        machines: u64 = "machines",
        /// Reports that name it.
        reports: u64 = "reports",
        /// Mean processor load of a report that says it, in percent.
        cpu_avg: Option<f64> = "cpuAvg",
        /// Greatest processor load, in percent.
        cpu_max: Option<f64> = "cpuMax",
        /// Mean memory of a report that says it, in bytes.
        memory_avg: Option<f64> = "memoryAvg",
        /// Greatest memory, in bytes.
        memory_max: Option<f64> = "memoryMax",
    }
}

/// Which processes, of what time.
///
/// ```
/// use deskfleet::{Engine, query::ProcessesQuery};
///
/// let engine = Engine::in_memory()?;
/// let processes = engine.query(&ProcessesQuery::default())?;
/// assert!(processes.rows.is_empty());
/// # Ok::<(), deskfleet::EngineError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProcessesQuery {
    /// The instance, as it names itself. Default all.
    pub instance_id: Option<String>,
    /// Reports whose time in history is this or later. Default 24 hours before `to`.
    pub from: Option<Timestamp>,
    /// Reports filed before this time. Default now.
    pub to: Option<Timestamp>,
    /// The order, by default the greatest `cpuAvg` first, and the page. `cpu` and `memory` stand for the means.
    pub paging: Paging,
}

/// The seconds of the default window.
const WINDOW_SECONDS: i64 = 24 * 60 * 60;

impl FleetQuery for ProcessesQuery {
    type Answer = Rows<ProcessRow>;

    fn answer(&self, fleet: &Fleet<'_>) -> Result<Self::Answer> {
        let wanted = match &self.instance_id {
            Some(instance) => Wanted::Instance(Stream::Processes, instance),
            None => Wanted::Stream(Stream::Processes),
        };
        processes(&fleet.readers.telemetry(wanted)?, self)
    }
}

impl Ask for ProcessesQuery {
    const QUESTION: Question = Question::Processes;
    const COLUMNS: &'static [Column] = ProcessRow::COLUMNS;

    fn parse(query: Query<'_>, now: Timestamp) -> Result<Self> {
        let (from, to) = query.range(now)?;
        Ok(Self {
            instance_id: query.text("instanceId"),
            from,
            to,
            paging: query.paging()?,
        })
    }
}

/// A page of processes. The reader must have the queue of the instance or of all.
fn processes(reader: &Reader, query: &ProcessesQuery) -> Result<Rows<ProcessRow>> {
    let range = Range::between(query.from, query.to, WINDOW_SECONDS, reader.now)?;
    let order = order(query.paging.sort.as_deref().unwrap_or("-cpuAvg"))?;
    let mut picked = Picked::new(Question::Processes, order, &query.paging)?;
    let mut scan = Scan {
        reader,
        instance: query.instance_id.as_deref(),
        range,
        reports: 0,
        items: 0,
        totals: Totals::default(),
    };
    let cut = scan.run()?;
    let mut warnings = Vec::new();
    if let Some(day) = cut {
        warnings.push(format!(
            "Older reports are left out: the answer is of {} reports with {} items, not all of {} and none before. Ask for a shorter time or for one \
             instance.",
            scan.reports,
            scan.items,
            Timestamp::from_day(day)
        ));
    }
    let mut totals = scan.totals;
    if totals.left_out > 0 {
        warnings.push(format!(
            "There are more than {PROCESS_NAMES_MAX} names of processes: {} items of others are left out.",
            totals.left_out
        ));
    }
    for (name, place) in &totals.names {
        if let Some(total) = totals.loads.get_mut(as_place(*place)) {
            let row = total.row(name);
            picked.offer(name, |column| row.cell(column), || row.clone());
        }
    }
    let (rows, next_token) = picked.finish();
    Ok(Rows {
        next_token,
        warnings,
        ..Rows::whole(rows, reader.now)
    })
}

/// Reads a sort in which `cpu` and `memory` stand for the means.
fn order(sort: &str) -> Result<Order> {
    let columns = sort.split(',').map(|column| {
        let bare = column.strip_prefix('-').unwrap_or(column);
        let short = ["cpu", "memory"]
            .iter()
            .any(|name| bare.eq_ignore_ascii_case(name));
        if short {
            format!("{column}Avg")
        } else {
            column.to_owned()
        }
    });
    let columns: Vec<String> = columns.collect();
    Order::parse(&columns.join(","), ProcessRow::COLUMNS)
}

/// The reports of a range, examined within the limits.
struct Scan<'r> {
    reader: &'r Reader,
    instance: Option<&'r str>,
    range: Range,
    reports: usize,
    items: usize,
    totals: Totals,
}

impl Scan<'_> {
    /// Adds up the reports; returns the day in which it stopped at a limit.
    fn run(&mut self) -> Result<Option<u32>> {
        let last = Timestamp::from_ticks(self.range.to.ticks() - 1).day();
        let first = self.range.from.day();
        if self.add_pending()?.is_break() {
            return Ok(Some(last));
        }
        let read = &self.reader.snapshot;
        let mut rows = Records::default();
        let mut newest = Some(last);
        while let Some(last) = newest
            && let Some(day) = history::last_day(read, Stream::Processes, first, last)?
        {
            let mut end = Step::Continue(());
            let (from, to) = (self.range.from, self.range.to);
            history::visit_day(read, Stream::Processes, day, self.instance, &mut |part| {
                if self.is_enough() {
                    end = Step::Break(());
                } else if part.last < from || part.first >= to {
                    self.reports += 1;
                } else {
                    rows.clear();
                    part.add_to(&mut rows)?;
                    self.totals.known.clear();
                    (0..rows.len()).for_each(|row| self.add(&rows, row));
                }
                Ok(end)
            })?;
            if end.is_break() {
                return Ok(Some(day));
            }
            newest = day.checked_sub(1);
        }
        Ok(None)
    }

    fn is_enough(&self) -> bool {
        self.reports >= PROCESS_REPORTS_EXAMINED_MAX || self.items >= PROCESS_ITEMS_EXAMINED_MAX
    }

    /// Adds the reports that are not filed yet and repeat no other, those of the newest blocks first.
    fn add_pending(&mut self) -> Result<Step> {
        let read = &self.reader.snapshot;
        let (mut rows, mut pending) = (Records::default(), Records::default());
        let (mut bytes, mut end) = (0, Step::Continue(()));
        for block in self.reader.blocks.iter().rev() {
            if pending.len() >= PROCESS_REPORTS_EXAMINED_MAX || bytes >= PROCESS_PENDING_BYTES_MAX {
                end = Step::Break(());
                break;
            }
            rows.clear();
            block.add_to(read, &mut rows)?;
            for row in 0..rows.len() {
                if self.is_wanted(&rows, row) {
                    bytes += rows.weight(row);
                    pending.adopt(&rows, row);
                }
            }
        }
        self.totals.known.clear();
        for row in history::fresh(read, &mut pending)? {
            self.add(&pending, row as usize);
        }
        Ok(end)
    }

    fn is_wanted(&self, rows: &Records, row: usize) -> bool {
        let filed_at = rows.filed_at(row);
        rows.stream(row) == Stream::Processes
            && (self.range.from..self.range.to).contains(&filed_at)
            && self
                .instance
                .is_none_or(|instance| rows.instance_id(row) == instance)
    }

    fn add(&mut self, rows: &Records, row: usize) {
        self.reports += 1;
        self.items += rows.items(row);
        if self.is_wanted(rows, row) {
            self.totals.add(rows, row);
        }
    }
}

/// The index of a name beyond the limit.
const NO_PLACE: u64 = u64::MAX;

/// What reports add up to.
#[derive(Default)]
struct Totals {
    /// Their places.
    names: BTreeMap<String, u64>,
    /// The sums of each name, by its index.
    loads: Vec<Total>,
    /// Items of names beyond the limit.
    left_out: u64,
    /// For the rows being added: the index of each name by its number, or [`NO_PLACE`].
    known: Vec<Option<u64>>,
    /// Reports so far.
    reports: u64,
}

impl Totals {
    /// Adds a report.
    fn add(&mut self, rows: &Records, row: usize) {
        self.reports += 1;
        let machine = rows.machine(row);
        for process in rows.processes(row) {
            let number = process.name as usize;
            let known = self.known.get(number).copied().flatten();
            let place = known.unwrap_or_else(|| self.slot_of(rows.process_name(process.name)));
            if known.is_none() {
                self.known.resize(self.known.len().max(number + 1), None);
                if let Some(known) = self.known.get_mut(number) {
                    *known = Some(place);
                }
            }
            let total = self.loads.get_mut(as_place(place));
            let Some(total) = total else {
                self.left_out += 1;
                continue;
            };
            if total.report != self.reports {
                total.report = self.reports;
                total.reports += 1;
                total.machines.add(machine);
                total.cpu.end_report();
                total.memory.end_report();
            }
            total.cpu.add(process.cpu);
            total.memory.add(process.memory);
        }
    }

    /// The place of a name.
    fn slot_of(&mut self, name: &str) -> u64 {
        let mut ends = (0..=PROCESS_NAME_BYTES.min(name.len())).rev();
        let name = ends.find_map(|end| name.get(..end)).unwrap_or_default();
        if let Some(place) = self.names.get(name) {
            return *place;
        }
        if self.names.len() >= PROCESS_NAMES_MAX {
            return NO_PLACE;
        }
        let place = self.loads.len() as u64;
        self.names.insert(name.to_owned(), place);
        self.loads.push(Total::default());
        place
    }
}

/// Indexes are 64 bits wide, so that all maps of texts share one compiled copy.
fn as_place(place: u64) -> usize {
    usize::try_from(place).unwrap_or(usize::MAX)
}

/// What the reports of one name add up to.
#[derive(Default)]
struct Total {
    /// The number of the last report that names it.
    report: u64,
    reports: u64,
    machines: Machines,
    cpu: Load,
    memory: Load,
}

impl Total {
    fn row(&mut self, name: &str) -> ProcessRow {
        let ((cpu_avg, cpu_max), (memory_avg, memory_max)) =
            (self.cpu.ended(), self.memory.ended());
        ProcessRow {
            process_name: name.to_owned(),
            machines: self.machines.count(),
            reports: self.reports,
            cpu_avg,
            cpu_max,
            memory_avg,
            memory_max,
        }
    }
}

/// Different instances: those of one day are consecutive, and come again on another day.
#[derive(Default)]
struct Machines(Vec<u64>);

impl Machines {
    fn add(&mut self, machine: u64) {
        if self.0.last() != Some(&machine) {
            self.0.push(machine);
        }
    }

    fn count(&mut self) -> u64 {
        self.0.sort_unstable();
        self.0.dedup();
        self.0.len() as u64
    }
}

/// A load by report, in which several items of one name add up.
#[derive(Debug, Clone, Copy, Default)]
struct Load {
    /// The load of the report that is being added.
    report: Option<f64>,
    reports: u64,
    sum: f64,
    max: Option<f64>,
}

impl Load {
    fn add(&mut self, value: Option<f64>) {
        if let Some(value) = value {
            self.report = Some(self.report.unwrap_or_default() + value);
        }
    }

    fn end_report(&mut self) {
        if let Some(value) = self.report.take() {
            self.reports += 1;
            self.sum += value;
            self.max = Some(self.max.map_or(value, |max| max.max(value)));
        }
    }

    /// The mean and the greatest load.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a mean is no more exact than a double"
    )]
    fn ended(mut self) -> (Option<f64>, Option<f64>) {
        self.end_report();
        let mean = (self.reports > 0).then(|| self.sum / self.reports as f64);
        (mean.and_then(rounded), self.max.and_then(rounded))
    }
}
