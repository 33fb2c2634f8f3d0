//! What a desktop's use costs, in hours: the way Amazon's Cost Optimizer for WorkSpaces compares `AUTO_STOP`, billed by the hour, with
//! `ALWAYS_ON`, billed by the month.
//!
//! A session is billed from its begin to its end in whole hours, rounded up, and for the auto-stop timeout after it. If the user
//! returns before the timeout is over, the desktop has not stopped and the session goes on. No more hours are billed than have
//! passed.

use crate::limits::MONTH_DAYS;

const HOUR_MINUTES: u64 = 60;
const MONTH_SECONDS: i64 = MONTH_DAYS * 86_400;

/// The bill of an `AUTO_STOP` desktop.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Bill {
    pub(crate) sessions: u32,
    /// Hours of all sessions with their timeouts.
    pub(crate) hours: f64,
}

/// The bill of the runs in which a user was connected, in order and without overlaps. A run is the minute in which it begins,
/// counted from any origin, and its length in minutes. `timeout` is the auto-stop timeout in minutes, and `now` the last minute
/// that has passed.
pub(crate) fn bill(runs: impl Iterator<Item = (u64, u64)>, timeout: u64, now: u64) -> Bill {
    let mut bill = Bill::default();
    let mut session: Option<(u64, u64)> = None;
    for (begin, minutes) in runs {
        let end = begin.saturating_add(minutes);
        match &mut session {
            Some((_, last)) if begin.saturating_sub(*last) < timeout.max(1) => *last = end,
            _ => {
                bill.add(session, timeout, now);
                session = Some((begin, end));
            }
        }
    }
    bill.add(session, timeout, now);
    bill
}

impl Bill {
    /// The same, with at most the hours of a window, whose length is in seconds.
    #[expect(clippy::cast_precision_loss, reason = "seconds of a few years")]
    pub(crate) fn within(self, window_seconds: i64) -> Self {
        Self {
            hours: self.hours.min(window_seconds.max(0) as f64 / 3600.0),
            ..self
        }
    }

    fn add(&mut self, session: Option<(u64, u64)>, timeout: u64, now: u64) {
        let Some((begin, end)) = session else { return };
        let connected = (end - begin)
            .div_ceil(HOUR_MINUTES)
            .saturating_mul(HOUR_MINUTES);
        self.sessions = self.sessions.saturating_add(1);
        let billed = connected.saturating_add(timeout);
        self.hours += hours(billed.min(now.saturating_sub(begin)));
    }
}

#[expect(clippy::cast_precision_loss, reason = "minutes of a few years")]
fn hours(minutes: u64) -> f64 {
    minutes as f64 / HOUR_MINUTES as f64
}

/// The hours of a month of [`MONTH_DAYS`] days at the rate of a window, whose length is in seconds.
#[expect(clippy::cast_precision_loss, reason = "seconds of a few years")]
pub(crate) fn monthly(hours: f64, window_seconds: i64) -> f64 {
    hours * MONTH_SECONDS as f64 / window_seconds.max(1) as f64
}

#[cfg(test)]
mod tests {
    use crate::config::HourLimits;

    use super::*;

    #[test]
    fn sessions_are_billed_in_whole_hours_with_the_timeout() {
        const MIDNIGHT: u64 = 24 * 60;
        let none: &[(u64, u64)] = &[];
        for (runs, timeout, sessions, hours) in [
            // Amazon's own tests: sessions of 105 and 40 minutes, with a timeout of one and of two hours.
            (&[(0, 105), (600, 40)][..], 60, 2, 5.0),
            (&[(0, 105), (600, 40)], 120, 2, 7.0),
            (none, 120, 0, 0.0),
            (&[(480, 5)], 60, 1, 2.0),
            (&[(480, 60)], 60, 1, 2.0),
            (&[(480, 65)], 60, 1, 3.0),
            (&[(480, 60)], 0, 1, 1.0),
            (&[(480, 60)], 90, 1, 2.5),
            // A session over midnight is one session.
            (&[(MIDNIGHT - 30, 30), (MIDNIGHT, 30)], 60, 1, 2.0),
            (&[(MIDNIGHT - 30, 30), (MIDNIGHT, 30)], 0, 1, 1.0),
            // Back before it stops, and just as it has stopped.
            (&[(480, 60), (595, 5)], 60, 1, 3.0),
            (&[(480, 60), (600, 5)], 60, 2, 4.0),
            (&[(0, 1440), (1440, 1440)], 60, 1, 49.0),
            (&[(u64::MAX, 5)], u64::MAX, 1, 0.0),
        ] {
            let expected = Bill { sessions, hours };
            let found = bill(runs.iter().copied(), timeout, u64::MAX);
            assert_eq!(found, expected, "{runs:?}");
        }
    }

    #[test]
    fn no_more_hours_are_billed_than_have_passed() {
        let running = bill([(0, 60), (600, 5)].into_iter(), 60, 610);
        assert!((running.hours - (2.0 + 10.0 / 60.0)).abs() < 1e-9);
        // Each begins just after the one before has stopped.
        let often = bill((0..660).map(|number| (number * 66, 5)), 60, 30 * 24 * 60);
        assert!(often.hours > 1300.0);
        let within = often.within(30 * 86_400);
        assert!((within.hours - 720.0).abs() < 1e-9 && within.sessions == 660);
    }

    #[test]
    fn hours_of_a_window_become_those_of_a_month_of_30_days() {
        const DAY: i64 = 86_400;
        for (hours, seconds, expected) in [
            (85.0, 30 * DAY, 85.0),
            (85.0, 60 * DAY, 42.5),
            (21.0, 7 * DAY, 90.0),
            (0.0, DAY, 0.0),
        ] {
            let found = monthly(hours, seconds);
            assert!((found - expected).abs() < 1e-9, "{seconds}: {found}");
        }
        assert!(monthly(1.0, 0).is_finite());
    }

    #[test]
    fn limits_are_those_of_amazon() {
        let limits = HourLimits::default();
        for (compute_type, limit) in [
            ("VALUE", Some(81)),
            ("STANDARD", Some(85)),
            ("PERFORMANCE", Some(80)),
            ("POWER", Some(92)),
            ("POWERPRO", Some(78)),
            ("GRAPHICS_G4DN", Some(334)),
            ("GRAPHICSPRO_G4DN", Some(80)),
            ("GRAPHICS", None),
            ("GRAPHICSPRO", None),
            ("GENERALPURPOSE_4XLARGE", None),
            ("GRAPHICS_G6_XLARGE", None),
            ("", None),
        ] {
            assert_eq!(
                limits.for_compute_type(compute_type),
                limit,
                "{compute_type}"
            );
        }
    }
}
