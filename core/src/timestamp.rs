//! [`Timestamp`]: a point in time as the interface writes it.
//!
//! The date-time grammar is the one of the interface's generated clients: `yyyy-MM-dd`, `yyyy-MM-ddTHH:mm`,
//! `yyyy-MM-ddTHH:mm:ss`, with a fraction of 1 to 16 digits, each time form with `Z`, `±HH:mm` or nothing (UTC).

mod duration;

use std::fmt;
use std::str::FromStr;

use time::{Date, Month};

pub(crate) const TICKS_PER_SECOND: i64 = 10_000_000;
const SECONDS_PER_DAY: i64 = 86_400;
pub(crate) const TICKS_PER_DAY: i64 = SECONDS_PER_DAY * TICKS_PER_SECOND;
/// Julian day number of 1970-01-01.
const JULIAN_DAY_EPOCH: i64 = 2_440_588;
/// Days from 0001-01-01 to 1970-01-01.
const DAYS_BEFORE_EPOCH: i64 = 719_162;
/// The widest offset from UTC that a date-time may carry, in minutes.
const OFFSET_MINUTES_MAX: i64 = 14 * 60;

/// A point in time with a resolution of 100 ns, from year 1 to year 9999, in UTC.
///
/// ```
/// use deskfleet::Timestamp;
///
/// let time: Timestamp = "2026-11-20T10:00:00.250+02:00".parse()?;
/// assert_eq!(time.to_string(), "2026-11-20T08:00:00.25Z");
/// # Ok::<(), deskfleet::InvalidTimestamp>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// 1970-01-01T00:00:00Z.
    pub const UNIX_EPOCH: Self = Self(0);
    /// 0001-01-01T00:00:00Z.
    pub const MIN: Self = Self(-DAYS_BEFORE_EPOCH * TICKS_PER_DAY);
    /// 9999-12-31T23:59:59.9999999Z.
    pub const MAX: Self = Self((2_932_896 + 1) * TICKS_PER_DAY - 1);

    /// From 100 ns ticks since the Unix epoch, clamped to [`Self::MIN`] and [`Self::MAX`].
    #[must_use]
    pub fn from_ticks(ticks: i64) -> Self {
        Self(ticks.clamp(Self::MIN.0, Self::MAX.0))
    }

    /// 100 ns ticks since the Unix epoch; negative before it.
    #[must_use]
    pub const fn ticks(self) -> i64 {
        self.0
    }

    /// The ticks as an unsigned number that compares as the times do.
    pub(crate) const fn ordered_ticks(self) -> u64 {
        self.0.cast_unsigned() ^ 1 << 63
    }

    /// From seconds since the Unix epoch.
    #[must_use]
    pub fn from_unix_seconds(seconds: i64) -> Self {
        Self::from_ticks(seconds.saturating_mul(TICKS_PER_SECOND))
    }

    /// This time plus `seconds`, clamped to the range.
    #[must_use]
    pub fn plus_seconds(self, seconds: i64) -> Self {
        Self::from_ticks(
            self.0
                .saturating_add(seconds.saturating_mul(TICKS_PER_SECOND)),
        )
    }

    /// Whole days since 0001-01-01: the number of the UTC day of this time.
    #[must_use]
    pub fn day(self) -> u32 {
        let day = self.0.div_euclid(TICKS_PER_DAY) + DAYS_BEFORE_EPOCH;
        u32::try_from(day).unwrap_or(0)
    }

    /// The first moment of the UTC day numbered as by [`Self::day`], clamped to the range.
    #[must_use]
    pub fn from_day(day: u32) -> Self {
        Self::from_ticks((i64::from(day) - DAYS_BEFORE_EPOCH).saturating_mul(TICKS_PER_DAY))
    }
}

/// The text is not a date-time of the interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidTimestamp;

impl fmt::Display for InvalidTimestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a date-time such as 2026-11-20T08:00:00Z")
    }
}

impl std::error::Error for InvalidTimestamp {}

impl FromStr for Timestamp {
    type Err = InvalidTimestamp;

    fn from_str(text: &str) -> Result<Self, InvalidTimestamp> {
        parse(text.as_bytes()).ok_or(InvalidTimestamp)
    }
}

/// Consumes the text from the left; every method returns `None` on text outside the grammar.
struct Cursor<'a>(&'a [u8]);

impl Cursor<'_> {
    fn number(&mut self, digits: usize) -> Option<i64> {
        let (head, rest) = self.0.split_at_checked(digits)?;
        let mut value = 0;
        for byte in head {
            if !byte.is_ascii_digit() {
                return None;
            }
            value = value * 10 + i64::from(byte - b'0');
        }
        self.0 = rest;
        Some(value)
    }

    fn eat(&mut self, byte: u8) -> Option<()> {
        let (first, rest) = self.0.split_first()?;
        if *first != byte {
            return None;
        }
        self.0 = rest;
        Some(())
    }

    fn number_below(&mut self, bound: i64) -> Option<i64> {
        self.number(2).filter(|value| *value < bound)
    }

    /// A fraction of 1 to 16 digits, in ticks; digits beyond the seventh are dropped.
    fn fraction(&mut self) -> Option<i64> {
        let digits = self.0.iter().take_while(|b| b.is_ascii_digit()).count();
        if !(1..=16).contains(&digits) {
            return None;
        }
        let mut ticks = self.number(digits.min(7))?;
        for _ in digits..7 {
            ticks *= 10;
        }
        self.number(digits.saturating_sub(7))?;
        Some(ticks)
    }

    /// `Z`, `±HH:mm` or nothing, in minutes east of UTC; nothing may follow.
    fn offset_to_end(&mut self) -> Option<i64> {
        let sign = match self.0 {
            [] | [b'Z'] => return Some(0),
            [b'+', ..] => 1,
            [b'-', ..] => -1,
            _ => return None,
        };
        self.number_after_sign().map(|minutes| sign * minutes)
    }

    fn number_after_sign(&mut self) -> Option<i64> {
        self.0 = self.0.get(1..)?;
        let hours = self.number(2)?;
        self.eat(b':')?;
        let minutes = hours * 60 + self.number_below(60)?;
        (self.0.is_empty() && minutes <= OFFSET_MINUTES_MAX).then_some(minutes)
    }
}

fn parse(text: &[u8]) -> Option<Timestamp> {
    let mut cursor = Cursor(text);
    let days = parse_date(&mut cursor)?;
    let mut ticks = 0;
    if !cursor.0.is_empty() {
        cursor.eat(b'T')?;
        let hour = cursor.number_below(24)?;
        cursor.eat(b':')?;
        let minute = cursor.number_below(60)?;
        ticks = (hour * 60 + minute) * 60 * TICKS_PER_SECOND;
        if cursor.eat(b':').is_some() {
            ticks += cursor.number_below(60)? * TICKS_PER_SECOND;
            if cursor.eat(b'.').is_some() {
                ticks += cursor.fraction()?;
            }
        }
        ticks -= cursor.offset_to_end()? * 60 * TICKS_PER_SECOND;
    }
    let total = days * TICKS_PER_DAY + ticks;
    (Timestamp::MIN.0..=Timestamp::MAX.0)
        .contains(&total)
        .then_some(Timestamp(total))
}

/// Days since the Unix epoch of `yyyy-MM-dd`.
fn parse_date(cursor: &mut Cursor<'_>) -> Option<i64> {
    let year = i32::try_from(cursor.number(4)?)
        .ok()
        .filter(|year| *year >= 1)?;
    cursor.eat(b'-')?;
    let month = Month::try_from(u8::try_from(cursor.number(2)?).ok()?).ok()?;
    cursor.eat(b'-')?;
    let day = u8::try_from(cursor.number(2)?).ok()?;
    let date = Date::from_calendar_date(year, month, day).ok()?;
    Some(i64::from(date.to_julian_day()) - JULIAN_DAY_EPOCH)
}

impl fmt::Display for Timestamp {
    /// UTC with `Z`; trailing zeros of the fraction are cut.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let days = self.0.div_euclid(TICKS_PER_DAY);
        let ticks = self.0.rem_euclid(TICKS_PER_DAY);
        let seconds = ticks / TICKS_PER_SECOND;
        let julian = i32::try_from(days + JULIAN_DAY_EPOCH).map_err(|_| fmt::Error)?;
        let date = Date::from_julian_day(julian).map_err(|_| fmt::Error)?;
        let (year, month, day) = date.to_calendar_date();
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        let month = u8::from(month);
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}"
        )?;
        let mut fraction = ticks % TICKS_PER_SECOND;
        if fraction != 0 {
            let mut width = 7;
            while fraction % 10 == 0 {
                fraction /= 10;
                width -= 1;
            }
            write!(f, ".{fraction:0width$}")?;
        }
        f.write_str("Z")
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl serde::Serialize for Timestamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Timestamp {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(text: &str) -> Option<String> {
        text.parse::<Timestamp>().ok().map(|time| time.to_string())
    }

    #[test]
    fn date_time_of_every_accepted_form_is_written_as_utc() {
        for (text, utc) in [
            ("2026-11-20", "2026-11-20T00:00:00Z"),
            ("2026-11-20T08:01", "2026-11-20T08:01:00Z"),
            ("2026-11-20T08:01Z", "2026-11-20T08:01:00Z"),
            ("2026-11-20T08:01:02", "2026-11-20T08:01:02Z"),
            ("2026-11-20T08:01:02+14:00", "2026-11-19T18:01:02Z"),
            ("2026-11-20T08:01-05:30", "2026-11-20T13:31:00Z"),
            ("2026-11-20T08:01:02.5Z", "2026-11-20T08:01:02.5Z"),
            (
                "2026-11-20T08:01:02.0000001",
                "2026-11-20T08:01:02.0000001Z",
            ),
            (
                "2026-11-20T08:01:02.1234567899999999Z",
                "2026-11-20T08:01:02.1234567Z",
            ),
            ("2026-11-20T08:01:02.100", "2026-11-20T08:01:02.1Z"),
            ("2024-02-29", "2024-02-29T00:00:00Z"),
            ("0001-01-01", "0001-01-01T00:00:00Z"),
            (
                "9999-12-31T23:59:59.9999999",
                "9999-12-31T23:59:59.9999999Z",
            ),
        ] {
            assert_eq!(rewritten(text).as_deref(), Some(utc), "{text}");
        }
    }

    #[test]
    fn date_time_of_any_other_form_is_refused() {
        for text in [
            "",
            "2026",
            "2026-1-20",
            "2026-13-01",
            "2026-02-29",
            "0000-01-01",
            "2026-11-20Z",
            "2026-11-20+01:00",
            "2026-11-20t08:01",
            "2026-11-20 08:01",
            "2026-11-20T08",
            "2026-11-20T24:00",
            "2026-11-20T08:60",
            "2026-11-20T08:01:60",
            "2026-11-20T08:01:02z",
            "2026-11-20T08:01:02.",
            "2026-11-20T08:01:02.12345678901234567",
            "2026-11-20T08:01:02,5",
            "2026-11-20T08:01.5",
            "2026-11-20T08:01:02+0100",
            "2026-11-20T08:01:02+01",
            "2026-11-20T08:01:02+14:01",
            "2026-11-20T08:01:02+01:60",
            "2026-11-20T08:01:02ZZ",
            "+2026-11-20",
            "0001-01-01T00:00+00:01",
            "9999-12-31T23:59:59-00:01",
            " 2026-11-20",
            "٢٠٢٦-11-20",
        ] {
            assert_eq!(rewritten(text), None, "{text}");
        }
    }

    #[test]
    fn day_numbers_convert_to_dates_and_back() {
        assert_eq!(Timestamp::MIN.day(), 0);
        assert_eq!(Timestamp::from_day(0), Timestamp::MIN);
        assert_eq!(Timestamp::from_day(u32::MAX), Timestamp::MAX);
        let time: Timestamp = "2026-11-20T23:59:59.9999999Z".parse().unwrap();
        assert_eq!(
            Timestamp::from_day(time.day()).to_string(),
            "2026-11-20T00:00:00Z"
        );
        assert_eq!(Timestamp::from_ticks(i64::MIN), Timestamp::MIN);
        assert_eq!(Timestamp::from_ticks(i64::MAX), Timestamp::MAX);
        assert_eq!(Timestamp::MAX.to_string(), "9999-12-31T23:59:59.9999999Z");
    }
}
