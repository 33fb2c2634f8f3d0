//! The activities of all instances, newest first: by filed time, then by time of receipt, then by content.
//!
//! A [`NewestFirst`] takes as many of those after the last one as fit a window of bounded size, and returns these; then it looks again.
//! Each look reads a snapshot of its own, so only the window is held between two of them, however many activities there are.

mod window;

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Result;
use crate::model::Stream;
use crate::store::codec::Encoder;
use crate::store::meta;
use crate::store::table::{Read, Step};
use crate::timestamp::Timestamp;

use super::block::decode_into;
use super::packed::{Packed, pack};
use super::pending_block::PendingBlock;
use super::rows::{Bucket, Rows};
use super::{history, recent};

use window::{Window, packed_in};

/// The activities filed in a span of time, newest first: each that is there from the first look to the last comes exactly once.
#[derive(Debug)]
pub(crate) struct NewestFirst {
    window: Window,
    /// The entry of the window that was taken last, and how many copies of it are to come.
    taken: Vec<u8>,
    copies: u32,
}

impl NewestFirst {
    /// Those filed after `start`, up to `end`.
    pub(crate) fn new((start, end): (Timestamp, Timestamp)) -> Self {
        Self {
            window: Window::new(start, end),
            taken: Vec::new(),
            copies: 0,
        }
    }

    /// Whether the window is used up, and there may be more records.
    pub(crate) fn needs_look(&self) -> bool {
        self.copies == 0 && self.window.is_used_up()
    }

    /// The next record of the window.
    pub(crate) fn take_next(&mut self) -> Option<Packed<'_>> {
        if self.copies == 0 {
            (self.taken, self.copies) = self.window.take_first()?;
        }
        self.copies -= 1;
        Some(packed_in(&self.taken))
    }

    /// Looks for the next records, where `open` gives a snapshot and the blocks of the queue that can hold activities, the oldest first.
    pub(crate) fn load_next<R: Read>(
        &mut self,
        open: impl Fn() -> Result<(R, Vec<PendingBlock>)>,
    ) -> Result<()> {
        while self.needs_look() {
            let (read, blocks) = open()?;
            self.window.begin();
            let mut rows = Rows::default();
            self.look_at_filed(&read, &mut rows)?;
            each_queued(&read, &blocks, &mut rows, &mut |rows, row, place| {
                self.window.offer(rows, row, place)
            })?;
            self.drop_repeated(&read, &blocks, &mut rows)?;
        }
        Ok(())
    }

    /// The memory that the records of the window take, in bytes.
    #[cfg(test)]
    pub(crate) fn memory(&self) -> usize {
        self.window.memory()
    }

    fn look_at_filed(&mut self, read: &impl Read, rows: &mut Rows) -> Result<()> {
        let whole_from = meta::recent_from(read)?;
        let window = &mut self.window;
        let (from, to) = window.span();
        recent::scan_back(read, (from.max(whole_from), to), |latest, block| {
            if window.ends_after(latest) {
                return Ok(Step::Break(()));
            }
            rows.clear();
            decode_into(block, rows)?;
            let is_whole = |row: &usize| rows.filed_at(*row) >= whole_from;
            let mut whole = (0..rows.len()).filter(is_whole);
            whole.try_for_each(|row| window.offer(rows, row, 0))?;
            Ok(Step::Continue(()))
        })?;
        // What is older than the table, as telemetry was removed or the clock was ahead.
        let mut day = to.min(whole_from).day();
        while from < whole_from
            && day >= from.day()
            && !window.ends_after(Timestamp::from_day(day + 1))
        {
            history::visit_day(read, Stream::Activity, day, None, &mut |part| {
                if part.first < whole_from && part.first <= to && part.last >= from {
                    rows.clear();
                    part.add_to(rows)?;
                    let is_older = |row: &usize| rows.filed_at(*row) < whole_from;
                    let mut older = (0..rows.len()).filter(is_older);
                    older.try_for_each(|row| window.offer(rows, row, 0))?;
                }
                Ok(Step::Continue(()))
            })?;
            let Some(before) = day.checked_sub(1) else {
                break;
            };
            day = before;
        }
        Ok(())
    }

    /// Drops the queued records that repeat one that is filed or was queued before, as
    /// [`Received::repeats`](crate::model::Received::repeats) has it.
    fn drop_repeated(
        &mut self,
        read: &impl Read,
        blocks: &[PendingBlock],
        rows: &mut Rows,
    ) -> Result<()> {
        // By its day and its content, where each comes first: its place in the queue, or 0 in history.
        let mut firsts = BTreeMap::new();
        let mut buckets = BTreeSet::new();
        for record in self.window.queued() {
            let origin = record.origin()?;
            if origin.sent.is_some() {
                let day = record.filed_at.day();
                firsts.insert((day, record.bytes.to_vec()), u32::MAX);
                buckets.insert((day, origin.instance.to_owned()));
            }
        }
        if firsts.is_empty() {
            return Ok(());
        }
        let mut scratch = Encoder::default();
        let mut note = |rows: &Rows, row: usize, place: u32| {
            scratch.clear();
            pack(rows, row, &mut scratch)?;
            let content = (rows.filed_at(row).day(), scratch.bytes().to_vec());
            if let Some(first) = firsts.get_mut(&content) {
                *first = place.min(*first);
            }
            Ok(())
        };
        each_queued(read, blocks, rows, &mut note)?;
        for (day, instance) in &buckets {
            let bucket = Bucket {
                stream: Stream::Activity,
                day: *day,
                instance,
            };
            history::scan_bucket(read, bucket, &mut |part| {
                rows.clear();
                part.add_to(rows)?;
                (0..rows.len()).try_for_each(|row| note(rows, row, 0))
            })?;
        }
        self.window.keep_firsts(&firsts);
        Ok(())
    }
}

/// Calls `visit` with each activity of the queue that is not filed, and its place there, counted from 1.
fn each_queued(
    read: &impl Read,
    blocks: &[PendingBlock],
    rows: &mut Rows,
    visit: &mut dyn FnMut(&Rows, usize, u32) -> Result<()>,
) -> Result<()> {
    let mut place = 0;
    for block in blocks {
        rows.clear();
        block.add_to(read, rows)?;
        for row in 0..rows.len() {
            if rows.stream(row) == Stream::Activity {
                place += 1;
                visit(rows, row, place)?;
            }
        }
    }
    Ok(())
}
