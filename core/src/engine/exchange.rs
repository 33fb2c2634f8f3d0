//! [`Exchange`]: a request whose body arrives in pieces.

use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::request::Parts;

use crate::api;
use crate::api::endpoint::{Pace, Route};
use crate::engine_core::EngineCore;
use crate::model::KeyInfo;

use super::{Engine, EventStream, ResponseBody, ResponseFuture};

/// A request from its head to its response, for a host whose request bodies arrive in pieces.
///
/// What can be checked by its head is checked when it begins. A telemetry batch, `POST /operator/telemetry`, is read as it
/// arrives, and only its result is kept: the encoded records, the first 100 line errors, and the unfinished line. An import,
/// `POST /operator/workspaces`, has any length: each 1000 records are committed in [`Self::ready`]. Any other body is kept whole,
/// up to its limit. Nothing else is accepted before [`Self::finish`], and an exchange that is dropped has no effect. The response
/// is that of [`Engine::call`] to the whole request, byte for byte, however the body is cut.
///
/// ```
/// use deskfleet::{Engine, NewKey, Scope};
/// use http::Request;
///
/// # fn block_on<F: Future>(future: F) -> F::Output {
/// #     let mut future = std::pin::pin!(future);
/// #     loop {
/// #         let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// #         if let std::task::Poll::Ready(output) = future.as_mut().poll(&mut context) {
/// #             return output;
/// #         }
/// #     }
/// # }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let engine = Engine::in_memory()?;
/// let key = engine.issue_key(NewKey::new("app", [Scope::Admin]))?;
/// let request = Request::post("/operator/telemetry").header("x-api-key", &key.secret);
/// let (head, ()) = request.body(())?.into_parts();
///
/// let mut exchange = engine.begin(head);
/// assert_eq!(exchange.route().map(|route| route.operation_id), Some("postTelemetryBatch"));
/// for piece in [r#"{"stats":{"username":"jd"#, "oe\"}}\n{\"activity\":{}", "}"] {
///     exchange.push(piece.as_bytes());
/// }
/// assert_eq!(engine.queue_count(), 0);
/// let response = block_on(exchange.finish());
/// assert_eq!(response.into_body().into_bytes()?, r#"{"accepted":2,"rejected":0,"errors":[],"warnings":[]}"#);
/// assert_eq!(engine.queue_count(), 2);
/// # Ok(())
/// # }
/// ```
#[must_use = "an exchange that is dropped accepts nothing"]
pub struct Exchange {
    core: Arc<EngineCore>,
    /// In a box: a server holds one in the future of each request.
    exchange: Box<api::Exchange>,
}

impl Exchange {
    /// The endpoint that the request asks for; `None` where no endpoint has that path and method.
    #[must_use]
    pub fn route(&self) -> Option<&'static Route> {
        self.exchange.route()
    }

    /// The most that a host needs to read of the body, in bytes; see [`Route::body_bytes_max`]. Where the path exists and the
    /// method does not, that of a record: it is discarded, and the connection can go on.
    #[must_use]
    pub fn body_bytes_max(&self) -> usize {
        self.exchange.body_bytes_max(&self.core.config.limits)
    }

    /// Takes the next bytes of the body, its content coding undone. Above [`Self::body_bytes_max`] in all the request is refused.
    pub fn push(&mut self, piece: &[u8]) {
        self.exchange.push(&self.core, piece);
    }

    /// Returns once the host may push the next piece. An import commits its records by the 1000 while it arrives; if the host
    /// awaits this after each [`Self::push`], it keeps no more than some thousand of them. Returns at once for any other body.
    pub async fn ready(&mut self) {
        poll_fn(|context| self.poll_ready(context)).await;
    }

    /// As [`Self::ready`], but polled.
    pub(super) fn poll_ready(&mut self, context: &Context<'_>) -> Poll<()> {
        self.exchange.poll_ready(&self.core, context.waker())
    }

    /// Whether a part of the body is durable, or will be, before its end, as in an import of more than 1000 records. That part
    /// stays, and [`Self::finish`] reports it also after [`Self::broken`].
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.exchange.has_begun()
    }

    /// Refuses a body that the host knows to be too large before it has arrived, such as by its declared length.
    pub fn too_large(&mut self) {
        self.exchange.too_large();
    }

    /// Refuses the request with 400 `InvalidBody`, because the content coding of the body cannot be decoded any further; `said`
    /// is a sentence for the sender. The request is refused with 400 `InvalidBody`.
    pub fn broken(&mut self, message: &'static str) {
        self.exchange.broken(message);
    }

    /// Whether the response is a refusal already, and the rest of the body makes no difference.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.exchange.is_refused()
    }

    /// The accepted key of the request, also if it lacks the scope. `None` where no key is needed.
    #[must_use]
    pub fn key(&self) -> Option<&KeyInfo> {
        self.exchange.key()
    }

    /// Whether the request carries a key that is accepted, also where none is needed and [`key`](Self::key) is `None`.
    #[must_use]
    pub fn carries_key(&self) -> bool {
        self.exchange.carries_key(&self.core)
    }

    /// The memory that the body takes, in bytes, to the nearest few KiB. A batch takes the memory of its encoded records, its
    /// line errors and the unfinished line, which is hardly longer than the largest record.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.exchange.bytes()
    }

    /// The bytes that were pushed of a body that is neither a batch nor an import; of those as [`bytes`](Self::bytes). Unlike the memory it
    /// does not depend on the pieces in which the body arrived. 0 where the body of a refused request is not kept.
    #[must_use]
    pub fn body_bytes(&self) -> usize {
        self.exchange.body_bytes()
    }

    /// Begins the response, at the end of the body, for a host with an event loop: what may take long comes back to be
    /// [finished](Self::finish) elsewhere.
    ///
    pub fn dispatch(self) -> Dispatched {
        if let Some(events) = self.events() {
            return Dispatched::Events(events, self);
        }
        match self.route().map(|route| route.pace) {
            Some(Pace::Slow) => Dispatched::Slow(self),
            Some(Pace::Quick) | None => Dispatched::Quick(self.finish()),
        }
    }

    fn events(&self) -> Option<EventStream> {
        let start = self.exchange.event_stream()?;
        let core = Arc::clone(&self.core);
        Some(EventStream::new(core, start.after, self.key().cloned()))
    }

    /// Handles the request, at the end of the body. This call parses, reads and submits the writes. The future waits until they
    /// are durable; dropping it takes nothing back. The body of the response is made while it is sent.
    pub fn finish(mut self) -> ResponseFuture<ResponseBody> {
        let completion = self.exchange.finish(&self.core);
        ResponseFuture::streamed(self.core, completion, &self.exchange)
    }
}

/// A request whose body was read; see [`Exchange::dispatch`].
#[derive(Debug)]
#[must_use = "it has the response, or the request that is not handled yet"]
pub enum Dispatched {
    /// It was handled, and the future waits for what it wrote.
    Quick(ResponseFuture<ResponseBody>),
    /// It may read for long: call [`Exchange::finish`] where that may block.
    Slow(Exchange),
    /// An accepted `GET /query/events` whose `Accept` prefers `text/event-stream`: its response is
    /// [`EventBytes::response`](super::EventBytes::response) with these events as they happen. They begin after its header
    /// `Last-Event-ID`, else after its parameter `after`, else now, and end when its key is no longer accepted. A host that cannot stream
    /// finishes the exchange where that may block: it responds with a page.
    Events(EventStream, Exchange),
}

impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange")
            .field(
                "operation_id",
                &self.route().map(|route| route.operation_id),
            )
            .field("bytes", &self.bytes())
            .field("is_refused", &self.is_refused())
            .finish_non_exhaustive()
    }
}

impl Engine {
    /// Begins a request whose body arrives in pieces.
    pub fn begin(&self, head: Parts) -> Exchange {
        Exchange {
            exchange: Box::new(self.exchange(head)),
            core: Arc::clone(&self.running.core),
        }
    }
}

#[cfg(test)]
mod tests;
