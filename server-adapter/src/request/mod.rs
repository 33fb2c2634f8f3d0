//! One request: refused, a page of the server's own, or handed to the engine; counted and logged.

pub(crate) mod asked;
pub(crate) mod body;
pub(crate) mod cors;
pub(crate) mod gzip;
pub(crate) mod hosts;
pub(crate) mod operation;
pub(crate) mod page;
#[cfg(feature = "cluster")]
pub(crate) mod positions;
pub(crate) mod refusal;
pub(crate) mod service;
pub(crate) mod small_body;

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use deskfleet::routes::Work;
use deskfleet::{EventStream, Exchange, ResponseBody};
#[cfg(feature = "cluster")]
use http::StatusCode;
use http::{HeaderName, HeaderValue, Request, Response, header};
use hyper::body::{Body as _, Incoming};

use crate::connection::progress::Progress;
use crate::limits::budget::{NoRoom, Share};
use crate::limits::sources::{RequestPlace, Source};
use crate::log::logged_request::HandledRequest;
use crate::options::ServerOptions;
use crate::pages;
use crate::response::body::OutgoingBody;
use crate::response::event_body::EventBody;
use crate::services;
use crate::state::{Live, ServerState};
use asked::{Asked, held_until_sent, make_room_for_report};
use body::Unread;
use cors::{is_preflight, preflight};
use operation::Operation;
use refusal::{KeyAttempt, Refused};

/// Keeps nginx from gathering events.
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
    let asked = Asked::by(&request);
    let Live { options, cors } = &*shared.live();
    let mut handled = HandledRequest::begin(shared, options, progress, &mut request);
    let origin = cors.origin(request.headers());
    let own = Operation::own(request.method(), request.uri().path());
    let refused = match refusal::before(shared, options, progress, place, own, &request) {
        Some(refused) => Some(refused),
        None => behind(shared, place, own, &request).await,
    };
    let mut response = match (refused, own) {
        (Some(refused), _) => {
            let mut refused = refusal::to(request.method(), refused);
            leave_body(progress, &request, &mut refused);
            let route = || shared.engine.route(request.method(), request.uri().path());
            handled.operation = own.unwrap_or_else(|| route().into());
            refused.map(OutgoingBody::from)
        }
        (None, _) if origin.is_some() && is_preflight(&request) => {
            handled.operation = Operation::Preflight;
            preflight().map(OutgoingBody::from)
        }
        (None, Some(Operation::Service(service))) => {
            handled.operation = Operation::Service(service);
            let (response, key) =
                services::respond(service, shared, options, progress, request, &place.source).await;
            handled.with_key(key.as_ref());
            response
        }
        (None, Some(Operation::Page(page))) => {
            handled.operation = Operation::Page(page);
            let response = pages::respond(page, shared, request).await;
            response.map(OutgoingBody::from)
        }
        (None, _) => {
            let attempt = KeyAttempt::of(shared, progress, &request);
            let response = through_engine(
                shared,
                options,
                progress,
                request,
                &asked,
                place,
                &mut handled,
            )
            .await;
            match attempt {
                Some(attempt) => attempt.after(shared, options, response),
                None => response,
            }
        }
    };
    response = held_until_sent(shared, progress, &asked, place, &mut handled, response);
    cors.allow(origin, &mut response);
    #[cfg(feature = "cluster")]
    positions::say(shared, &mut response);
    if options.tls.is_some() {
        let headers = response.headers_mut();
        headers.insert(header::STRICT_TRANSPORT_SECURITY, ONLY_TLS);
    }
    handled.end(&mut response);
    response
}

/// Notes that the body of a refused request is left unread.
fn leave_body(progress: &Progress, request: &Request<Incoming>, refused: &mut Response<Bytes>) {
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

/// Why a request is refused that names a position of the log which this node does not reach in time. A page of the server's own never
/// waits.
#[cfg(feature = "cluster")]
async fn behind(
    shared: &ServerState,
    place: &RequestPlace,
    own: Option<Operation>,
    request: &Request<Incoming>,
) -> Option<Response<Bytes>> {
    if matches!(own, Some(Operation::Page(_))) {
        return None;
    }
    let reached = positions::reached(shared, &place.source, request.headers()).await;
    let refused = reached.err()?;
    let traceparent = refusal::traceparent(request);
    let mut response = refusal::respond(&shared.engine, refused, traceparent);
    if response.status() == StatusCode::SERVICE_UNAVAILABLE {
        refusal::retry_after(&mut response, refusal::BUSY_SECONDS);
    }
    Some(response)
}

#[cfg(not(feature = "cluster"))]
#[expect(clippy::unused_async, reason = "a node of a fleet waits here")]
async fn behind(
    _: &ServerState,
    _: &RequestPlace,
    _: Option<Operation>,
    _: &Request<Incoming>,
) -> Option<Response<Bytes>> {
    None
}

/// Hands the request to the engine, the body as it arrives. Where that does not arrive to its end nothing of it is accepted.
async fn through_engine(
    shared: &ServerState,
    options: &ServerOptions,
    progress: &Progress,
    request: Request<Incoming>,
    asked: &Asked,
    place: &RequestPlace,
    handled: &mut HandledRequest<'_>,
) -> Response<OutgoingBody> {
    let (mut head, body) = request.into_parts();
    let gzip = body::undo_gzip(&mut head.headers);
    let expects_continue = body::expects_continue(&head.headers);
    let mut exchange = shared.engine.begin(head);
    handled.operation = exchange.route().into();
    handled.with_key(exchange.key());
    let is_long = body.size_hint().lower() > REFUSED_BYTES_MAX;
    if exchange.is_refused() && (expects_continue && !body.is_end_stream() || is_long) {
        // Nobody needs the body, so the client is not asked for it.
        progress.cut();
        let response = deliver(shared, &place.source, false, exchange.finish().await);
        let mut response = response.unwrap_or_else(|refused| asked.refuse(shared, refused));
        refusal::close(&mut response, asked.version);
        return response;
    }
    let reads_body = exchange.body_bytes_max() > 0;
    let mut share = Share::none(&place.source.bodies, &shared.budget);
    let body_timeout = options.body_timeout;
    // One of any length has no time as a whole.
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
            let response = finish(shared, options, asked, place, handled, exchange).await;
            let mut response = response.unwrap_or_else(|refused| asked.refuse(shared, refused));
            if cut {
                progress.cut();
                // hyper passes over a short body that nobody reads.
                if reads_body || expects_continue {
                    refusal::close(&mut response, asked.version);
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
                deliver(shared, &place.source, true, exchange.finish().await)
            } else {
                Err(refused)
            };
            let mut response = response.unwrap_or_else(|refused| asked.refuse(shared, refused));
            refusal::close(&mut response, asked.version);
            response
        }
    }
}

/// The response to a request whose body is there.
async fn finish(
    shared: &ServerState,
    options: &ServerOptions,
    asked: &Asked,
    place: &RequestPlace,
    handled: &mut HandledRequest<'_>,
    exchange: Exchange,
) -> Result<Response<OutgoingBody>, Refused> {
    if let Err(NoRoom) = make_room_for_report(shared, place, handled, &exchange) {
        return Err(refusal::UNREPORTED);
    }
    if let Some(seconds) = over_keyless_bytes(shared, options, &place.source, &exchange) {
        let mut response = asked.refuse(shared, refusal::TOO_MANY_KEYLESS_BYTES);
        refusal::retry_after(&mut response, seconds);
        return Ok(response);
    }
    if let Some(events) = exchange.events() {
        return events_as_they_happen(shared, &place.source, events);
    }
    let is_operators = handled.operation.is_operators();
    if exchange
        .route()
        .is_some_and(|route| route.work == Work::Slow)
    {
        return off_the_loop(shared, &place.source, is_operators, exchange).await;
    }
    deliver(shared, &place.source, is_operators, exchange.finish().await)
}

/// The seconds after which a report without a key is accepted, where its source has sent too much of such.
fn over_keyless_bytes(
    shared: &ServerState,
    options: &ServerOptions,
    source: &Source,
    exchange: &Exchange,
) -> Option<u64> {
    let bytes = exchange.bytes();
    if bytes == 0 || exchange.key().is_some() {
        return None;
    }
    let per_second = options.keyless_bytes_per_second;
    let keyless_bytes = &shared.keyless_bytes;
    let seconds = keyless_bytes.keyless(per_second, source.network(), bytes, Instant::now())?;
    // Only here does it matter whether a key that nobody asked for is a good one.
    (!exchange.carries_key()).then_some(seconds)
}

/// What `reading` a body brings within its time.
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

/// Finishes a request that can take long, on a thread where it holds nobody up.
async fn off_the_loop(
    shared: &ServerState,
    source: &Arc<Source>,
    is_operators: bool,
    exchange: Exchange,
) -> Result<Response<OutgoingBody>, Refused> {
    let slow_reads = &shared.slow_reads;
    let place = slow_reads.admit(&source.slow_reads).await;
    // The source is the same as long as something of it runs, also when its client is gone.
    let held = (place.ok_or(refusal::BUSY)?, Arc::clone(source));
    let begun = slow_reads.run(move || {
        let response = exchange.finish();
        drop(held);
        response
    });
    let response = begun.await.map_err(|_| refusal::ENDED)?.await;
    deliver(shared, source, is_operators, response)
}

/// A response of the engine on its way: whole, or with room for its chunks.
fn deliver(
    shared: &ServerState,
    source: &Arc<Source>,
    is_operators: bool,
    mut response: Response<ResponseBody>,
) -> Result<Response<OutgoingBody>, Refused> {
    if let Some(bytes) = response.body_mut().take_whole() {
        return Ok(response.map(|_| bytes.into()));
    }
    let slow_reads = &shared.slow_reads;
    let room = slow_reads.try_begin(&source.slow_reads, is_operators);
    let room = room.ok_or(refusal::BUSY)?;
    let (slow_reads, source) = (Arc::clone(slow_reads), Arc::clone(source));
    Ok(response.map(|body| OutgoingBody::streamed(body, slow_reads, source, room)))
}

/// 200 with the events as they happen; refused where too many streams are open.
fn events_as_they_happen(
    shared: &ServerState,
    source: &Arc<Source>,
    events: EventStream,
) -> Result<Response<OutgoingBody>, Refused> {
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
