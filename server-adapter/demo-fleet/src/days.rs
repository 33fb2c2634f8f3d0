//! The days of a user: people come in the morning, work, go to lunch and leave; the weekend is quiet.

use std::ops::Range;

use super::desktop::{Desktop, Habit};
use super::random::Random;

const DAY: i64 = 86_400;
/// A session ends at the latest this many days after the day on which it began, by UTC.
const DAYS_MAX: i64 = 2;
/// How long a desktop that stops by itself runs before its user is logged on, in seconds.
pub(crate) const BOOT: i64 = 90;

/// One day of a user, in seconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Session {
    pub(crate) logon: i64,
    pub(crate) lunch: i64,
    pub(crate) back: i64,
    pub(crate) end: i64,
    /// The day, counted from 1970.
    pub(crate) day: i64,
}

/// Whether a day, counted from 1970, is one from Monday to Friday.
#[must_use]
pub fn is_workday(day: i64) -> bool {
    // The first one was a Thursday.
    (day + 3).rem_euclid(7) < 5
}

impl Desktop {
    /// Whether it is on at a moment, in seconds since 1970: always, or if it stops by itself, while its user is logged on.
    #[must_use]
    pub fn is_on(&self, time: i64) -> bool {
        self.is_always_on() || !self.sessions(&(time + 1..time + 1 + BOOT)).is_empty()
    }

    /// Its state at a moment, if nobody acts on it.
    #[must_use]
    pub fn state_at(&self, time: i64) -> &'static str {
        if self.state == "AVAILABLE" && !self.is_on(time) {
            "STOPPED"
        } else {
            self.state
        }
    }

    /// The sessions that overlap a span of seconds since 1970, in order.
    pub(crate) fn sessions(&self, span: &Range<i64>) -> Vec<Session> {
        let days = span.start.div_euclid(DAY) - DAYS_MAX..=span.end.div_euclid(DAY) + 1;
        let sessions = days.filter_map(|day| self.session(day));
        sessions
            .filter(|session| session.logon < span.end && session.end >= span.start)
            .collect()
    }

    /// The session that begins on a day, if the user comes.
    fn session(&self, day: i64) -> Option<Session> {
        let random = &mut Random::for_numbers(self.seed, &[self.number, day]);
        let odds = if is_workday(day) { 95 } else { 6 };
        if random.between(1, 100) > odds || self.habit == Habit::Unused {
            return None;
        }
        let mut later = |time: i64, low, high| time + i64::from(random.around(low * 60, high * 60));
        let minute = self.logon_minute;
        let logon = later(day * DAY, minute - 15, minute + 15);
        let lunch = later(logon, 180, 270);
        let back = later(lunch, 20, 70);
        let stay = self.stay_minutes;
        let end = later(logon, stay - 30, stay + 30);
        Some(Session {
            logon,
            lunch,
            back,
            end,
            day,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::Intervals;
    use super::*;

    /// Friday, 20 November 2026, 14:30 UTC.
    const END: i64 = 1_795_185_000;

    #[test]
    fn weekend_is_quiet() {
        let desktops: Vec<_> = (0..320).map(|number| Desktop::new(number, 7)).collect();
        let count = |day: i64| {
            let logons = desktops.iter().filter_map(|desktop| desktop.session(day));
            logons.count()
        };
        let friday = END / DAY;
        let (sunday, tuesday) = (count(friday - 5), count(friday - 3));
        assert!(0 < sunday && sunday * 5 < tuesday, "{sunday} {tuesday}");
        assert!(is_workday(friday) && !is_workday(friday + 1) && !is_workday(friday + 2));
    }

    #[test]
    fn desktop_that_stops_by_itself_runs_while_it_sends() {
        let desktops = (0..40).map(|number| Desktop::new(number, 7));
        let mut counts = [0, 0];
        for desktop in desktops.filter(|desktop| desktop.state == "AVAILABLE") {
            for hour in 0..7 * 24 {
                let start = END - 7 * DAY + hour * 3600;
                counts[usize::from(desktop.state_at(start) == "STOPPED")] += 1;
                for sent in desktop.records(start..start + 3600, Intervals::AGENT) {
                    // The last record of a session is that of its end.
                    assert_eq!(desktop.state_at(sent.time - 1), "AVAILABLE", "{sent:?}");
                }
            }
        }
        assert!(counts[0] > 1000 && counts[1] > 1000, "{counts:?}");
    }

    #[test]
    fn sessions_of_a_span_are_those_of_its_parts() {
        for number in 0..50 {
            let desktop = Desktop::new(number, 7);
            let whole = desktop.sessions(&(END - 7 * DAY..END));
            let mut parts: Vec<Session> = Vec::new();
            for hour in 0..7 * 24 {
                let start = END - 7 * DAY + hour * 3600;
                for session in desktop.sessions(&(start..start + 3600)) {
                    if parts.last() != Some(&session) {
                        parts.push(session);
                    }
                }
            }
            assert_eq!(whole, parts);
            assert!(
                whole
                    .iter()
                    .all(|of| of.logon < of.lunch && of.lunch < of.back && of.back < of.end)
            );
        }
    }
}
