//! One line for each request: time, method, path without its query, status, bytes, duration.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use deskfleet::Timestamp;
use http::Method;

use crate::log::LogQueue;

/// Receives one line for each request, without a line end.
pub type AccessLog = Arc<dyn Fn(&str) + Send + Sync>;

/// An access log on standard error, which never waits for its reader: see [`LogQueue`].
#[must_use]
pub fn stderr_log() -> AccessLog {
    Arc::new(|line| LogQueue::stderr().line(line))
}

/// Longest path in a line, in bytes.
const PATH_MAX: usize = 256;
/// Longest method in a line, in bytes; a client may send any token.
const METHOD_MAX: usize = 16;
/// Every API key begins with this.
const KEY_PREFIX: &str = "dfk_";

/// The content of one line.
pub(crate) struct Entry<'a> {
    pub(crate) time: Timestamp,
    pub(crate) method: &'a Method,
    pub(crate) path: &'a str,
    pub(crate) status: u16,
    pub(crate) bytes: usize,
    pub(crate) duration: Duration,
}

impl Entry<'_> {
    pub(crate) fn line(&self) -> String {
        let method = self.method.as_str();
        format!(
            "{} {} {} {} {}B {:.3}ms",
            self.time,
            method.get(..METHOD_MAX).unwrap_or(method),
            printable(self.path),
            self.status,
            self.bytes,
            self.duration.as_secs_f64() * 1e3,
        )
    }
}

/// The path as it may stand in a log: printable ASCII, cut, without an escaped query and without anything like a key.
fn printable(path: &str) -> String {
    let end = ["%3f", "%3F", KEY_PREFIX]
        .into_iter()
        .filter_map(|mark| path.find(mark))
        .min();
    let kept = end.and_then(|end| path.get(..end)).unwrap_or(path);
    let mut text = String::with_capacity(kept.len().min(PATH_MAX) + 3);
    for byte in kept.bytes() {
        if text.len() >= PATH_MAX {
            break;
        }
        if byte.is_ascii_graphic() {
            text.push(char::from(byte));
        } else {
            // Writing to a String never fails.
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    if text.len() >= PATH_MAX || end.is_some() {
        text.push_str("...");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_every_part() {
        let entry = Entry {
            time: Timestamp::UNIX_EPOCH,
            method: &Method::GET,
            path: "/api/Stats/Test",
            status: 200,
            bytes: 12,
            duration: Duration::from_micros(1500),
        };
        assert_eq!(
            entry.line(),
            "1970-01-01T00:00:00Z GET /api/Stats/Test 200 12B 1.500ms"
        );
    }

    #[test]
    fn path_with_control_characters_or_a_key_is_escaped_or_cut() {
        assert_eq!(
            printable("/a\nb\u{1b}[31m é"),
            "/a\\x0ab\\x1b[31m\\x20\\xc3\\xa9"
        );
        assert_eq!(printable("/api/X%3FapiKey=secret"), "/api/X...");
        assert_eq!(printable("/operator/keys/dfk_abc"), "/operator/keys/...");
        let long = printable(&"a".repeat(100_000));
        assert_eq!(long.len(), PATH_MAX + 3);
    }
}
