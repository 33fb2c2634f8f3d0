//! When a fleet is used: by weekday and hour.

use std::collections::BTreeMap;

use crate::domain::query::Query;
use crate::domain::range::Range;
use crate::error::{EngineError, Result};
use crate::limits::HEATMAP_USERS_MAX;
use crate::model::row::row;
use crate::model::{Column, Question, Rows};
use crate::store::rollup::hourly::hour;
use crate::store::rollup::{DayRef, LatestRef, scan_window};
use crate::store::table::Step;
use crate::timestamp::Timestamp;
use crate::view::Reader;

use super::coverage::Coverage;
use super::{Ask, Fleet, FleetQuery};

const DAY: i64 = 24 * 60 * 60;
/// The range when none is given.
const RANGE_DEFAULT: i64 = 28 * DAY;
/// The farthest time zone from UTC, in minutes.
pub(super) const OFFSET_MAX: i32 = 14 * 60;

const HOURS: u8 = 24;
/// The hours of a week.
const CELLS: usize = 7 * HOURS as usize;

/// What a heatmap counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum HeatmapOf {
    /// Activity records.
    #[default]
    Activity,
    /// Desktops with a Stats record that names a user, once an hour.
    Reporting,
}

impl HeatmapOf {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Activity, Self::Reporting];

    /// The name in queries.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Activity => "activity",
            Self::Reporting => "reporting",
        }
    }
}

/// What is counted, over which time, in which time zone.
///
/// ```
/// use deskfleet::{Engine, query::{HeatmapOf, HeatmapQuery}};
///
/// let engine = Engine::in_memory()?;
/// let cells = engine.query(&HeatmapQuery { of: HeatmapOf::Reporting, ..HeatmapQuery::default() })?;
/// assert_eq!(cells.rows.len(), 7 * 24);
/// # Ok::<(), deskfleet::EngineError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HeatmapQuery {
    /// What is counted. Default activity records.
    pub of: HeatmapOf,
    /// Records whose time in history is this or later, in whole hours. Default 28 days before `to`.
    pub from: Option<Timestamp>,
    /// Records filed before this time. Default now.
    pub to: Option<Timestamp>,
    /// How far the clocks of the time zone are ahead of UTC, in minutes; at most 14 hours. Default 0.
    pub offset_minutes: i32,
}

row! {
    /// An hour of the week.
    pub struct HeatmapCell {
        /// Day of the week, 1 to 7; Monday is 1.
        weekday: i64 = "weekday",
        /// Hour of the day, 0 to 23.
        hour: i64 = "hour",
        /// Activity records, or desktops that reported a user, each once in an hour.
        count: u64 = "count",
        /// Different users of the desktops that are counted, on the days on which they are.
        users: u64 = "users",
    }
}

/// A set of cells.
#[derive(Debug, Clone, Copy, Default)]
struct Cells([u64; CELLS.div_ceil(64)]);

impl Cells {
    fn insert(&mut self, cell: usize) {
        if let Some(word) = self.0.get_mut(cell / 64) {
            *word |= 1 << (cell % 64);
        }
    }

    fn is_empty(self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    fn contains(self, cell: usize) -> bool {
        let word = self.0.get(cell / 64);
        word.is_some_and(|word| word >> (cell % 64) & 1 == 1)
    }

    fn add(&mut self, other: Self) {
        for (word, other) in self.0.iter_mut().zip(other.0) {
            *word |= other;
        }
    }
}

/// A heatmap while it is counted.
struct Counts {
    of: HeatmapOf,
    /// The hours that are counted, from the first to before the second, since the year 1.
    hours: (u32, u32),
    /// How many hours the time zone is ahead of UTC, rounded down.
    ahead: i64,
    /// Of each cell.
    sums: [u64; CELLS],
    /// The indexes of the users in `counted`; 64 bits wide, so that all maps of texts share one compiled copy.
    users: BTreeMap<String, u64>,
    /// The cells in which each user is counted.
    counted: Vec<Cells>,
    users_left_out: bool,
}

impl Counts {
    /// Adds a day of an instance; adds to `users` who is counted in which cells.
    fn add_day<'v>(&mut self, day: &DayRef<'v>, users: &mut Vec<(&'v str, Cells)>) -> Result<()> {
        let (activities, names) = day.people()?;
        let connected = match self.of {
            HeatmapOf::Activity => None,
            HeatmapOf::Reporting => Some(day.slots()?.connected),
        };
        let mut cells = Cells::default();
        for (of_day, (hour, activities)) in (0..u32::from(HOURS)).zip(activities.iter().enumerate())
        {
            let count = match &connected {
                None => *activities,
                Some(connected) => connected.any_in_hour(hour).into(),
            };
            let utc = day.day * u32::from(HOURS) + of_day;
            if count == 0 || utc < self.hours.0 || utc >= self.hours.1 {
                continue;
            }
            // The year 1 began on a Monday.
            let local = (i64::from(utc) + self.ahead).rem_euclid(7 * i64::from(HOURS));
            let cell = usize::try_from(local).unwrap_or_default();
            if let Some(sum) = self.sums.get_mut(cell) {
                *sum = sum.saturating_add(count);
                cells.insert(cell);
            }
        }
        if cells.is_empty() {
            return Ok(());
        }
        for name in names {
            match users.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => known.add(cells),
                None => users.push((name, cells)),
            }
        }
        Ok(())
    }

    fn add_users(&mut self, users: &[(&str, Cells)]) {
        for (name, cells) in users {
            let place = self.users.get(*name).copied();
            let place = place.and_then(|place| usize::try_from(place).ok());
            if let Some(known) = place.and_then(|place| self.counted.get_mut(place)) {
                known.add(*cells);
            } else if self.users.len() < HEATMAP_USERS_MAX {
                let place = self.counted.len() as u64;
                self.users.insert((*name).to_owned(), place);
                self.counted.push(*cells);
            } else {
                self.users_left_out = true;
            }
        }
    }

    fn rows(&self) -> Vec<HeatmapCell> {
        let mut users = [0; CELLS];
        for cells in &self.counted {
            for (cell, count) in users.iter_mut().enumerate() {
                *count += u64::from(cells.contains(cell));
            }
        }
        let hours = (1..=7).flat_map(|weekday| (0..HOURS).map(move |hour| (weekday, hour)));
        let rows = hours.zip(self.sums.iter().zip(users));
        rows.map(|((weekday, hour), (count, users))| HeatmapCell {
            weekday,
            hour: hour.into(),
            count: *count,
            users,
        })
        .collect()
    }
}

impl FleetQuery for HeatmapQuery {
    type Answer = Rows<HeatmapCell>;

    fn answer(&self, fleet: &Fleet<'_>) -> Result<Self::Answer> {
        heatmap(&fleet.readers.rollups()?, self)
    }
}

impl Ask for HeatmapQuery {
    const QUESTION: Question = Question::Heatmap;
    const COLUMNS: &'static [Column] = HeatmapCell::COLUMNS;

    fn parse(query: Query<'_>, now: Timestamp) -> Result<Self> {
        let (from, to) = query.range(now)?;
        let of = query.one_of("of", &HeatmapOf::ALL, HeatmapOf::as_str)?;
        Ok(Self {
            of: of.unwrap_or_default(),
            from,
            to,
            offset_minutes: query.offset()?,
        })
    }
}

/// The heatmap that is asked for: all hours of a week.
fn heatmap(reader: &Reader, query: &HeatmapQuery) -> Result<Rows<HeatmapCell>> {
    if !(-OFFSET_MAX..=OFFSET_MAX).contains(&query.offset_minutes) {
        let message = "A time zone is at most 14 hours from UTC.";
        return Err(EngineError::invalid("offset", message));
    }
    let range = Range::between(query.from, query.to, RANGE_DEFAULT, reader.now)?;
    let mut coverage = Coverage::hours(reader, range);
    coverage.cut_days(reader)?;
    let covered = coverage.range();
    let mut counts = Counts {
        of: query.of,
        hours: (hour(covered.from), hour(covered.to)),
        ahead: i64::from(query.offset_minutes.div_euclid(60)),
        sums: [0; CELLS],
        users: BTreeMap::new(),
        counted: Vec::new(),
        users_left_out: false,
    };
    let mut add = |_: &[u8], _: &LatestRef<'_>, days: &[DayRef<'_>]| {
        let mut users = Vec::new();
        for day in days {
            counts.add_day(day, &mut users)?;
        }
        counts.add_users(&users);
        Ok(Step::Continue(()))
    };
    scan_window(&reader.snapshot, coverage.days_covered(), &mut add)?;
    if query.offset_minutes % 60 != 0 {
        coverage.warn("The offset is not of whole hours: what is of an hour (UTC) counts in the hour of the time zone in which that begins.".to_owned());
    }
    if counts.users_left_out {
        coverage.warn(format!(
            "There are more than {HEATMAP_USERS_MAX} users: `users` leaves the others out."
        ));
    }
    Ok(Rows {
        warnings: coverage.into_warnings(),
        ..Rows::whole(counts.rows(), reader.now)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_beyond_those_that_are_counted_are_left_out() {
        let mut counts = Counts {
            of: HeatmapOf::Activity,
            hours: (0, 0),
            ahead: 0,
            sums: [0; CELLS],
            users: BTreeMap::new(),
            counted: Vec::new(),
            users_left_out: false,
        };
        let mut cells = Cells::default();
        cells.insert(CELLS - 1);
        for user in 0..HEATMAP_USERS_MAX {
            counts.add_users(&[(&user.to_string(), cells)]);
        }
        counts.add_users(&[("0", cells)]);
        assert!(!counts.users_left_out);
        counts.add_users(&[("another", cells)]);
        assert!(counts.users_left_out);
        let last = counts.rows().pop().unwrap();
        assert_eq!((last.weekday, last.hour), (7, 23));
        assert_eq!(last.users, HEATMAP_USERS_MAX as u64);
    }
}
