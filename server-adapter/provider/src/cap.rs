//! How many actions that destroy may begin in an hour.

use std::collections::VecDeque;

use deskfleet::Timestamp;

/// Seconds that count.
const WINDOW_SECONDS: i64 = 3600;

/// What was begun within the last hour. Filled from the server at the start, or a process that is restarted again and again would
/// have no bound.
#[derive(Debug)]
pub(super) struct Cap {
    pub(super) max: usize,
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

    /// How many more may begin now.
    pub(super) fn room(&mut self, now: Timestamp) -> usize {
        // Where the clock was set back, they count for an hour from now and no longer.
        for at in self.begun.iter_mut().rev().take_while(|at| **at > now) {
            *at = now;
        }
        let from = now.plus_seconds(-WINDOW_SECONDS);
        while self.begun.front().is_some_and(|at| *at <= from) {
            self.begun.pop_front();
        }
        self.max.saturating_sub(self.begun.len())
    }

    /// Counts one more, unless there are as many as there may be; returns what to [give back](Self::give_back).
    pub(super) fn take(&mut self, now: Timestamp) -> Option<Timestamp> {
        if self.room(now) == 0 {
            return None;
        }
        self.begun.push_back(now);
        Some(now)
    }

    /// What was counted at that time has destroyed nothing.
    pub(super) fn give_back(&mut self, taken: Timestamp) {
        if let Some(index) = self.begun.iter().rposition(|at| *at == taken) {
            self.begun.remove(index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_so_much_is_destroyed_in_an_hour() {
        let now = Timestamp::from_unix_seconds(1_795_161_600);
        let mut cap = Cap::new(2, vec![now.plus_seconds(-1800)]);
        assert!(cap.take(now).is_some());
        assert!(cap.take(now).is_none());
        assert!(cap.take(now.plus_seconds(1799)).is_none());
        let later = cap.take(now.plus_seconds(1800));
        let later = later.expect("that before the start counts no more");
        assert!(cap.take(now.plus_seconds(1801)).is_none());
        cap.give_back(later);
        assert_eq!(cap.room(now.plus_seconds(1801)), 1);
        assert_eq!(Cap::new(0, Vec::new()).take(now), None);
    }

    #[test]
    fn clock_that_is_set_back_holds_the_bound_for_an_hour_at_most() {
        let now = Timestamp::from_unix_seconds(1_795_161_600);
        let mut cap = Cap::new(2, vec![now.plus_seconds(9000)]);
        cap.take(now).expect("room");
        assert_eq!(cap.take(now.plus_seconds(3599)), None);
        assert_eq!(cap.room(now.plus_seconds(3600)), 2);
    }

    #[test]
    fn what_is_given_back_is_the_own_and_not_that_of_another() {
        let now = Timestamp::from_unix_seconds(1_795_161_600);
        let mut cap = Cap::new(2, Vec::new());
        let first = cap.take(now).expect("room");
        cap.take(now.plus_seconds(3000)).expect("room");
        cap.take(now.plus_seconds(3600)).expect("the first is over");
        // A call that lasted for more than an hour: its time counts no more.
        cap.give_back(first);
        assert_eq!(cap.room(now.plus_seconds(3600)), 0);
    }
}
