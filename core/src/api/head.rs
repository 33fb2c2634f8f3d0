//! Checks of the head that are the same for every endpoint.

use http::HeaderMap;
use http::request::Parts;

use crate::config::Limits;
use crate::wire::accept;
use crate::wire::problem::{Code, Problem};

/// Checks the sizes of target and headers.
pub(super) fn check_sizes(limits: &Limits, head: &Parts) -> Result<(), Problem> {
    let target = head.uri.path().len() + head.uri.query().map_or(0, |query| query.len() + 1);
    if target > limits.uri_bytes {
        return Err(Problem::new(Code::UriTooLong));
    }
    let headers = head.headers.iter();
    let headers = headers.map(|(name, value)| name.as_str().len() + value.len());
    if headers.sum::<usize>() > limits.headers_bytes {
        return Err(Problem::new(Code::HeadersTooLarge));
    }
    Ok(())
}

/// Checks the headers about the body: JSON if `wanted`, and no content coding.
pub(super) fn check_media(headers: &HeaderMap, wanted: bool) -> Result<(), Problem> {
    if wanted && !accept::is_json(headers) {
        return Err(Problem::detailed(
            Code::UnsupportedMediaType,
            "The body must be JSON in UTF-8; say so with Content-Type: application/json.",
        ));
    }
    if !accept::is_identity(headers) {
        return Err(Problem::unsupported_coding());
    }
    Ok(())
}
