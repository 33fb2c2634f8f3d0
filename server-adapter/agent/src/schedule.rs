//! When an agent measures: each at its own moment of the interval, so that those of a fleet do not meet.

use std::time::{Duration, SystemTime};

/// The part of `every` by which the moments of `instance` come later than the whole intervals since 1970: the same after each start, and
/// spread evenly over the instances.
pub(crate) fn phase(instance: &str, every: Duration) -> Duration {
    // FNV-1a of 64 bits, whose upper bits are mixed in: ids that differ in the last character would be neighbours.
    let hash = instance
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    let mixed = (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let millis = u64::try_from(every.as_millis()).unwrap_or(u64::MAX).max(1);
    Duration::from_millis(mixed % millis)
}

/// The first moment after `now` of an interval with a phase.
pub(crate) fn next(now: SystemTime, every: Duration, phase: Duration) -> SystemTime {
    let since = now
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    let every = every.max(Duration::from_millis(1));
    let into = (since + every).saturating_sub(phase).as_millis() % every.as_millis();
    let into = Duration::from_millis(u64::try_from(into).unwrap_or(0));
    now + every.saturating_sub(into)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERY: Duration = Duration::from_secs(300);

    #[test]
    fn moments_of_an_instance_are_an_interval_apart_and_the_same_after_a_start() {
        let phase = phase("ws-8k2m4n6p1", EVERY);
        let start = SystemTime::UNIX_EPOCH + Duration::from_millis(1_763_625_600_123);
        let first = next(start, EVERY, phase);
        assert!(start < first && first <= start + EVERY);
        assert_eq!(next(first, EVERY, phase), first + EVERY);
        assert_eq!(next(first - Duration::from_millis(1), EVERY, phase), first);
    }

    #[test]
    fn agents_of_a_fleet_are_spread_over_the_interval() {
        let mut seconds = [0_u32; 300];
        for number in 0..5000 {
            let phase = phase(&format!("WSAMZN-{number:05}"), EVERY);
            seconds[usize::try_from(phase.as_secs()).unwrap()] += 1;
        }
        let most = seconds.iter().max().unwrap();
        // 16.7 on average; a fair hash has 40 in a second about once in a hundred thousand.
        assert!(*most < 40, "{most} in one second");
    }
}
