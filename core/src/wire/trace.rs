//! Trace ids in the form of W3C Trace Context: `00-<32 hex>-<16 hex>-00`.

use http::{Extensions, HeaderMap, HeaderName, HeaderValue};

use crate::random::SplitMix;

/// The header a trace id is taken from.
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// The trace id of a request, as the body of a refusal shows it: `00-<32 hex>-<16 hex>-00`.
///
/// A host that logs requests makes it with [`Engine::trace_id`](crate::Engine::trace_id) and puts it into the extensions of the
/// head: a refusal of that request shows the same id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceId(HeaderValue);

impl TraceId {
    pub(crate) fn new(traceparent: Option<&HeaderValue>, random: &SplitMix) -> Self {
        let text = trace_id(traceparent.map(HeaderValue::as_bytes), random);
        #[expect(clippy::expect_used, reason = "hex digits and hyphens")]
        Self(HeaderValue::try_from(text).expect("a header value"))
    }

    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.to_str().unwrap_or_default()
    }

    /// The `traceparent` of a request: the id among the extensions of its head, else the header.
    #[must_use]
    pub fn traceparent<'r>(
        extensions: &'r Extensions,
        headers: &'r HeaderMap,
    ) -> Option<&'r HeaderValue> {
        match extensions.get::<Self>() {
            Some(id) => Some(&id.0),
            None => headers.get(TRACEPARENT),
        }
    }
}

/// The trace id of a valid `traceparent`, else a random one.
pub(crate) fn trace_id(traceparent: Option<&[u8]>, random: &SplitMix) -> String {
    if let Some((trace, parent)) = traceparent.and_then(parse) {
        return format!("00-{trace}-{parent}-00");
    }
    let (high, low, span) = (random.next(), random.next(), random.next() | 1);
    // Every refusal has one: the formatter takes twice as many instructions.
    let mut text = String::with_capacity(55);
    text.push_str("00-");
    for (number, end) in [(high, ""), (low, "-"), (span, "-00")] {
        let digits = (0..64).step_by(4).rev().map(|bits| number >> bits & 0xf);
        let digits = digits.filter_map(|digit| char::from_digit(u32::try_from(digit).ok()?, 16));
        text.extend(digits);
        text.push_str(end);
    }
    text
}

/// Trace id and parent id of a version 00 `traceparent`: lower-case hex, neither all zero.
fn parse(header: &[u8]) -> Option<(&str, &str)> {
    let text = std::str::from_utf8(header).ok()?;
    let mut fields = text.split('-');
    let (version, trace, parent, flags) = (
        fields.next()?,
        fields.next()?,
        fields.next()?,
        fields.next()?,
    );
    let valid = version == "00"
        && fields.next().is_none()
        && is_hex(flags, 2)
        && is_id(trace, 32)
        && is_id(parent, 16);
    valid.then_some((trace, parent))
}

fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length
        && text
            .bytes()
            .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

fn is_id(text: &str, length: usize) -> bool {
    is_hex(text, length) && text.bytes().any(|b| b != b'0')
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALID: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn valid_traceparent_keeps_its_ids() {
        let id = trace_id(Some(VALID.as_bytes()), &SplitMix::new(1));
        assert_eq!(
            id,
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
        );
    }

    #[test]
    fn invalid_traceparent_gets_a_new_trace_id() {
        for header in [
            "",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x",
        ] {
            let id = trace_id(Some(header.as_bytes()), &SplitMix::new(1));
            assert!(parse(id.as_bytes()).is_some(), "{id}");
            assert!(header.is_empty() || !header.contains(&id[3..35]), "{id}");
        }
    }
}
