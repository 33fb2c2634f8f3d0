//! When to try again.

use std::time::Duration;

/// The longest time to wait at first.
const FIRST: Duration = Duration::from_secs(1);
/// The longest time to wait.
const MAX: Duration = Duration::from_secs(60);

/// How long to wait after `failures`, at least 1, in a row: any time up to a bound that doubles ("full jitter"), so that those who
/// were refused together do not come back together. `random` is a number of any size.
#[must_use]
pub fn pause(failures: u32, asked: Option<Duration>, random: u64) -> Duration {
    let bound = FIRST
        .saturating_mul(1 << failures.saturating_sub(1).min(6))
        .min(MAX);
    let millis = u64::try_from(bound.as_millis()).unwrap_or(u64::MAX);
    let jittered = Duration::from_millis(random % millis.saturating_add(1));
    jittered.max(asked.unwrap_or_default().min(MAX))
}

/// A random number; zero if the host's random source fails.
#[must_use]
pub fn random() -> u64 {
    getrandom::u64().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pause_doubles_up_to_a_minute_and_is_anything_below() {
        for (failures, seconds) in [(1, 1), (2, 2), (3, 4), (6, 32), (7, 60), (u32::MAX, 60)] {
            let bound = Duration::from_secs(seconds);
            assert_eq!(pause(failures, None, seconds * 1000), bound);
            assert_eq!(pause(failures, None, 0), Duration::ZERO);
            assert!(pause(failures, None, u64::MAX) <= bound);
        }
    }

    #[test]
    fn pause_is_as_long_as_asked_but_no_longer_than_a_minute() {
        let asked = Duration::from_secs(20);
        assert_eq!(pause(1, Some(asked), 0), asked);
        assert_eq!(pause(1, Some(Duration::from_secs(3600)), 0), MAX);
    }
}
