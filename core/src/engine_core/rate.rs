//! How many records arrive.

use std::sync::Mutex;

use crate::locks::lock;
use crate::timestamp::{TICKS_PER_SECOND, Timestamp};

const SECONDS: i64 = 60;
const PLACES: usize = 60;

/// The records of the last minute, by second.
#[derive(Debug)]
pub(super) struct Rate(Mutex<[(i64, u64); PLACES]>);

impl Default for Rate {
    fn default() -> Self {
        Self(Mutex::new([(i64::MIN, 0); PLACES]))
    }
}

fn second(time: Timestamp) -> i64 {
    time.ticks().div_euclid(TICKS_PER_SECOND)
}

impl Rate {
    /// Counts records that were committed at `now`.
    pub(super) fn add(&self, now: Timestamp, records: u64) {
        let second = second(now);
        let place = usize::try_from(second.rem_euclid(SECONDS)).unwrap_or_default();
        if let Some((of, count)) = lock(&self.0).get_mut(place) {
            if *of != second {
                (*of, *count) = (second, 0);
            }
            *count += records;
        }
    }

    /// Records a second in the minute before `now`, with two decimals.
    pub(super) fn per_second(&self, now: Timestamp) -> f64 {
        let last = second(now);
        let minute = last - SECONDS + 1..=last;
        let seconds = lock(&self.0);
        let counted = seconds.iter().filter(|(second, _)| minute.contains(second));
        let records = counted.map(|(_, count)| *count).sum::<u64>();
        #[expect(clippy::cast_precision_loss, reason = "two decimals are shown")]
        let rate = records as f64 / SECONDS as f64;
        (rate * 100.0).round() / 100.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_is_of_the_last_minute() {
        let at = Timestamp::from_unix_seconds;
        let rate = Rate::default();
        assert!(rate.per_second(at(0)).abs() < f64::EPSILON);
        rate.add(at(10), 30);
        rate.add(at(10), 30);
        rate.add(at(69), 1);
        for (now, expected) in [(10, 1.0), (69, 1.02), (70, 0.02), (128, 0.02), (129, 0.0)] {
            assert!((rate.per_second(at(now)) - expected).abs() < 1e-9, "{now}");
        }
        rate.add(at(70), 120);
        assert!((rate.per_second(at(70)) - 2.02).abs() < 1e-9);
    }
}
