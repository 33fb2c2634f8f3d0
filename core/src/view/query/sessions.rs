//! When a desktop was in use, from the rollups of its days.
//!
//! An agent that runs as a service names the owner of a desktop all day. So posted logons and logoffs decide if there are any,
//! and a Stats record only shows that the desktop ran.

use crate::model::SessionChange;
use crate::store::rollup::latest::SessionEvent;
use crate::store::rollup::{DaySlots, Slots};
use crate::timestamp::Timestamp;

/// Follows the session of a desktop over its days, which are given in order.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sessions {
    /// Whether a session is open; `None` before the first activity.
    open: Option<bool>,
    /// Whether a Stats record has named a user: then one without a user means that nobody is there, also if a logoff was lost.
    names_users: bool,
}

impl Sessions {
    /// At `begin`, by the newest activity that begins or ends a session.
    pub(crate) fn after_activity(begin: Timestamp, newest: Option<SessionEvent>) -> Self {
        let before = newest.filter(|((at, _), _)| *at < begin);
        Self {
            open: before.map(|(_, change)| change == SessionChange::Begins),
            names_users: false,
        }
    }

    /// The slots of the next day in which it was used.
    ///
    /// These are slots in which a session is open and the desktop reported, with a user if its agent names users. On a day
    /// without Stats records they end with the last activity. A slot in which one session ends and another begins leaves the
    /// state unchanged.
    pub(crate) fn used(&mut self, day: &DaySlots) -> Slots {
        let changes = day.began.union(&day.ended);
        let mut changes = changes.slots();
        self.names_users |= day.connected.len() > 0;
        let first = changes.next();
        let open = match (self.open, first) {
            (None, None) => return day.connected,
            // A session that ends had begun.
            (None, Some(first)) => day.ended.contains(first) && !day.began.contains(first),
            (Some(open), _) => open,
        };
        let (mut open, mut from, mut used) = (open, 0, Slots::default());
        for slot in first.into_iter().chain(changes) {
            used.insert(slot);
            if open {
                used.insert_all(from..slot);
            }
            if day.began.contains(slot) != day.ended.contains(slot) {
                open = day.began.contains(slot);
            }
            from = slot;
        }
        self.open = Some(open);
        let reported = day.connected.union(&day.over).union(&day.calm);
        if reported.len() == 0 {
            return used;
        }
        if open {
            used.insert_all(from..Slots::COUNT);
        }
        let present = if self.names_users {
            &day.connected
        } else {
            &reported
        };
        used.intersection(present)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots(ranges: &[(usize, usize)]) -> Slots {
        let mut slots = Slots::default();
        for (first, end) in ranges {
            slots.insert_all(*first..*end);
        }
        slots
    }

    fn day(connected: &[(usize, usize)], began: &[usize], ended: &[usize]) -> DaySlots {
        let each = |places: &[usize]| {
            let ranges: Vec<_> = places.iter().map(|place| (*place, place + 1)).collect();
            slots(&ranges)
        };
        DaySlots {
            connected: slots(connected),
            began: each(began),
            ended: each(ended),
            ..DaySlots::default()
        }
    }

    /// A day with records that name nobody.
    fn silent(range: (usize, usize)) -> DaySlots {
        DaySlots {
            calm: slots(&[range]),
            ..DaySlots::default()
        }
    }

    #[test]
    fn activities_decide_where_there_are_some() {
        const ALL: (usize, usize) = (0, 288);
        for (before, days, expected) in [
            // No activities at all: the name in the records.
            (None, vec![day(&[ALL], &[], &[])], vec![slots(&[ALL])]),
            // A day's work under an agent that always names the owner, and the day after it.
            (
                None,
                vec![day(&[ALL], &[100], &[200]), day(&[ALL], &[], &[])],
                vec![slots(&[(100, 201)]), slots(&[])],
            ),
            // Open over midnight; the desktop was off in between.
            (
                None,
                vec![day(&[(0, 280)], &[250], &[]), day(&[(20, 288)], &[], &[40])],
                vec![slots(&[(250, 280)]), slots(&[(20, 41)])],
            ),
            // The logon was before the window.
            (None, vec![day(&[ALL], &[], &[50])], vec![slots(&[(0, 51)])]),
            (
                Some(true),
                vec![day(&[(10, 20)], &[], &[])],
                vec![slots(&[(10, 20)])],
            ),
            (Some(false), vec![day(&[ALL], &[], &[])], vec![slots(&[])]),
            // Locked and unlocked within five minutes.
            (
                Some(true),
                vec![day(&[ALL], &[30], &[30, 60])],
                vec![slots(&[(0, 61)])],
            ),
            // Logon and logoff within five minutes, of which nothing is known before.
            (
                None,
                vec![day(&[ALL], &[30], &[30]), day(&[ALL], &[], &[])],
                vec![slots(&[(30, 31)]), slots(&[])],
            ),
            // A logoff that was lost: the agent names nobody any more.
            (
                None,
                vec![
                    day(&[(100, 150)], &[100], &[]),
                    silent((0, 288)),
                    day(&[(9, 10)], &[], &[]),
                ],
                vec![slots(&[(100, 150)]), slots(&[]), slots(&[(9, 10)])],
            ),
            // An agent that names nobody.
            (
                Some(false),
                vec![DaySlots {
                    began: slots(&[(10, 11)]),
                    ended: slots(&[(20, 21)]),
                    ..silent((0, 288))
                }],
                vec![slots(&[(10, 21)])],
            ),
            // Activities alone.
            (
                Some(true),
                vec![day(&[], &[30], &[20]), day(&[], &[], &[])],
                vec![slots(&[(0, 21), (30, 31)]), slots(&[])],
            ),
        ] {
            let mut sessions = Sessions {
                open: before,
                ..Sessions::default()
            };
            let found: Vec<_> = days.iter().map(|day| sessions.used(day)).collect();
            assert_eq!(found, expected, "{before:?} {days:?}");
        }
    }
}
