//! How fast one account may be called in one region: a token bucket. It keeps no time of its own.

use std::time::{Duration, Instant};

/// A token bucket that is reserved from: each caller learns how long to wait before its call.
#[derive(Debug, Clone)]
pub(super) struct Bucket {
    every: Duration,
    burst: u32,
    /// When the bucket is full again, if nobody takes of it until then.
    full_at: Option<Instant>,
    paused_until: Option<Instant>,
}

impl Bucket {
    /// A full bucket.
    ///
    /// `per_second` calls a second, 0.01 to 1000, and `burst` at once, 1 to 1000; what is beyond is taken as the bound.
    pub(super) fn new(per_second: f64, burst: u32) -> Self {
        let per_second = if per_second.is_finite() {
            per_second.clamp(0.01, 1000.0)
        } else {
            0.01
        };
        Self {
            every: Duration::from_secs_f64(per_second.recip()),
            burst: burst.clamp(1, 1000),
            full_at: None,
            paused_until: None,
        }
    }

    /// Takes one token, and returns how long the caller waits before it calls.
    pub(super) fn take(&mut self, now: Instant) -> Duration {
        let full_at = self.full_at.map_or(now, |at| at.max(now)) + self.every;
        self.full_at = Some(full_at);
        let spare = self.every * self.burst;
        full_at.duration_since(now).saturating_sub(spare)
    }

    /// How long a caller whose turn has come waits all the same, as there is a pause.
    pub(super) fn pause_left(&self, now: Instant) -> Duration {
        let until = self.paused_until.unwrap_or(now);
        until.saturating_duration_since(now)
    }

    /// Lets nobody call for a time, because the cloud refused a call: the bucket is empty until then.
    pub(super) fn pause(&mut self, now: Instant, time: Duration) {
        self.paused_until = self.paused_until.max(Some(now + time));
        let empty_until = now + time + self.every * self.burst;
        self.full_at = Some(self.full_at.map_or(empty_until, |at| at.max(empty_until)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn take_after_the_burst_waits_at_the_rate() {
        let mut bucket = Bucket::new(2.0, 5);
        let now = Instant::now();
        let waits: Vec<_> = (0..8).map(|_| bucket.take(now).as_millis()).collect();
        assert_eq!(waits, [0, 0, 0, 0, 0, 500, 1000, 1500]);
    }

    #[test]
    fn take_in_a_long_run_is_burst_and_rate() {
        let mut bucket = Bucket::new(2.0, 5);
        let begun = Instant::now();
        let mut now = begun;
        for _ in 0..40 {
            now += bucket.take(now);
        }
        // 5 at once, 35 at two a second.
        assert_eq!((now - begun).as_millis(), 17_500);
    }

    #[test]
    fn take_after_idle_time_has_no_more_than_the_burst() {
        let mut bucket = Bucket::new(1.0, 2);
        let now = Instant::now() + SECOND * 3600;
        let waits: Vec<_> = (0..4).map(|_| bucket.take(now).as_secs()).collect();
        assert_eq!(waits, [0, 0, 1, 2]);
    }

    #[test]
    fn pause_empties_the_bucket() {
        let mut bucket = Bucket::new(1.0, 3);
        let now = Instant::now();
        assert_eq!(bucket.pause_left(now), Duration::ZERO);
        bucket.pause(now, SECOND * 10);
        assert_eq!(bucket.pause_left(now + SECOND * 4), SECOND * 6);
        let waits: Vec<_> = (0..3).map(|_| bucket.take(now).as_secs()).collect();
        assert_eq!(waits, [11, 12, 13]);
        assert_eq!(bucket.take(now + SECOND * 60).as_secs(), 0);
    }

    #[test]
    fn new_with_senseless_numbers_takes_the_bounds() {
        for rate in [f64::NAN, f64::INFINITY, -1.0, 0.0] {
            let mut bucket = Bucket::new(rate, 0);
            let now = Instant::now();
            assert_eq!(bucket.take(now).as_secs(), 0);
            assert_eq!(bucket.take(now).as_secs(), 100);
        }
    }
}
