//! How long things are kept.

use crate::limits::{CLOCK_SET_SECONDS, RECORD_AHEAD_SECONDS, SEAL_AFTER_SECONDS, TERMINATED_DAYS};
use crate::model::State;
use crate::timestamp::{TICKS_PER_SECOND, Timestamp};

const DAY_SECONDS: i64 = 86_400;
/// A sweep takes place once the clock was seen to move on by so much.
const SWEEP_TICKS: i64 = 3600 * TICKS_PER_SECOND;
/// A clock that is behind the last sweep is believed once it was seen to move on by so much.
const BEHIND_TICKS: i64 = DAY_SECONDS * TICKS_PER_SECOND;
/// The clock is believed to be right when it is ahead of the last sweep by at most so much. A sweep moves on by no more.
const BELIEVED_SECONDS: i64 = DAY_SECONDS;

/// Watches the clock, so that one that jumps does no harm until someone has set it right: retention moves on by a day for each hour
/// that one ahead goes on, and goes back to one behind once that has gone on for a day.
#[derive(Debug, Default)]
pub(crate) struct ClockWatch {
    seen: Option<Timestamp>,
    /// What the clock has moved on since the last sweep, jumps left out.
    ticks: i64,
}

impl ClockWatch {
    /// The clock shows `now`, and `swept` is the time of the last sweep. Returns the time of the sweep that is due, if one is. At the
    /// first look one is, when the clock can be believed.
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

    /// A sweep took place.
    pub(crate) fn swept(&mut self) {
        self.ticks = 0;
    }
}

/// Whether the clock was ever set: one without a battery begins somewhere before 2020.
pub(crate) fn clock_was_set(now: Timestamp) -> bool {
    now >= Timestamp::from_unix_seconds(CLOCK_SET_SECONDS)
}

/// Whether the clock is behind the last sweep. One of a clock that was never set says nothing.
fn is_behind(now: Timestamp, swept: Option<Timestamp>) -> bool {
    swept.is_some_and(|swept| clock_was_set(swept) && now < swept)
}

/// The time that a sweep takes for now: that of the clock, but at most a day after that of the `last` sweep. A
/// `last` one of a clock that was never set says nothing.
fn sweep_time(last: Option<Timestamp>, now: Timestamp) -> Timestamp {
    last.filter(|last| clock_was_set(*last))
        .map_or(now, |last| now.min(last.plus_seconds(BELIEVED_SECONDS)))
}

/// The moment `days` before `now`.
pub(crate) fn days_before(now: Timestamp, days: u16) -> Timestamp {
    now.plus_seconds(-i64::from(days) * DAY_SECONDS)
}

/// The first day whose records are kept: a day goes as a whole, once its last moment is older than `days`.
pub(crate) fn first_day_kept(now: Timestamp, days: u16) -> u32 {
    days_before(now, days).day()
}

/// Whether a record that was filed too early, by a clock that was behind, is kept by the time that it carries. By the clock of now
/// and not of the sweep, as the sweeps of a clock that was behind catch up a day an hour.
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

/// When a workspace is listed no longer; `None` while it has to change first.
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
