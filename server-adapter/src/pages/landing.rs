//! `/`: what runs here and where to look, as JSON for programs; for browsers the console, or a page without it. And the icon.

use bytes::Bytes;
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, VARY, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, HeaderValue, Response};

use super::accept::accepts;
#[cfg(feature = "console")]
use crate::console::files::page;

const ICON: &str = include_str!("landing/icon.svg");
const DOCUMENT: &str = concat!(
    r#"{"name":"deskfleet","version":""#,
    env!("CARGO_PKG_VERSION"),
    r#"","links":{"openapi":"/openapi.json","alive":"/livez","ready":"/readyz","metrics":"/metrics"}}"#,
);

/// What runs here: a page if `Accept` names HTML, as browsers do and programs do not, else JSON.
pub(crate) fn index(headers: &HeaderMap) -> Response<Bytes> {
    if accepts(headers, &ACCEPT, "text/html") == Some(true) {
        return page(headers);
    }
    let mut response = typed(
        "application/json; charset=utf-8",
        Bytes::from_static(DOCUMENT.as_bytes()),
    );
    vary_uncached(&mut response);
    response
}

/// The page of a server without the console.
#[cfg(not(feature = "console"))]
fn page(_: &HeaderMap) -> Response<Bytes> {
    use http::header::{CONTENT_SECURITY_POLICY, REFERRER_POLICY};

    // Only the icon loads, and only the page's own style applies, which is named by its SHA-256.
    const POLICY: &str = "default-src 'none'; img-src 'self'; \
        style-src 'sha256-spiDDVOuhbiHvdMNMMbmoPZJX1UGTRzNPb0p2kDoGXc='; \
        base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    let page = include_str!("landing/page.html").replace("{version}", env!("CARGO_PKG_VERSION"));
    let mut response = typed("text/html; charset=utf-8", page.into());
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, POLICY),
        (REFERRER_POLICY, "no-referrer"),
    ] {
        let headers = response.headers_mut();
        headers.insert(name, HeaderValue::from_static(value));
    }
    vary_uncached(&mut response);
    response
}

/// The response depends on `Accept`.
fn vary_uncached(response: &mut Response<Bytes>) {
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(VARY, HeaderValue::from_static("Accept"));
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
