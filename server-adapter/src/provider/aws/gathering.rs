//! Gathering desktops for calls that take 25 of them. It keeps no time of its own.

use std::time::{Duration, Instant};

/// Desktops in one call, at most; the bound of Reboot, Start, Stop, Terminate and Describe.
pub const BATCH_MAX: usize = 25;
/// How long the first desktop of a batch waits for others.
pub const GATHER_MAX: Duration = Duration::from_millis(200);

/// What has gathered for one operation.
#[derive(Debug)]
pub struct Gathering<T> {
    items: Vec<T>,
    since: Option<Instant>,
}

impl<T> Default for Gathering<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            since: None,
        }
    }
}

impl<T> Gathering<T> {
    /// Adds one.
    pub fn push(&mut self, item: T, now: Instant) {
        self.since.get_or_insert(now);
        self.items.push(item);
    }

    /// When the next batch is due; `None` while there is nothing.
    #[must_use]
    pub fn due(&self) -> Option<Instant> {
        let since = self.since?;
        let is_full = self.items.len() >= BATCH_MAX;
        Some(if is_full { since } else { since + GATHER_MAX })
    }

    /// A batch that is due: the oldest, 25 at most.
    pub fn take(&mut self, now: Instant) -> Option<Vec<T>> {
        if self.due()? > now {
            return None;
        }
        let count = self.items.len().min(BATCH_MAX);
        let batch = self.items.drain(..count).collect();
        // Those left are as old as the newest of the batch, or younger: they wait no longer than from now.
        self.since = (!self.items.is_empty()).then_some(now);
        Some(batch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn take_waits_for_others_and_no_longer_than_its_bound() {
        let mut gathering = Gathering::default();
        let now = Instant::now();
        assert_eq!(gathering.due(), None);
        gathering.push(1, now);
        gathering.push(2, now + GATHER_MAX / 2);
        assert_eq!(gathering.take(now + GATHER_MAX / 2), None);
        assert_eq!(gathering.take(now + GATHER_MAX), Some(vec![1, 2]));
        assert_eq!(gathering.take(now + GATHER_MAX), None);
    }

    #[test]
    fn take_of_a_full_batch_is_at_once_and_bounded() {
        let mut gathering = Gathering::default();
        let now = Instant::now();
        (0..60).for_each(|item| gathering.push(item, now));
        assert_eq!(gathering.take(now), Some((0..25).collect()));
        assert_eq!(gathering.take(now), Some((25..50).collect()));
        assert_eq!(gathering.take(now), None);
        assert_eq!(gathering.take(now + GATHER_MAX), Some((50..60).collect()));
        assert_eq!(gathering.due(), None);
    }
}
