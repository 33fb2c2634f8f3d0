//! When the engine sweeps, by the contract: a reference for the model and the simulation.

use deskfleet::Timestamp;

const HOUR: i64 = 3600;
const DAY: i64 = 86_400;
/// A clock that shows an earlier time was never set.
pub(crate) const NEVER_SET_BEFORE: i64 = 1_577_836_800;

/// The engine's knowledge of the clock: it sweeps after an hour by a clock that moves on, or after a day by one before
/// the last sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Sweeps {
    /// The time of the last sweep, at first of the creation of the store.
    pub(crate) last: Timestamp,
    /// The last time that the clock showed, since the store was opened.
    seen: Option<Timestamp>,
    /// Seconds that it has moved on since the last sweep, jumps left out.
    moved: i64,
}

impl Sweeps {
    /// For a store that was opened and swept last at that time.
    pub(crate) fn since(last: Timestamp) -> Self {
        Self {
            last,
            seen: None,
            moved: 0,
        }
    }

    /// The engine reads the clock in its upkeep: returns the time of the sweep that is due.
    pub(crate) fn due_sweep(&mut self, now: Timestamp) -> Option<Timestamp> {
        if now < Timestamp::from_unix_seconds(NEVER_SET_BEFORE) {
            return None;
        }
        let target = now.min(self.last.plus_seconds(DAY));
        let is_behind = now < self.last;
        match self.seen.replace(now) {
            None => self.moved = if target == now && !is_behind { HOUR } else { 0 },
            Some(seen) => {
                let moved = (now.ticks() - seen.ticks()) / 10_000_000;
                if (0..=DAY).contains(&moved) {
                    self.moved += moved;
                }
            }
        }
        let needed = if is_behind { DAY } else { HOUR };
        (self.moved >= needed).then_some(target)
    }

    /// A sweep of that time was stored.
    pub(crate) fn swept(&mut self, time: Timestamp) {
        (self.last, self.moved) = (time, 0);
    }
}
