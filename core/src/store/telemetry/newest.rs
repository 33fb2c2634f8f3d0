//! The records of a stream over all instances, newest first.
//!
//! Telemetry is stored by instance, so a look for the newest records of all instances scans every part of a day. A
//! [`NewestFirst`] takes as many of the records after the last one as fit a window of bounded size, and returns these; then it
//! looks again. Each look reads a snapshot of its own, so only the window is held between two of them, however many records there
//! are. Readers at the same time share windows.

mod repeated;
mod shared;
mod window;

use std::sync::Arc;

use crate::error::Result;
use crate::limits::NEWEST_WINDOW_BYTES;
use crate::model::Stream;
use crate::store::table::Read;
use crate::timestamp::Timestamp;

use super::history;
use super::packed::Packed;
use super::pending_block::PendingBlock;
use super::rows::Rows;

use repeated::{drop_repeated, read_queued, rows_of};
use window::{Position, Window};

pub(crate) use shared::SharedWindows;

/// The least time that a window covers, in a fraction of the whole.
const WINDOWS_MAX: i64 = 1024;

/// The records of a stream filed in a span of time, newest first: each that is there from the first look to the last comes
/// exactly once.
#[derive(Debug)]
pub(crate) struct NewestFirst {
    stream: Stream,
    /// Exclusive.
    start: Timestamp,
    /// Inclusive.
    end: Timestamp,
    /// The next records are here or after it; `None` before the first look.
    ceiling: Option<Position>,
    /// How many records just at the ceiling were handed out.
    passed: usize,
    window: Arc<Window>,
    /// The places in the window of the next record, and of the first that is too old.
    next: usize,
    until: usize,
    shared: Arc<SharedWindows>,
    begun: u64,
}

impl NewestFirst {
    pub(crate) fn new(
        stream: Stream,
        (start, end): (Timestamp, Timestamp),
        shared: &Arc<SharedWindows>,
    ) -> Self {
        Self {
            stream,
            start,
            end,
            ceiling: None,
            passed: 0,
            window: Arc::new(Window::new(stream, end, (None, 0), Position::below(end))),
            next: 0,
            until: 0,
            begun: shared.moment(),
            shared: Arc::clone(shared),
        }
    }

    /// Whether the window is used up, and there may be more records.
    pub(crate) fn needs_look(&self) -> bool {
        let over = self.ceiling.as_ref().map(|ceiling| ceiling.times.0);
        self.next == self.until && over.is_none_or(|floor| floor > self.start)
    }

    /// The next record of the window.
    pub(crate) fn take_next(&mut self) -> Option<Packed<'_>> {
        if self.next == self.until {
            return None;
        }
        if self.window.is_floor(self.next) {
            self.passed += 1;
        }
        let (_, packed) = self.window.entry(self.next)?;
        self.next += 1;
        Some(packed)
    }

    /// Looks for the next records, where `open` gives a snapshot and the blocks of the queue that can hold some of the stream,
    /// the oldest first.
    pub(crate) fn look<R: Read>(
        &mut self,
        open: impl Fn() -> Result<(R, Vec<PendingBlock>)>,
    ) -> Result<()> {
        while self.needs_look() {
            let shared = Arc::clone(&self.shared);
            let mut recent = shared.lock();
            let (begun, ceiling) = (self.begun, self.ceiling.as_ref());
            let found = recent.find(begun, ceiling, self.passed);
            let window = if let Some(window) = found {
                window
            } else {
                let taken = shared.moment();
                let (read, blocks) = open()?;
                recent.keep(taken, self.fill(&read, &blocks)?)
            };
            drop(recent);
            self.adopt(window);
        }
        Ok(())
    }

    /// The memory that the records of the window take, in bytes.
    #[cfg(test)]
    pub(crate) fn memory(&self) -> usize {
        self.window.memory()
    }

    /// Takes from the window what follows the one before.
    fn adopt(&mut self, window: Arc<Window>) {
        let own = window.begins(self.ceiling.as_ref(), self.passed);
        self.next = match &self.ceiling {
            Some(ceiling) if !own => window.place_of(ceiling, self.passed),
            Some(_) | None => 0,
        };
        self.until = window.count_after(self.start).max(self.next);
        if self.ceiling.as_ref() != Some(&window.floor) {
            self.passed = 0;
            self.ceiling = Some(window.floor.clone());
        }
        self.window = window;
    }

    fn fill(&self, read: &impl Read, blocks: &[PendingBlock]) -> Result<Window> {
        let floor = Position::below(self.reach());
        let after = (self.ceiling.clone(), self.passed);
        let mut window = Window::new(self.stream, self.end, after, floor);
        let mut rows = Rows::default();
        let upper = self.upper();
        let mut day = upper.day();
        // The floor may rise meanwhile, and with it the last day that counts.
        while day >= window.floor.times.0.day() {
            history::scan_day(read, self.stream, day, &mut |part| {
                if part.any_filed(window.floor.times.0, upper)? {
                    rows.clear();
                    part.add_to(&mut rows)?;
                    for row in 0..rows.len() {
                        self.offer(&mut window, &rows, row, 0)?;
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
        for block in blocks {
            read_queued(read, block, &mut rows)?;
            for row in rows_of(&rows, self.stream) {
                place += 1;
                self.offer(&mut window, &rows, row, place)?;
            }
        }
        drop_repeated(read, (self.stream, blocks), &mut window, &mut rows)?;
        window.sort();
        Ok(window)
    }

    fn offer(&self, window: &mut Window, rows: &Rows, row: usize, queued: u32) -> Result<()> {
        let filed_at = rows.filed_at(row);
        if filed_at <= self.start || filed_at > self.end {
            return Ok(());
        }
        window.offer(rows, row, queued)
    }

    fn upper(&self) -> Timestamp {
        let ceiling = self.ceiling.as_ref();
        ceiling.map_or(self.end, |ceiling| ceiling.times.0)
    }

    /// How far back the next window should reach: as far as it is nearly full when records are as frequent as in the one before.
    /// A wrong guess costs time and nothing else.
    fn reach(&self) -> Timestamp {
        let before = &self.window;
        let Some(each) = before.memory().checked_div(before.len()) else {
            return self.start;
        };
        let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX).max(1);
        let fitting = NEWEST_WINDOW_BYTES / each.max(1) / 8 * 7;
        let length = before.length().saturating_mul(count(fitting)) / count(before.len());
        let whole = self.end.ticks().saturating_sub(self.start.ticks());
        let upper = self.upper().ticks();
        let reach = upper.saturating_sub(length.max(whole / WINDOWS_MAX + 1));
        self.start.max(Timestamp::from_ticks(reach))
    }
}

impl Drop for NewestFirst {
    fn drop(&mut self) {
        // The store's own and this one: there is no other reader.
        if Arc::strong_count(&self.shared) <= 2 {
            self.shared.lock().clear();
        }
    }
}
