//! A bounded number of bytes of packed records: the first ones of all that were offered.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::limits::NEWEST_WINDOW_BYTES;
use crate::model::Stream;
use crate::store::codec::Encoder;
use crate::store::telemetry::packed::{Packed, pack};
use crate::store::telemetry::rows::Rows;
use crate::timestamp::Timestamp;

/// The bytes before the packed record in a key: the filed time and the time of receipt.
const TIMES_BYTES: usize = 16;
/// The bytes of an entry beside its key.
const ENTRY_BYTES: usize = 64;

/// The number of equal records, and the position of the first.
#[derive(Debug, Clone, Copy)]
struct Copies {
    /// Those that carry a time repeat one another: they are one.
    count: u32,
    /// Its number in the queue, from 1; 0 if it is filed.
    place: u32,
}

/// The records of a span of time that come next, as far as they fit.
#[derive(Debug)]
pub(super) struct Window {
    /// Exclusive.
    start: Timestamp,
    /// Inclusive.
    end: Timestamp,
    /// The greatest entry of this window; `None` for any.
    ceiling: Option<Vec<u8>>,
    /// The greatest entry that is left to the next window. Entries up to it do not belong here.
    floor: Option<Vec<u8>>,
    /// Whether this is the last window.
    is_last: bool,
    /// By the times and the packed record: later ones come first.
    entries: BTreeMap<Vec<u8>, Copies>,
    bytes: usize,
    scratch: Encoder,
}

/// The record of an entry.
pub(super) fn packed_in(key: &[u8]) -> Packed<'_> {
    let time = |at: usize| {
        let bytes = key.get(at..).and_then(<[u8]>::first_chunk);
        let ordered = bytes.copied().map_or(0, u64::from_be_bytes);
        Timestamp::from_ticks((ordered ^ 1 << 63).cast_signed())
    };
    Packed {
        stream: Stream::Activity,
        filed_at: time(0),
        received_at: time(8),
        bytes: key.get(TIMES_BYTES..).unwrap_or_default(),
    }
}

impl Window {
    pub(super) fn new(start: Timestamp, end: Timestamp) -> Self {
        Self {
            start,
            end,
            ceiling: None,
            floor: None,
            is_last: false,
            entries: BTreeMap::new(),
            bytes: 0,
            scratch: Encoder::default(),
        }
    }

    pub(super) fn is_used_up(&self) -> bool {
        self.entries.is_empty() && !self.is_last
    }

    /// The first entry, and how many records that is.
    pub(super) fn take_first(&mut self) -> Option<(Vec<u8>, u32)> {
        let (key, copies) = self.entries.pop_last()?;
        Some((key, copies.count))
    }

    /// Begins the next window, once this one is used up.
    pub(super) fn begin(&mut self) {
        self.ceiling = self.floor.take();
        self.is_last = true;
        self.bytes = 0;
    }

    /// The filed times that belong here, both inclusive.
    pub(super) fn span(&self) -> (Timestamp, Timestamp) {
        let start = Timestamp::from_ticks(self.start.ticks() + 1);
        let ceiling = self.ceiling.as_deref().map(packed_in);
        (start, ceiling.map_or(self.end, |ceiling| ceiling.filed_at))
    }

    /// Whether no record filed at `time` or before belongs here any more.
    pub(super) fn ends_after(&self, time: Timestamp) -> bool {
        let floor = self.floor.as_deref().map(packed_in);
        floor.is_some_and(|floor| floor.filed_at > time)
    }

    /// Takes a row unless it is outside the window. `place` is its number in the queue, 0 for a filed one.
    pub(super) fn offer(&mut self, rows: &Rows, row: usize, place: u32) -> Result<()> {
        let (filed_at, received_at) = rows.order(row);
        if filed_at <= self.start || filed_at > self.end {
            return Ok(());
        }
        self.scratch.clear();
        self.scratch.raw(&filed_at.ordered_ticks().to_be_bytes());
        self.scratch.raw(&received_at.ordered_ticks().to_be_bytes());
        pack(rows, row, &mut self.scratch)?;
        let key = self.scratch.bytes();
        let is_before = |bound: &Option<Vec<u8>>| bound.as_deref().is_some_and(|bound| key > bound);
        if is_before(&self.ceiling) || self.floor.is_some() && !is_before(&self.floor) {
            return Ok(());
        }
        if let Some(copies) = self.entries.get_mut(key) {
            copies.count += u32::from(rows.sent(row).is_none());
            copies.place = copies.place.min(place);
            return Ok(());
        }
        self.bytes += key.len() + ENTRY_BYTES;
        self.entries
            .insert(key.to_vec(), Copies { count: 1, place });
        while self.bytes > NEWEST_WINDOW_BYTES
            && self.entries.len() > 1
            && let Some((last, _)) = self.entries.pop_first()
        {
            self.bytes -= last.len() + ENTRY_BYTES;
            self.floor = Some(last);
            self.is_last = false;
        }
        Ok(())
    }

    /// The records without a filed copy.
    pub(super) fn queued(&self) -> impl Iterator<Item = Packed<'_>> {
        let queued = self.entries.iter().filter(|(_, copies)| copies.place > 0);
        queued.map(|(key, _)| packed_in(key))
    }

    /// Drops the queued records that are not the first of their day and content in `firsts`.
    pub(super) fn keep_firsts(&mut self, firsts: &BTreeMap<(u32, Vec<u8>), u32>) {
        self.entries.retain(|key, copies| {
            let record = packed_in(key);
            let content = (record.filed_at.day(), record.bytes.to_vec());
            let first = firsts.get(&content).filter(|_| copies.place > 0);
            first.is_none_or(|first| *first == copies.place)
        });
    }

    /// The memory that its records take, in bytes.
    #[cfg(test)]
    pub(super) fn memory(&self) -> usize {
        self.bytes
    }
}
