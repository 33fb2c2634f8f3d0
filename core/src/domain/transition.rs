//! The state of a running action at a moment. It ends by its stored due time, not by a timer.

use crate::timestamp::Timestamp;

use super::retention::clock_was_set;

/// The state of a running action at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It runs as stored.
    Running,
    /// It was requested by a clock ahead of the moment. It restarts at the moment, with its full duration.
    Begun { due_at: Option<Timestamp> },
    /// It has ended.
    Ended { at: Timestamp },
}

/// The state at `now` of an action that was requested at `requested_at`. A clock that was never set is not believed.
pub(crate) fn standing(
    requested_at: Timestamp,
    due_at: Option<Timestamp>,
    now: Timestamp,
) -> Standing {
    let begins = now < requested_at && clock_was_set(now);
    let moved = |due_at: Timestamp| {
        let lasts = due_at.ticks().saturating_sub(requested_at.ticks());
        Timestamp::from_ticks(now.ticks().saturating_add(lasts))
    };
    let due_at = if begins { due_at.map(moved) } else { due_at };
    match due_at {
        Some(at) if at <= now => Standing::Ended { at },
        _ if begins => Standing::Begun { due_at },
        _ => Standing::Running,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standing_follows_due_time_and_clock() {
        let at = |seconds: i64| Timestamp::from_unix_seconds(1_790_000_000 + seconds);
        let unset = Timestamp::UNIX_EPOCH;
        let begun = |seconds| Standing::Begun {
            due_at: Some(at(seconds)),
        };
        for (due_at, now, expected) in [
            (Some(at(60)), at(0), Standing::Running),
            (Some(at(60)), at(59), Standing::Running),
            (Some(at(60)), at(60), Standing::Ended { at: at(60) }),
            (Some(at(60)), at(600), Standing::Ended { at: at(60) }),
            (Some(at(60)), at(-600), begun(-540)),
            (Some(at(0)), at(-600), Standing::Ended { at: at(-600) }),
            (Some(at(60)), unset, Standing::Running),
            (None, at(600), Standing::Running),
            (None, at(-600), Standing::Begun { due_at: None }),
        ] {
            assert_eq!(standing(at(0), due_at, now), expected, "{due_at:?}, {now}");
        }
    }
}
