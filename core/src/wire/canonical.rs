//! Reading records in the form agents send them: the documented names, in the order of the document, without escapes.
//!
//! One pass over the body, nothing copied. Whatever is not of that form, or is wrong, is left to the exact reader, which
//! decides and explains; where this one answers, the exact one answers the same.

mod bytes;

use std::borrow::Cow;

use crate::limits::PROCESS_ITEMS_MAX;
use crate::model::{FieldKind, FieldSpec, FieldValue, Fields, ProcessItem, RecordRef};

use bytes::{leading_digits, plain_length};

/// Reads the object `text` into `record`, in which nothing was sent yet; `None` where the exact reader must look. `record`
/// may hold a part then.
pub(super) fn read<'a>(text: &'a [u8], record: &mut RecordRef<'a>) -> Option<()> {
    let text = std::str::from_utf8(text).ok()?;
    let mut reader = Reader {
        text,
        rest: text.as_bytes(),
    };
    reader.object(record.stream().fields(), |index, value| {
        record.set(index, value);
        true
    })?;
    reader.spaces();
    reader.rest.is_empty().then_some(())
}

struct Reader<'a> {
    text: &'a str,
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn spaces(&mut self) {
        while let [b' ' | b'\t' | b'\r' | b'\n', rest @ ..] = self.rest {
            self.rest = rest;
        }
    }

    /// The next byte that is no space.
    fn next(&mut self) -> Option<u8> {
        self.spaces();
        let (byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*byte)
    }

    fn eat(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then_some(())
    }

    /// The members must stand in the order of the table, so none can stand twice; any may be left out.
    fn object(
        &mut self,
        specs: &'static [FieldSpec],
        mut set: impl FnMut(usize, FieldValue<'a>) -> bool,
    ) -> Option<()> {
        self.eat(b'{')?;
        self.spaces();
        if let [b'}', rest @ ..] = self.rest {
            self.rest = rest;
            return Some(());
        }
        for (index, spec) in specs.iter().enumerate() {
            let Some(rest) = after_key(self.rest, spec) else {
                continue;
            };
            self.rest = rest;
            let value = self.value(spec)?;
            if !set(index, value) {
                return None;
            }
            match self.next()? {
                b',' => self.spaces(),
                b'}' => return Some(()),
                _ => return None,
            }
        }
        None
    }

    #[inline]
    fn value(&mut self, spec: &FieldSpec) -> Option<FieldValue<'a>> {
        self.spaces();
        if let [b'n', rest @ ..] = self.rest {
            self.rest = rest.strip_prefix(b"ull")?;
            return spec.nullable.then_some(FieldValue::Null);
        }
        Some(match spec.kind {
            FieldKind::Int32 => {
                FieldValue::Int(i32::try_from(self.integer()?).ok().map(i64::from)?)
            }
            FieldKind::Int64 => FieldValue::Int(self.integer()?),
            FieldKind::Float => FieldValue::Float(self.float()?),
            FieldKind::Double => FieldValue::Double(self.double()?),
            FieldKind::Text => FieldValue::Text(Cow::Borrowed(self.string()?)),
            FieldKind::Time => FieldValue::Time(self.string()?.parse().ok()?),
            FieldKind::Items => FieldValue::Items(Cow::Owned(self.items()?)),
        })
    }

    /// A string without escapes.
    fn string(&mut self) -> Option<&'a str> {
        self.eat(b'"')?;
        let length = plain_length(self.rest);
        let start = self.text.len() - self.rest.len();
        let text = self.text.get(start..start + length)?;
        self.rest = self.rest.get(length..)?.strip_prefix(b"\"")?;
        Some(text)
    }

    /// Digits: their value, which wraps beyond 19 of them, and how many.
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

    /// The digits before a fraction, none of them a leading zero.
    fn whole(&mut self) -> Option<(u64, usize)> {
        let zero = self.rest.first() == Some(&b'0');
        let (value, count) = self.digits(0);
        (count == 1 || (count > 1 && !zero)).then_some((value, count))
    }

    fn minus(&mut self) -> bool {
        match self.rest {
            [b'-', rest @ ..] => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    /// An integer of up to 18 digits; `-0` is none to the exact reader.
    fn integer(&mut self) -> Option<i64> {
        const DIGITS_MAX: usize = 18;
        let negative = self.minus();
        let (value, count) = self.whole()?;
        if count > DIGITS_MAX || (negative && value == 0) {
            return None;
        }
        let value = i64::try_from(value).ok()?;
        Some(if negative { -value } else { value })
    }

    /// A number of the JSON grammar, rounded to the nearest double.
    fn double(&mut self) -> Option<f64> {
        let number = self.rest;
        let negative = self.minus();
        let (mut mantissa, mut digits) = self.whole()?;
        let mut decimals = 0;
        if let [b'.', rest @ ..] = self.rest {
            self.rest = rest;
            (mantissa, decimals) = self.digits(mantissa);
            digits += decimals;
            if decimals == 0 {
                return None;
            }
        }
        let mut simple = digits <= EXACT_DIGITS_MAX;
        if let [b'e' | b'E', rest @ ..] = self.rest {
            self.rest = rest
                .strip_prefix(b"+")
                .or_else(|| rest.strip_prefix(b"-"))
                .unwrap_or(rest);
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
        let start = self.text.len() - number.len();
        let end = self.text.len() - self.rest.len();
        let value: f64 = self.text.get(start..end)?.parse().ok()?;
        value.is_finite().then_some(value)
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "a float field keeps the nearest float; too large is refused"
    )]
    fn float(&mut self) -> Option<f32> {
        let value = self.double()? as f32;
        value.is_finite().then_some(value)
    }

    fn items(&mut self) -> Option<Vec<ProcessItem>> {
        self.eat(b'[')?;
        let mut items = Vec::new();
        self.spaces();
        if let [b']', rest @ ..] = self.rest {
            self.rest = rest;
            return Some(items);
        }
        loop {
            let mut item = ProcessItem::default();
            self.object(ProcessItem::FIELDS, |index, value| item.set(index, value))?;
            items.push(item);
            match self.next()? {
                b',' if items.len() < PROCESS_ITEMS_MAX => {}
                b']' => return Some(items),
                _ => return None,
            }
        }
    }
}

/// What stands behind the name of the field and its colon; `None` when the text does not begin with them.
fn after_key<'a>(text: &'a [u8], spec: &FieldSpec) -> Option<&'a [u8]> {
    if let Some(rest) = text.strip_prefix(spec.key.as_bytes()) {
        return Some(rest);
    }
    let quoted = spec.key.strip_suffix(':')?;
    let mut rest = text.strip_prefix(quoted.as_bytes())?;
    while let [b' ' | b'\t' | b'\r' | b'\n', after @ ..] = rest {
        rest = after;
    }
    rest.strip_prefix(b":")
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

/// A decimal of so many digits is an integer that a double holds exactly.
const EXACT_DIGITS_MAX: usize = 15;

/// Powers of ten that a double holds exactly, up to as many decimals as such a number can have.
const EXACT_POWERS: [f64; EXACT_DIGITS_MAX + 1] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
];

#[cfg(test)]
mod tests {
    use crate::model::{Record, Stream};
    use crate::random::SplitMix;
    use crate::wire::record::read_exactly;

    use super::*;

    const STATS: &str = r#"{"id":7,"computeTypeName":"STANDARD","updatetime":"2026-11-20T08:00:00.5Z","username":"jdöe","physicalMemory":17179869184,"diskReads":12.5,"diskWrites":0.1,"networkSent":1e3,"uptime":null,"osVersion":"10.0","tenantId":"","instanceId":"ws-1"}"#;
    const PROCESSES: &str = r#"{"username":"jdoe","createdDate":"2026-11-20","processes":[{"processName":"a.exe","processorUsage":1.5,"memoryUsage":-0.25e-3,"processCount":2},{},{"username":"x"}],"instanceId":"ws-1"}"#;

    fn read_both(stream: Stream, text: &[u8]) -> (Option<Record>, Option<Record>) {
        let mut borrowed = RecordRef::empty(stream);
        let read_fast = read(text, &mut borrowed).map(|()| {
            let mut record = stream.empty_record();
            for (index, (_, value)) in borrowed.fields().enumerate() {
                if let Some(value) = value {
                    assert!(record.fields_mut().set(index, value.clone()));
                }
            }
            record
        });
        let mut exact = stream.empty_record();
        let read_exact = read_exactly(text, exact.fields_mut()).ok().map(|()| exact);
        (read_fast, read_exact)
    }

    #[test]
    fn the_form_agents_send_is_read_here() {
        for (stream, text) in [(Stream::Stats, STATS), (Stream::Processes, PROCESSES)] {
            let spaced = text
                .replace(',', " ,\n")
                .replace(':', ": ")
                .replace("08: 00: 00", "08:00:00");
            for text in [text, &spaced, "{}", " { } "] {
                let (fast, exact) = read_both(stream, text.as_bytes());
                assert!(fast.is_some(), "{text}");
                assert_eq!(fast, exact, "{text}");
            }
        }
    }

    #[test]
    fn where_it_answers_the_exact_reader_answers_the_same() {
        let random = SplitMix::new(3);
        let pick = |below: usize| usize::try_from(random.next() % below as u64).unwrap();
        let pieces: [&[u8]; 22] = [
            b"\"",
            b"\\",
            b"{",
            b"}",
            b"[",
            b"]",
            b",",
            b":",
            b"null",
            b"-",
            b"0",
            b"1",
            b".",
            b"e9",
            b"E+",
            b" ",
            b"\n",
            b"\xff",
            b"9999999999",
            b"1e400",
            b"\"id\":1",
            b"\xc3\xa4",
        ];
        let mut answered = 0;
        for _ in 0..60_000 {
            let (stream, text) = if pick(2) == 0 {
                (Stream::Stats, STATS)
            } else {
                (Stream::Processes, PROCESSES)
            };
            let mut text = text.as_bytes().to_vec();
            for _ in 0..=pick(3) {
                let from = pick(text.len());
                let to = (from + pick(4)).min(text.len());
                text.splice(from..to, pieces[pick(pieces.len())].iter().copied());
            }
            let (fast, exact) = read_both(stream, &text);
            if fast.is_some() {
                answered += 1;
                assert_eq!(fast, exact, "{}", String::from_utf8_lossy(&text));
            }
        }
        assert!(answered > 1000, "{answered}");
    }
}
