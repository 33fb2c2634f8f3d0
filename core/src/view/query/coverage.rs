//! The part of a range that a response from the rollups covers, and the warnings that all such responses have.

use std::ops::RangeInclusive;

use crate::domain::range::{Range, step_of};
use crate::error::Result;
use crate::limits::{HOUR_ROWS_EXAMINED_MAX, ROLLUP_ROWS_EXAMINED_MAX};
use crate::store::table::Table;
use crate::timestamp::Timestamp;
use crate::view::Reader;

const HOUR: i64 = 60 * 60;
const DAY: i64 = 24 * HOUR;

/// The part of a range that a response from the rollups covers.
#[derive(Debug)]
pub(crate) struct Coverage {
    range: Range,
    warnings: Vec<String>,
    /// Rollups of an hour and a group that may be examined.
    pub(crate) hour_rows_max: u64,
}

impl Coverage {
    /// The hours that have a part in the range.
    pub(crate) fn hours(reader: &Reader, asked: Range) -> Self {
        Self::whole(reader, asked, (HOUR, "hours"))
    }

    /// The days (UTC) that have a part in the range, for an answer that examines some desktops.
    pub(crate) fn all_days(reader: &Reader, asked: Range) -> Self {
        Self::whole(reader, asked, (DAY, "days"))
    }

    /// The days (UTC) that have a part in the range, cut by [`Self::cut_days`].
    pub(crate) fn days(reader: &Reader, asked: Range) -> Result<Self> {
        let mut days = Self::all_days(reader, asked);
        days.cut_days(reader)?;
        Ok(days)
    }

    fn whole(reader: &Reader, asked: Range, (seconds, units): (i64, &str)) -> Self {
        let mut warnings = common_warnings(reader);
        let last = step_of(last_moment(asked), seconds);
        let range = Range {
            from: step_of(asked.from, seconds),
            to: last.plus_seconds(seconds),
        };
        // The present hour or day ends after the range, and has no later records.
        if range.from < asked.from || (range.to > asked.to && asked.to < reader.now) {
            let Range { from, to } = range;
            warnings.push(format!(
                "The answer is of whole {units} (UTC), from {from} to {to}."
            ));
        }
        Self {
            range,
            warnings,
            hour_rows_max: HOUR_ROWS_EXAMINED_MAX,
        }
    }

    /// Leaves out the oldest days where all instances have more rollups than [`ROLLUP_ROWS_EXAMINED_MAX`].
    pub(crate) fn cut_days(&mut self, reader: &Reader) -> Result<()> {
        self.cut_days_to(reader, ROLLUP_ROWS_EXAMINED_MAX)
    }

    /// The same with another bound.
    pub(crate) fn cut_days_to(&mut self, reader: &Reader, rows: u64) -> Result<()> {
        let instances = reader.snapshot.len(Table::Latest)?.max(1);
        let days = u32::try_from((rows / instances).max(1)).unwrap_or(u32::MAX);
        let newest = *self.days_covered().end().min(&reader.now.day());
        let from = Timestamp::from_day(newest.saturating_sub(days - 1));
        if from > self.range.from {
            self.leave_out_before(from);
        }
        Ok(())
    }

    /// Adds the warning that rows before `at` were not examined, because there are too many.
    pub(crate) fn leave_out_before(&mut self, at: Timestamp) {
        self.range.from = self.range.from.max(at);
        self.warnings.push(format!(
            "Older days are left out: what is before {at} is more than one answer examines. Ask for a shorter time."
        ));
    }

    /// Adds a warning: a sentence without any text of a client.
    pub(crate) fn warn(&mut self, warning: String) {
        self.warnings.push(warning);
    }

    /// What is covered, in whole hours or days.
    pub(crate) fn range(&self) -> Range {
        self.range
    }

    /// The days that have a part in what is covered, as [`Timestamp::day`] numbers them.
    pub(crate) fn days_covered(&self) -> RangeInclusive<u32> {
        self.range.from.day()..=last_moment(self.range).day()
    }

    /// The warnings of the response.
    pub(crate) fn into_warnings(self) -> Vec<String> {
        self.warnings
    }
}

/// The warnings of every response from the rollups.
pub(crate) fn common_warnings(reader: &Reader) -> Vec<String> {
    let unfiled = Some(reader.unfiled).filter(|unfiled| *unfiled > 0);
    let warning = |unfiled| format!("The {unfiled} newest records are queued and not counted yet.");
    unfiled.map(warning).into_iter().collect()
}

fn last_moment(range: Range) -> Timestamp {
    Timestamp::from_ticks(range.to.ticks() - 1)
}
