//! Moments between which the machine may have been suspended.

use std::time::{Duration, Instant, SystemTime};

/// A moment by both clocks of the machine: the one that never goes back stands still while the machine is suspended.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    at: Instant,
    by_the_clock: SystemTime,
}

impl Moment {
    pub(super) fn now() -> Self {
        Self {
            at: Instant::now(),
            by_the_clock: SystemTime::now(),
        }
    }

    /// How long after `earlier` it is, by the clock that says more.
    pub(super) fn since(self, earlier: Self) -> Duration {
        let by_the_clock = self.by_the_clock.duration_since(earlier.by_the_clock);
        let at = self.at.saturating_duration_since(earlier.at);
        at.max(by_the_clock.unwrap_or_default())
    }

    /// The moment that much later by the clock alone.
    #[cfg(test)]
    pub(super) fn after_suspension(self, time: Duration) -> Self {
        Self {
            by_the_clock: self.by_the_clock + time,
            ..self
        }
    }
}
