//! Requests and answers in the form in which they cross to JavaScript: strings and bytes.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};

/// An answer, ready to cross.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// Lines `name: value`, each ended by `\n`.
    pub headers: String,
    /// The body.
    pub body: Bytes,
}

/// Builds a request. `url` is a path with its query, or absolute; `headers` are lines `name: value`.
///
/// # Errors
/// A sentence that says what of it cannot be an HTTP request.
pub fn request(
    method: &str,
    url: &str,
    headers: &str,
    body: impl Into<Bytes>,
) -> Result<Request<Bytes>, String> {
    let mut request = Request::builder()
        .method(method)
        .uri(url)
        .body(body.into())
        .map_err(|error| format!("not a request: {error}"))?;
    *request.headers_mut() = header_map(headers)?;
    Ok(request)
}

fn header_map(lines: &str) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    for line in lines.lines().filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':').ok_or("a header line has no colon")?;
        // Neither the name nor the value goes into the message: it could be a key.
        let name =
            HeaderName::from_bytes(name.as_bytes()).map_err(|_| "a header has no valid name")?;
        let value = HeaderValue::from_bytes(value.trim().as_bytes())
            .map_err(|_| format!("the value of header {name} is not valid"))?;
        headers.append(name, value);
    }
    Ok(headers)
}

/// Takes an answer apart.
#[must_use]
pub fn answer(response: Response<Bytes>) -> Answer {
    let (parts, body) = response.into_parts();
    let mut headers = String::new();
    for (name, value) in &parts.headers {
        headers.push_str(name.as_str());
        headers.push_str(": ");
        headers.push_str(&String::from_utf8_lossy(value.as_bytes()));
        headers.push('\n');
    }
    Answer {
        status: parts.status.as_u16(),
        headers,
        body,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_keeps_all_it_was_given() {
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
    fn an_absolute_url_keeps_its_path_and_query() {
        let request = request("GET", "https://fleet.example/api/Stats/Test?x=1", "", "").unwrap();
        assert_eq!(
            request.uri().path_and_query().unwrap(),
            "/api/Stats/Test?x=1"
        );
    }

    #[test]
    fn what_is_no_request_is_refused_without_repeating_a_key() {
        for (method, url, headers) in [
            ("G T", "/", ""),
            ("GET", "/a b", ""),
            ("GET", "", ""),
            ("GET", "/", "no colon dfk_secret"),
            ("GET", "/", "dfk_secret name: 1"),
            ("GET", "/", "x-api-key: dfk_secret\u{1}"),
        ] {
            let refusal = request(method, url, headers, "").unwrap_err();
            assert!(!refusal.contains("dfk_secret"), "{refusal}");
        }
    }

    #[test]
    fn an_answer_crosses_as_lines_and_bytes() {
        let response = Response::builder()
            .status(405)
            .header("allow", "GET, HEAD")
            .header("content-type", "application/problem+json; charset=utf-8")
            .body(Bytes::from_static(b"{}"))
            .unwrap();
        let expected = Answer {
            status: 405,
            headers: "allow: GET, HEAD\ncontent-type: application/problem+json; charset=utf-8\n"
                .into(),
            body: Bytes::from_static(b"{}"),
        };
        assert_eq!(answer(response), expected);
    }
}
