//! A bounded number of bytes of packed records: of all that were offered, those that come first.

use std::cmp::Ordering;

use crate::error::Result;
use crate::limits::NEWEST_WINDOW_BYTES;
use crate::model::Stream;
use crate::store::codec::Encoder;
use crate::store::telemetry::packed::{Packed, pack};
use crate::store::telemetry::rows::Rows;
use crate::timestamp::Timestamp;

/// The position of a record among all of a stream: by filed time, by time of receipt, then by content. Later is first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Position {
    pub(super) times: (Timestamp, Timestamp),
    pub(super) packed: Vec<u8>,
}

impl Position {
    /// After every record filed at `time` or later, before all that are filed earlier.
    pub(super) fn below(time: Timestamp) -> Self {
        Self {
            times: (time, Timestamp::MIN),
            packed: Vec::new(),
        }
    }

    fn cmp_to(&self, times: (Timestamp, Timestamp), packed: &[u8]) -> Ordering {
        (self.times, self.packed.as_slice()).cmp(&(times, packed))
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    times: (Timestamp, Timestamp),
    at: u32,
    length: u32,
    /// Of a queued record, its place in the queue, counted from 1; 0 when it is filed.
    pub(super) queued: u32,
}

/// The records between two positions, as far as they fit.
#[derive(Debug)]
pub(super) struct Window {
    stream: Stream,
    entries: Vec<Entry>,
    bytes: Vec<u8>,
    /// Nothing that is filed later is here.
    end: Timestamp,
    /// Nothing before this is here, nor the first `passed` just at it.
    ceiling: Option<Position>,
    passed: usize,
    /// Of those at the ceiling, how many are still to be passed over.
    to_pass: usize,
    /// Every other record that was offered and is before this is here.
    pub(super) floor: Position,
    scratch: Encoder,
}

impl Window {
    /// A window of what follows `passed` records at `ceiling`, and is not after `floor`.
    pub(super) fn new(
        stream: Stream,
        end: Timestamp,
        (ceiling, passed): (Option<Position>, usize),
        floor: Position,
    ) -> Self {
        Self {
            stream,
            entries: Vec::new(),
            bytes: Vec::new(),
            end,
            ceiling,
            passed,
            to_pass: passed,
            floor,
            scratch: Encoder::default(),
        }
    }

    /// Whether it was filled from that position.
    pub(super) fn begins(&self, ceiling: Option<&Position>, passed: usize) -> bool {
        self.ceiling.as_ref() == ceiling && self.passed == passed
    }

    /// Whether it holds what follows `passed` records at `ceiling`.
    pub(super) fn continues_at(&self, ceiling: &Position, passed: usize) -> bool {
        let begins = match &self.ceiling {
            Some(own) => own > ceiling || (own == ceiling && self.passed == passed),
            None => ceiling.times.0 <= self.end,
        };
        begins && self.floor < *ceiling
    }

    /// The place of what follows `passed` records at `ceiling`.
    pub(super) fn place_of(&self, ceiling: &Position, passed: usize) -> usize {
        let order = |entry: &Entry| ceiling.cmp_to(entry.times, packed_at(&self.bytes, entry));
        let before = self
            .entries
            .partition_point(|entry| order(entry) == Ordering::Less);
        let rest = self.entries.iter().skip(before);
        let equal = rest.take_while(|entry| order(entry) == Ordering::Equal);
        before + equal.take(passed).count()
    }

    /// How many of its records were filed after `start`.
    pub(super) fn count_after(&self, start: Timestamp) -> usize {
        self.entries.partition_point(|entry| entry.times.0 > start)
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The time that it covers, in ticks.
    pub(super) fn length(&self) -> i64 {
        let end = self
            .ceiling
            .as_ref()
            .map_or(self.end, |ceiling| ceiling.times.0);
        end.ticks().saturating_sub(self.floor.times.0.ticks())
    }

    /// The memory that its records take, in bytes.
    pub(super) fn memory(&self) -> usize {
        self.bytes.len() + size_of_val(self.entries.as_slice())
    }

    /// Takes a row, unless it is outside of the window.
    pub(super) fn offer(&mut self, rows: &Rows, row: usize, queued: u32) -> Result<()> {
        let times = rows.order(row);
        let ceiling = self.ceiling.as_ref();
        if times < self.floor.times || ceiling.is_some_and(|ceiling| times > ceiling.times) {
            return Ok(());
        }
        self.scratch.clear();
        pack(rows, row, &mut self.scratch)?;
        let packed = self.scratch.bytes();
        if self.floor.cmp_to(times, packed) != Ordering::Less {
            return Ok(());
        }
        match ceiling.map(|ceiling| ceiling.cmp_to(times, packed)) {
            Some(Ordering::Less) => return Ok(()),
            Some(Ordering::Equal) if self.to_pass > 0 => {
                self.to_pass -= 1;
                return Ok(());
            }
            Some(Ordering::Equal | Ordering::Greater) | None => {}
        }
        self.entries.push(Entry {
            times,
            at: offset(self.bytes.len()),
            length: offset(packed.len()),
            queued,
        });
        self.bytes.extend_from_slice(packed);
        if self.memory() > NEWEST_WINDOW_BYTES {
            self.evict();
        }
        Ok(())
    }

    /// Drops the last quarter, and takes nothing more there.
    fn evict(&mut self) {
        const KEPT_BYTES: usize = NEWEST_WINDOW_BYTES / 4 * 3;
        self.sort();
        let mut memory = 0;
        let kept = self.entries.iter().take_while(|entry| {
            memory += entry.length as usize + size_of::<Entry>();
            memory <= KEPT_BYTES
        });
        let kept = kept.count().max(1);
        let Some(first) = self.entries.get(kept) else {
            return;
        };
        self.floor = Position {
            times: first.times,
            packed: packed_at(&self.bytes, first).to_vec(),
        };
        self.entries.truncate(kept);
        sort(&mut self.entries, &mut |a, b| a.at.cmp(&b.at));
        let mut end = 0;
        for entry in &mut self.entries {
            let (at, length) = (entry.at as usize, entry.length as usize);
            self.bytes.copy_within(at..at + length, end);
            entry.at = offset(end);
            end += length;
        }
        self.bytes.truncate(end);
    }

    /// Puts the records into their order.
    pub(super) fn sort(&mut self) {
        let Self { entries, bytes, .. } = self;
        let key = |entry: &Entry| (entry.times, packed_at(bytes, entry));
        sort(entries, &mut |a, b| key(b).cmp(&key(a)));
    }

    pub(super) fn entry(&self, place: usize) -> Option<(Entry, Packed<'_>)> {
        let entry = self.entries.get(place)?;
        let (filed_at, received_at) = entry.times;
        let packed = Packed {
            stream: self.stream,
            filed_at,
            received_at,
            bytes: packed_at(&self.bytes, entry),
        };
        Some((*entry, packed))
    }

    /// Whether the record at `place` is just at the floor.
    pub(super) fn is_floor(&self, place: usize) -> bool {
        self.entry(place).is_some_and(|(entry, packed)| {
            self.floor.cmp_to(entry.times, packed.bytes) == Ordering::Equal
        })
    }

    /// Drops the records at these places.
    pub(super) fn remove(&mut self, dropped: &[bool]) {
        let mut dropped = dropped.iter().copied();
        self.entries.retain(|_| !dropped.next().unwrap_or_default());
    }
}

/// One copy of sorting for both orders.
#[inline(never)]
fn sort(entries: &mut [Entry], order: &mut dyn FnMut(&Entry, &Entry) -> Ordering) {
    entries.sort_unstable_by(order);
}

fn packed_at<'b>(bytes: &'b [u8], entry: &Entry) -> &'b [u8] {
    let at = entry.at as usize;
    bytes
        .get(at..at + entry.length as usize)
        .unwrap_or_default()
}

/// A place within the window, which is far smaller than this can count.
fn offset(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}
