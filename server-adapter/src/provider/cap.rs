//! How many actions that destroy may begin in an hour.

use std::collections::VecDeque;

use deskfleet::Timestamp;

/// Seconds that count.
const WINDOW_SECONDS: i64 = 3600;

/// What was begun within the last hour. Filled from the server at the start, or a process that is restarted again and again would
/// have no bound.
#[derive(Debug)]
pub(super) struct Cap {
    max: usize,
    begun: VecDeque<Timestamp>,
}

impl Cap {
    pub(super) fn new(max: u32, mut begun: Vec<Timestamp>) -> Self {
        begun.sort_unstable();
        Self {
            max: usize::try_from(max).unwrap_or(usize::MAX),
            begun: begun.into(),
        }
    }

    /// Counts one more, unless there are as many as there may be.
    pub(super) fn take(&mut self, now: Timestamp) -> bool {
        let from = now.plus_seconds(-WINDOW_SECONDS);
        while self.begun.front().is_some_and(|at| *at <= from) {
            self.begun.pop_front();
        }
        let has_room = self.begun.len() < self.max;
        if has_room {
            self.begun.push_back(now);
        }
        has_room
    }

    /// What was counted last has destroyed nothing.
    pub(super) fn give_back(&mut self) {
        self.begun.pop_back();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_so_much_is_destroyed_in_an_hour() {
        let now = Timestamp::from_unix_seconds(1_795_161_600);
        let mut cap = Cap::new(2, vec![now.plus_seconds(-1800)]);
        assert!(cap.take(now));
        assert!(!cap.take(now));
        assert!(!cap.take(now.plus_seconds(1799)));
        assert!(cap.take(now.plus_seconds(1800)));
        assert!(!cap.take(now.plus_seconds(1801)));
        cap.give_back();
        assert!(cap.take(now.plus_seconds(1801)));
        assert!(!Cap::new(0, Vec::new()).take(now));
    }
}
