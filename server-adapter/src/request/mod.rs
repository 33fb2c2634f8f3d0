//! One request: refused, a page of the server's own, or handed to the engine; counted and logged.

pub(crate) mod admission;
pub(crate) mod body;
pub(crate) mod context;
pub(crate) mod cors;
pub(crate) mod gzip;
pub(crate) mod hosts;
pub(crate) mod operation;
#[cfg(feature = "cluster")]
pub(crate) mod positions;
pub(crate) mod refusal;
pub(crate) mod small_body;

use std::sync::Arc;
use std::time::{Duration, Instant};

use deskfleet::routes::Pace;
use deskfleet::{EventStream, Exchange, ResponseBody};
#[cfg(feature = "cluster")]
use http::StatusCode;
use http::{HeaderName, HeaderValue, Request, Response, header};
use hyper::body::{Body as _, Incoming};

use crate::connection::progress::Progress;
use crate::limits::budget::{NoRoom, Share};
use crate::limits::sources::RequestPlace;
use crate::log::logged_request::HandledRequest;
use crate::pages;
use crate::response::body::OutgoingBody;
use crate::response::event_body::EventBody;
use crate::services;
use crate::state::{Live, ServerState};
use admission::refuse_head;
use body::Unread;
use context::{Asked, RequestContext, held_until_sent, make_room_for_report};
use cors::{is_preflight, preflight};
use operation::{Operation, Own, OwnRoute};
use refusal::{KeyAttempt, Refused};

/// Keeps nginx from buffering events.
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// The longest body of a refused request that is read, in bytes, so that the connection is good for another request.
const REFUSED_BYTES_MAX: u64 = 64 * 1024;

/// Browsers use https for this host for a year.
const ONLY_TLS: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// Handles one request; counts it and logs it.
pub(crate) async fn respond(
    shared: &ServerState,
    progress: &Arc<Progress>,
    mut request: Request<Incoming>,
    place: &RequestPlace,
) -> Response<OutgoingBody> {
    let _handling = progress.handling();
    let Live { options, cors } = &*shared.live();
    let mut handled = HandledRequest::begin(shared, options, progress, &mut request);
    // Refusals have the trace id of the log line.
    let asked = Asked::by(&request);
    let context = RequestContext {
        shared,
        options,
        progress,
        place,
        asked: &asked,
    };
    let origin = cors.origin(request.headers());
    let own = OwnRoute::find(request.method(), request.uri().path());
    let refused = match refuse_head(context, own, &request) {
        Some(refused) => Some(refused),
        None => refuse_if_behind(context, own, &request).await,
    };
    let mut response = match (refused, own) {
        (Some(mut refused), _) => {
            leave_body(progress, &request, &mut refused);
            let route = || shared.engine.route(request.method(), request.uri().path());
            handled.operation = own.map_or_else(|| route().into(), Operation::Own);
            refused
        }
        (None, _) if origin.is_some() && is_preflight(&request) => {
            handled.operation = Operation::Preflight;
            preflight().map(OutgoingBody::from)
        }
        (None, Some(row)) => {
            handled.operation = Operation::Own(row);
            match row.own {
                Own::Service(service) => {
                    let (response, key) = services::respond(context, row, service, request).await;
                    handled.with_key(key.as_ref());
                    response
                }
                Own::Page(page) => pages::respond(context, row, page, request).await,
            }
        }
        (None, None) => {
            let attempt = KeyAttempt::from_request(shared, progress, &request);
            let response = through_engine(context, request, &mut handled).await;
            match attempt {
                Some(attempt) => attempt.after(shared, options, response),
                None => response,
            }
        }
    };
    response = held_until_sent(context, &mut handled, response);
    cors.allow(origin, &mut response);
    #[cfg(feature = "cluster")]
    positions::say(shared, &mut response);
    if options.tls.is_some() {
        let headers = response.headers_mut();
        headers.insert(header::STRICT_TRANSPORT_SECURITY, ONLY_TLS);
    }
    handled.finish(&mut response);
    response
}

/// Records that the body of a refused request is left unread.
fn leave_body<B>(progress: &Progress, request: &Request<Incoming>, refused: &mut Response<B>) {
    if request.body().is_end_stream() {
        return;
    }
    progress.cut();
    let headers = request.headers();
    if body::expects_continue(headers) || headers.contains_key(header::TRANSFER_ENCODING) {
        // The client has not sent it, and may send the next request in its place; or it may end elsewhere.
        refusal::close(refused, request.version());
    }
}

/// Refuses a request whose position of the log this node does not reach in time. A page of the server's own never waits.
#[cfg(feature = "cluster")]
async fn refuse_if_behind(
    context: RequestContext<'_>,
    own: Option<&OwnRoute>,
    request: &Request<Incoming>,
) -> Option<Response<OutgoingBody>> {
    if own.is_some_and(|row| matches!(row.own, Own::Page(_))) {
        return None;
    }
    let reached = positions::reached(context.shared, context.source(), request.headers()).await;
    let mut response = context.refuse(reached.err()?);
    if response.status() == StatusCode::SERVICE_UNAVAILABLE {
        refusal::retry_after(&mut response, refusal::BUSY_SECONDS);
    }
    Some(response)
}

#[cfg(not(feature = "cluster"))]
#[expect(clippy::unused_async, reason = "a node of a fleet waits here")]
async fn refuse_if_behind(
    _: RequestContext<'_>,
    _: Option<&OwnRoute>,
    _: &Request<Incoming>,
) -> Option<Response<OutgoingBody>> {
    None
}

/// Passes the request to the engine, with the body as it arrives. Nothing of an incomplete body is accepted.
async fn through_engine(
    context: RequestContext<'_>,
    request: Request<Incoming>,
    handled: &mut HandledRequest<'_>,
) -> Response<OutgoingBody> {
    let RequestContext {
        shared, progress, ..
    } = context;
    let (mut head, body) = request.into_parts();
    let gzip = body::undo_gzip(&mut head.headers);
    let expects_continue = body::expects_continue(&head.headers);
    let mut exchange = shared.engine.begin(head);
    handled.operation = exchange.route().into();
    handled.with_key(exchange.key());
    let is_long = body.size_hint().lower() > REFUSED_BYTES_MAX;
    let refuse = |refused| context.refuse(refused);
    let close = |response: &mut Response<_>| refusal::close(response, context.asked.version);
    if exchange.is_refused() && (expects_continue && !body.is_end_stream() || is_long) {
        // Nobody needs the body, so the client is not asked for it.
        progress.cut();
        let response = deliver(context, false, exchange.finish().await);
        let mut response = response.unwrap_or_else(refuse);
        close(&mut response);
        return response;
    }
    let reads_body = exchange.body_bytes_max() > 0;
    let mut share = Share::none(&context.source().bodies, &shared.budget);
    let body_timeout = context.options.body_timeout;
    // A body of any length has no total time.
    let time_max = if exchange.body_bytes_max() == usize::MAX {
        Duration::MAX
    } else {
        body_timeout
    };
    let reading = body::receive(
        body,
        gzip,
        &mut exchange,
        &mut share,
        progress,
        body_timeout,
    );
    match received(progress, time_max, reading).await {
        Ok(cut) => {
            let response = finish(context, handled, exchange).await;
            let mut response = response.unwrap_or_else(refuse);
            if cut {
                progress.cut();
                // hyper discards a short unread body.
                if reads_body || expects_continue {
                    close(&mut response);
                }
            }
            if let Some(codings) = response.headers_mut().get_mut(header::ACCEPT_ENCODING) {
                *codings = HeaderValue::from_static(body::CODINGS);
            }
            response
        }
        Err(refused) => {
            progress.cut();
            let response = if exchange.has_begun() {
                exchange.broken(refused.1);
                deliver(context, true, exchange.finish().await)
            } else {
                Err(refused)
            };
            let mut response = response.unwrap_or_else(refuse);
            close(&mut response);
            response
        }
    }
}

/// The response to a request whose body has arrived.
async fn finish(
    context: RequestContext<'_>,
    handled: &mut HandledRequest<'_>,
    exchange: Exchange,
) -> Result<Response<OutgoingBody>, Refused> {
    if let Err(NoRoom) = make_room_for_report(context, handled, &exchange) {
        return Err(refusal::UNREPORTED);
    }
    if let Some(seconds) = over_keyless_bytes(context, &exchange) {
        let mut response = context.refuse(refusal::TOO_MANY_KEYLESS_BYTES);
        refusal::retry_after(&mut response, seconds);
        return Ok(response);
    }
    if let Some(events) = exchange.events() {
        return events_as_they_happen(context, events);
    }
    let is_operators = handled.operation.is_operators();
    if exchange
        .route()
        .is_some_and(|route| route.pace == Pace::Slow)
    {
        return off_the_loop(context, is_operators, exchange).await;
    }
    deliver(context, is_operators, exchange.finish().await)
}

/// The seconds after which a report without a key is accepted, where its source has sent too much of such.
fn over_keyless_bytes(context: RequestContext<'_>, exchange: &Exchange) -> Option<u64> {
    let bytes = exchange.bytes();
    if bytes == 0 || exchange.key().is_some() {
        return None;
    }
    let per_second = context.options.keyless_bytes_per_second;
    let keyless_bytes = &context.shared.keyless_bytes;
    let source = context.source().network();
    let seconds = keyless_bytes.keyless(per_second, source, bytes, Instant::now())?;
    // Only here it matters whether a key that was not required is accepted.
    (!exchange.carries_key()).then_some(seconds)
}

/// The result of `reading` a body within its time.
async fn received(
    progress: &Progress,
    time_max: Duration,
    reading: impl Future<Output = Result<bool, Unread>>,
) -> Result<bool, Refused> {
    let _receiving = progress.receiving();
    match body::in_time(time_max, reading).await {
        Ok(Ok(cut)) => Ok(cut),
        // The framing of the body is broken, or the client is gone and nobody reads the response.
        Ok(Err(Unread::Broken)) => Err(refusal::BROKEN),
        Ok(Err(Unread::NoRoom)) => Err(refusal::BUSY),
        Ok(Err(Unread::Late)) | Err(_) => Err(refusal::LATE),
    }
}

/// Finishes a request that can take long, on a blocking thread.
async fn off_the_loop(
    context: RequestContext<'_>,
    is_operators: bool,
    exchange: Exchange,
) -> Result<Response<OutgoingBody>, Refused> {
    let (slow_reads, source) = (&context.shared.slow_reads, context.source());
    let place = slow_reads.admit(&source.slow_reads).await;
    // The source is the same as long as something of it runs, also when its client is gone.
    let held = (place.ok_or(refusal::BUSY)?, Arc::clone(source));
    let begun = slow_reads.run(move || {
        let response = exchange.finish();
        drop(held);
        response
    });
    let response = begun.await.map_err(|_| refusal::ENDED)?.await;
    deliver(context, is_operators, response)
}

/// A response of the engine: whole, or with room for its chunks.
fn deliver(
    context: RequestContext<'_>,
    is_operators: bool,
    mut response: Response<ResponseBody>,
) -> Result<Response<OutgoingBody>, Refused> {
    if let Some(bytes) = response.body_mut().take_whole() {
        return Ok(response.map(|_| bytes.into()));
    }
    let (slow_reads, source) = (&context.shared.slow_reads, context.source());
    let room = slow_reads.try_begin(&source.slow_reads, is_operators);
    let room = room.ok_or(refusal::BUSY)?;
    let (slow_reads, source) = (Arc::clone(slow_reads), Arc::clone(source));
    Ok(response.map(|body| OutgoingBody::streamed(body, slow_reads, source, room)))
}

/// 200 with the events as they happen; refused if too many streams are open.
fn events_as_they_happen(
    context: RequestContext<'_>,
    events: EventStream,
) -> Result<Response<OutgoingBody>, Refused> {
    let (shared, source) = (context.shared, context.source());
    let place = shared.event_streams.begin(&source.event_streams);
    // The source is the same as long as something of it runs.
    let held = (place.ok_or(refusal::TOO_MANY_STREAMS)?, Arc::clone(source));
    let draining = shared.draining.subscribe();
    let body = EventBody::new(shared.engine.clone(), events, draining, held);
    let mut response = Response::new(OutgoingBody::events(body));
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (ACCEL_BUFFERING, "no"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    Ok(response)
}
