//! One request: refused, a page of the server's own, or handed to the engine; counted and logged.

pub(crate) mod admission;
pub(crate) mod body;
pub(crate) mod context;
pub(crate) mod cors;
#[cfg(feature = "cluster")]
mod cut_off;
pub(crate) mod gzip;
pub(crate) mod hosts;
pub(crate) mod operation;
#[cfg(feature = "cluster")]
pub(crate) mod positions;
pub(crate) mod refusal;
pub(crate) mod small_body;

use std::convert::Infallible;
use std::future::ready;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use deskfleet::{Dispatched, EventBytes, EventStream, Exchange, ResponseBody, ResponseFuture};
use http::{HeaderValue, Request, Response, StatusCode, header};
use hyper::body::{Body as _, Incoming};

use crate::connection::request_turn::RequestTurn;
use crate::connection::served::ServedConnection;
use crate::limits::budget::{NoRoom, Share};
use crate::log::logged_request::HandledRequest;
use crate::pages;
use crate::response::body::OutgoingBody;
use crate::response::compression::{self, Compressor};
use crate::response::event_body::EventBody;
use crate::services;
use crate::state::Live;
use admission::refuse_head;
use body::{Arrived, Unread, discard};
use context::{RequestContext, held_until_sent, make_room_for_report};
use cors::{is_preflight, preflight};
use operation::{Operation, Own, OwnRoute};
use refusal::{Asked, KeyAttempt, Refused};

/// The longest body of a refused request that is read, in bytes, so that the connection is good for another request.
const REFUSED_BYTES_MAX: u64 = 64 * 1024;

/// Browsers use https for this host for a year.
const ONLY_TLS: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// Handles one request; counts it and logs it.
///
/// What takes time and is rare is in boxes, because each request in progress has room for all that is not.
#[expect(
    clippy::manual_async_fn,
    reason = "the future of an `async fn` has room for its arguments twice"
)]
pub(crate) fn respond(
    connection: Arc<ServedConnection>,
    turn: RequestTurn,
    mut request: Request<Incoming>,
) -> impl Future<Output = Result<Response<OutgoingBody>, Infallible>> {
    async move {
        let ServedConnection {
            shared,
            progress,
            live,
        } = &*connection;
        let _handling = progress.handling();
        let Live { options, cors, .. } = &**live;
        let mut handled = HandledRequest::begin(shared, options, progress, &mut request);
        // Refusals have the trace id of the log line.
        let asked = Asked::by(&request);
        let context = RequestContext {
            shared,
            options,
            progress,
            turn: &turn,
            asked: &asked,
        };
        let origin = cors.origin(request.headers());
        let own = OwnRoute::find(request.method(), request.uri().path());
        let mut response = if let Some(mut refused) = refuse(context, own, &request).await {
            let route = || shared.engine.route(request.method(), request.uri().path());
            handled.operation = own.map_or_else(|| route().into(), Operation::Own);
            leave_body(context, request, &mut refused);
            refused
        } else if origin.is_some() && is_preflight(&request) {
            handled.operation = Operation::Preflight;
            preflight().map(OutgoingBody::from)
        } else if let Some(row) = own {
            handled.operation = Operation::Own(row);
            match row.own {
                Own::Service(service) => {
                    let served = services::respond(context, row, service, request);
                    let (response, key) = Box::pin(served).await;
                    handled.with_key(key.as_ref());
                    response
                }
                Own::Page(page) => {
                    let (head, body) = request.into_parts();
                    discard(shared, asked.version, body);
                    let request = Request::from_parts(head, ());
                    Box::pin(pages::respond(context, row, page, request)).await
                }
            }
        } else {
            let attempt = KeyAttempt::from_request(shared, progress, &request);
            handled.may_hold_key = attempt.is_some();
            let response = through_engine(&context, request, &mut handled).await;
            match attempt {
                Some(attempt) => attempt.after(context.shared, context.options, &asked, response),
                None => response,
            }
        };
        response = held_until_sent(context, &mut handled, response);
        cors.allow(origin, &mut response);
        #[cfg(feature = "cluster")]
        positions::say(context.shared, &mut response);
        #[cfg(feature = "cluster")]
        cut_off::say_age(context.shared, &mut response);
        if context.options.tls.is_some() {
            let headers = response.headers_mut();
            headers.insert(header::STRICT_TRANSPORT_SECURITY, ONLY_TLS);
        }
        handled.finish(&mut response);
        if context.progress.is_kept_for_livez() || shared.is_stopping() {
            refusal::close(&mut response, asked.version);
        }
        Ok(response.map(|body| body.ending(turn, &connection.progress)))
    }
}

/// Records that the body of a refused request is left unread. Of HTTP/2 the rest is read all the same, unless there is no room for requests.
fn leave_body<B>(
    context: RequestContext<'_>,
    request: Request<Incoming>,
    refused: &mut Response<B>,
) {
    if request.body().is_end_stream() {
        return;
    }
    context.progress.cut();
    let headers = request.headers();
    if body::expects_continue(headers)
        || headers.contains_key(header::TRANSFER_ENCODING)
        || is_long(request.body())
    {
        // The end of the body is uncertain, so what follows may not be the next request; or the body is too long for hyper to discard.
        refusal::close(refused, request.version());
    }
    if refused.status() != StatusCode::SERVICE_UNAVAILABLE {
        discard(context.shared, request.version(), request.into_body());
    }
}

/// Whether a body is too long to be read or discarded when its request is refused.
fn is_long(body: &Incoming) -> bool {
    body.size_hint().lower() > REFUSED_BYTES_MAX
}

/// Refuses a request by its head, or because this node does not reach its position of the log in time. A page of the server's own never
/// waits.
#[cfg_attr(
    not(feature = "cluster"),
    expect(clippy::unused_async, reason = "a node of a fleet waits here")
)]
async fn refuse(
    context: RequestContext<'_>,
    own: Option<&OwnRoute>,
    request: &Request<Incoming>,
) -> Option<Response<OutgoingBody>> {
    let refused = refuse_head(context, own, request);
    #[cfg(feature = "cluster")]
    if refused.is_none() {
        let (refused, seconds) = refuse_as_node(context, own, request).await?;
        let mut response = context.refuse(refused);
        if response.status() == StatusCode::SERVICE_UNAVAILABLE {
            refusal::retry_after(&mut response, seconds);
        }
        return Some(response);
    }
    refused
}

/// Refuses a request because this node is cut off from the log, or does not reach the position in time that the request names; also returns
/// the seconds after which it is worth another try.
#[cfg(feature = "cluster")]
async fn refuse_as_node(
    context: RequestContext<'_>,
    own: Option<&OwnRoute>,
    request: &Request<Incoming>,
) -> Option<(Refused, u64)> {
    let shared = context.shared;
    if let Some(refused) = cut_off::refused(context, own, request) {
        return Some((refused, cut_off::RETRY_SECONDS));
    }
    if !own.is_some_and(|row| matches!(row.own, Own::Page(_))) {
        let named = match positions::named(shared, request.headers()) {
            Ok(named) => named,
            Err(refused) => return Some((refused, refusal::BUSY_SECONDS)),
        };
        if let Some(position) = named {
            let reached = positions::reached(shared, context.source(), position);
            let refused = Box::pin(reached).await.err()?;
            return Some((refused, refusal::BUSY_SECONDS));
        }
    }
    if positions::shows_the_fleet(shared, own, request) {
        Box::pin(shared.latest_reads.reached()).await;
    }
    None
}

/// Passes the request to the engine, with the body as it arrives. Nothing of an incomplete body is accepted.
///
/// Not an `async fn`, as [`respond`].
fn through_engine<'r>(
    context: &'r RequestContext<'r>,
    request: Request<Incoming>,
    handled: &'r mut HandledRequest<'_>,
) -> impl Future<Output = Response<OutgoingBody>> {
    let (mut head, mut body) = request.into_parts();
    let gzip = body::undo_gzip(&mut head.headers);
    let expects_continue = body::expects_continue(&head.headers);
    let mut exchange = context.shared.engine.begin(head);
    handled.operation = exchange.route().into();
    handled.with_key(exchange.key());
    async move {
        // The room of a body is held until its request is finished: a slow read and a commit keep what was read of it in memory.
        let mut held = None;
        let reads_body = exchange.body_bytes_max() > 0;
        // Nobody needs the body of a refused request, so the client is not asked for it.
        let is_unwanted =
            exchange.is_refused() && (expects_continue && !body.is_end_stream() || is_long(&body));
        let received = if is_unwanted {
            Received::Unwanted
        } else {
            let arrived = body::arrived(&mut body, gzip, &mut exchange).await;
            match arrived {
                Ok(Arrived::Whole { cut }) => Ok(cut).into(),
                Ok(Arrived::Part(first)) => {
                    let rest = receive_rest(context, &mut exchange, &mut body, first, gzip);
                    let (read, share) = Box::pin(rest).await;
                    held = Some(share);
                    read.into()
                }
                Err(unread) => Err(unread).into(),
            }
        };
        let closes = match received {
            Received::Whole => false,
            // hyper discards a short unread body.
            Received::Cut => reads_body || expects_continue,
            Received::Unwanted | Received::Broken(_) => true,
        };
        if !matches!(received, Received::Whole) {
            context.progress.cut();
        }
        // Matched by reference, because what a future is moved from keeps its room in this one.
        let mut finishing = finish(*context, handled, exchange, received);
        let response = match &mut finishing {
            Finishing::Refused(refused) => Err(*refused),
            Finishing::Durable {
                response,
                is_operators,
            } => {
                let response = response.await;
                deliver(*context, *is_operators, response, None)
            }
            Finishing::Rare(rare) => rare.await,
        };
        let mut response = response.unwrap_or_else(|refused| context.refuse(refused));
        drop(held);
        discard(context.shared, context.asked.version, body);
        if closes {
            refusal::close(&mut response, context.asked.version);
        }
        if let Some(codings) = response.headers_mut().get_mut(header::ACCEPT_ENCODING) {
            *codings = HeaderValue::from_static(body::CODINGS);
        }
        response
    }
}

/// How the body of a request was read.
#[derive(Debug, Clone, Copy)]
enum Received {
    Whole,
    /// Bytes of it are left unread on the connection; the exchange knows why.
    Cut,
    /// It was not asked for.
    Unwanted,
    /// It did not come to its end.
    Broken(Refused),
}

impl From<Result<bool, Unread>> for Received {
    fn from(read: Result<bool, Unread>) -> Self {
        match read {
            Ok(false) => Self::Whole,
            Ok(true) => Self::Cut,
            // The framing of the body is broken, or the client is gone and nobody reads the response.
            Err(Unread::Broken) => Self::Broken(refusal::BROKEN),
            Err(Unread::NoRoom) => Self::Broken(refusal::BUSY),
            Err(Unread::Late) => Self::Broken(refusal::LATE),
        }
    }
}

/// Reads the rest of a body within its time, and with room for it; returns whether bytes were left unread, and the room.
async fn receive_rest<'r>(
    context: &'r RequestContext<'r>,
    exchange: &mut Exchange,
    body: &mut Incoming,
    first: Option<Bytes>,
    gzip: bool,
) -> (Result<bool, Unread>, Box<Share<'r>>) {
    let RequestContext {
        shared, progress, ..
    } = context;
    let _receiving = progress.receiving();
    let mut share = Box::new(Share::none(&context.source().bodies, &shared.budget));
    let body_timeout = context.options.body_timeout;
    // A body of any length has no total time.
    let time_max = if exchange.body_bytes_max() == usize::MAX {
        Duration::MAX
    } else {
        body_timeout
    };
    let reading = body::receive(
        body,
        first,
        gzip,
        exchange,
        &mut share,
        progress,
        body_timeout,
    );
    let read = body::in_time(time_max, reading).await;
    (read.unwrap_or(Err(Unread::Late)), share)
}

/// What is left to do for a response once the body was read.
#[expect(
    clippy::large_enum_variant,
    reason = "nearly every request is of the large one"
)]
enum Finishing<'r> {
    Refused(Refused),
    /// The response comes once what the request wrote is durable.
    Durable {
        response: ResponseFuture<ResponseBody>,
        is_operators: bool,
    },
    /// A response of another kind, or one that takes long.
    Rare(Pin<Box<dyn Future<Output = Result<Response<OutgoingBody>, Refused>> + Send + 'r>>),
}

/// Begins the response to a request whose body was read.
fn finish<'r>(
    context: RequestContext<'r>,
    handled: &mut HandledRequest<'_>,
    mut exchange: Exchange,
    received: Received,
) -> Finishing<'r> {
    let durable = |response, is_operators| Finishing::Durable {
        response,
        is_operators,
    };
    match received {
        Received::Whole | Received::Cut => {}
        Received::Unwanted => return durable(exchange.finish(), false),
        // What was committed of an import is reported.
        Received::Broken((_, message)) if exchange.has_begun() => {
            exchange.broken(message);
            return durable(exchange.finish(), true);
        }
        Received::Broken(refused) => return Finishing::Refused(refused),
    }
    if let Err(NoRoom) = make_room_for_report(context, handled, &exchange) {
        return Finishing::Refused(refusal::UNREPORTED);
    }
    if let Some(seconds) = over_keyless_bytes(context, handled.may_hold_key, &exchange) {
        let mut response = context.refuse(refusal::TOO_MANY_KEYLESS_BYTES);
        refusal::retry_after(&mut response, seconds);
        return Finishing::Rare(Box::pin(ready(Ok(response))));
    }
    let is_operators = handled.operation.is_operators();
    match exchange.dispatch() {
        Dispatched::Quick(response) => durable(response, is_operators),
        Dispatched::Slow(exchange) => {
            Finishing::Rare(Box::pin(off_the_loop(context, is_operators, exchange)))
        }
        Dispatched::Events(events, _) => {
            Finishing::Rare(Box::pin(ready(events_as_they_happen(context, events))))
        }
    }
}

/// The seconds after which a report without a key is accepted, where its source has sent too much of such.
fn over_keyless_bytes(
    context: RequestContext<'_>,
    may_hold_key: bool,
    exchange: &Exchange,
) -> Option<u64> {
    let bytes = exchange.body_bytes();
    // Most requests hold none, and a key is hashed to be found.
    let is_keyed = || exchange.key().is_some() || may_hold_key && exchange.carries_key();
    if bytes == 0 || is_keyed() {
        return None;
    }
    let per_second = context.options.keyless_bytes_per_second;
    let keyless_bytes = &context.shared.keyless_bytes;
    let source = context.source().network();
    keyless_bytes.keyless(per_second, source, bytes, Instant::now())
}

/// Finishes a request that can take long, on a blocking thread, where its response is also compressed.
async fn off_the_loop(
    context: RequestContext<'_>,
    is_operators: bool,
    exchange: Exchange,
) -> Result<Response<OutgoingBody>, Refused> {
    let (slow_reads, source) = (&context.shared.slow_reads, context.source());
    let place = slow_reads.admit(&source.slow_reads).await;
    // The read holds its source also once the client is gone, because the server forgets the counts of a source that nothing holds.
    let held = (place.ok_or(refusal::BUSY)?, Arc::clone(source));
    let route = exchange.route();
    let begun = slow_reads.run(move || (exchange.finish(), held));
    let (response, held) = begun.await.map_err(|_| refusal::ENDED)?;
    let mut response = response.await;
    let bytes = response.body().len();
    if !compression::begin(&mut response, route, context.asked.accepts_gzip, bytes) {
        drop(held);
        return deliver(context, is_operators, response, None);
    }
    let Some(body) = response.body_mut().take_whole() else {
        drop(held);
        return deliver(context, is_operators, response, Some(Compressor::new()));
    };
    let compressing = slow_reads.run(move || {
        let compressed = Compressor::whole(&body);
        drop(held);
        compressed
    });
    let compressed = compressing.await.map_err(|_| refusal::ENDED)?;
    let compressed = compressed.map_err(|_| refusal::ENDED)?;
    Ok(response.map(|_| compressed.into()))
}

/// A response of the engine: whole, or with room for its chunks, which `compressor` compresses if there is one.
fn deliver(
    context: RequestContext<'_>,
    is_operators: bool,
    mut response: Response<ResponseBody>,
    compressor: Option<Compressor>,
) -> Result<Response<OutgoingBody>, Refused> {
    if let Some(bytes) = response.body_mut().take_whole() {
        return Ok(response.map(|_| bytes.into()));
    }
    let (slow_reads, source) = (&context.shared.slow_reads, context.source());
    let room = slow_reads.try_begin(&source.slow_reads, is_operators);
    let room = room.ok_or(refusal::BUSY)?;
    let (slow_reads, source) = (Arc::clone(slow_reads), Arc::clone(source));
    Ok(response.map(|body| OutgoingBody::streamed(body, compressor, slow_reads, source, room)))
}

/// 200 with the events as they happen; refused if too many streams are open.
fn events_as_they_happen(
    context: RequestContext<'_>,
    events: EventStream,
) -> Result<Response<OutgoingBody>, Refused> {
    let (shared, source) = (context.shared, context.source());
    let place = shared.event_streams.begin(&source.event_streams);
    // The stream holds its source, because the server forgets the counts of a source that nothing holds.
    let held = (place.ok_or(refusal::TOO_MANY_STREAMS)?, Arc::clone(source));
    let draining = shared.draining.subscribe();
    let body = EventBody::new(events, draining, held);
    Ok(EventBytes::response(OutgoingBody::events(body)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of the future that a function with three arguments returns.
    fn future_bytes<A, B, C, F: Future>(_: fn(A, B, C) -> F) -> usize {
        size_of::<F>()
    }

    /// Each request in progress has one, and over HTTP/2 it is moved several times.
    #[test]
    fn futures_of_requests_are_small() {
        let bytes = future_bytes(respond);
        assert!(bytes < 1024, "{bytes}");
    }
}
