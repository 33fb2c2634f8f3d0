//! The grammar of JSON: a text read token by token. A string without escapes is borrowed.
//!
//! The error messages are those of `serde_json`. It parses a scalar a second time when that scalar is wrong.

mod bytes;
mod numbers;

use std::borrow::Cow;
use std::fmt::{self, Display};

use serde::Deserialize;

use crate::limits::JSON_DEPTH_MAX;

pub(super) use bytes::plain_length;

/// What is wrong with a JSON text, and where. Boxed, so that the common case, no error, stays small.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JsonError(pub(super) Box<JsonErrorParts>);

/// The parts of a [`JsonError`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JsonErrorParts {
    /// `$`, `$.id`, `$.processes[3].processName`. The `$` is added last, by the caller that reads the whole text.
    pub(crate) path: String,
    /// What was found and what was expected.
    pub(crate) found: String,
    /// The line of the text, from 1.
    line: usize,
    /// The byte of that line, from 1.
    byte: usize,
    /// The byte of the text, from 1.
    pub(crate) at: usize,
    /// A sentence about what the sender probably did, after a space; empty where nothing suggests it.
    pub(crate) hint: &'static str,
}

impl JsonError {
    /// What was found and what was expected, at which line and byte.
    pub(crate) fn message(&self) -> String {
        let JsonErrorParts {
            found,
            line,
            byte,
            hint,
            ..
        } = &*self.0;
        format!("{found}, at line {line}, byte {byte}.{hint}")
    }

    /// The same error, seen from the object or array that holds `place`.
    #[cold]
    pub(super) fn within(mut self, place: fmt::Arguments<'_>) -> Self {
        self.0.path.insert_str(0, &place.to_string());
        self
    }
}

/// The outcome of reading a part of a text.
pub(super) type Read<T> = Result<T, JsonError>;

/// The brackets around an object or an array, and the errors where one is missing.
#[derive(Debug)]
pub(super) struct Brackets {
    open: u8,
    close: u8,
    unended: &'static str,
    expected: &'static str,
}

pub(super) const OBJECT: Brackets = Brackets {
    open: b'{',
    close: b'}',
    unended: "EOF while parsing an object",
    expected: "expected `,` or `}`",
};

pub(super) const ARRAY: Brackets = Brackets {
    open: b'[',
    close: b']',
    unended: "EOF while parsing a list",
    expected: "expected `,` or `]`",
};

/// A JSON text and the rest of it that is not read yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tokens<'a> {
    bytes: &'a [u8],
    /// The longest start of the text that is UTF-8.
    text: &'a str,
    rest: &'a [u8],
}

impl Brackets {
    fn is_object(&self) -> bool {
        self.open == OBJECT.open
    }
}

impl<'a> Tokens<'a> {
    /// Starts at the beginning of a text, after a byte order mark.
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let text = std::str::from_utf8(bytes).unwrap_or_else(|error| {
            let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
            std::str::from_utf8(valid).unwrap_or_default()
        });
        Self {
            bytes,
            text,
            rest: bytes,
        }
    }

    /// The number of bytes that were read.
    fn offset(&self) -> usize {
        self.bytes.len() - self.rest.len()
    }

    /// The rest of the text, for [`back_to`](Self::back_to).
    pub(super) fn remaining(&self) -> &'a [u8] {
        self.rest
    }

    /// Goes back to where the rest was `rest`.
    pub(super) fn back_to(&mut self, rest: &'a [u8]) {
        self.rest = rest;
    }

    /// The bytes read since the rest was `rest`.
    pub(super) fn since(&self, rest: &'a [u8]) -> &'a [u8] {
        let end = rest.len() - self.rest.len();
        rest.get(..end).unwrap_or_default()
    }

    /// Skips white space and returns the next byte without reading it.
    #[inline]
    pub(super) fn peek(&mut self) -> Option<u8> {
        while let [b' ' | b'\t' | b'\r' | b'\n', rest @ ..] = self.rest {
            self.rest = rest;
        }
        self.rest.first().copied()
    }

    /// Reads `token` if it is next.
    #[inline]
    pub(super) fn eat(&mut self, token: &[u8]) -> bool {
        let after = self.rest.strip_prefix(token);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    #[inline]
    fn eat_byte(&mut self, byte: u8) -> bool {
        match self.rest {
            [first, rest @ ..] if *first == byte => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    /// Reads the bracket that begins an object or an array, if it is next.
    pub(super) fn open(&mut self, brackets: &Brackets) -> bool {
        self.eat_byte(brackets.open)
    }

    /// Goes to the next member or element; returns `false` at the end, after reading the closing bracket.
    #[inline]
    pub(super) fn next_in(&mut self, brackets: &Brackets, first: bool) -> Read<bool> {
        let mut next = self.peek();
        if next == Some(brackets.close) {
            self.eat_byte(brackets.close);
            return Ok(false);
        }
        let follows = !first && self.eat_byte(b',');
        if follows {
            next = self.peek();
        }
        let begins = match next {
            Some(b'"') => true,
            Some(byte) => !brackets.is_object() && byte != brackets.close,
            None => false,
        };
        if begins && (first || follows) {
            return Ok(true);
        }
        Err(self.error_at_next(match next {
            None if follows => "EOF while parsing a value",
            None => brackets.unended,
            Some(byte) if follows && byte == brackets.close => "trailing comma",
            Some(_) if first || follows => "key must be a string",
            Some(_) => brackets.expected,
        }))
    }

    /// Reads the name of a member.
    pub(super) fn name(&mut self) -> Read<Cow<'a, str>> {
        self.string().ok_or_else(|| self.broken_scalar())
    }

    /// Reads the colon after the name of a member.
    pub(super) fn colon(&mut self) -> Read<()> {
        match self.peek() {
            _ if self.eat_byte(b':') => Ok(()),
            Some(_) => Err(self.error_at_next("expected `:`")),
            None => Err(self.error_at_next(OBJECT.unended)),
        }
    }

    /// Checks that only white space is left.
    pub(super) fn expect_end(&mut self) -> Read<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.error_at_next("trailing characters")),
        }
    }

    /// Skips a value of any kind, checking it. `depth` is the nesting depth of the value itself.
    pub(super) fn skip(&mut self, depth: usize) -> Read<()> {
        let brackets = match self.peek() {
            Some(b'{') => OBJECT,
            Some(b'[') => ARRAY,
            _ => return self.skip_scalar(),
        };
        self.open(&brackets);
        if depth > JSON_DEPTH_MAX {
            let message = format_args!("nested deeper than {JSON_DEPTH_MAX} levels");
            return Err(self.error_after(&brackets, message));
        }
        let mut first = true;
        while self.next_in(&brackets, first)? {
            first = false;
            if brackets.is_object() {
                self.name()?;
                self.colon()?;
            }
            self.skip(depth + 1)?;
        }
        Ok(())
    }

    fn skip_scalar(&mut self) -> Read<()> {
        let next = self.peek();
        let start = self.rest;
        let read = match next {
            Some(b'"') => self.string().is_some(),
            Some(b'n') => self.eat(b"null"),
            Some(b't') => self.eat(b"true"),
            Some(b'f') => self.eat(b"false"),
            _ => self.double().is_some(),
        };
        if read {
            return Ok(());
        }
        self.rest = start;
        Err(self.broken_scalar())
    }

    /// Reads a string; returns `None` if the next token is not a valid string.
    pub(super) fn string(&mut self) -> Option<Cow<'a, str>> {
        let inside = self.rest.strip_prefix(b"\"")?;
        let length = plain_length(inside);
        match inside.get(length..)? {
            [b'"', rest @ ..] => {
                let start = self.offset() + 1;
                let text = self.text.get(start..start + length)?;
                self.rest = rest;
                Some(Cow::Borrowed(text))
            }
            [b'\\', ..] => self.escaped_string(),
            _ => None,
        }
    }

    fn escaped_string(&mut self) -> Option<Cow<'a, str>> {
        let mut inside = self.rest.strip_prefix(b"\"")?;
        loop {
            inside = inside.get(plain_length(inside)..)?;
            match inside {
                [b'\\', _, rest @ ..] => inside = rest,
                [b'"', rest @ ..] => {
                    let token = self.rest.get(..self.rest.len() - rest.len())?;
                    let text: String = serde_json::from_slice(token).ok()?;
                    self.rest = rest;
                    return Some(Cow::Owned(text));
                }
                _ => return None,
            }
        }
    }

    /// Skips a scalar and returns how error messages name it.
    pub(super) fn described_scalar(&mut self) -> Read<String> {
        let start = self.rest;
        self.skip_scalar()?;
        let token = self.since(start);
        let shown = || std::str::from_utf8(token).unwrap_or_default();
        Ok(match token {
            [b'"', ..] => {
                let text: String = serde_json::from_slice(token).unwrap_or_default();
                format!("string {text:?}")
            }
            b"null" => "null".to_owned(),
            b"true" | b"false" => format!("boolean `{}`", shown()),
            _ => match serde_json::from_slice::<serde_json::Number>(token) {
                Ok(number) if number.is_f64() => format!("floating point `{number}`"),
                _ => format!("integer `{}`", shown()),
            },
        })
    }

    /// The error of the next token, which is not a valid scalar.
    #[cold]
    fn broken_scalar(&mut self) -> JsonError {
        fn error<'a, T: Deserialize<'a>>(text: &'a [u8]) -> Option<serde_json::Error> {
            serde_json::from_slice::<T>(text).err()
        }
        let error = match self.peek() {
            Some(b'"') => error::<String>(self.rest),
            Some(b'n') => error::<()>(self.rest),
            Some(b't' | b'f') => error::<bool>(self.rest),
            _ => error::<serde_json::Number>(self.rest),
        };
        let Some(error) = error else {
            return self.error_at_next("expected value");
        };
        let lines = self.rest.split_inclusive(|byte| *byte == b'\n');
        let before: usize = lines
            .take(error.line().saturating_sub(1))
            .map(<[u8]>::len)
            .sum();
        self.error_at(
            without_place(&error),
            self.offset() + before + error.column(),
        )
    }

    /// An error at the last byte that was read.
    #[cold]
    pub(super) fn error(&self, message: impl Display) -> JsonError {
        self.error_at(message, self.offset())
    }

    /// An error at the next byte.
    #[cold]
    pub(super) fn error_at_next(&self, message: impl Display) -> JsonError {
        self.error_at(message, self.bytes.len().min(self.offset() + 1))
    }

    /// An error in an object or array. Its position is after the closing bracket if that is next, as in `serde_json`.
    #[cold]
    pub(super) fn error_after(&mut self, brackets: &Brackets, message: impl Display) -> JsonError {
        self.peek();
        if !self.eat_byte(brackets.close) && !brackets.is_object() && self.eat_byte(b',') {
            self.peek();
        }
        self.error(message)
    }

    fn error_at(&self, message: impl Display, at: usize) -> JsonError {
        let read = self.bytes.get(..at).unwrap_or(self.bytes);
        let line = read.split(|byte| *byte == b'\n');
        let (line, byte) = line.fold((0, 0), |(line, _), last| (line + 1, last.len()));
        JsonError(Box::new(JsonErrorParts {
            path: String::new(),
            found: message.to_string(),
            line,
            byte,
            at,
            hint: self.hint(at),
        }))
    }

    /// What an error after `at` bytes probably comes from.
    fn hint(&self, at: usize) -> &'static str {
        let [before, comma, after] = [3, 2, 1].map(|back| {
            let place = at.checked_sub(back);
            place.and_then(|place| self.bytes.get(place)).copied()
        });
        let is_digit = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_digit());
        if self.text.len() < self.bytes.len() {
            " The text is not UTF-8: save and send it as UTF-8."
        } else if comma == Some(b',') && is_digit(before) && is_digit(after) {
            " A decimal comma is not JSON: write 1.5 for 1,5."
        } else {
            ""
        }
    }
}

/// The message of a `serde_json` error, with its position in the form of every other message.
#[cfg(test)]
pub(super) fn located(error: &serde_json::Error) -> String {
    let (line, column) = (error.line(), error.column());
    format!("{}, at line {line}, byte {column}.", without_place(error))
}

fn without_place(error: &serde_json::Error) -> String {
    let (line, column) = (error.line(), error.column());
    let message = error.to_string();
    message
        .strip_suffix(&format!(" at line {line} column {column}"))
        .unwrap_or(&message)
        .to_owned()
}
