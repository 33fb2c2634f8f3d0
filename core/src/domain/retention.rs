//! How long things are kept.

use crate::limits::{SEAL_AFTER_SECONDS, TERMINATED_DAYS};
use crate::model::State;
use crate::timestamp::Timestamp;

const DAY_SECONDS: i64 = 86_400;

/// The moment `days` before `now`.
pub(crate) fn days_before(now: Timestamp, days: u16) -> Timestamp {
    now.plus_seconds(-i64::from(days) * DAY_SECONDS)
}

/// The first day whose records are kept: a day goes as a whole, once its last moment is older than `days`.
pub(crate) fn first_day_kept(now: Timestamp, days: u16) -> u32 {
    days_before(now, days).day()
}

/// The last day whose history is sealed: its end is some time ago.
pub(crate) fn last_day_sealed(now: Timestamp) -> u32 {
    now.plus_seconds(-SEAL_AFTER_SECONDS)
        .day()
        .saturating_sub(1)
}

/// Whether a workspace is listed: a TERMINATED one for 7 days, a held one for as long as the hold.
pub(crate) fn is_listed(
    state: Option<&str>,
    state_since: Timestamp,
    held: bool,
    now: Timestamp,
) -> bool {
    let terminated = state.is_some_and(|state| State::named(state) == Some(State::Terminated));
    held || !terminated || now < state_since.plus_seconds(TERMINATED_DAYS * DAY_SECONDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminated_workspaces_are_listed_for_seven_days() {
        let since = Timestamp::from_unix_seconds(1_790_000_000);
        let last = Timestamp::from_ticks(since.plus_seconds(7 * DAY_SECONDS).ticks() - 1);
        let after = since.plus_seconds(7 * DAY_SECONDS);
        assert!(is_listed(Some("TERMINATED"), since, false, last));
        assert!(!is_listed(Some("terminated"), since, false, after));
        assert!(is_listed(Some("TERMINATED"), since, true, after));
        assert!(is_listed(Some("STOPPED"), since, false, after));
        assert!(is_listed(None, since, false, after));
    }

    #[test]
    fn a_day_is_kept_until_its_last_moment_is_too_old() {
        let now: Timestamp = "2026-11-20T12:00:00Z".parse().unwrap();
        let kept: Timestamp = "2026-10-21T00:00:00Z".parse().unwrap();
        assert_eq!(first_day_kept(now, 30), kept.day());
    }
}
