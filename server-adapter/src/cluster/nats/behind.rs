//! Telling a log that lost its end from a server that is behind.

use std::time::Duration;

use tokio::time::Instant;

/// How long a leader that the others have replaced may go on answering; it steps down after ten seconds without them.
const LEADER_MAX: Duration = Duration::from_secs(20);
/// Between two answers of one leader, while it is asked again and again. After longer it may be another.
const PAUSE_MAX: Duration = Duration::from_secs(6);

/// Since when all answers are behind what was seen in the log.
#[derive(Debug, Default)]
pub(super) struct Behind(Option<(Instant, Instant)>);

impl Behind {
    /// Takes note of an answer; returns whether it may come from a server that is behind.
    pub(super) fn may_be(&mut self, is_behind: bool, now: Instant) -> bool {
        if !is_behind {
            self.0 = None;
            return false;
        }
        let since = self.0.filter(|(_, last)| now - *last <= PAUSE_MAX);
        let since = since.map_or(now, |(since, _)| since);
        self.0 = Some((since, now));
        now - since < LEADER_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_that_stay_behind_are_believed_and_single_ones_are_not() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut behind = Behind::default();
        assert!(!behind.may_be(false, at(0)));
        // Long after each other: perhaps of two leaders.
        for seconds in [10, 30, 50] {
            assert!(behind.may_be(true, at(seconds)));
        }
        assert!(!behind.may_be(false, at(51)));
        for seconds in (52..72).step_by(2) {
            assert!(behind.may_be(true, at(seconds)));
        }
        assert!(!behind.may_be(true, at(72)));
        assert!(!behind.may_be(true, at(74)));
        assert!(!behind.may_be(false, at(75)));
        assert!(behind.may_be(true, at(76)));
    }
}
