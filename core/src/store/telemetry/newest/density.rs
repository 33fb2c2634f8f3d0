//! How many records lie where in time, roughly.

use crate::timestamp::Timestamp;

use crate::store::telemetry::history::StoredPart;

/// Parts of the whole time that are told apart.
const SLOTS: usize = 1024;
/// Times that the records of one part are taken to lie at, at most.
const POINTS: usize = 8;

/// Filed records by their time, roughly: within a part they are taken to be spread evenly. It tells how far back a window is
/// to reach. A wrong guess costs time and nothing else.
#[derive(Debug)]
pub(super) struct Density {
    start: i64,
    /// Ticks of one slot.
    width: i64,
    slots: Vec<u32>,
}

impl Density {
    /// From `start` to `end`.
    pub(super) fn new(start: Timestamp, end: Timestamp) -> Self {
        let whole = end.ticks().saturating_sub(start.ticks());
        Self {
            start: start.ticks(),
            width: (whole / i64::try_from(SLOTS).unwrap_or(i64::MAX) + 1).max(1),
            slots: vec![0; SLOTS],
        }
    }

    pub(super) fn add(&mut self, part: &StoredPart<'_>, records: usize) {
        let points = records.clamp(1, POINTS);
        let share = u32::try_from(records.div_ceil(points)).unwrap_or(u32::MAX);
        let length = part.last.ticks().saturating_sub(part.first.ticks());
        for point in 0..points {
            let steps = i64::try_from(points - 1).unwrap_or(1).max(1);
            let at = i64::try_from(point).unwrap_or_default();
            let time = part.first.ticks().saturating_add(length / steps * at);
            let slot = self.slot(time);
            if let Some(slot) = self.slots.get_mut(slot) {
                *slot = slot.saturating_add(share);
            }
        }
    }

    fn slot(&self, ticks: i64) -> usize {
        let slot = ticks.saturating_sub(self.start) / self.width;
        usize::try_from(slot).unwrap_or_default()
    }

    /// A time before `end` from which on about `records` lie before it.
    pub(super) fn reach(&self, end: Timestamp, records: usize) -> Timestamp {
        let records = u64::try_from(records).unwrap_or(u64::MAX);
        let last = self.slot(end.ticks().saturating_sub(1)).min(SLOTS - 1);
        let mut found = 0_u64;
        let enough = |slot: &usize| {
            found += u64::from(self.slots.get(*slot).copied().unwrap_or_default());
            found >= records
        };
        let slot = (0..=last).rev().find(enough).unwrap_or_default();
        let slot = i64::try_from(slot).unwrap_or_default();
        Timestamp::from_ticks(self.start.saturating_add(self.width.saturating_mul(slot)))
    }
}
