//! HTTP/2 on the listener of HTTP/1.1: in clear text, for clients that know beforehand (RFC 9113, section 3.3).
//!
//! Requests on one connection are answered at the same time and share commits. What bounds a connection of HTTP/1.1 bounds
//! one of HTTP/2: the preface has the deadline of a head, a body has its own, an answer must be read, and a connection
//! without requests is closed after its rest.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use deskfleet::Limits;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::sync::watch;

use crate::connection::{Phase, answer, driven};
use crate::operation::Operation;
use crate::progress::Progress;
use crate::refusal;
use crate::state::ServerState;
use crate::stream::Stream;
use crate::streams::{Overdue, Streams};

/// What every connection of HTTP/2 begins with.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Requests at once on one connection: enough to fill a commit of a slow disk, and what most clients and proxies expect.
const STREAMS_MAX: u32 = 128;
/// Bytes of a body that may come before it is read: a whole record.
const STREAM_WINDOW: u32 = 64 * 1024;
/// The same for all bodies of a connection: what a client can make the server hold beside the budget of bodies.
const CONNECTION_WINDOW: u32 = 256 * 1024;
/// Bytes of one answer that are handed to the connection at a time.
const SEND_BUFFER: usize = 64 * 1024;
/// Room in a header list beyond the engine's limits of target and headers: 32 bytes count for each field beside its text,
/// and a list that is a little too long is to be refused by the engine, with a problem body.
const HEADER_LIST_MORE: usize = 8 * 1024;
/// Header fields of one request, as many as hyper takes in HTTP/1.1. A byte can stand for a field here, so that a list of
/// small fields takes many times its size in memory.
const HEADER_FIELDS_MAX: usize = 100;

/// Time without requests after which a connection that is to close does not wait any longer for the client to know.
const FAREWELL: Duration = Duration::from_secs(2);

/// The settings of every connection.
///
/// Left at what hyper and h2 set: a connection on which 20 streams were reset before they were looked at, or 1024 in error, is
/// closed (rapid reset), and a head may not take endless continuation frames. There are no keep-alive pings: whatever a
/// connection can wait for has a deadline already.
pub(crate) fn builder(limits: &Limits) -> http2::Builder<TokioExecutor> {
    let list = limits.uri_bytes + limits.headers_bytes + HEADER_LIST_MORE;
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .max_concurrent_streams(STREAMS_MAX)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_send_buf_size(SEND_BUFFER)
        .max_header_list_size(u32::try_from(list).unwrap_or(u32::MAX));
    builder
}

/// Whether the connection begins with the preface; `None` when there is nothing to serve on it.
pub(crate) async fn begins(stream: &Stream, phase: &mut watch::Receiver<Phase>) -> Option<bool> {
    tokio::select! {
        biased;
        begins = poll_fn(|cx| stream.poll_begins_with(PREFACE, cx)) => begins.ok(),
        _ = phase.wait_for(|phase| *phase >= Phase::Draining) => None,
    }
}

/// Serves a connection that began with the preface.
pub(crate) async fn serve(
    stream: Stream,
    shared: Arc<ServerState>,
    progress: Arc<Progress>,
    mut phase: watch::Receiver<Phase>,
) {
    // For as long as the connection lives: the stream's deadlines for reading are not those of HTTP/2.
    let _turn = progress.begin();
    let options = &shared.options;
    let streams = Arc::new(Streams::new(options.write_timeout));
    let service = service_fn(|request| {
        let (shared, progress) = (Arc::clone(&shared), Arc::clone(&progress));
        let place = shared.begin(&progress, request.headers());
        let stream = streams.begin(&shared.streams, place);
        async move {
            let refused = refused(&shared, stream.is_admitted(), &request);
            let response = answer(&shared, &progress, request, stream.place(), refused).await;
            Ok::<_, Infallible>(response.map(|body| body.sent_on(&progress).counted(stream)))
        }
    });
    let io = TokioIo::new(stream.clone());
    let mut connection = pin!(shared.http2.serve_connection(io, service));
    tokio::select! {
        biased;
        _ = driven(&stream, connection.as_mut()) => return,
        _ = phase.wait_for(|phase| *phase >= Phase::Draining) => {}
        overdue = streams.overdue(options.idle_timeout) => if overdue == Overdue::Answer {
            return;
        },
    }
    // Tells the client, answers what it had sent before it knew, and closes when the client has said that it knows.
    connection.as_mut().graceful_shutdown();
    tokio::select! {
        biased;
        _ = driven(&stream, connection) => {}
        _ = phase.wait_for(|phase| *phase == Phase::Closed) => {}
        _ = streams.overdue(FAREWELL) => {}
    }
}

/// The refusal of a request that is not to be looked at.
fn refused(
    shared: &ServerState,
    admitted: bool,
    request: &Request<Incoming>,
) -> Option<Response<Bytes>> {
    let is_livez = || Operation::of(request.method(), request.uri().path()).is_livez();
    let refused = if !admitted && !is_livez() {
        refusal::BUSY
    } else if request.headers().len() > HEADER_FIELDS_MAX {
        refusal::FIELDS
    } else {
        return None;
    };
    let traceparent = request.headers().get("traceparent");
    Some(refusal::respond(&shared.engine, refused, traceparent))
}
