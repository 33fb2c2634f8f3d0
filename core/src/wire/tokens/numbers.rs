//! Numbers: integers digit by digit, decimals rounded to the nearest double.

use super::Tokens;
use super::bytes::leading_digits;

impl Tokens<'_> {
    /// Reads digits; returns their value, which wraps beyond 19 digits, and their number.
    #[inline]
    fn digits(&mut self, mut value: u64) -> (u64, usize) {
        let before = self.rest.len();
        while let Some((eight, _)) = self.rest.split_first_chunk() {
            let (number, count) = leading_digits(*eight);
            let Some((power, rest)) = POWERS.get(count).zip(self.rest.get(count..)) else {
                break;
            };
            value = value.wrapping_mul(*power).wrapping_add(number);
            self.rest = rest;
            if count < eight.len() {
                return (value, before - self.rest.len());
            }
        }
        while let [digit @ b'0'..=b'9', rest @ ..] = self.rest {
            value = value
                .wrapping_mul(10)
                .wrapping_add(u64::from(*digit - b'0'));
            self.rest = rest;
        }
        (value, before - self.rest.len())
    }

    /// Reads the digits before a fraction; returns `None` if there is none or a leading zero.
    fn whole(&mut self) -> Option<(u64, usize)> {
        let zero = self.rest.first() == Some(&b'0');
        let (value, count) = self.digits(0);
        (count == 1 || (count > 1 && !zero)).then_some((value, count))
    }

    /// Reads an integer, which may have a fraction of zeros; returns `None` if there is none, it has another fraction or an exponent, or it is
    /// out of range.
    pub(in crate::wire) fn integer(&mut self) -> Option<i64> {
        /// Integers of up to this number of digits are always in range.
        const DIGITS_MAX: usize = 18;
        let start = self.rest;
        let negative = self.eat_byte(b'-');
        let (value, count) = self.whole()?;
        let value = if count > DIGITS_MAX {
            let text = std::str::from_utf8(self.since(start)).ok()?;
            text.parse().ok()?
        } else {
            let value = i64::try_from(value).ok()?;
            if negative { -value } else { value }
        };
        if matches!(self.rest.first(), Some(b'.' | b'e' | b'E')) && !self.zero_fraction() {
            return None;
        }
        Some(value)
    }

    /// Reads a fraction of zeros; returns `false` if there is none, or an exponent follows.
    #[cold]
    fn zero_fraction(&mut self) -> bool {
        let point = self.eat_byte(b'.');
        let mut zeros = 0;
        while self.eat_byte(b'0') {
            zeros += 1;
        }
        point && zeros > 0 && !matches!(self.rest.first(), Some(b'0'..=b'9' | b'e' | b'E'))
    }

    /// Reads a number, rounded to the nearest double; returns `None` if there is none or it is too large.
    pub(in crate::wire) fn double(&mut self) -> Option<f64> {
        let start = self.rest;
        let negative = self.eat_byte(b'-');
        let (mut mantissa, mut digits) = self.whole()?;
        let mut decimals = 0;
        if self.eat_byte(b'.') {
            (mantissa, decimals) = self.digits(mantissa);
            digits += decimals;
            if decimals == 0 {
                return None;
            }
        }
        let mut simple = digits <= EXACT_DIGITS_MAX;
        if self.eat_byte(b'e') || self.eat_byte(b'E') {
            let _signed = self.eat_byte(b'+') || self.eat_byte(b'-');
            if self.digits(0).1 == 0 {
                return None;
            }
            simple = false;
        }
        if simple {
            // Both are exact as doubles, so the one rounding is that of the division.
            let power = EXACT_POWERS.get(decimals)?;
            #[expect(clippy::cast_precision_loss, reason = "15 digits fit a double")]
            let value = mantissa as f64 / power;
            return Some(if negative { -value } else { value });
        }
        // The parser of the standard library rounds alike, with a table of 10 kB more in the WebAssembly module.
        serde_json::from_slice(self.since(start)).ok()
    }
}

/// Powers of ten.
const POWERS: [u64; 9] = [
    1,
    10,
    100,
    1000,
    10_000,
    100_000,
    1_000_000,
    10_000_000,
    100_000_000,
];

/// A double holds any integer of this number of digits exactly.
const EXACT_DIGITS_MAX: usize = 15;

/// Powers of ten that a double holds exactly, one for each number of decimals.
const EXACT_POWERS: [f64; EXACT_DIGITS_MAX + 1] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
];
