//! What the server refuses by itself, in the form of the engine's refusals.

use std::net::IpAddr;
use std::time::Instant;

use bytes::Bytes;
use deskfleet::{Code, Engine};
use http::{HeaderValue, Method, Request, Response, StatusCode, Version, header};

use crate::guesses::holds_key;
use crate::operation::Operation;
use crate::progress::Progress;
use crate::sources::RequestPlace;
use crate::state::ServerState;

/// A body that did not come in time.
pub(crate) const LATE: (Code, &str) = (
    Code::RequestTimeout,
    "The body did not come in time; send the request again.",
);
/// A body whose framing is broken.
pub(crate) const BROKEN: (Code, &str) = (
    Code::InvalidBody,
    "The body did not come to its end: its framing is broken.",
);
/// More requests than the server has room for.
pub(crate) const BUSY: (Code, &str) = (
    Code::ServerBusy,
    "Too many requests are under way; try again later.",
);
/// A request whose work ended without a response: it panicked, or the server stops.
pub(crate) const ENDED: (Code, &str) = (Code::Internal, "");
/// A header list of more fields than are read.
pub(crate) const FIELDS: (Code, &str) = (Code::HeadersTooLarge, "");
/// A source that guesses keys.
const GUESSING: (Code, &str) = (
    Code::Throttled,
    "Too many requests with a bad key came from this address; try again later.",
);
/// Seconds after which a server without room is worth another try.
const BUSY_SECONDS: u64 = 1;

/// The response of a refusal.
pub(crate) fn respond(
    engine: &Engine,
    (code, detail): (Code, &'static str),
    traceparent: Option<&HeaderValue>,
) -> Response<Bytes> {
    let mut response = engine.problem(code, detail, traceparent);
    if code == Code::ServerBusy {
        retry_after(&mut response, BUSY_SECONDS);
    }
    response
}

fn retry_after(response: &mut Response<Bytes>, seconds: u64) {
    let seconds = HeaderValue::from(seconds);
    response.headers_mut().insert(header::RETRY_AFTER, seconds);
}

/// The response as it answers a request of that method: HEAD gets none of its body, but the length of it.
pub(crate) fn to(method: &Method, mut response: Response<Bytes>) -> Response<Bytes> {
    if method == Method::HEAD {
        let length = HeaderValue::from(response.body().len());
        response
            .headers_mut()
            .insert(header::CONTENT_LENGTH, length);
        *response.body_mut() = Bytes::new();
    }
    response
}

/// Has the connection of HTTP/1.1 end with this response: it can carry nothing more.
pub(crate) fn close<B>(response: &mut Response<B>, version: Version) {
    if version < Version::HTTP_2 {
        let close = HeaderValue::from_static("close");
        response.headers_mut().insert(header::CONNECTION, close);
    }
}

/// Why a request is not even looked at, if it is not: its host, or a connection or source without room.
pub(crate) fn before<B>(
    shared: &ServerState,
    progress: &Progress,
    place: &RequestPlace,
    operation: Operation,
    request: &Request<B>,
) -> Option<Response<Bytes>> {
    let has_room = place.admitted && !progress.is_kept_for_livez();
    let refused = match shared.hosts.refuse(request) {
        Some(refused) => refused,
        None if !has_room && !operation.is_livez() => BUSY,
        None => return None,
    };
    let traceparent = request.headers().get("traceparent");
    Some(respond(&shared.engine, refused, traceparent))
}

/// A request that may hold a key: where it comes from, should that be a bad one.
pub(crate) struct Guesser {
    source: IpAddr,
    method: Method,
    version: Version,
    traceparent: Option<HeaderValue>,
}

impl Guesser {
    /// `None` where the request holds no key, or needs none.
    pub(crate) fn of<B>(
        shared: &ServerState,
        progress: &Progress,
        operation: Operation,
        request: &Request<B>,
    ) -> Option<Self> {
        let headers = request.headers();
        let guesses = operation.needs_key(shared.engine.config())
            && holds_key(headers, request.uri().query());
        guesses.then(|| Self {
            source: shared.source_address(progress, headers),
            method: request.method().clone(),
            version: request.version(),
            traceparent: headers.get("traceparent").cloned(),
        })
    }

    /// What is answered in place of `response`, where it says that the key is a bad one: after too many of them 429.
    pub(crate) fn after<B: From<Bytes>>(
        self,
        shared: &ServerState,
        response: Response<B>,
    ) -> Response<B> {
        if response.status() != StatusCode::UNAUTHORIZED {
            return response;
        }
        let Some(seconds) = shared.guesses.bad_key(self.source, Instant::now()) else {
            return response;
        };
        let mut throttled = respond(&shared.engine, GUESSING, self.traceparent.as_ref());
        retry_after(&mut throttled, seconds);
        if response.headers().contains_key(header::CONNECTION) {
            close(&mut throttled, self.version);
        }
        to(&self.method, throttled).map(B::from)
    }
}
