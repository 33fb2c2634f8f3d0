//! Where a record stands in history.

use crate::limits::RECORD_AHEAD_SECONDS;
use crate::timestamp::Timestamp;

use super::retention::days_before;

/// The time a record is filed at: the time it carries, or that of its receipt where it carries none or one that cannot
/// be believed, more than 24 h ahead of the clock or older than its stream is kept. An agent whose clock is off loses
/// no data that way.
pub(crate) fn filed_at(
    sent: Option<Timestamp>,
    received_at: Timestamp,
    retention_days: u16,
) -> Timestamp {
    let oldest = days_before(received_at, retention_days);
    let newest = received_at.plus_seconds(RECORD_AHEAD_SECONDS);
    match sent {
        Some(sent) if sent >= oldest && sent <= newest => sent,
        Some(_) | None => received_at,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unbelievable_times_become_the_time_of_receipt() {
        let now = Timestamp::from_unix_seconds(1_790_000_000);
        let day = 86_400;
        for (sent, filed) in [
            (None, now),
            (Some(now.plus_seconds(day)), now.plus_seconds(day)),
            (
                Some(Timestamp::from_ticks(now.plus_seconds(day).ticks() + 1)),
                now,
            ),
            (
                Some(now.plus_seconds(-30 * day)),
                now.plus_seconds(-30 * day),
            ),
            (
                Some(Timestamp::from_ticks(
                    now.plus_seconds(-30 * day).ticks() - 1,
                )),
                now,
            ),
            (Some(Timestamp::UNIX_EPOCH), now),
        ] {
            assert_eq!(filed_at(sent, now, 30), filed, "{sent:?}");
        }
    }
}
