//! Requests and responses in the form in which they are passed to and from JavaScript: strings and bytes.

use bytes::Bytes;
use deskfleet::Code;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};

/// A response as strings and bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlatResponse {
    /// The status.
    pub status: u16,
    /// Lines `name: value`, each ended by `\n`.
    pub headers: String,
    /// The body.
    pub body: Bytes,
}

/// Longest request target that `http` can parse; longer ones are refused before that.
const URL_BYTES_MAX: usize = 65_534;

/// Most characters of all header lines; `engine.js` passes at most one more.
const HEADERS_BYTES_MAX: usize = 1024 * 1024;

/// Why no request could be built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestError {
    /// The response has this code.
    Refused(Code),
    /// It is not a valid HTTP request; a sentence that says why.
    Invalid(String),
}

impl From<&str> for RequestError {
    fn from(message: &str) -> Self {
        Self::Invalid(message.to_owned())
    }
}

/// Builds a request. `url` is a path with its query, or absolute; `headers` are lines `name: value`, whose characters stand
/// for bytes as in `Headers`.
///
/// # Errors
/// [`RequestError`]; its text never contains a header value, which could be a key.
pub fn request(
    method: &str,
    url: &str,
    headers: &str,
    body: impl Into<Bytes>,
) -> Result<Request<Bytes>, RequestError> {
    if url.len() > URL_BYTES_MAX {
        return Err(RequestError::Refused(Code::UriTooLong));
    }
    if headers.len() > HEADERS_BYTES_MAX {
        return Err(RequestError::Refused(Code::HeadersTooLarge));
    }
    let mut request = Request::builder()
        .method(method)
        .uri(url)
        .body(body.into())
        .map_err(|error| RequestError::Invalid(format!("not a request: {error}")))?;
    *request.headers_mut() = header_map(headers)?;
    Ok(request)
}

fn header_map(lines: &str) -> Result<HeaderMap, RequestError> {
    let mut headers = HeaderMap::new();
    for line in lines.lines().filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':').ok_or("a header line has no colon")?;
        let name =
            HeaderName::from_bytes(name.as_bytes()).map_err(|_| "a header has no valid name")?;
        let value = header_value(value.trim()).ok_or_else(|| {
            RequestError::Invalid(format!("the value of header {name} is not valid"))
        })?;
        if headers.try_append(name, value).is_err() {
            return Err(RequestError::Refused(Code::HeadersTooLarge));
        }
    }
    Ok(headers)
}

fn header_value(text: &str) -> Option<HeaderValue> {
    if text.is_ascii() {
        return HeaderValue::from_str(text).ok();
    }
    let bytes: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(c).ok()).collect();
    HeaderValue::from_bytes(&bytes?).ok()
}

/// Converts a response.
#[must_use]
pub fn flatten(response: Response<Bytes>) -> FlatResponse {
    let (parts, body) = response.into_parts();
    let mut headers = String::new();
    for (name, value) in &parts.headers {
        headers.push_str(name.as_str());
        headers.push_str(": ");
        headers.extend(value.as_bytes().iter().map(|byte| char::from(*byte)));
        headers.push('\n');
    }
    FlatResponse {
        status: parts.status.as_u16(),
        headers,
        body,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_keeps_all_its_parts() {
        let lines = "Content-Type: application/json\nx-twice: 1\nX-Twice:2\n\n";
        let request = request("POST", "/api/Stats/Post?a=%20", lines, "{}").unwrap();
        assert_eq!(request.method(), "POST");
        assert_eq!(request.uri(), "/api/Stats/Post?a=%20");
        assert_eq!(request.headers()["content-type"], "application/json");
        let twice: Vec<_> = request.headers().get_all("x-twice").iter().collect();
        assert_eq!(twice, ["1", "2"]);
        assert_eq!(request.body(), "{}");
    }

    #[test]
    fn absolute_url_is_reduced_to_path_and_query() {
        let request = request("GET", "https://fleet.example/api/Stats/Test?x=1", "", "").unwrap();
        assert_eq!(
            request.uri().path_and_query().unwrap(),
            "/api/Stats/Test?x=1"
        );
    }

    #[test]
    fn invalid_request_is_refused_without_repeating_a_key() {
        for (method, url, headers) in [
            ("G T", "/", ""),
            ("GET", "/a b", ""),
            ("GET", "", ""),
            ("GET", "/", "no colon dfk_secret"),
            ("GET", "/", "dfk_secret name: 1"),
            ("GET", "/", "x-api-key: dfk_secret\u{1}"),
        ] {
            let RequestError::Invalid(message) = request(method, url, headers, "").unwrap_err()
            else {
                panic!("{method} {url} gets a response");
            };
            assert!(!message.contains("dfk_secret"), "{message}");
        }
    }

    #[test]
    fn oversized_target_and_headers_get_a_response() {
        let long = format!("/{}", "a".repeat(URL_BYTES_MAX));
        let refused = |url: &str, headers: &str| request("GET", url, headers, "").unwrap_err();
        assert_eq!(refused(&long, ""), RequestError::Refused(Code::UriTooLong));
        let names: Vec<_> = (0..40_000).map(|name| format!("a{name}: b")).collect();
        for many in [names.join("\n"), "a".repeat(HEADERS_BYTES_MAX + 1)] {
            assert_eq!(
                refused("/", &many),
                RequestError::Refused(Code::HeadersTooLarge)
            );
        }
    }

    #[test]
    fn header_characters_become_bytes() {
        let request = request("GET", "/", "a: caf\u{e9}", "").unwrap();
        assert_eq!(request.headers()["a"].as_bytes(), b"caf\xe9");
        let RequestError::Invalid(message) =
            super::request("GET", "/", "a: \u{20ac}", "").unwrap_err()
        else {
            panic!("the character is no byte");
        };
        assert_eq!(message, "the value of header a is not valid");
    }

    #[test]
    fn response_becomes_header_lines_and_bytes() {
        let response = Response::builder()
            .status(405)
            .header("allow", "GET, HEAD")
            .header("content-type", "application/problem+json; charset=utf-8")
            .body(Bytes::from_static(b"{}"))
            .unwrap();
        let expected = FlatResponse {
            status: 405,
            headers: "allow: GET, HEAD\ncontent-type: application/problem+json; charset=utf-8\n"
                .into(),
            body: Bytes::from_static(b"{}"),
        };
        assert_eq!(flatten(response), expected);
    }
}
