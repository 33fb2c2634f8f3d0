//! Ranges of time, and their steps.

use std::time::Duration;

use crate::error::{EngineError, Result};
use crate::limits::SERIES_POINTS_MAX;
use crate::settings::{duration_text, milliseconds};
use crate::timestamp::{TICKS_PER_SECOND, Timestamp};

/// The form of a moment in a query.
pub(crate) const TIME_FORM: &str =
    "Send a date-time or a time before now, such as 2026-11-20T08:00:00Z or -24h.";

/// The least digits of a number that is a time since 1970: a shorter one is something else, such as 20261120.
const DIGITS_MIN: usize = 10;
/// The least number that is a time in milliseconds since 1970; lesser ones are in seconds, up to the year 5138.
const MILLISECONDS_MIN: i64 = 100_000_000_000;

const DAY: i64 = 86_400;

/// The steps that a series is raised to, in seconds; above them whole days.
const STEPS: [i64; 14] = [
    60,
    2 * 60,
    5 * 60,
    10 * 60,
    15 * 60,
    30 * 60,
    3600,
    2 * 3600,
    3 * 3600,
    6 * 3600,
    12 * 3600,
    DAY,
    2 * DAY,
    7 * DAY,
];

/// The seconds of a step, rounded up.
pub(crate) fn whole_seconds(step: Duration) -> i64 {
    let more = u64::from(step.subsec_nanos() > 0);
    i64::try_from(step.as_secs().saturating_add(more)).unwrap_or(i64::MAX)
}

/// The longest duration that is read, in milliseconds: longer than all times.
pub(crate) const DURATION_MAX: u64 = 10_000 * 366 * 86_400 * 1000;

/// A date-time, or a time before `now` such as `-24h`, `-7d` or `-1h30m`; `None` for anything else.
///
/// Also as Grafana writes one: `now`, `now-24h`, or a number of milliseconds since 1970, or of seconds where it has 10 or 11 digits.
///
/// ```
/// let now = "2026-11-20T08:00:00Z".parse()?;
/// let day = deskfleet::query::moment("-24h", now);
/// assert_eq!(day.map(|day| day.to_string()).as_deref(), Some("2026-11-19T08:00:00Z"));
/// # Ok::<(), deskfleet::InvalidTimestamp>(())
/// ```
#[must_use]
pub fn moment(text: &str, now: Timestamp) -> Option<Timestamp> {
    let relative = text.strip_prefix("now").unwrap_or(text);
    if relative.is_empty() {
        return (text != relative).then_some(now);
    }
    let Some(before) = relative.strip_prefix('-') else {
        return text.parse().ok().or_else(|| since_1970(text));
    };
    let ticks = i64::try_from(milliseconds(before)?.min(DURATION_MAX)).ok()? * 10_000;
    Some(Timestamp::from_ticks(now.ticks() - ticks))
}

fn since_1970(text: &str) -> Option<Timestamp> {
    let is_number = text.len() >= DIGITS_MIN && text.bytes().all(|byte| byte.is_ascii_digit());
    let number: i64 = is_number.then(|| text.parse().ok())??;
    let ticks = if number < MILLISECONDS_MIN {
        TICKS_PER_SECOND
    } else {
        TICKS_PER_SECOND / 1000
    };
    let ticks = number.checked_mul(ticks)?;
    (ticks <= Timestamp::MAX.ticks()).then(|| Timestamp::from_ticks(ticks))
}

/// A range of time that is not empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Range {
    /// The first moment.
    pub(crate) from: Timestamp,
    /// The exclusive end.
    pub(crate) to: Timestamp,
}

impl Range {
    /// From the first moment to before the other.
    ///
    /// # Errors
    /// The first is not before the other.
    pub(crate) fn new(from: Timestamp, to: Timestamp) -> Result<Self> {
        if from < to {
            return Ok(Self { from, to });
        }
        let message = format!("It must be before `to`, which is {to}.");
        Err(EngineError::invalid("from", message))
    }

    /// From `from`, by default `seconds` before `to`, to `to`, by default `now`.
    ///
    /// # Errors
    /// A range that is empty.
    pub(crate) fn between(
        from: Option<Timestamp>,
        to: Option<Timestamp>,
        seconds: i64,
        now: Timestamp,
    ) -> Result<Self> {
        let to = to.unwrap_or(now);
        Self::new(from.unwrap_or_else(|| to.plus_seconds(-seconds)), to)
    }

    /// The step of a series over this range, in seconds: at least the `wanted` one and a multiple of the `least`, which divides a day, and such that the
    /// series has at most 500 points.
    pub(crate) fn step(self, wanted: Option<i64>, least: i64) -> i64 {
        let least = least.clamp(1, DAY);
        let wanted = wanted.unwrap_or(least).clamp(least, i64::MAX - DAY);
        let wanted = (wanted + least - 1) / least * least;
        let fits = |step: &i64| self.points(*step) <= SERIES_POINTS_MAX;
        if fits(&wanted) {
            return wanted;
        }
        let mut known = STEPS.into_iter();
        let raised = known.find(|step| *step > wanted && step % least == 0 && fits(step));
        // A range of all times takes steps of 7314 days.
        let mut days = (1..=8_000).map(|days| days * DAY);
        raised
            .or_else(|| days.find(|step| *step > wanted && fits(step)))
            .unwrap_or(i64::MAX - DAY)
    }

    /// The warning that a series has a longer step than was requested.
    pub(crate) fn step_raised(wanted: Option<Duration>, step: i64, least: i64) -> Option<String> {
        let length = Duration::from_secs(step.unsigned_abs());
        let wanted = wanted.filter(|wanted| *wanted < length)?;
        let why = if whole_seconds(wanted) <= step - least {
            ": a series has at most 500 points"
        } else if least > 1 {
            ", as the fleet is stored by the hour"
        } else {
            ", the shortest there is"
        };
        let step = duration_text(step.unsigned_abs().saturating_mul(1000));
        Some(format!("The step was raised to {step}{why}."))
    }

    /// The number of steps of `step` seconds that overlap this range.
    pub(crate) fn points(self, step: i64) -> i64 {
        let ticks = step.saturating_mul(TICKS_PER_SECOND).max(1);
        let last = self.to.ticks() - 1;
        last.div_euclid(ticks) - self.from.ticks().div_euclid(ticks) + 1
    }
}

/// The begin of the step of `step` seconds that holds `at`: a multiple of the step since 1970.
pub(crate) fn step_of(at: Timestamp, step: i64) -> Timestamp {
    let ticks = step.saturating_mul(TICKS_PER_SECOND).max(1);
    Timestamp::from_ticks(at.ticks().div_euclid(ticks).saturating_mul(ticks))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raised_step_is_said_with_its_reason() {
        let raised =
            |ms, step, least| Range::step_raised(Some(Duration::from_millis(ms)), step, least);
        for (ms, step, least, message) in [
            (60_000, 300, 1, "5m: a series has at most 500 points."),
            (500, 1, 1, "1s, the shortest there is."),
            (
                61_000,
                3600,
                3600,
                "1h, as the fleet is stored by the hour.",
            ),
            (
                3_660_000,
                7200,
                3600,
                "2h, as the fleet is stored by the hour.",
            ),
            (
                3_600_000,
                7200,
                3600,
                "2h: a series has at most 500 points.",
            ),
        ] {
            let message = format!("The step was raised to {message}");
            assert_eq!(raised(ms, step, least), Some(message));
        }
        assert_eq!(raised(300_000, 300, 1), None);
        assert_eq!(Range::step_raised(None, 300, 1), None);
    }

    #[test]
    fn moment_is_read_as_grafana_writes_it() {
        let now: Timestamp = "2026-11-20T08:00:00Z".parse().unwrap();
        let read = |text: &str| moment(text, now).map(|time| time.to_string());
        for (text, expected) in [
            ("now", Some("2026-11-20T08:00:00Z")),
            ("now-24h", Some("2026-11-19T08:00:00Z")),
            ("1795161600123", Some("2026-11-20T08:00:00.123Z")),
            ("1795161600", Some("2026-11-20T08:00:00Z")),
            ("20261120", None),
            ("+1795161600", None),
            ("", None),
            ("now/d", None),
            ("now24h", None),
            ("now-", None),
            ("9223372036854775807", None),
            ("1795161600.5", None),
        ] {
            assert_eq!(read(text).as_deref(), expected, "{text}");
        }
    }

    fn range(from: &str, to: &str) -> Range {
        let time = |text: &str| text.parse().unwrap();
        Range {
            from: time(from),
            to: time(to),
        }
    }

    #[test]
    fn step_is_raised_until_a_series_has_at_most_500_points() {
        let day = range("2026-11-20T00:00:00Z", "2026-11-21T00:00:00Z");
        let month = range("2026-11-01T00:00:01Z", "2026-12-01T00:00:01Z");
        let all = Range {
            from: Timestamp::MIN,
            to: Timestamp::MAX,
        };
        for (range, wanted, least, expected) in [
            (day, None, 300, 300),
            (day, Some(60), 300, 300),
            (day, Some(420), 300, 600),
            (day, Some(60), 60, 300),
            (month, None, 300, 7200),
            (month, Some(3600), 3600, 7200),
            (month, Some(DAY), 3600, DAY),
            (all, None, 300, 7314 * DAY),
        ] {
            assert_eq!(range.step(wanted, least), expected, "{range:?} {wanted:?}");
            assert!(range.points(expected) <= SERIES_POINTS_MAX);
        }
        assert_eq!(day.points(300), 288);
        assert_eq!(month.points(DAY), 31);
    }

    #[test]
    fn step_begins_at_a_multiple_since_1970() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let before = at("1969-12-31T23:59:59.9Z");
        assert_eq!(step_of(before, 300), at("1969-12-31T23:55:00Z"));
        let time = at("2026-11-20T08:04:59.9999999Z");
        assert_eq!(step_of(time, 300), at("2026-11-20T08:00:00Z"));
        assert_eq!(step_of(time, DAY), at("2026-11-20T00:00:00Z"));
        assert_eq!(
            step_of(at("2026-11-20T08:05:00Z"), 300),
            at("2026-11-20T08:05:00Z")
        );
    }
}
