//! Whole requests in sequence.

use bytes::Bytes;
use http::Request;

use super::{Subject, exchange, subject};

/// Requests in sequence against one engine; nothing may panic, and what holds for every response must hold.
///
/// Requests are separated by a line `----`. Each is a line `METHOD target`, header lines `name: value`, an empty line and
/// the body; `$KEY` in the target or a header stands for a good key. A request that is only `@seconds` moves the clock.
///
/// # Panics
/// When the engine breaks a promise.
pub fn request(input: &[u8]) {
    let subject = subject();
    let mut rest = Some(input);
    while let Some(text) = rest {
        let (one, more) = match find(text, b"\n----\n") {
            Some((one, more)) => (one, Some(more)),
            None => (text, None),
        };
        rest = more;
        if let Some(seconds) = seconds(one) {
            subject.clock.advance_seconds(seconds);
            subject
                .engine
                .maintain()
                .expect("maintenance of an engine in memory");
        } else if let Some(request) = parse(one, &subject) {
            exchange(&subject.engine, request);
        }
    }
}

/// The parts before and after the first `separator`.
fn find<'a>(text: &'a [u8], separator: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let at = text
        .windows(separator.len())
        .position(|window| window == separator)?;
    let (before, after) = text.split_at(at);
    after.get(separator.len()..).map(|after| (before, after))
}

fn seconds(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"@")?;
    str::from_utf8(digits).ok()?.trim().parse().ok()
}

/// `None` when an HTTP server would not pass the bytes on.
fn parse(text: &[u8], subject: &Subject) -> Option<Request<Bytes>> {
    let (head, body) = find(text, b"\n\n").unwrap_or((text, &[]));
    let head = String::from_utf8_lossy(head).replace("$KEY", &subject.key);
    let mut lines = head.lines();
    let (method, target) = lines.next()?.split_once(' ')?;
    let mut builder = Request::builder().method(method).uri(target);
    for line in lines {
        let (name, value) = line.split_once(": ")?;
        builder = builder.header(name, value);
    }
    builder.body(Bytes::copy_from_slice(body)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fuzz_request_is_parsed_with_its_key() {
        let subject = subject();
        let text = b"POST /api/Stats/Post?apiKey=$KEY\ncontent-type: application/json\n\n{}";
        let request = parse(text, &subject).unwrap();
        assert!(request.uri().query().unwrap().ends_with(&subject.key));
        assert_eq!(request.headers()["content-type"], "application/json");
        assert_eq!(request.body(), "{}");
        assert!(parse(b"norequest", &subject).is_none());
        assert_eq!(seconds(b"@-30\n"), Some(-30));
    }
}
