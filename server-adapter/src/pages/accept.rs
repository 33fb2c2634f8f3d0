//! Lists of what a client accepts: `text/html, */*;q=0.8`, `gzip;q=1.0, identity;q=0`.

use http::{HeaderMap, HeaderName};

/// Whether the lists of all headers `name` have `wanted`; `None` where no list names it.
pub(crate) fn accepts(headers: &HeaderMap, name: &HeaderName, wanted: &str) -> Option<bool> {
    let values = headers.get_all(name).iter();
    let mut items = values.flat_map(|value| value.to_str().unwrap_or_default().split(','));
    items.find_map(|item| {
        let mut parts = item.split(';').map(str::trim);
        let is_wanted = parts
            .next()
            .is_some_and(|item| item.eq_ignore_ascii_case(wanted));
        is_wanted.then(|| !parts.any(is_zero))
    })
}

/// Whether a parameter is the weight of what is not accepted, such as `q=0`.
fn is_zero(parameter: &str) -> bool {
    parameter.split_once('=').is_some_and(|(name, weight)| {
        name.eq_ignore_ascii_case("q") && weight.bytes().all(|byte| b"0.".contains(&byte))
    })
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use http::header::ACCEPT;

    use super::*;

    #[test]
    fn accepted_is_what_is_named_with_a_weight_above_zero() {
        for (accept, html) in [
            (
                "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
                Some(true),
            ),
            ("application/json, TEXT/HTML;q=0.1", Some(true)),
            ("text/html; level=1; q=0.001", Some(true)),
            ("*/*", None),
            ("", None),
            ("application/json", None),
            ("text/*", None),
            ("text/html;q=0, */*", Some(false)),
            ("text/html;Q=0.0, */*", Some(false)),
            ("text/html; level=1; q=0.000", Some(false)),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, HeaderValue::from_static(accept));
            assert_eq!(accepts(&headers, &ACCEPT, "text/html"), html, "{accept}");
        }
        assert_eq!(accepts(&HeaderMap::new(), &ACCEPT, "text/html"), None);
    }
}
