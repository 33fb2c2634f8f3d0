//! Date-times, alone and inside a record.

use std::sync::LazyLock;

use deskfleet::{Engine, Stream, Timestamp};

use super::subject;

static ENGINE: LazyLock<Engine> = LazyLock::new(|| subject().engine);

/// A date-time that is read is written so that it reads as the same time; a record accepts it exactly when the parser
/// does.
///
/// # Panics
/// When a date-time changes, or the parser and the reader of bodies disagree.
pub fn time(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else {
        return;
    };
    let parsed = text.parse::<Timestamp>();
    if let Ok(time) = parsed {
        let written = time.to_string();
        let again: Timestamp = written.parse().expect("what was written");
        assert_eq!(again, time, "{text} was written as {written}");
    }
    let body = serde_json::json!({ "updatetime": text }).to_string();
    let read = ENGINE.batch().push_json(Stream::Stats, body.as_bytes());
    assert_eq!(read.is_ok(), parsed.is_ok(), "{text:?}: {read:?}");
}
