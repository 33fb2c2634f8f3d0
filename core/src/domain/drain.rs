//! How long a full queue takes to have room again.

use crate::limits::{RETRY_AFTER_SECONDS_MAX, RETRY_AFTER_SECONDS_MIN};
use crate::timestamp::Timestamp;

/// Time spent filing beyond which what was long ago counts for half.
const WINDOW_TICKS: i64 = 60 * 10_000_000;

/// How fast records were filed lately.
#[derive(Debug, Default)]
pub(crate) struct DrainRate {
    records: u64,
    /// 100 ns each.
    ticks: i64,
}

impl DrainRate {
    /// Notes that so many records were filed in that time. A clock that is set back meanwhile tells nothing.
    pub(crate) fn note(&mut self, records: u64, began: Timestamp, ended: Timestamp) {
        self.records += records;
        self.ticks += (ended.ticks() - began.ticks()).max(0);
        while self.ticks > WINDOW_TICKS {
            self.records /= 2;
            self.ticks /= 2;
        }
    }

    /// Seconds until so many records are filed, within the bounds of a `Retry-After`. As long as nothing was filed, the
    /// least.
    pub(crate) fn seconds_for(&self, records: u64) -> u32 {
        let ticks = u128::from(records) * u128::from(self.ticks.unsigned_abs());
        let seconds = ticks.div_ceil(u128::from(self.records.max(1)) * 10_000_000);
        u32::try_from(seconds)
            .unwrap_or(u32::MAX)
            .clamp(RETRY_AFTER_SECONDS_MIN, RETRY_AFTER_SECONDS_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(steps: &[(u64, i64)]) -> DrainRate {
        let mut rate = DrainRate::default();
        let start = Timestamp::from_unix_seconds(1_790_000_000);
        for (records, seconds) in steps {
            rate.note(*records, start, start.plus_seconds(*seconds));
        }
        rate
    }

    #[test]
    fn seconds_follow_the_rate_within_their_bounds() {
        for (steps, records, seconds) in [
            (&[][..], 1_000_000, 1),
            (&[(1000, 0)], 1_000_000, 1),
            (&[(1000, 1)], 1000, 1),
            (&[(1000, 1)], 1001, 2),
            (&[(1000, 1), (1000, 3)], 5000, 10),
            (&[(1, 1)], 1_000_000, 60),
            (&[(0, 5)], 100, 60),
            (&[(1000, -5)], 1_000_000, 1),
        ] {
            assert_eq!(noted(steps).seconds_for(records), seconds, "{steps:?}");
        }
    }

    #[test]
    fn what_was_long_ago_counts_less() {
        let slow = [(1000, 50); 20];
        assert!((45..=55).contains(&noted(&slow).seconds_for(1000)));
        let slow_then_fast = [slow, [(10_000, 50); 20]].concat();
        assert!((45..=55).contains(&noted(&slow_then_fast).seconds_for(10_000)));
    }
}
