//! When a record was received, and the time under which it is filed.

use crate::limits::{RECORD_AHEAD_SECONDS, RECORD_LATE_SECONDS};
use crate::timestamp::Timestamp;

use super::retention::clock_was_set;

/// The times that the engine gives a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Times {
    /// When it was received, by the clock, but not before the last sweep.
    pub(crate) received_at: Timestamp,
    /// The time under which it is filed: the one it carries, or `received_at`.
    pub(crate) filed_at: Timestamp,
}

/// How the time that a record carries compares with its receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dating {
    /// It carries no time, or one close to its receipt.
    Current,
    /// It was sent much earlier, and is filed under its own time.
    Late,
    /// It was sent by a clock that is ahead, and is filed under its receipt.
    Ahead,
}

impl Times {
    /// The dating of a record with the time `sent`.
    pub(crate) fn dating(&self, sent: Option<Timestamp>) -> Dating {
        if sent.is_some_and(|sent| sent > self.filed_at) {
            Dating::Ahead
        } else if self.filed_at.plus_seconds(RECORD_LATE_SECONDS) < self.received_at {
            Dating::Late
        } else {
            Dating::Current
        }
    }
}

/// The times of a record that carries the time `sent` and arrives when the clock shows `now`.
///
/// It is filed under its own time, however old that is. Without one, or with one more than five minutes ahead of the clock, it is
/// filed under its receipt, so a clock that is ahead hides no later reading.
///
/// The engine's own clock is not believed if it is before the last sweep, `swept`, or was never set. Then the record's own time
/// counts, up to a retention period after the sweep.
pub(crate) fn times(
    sent: Option<Timestamp>,
    now: Timestamp,
    retention_days: u16,
    swept: Option<Timestamp>,
) -> Times {
    let swept = swept.filter(|swept| clock_was_set(*swept));
    let received_at = swept.map_or(now, |swept| now.max(swept));
    let never_set = !clock_was_set(received_at);
    // It is unknown how far a slow clock has fallen back; more than a retention period makes no difference.
    let ahead = if now < received_at {
        received_at.plus_seconds(i64::from(retention_days) * 86_400)
    } else {
        received_at
    };
    let newest = ahead.plus_seconds(RECORD_AHEAD_SECONDS);
    let believed = |sent: &Timestamp| never_set || *sent <= newest;
    Times {
        received_at,
        filed_at: sent.filter(believed).unwrap_or(received_at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400;

    fn now() -> Timestamp {
        Timestamp::from_unix_seconds(1_790_000_000)
    }

    fn days(days: i64) -> Timestamp {
        now().plus_seconds(days * DAY)
    }

    fn tick(time: Timestamp, ticks: i64) -> Timestamp {
        Timestamp::from_ticks(time.ticks() + ticks)
    }

    #[test]
    fn record_stands_at_its_own_time_however_old_and_never_ahead() {
        let ahead = now().plus_seconds(RECORD_AHEAD_SECONDS);
        for (sent, filed, dating) in [
            (None, now(), Dating::Current),
            (Some(ahead), ahead, Dating::Current),
            (Some(tick(ahead, 1)), now(), Dating::Ahead),
            (Some(days(1)), now(), Dating::Ahead),
            (Some(Timestamp::MAX), now(), Dating::Ahead),
            (
                Some(now().plus_seconds(-3600)),
                now().plus_seconds(-3600),
                Dating::Current,
            ),
            (
                Some(now().plus_seconds(-3601)),
                now().plus_seconds(-3601),
                Dating::Late,
            ),
            (Some(days(-31)), days(-31), Dating::Late),
            (
                Some(Timestamp::UNIX_EPOCH),
                Timestamp::UNIX_EPOCH,
                Dating::Late,
            ),
            (Some(Timestamp::MIN), Timestamp::MIN, Dating::Late),
        ] {
            for swept in [None, Some(now()), Some(days(-1)), Some(days(-40))] {
                let times = times(sent, now(), 30, swept);
                assert_eq!(times.filed_at, filed, "{sent:?}, {swept:?}");
                assert_eq!(times.received_at, now());
                assert_eq!(times.dating(sent), dating, "{sent:?}, {swept:?}");
            }
        }
    }

    #[test]
    fn receipt_by_a_clock_that_is_behind_is_not_believed() {
        for clock in [days(-60), now().plus_seconds(-1), Timestamp::UNIX_EPOCH] {
            for (sent, filed) in [
                (Some(now()), now()),
                (Some(days(3)), days(3)),
                (Some(days(30)), days(30)),
                (Some(days(31)), now()),
                (Some(days(-31)), days(-31)),
                (None, now()),
            ] {
                let times = times(sent, clock, 30, Some(now()));
                assert_eq!(times.filed_at, filed, "{clock}, {sent:?}");
                assert_eq!(times.received_at, now());
            }
        }
        let unset = Timestamp::from_unix_seconds(1000);
        for swept in [None, Some(Timestamp::UNIX_EPOCH)] {
            assert_eq!(times(Some(now()), unset, 30, swept).filed_at, now());
            assert_eq!(times(None, unset, 30, swept).filed_at, unset);
        }
    }
}
