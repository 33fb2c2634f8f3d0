//! Reading records in the form agents send them: the documented names, in the order of the document, without escapes.
//!
//! One pass, nothing looked at twice. Whatever is not of that form, or is wrong, is left to the exact reader, which decides
//! and explains; where this one answers, the exact one answers the same.

use std::borrow::Cow;

use crate::limits::PROCESS_ITEMS_MAX;
use crate::model::{FieldKind, FieldSpec, FieldValue, Fields, ProcessItem};

/// Reads the object `text` into `fields`; `None` where the exact reader must look. `fields` may then hold a part.
pub(super) fn read(text: &[u8], fields: &mut dyn Fields) -> Option<()> {
    let mut reader = Reader {
        text: std::str::from_utf8(text).ok()?,
        at: 0,
    };
    reader.object(fields)?;
    reader.spaces();
    (reader.at == text.len()).then_some(())
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    fn spaces(&mut self) {
        let space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        while self.rest().first().is_some_and(space) {
            self.at += 1;
        }
    }

    /// The next byte that is no space.
    fn next(&mut self) -> Option<u8> {
        self.spaces();
        let byte = *self.rest().first()?;
        self.at += 1;
        Some(byte)
    }

    fn eat(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then_some(())
    }

    /// The members must stand in the order of the table, so none can stand twice; any may be left out.
    fn object(&mut self, fields: &mut dyn Fields) -> Option<()> {
        self.eat(b'{')?;
        let mut specs = fields.specs().iter().enumerate();
        self.spaces();
        if self.rest().first() == Some(&b'}') {
            self.at += 1;
            return Some(());
        }
        loop {
            self.eat(b'"')?;
            let rest = self.rest();
            let (index, spec) = specs.find(|(_, spec)| {
                let name = spec.name.as_bytes();
                rest.starts_with(name) && rest.get(name.len()) == Some(&b'"')
            })?;
            self.at += spec.name.len() + 1;
            self.eat(b':')?;
            let value = self.value(spec)?;
            if !fields.set(index, value) {
                return None;
            }
            match self.next()? {
                b',' => {}
                b'}' => return Some(()),
                _ => return None,
            }
        }
    }

    fn value(&mut self, spec: &FieldSpec) -> Option<FieldValue<'a>> {
        self.spaces();
        if self.rest().starts_with(b"null") {
            self.at += 4;
            return spec.nullable.then_some(FieldValue::Null);
        }
        match spec.kind {
            FieldKind::Int32 | FieldKind::Int64 => self.integer().map(FieldValue::Int),
            FieldKind::Float => self.float().map(FieldValue::Float),
            FieldKind::Double => self.double().map(FieldValue::Double),
            FieldKind::Text => Some(FieldValue::Text(Cow::Borrowed(self.string()?))),
            FieldKind::Time => Some(FieldValue::Time(self.string()?.parse().ok()?)),
            FieldKind::Items => Some(FieldValue::Items(Cow::Owned(self.items()?))),
        }
    }

    /// A string without escapes.
    fn string(&mut self) -> Option<&'a str> {
        self.eat(b'"')?;
        let start = self.at;
        let end = self
            .rest()
            .iter()
            .position(|byte| matches!(byte, b'"' | b'\\' | ..b' '))?;
        self.at += end + 1;
        let text = self.text.get(start..start + end)?;
        (self.text.as_bytes().get(start + end) == Some(&b'"')).then_some(text)
    }

    /// The bytes of a number: all that can stand in one.
    fn number(&mut self) -> Option<&'a str> {
        let of_number = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        let length = self
            .rest()
            .iter()
            .take_while(|byte| of_number(byte))
            .count();
        let number = self.text.get(self.at..self.at + length)?;
        self.at += length;
        Some(number)
    }

    /// An integer of up to 18 digits; `-0` is none to the exact reader.
    fn integer(&mut self) -> Option<i64> {
        const DIGITS_MAX: usize = 18;
        let negative = self.rest().first() == Some(&b'-');
        self.at += usize::from(negative);
        let digits = self.rest();
        let mut value = 0;
        let mut count = 0;
        while let Some(byte @ b'0'..=b'9') = digits.get(count) {
            if count == DIGITS_MAX {
                return None;
            }
            value = value * 10 + i64::from(byte - b'0');
            count += 1;
        }
        let leading_zero = digits.first() == Some(&b'0') && (count > 1 || negative);
        if count == 0 || leading_zero {
            return None;
        }
        self.at += count;
        Some(if negative { -value } else { value })
    }

    /// A number of the JSON grammar, rounded to the nearest double.
    fn double(&mut self) -> Option<f64> {
        let text = self.number()?;
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, Some(exponent)),
            None => (text, None),
        };
        let (whole, fraction) = match mantissa.split_once('.') {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (mantissa, None),
        };
        let digits =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let whole = whole.strip_prefix('-').unwrap_or(whole);
        let in_grammar = digits(whole)
            && (whole.len() == 1 || !whole.starts_with('0'))
            && fraction.is_none_or(digits)
            && exponent.is_none_or(|exponent| {
                digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))
            });
        let value: f64 = text.parse().ok()?;
        (in_grammar && value.is_finite()).then_some(value)
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
        if self.rest().first() == Some(&b']') {
            self.at += 1;
            return Some(items);
        }
        loop {
            let mut item = ProcessItem::default();
            self.object(&mut item)?;
            items.push(item);
            match self.next()? {
                b',' if items.len() < PROCESS_ITEMS_MAX => {}
                b']' => return Some(items),
                _ => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::model::{Record, Stream};
    use crate::random::SplitMix;
    use crate::wire::record::read_exactly;

    use super::*;

    const STATS: &str = r#"{"id":7,"computeTypeName":"STANDARD","updatetime":"2026-11-20T08:00:00.5Z","username":"jdöe","physicalMemory":17179869184,"diskReads":12.5,"diskWrites":0.1,"networkSent":1e3,"uptime":null,"osVersion":"10.0","tenantId":"","instanceId":"ws-1"}"#;
    const PROCESSES: &str = r#"{"username":"jdoe","createdDate":"2026-11-20","processes":[{"processName":"a.exe","processorUsage":1.5,"memoryUsage":-0.25e-3,"processCount":2},{},{"username":"x"}],"instanceId":"ws-1"}"#;

    fn read_both(stream: Stream, text: &[u8]) -> (Option<Record>, Option<Record>) {
        let (mut fast, mut exact) = (stream.empty_record(), stream.empty_record());
        let read_fast = read(text, fast.fields_mut()).map(|()| fast);
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
