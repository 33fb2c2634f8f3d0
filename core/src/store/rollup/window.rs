//! The days of all instances, side by side.

use std::ops::{Bound, RangeInclusive};

use crate::error::Result;
use crate::store::cursor::Cursor;
use crate::store::table::{ALL_KEYS, Snapshot, Step, Table};

use super::daily;
use super::day::DayRef;
use super::latest::LatestRef;

/// A function that gets an instance: its key, its newest values, its days.
type Visit<'v> = dyn FnMut(&[u8], &LatestRef<'_>, &[DayRef<'_>]) -> Result<Step> + 'v;

/// Visits every instance in the order of its key, with its rollups of `days`, newest first.
pub(crate) fn scan_window(
    snapshot: &Snapshot,
    days: RangeInclusive<u32>,
    visit: &mut Visit<'_>,
) -> Result<()> {
    let mut latest = snapshot.cursor(Table::Latest, ALL_KEYS)?;
    let mut cursors = Vec::new();
    for day in daily::stored_days(snapshot, &days)?.rev() {
        let (start, end) = (day.to_be_bytes(), day.saturating_add(1).to_be_bytes());
        let range = (
            Bound::Included(start.as_slice()),
            Bound::Excluded(end.as_slice()),
        );
        cursors.push(snapshot.cursor(Table::Daily, range)?);
    }
    while let Some((key, value)) = latest.peek() {
        let row = LatestRef::read(value)?;
        let mut rollups = Vec::new();
        if days.contains(&row.day) {
            rollups.push(row.rollup);
        }
        for cursor in &mut cursors {
            skip_to(cursor, key)?;
        }
        for cursor in &cursors {
            if let Some((at, value)) = cursor.peek()
                && daily::read_key(at)?.1 == key
            {
                rollups.push(daily::read_value(at, value)?);
            }
        }
        if visit(key, &row, &rollups)?.is_break() {
            break;
        }
        latest.advance()?;
    }
    Ok(())
}

/// Advances to the first day whose instance is not before `key`.
fn skip_to(cursor: &mut Cursor, key: &[u8]) -> Result<()> {
    while let Some((at, _)) = cursor.peek()
        && daily::read_key(at)?.1 < key
    {
        cursor.advance()?;
    }
    Ok(())
}
