//! Reading every record of a history in a range.

use crate::domain::range::Range;
use crate::error::Result;
use crate::store::telemetry::history;
use crate::store::telemetry::rows::Rows;
use crate::timestamp::Timestamp;
use crate::view::Reader;

use super::HistoryQuery;
use super::places::{each_content, pending};

/// Visits each record of a history that was filed in `range` once: first the pending ones, then the filed ones, newest days first
/// and in no order within a day. After `max` records it reads no further part, and returns the first moment from which it has
/// read all days.
pub(crate) fn scan(
    reader: &Reader,
    query: &HistoryQuery,
    range: Range,
    max: usize,
    visit: &mut dyn FnMut(&Rows, usize),
) -> Result<Option<Timestamp>> {
    let read = &reader.snapshot;
    let first_day = range.from.day();
    let mut last_day = Timestamp::from_ticks(range.to.ticks() - 1).day();
    let mut visit = |rows: &Rows, row| {
        let filed_at = rows.filed_at(row);
        if filed_at >= range.from && filed_at < range.to {
            visit(rows, row);
        }
    };
    let days = first_day..=last_day;
    let places = pending(reader, query, &days)?;
    each_content(reader, query, &places, &mut |_, rows, row| {
        visit(rows, row);
        Ok(())
    })?;
    let mut records = places.len();
    let mut rows = Rows::default();
    while let Some(day) = history::last_day(read, query.stream, first_day, last_day)? {
        let mut is_cut = false;
        history::scan_bucket(read, query.bucket(day), &mut |part| {
            if part.last < range.from || part.first >= range.to {
                return Ok(());
            }
            if records >= max {
                is_cut = true;
                return Ok(());
            }
            rows.clear();
            part.add_to(&mut rows)?;
            records += rows.len();
            (0..rows.len()).for_each(|row| visit(&rows, row));
            Ok(())
        })?;
        if is_cut {
            return Ok(Some(Timestamp::from_day(day.saturating_add(1))));
        }
        if day == first_day {
            break;
        }
        last_day = day - 1;
    }
    Ok(None)
}
