//! When a record was received, and where it stands in history.

use crate::limits::RECORD_AHEAD_SECONDS;
use crate::timestamp::Timestamp;

use super::retention::{clock_was_set, days_before, is_ahead};

/// The times that the engine gives a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Times {
    /// When it was received: what the clock shows, but not before the last sweep.
    pub(crate) received_at: Timestamp,
    /// Where it stands in history: one of the time it carries and `received_at`.
    pub(crate) filed_at: Timestamp,
}

/// The times of a record that carries the time `sent` and arrives when the clock shows `now`.
///
/// It is filed at the time it carries, or at its receipt where it carries none or one that cannot be believed, more than 24 h
/// ahead of the clock or older than its stream is kept. An agent whose clock is off loses no data that way.
///
/// Nor does it where the clock of the engine is off, which the last sweep, `swept`, shows. A clock that is behind it, or was never
/// set, is not believed, and the time that the record carries counts, as far after the sweep as records are kept. A clock that is
/// farther ahead than a sweep would believe makes no record old that was not old at the last sweep.
pub(crate) fn times(
    sent: Option<Timestamp>,
    now: Timestamp,
    retention_days: u16,
    swept: Option<Timestamp>,
) -> Times {
    let swept = swept.filter(|swept| clock_was_set(*swept));
    let received_at = swept.map_or(now, |swept| now.max(swept));
    let is_behind = now < received_at || !clock_was_set(received_at);
    let ahead_of = swept.filter(|swept| is_ahead(received_at, *swept));
    let oldest = days_before(ahead_of.unwrap_or(received_at), retention_days);
    // How far a clock that is behind has fallen back is not known; farther than records are kept makes no difference.
    let ahead = if is_behind {
        received_at.plus_seconds(i64::from(retention_days) * 86_400)
    } else {
        received_at
    };
    let newest = ahead.plus_seconds(RECORD_AHEAD_SECONDS);
    let never_set = !clock_was_set(received_at);
    let believed = |sent: &Timestamp| *sent >= oldest && (never_set || *sent <= newest);
    Times {
        received_at,
        filed_at: sent.filter(believed).unwrap_or(received_at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filed_at(
        sent: Option<Timestamp>,
        clock: Timestamp,
        days: u16,
        swept: Option<Timestamp>,
    ) -> Timestamp {
        times(sent, clock, days, swept).filed_at
    }

    const DAY: i64 = 86_400;

    fn now() -> Timestamp {
        Timestamp::from_unix_seconds(1_790_000_000)
    }

    fn days(days: i64) -> Timestamp {
        now().plus_seconds(days * DAY)
    }

    #[test]
    fn unbelievable_times_become_the_time_of_receipt() {
        let tick = |time: Timestamp, ticks: i64| Timestamp::from_ticks(time.ticks() + ticks);
        for (sent, filed) in [
            (None, now()),
            (Some(days(1)), days(1)),
            (Some(tick(days(1), 1)), now()),
            (Some(days(-30)), days(-30)),
            (Some(tick(days(-30), -1)), now()),
            (Some(Timestamp::UNIX_EPOCH), now()),
        ] {
            for swept in [
                None,
                Some(now()),
                Some(now().plus_seconds(-3600)),
                Some(days(-1)),
            ] {
                assert_eq!(
                    filed_at(sent, now(), 30, swept),
                    filed,
                    "{sent:?}, {swept:?}"
                );
            }
        }
    }

    #[test]
    fn receipt_by_a_clock_that_is_behind_is_not_believed() {
        for clock in [days(-60), now().plus_seconds(-1), Timestamp::UNIX_EPOCH] {
            for (sent, filed) in [
                (Some(now()), now()),
                (Some(days(3)), days(3)),
                (Some(days(31)), days(31)),
                (Some(days(32)), now()),
                (Some(days(-30)), days(-30)),
                (Some(days(-31)), now()),
                (None, now()),
            ] {
                assert_eq!(
                    filed_at(sent, clock, 30, Some(now())),
                    filed,
                    "{clock}, {sent:?}"
                );
            }
        }
        let unset = Timestamp::from_unix_seconds(1000);
        for swept in [None, Some(Timestamp::UNIX_EPOCH)] {
            assert_eq!(filed_at(Some(now()), unset, 30, swept), now());
            assert_eq!(filed_at(None, unset, 30, swept), unset);
        }
    }

    #[test]
    fn record_received_by_a_clock_that_is_ahead_keeps_its_time() {
        let ahead = days(40);
        for (sent, filed) in [
            (Some(now()), now()),
            (Some(days(-30)), days(-30)),
            (Some(days(-31)), ahead),
            (Some(days(41)), days(41)),
            (Some(days(42)), ahead),
            (None, ahead),
        ] {
            assert_eq!(filed_at(sent, ahead, 30, Some(now())), filed, "{sent:?}");
        }
    }
}
