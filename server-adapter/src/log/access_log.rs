//! One line for each request: time, client, method, path, operation, status, bytes, duration, name of the key, trace id; as text or as
//! JSON. Neither a key nor a query is ever in it, and nothing that a client sends can begin a line or reach a terminal as
//! anything but printable ASCII.

use std::fmt::Write as _;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use deskfleet::Timestamp;
use serde::Serialize;

use crate::log::LogQueue;

/// Receives one line for each request, without a line end.
pub type AccessLog = Arc<dyn Fn(&str) + Send + Sync>;

/// An access log on standard error, which never waits for its reader: see [`LogQueue`].
#[must_use]
pub fn stderr_log() -> AccessLog {
    Arc::new(|line| LogQueue::stderr().access_line(line))
}

deskfleet::settings! {
    /// The form of the lines of the access log.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum LogFormat {
        /// `2026-11-22T08:00:00Z 192.0.2.7 GET /api/Stats/Test test 200 0B 0.071ms admin 00-4bf9…-00f0…-00`; `-` where there is no
        /// key.
        #[default]
        Text = "text",
        /// One JSON object on each line: `time`, `client`, `method`, `path`, `operation`, `status`, `bytes`, `durationMs`, `key`,
        /// `traceId`.
        Json = "json",
        /// No lines.
        Off = "off",
    }
}

/// Longest path or name in a line, in bytes.
const TEXT_MAX: usize = 256;
/// Longest method in a line, in bytes; a client may send any token.
const METHOD_MAX: usize = 16;
/// Every API key begins with this.
const KEY_PREFIX: &str = "dfk_";
/// What is before the code in a link to the console.
const CODE_PREFIX: &str = "code=";

/// The content of one line.
pub(crate) struct Entry<'a> {
    pub(crate) time: Timestamp,
    pub(crate) client: IpAddr,
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    pub(crate) operation: &'static str,
    pub(crate) status: u16,
    pub(crate) bytes: usize,
    pub(crate) duration: Duration,
    /// The name of the key.
    pub(crate) key: Option<&'a str>,
    pub(crate) trace_id: &'a str,
}

/// The members of a line of JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct JsonLine<'a> {
    time: Timestamp,
    client: IpAddr,
    method: &'a str,
    path: String,
    operation: &'static str,
    status: u16,
    bytes: usize,
    duration_ms: f64,
    key: Option<&'a str>,
    trace_id: &'a str,
}

impl Entry<'_> {
    /// The line in that format.
    pub(crate) fn line(&self, format: LogFormat) -> String {
        match format {
            LogFormat::Text => self.text(),
            LogFormat::Json => self.json(),
            LogFormat::Off => String::new(),
        }
    }

    fn method(&self) -> &str {
        self.method.get(..METHOD_MAX).unwrap_or(self.method)
    }

    fn text(&self) -> String {
        format!(
            "{} {} {} {} {} {} {}B {:.3}ms {} {}",
            self.time,
            self.client,
            self.method(),
            printable(self.path),
            self.operation,
            self.status,
            self.bytes,
            self.duration.as_secs_f64() * 1e3,
            self.key.map_or_else(|| "-".to_owned(), printable),
            self.trace_id,
        )
    }

    /// JSON may hold any character from U+0020 on; a terminal obeys some of them (U+007F, U+009B), so those outside of printable
    /// ASCII are escaped too.
    fn json(&self) -> String {
        let members = JsonLine {
            time: self.time,
            client: self.client,
            method: self.method(),
            path: printable(self.path),
            operation: self.operation,
            status: self.status,
            bytes: self.bytes,
            // To the microsecond.
            duration_ms: (self.duration.as_secs_f64() * 1e6).round() / 1e3,
            key: self.key.map(|name| cut(name).0),
            trace_id: self.trace_id,
        };
        let json = serde_json::to_string(&members).unwrap_or_default();
        let mut line = String::with_capacity(json.len());
        for character in json.chars() {
            if matches!(character, ' '..='~') {
                line.push(character);
                continue;
            }
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Writing to a String never fails.
                let _ = write!(line, "\\u{unit:04x}");
            }
        }
        line
    }
}

/// The part of a text that may stand in a log, before an escaped query or fragment and anything like a key or a code of the console, and
/// whether that is all of it. A key is one in any case, and also where its characters are percent-encoded.
fn cut(text: &str) -> (&str, bool) {
    let bytes = text.as_bytes();
    let end = (0..bytes.len()).find(|at| {
        let rest = bytes.get(*at..).unwrap_or_default();
        let first = || decoded(rest).next();
        let is_query = || rest.first() == Some(&b'%') && matches!(first(), Some(b'?' | b'#'));
        is_query() || begins(rest, KEY_PREFIX) || begins(rest, CODE_PREFIX)
    });
    let kept = end.and_then(|end| text.get(..end)).unwrap_or(text);
    (kept, end.is_none())
}

fn begins(text: &[u8], secret: &str) -> bool {
    let mut found = decoded(text);
    secret.bytes().all(|expected| {
        let found = found.next();
        found.is_some_and(|byte| byte.eq_ignore_ascii_case(&expected))
    })
}

/// The bytes of a path without percent-encoding. A `%` that encodes nothing is one.
fn decoded(mut path: &[u8]) -> impl Iterator<Item = u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    std::iter::from_fn(move || {
        let (first, mut rest) = path.split_first()?;
        let mut byte = *first;
        if let (b'%', [high, low, after @ ..]) = (byte, rest)
            && let (Some(high), Some(low)) = (digit(*high), digit(*low))
        {
            byte = u8::try_from(16 * high + low).unwrap_or(byte);
            rest = after;
        }
        path = rest;
        Some(byte)
    })
}

/// A text as it may stand in a line of text: one word of printable ASCII, cut.
fn printable(text: &str) -> String {
    let (kept, whole) = cut(text);
    let mut word = String::with_capacity(kept.len().min(TEXT_MAX) + 3);
    for byte in kept.bytes() {
        if word.len() >= TEXT_MAX {
            break;
        }
        if byte.is_ascii_graphic() {
            word.push(char::from(byte));
        } else {
            // Writing to a String never fails.
            let _ = write!(word, "\\x{byte:02x}");
        }
    }
    if word.len() >= TEXT_MAX || !whole {
        word.push_str("...");
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(key: Option<&str>) -> Entry<'_> {
        Entry {
            time: Timestamp::UNIX_EPOCH,
            client: IpAddr::from([192, 0, 2, 7]),
            method: "GET",
            path: "/api/Stats/Test",
            operation: "test",
            status: 200,
            bytes: 12,
            duration: Duration::from_micros(1500),
            key,
            trace_id: "00-a-b-00",
        }
    }

    #[test]
    fn a_line_has_every_part_in_both_formats() {
        assert_eq!(
            entry(None).text(),
            "1970-01-01T00:00:00Z 192.0.2.7 GET /api/Stats/Test test 200 12B 1.500ms - 00-a-b-00"
        );
        assert_eq!(
            entry(Some("admin")).json(),
            r#"{"time":"1970-01-01T00:00:00Z","client":"192.0.2.7","method":"GET","path":"/api/Stats/Test","operation":"test","status":200,"bytes":12,"durationMs":1.5,"key":"admin","traceId":"00-a-b-00"}"#
        );
    }

    #[test]
    fn key_name_with_controls_or_terminal_escapes_stays_one_printable_word() {
        let name = "a b\n\"\\\u{1b}[31m\u{7f}\u{9b}31m\u{202e}\u{2028}\u{1f600}";
        let entry = entry(Some(name));
        let (text, json) = (entry.text(), entry.json());
        for line in [&text, &json] {
            assert!(
                line.bytes().all(|byte| (b' '..=b'~').contains(&byte)),
                "{line}"
            );
        }
        assert_eq!(text.split(' ').count(), 10, "{text}");
        let read: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(read["key"], name);
    }

    #[test]
    fn path_with_control_characters_or_a_key_is_escaped_or_cut() {
        assert_eq!(
            printable("/a\nb\u{1b}[31m é"),
            "/a\\x0ab\\x1b[31m\\x20\\xc3\\xa9"
        );
        assert_eq!(printable("/api/X%3FapiKey=secret"), "/api/X...");
        for key in [
            "dfk_abc",
            "DFK_abc",
            "%64fk_abc",
            "d%66%6B_abc",
            "%44%46%4b%5F%61bc/x",
        ] {
            let path = format!("/operator/keys/{key}");
            assert_eq!(printable(&path), "/operator/keys/...", "{path}");
        }
        for link in ["/%23code=abc", "/%2523Code=abc", "/%2523%63ode=abc"] {
            assert!(!printable(link).contains("abc"), "{link}");
        }
        let like_keys = "/%64fkabc/%dfk/%64fk%";
        assert_eq!(printable(like_keys), like_keys);
        let long = printable(&"a".repeat(100_000));
        assert_eq!(long.len(), TEXT_MAX + 3);
    }
}
