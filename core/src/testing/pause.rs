//! The clock of a double, and the waits for a latency.

use std::sync::{Condvar, Mutex};
use std::time::Duration;

use crate::clock::{Clock as _, ManualClock};
use crate::locks::lock;
use crate::timestamp::{TICKS_PER_SECOND, Timestamp};

const TICKS_PER_MILLISECOND: i64 = TICKS_PER_SECOND / 1000;

/// Waits that end when their time has passed, or when the clock was advanced by as much.
#[derive(Debug)]
pub(super) struct Pause {
    clock: ManualClock,
    moves: Mutex<()>,
    moved: Condvar,
}

impl Pause {
    pub(super) fn new(start: Timestamp) -> Self {
        Self {
            clock: ManualClock::new(start),
            moves: Mutex::default(),
            moved: Condvar::new(),
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// A handle to the clock, for an engine.
    pub(super) fn clock(&self) -> ManualClock {
        self.clock.clone()
    }

    pub(super) fn wait(&self, milliseconds: u64) {
        let guard = lock(&self.moves);
        let until = later(self.clock.now(), milliseconds);
        let waits = |(): &mut ()| self.clock.now() < until;
        let time = Duration::from_millis(milliseconds);
        // A poisoned lock guards nothing, so the result has nothing to report.
        let _ = self.moved.wait_timeout_while(guard, time, waits);
    }

    pub(super) fn set(&self, time: Timestamp) {
        let _guard = lock(&self.moves);
        self.clock.set(time);
        self.moved.notify_all();
    }

    pub(super) fn advance(&self, milliseconds: u64) {
        let _guard = lock(&self.moves);
        self.clock.set(later(self.clock.now(), milliseconds));
        self.moved.notify_all();
    }
}

fn later(time: Timestamp, milliseconds: u64) -> Timestamp {
    let ticks = i64::try_from(milliseconds).unwrap_or(i64::MAX);
    Timestamp::from_ticks(
        time.ticks()
            .saturating_add(ticks.saturating_mul(TICKS_PER_MILLISECOND)),
    )
}
