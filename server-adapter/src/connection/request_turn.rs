//! One request in progress, as its connection and its source count it.

#[cfg(feature = "http2")]
use std::sync::Arc;

#[cfg(feature = "http2")]
use super::http2_requests::Http2Request;
use super::progress::Turn;
use crate::limits::sources::RequestPlace;

/// A request in progress until this is dropped.
#[derive(Debug)]
pub(crate) enum RequestTurn {
    /// Over HTTP/1.1, which has one at a time.
    Http1(Turn, RequestPlace),
    /// A stream of HTTP/2.
    #[cfg(feature = "http2")]
    Http2(Arc<Http2Request>),
}

impl RequestTurn {
    /// Its place in its source.
    pub(crate) fn request_place(&self) -> &RequestPlace {
        match self {
            Self::Http1(_, place) => place,
            #[cfg(feature = "http2")]
            Self::Http2(request) => &request.place,
        }
    }
}
