//! Distinguishes a log that lost its end from a server that lags.

use std::sync::Mutex;
use std::time::Duration;

use deskfleet::locks::lock;
use tokio::sync::watch;
use tokio::time::Instant;

/// How long a leader that the others have replaced may go on answering; it steps down after ten seconds without them.
const LEADER_MAX: Duration = Duration::from_secs(20);
/// The longest pause between two responses of one leader, while it is asked again and again. After a longer one it may be another leader.
const PAUSE_MAX: Duration = Duration::from_secs(6);

/// The end of the log, as far as it is known here.
#[derive(Debug, Default)]
pub(super) struct End {
    /// The last position that was appended, read or announced.
    known: watch::Sender<u64>,
    /// The times of the first and the last response with an older end, while all have one.
    lagging: Mutex<Option<(Instant, Instant)>>,
}

impl End {
    /// No answer may be older from now on.
    pub(super) fn saw(&self, position: u64) {
        self.raise(position, true);
    }

    /// The same for an entry that this node appended, and applies itself: nobody waits for it.
    pub(super) fn appended(&self, position: u64) {
        self.raise(position, false);
    }

    fn raise(&self, position: u64, wakes: bool) {
        self.known.send_if_modified(|known| {
            let is_later = position > *known;
            *known = position.max(*known);
            is_later && wakes
        });
    }

    pub(super) fn known(&self) -> u64 {
        *self.known.borrow()
    }

    /// For waiting until more is known.
    pub(super) fn subscribe(&self) -> watch::Receiver<u64> {
        self.known.subscribe()
    }

    /// Whether the log does end at `last`, as a server answered after `known` was known. A leader that the others have replaced may
    /// lag for a while: only a log that stays so has lost its end, and is taken as it is from then on.
    pub(super) fn is_at(&self, last: u64, known: u64, now: Instant) -> bool {
        let mut lagging = lock(&self.lagging);
        if last >= known {
            *lagging = None;
            self.saw(last);
            return true;
        }
        let since = lagging.filter(|(_, latest)| now - *latest <= PAUSE_MAX);
        let since = since.map_or(now, |(since, _)| since);
        *lagging = Some((since, now));
        if now - since < LEADER_MAX {
            return false;
        }
        *lagging = None;
        // Not where more was seen meanwhile.
        self.known.send_if_modified(|later| {
            let is_lost = *later == known;
            if is_lost {
                *later = last;
            }
            is_lost
        });
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_that_stays_older_is_believed_and_a_single_response_is_not() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let end = End::default();
        end.saw(9);
        assert!(end.is_at(9, end.known(), at(0)));
        // Long after each other: perhaps of two leaders.
        for seconds in [10, 30, 50] {
            assert!(!end.is_at(7, end.known(), at(seconds)));
        }
        assert!(end.is_at(9, end.known(), at(51)));
        for seconds in (52..72).step_by(2) {
            assert!(!end.is_at(7, end.known(), at(seconds)));
        }
        // It is known that more was there, until the last of them.
        assert_eq!(end.known(), 9);
        assert!(end.is_at(7, end.known(), at(72)));
        assert_eq!(end.known(), 7);
        assert!(end.is_at(7, end.known(), at(200)));
        assert!(end.is_at(8, end.known(), at(201)));
        assert!(!end.is_at(7, end.known(), at(202)));
    }

    #[test]
    fn entry_that_was_seen_while_a_server_was_asked_is_not_forgotten() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let end = End::default();
        end.saw(9);
        let asked = end.known();
        for seconds in (0..20).step_by(4) {
            assert!(!end.is_at(7, asked, at(seconds)));
        }
        end.saw(10);
        assert!(end.is_at(7, asked, at(20)));
        assert_eq!(end.known(), 10);
    }
}
