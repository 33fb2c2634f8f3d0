//! CORS: the origins whose pages may read responses. None unless it is named.

use std::io;

use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, ORIGIN,
    VARY,
};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};

/// The methods of all endpoints.
const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, PUT, DELETE");
/// The headers that a request may have beside those that every page may send.
const HEADERS: HeaderValue = HeaderValue::from_static(
    "Authorization, Content-Encoding, Content-Type, Last-Event-ID, Traceparent, X-Api-Key, X-Deskfleet-Log, X-Deskfleet-Position",
);
/// The headers of a response that a page can read beside those that every page can.
const EXPOSED: HeaderValue = HeaderValue::from_static(
    "Accept-Encoding, Allow, Retry-After, WWW-Authenticate, X-Deskfleet-Age, X-Deskfleet-Log, X-Deskfleet-Position, X-Next-Token, X-Warning",
);
/// Seconds for which a browser need not ask again; Chromium's upper bound.
const MAX_AGE: HeaderValue = HeaderValue::from_static("7200");

/// The origins that may read responses.
#[derive(Debug)]
pub(crate) struct Cors(Vec<HeaderValue>);

impl Cors {
    /// # Errors
    /// When a text is not an origin as a browser sends it.
    pub(crate) fn new(origins: &[String]) -> io::Result<Self> {
        let origins = origins.iter().map(|origin| origin_value(origin));
        Ok(Self(origins.collect::<io::Result<_>>()?))
    }

    /// The origin that a request comes from, if it is named.
    pub(crate) fn origin(&self, headers: &HeaderMap) -> Option<&HeaderValue> {
        if self.0.is_empty() {
            return None;
        }
        let origin = headers.get(ORIGIN)?;
        self.0.iter().find(|named| *named == origin)
    }

    /// Adds the headers that let a page of `origin` read the response. Once any origin is named, a cache must keep the responses
    /// of each apart.
    pub(crate) fn allow<B>(&self, origin: Option<&HeaderValue>, response: &mut Response<B>) {
        if self.0.is_empty() {
            return;
        }
        let headers = response.headers_mut();
        headers.append(VARY, HeaderValue::from_static("Origin"));
        if let Some(origin) = origin {
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
            headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
        }
    }
}

/// Whether a request is a preflight.
pub(crate) fn is_preflight<B>(request: &Request<B>) -> bool {
    request.method() == Method::OPTIONS
        && request
            .headers()
            .contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// The response to a preflight: the methods and headers of the interface.
pub(crate) fn preflight() -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HEADERS);
    headers.insert(ACCESS_CONTROL_MAX_AGE, MAX_AGE);
    response
}

fn origin_value(origin: &str) -> io::Result<HeaderValue> {
    let refused = || {
        let message = format!(
            "{origin:?} is no origin; name it as a browser sends it, in lower case: https://console.example.com or http://localhost:5173"
        );
        io::Error::new(io::ErrorKind::InvalidInput, message)
    };
    if !is_origin(origin) {
        return Err(refused());
    }
    HeaderValue::from_str(origin).map_err(|_| refused())
}

/// Whether `text` is `scheme://host[:port]` as browsers write it: in lower case, the usual port of the scheme left out.
pub(crate) fn is_origin(text: &str) -> bool {
    let Some((scheme, authority)) = text.split_once("://") else {
        return false;
    };
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let usual_port = match scheme {
        "http" => ":80",
        "https" => ":443",
        _ => "",
    };
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (authority, None),
    };
    let is_bracketed = host.starts_with('[') && host.ends_with(']');
    scheme.starts_with(|first: char| first.is_ascii_lowercase())
        && scheme
            .bytes()
            .all(|byte| is_plain(byte) || b"+-.".contains(&byte))
        && !host.is_empty()
        && host.bytes().all(|byte| {
            is_plain(byte) || b"-._".contains(&byte) || is_bracketed && b"[:]".contains(&byte)
        })
        && port.is_none_or(|port| {
            port.parse::<u16>()
                .is_ok_and(|number| number.to_string() == port)
        })
        && (usual_port.is_empty() || !authority.ends_with(usual_port))
}

#[cfg(test)]
mod tests {
    use deskfleet::routes::ROUTES;

    use super::*;

    #[test]
    fn origins_are_named_as_browsers_send_them() {
        for good in [
            "https://console.example.com",
            "http://localhost:5173",
            "http://127.0.0.1:8080",
            "http://[::1]:8080",
            "http://[::1]",
            "https://xn--mnchen-3ya.example",
            "chrome-extension://abcdefghijklmnop",
        ] {
            assert!(Cors::new(&[good.to_owned()]).is_ok(), "{good}");
        }
        for bad in [
            "",
            "*",
            "null",
            "console.example.com",
            "https://",
            "https://*.example.com",
            "https://console.example.com/",
            "https://console.example.com/page",
            "https://Console.example.com",
            "HTTPS://console.example.com",
            "https://me@console.example.com",
            "https://console.example.com:443",
            "http://console.example.com:80",
            "http://console.example.com:",
            "http://console.example.com:0080",
            "http://console.example.com:65536",
            "https://münchen.example",
            "https://a.example, https://b.example",
            "https://a.example\r\nset-cookie: a",
        ] {
            assert!(Cors::new(&[bad.to_owned()]).is_err(), "{bad}");
        }
    }

    #[test]
    fn preflight_allows_the_method_of_every_endpoint() {
        let response = preflight();
        let methods = response.headers()[ACCESS_CONTROL_ALLOW_METHODS].to_str();
        let methods: Vec<&str> = methods.unwrap().split(", ").collect();
        for route in ROUTES {
            assert!(methods.contains(&route.method.as_str()), "{}", route.path);
        }
    }
}
