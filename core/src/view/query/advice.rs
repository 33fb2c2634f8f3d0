//! Advice about each desktop.

use std::ops::RangeInclusive;

use crate::config::Cost;
use crate::domain::advice::{self, Advice, Facts};
use crate::domain::cost::{self, Bill};
use crate::domain::health::Health;
use crate::domain::paging::{self, List, Position};
use crate::domain::query::Query;
use crate::domain::range::Range;
use crate::domain::term::{Term, Wanted};
use crate::error::Result;
use crate::limits::{ADVICE_DAYS_EXAMINED_MAX, ADVICE_DAYS_MAX, MONTH_DAYS};
use crate::model::row::{Decimal, rounded, row};
use crate::model::{Column, ComputeType, Metric, Paging, Price, Question, Rows, RunningMode};
use crate::store::fleet::workspaces::{self as stored, EntryRef};
use crate::store::rollup::latest::SessionEvent;
use crate::store::rollup::{DayRef, DaySlots, SLOT_MINUTES, daily, latest, unstored};
use crate::store::table::Step;
use crate::timestamp::{TICKS_PER_DAY, TICKS_PER_SECOND, Timestamp};
use crate::view::Reader;
use crate::view::workspaces::{Listing, Matcher, WorkspaceFilter, Workspaces};

use super::coverage::Coverage;
use super::desktops::{instances, quantile};
use super::health::Use;
use super::sessions::Sessions;
use super::{Ask, Fleet, FleetQuery};

row! {
    /// An advice about a desktop.
    pub struct AdviceRow {
        /// Id of the workspace.
        workspace_id: String = "workSpId",
        /// User that it belongs to.
        username: Option<String> = "username",
        /// `idle`, it never reported or nobody used it; `alwaysOnCheaper` or `autoStopCheaper`, the other running mode costs less; `overloaded`, its
        /// health score is not good; `oversized`, half of it would do.
        advice: String = "advice",
        /// Hours that its use costs in a month of 30 days under `AUTO_STOP`; null where it never reported.
        hours: Option<f64> = "hours",
        /// Hours a month above which `ALWAYS_ON` costs less; null where none is known of its compute type.
        limit_hours: Option<u64> = "limitHours",
        /// What it is judged by, in a sentence.
        evidence: String = "evidence",
        /// Always true: the future is not known.
        estimate: bool = "estimate",
        /// What following it saves in a month of 30 days, in the currency of the prices of `cost.prices`: for `idle` the whole desktop. Null where
        /// a price is not known, and of `overloaded`.
        saving_per_month: Option<f64> = "savingPerMonth",
    }
}

row! {
    /// How many desktops have an advice, in the whole fleet or what is filtered.
    pub struct AdviceTotalRow {
        /// The advice, as in the rows of `/query/advice`.
        advice: String = "advice",
        /// How many desktops have it.
        desktops: u64 = "desktops",
        /// Of how many of them it is known what following it saves: those with a price.
        priced: u64 = "priced",
        /// The sum of what following it saves in a month, of the priced ones; null where there are none.
        saving_per_month: Option<f64> = "savingPerMonth",
    }
}

/// Which desktops, judged by what time.
///
/// ```
/// use deskfleet::{Engine, query::AdviceQuery};
///
/// let engine = Engine::in_memory()?;
/// let advice = engine.query(&AdviceQuery::default())?;
/// assert!(advice.rows.is_empty());
/// # Ok::<(), deskfleet::EngineError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AdviceQuery {
    /// The workspaces that are wanted. Default all.
    pub filter: WorkspaceFilter,
    /// The advice that is wanted, by name. Default all.
    pub advice: Option<Term>,
    /// The first moment, widened to a whole day (UTC). Default 30 days before `to`.
    pub from: Option<Timestamp>,
    /// The exclusive end, widened likewise. Default now.
    pub to: Option<Timestamp>,
    /// The page; `sort` is not read.
    pub paging: Paging,
}

const LIST: List = List::Rows(Question::Advice);
/// The seconds of the default window.
const WINDOW_SECONDS: i64 = MONTH_DAYS * 24 * 60 * 60;

impl FleetQuery for AdviceQuery {
    type Answer = Rows<AdviceRow>;

    fn answer(&self, fleet: &Fleet<'_>) -> Result<Self::Answer> {
        advice(
            &fleet.readers.rollups()?,
            &fleet.readers.config().cost,
            self,
        )
    }
}

impl Ask for AdviceQuery {
    const QUESTION: Question = Question::Advice;
    const COLUMNS: &'static [Column] = AdviceRow::COLUMNS;

    fn parse(query: Query<'_>, now: Timestamp) -> Result<Self> {
        let (from, to) = query.range(now)?;
        Ok(Self {
            filter: query.filter()?,
            advice: query.term_of_names("advice", &Advice::ALL, Advice::as_str)?,
            from,
            to,
            paging: query.paging()?,
        })
    }
}

/// How many desktops each advice is about, and what following it saves: [`AdviceQuery`] over the whole fleet in one pass, which takes
/// about as long as all its pages.
///
/// ```
/// use deskfleet::{Engine, query::AdviceTotalsQuery};
///
/// let engine = Engine::in_memory()?;
/// let totals = engine.query(&AdviceTotalsQuery::default())?;
/// assert!(totals.rows.iter().all(|row| row.desktops == 0));
/// # Ok::<(), deskfleet::EngineError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AdviceTotalsQuery {
    /// The workspaces that are wanted. Default all.
    pub filter: WorkspaceFilter,
    /// The first moment, widened to a whole day (UTC). Default 30 days before `to`.
    pub from: Option<Timestamp>,
    /// The exclusive end, widened likewise. Default now.
    pub to: Option<Timestamp>,
}

impl FleetQuery for AdviceTotalsQuery {
    type Answer = Rows<AdviceTotalRow>;

    fn answer(&self, fleet: &Fleet<'_>) -> Result<Self::Answer> {
        let reader = fleet.readers.rollups()?;
        let _one_at_a_time = fleet.readers.lock_sorting();
        let query = AdviceQuery {
            filter: self.filter.clone(),
            from: self.from,
            to: self.to,
            ..AdviceQuery::default()
        };
        let (mut page, covered) = Page::new(&reader, &fleet.readers.config().cost, &query)?;
        page.totals = Some([(0, 0, 0.0); Advice::ALL.len()]);
        page.walk(Matcher::new(&query.filter), None)?;
        let totals = page.totals.unwrap_or_default();
        let rows = Advice::ALL.into_iter().zip(totals);
        let rows = rows.map(|(advice, (desktops, priced, saving))| AdviceTotalRow {
            advice: advice.as_str().to_owned(),
            desktops,
            priced,
            saving_per_month: rounded(saving).filter(|_| priced > 0),
        });
        Ok(Rows {
            warnings: covered.into_warnings(),
            ..Rows::whole(rows.collect(), reader.now)
        })
    }
}

impl Ask for AdviceTotalsQuery {
    const QUESTION: Question = Question::AdviceTotals;
    const COLUMNS: &'static [Column] = AdviceTotalRow::COLUMNS;

    fn parse(query: Query<'_>, now: Timestamp) -> Result<Self> {
        let (from, to) = query.range(now)?;
        let filter = query.filter()?;
        Ok(Self { filter, from, to })
    }
}

/// A page of advice, in the order of the ids of the workspaces. It ends early where it examined
/// [`ADVICE_DAYS_EXAMINED_MAX`] days of desktops.
fn advice(reader: &Reader, cost: &Cost, query: &AdviceQuery) -> Result<Rows<AdviceRow>> {
    let (mut page, covered) = Page::new(reader, cost, query)?;
    let matcher = Matcher::new(&query.filter);
    let after = page.begin(&matcher, query.paging.next_token.as_deref())?;
    if page.next.is_none() {
        page.walk(matcher, after)?;
    }
    Ok(Rows {
        next_token: page.next.map(|place| paging::token(LIST, &place)),
        warnings: covered.into_warnings(),
        ..Rows::whole(page.rows, reader.now)
    })
}

/// Where the next page begins: at the workspace `id`, after its first rows.
struct PageStart {
    id: String,
    /// [`PageStart::ALL`] after its last row.
    shown: u8,
}

impl PageStart {
    const ALL: u8 = u8::MAX;
}

impl Position for PageStart {
    fn to_bytes(&self) -> Vec<u8> {
        [&[self.shown], self.id.as_bytes()].concat()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (shown, id) = bytes.split_first()?;
        let id = std::str::from_utf8(id).ok()?.to_owned();
        Some(Self { id, shown: *shown })
    }
}

/// A page that is being made, or the totals of the fleet.
struct Page<'r> {
    reader: &'r Reader,
    cost: &'r Cost,
    prices: Vec<Price>,
    /// The advice that is wanted; all without it.
    wanted: Option<Wanted>,
    /// In the order of [`Advice::ALL`] how many desktops have it, of how many a saving is known, and the sum of those; then there are no rows.
    totals: Option<[(u64, u64, f64); Advice::ALL.len()]>,
    /// The days that are examined.
    days: RangeInclusive<u32>,
    /// Their first moment, and the first one after them that has passed.
    begin: Timestamp,
    end: Timestamp,
    /// The first day of any desktop that is not its newest.
    kept_from: Option<u32>,
    limit: usize,
    /// Days of desktops.
    examined: usize,
    /// The workspace that was examined last.
    last: Option<String>,
    rows: Vec<AdviceRow>,
    next: Option<PageStart>,
}

impl<'r> Page<'r> {
    /// A page without rows, and what it is of.
    fn new(reader: &'r Reader, cost: &'r Cost, query: &AdviceQuery) -> Result<(Self, Coverage)> {
        let range = Range::between(query.from, query.to, WINDOW_SECONDS, reader.now)?;
        let mut covered = Coverage::all_days(reader, range);
        let newest = *covered.days_covered().end().min(&reader.now.day());
        let oldest = Timestamp::from_day(newest.saturating_sub(ADVICE_DAYS_MAX - 1));
        if oldest > covered.range().from {
            covered.leave_out_before(oldest);
        }
        let begin = covered.range().from;
        let prices = cost.prices.iter().filter_map(|text| Price::parse(text));
        let page = Self {
            reader,
            cost,
            prices: prices.collect(),
            wanted: query.advice.as_ref().map(Wanted::new),
            totals: None,
            days: begin.day()..=newest,
            begin,
            kept_from: daily::first_day(&reader.snapshot)?,
            end: covered.range().to.min(reader.now),
            limit: usize::try_from(query.paging.limit.max(1)).unwrap_or(usize::MAX),
            examined: 0,
            last: None,
            rows: Vec::new(),
            next: None,
        };
        Ok((page, covered))
    }

    /// Visits the workspaces after an id.
    fn walk(&mut self, matcher: Matcher, after: Option<String>) -> Result<()> {
        let reader = self.reader;
        let listing = Listing::Filtered(Box::new(matcher));
        let mut failed = None;
        Workspaces::all(listing, after).step(reader, &mut |entry| {
            self.visit(entry, 0).unwrap_or_else(|error| {
                failed = Some(error);
                Step::Break(())
            })
        })?;
        failed.map_or(Ok(()), Err)
    }

    /// Adds the remaining rows of the workspace in which the previous page ended; returns the id after which the list goes on.
    fn begin(&mut self, matcher: &Matcher, token: Option<&str>) -> Result<Option<String>> {
        let Some(place) = paging::position::<PageStart>(LIST, token)? else {
            return Ok(None);
        };
        if place.shown < PageStart::ALL {
            stored::with_entry(&self.reader.snapshot, &place.id, |entry| {
                let entry = self.reader.listed(entry);
                match entry.filter(|entry| matcher.accepts(entry)) {
                    Some(entry) => self.visit(&entry, place.shown.into()).map(|_| ()),
                    None => Ok(()),
                }
            })?;
        }
        Ok(Some(place.id))
    }

    /// Adds the rows of a workspace, except for the first `shown`.
    fn visit(&mut self, entry: &EntryRef<'_>, shown: usize) -> Result<Step> {
        let days = self.days.clone().count();
        if let (Some(id), None) = (&self.last, &self.totals)
            && self.examined + days > ADVICE_DAYS_EXAMINED_MAX
        {
            self.next = Some(PageStart {
                id: id.clone(),
                shown: PageStart::ALL,
            });
            return Ok(Step::Break(()));
        }
        self.examined += days;
        let record = self.record(entry)?;
        let judged = self.judged(entry, &record);
        if let Some(totals) = &mut self.totals {
            for (advice, saving) in judged.given {
                let Some((desktops, priced, sum)) = totals.get_mut(advice as usize) else {
                    continue;
                };
                *desktops += 1;
                *priced += u64::from(saving.is_some());
                *sum += saving.unwrap_or_default();
            }
            return Ok(Step::Continue(()));
        }
        for (number, row) in judged.rows(entry, &record).enumerate().skip(shown) {
            if self.rows.len() == self.limit {
                self.next = Some(PageStart {
                    id: entry.id().to_owned(),
                    shown: u8::try_from(number).unwrap_or(PageStart::ALL),
                });
                return Ok(Step::Break(()));
            }
            self.rows.push(row);
        }
        self.last = Some(entry.id().to_owned());
        Ok(Step::Continue(()))
    }

    /// What a workspace reported: under its id, and under the name of its computer if no other workspace has that name.
    fn record(&self, entry: &EntryRef<'_>) -> Result<Record> {
        let mut record = Record::default();
        let mut add = |instance: &str| -> Result<()> {
            let days = self.days.clone();
            latest::with_row(&self.reader.snapshot, instance, |row| {
                record.session = record.session.max(row.session);
                Ok(())
            })?;
            let mut add = |days: &[DayRef<'_>]| days.iter().try_for_each(|day| record.add(day));
            let found = daily::with_days(&self.reader.snapshot, instance, days, &mut add)?;
            record.has_reported |= found;
            Ok(())
        };
        for name in instances(self.reader, entry.id(), entry.computer_name())? {
            add(name)?;
        }
        Ok(record)
    }

    /// How long the use of a workspace was observed, in seconds. A desktop with `ALWAYS_ON` reports all the time, so it did not
    /// exist before its first day. One with `AUTO_STOP` may have been off, unless there are no older records at all.
    fn seconds(&self, entry: &EntryRef<'_>, record: &Record) -> i64 {
        let mode = entry.running_mode().and_then(RunningMode::named);
        let is_on = mode == Some(RunningMode::AlwaysOn);
        let own = record.days.first().map(|(day, _)| *day);
        let first = if is_on {
            own
        } else {
            own.into_iter().chain(self.kept_from).min()
        };
        let begin = first.map_or(self.begin, |day| self.begin.max(Timestamp::from_day(day)));
        self.end.ticks().saturating_sub(begin.ticks()) / TICKS_PER_SECOND
    }

    /// The days since it is known, from the inventory or from telemetry within the window.
    fn days_known(&self, entry: &EntryRef<'_>, record: &Record) -> i64 {
        let reported = record
            .days
            .first()
            .map(|(day, _)| Timestamp::from_day(*day));
        let first = reported.map_or(entry.known_since, |day| day.min(entry.known_since));
        (self.reader.now.ticks() - first.ticks()) / TICKS_PER_DAY
    }

    /// What is advised for a workspace, of what is wanted.
    fn judged<'e>(&self, entry: &EntryRef<'e>, record: &Record) -> Judged<'e> {
        let compute_type = entry.compute_type().and_then(ComputeType::named);
        let compute_type = compute_type.as_ref().map_or("", ComputeType::as_str);
        let price = |wanted: &str| {
            let mut prices = self.prices.iter();
            prices.find(|price| price.compute_type == wanted)
        };
        let (own, half) = (price(compute_type), advice::half_of(compute_type));
        let limit = own.map_or_else(
            || self.cost.hour_limits.for_compute_type(compute_type),
            Price::hour_limit,
        );
        let (used, runs) = record.used(self.begin);
        let seconds = self.seconds(entry, record);
        let timeout = self.cost.auto_stop_timeout.as_secs() / 60;
        let now = (self.end.ticks() - Timestamp::MIN.ticks()) / (60 * TICKS_PER_SECOND);
        let bill = cost::bill(runs.into_iter(), timeout, now.unsigned_abs()).within(seconds);
        // If logons are posted, the name of the owner in Stats records does not count.
        let had_user = match record.session {
            Some(_) => used.active > 0,
            None => record.had_user,
        };
        let facts = Facts {
            state: entry.state(),
            running_mode: entry.running_mode(),
            half,
            days: u32::try_from(record.days.len()).unwrap_or(u32::MAX),
            had_user,
            days_known: self.days_known(entry, record),
            hours: cost::monthly(bill.hours, seconds),
            limit,
            health: used.health_score(),
            cpu: record.cpu.map(unstored),
            memory: record.memory.map(unstored),
        };
        let is_wanted = |advice: &Advice| {
            let wanted = self.wanted.as_ref();
            wanted.is_none_or(|wanted| wanted.accepts(Some(advice.as_str())))
        };
        let prices = [own, half.and_then(price)];
        let given = Advice::ALL.into_iter();
        let given = given.filter(|one| is_wanted(one) && advice::is_given(*one, &facts));
        let given = given.map(|one| (one, advice::saving(one, &facts, prices)));
        Judged {
            given: given.collect(),
            facts,
            used,
            bill,
        }
    }
}

/// What is advised for a workspace, with the savings, and why.
struct Judged<'e> {
    given: Vec<(Advice, Option<f64>)>,
    facts: Facts<'e>,
    used: Use,
    bill: Bill,
}

impl Judged<'_> {
    /// The rows of the workspace.
    fn rows(&self, entry: &EntryRef<'_>, record: &Record) -> impl Iterator<Item = AdviceRow> {
        let facts = &self.facts;
        self.given.iter().map(move |(advice, saving)| AdviceRow {
            workspace_id: entry.id().to_owned(),
            username: entry.username().map(str::to_owned),
            advice: advice.as_str().to_owned(),
            hours: rounded(facts.hours).filter(|_| record.has_reported),
            limit_hours: facts.limit.map(u64::from),
            evidence: evidence(*advice, facts, (record, self.used, self.bill)),
            estimate: true,
            saving_per_month: *saving,
        })
    }
}

/// What a desktop reported.
#[derive(Default)]
struct Record {
    /// Whether it ever reported, in the window or not.
    has_reported: bool,
    had_user: bool,
    /// The newest Activity record that began or ended a session.
    session: Option<SessionEvent>,
    /// The days with records, in order.
    days: Vec<(u32, DaySlots)>,
    /// The greatest 95th percentile of a day, in hundredths.
    cpu: Option<i64>,
    memory: Option<i64>,
}

impl Record {
    fn add(&mut self, day: &DayRef<'_>) -> Result<()> {
        let slots = day.slots()?;
        let place = self.days.partition_point(|(known, _)| *known < day.day);
        match self.days.get_mut(place) {
            Some((number, known)) if *number == day.day => {
                *known = known.union(&slots);
            }
            _ => self.days.insert(place, (day.day, slots)),
        }
        self.had_user = self.had_user || !day.people()?.1.is_empty();
        let p95 = |metric| quantile(std::slice::from_ref(day), metric, 95);
        self.cpu = self.cpu.max(p95(Metric::Cpu)?);
        self.memory = self.memory.max(p95(Metric::Memory)?);
        Ok(())
    }

    /// Its use from `begin` on: the slots, and their runs, each with the minute in which it begins and its length in minutes.
    fn used(&self, begin: Timestamp) -> (Use, Vec<(u64, u64)>) {
        let mut sessions = Sessions::after_activity(begin, self.session);
        let slot = u64::from(SLOT_MINUTES);
        let (mut used, mut runs) = (Use::default(), Vec::new());
        for (day, slots) in &self.days {
            let of_day = sessions.used(slots);
            used.add(slots, &of_day);
            let begin = u64::from(*day) * 24 * 60;
            let run = |(first, count)| (begin + first as u64 * slot, count as u64 * slot);
            runs.extend(of_day.runs().map(run));
        }
        (used, runs)
    }
}

fn shown(value: f64) -> Decimal {
    Decimal::of_rounded(rounded(value).unwrap_or_default())
}

/// A number with the noun that it counts: `1 day`, `2 days`.
fn counted(count: u32, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// The evidence of an advice, in a sentence without any text of a client.
fn evidence(
    advice: Advice,
    facts: &Facts<'_>,
    (record, used, bill): (&Record, Use, Bill),
) -> String {
    let (days, hours) = (facts.days, shown(facts.hours));
    let limit = facts.limit.unwrap_or_default();
    let percent = |value: Option<f64>| shown(value.unwrap_or_default());
    match advice {
        Advice::Idle if !record.has_reported => "No telemetry.".to_owned(),
        Advice::Idle if days == 0 => "It did not report in this time.".to_owned(),
        Advice::Idle => format!(
            "It reported on {}, and {}.",
            counted(days, "day"),
            if record.session.is_some() {
                "nobody logged on"
            } else {
                "no record named a user"
            }
        ),
        Advice::AlwaysOnCheaper | Advice::AutoStopCheaper => {
            let (sessions, billed) = (counted(bill.sessions, "session"), shown(bill.hours));
            let above = if advice == Advice::AlwaysOnCheaper {
                "above"
            } else {
                "not above"
            };
            format!(
                "{sessions}, {billed} hours in all with the auto-stop timeout; in {MONTH_DAYS} days {hours}, {above} the limit of {limit}."
            )
        }
        Advice::Overloaded => {
            let minutes = |slots: u32| u64::from(slots) * u64::from(SLOT_MINUTES);
            let (active, impacted) = (minutes(used.active), minutes(used.impacted));
            let score = facts.health.unwrap_or_default();
            let (band, score) = (Health::from_score(score).as_str(), shown(score));
            format!(
                "Overloaded in {impacted} of {active} minutes of use: a health score of {score}, which is {band}."
            )
        }
        Advice::Oversized => {
            let (cpu, memory) = (percent(facts.cpu), percent(facts.memory));
            format!(
                "On each of {days} days the 95th percentile of cpu was at most {cpu} % and of memory at most {memory} %."
            )
        }
    }
}
