//! Timestamps and the times of the standard library.

use std::ops::{Add, Sub};
use std::time::{Duration, SystemTime};

use super::{TICKS_PER_SECOND, Timestamp};

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => Self::from_ticks(ticks(after)),
            Err(before) => Self::from_ticks(-ticks(before.duration())),
        }
    }
}

impl From<Timestamp> for SystemTime {
    /// Where the platform cannot represent the time, such as years before 1601 on Windows, the Unix epoch.
    fn from(time: Timestamp) -> Self {
        let distance = duration(time.0.unsigned_abs());
        let epoch = Self::UNIX_EPOCH;
        let moved = if time.0 < 0 {
            epoch.checked_sub(distance)
        } else {
            epoch.checked_add(distance)
        };
        moved.unwrap_or(epoch)
    }
}

impl Add<Duration> for Timestamp {
    type Output = Self;

    /// Held at [`Timestamp::MAX`].
    fn add(self, duration: Duration) -> Self {
        Self::from_ticks(self.0.saturating_add(ticks(duration)))
    }
}

impl Sub<Duration> for Timestamp {
    type Output = Self;

    /// Held at [`Timestamp::MIN`].
    fn sub(self, duration: Duration) -> Self {
        Self::from_ticks(self.0.saturating_sub(ticks(duration)))
    }
}

impl Timestamp {
    /// The time from `earlier` to this one; zero when `earlier` is not earlier.
    #[must_use]
    pub fn duration_since(self, earlier: Self) -> Duration {
        let ticks = u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0);
        duration(ticks)
    }
}

fn duration(ticks: u64) -> Duration {
    let per_second = TICKS_PER_SECOND.unsigned_abs();
    let nanos = u32::try_from(ticks % per_second * 100).unwrap_or(0);
    Duration::new(ticks / per_second, nanos)
}

fn ticks(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos() / 100).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_time_before_and_after_the_epoch_converts() {
        let second = Duration::from_secs(1);
        assert_eq!(
            Timestamp::from(SystemTime::UNIX_EPOCH + second).ticks(),
            10_000_000
        );
        assert_eq!(
            Timestamp::from(SystemTime::UNIX_EPOCH - second).ticks(),
            -10_000_000
        );
    }

    #[test]
    fn system_time_converts_both_ways_to_the_tick() {
        for text in [
            "1969-12-31T23:59:59.9999999Z",
            "1970-01-01",
            "2026-11-20T08:00:00.1234567Z",
        ] {
            let time: Timestamp = text.parse().unwrap();
            assert_eq!(Timestamp::from(SystemTime::from(time)), time, "{text}");
        }
    }

    #[test]
    fn durations_add_and_subtract_within_the_range() {
        let time: Timestamp = "2026-11-20T08:00:00Z".parse().unwrap();
        let minute = Duration::from_secs(60);
        assert_eq!((time + minute).to_string(), "2026-11-20T08:01:00Z");
        assert_eq!((time - minute).to_string(), "2026-11-20T07:59:00Z");
        assert_eq!((time + minute).duration_since(time), minute);
        assert_eq!(time.duration_since(time + minute), Duration::ZERO);
        assert_eq!(time + Duration::MAX, Timestamp::MAX);
        assert_eq!(time - Duration::MAX, Timestamp::MIN);
    }
}
