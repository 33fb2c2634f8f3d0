//! Refusals by the server itself, in the form of the engine's.

use std::net::IpAddr;
use std::time::Instant;

use bytes::Bytes;
use deskfleet::{Code, Engine, TraceId};
use http::{HeaderValue, Method, Request, Response, StatusCode, Version, header};

use crate::connection::progress::Progress;
use crate::limits::source_rates::holds_key;
use crate::options::ServerOptions;
use crate::response::compression::accepts_gzip;
use crate::state::ServerState;

/// A refusal and its sentence.
pub(crate) type Refused = (Code, &'static str);

/// A body that did not come in time.
pub(crate) const LATE: Refused = (
    Code::RequestTimeout,
    "The body did not come in time; send the request again.",
);
/// A body whose framing is broken.
pub(crate) const BROKEN: Refused = (
    Code::InvalidBody,
    "The body did not come to its end: its framing is broken.",
);
/// More requests than the server has room for.
pub(crate) const BUSY: Refused = (
    Code::ServerBusy,
    "Too many requests are under way; try again later.",
);
/// A response for which there is no room.
pub(crate) const UNREAD: Refused = (
    Code::ServerBusy,
    "Too many bytes of responses wait to be read, here or by this address (`responses_bytes_max`); read them, and try again.",
);
/// The same for a response that reports a write to an operator.
pub(crate) const UNREPORTED: Refused = (
    Code::ServerBusy,
    "Nothing was changed: too many bytes of responses to operators wait to be read, here or by this address; read them, and try again.",
);
/// More streams of events than are allowed.
pub(crate) const TOO_MANY_STREAMS: Refused = (
    Code::ServerBusy,
    "Too many streams of events are open, here or from this address (`event_streams_max`); try again later.",
);
/// A request that ended without a response, because of a panic or because the server stops.
pub(crate) const ENDED: Refused = (Code::Internal, "");
/// A source that tries keys.
const TOO_MANY_BAD_KEYS: Refused = (
    Code::Throttled,
    "Too many requests with a bad key came from this address; try again later.",
);
/// A source that sends much telemetry without a key.
pub(crate) const TOO_MANY_KEYLESS_BYTES: Refused = (
    Code::Throttled,
    "This address has sent more telemetry without an API key than it may (`keyless_bytes_per_second`); send the report again later, or with a key.",
);
/// Seconds after which a server without room is worth another try.
pub(crate) const BUSY_SECONDS: u64 = 1;

/// The response of a refusal.
pub(crate) fn respond(
    engine: &Engine,
    (code, detail): Refused,
    traceparent: Option<&HeaderValue>,
) -> Response<Bytes> {
    let mut response = engine.problem(code, detail, traceparent);
    if code == Code::ServerBusy {
        retry_after(&mut response, BUSY_SECONDS);
    }
    response
}

pub(crate) fn retry_after<B>(response: &mut Response<B>, seconds: u64) {
    let seconds = HeaderValue::from(seconds);
    response.headers_mut().insert(header::RETRY_AFTER, seconds);
}

/// The response to a request of that method: for HEAD without its body, but with its length.
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

/// Ends the connection of HTTP/1.1 with this response, because it can carry nothing more.
pub(crate) fn close<B>(response: &mut Response<B>, version: Version) {
    if version < Version::HTTP_2 {
        let close = HeaderValue::from_static("close");
        response.headers_mut().insert(header::CONNECTION, close);
    }
}

/// Ends the connection with `response` if `replaced` was to end it: the rest of the body is unread with either.
pub(crate) fn close_as<A, B>(response: &mut Response<A>, replaced: &Response<B>) {
    if let Some(close) = replaced.headers().get(header::CONNECTION) {
        response
            .headers_mut()
            .insert(header::CONNECTION, close.clone());
    }
}

/// The source of the trace id of a refusal.
pub(crate) fn traceparent<B>(request: &Request<B>) -> Option<&HeaderValue> {
    TraceId::traceparent(request.extensions(), request.headers())
}

/// The parts of a request that its response needs after it was handed on.
pub(crate) struct Asked {
    pub(crate) method: Method,
    pub(crate) version: Version,
    pub(crate) traceparent: Option<HeaderValue>,
    /// Whether its response may be in gzip; that to HEAD has the length of a plain one.
    pub(crate) accepts_gzip: bool,
}

impl Asked {
    /// Of a request that is about to be handed on.
    pub(crate) fn by<B>(request: &Request<B>) -> Self {
        Self {
            method: request.method().clone(),
            version: request.version(),
            traceparent: traceparent(request).cloned(),
            accepts_gzip: request.method() == Method::GET && accepts_gzip(request.headers()),
        }
    }
}

/// The source of a request that may have a key, or a code for one, in case it is a bad one.
#[derive(Clone, Copy)]
pub(crate) struct KeyAttempt {
    source: IpAddr,
}

impl KeyAttempt {
    /// `None` if the request has no key.
    pub(crate) fn from_request<B>(
        shared: &ServerState,
        progress: &Progress,
        request: &Request<B>,
    ) -> Option<Self> {
        let holds_key = holds_key(request.headers(), request.uri().query());
        holds_key.then(|| Self::from(shared, progress, request))
    }

    /// The source of a request with a key.
    pub(crate) fn from<B>(shared: &ServerState, progress: &Progress, request: &Request<B>) -> Self {
        Self {
            source: shared.source_address(progress, request.headers()),
        }
    }

    /// Returns `response`, or 429 instead of it if it refuses a bad key and there were too many of them.
    pub(crate) fn after<B: From<Bytes>>(
        self,
        shared: &ServerState,
        options: &ServerOptions,
        asked: &Asked,
        response: Response<B>,
    ) -> Response<B> {
        if response.status() != StatusCode::UNAUTHORIZED {
            return response;
        }
        let per_minute = options.bad_keys_per_minute;
        let now = Instant::now();
        let Some(seconds) = shared.bad_keys.bad_key(per_minute, self.source, now) else {
            return response;
        };
        let traceparent = asked.traceparent.as_ref();
        let mut throttled = respond(&shared.engine, TOO_MANY_BAD_KEYS, traceparent);
        retry_after(&mut throttled, seconds);
        close_as(&mut throttled, &response);
        to(&asked.method, throttled).map(B::from)
    }
}
