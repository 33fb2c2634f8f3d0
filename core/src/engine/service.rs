//! `tower_service::Service`, so that an engine nests in axum or any other tower stack.

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, Bytes};
use http::{Request, Response};
use http_body::{Body, Frame, SizeHint};
use tower_service::Service;

use crate::error::{EngineError, ErrorKind, Result};
use crate::wire::problem::Code;

use super::event_bytes::{EventBytes, Pause, Timer};
use super::offload::{Offloaded, SlowWork, Spawn};
use super::{Dispatched, Engine, EventStream, Exchange, ResponseBody, ResponseFuture};

/// An engine as a `tower_service::Service` that keeps slow work off the event loop; see [`Engine::service`].
#[derive(Clone)]
pub struct EngineService {
    engine: Engine,
    host: Host,
}

/// What the host injected.
#[derive(Clone)]
struct Host {
    spawn: Arc<Spawn>,
    timer: Option<Arc<Timer>>,
}

/// With the feature `tower`.
impl Engine {
    /// The engine as a service for axum and any other tower stack. `spawn` runs work where it may block, in tokio
    /// `tokio::task::spawn_blocking`: requests that read much, and the chunks of long responses. How many run at once is for `spawn` to
    /// bound: work on all processors delays everything else, see the example `axum_nested`, which has a thread less than there are
    /// processors. A request whose work it drops is refused with 503, or its response ends in
    /// the middle, with an error.
    ///
    /// With [`CommitDriver::Thread`](crate::CommitDriver::Thread) nothing on the event loop waits for a sync; quick reads and events
    /// read the store there. Responses are not compressed: a layer around the service does that, such as `tower_http::compression`. Have it
    /// leave out `POST /operator/keys`, whose response holds a secret beside what the client has sent.
    ///
    /// ```
    /// # fn main() -> Result<(), deskfleet::EngineError> {
    /// let engine = deskfleet::Engine::in_memory()?;
    /// let fleet = engine.service(|work| { tokio::task::spawn_blocking(work); });
    /// let app: axum::Router = axum::Router::new().nest_service("/fleet", fleet.with_events(tokio::time::sleep));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn service(&self, spawn: impl Fn(SlowWork) + Send + Sync + 'static) -> EngineService {
        EngineService {
            engine: self.clone(),
            host: Host {
                spawn: Arc::new(spawn),
                timer: None,
            },
        }
    }
}

impl EngineService {
    /// Streams events as they happen to requests that ask for `text/event-stream`; without it they get a page. `timer` begins a pause,
    /// as for [`EventBytes::new`]. How many streams are open is for the host to bound. They end with [`Engine::close`]: a graceful shutdown,
    /// which waits for open responses, calls it on a thread that may block.
    #[must_use]
    pub fn with_events<P>(mut self, timer: impl Fn(Duration) -> P + Send + Sync + 'static) -> Self
    where
        P: Future<Output = ()> + Send + 'static,
    {
        self.host.timer = Some(Arc::new(move |duration| -> Pause {
            Box::pin(timer(duration))
        }));
        self
    }
}

impl<B: Body> Service<Request<B>> for EngineService {
    type Response = Response<ServiceBody>;
    type Error = Infallible;
    type Future = ServiceFuture<B>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> ServiceFuture<B> {
        let (head, body) = request.into_parts();
        let mut exchange = self.engine.begin(head);
        let max = u64::try_from(exchange.body_bytes_max()).unwrap_or(u64::MAX);
        if body.size_hint().lower() > max {
            exchange.too_large();
        }
        ServiceFuture {
            service: self.clone(),
            state: State::Reading(Some(exchange), Box::pin(body)),
        }
    }
}

/// The future of the [`Service`]. It reads the body as it arrives, up to the limit of its endpoint; every failure is a response.
///
/// An import, `POST /operator/workspaces`, has any length: each 1000 records are committed while it arrives; see [`Exchange::ready`].
///
/// It has no deadline for a body that stops arriving: the server it runs in must have one.
pub struct ServiceFuture<B> {
    service: EngineService,
    state: State<B>,
}

#[expect(
    clippy::large_enum_variant,
    reason = "every request becomes the large one"
)]
enum State<B> {
    /// `None` once the body is read.
    Reading(Option<Exchange>, Pin<Box<B>>),
    Finishing(Offloaded<ResponseFuture<ResponseBody>>),
    Responding(ResponseFuture<ResponseBody>),
}

impl<B: Body> Future for ServiceFuture<B> {
    type Output = Result<Response<ServiceBody>, Infallible>;

    /// # Panics
    /// When polled again after it has resolved.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { service, state } = &mut *self;
        loop {
            *state = match state {
                State::Reading(exchange, body) => {
                    if let Some(exchange) = exchange {
                        ready!(poll_read(exchange, body.as_mut(), context));
                    }
                    let Some(exchange) = exchange.take() else {
                        return Poll::Pending;
                    };
                    match exchange.dispatch() {
                        Dispatched::Quick(response) => State::Responding(response),
                        Dispatched::Slow(exchange) => {
                            let finish = || exchange.finish();
                            State::Finishing(Offloaded::run(&*service.host.spawn, finish))
                        }
                        Dispatched::Events(events, exchange) => {
                            let Some(timer) = &service.host.timer else {
                                let finish = || exchange.finish();
                                let page = Offloaded::run(&*service.host.spawn, finish);
                                *state = State::Finishing(page);
                                continue;
                            };
                            let timer = Arc::clone(timer);
                            let body = ServiceBody::events(events, &service.host, timer);
                            return Poll::Ready(Ok(EventBytes::response(body)));
                        }
                    }
                }
                State::Finishing(finishing) => {
                    let Some(response) = ready!(finishing.poll(context)) else {
                        let refusal = service
                            .engine
                            .problem(Code::StorageUnavailable, ENDED, None);
                        let body = |whole: Bytes| ServiceBody::made(whole.into(), &service.host);
                        return Poll::Ready(Ok(refusal.map(body)));
                    };
                    State::Responding(response)
                }
                State::Responding(response) => {
                    let response = ready!(Pin::new(response).poll(context));
                    let body = |body| ServiceBody::made(body, &service.host);
                    return Poll::Ready(Ok(response.map(body)));
                }
            }
        }
    }
}

/// The refusal of a request whose work the host dropped, or that panicked.
const ENDED: &str = "The server ended this request.";

/// Ready when the rest of the body does not matter.
fn poll_read<B: Body>(
    exchange: &mut Exchange,
    mut body: Pin<&mut B>,
    context: &mut Context<'_>,
) -> Poll<()> {
    loop {
        // The parts of an import are committed as they arrive; one that fails is refused.
        ready!(exchange.poll_ready(context));
        if exchange.is_refused() || exchange.body_bytes_max() == 0 {
            return Poll::Ready(());
        }
        match ready!(body.as_mut().poll_frame(context)) {
            None => return Poll::Ready(()),
            Some(Err(_)) => exchange.broken("The body could not be read to its end."),
            Some(Ok(frame)) => {
                // Trailers are ignored.
                let Ok(mut data) = frame.into_data() else {
                    continue;
                };
                while data.has_remaining() {
                    let piece = data.chunk();
                    exchange.push(piece);
                    let length = piece.len();
                    data.advance(length);
                }
            }
        }
    }
}

/// The body of a response of [`EngineService`]. Its chunks are made where the host runs slow work, one at a time and as they are asked for.
pub struct ServiceBody {
    host: Host,
    next: Next,
}

enum Next {
    Made(ResponseBody),
    Making(Offloaded<(ResponseBody, Result<Option<Bytes>>)>),
    Events(EventBytes),
    Over,
}

impl ServiceBody {
    fn made(body: ResponseBody, host: &Host) -> Self {
        Self {
            host: host.clone(),
            next: Next::Made(body),
        }
    }

    fn events(events: EventStream, host: &Host, timer: Arc<Timer>) -> Self {
        let events = EventBytes::new(events, move |duration| timer(duration));
        Self {
            host: host.clone(),
            next: Next::Events(events),
        }
    }
}

impl Body for ServiceBody {
    type Data = Bytes;
    type Error = EngineError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, EngineError>>> {
        let chunk = match &mut self.next {
            Next::Over => return Poll::Ready(None),
            Next::Events(events) => {
                let bytes = ready!(events.poll_next(context));
                return Poll::Ready(bytes.map(|bytes| Ok(Frame::data(bytes))));
            }
            Next::Made(body) => {
                if let Some(first) = body.take_ready() {
                    return Poll::Ready(Some(Ok(Frame::data(first))));
                }
                if body.is_empty() {
                    return Poll::Ready(None);
                }
                let mut body = std::mem::replace(body, Bytes::new().into());
                let making = Offloaded::run(&*self.host.spawn, move || {
                    let chunk = body.next_chunk();
                    (body, chunk)
                });
                let polled = making.poll(context);
                self.next = Next::Making(making);
                ready!(polled)
            }
            Next::Making(making) => ready!(making.poll(context)),
        };
        let (body, chunk) = if let Some((body, chunk)) = chunk {
            (Next::Made(body), chunk)
        } else {
            let ended = EngineError::new(ErrorKind::StorageUnavailable, ENDED);
            (Next::Over, Err(ended))
        };
        self.next = if matches!(chunk, Ok(Some(_))) {
            body
        } else {
            Next::Over
        };
        Poll::Ready(chunk.map(|chunk| chunk.map(Frame::data)).transpose())
    }

    fn is_end_stream(&self) -> bool {
        match &self.next {
            Next::Over => true,
            Next::Made(body) => body.is_empty(),
            Next::Making(_) | Next::Events(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        let length = match &self.next {
            Next::Over => Some(0),
            Next::Made(body) => body.len(),
            Next::Making(_) | Next::Events(_) => None,
        };
        let exact = |length| SizeHint::with_exact(u64::try_from(length).unwrap_or(u64::MAX));
        length.map_or_else(SizeHint::default, exact)
    }
}

impl fmt::Debug for EngineService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("EngineService").field(&self.engine).finish()
    }
}

impl<B> fmt::Debug for ServiceFuture<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match &self.state {
            State::Reading(..) => "reading",
            State::Finishing(_) => "finishing",
            State::Responding(_) => "responding",
        };
        f.debug_tuple("ServiceFuture").field(&state).finish()
    }
}

impl fmt::Debug for ServiceBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServiceBody")
            .field("size_hint", &self.size_hint())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
