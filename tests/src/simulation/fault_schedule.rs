//! The fault schedule: how the clock moves, when the disk fails and what a power cut loses.

use deskfleet::{ManualClock, Timestamp};
use fastrand::Rng;

use crate::files::Part;

use super::disk::Cut;
use super::fault::Fault;

const DAY: i64 = 86_400;
/// Times of a clock that is plainly wrong.
const WRONG: [&str; 6] = [
    "1970-01-01T00:00:00Z",
    "2000-01-01T00:00:00Z",
    "2038-01-19T03:14:08Z",
    "2099-12-31T23:00:00Z",
    "9999-12-31T12:00:00Z",
    "0001-01-01T00:00:00Z",
];
/// Seconds by which a clock is off.
const OFF: [i64; 8] = [
    -1,
    -3600,
    -2 * DAY,
    -40 * DAY,
    3600,
    3 * DAY,
    40 * DAY,
    400 * DAY,
];
/// Moves of a clock before it is set right again.
const WRONG_MOVES_MAX: u32 = 8;

/// A clock that is right most of the time.
#[derive(Debug)]
pub(super) struct Time {
    clock: ManualClock,
    right: Timestamp,
    /// Moves since it went wrong; `None` while it is right.
    wrong: Option<u32>,
}

impl Time {
    pub(super) fn new(start: Timestamp) -> Self {
        Self {
            clock: ManualClock::new(start),
            right: start,
            wrong: None,
        }
    }

    pub(super) fn clock(&self) -> ManualClock {
        self.clock.clone()
    }

    /// Whether the clock is right to within a day: the engine cannot tell such an error from a desktop that slept.
    pub(super) fn is_about_right(&self) -> bool {
        let day = DAY * 10_000_000;
        self.wrong.is_none() || (self.now().ticks() - self.right.ticks()).abs() <= day
    }

    pub(super) fn now(&self) -> Timestamp {
        deskfleet::Clock::now(&self.clock)
    }

    /// Time passes: seconds mostly, hours, now and then weeks. A wrong clock is set right after a while.
    pub(super) fn pass(&mut self, chance: &mut Rng) {
        let seconds = match (chance.u32(..20), self.wrong) {
            (0..10, _) => chance.i64(0..120),
            (10..15, _) | (_, Some(_)) => chance.i64(0..3600),
            (15..19, None) => chance.i64(3600..=DAY),
            (_, None) => chance.i64(DAY..12 * DAY),
        };
        self.right = self.right.plus_seconds(seconds);
        match self.wrong {
            Some(moves) if moves < WRONG_MOVES_MAX => {
                self.wrong = Some(moves + 1);
                self.clock.advance_seconds(seconds);
            }
            Some(_) | None => self.set_right(),
        }
    }

    /// The correct time.
    pub(super) fn right(&self) -> Timestamp {
        self.right
    }

    /// `n` seconds pass, without setting the clock right.
    pub(super) fn elapse(&mut self, seconds: i64) {
        self.right = self.right.plus_seconds(seconds);
        self.clock.advance_seconds(seconds);
    }

    /// What `look` returns while the clock shows this time for a moment.
    pub(super) fn with_clock_at<T>(&self, shown: Timestamp, look: impl FnOnce() -> T) -> T {
        let now = self.now();
        self.clock.set(shown);
        let found = look();
        self.clock.set(now);
        found
    }

    /// Sets the clock wrong, or right when it is wrong.
    pub(super) fn jump(&mut self, chance: &mut Rng) {
        if self.wrong.is_some() {
            return self.set_right();
        }
        self.go_wrong(chance);
    }

    /// Sets the clock wrong by `n` seconds.
    pub(super) fn go_off(&mut self, seconds: i64) {
        self.wrong = Some(0);
        self.clock.set(self.right.plus_seconds(seconds));
    }

    /// Sets the clock wrong.
    pub(super) fn go_wrong(&mut self, chance: &mut Rng) {
        self.wrong = Some(0);
        let wrong = if chance.bool() {
            chance.choice(WRONG).and_then(|time| time.parse().ok())
        } else {
            chance
                .choice(OFF)
                .map(|seconds| self.right.plus_seconds(seconds))
        };
        self.clock.set(wrong.unwrap_or(self.right));
    }

    pub(super) fn set_right(&mut self) {
        self.wrong = None;
        self.clock.set(self.right);
    }
}

/// The part that fails, if it is one alone, the fault, and whether it lasts.
pub(super) fn fault(chance: &mut Rng) -> (Option<Part>, Fault, bool) {
    let after = chance.u64(..12);
    let kinds = Fault::kinds(after);
    let fault = chance.choice(kinds).unwrap_or_default();
    let part = match chance.u32(..4) {
        0 => Some(Part::Store),
        1 => Some(Part::Queue),
        _ => None,
    };
    (part, fault, chance.bool())
}

/// What a power cut does.
pub(crate) fn cut(chance: &mut Rng) -> Cut {
    match chance.u32(..4) {
        0 => Cut::Lost,
        1 => Cut::Kept,
        _ => Cut::Mixed(chance.u64(..)),
    }
}
