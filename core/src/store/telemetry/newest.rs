//! The records of a stream over all instances, newest first.
//!
//! Telemetry lies by instance, so what is newest of all is found by a look at every part of a day. A [`NewestFirst`] takes as
//! many of the records behind the last one as fit a window of bounded size, and hands these out; then it looks again. Each
//! look reads a snapshot of its own, so nothing is held between two of them but the window, however many records there are.

mod density;
mod repeated;
#[cfg(test)]
mod tests;
mod window;

use crate::error::Result;
use crate::limits::NEWEST_WINDOW_BYTES;
use crate::model::Stream;
use crate::store::table::Read;
use crate::timestamp::Timestamp;

use super::history;
use super::packed::Packed;
use super::rows::Rows;

use density::Density;
use repeated::{drop_repeated, read_queued};
use window::{Position, Window};

/// What a record takes in a window, in bytes, before any was seen.
const ENTRY_BYTES: usize = 100;

/// The records of a stream filed in a span of time, newest first: each that is there from the first look to the last comes
/// exactly once.
#[derive(Debug)]
pub(crate) struct NewestFirst {
    stream: Stream,
    /// Exclusive.
    start: Timestamp,
    /// Inclusive.
    end: Timestamp,
    /// What comes next stands here or behind; nothing was handed out while there is none.
    ceiling: Option<Position>,
    /// How many records that stand just at the ceiling were handed out.
    passed: usize,
    window: Window,
    /// The place in the window of the next record.
    next: usize,
    density: Option<Density>,
    entry_bytes: usize,
}

impl NewestFirst {
    pub(crate) fn new(stream: Stream, start: Timestamp, end: Timestamp) -> Self {
        Self {
            stream,
            start,
            end,
            ceiling: None,
            passed: 0,
            window: Window::new(stream),
            next: 0,
            density: None,
            entry_bytes: ENTRY_BYTES,
        }
    }

    /// Whether the window is used up, and there may be more records.
    pub(crate) fn needs_look(&self) -> bool {
        self.next == self.window.len() && !self.is_over()
    }

    fn is_over(&self) -> bool {
        self.window.floor.times.0 <= self.start
    }

    /// The next record of the window.
    pub(crate) fn take_next(&mut self) -> Option<Packed<'_>> {
        if self.next < self.window.len() && self.window.is_floor(self.next) {
            self.passed += 1;
        }
        let (_, packed) = self.window.entry(self.next)?;
        self.next += 1;
        Some(packed)
    }

    /// Looks for the next records. `blocks` are those of the queue that can hold some of the stream, the oldest first.
    pub(crate) fn look(&mut self, read: &impl Read, blocks: &[u64]) -> Result<()> {
        while self.needs_look() {
            self.fill(read, blocks)?;
        }
        Ok(())
    }

    fn fill(&mut self, read: &impl Read, blocks: &[u64]) -> Result<()> {
        let floor = Position::below(self.reach(read)?);
        let mut pass = self.passed;
        self.window.begin(floor);
        self.next = 0;
        let mut rows = Rows::default();
        let upper = self
            .ceiling
            .as_ref()
            .map_or(self.end, |ceiling| ceiling.times.0);
        let mut day = upper.day();
        // The floor may rise meanwhile, and with it the last day that counts.
        while day >= self.window.floor.times.0.day() {
            history::scan_day(read, (self.stream, day), |part| {
                if part.first <= upper && part.last >= self.window.floor.times.0 {
                    part.read(&mut rows)?;
                    for row in 0..rows.len() {
                        self.offer(&rows, row, 0, &mut pass)?;
                    }
                }
                Ok(())
            })?;
            let Some(before) = day.checked_sub(1) else {
                break;
            };
            day = before;
        }
        let mut place = 0;
        for number in blocks {
            read_queued(read, *number, self.stream, &mut rows)?;
            for row in 0..rows.len() {
                place += 1;
                self.offer(&rows, row, place, &mut pass)?;
            }
        }
        drop_repeated(read, (self.stream, blocks), &mut self.window, &mut rows)?;
        self.window.sort();
        if let Some(each) = self.window.memory().checked_div(self.window.len()) {
            self.entry_bytes = each.max(1);
        }
        // What stood just at the floor before was passed over already.
        if self.ceiling.as_ref() != Some(&self.window.floor) {
            self.passed = 0;
        }
        self.ceiling = Some(self.window.floor.clone());
        Ok(())
    }

    fn offer(&mut self, rows: &Rows, row: usize, queued: u32, pass: &mut usize) -> Result<()> {
        let filed_at = rows.filed_at(row);
        if filed_at <= self.start || filed_at > self.end {
            return Ok(());
        }
        let ceiling = self.ceiling.as_ref();
        self.window.offer((rows, row), queued, ceiling, pass)
    }

    /// How far back the next window should reach.
    fn reach(&mut self, read: &impl Read) -> Result<Timestamp> {
        let (start, end, stream) = (self.start, self.end, self.stream);
        let density = match self.density.take() {
            Some(density) => density,
            None => density_of(read, stream, (start, end))?,
        };
        let density = self.density.insert(density);
        let upper = self.ceiling.as_ref().map_or(end, |ceiling| ceiling.times.0);
        let records = NEWEST_WINDOW_BYTES / self.entry_bytes / 8 * 7;
        Ok(density.reach(upper, records).max(start))
    }
}

/// Where the filed records lie in time, by the heads of the parts.
fn density_of(
    read: &impl Read,
    stream: Stream,
    (start, end): (Timestamp, Timestamp),
) -> Result<Density> {
    let mut density = Density::new(start, end);
    for day in start.day()..=end.day() {
        history::scan_day(read, (stream, day), |part| {
            density.add(&part, part.records()?);
            Ok(())
        })?;
    }
    Ok(density)
}
