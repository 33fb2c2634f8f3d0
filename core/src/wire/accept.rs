//! Content negotiation for the paged lists, and the content types of bodies.

use http::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};

use super::reply::JSON;

/// The content types of the paged lists beside JSON.
const PLAIN: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
const TEXT_JSON: HeaderValue = HeaderValue::from_static("text/json; charset=utf-8");

/// The content type of a list response: the best accepted one, `application/json` when none is named or acceptable.
pub(crate) fn negotiated(headers: &HeaderMap) -> HeaderValue {
    match best(headers, &["application/json", "text/plain", "text/json"]) {
        1 => PLAIN,
        2 => TEXT_JSON,
        _ => JSON,
    }
}

/// The index of the best accepted one of the `offered` media types; 0 when none is named or acceptable.
pub(super) fn best(headers: &HeaderMap, offered: &[&str]) -> usize {
    let mut best = (0, 0);
    for (index, offered) in offered.iter().enumerate() {
        let (kind, subtype) = offered.split_once('/').unwrap_or_default();
        let quality = quality(headers, kind, subtype);
        if quality > best.0 {
            best = (quality, index);
        }
    }
    best.1
}

/// Whether the client prefers a stream of server-sent events to JSON. One that names both without a preference, as generated clients do, reads
/// a body to its end: it gets JSON.
pub(crate) fn is_event_stream(headers: &HeaderMap) -> bool {
    let (stream_by, stream) = matching(headers, "text", "event-stream");
    let (json_by, json) = matching(headers, "application", "json");
    match (stream_by, json_by) {
        (NAMED, NAMED) => stream > json,
        (NAMED, _) => stream > 0 && stream >= json,
        _ => false,
    }
}

/// How specific a range is that names a media type as a whole.
const NAMED: u8 = 3;

/// The quality, in thousandths, of the most specific range that matches.
fn quality(headers: &HeaderMap, kind: &str, subtype: &str) -> u16 {
    matching(headers, kind, subtype).1
}

/// How specific the most specific range is that matches, 0 for none, and its quality.
fn matching(headers: &HeaderMap, kind: &str, subtype: &str) -> (u8, u16) {
    let mut found = (0, 0);
    for range in ranges_of(headers) {
        let specific = match range.kind_and_subtype {
            (k, s) if k.eq_ignore_ascii_case(kind) && s.eq_ignore_ascii_case(subtype) => NAMED,
            (k, "*") if k.eq_ignore_ascii_case(kind) => 2,
            ("*", "*") => 1,
            _ => continue,
        };
        if specific > found.0 {
            found = (specific, range.quality);
        }
    }
    found
}

struct Range<'h> {
    kind_and_subtype: (&'h str, &'h str),
    quality: u16,
}

fn ranges_of(headers: &HeaderMap) -> impl Iterator<Item = Range<'_>> {
    headers.get_all(ACCEPT).iter().flat_map(ranges)
}

fn ranges(header: &HeaderValue) -> impl Iterator<Item = Range<'_>> {
    let text = header.to_str().unwrap_or_default();
    text.split(',').filter_map(|range| {
        let mut parts = range.split(';').map(str::trim);
        let kind_and_subtype = parts.next()?.split_once('/')?;
        let q = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        Some(Range {
            kind_and_subtype,
            quality: q.map_or(1000, thousandths),
        })
    })
}

/// `0`, `0.5`, `1.000`; anything else counts as 0.
fn thousandths(text: &str) -> u16 {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = fraction.bytes().all(|b| b.is_ascii_digit()) && fraction.len() <= 3;
    match (whole, digits) {
        ("1", true) => 1000,
        ("0", true) => format!("{fraction:0<3}").parse().unwrap_or(0),
        _ => 0,
    }
}

/// Whether the body has no content coding but `identity`.
pub(crate) fn is_identity(headers: &HeaderMap) -> bool {
    headers.get_all(CONTENT_ENCODING).iter().all(|value| {
        let text = value.to_str().unwrap_or("?");
        let mut codings = text.split(',').map(str::trim);
        codings.all(|coding| coding.is_empty() || coding.eq_ignore_ascii_case("identity"))
    })
}

/// Whether the content type is JSON in UTF-8: `application/json`, `text/json`, `application/*+json`.
pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(CONTENT_TYPE).iter();
    if let (Some(value), None) = (values.next(), values.next())
        && value == "application/json"
    {
        // The form that agents send.
        return true;
    }
    let Some((essence, charset)) = content_type(headers) else {
        return false;
    };
    let suffixed = essence.strip_prefix("application/").is_some_and(|subtype| {
        subtype
            .strip_suffix("+json")
            .is_some_and(|name| !name.is_empty())
    });
    let json = suffixed || essence == "application/json" || essence == "text/json";
    json && charset.is_none_or(|charset| matches!(charset.as_str(), "utf-8" | "utf8"))
}

/// The media type in lower case, without parameters.
pub(crate) fn essence(headers: &HeaderMap) -> Option<String> {
    content_type(headers).map(|(essence, _)| essence)
}

/// Media type and charset, both in lower case.
fn content_type(headers: &HeaderMap) -> Option<(String, Option<String>)> {
    let mut values = headers.get_all(CONTENT_TYPE).iter();
    let text = values.next()?.to_str().ok()?.to_ascii_lowercase();
    if values.next().is_some() {
        return None;
    }
    let mut parts = text.split(';').map(str::trim);
    let essence = parts.next()?.to_owned();
    let charset = parts.find_map(|part| part.strip_prefix("charset="));
    Some((
        essence,
        charset.map(|charset| charset.trim_matches('"').to_owned()),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn negotiated_for(accept: &str) -> String {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, accept.parse().unwrap());
        negotiated(&headers)
            .to_str()
            .unwrap()
            .split(';')
            .next()
            .unwrap()
            .to_owned()
    }

    #[test]
    fn accept_header_selects_the_best_offered_type() {
        for (accept, expected) in [
            ("*/*", "application/json"),
            ("text/plain", "text/plain"),
            ("text/json", "text/json"),
            ("text/*", "text/plain"),
            ("text/plain, application/json", "application/json"),
            ("text/plain;q=0.9, application/json;q=0.8", "text/plain"),
            ("text/json;q=0.5, */*;q=0.1", "text/json"),
            ("application/json;q=0, */*", "text/plain"),
            ("image/png", "application/json"),
            ("", "application/json"),
            ("TEXT/PLAIN", "text/plain"),
        ] {
            assert_eq!(negotiated_for(accept), expected, "{accept}");
        }
        assert_eq!(negotiated(&HeaderMap::new()), JSON);
    }

    #[test]
    fn content_encoding_other_than_identity_is_not_identity() {
        let identity = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(CONTENT_ENCODING, HeaderValue::from_str(value).unwrap());
            }
            is_identity(&headers)
        };
        for good in [&[][..], &[""], &["identity"], &["Identity, identity", ""]] {
            assert!(identity(good), "{good:?}");
        }
        for bad in [
            &["gzip"][..],
            &["identity, gzip"],
            &["identity", "br"],
            &["identity;q=1"],
            &["é"],
        ] {
            assert!(!identity(bad), "{bad:?}");
        }
    }

    #[test]
    fn events_are_streamed_where_json_is_not_named_as_well() {
        for (value, streams) in [
            ("text/event-stream", true),
            ("Text/Event-Stream, */*", true),
            ("text/event-stream, application/json;q=0.9", true),
            ("text/event-stream, application/*", true),
            ("text/event-stream;q=0", false),
            ("text/event-stream;q=0.5, */*", false),
            ("application/json, text/event-stream", false),
            ("text/event-stream, application/json", false),
            ("*/*", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, value.parse().unwrap());
            assert_eq!(is_event_stream(&headers), streams, "{value}");
        }
    }

    #[test]
    fn content_type_is_json_only_for_json_in_utf8() {
        for (value, json) in [
            ("application/json", true),
            ("Application/JSON; charset=UTF-8", true),
            ("text/json;charset=\"utf-8\"", true),
            ("application/vnd.agent+json", true),
            ("application/json; profile=x", true),
            ("application/json; charset=utf8", true),
            ("application/json; charset=\"UTF8\"", true),
            ("application/json; charset=latin1", false),
            ("application/+json", false),
            ("text/plain", false),
            ("application/jsonp", false),
            ("text/x+json", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, value.parse().unwrap());
            assert_eq!(is_json(&headers), json, "{value}");
        }
        assert!(!is_json(&HeaderMap::new()));
    }
}
