//! Date-times, alone and inside a record.

use bytes::Bytes;
use deskfleet::Timestamp;
use http::{Request, header};

use super::{exchange, subject};

/// A date-time that is read is written so that it is read as the same; a record takes it exactly when the parser does.
///
/// # Panics
/// When a date-time changes on its way, or the parser and the Stats endpoint disagree.
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
    let request = Request::post("/api/Stats/Post")
        .header(header::CONTENT_TYPE, "application/json")
        .body(Bytes::from(body));
    if let Ok(request) = request {
        let status = exchange(&subject().engine, request).status();
        assert_eq!(status.is_success(), parsed.is_ok(), "{text:?}: {status}");
    }
}
