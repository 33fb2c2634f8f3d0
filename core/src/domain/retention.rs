//! How long things are kept.

use crate::limits::{CLOCK_SET_SECONDS, RECORD_AHEAD_SECONDS, SEAL_AFTER_SECONDS, TERMINATED_DAYS};
use crate::model::State;
use crate::timestamp::{TICKS_PER_SECOND, Timestamp};

const DAY_SECONDS: i64 = 86_400;
/// A sweep is due once the clock has run for this long.
const SWEEP_TICKS: i64 = 3600 * TICKS_PER_SECOND;
/// A clock before the last sweep is believed once it has run for this long.
const BEHIND_TICKS: i64 = DAY_SECONDS * TICKS_PER_SECOND;
/// The clock is believed if it is ahead of the last sweep by at most this. A sweep advances by no more.
const BELIEVED_SECONDS: i64 = DAY_SECONDS;

/// Watches the clock, so that a jump does no harm until it is corrected. Under a clock that is ahead, retention advances by a day
/// for each hour that the clock runs. It follows a clock that is before the last sweep once that has run for a day.
#[derive(Debug, Default)]
pub(crate) struct ClockWatch {
    seen: Option<Timestamp>,
    /// How long the clock has run since the last sweep, without jumps.
    ticks: i64,
}

impl ClockWatch {
    /// Returns the time of the due sweep, if one is due, when the clock shows `now` and the last sweep was at `swept`. At the
    /// first call one is due if the clock is believed.
    pub(crate) fn due(&mut self, now: Timestamp, swept: Option<Timestamp>) -> Option<Timestamp> {
        let time = sweep_time(swept, now);
        match self.seen {
            None if time == now && !is_behind(now, swept) => self.ticks = SWEEP_TICKS,
            None => {}
            Some(seen) => {
                let step = now.ticks().saturating_sub(seen.ticks());
                if (0..=BELIEVED_SECONDS * TICKS_PER_SECOND).contains(&step) {
                    self.ticks = self.ticks.saturating_add(step);
                }
            }
        }
        self.seen = Some(now);
        let needed = if is_behind(now, swept) {
            BEHIND_TICKS
        } else {
            SWEEP_TICKS
        };
        (self.ticks >= needed).then_some(time)
    }

    /// Records that a sweep took place.
    pub(crate) fn swept(&mut self) {
        self.ticks = 0;
    }
}

/// Whether the clock was ever set: one without a battery begins before 2020.
pub(crate) fn clock_was_set(now: Timestamp) -> bool {
    now >= Timestamp::from_unix_seconds(CLOCK_SET_SECONDS)
}

/// Whether the clock is before the last sweep. A sweep by a clock that was never set does not count.
fn is_behind(now: Timestamp, swept: Option<Timestamp>) -> bool {
    swept.is_some_and(|swept| clock_was_set(swept) && now < swept)
}

/// The time that a sweep uses as now: that of the clock, but at most a day after the `last` sweep. A `last` sweep by a clock that
/// was never set does not count.
fn sweep_time(last: Option<Timestamp>, now: Timestamp) -> Timestamp {
    last.filter(|last| clock_was_set(*last))
        .map_or(now, |last| now.min(last.plus_seconds(BELIEVED_SECONDS)))
}

/// The moment `days` before `now`.
pub(crate) fn days_before(now: Timestamp, days: u16) -> Timestamp {
    now.plus_seconds(-i64::from(days) * DAY_SECONDS)
}

/// The first day whose records are kept: a day is removed as a whole, once its last moment is older than `days`.
pub(crate) fn first_day_kept(now: Timestamp, days: u16) -> u32 {
    days_before(now, days).day()
}

/// Whether a record that a slow clock filed too early is kept by its own time. This uses the clock and not the sweep, because
/// after a slow clock the sweeps catch up by a day an hour.
pub(crate) fn is_kept_by_sent_time(sent: Timestamp, first_day_kept: u32, clock: Timestamp) -> bool {
    sent.day() >= first_day_kept && sent <= clock.plus_seconds(RECORD_AHEAD_SECONDS)
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
    unlisted_at(state, state_since, held).is_none_or(|until| now < until)
}

/// When a workspace stops being listed; `None` if that needs a change first.
pub(crate) fn unlisted_at(
    state: Option<&str>,
    state_since: Timestamp,
    held: bool,
) -> Option<Timestamp> {
    let terminated = state.is_some_and(|state| State::named(state) == Some(State::Terminated));
    (terminated && !held).then(|| state_since.plus_seconds(TERMINATED_DAYS * DAY_SECONDS))
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
    fn a_clock_before_2020_was_never_set() {
        let first: Timestamp = "2020-01-01T00:00:00Z".parse().unwrap();
        assert!(clock_was_set(first));
        for time in [
            first.plus_seconds(-1),
            Timestamp::UNIX_EPOCH,
            Timestamp::MIN,
        ] {
            assert!(!clock_was_set(time), "{time}");
        }
    }

    #[test]
    fn a_clock_that_jumps_moves_sweeps_by_a_day_an_hour() {
        let start = Timestamp::from_unix_seconds(1_790_000_000);
        let jumped = start.plus_seconds(3650 * DAY_SECONDS);
        assert_eq!(sweep_time(None, jumped), jumped, "nothing was kept before");
        let day = start.plus_seconds(DAY_SECONDS);
        for (now, expected) in [(start, start), (day, day), (jumped, day)] {
            assert_eq!(sweep_time(Some(start), now), expected);
        }
        let back = start.plus_seconds(-5);
        assert_eq!(sweep_time(Some(start), back), back);
        assert_eq!(sweep_time(Some(Timestamp::UNIX_EPOCH), start), start);

        let mut watch = ClockWatch::default();
        let mut look = |now| watch.due(now, Some(start));
        assert_eq!(look(jumped), None, "not believed at once");
        assert_eq!(look(start), None);
        assert_eq!(look(jumped), None, "nor by going to and fro");
        assert_eq!(look(jumped.plus_seconds(3599)), None);
        assert_eq!(look(jumped.plus_seconds(3600)), Some(day));
        watch.swept();
        assert_eq!(watch.due(jumped.plus_seconds(3601), Some(day)), None);

        let mut watch = ClockWatch::default();
        assert_eq!(watch.due(day, Some(start)), Some(day));
    }

    #[test]
    fn a_clock_that_is_behind_is_believed_after_a_day() {
        let start = Timestamp::from_unix_seconds(1_790_000_000);
        let behind = start.plus_seconds(-60 * DAY_SECONDS);
        let mut watch = ClockWatch::default();
        for hour in 0..24 {
            assert_eq!(
                watch.due(behind.plus_seconds(3600 * hour), Some(start)),
                None
            );
        }
        let believed = behind.plus_seconds(DAY_SECONDS);
        assert_eq!(watch.due(believed, Some(start)), Some(believed));
        // Set right before that: the next sweep goes on from the last.
        let mut watch = ClockWatch::default();
        for now in [behind, behind.plus_seconds(3600)] {
            assert_eq!(watch.due(now, Some(start)), None);
        }
        let right = start.plus_seconds(7200);
        assert_eq!(watch.due(right, Some(start)), Some(right));
    }

    #[test]
    fn a_day_is_kept_until_its_last_moment_is_too_old() {
        let now: Timestamp = "2026-11-20T12:00:00Z".parse().unwrap();
        let kept: Timestamp = "2026-10-21T00:00:00Z".parse().unwrap();
        assert_eq!(first_day_kept(now, 30), kept.day());
    }
}
