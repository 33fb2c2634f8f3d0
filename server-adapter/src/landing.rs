//! `/`: what runs here and where to look, as a page for a browser and as JSON for programs; and the icon.

use bytes::Bytes;
use http::header::{
    ACCEPT, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, VARY,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue, Response};

const PAGE: &str = include_str!("landing/page.html");
const ICON: &str = include_str!("landing/icon.svg");
const DOCUMENT: &str = concat!(
    r#"{"name":"deskfleet","version":""#,
    env!("CARGO_PKG_VERSION"),
    r#"","links":{"openapi":"/openapi.json","alive":"/livez","ready":"/readyz","metrics":"/metrics"}}"#,
);
/// Stands in the page for the version.
const VERSION_MARK: &str = "{version}";
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Nothing is loaded but the icon, and only the page's own style applies: it is named by its SHA-256.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; img-src 'self'; style-src 'sha256-spiDDVOuhbiHvdMNMMbmoPZJX1UGTRzNPb0p2kDoGXc='; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

/// What runs here, in the form that the request asks for.
pub(crate) fn index(headers: &HeaderMap) -> Response<Bytes> {
    let mut response = if wants_html(headers) {
        let page = PAGE.replace(VERSION_MARK, VERSION);
        let mut response = typed("text/html; charset=utf-8", page.into());
        let headers = response.headers_mut();
        headers.insert(CONTENT_SECURITY_POLICY, POLICY);
        headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        response
    } else {
        typed(
            "application/json; charset=utf-8",
            Bytes::from_static(DOCUMENT.as_bytes()),
        )
    };
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(VARY, HeaderValue::from_static("Accept"));
    response
}

/// The icon of the page.
pub(crate) fn icon() -> Response<Bytes> {
    let mut response = typed("image/svg+xml", Bytes::from_static(ICON.as_bytes()));
    let day = HeaderValue::from_static("public, max-age=86400");
    response.headers_mut().insert(CACHE_CONTROL, day);
    response
}

fn typed(content_type: &'static str, body: Bytes) -> Response<Bytes> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Whether HTML is named among what is accepted, as browsers do and programs do not.
fn wants_html(headers: &HeaderMap) -> bool {
    let ranges = headers.get_all(ACCEPT).iter();
    let mut ranges = ranges.flat_map(|accept| accept.to_str().unwrap_or_default().split(','));
    ranges.any(|range| {
        let mut parts = range.split(';').map(str::trim);
        let is_html = parts
            .next()
            .is_some_and(|media| media.eq_ignore_ascii_case("text/html"));
        let refused = |part: &str| {
            let quality = part.strip_prefix("q=");
            quality.is_some_and(|quality| quality.bytes().all(|byte| b"0.".contains(&byte)))
        };
        is_html && !parts.any(refused)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_is_for_those_who_name_it() {
        for (accept, html) in [
            (
                "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
                true,
            ),
            ("application/json, TEXT/HTML;q=0.1", true),
            ("*/*", false),
            ("", false),
            ("application/json", false),
            ("text/*", false),
            ("text/html;q=0, */*", false),
            ("text/html; level=1; q=0.000", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, HeaderValue::from_static(accept));
            assert_eq!(wants_html(&headers), html, "{accept}");
        }
        assert!(!wants_html(&HeaderMap::new()));
    }
}
