//! One connection, from its first byte to its last.

#[cfg(feature = "tls")]
pub(crate) mod handshake;
#[cfg(feature = "http2")]
pub(crate) mod http2;
#[cfg(feature = "http2")]
pub(crate) mod http2_requests;
pub(crate) mod progress;
pub(crate) mod protocol;
pub(crate) mod request_turn;
pub(crate) mod served;
pub(crate) mod socket;
#[cfg(feature = "tls")]
pub(crate) mod tls;
pub(crate) mod unless;
#[cfg(not(feature = "tls"))]
pub(crate) mod without_tls;

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;

use http::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::AsyncWrite as _;
use tokio::net::TcpStream;
use tokio::sync::watch;

use crate::limits::served_places::ServedPlace;
use crate::request::respond;
use crate::state::ServerState;
use progress::Progress;
use request_turn::RequestTurn;
use served::CurrentConnection;
use socket::{End, Socket, Transport};
use unless::unless;

/// Serves one connection to its end, or until its slot is given to another. Once `draining` is true it is closed after the
/// responses in flight. Its errors concern only the client and are not reported.
pub(crate) async fn serve(socket: TcpStream, progress: Arc<Progress>, shared: Arc<ServerState>) {
    let mut draining = shared.draining.subscribe();
    let _connected = shared.metrics.connected();
    let http2 = {
        let served = pin!(serve_either(socket, &progress, &shared, &mut draining));
        let served = unless(served, progress.evicted(), || progress.is_evicted());
        served.await.ok().flatten()
    };
    #[cfg(feature = "http2")]
    if let Some((socket, place)) = http2 {
        Box::pin(http2::serve(socket, shared, progress, draining)).await;
        drop(place);
    }
    #[cfg(not(feature = "http2"))]
    let _: Option<(Socket, Option<ServedPlace>)> = http2;
}

/// Serves a connection of HTTP/1.1; returns one of HTTP/2, with its place, once its preface has arrived.
async fn serve_either(
    socket: TcpStream,
    progress: &Arc<Progress>,
    shared: &Arc<ServerState>,
    draining: &mut watch::Receiver<bool>,
) -> Option<(Socket, Option<ServedPlace>)> {
    let transport = transport(socket, progress, shared, draining).await?;
    let socket = Socket::new(transport, Arc::clone(progress), &shared.live().options);
    #[cfg(feature = "http2")]
    match http2::begins(&socket, draining).await {
        Some(true) => {
            // Without a place its streams are refused, and it ends.
            let place = served_place(&socket, shared, progress).await;
            return Some((socket, place));
        }
        Some(false) => {}
        None => {
            finish(socket).await;
            return None;
        }
    }
    serve_http1(&socket, shared, progress, draining).await;
    None
}

/// Ends a connection that waits for a request. Over TLS it sends `close_notify`, if there is room for that: without it the client takes the end for
/// an attack.
async fn finish(mut socket: Socket) {
    poll_fn(|cx| {
        // The client may be gone.
        let _ = Pin::new(&mut socket).poll_shutdown(cx);
        Poll::Ready(())
    })
    .await;
}

/// A place to be served; `None` for a connection that gets one response.
async fn served_place(
    socket: &Socket,
    shared: &ServerState,
    progress: &Arc<Progress>,
) -> Option<ServedPlace> {
    if progress.is_kept_for_livez() {
        return None;
    }
    let asks_livez = || socket.asks_livez();
    shared.slots.serve(progress, asks_livez).await
}

/// The connection as HTTP sees it; `None` when there is nothing to serve on it.
#[cfg(feature = "tls")]
async fn transport(
    socket: TcpStream,
    progress: &Arc<Progress>,
    shared: &ServerState,
    draining: &mut watch::Receiver<bool>,
) -> Option<Transport> {
    let live = shared.live();
    let Some(tls) = &live.options.tls else {
        return Some(Transport::Tcp(socket));
    };
    tokio::select! {
        biased;
        // In a box, as the task of a connection has the size of the largest it ever waits for.
        transport = Box::pin(handshake::accept(tls, socket, progress, &live.options)) => transport,
        _ = draining.wait_for(|draining| *draining) => None,
    }
}

#[cfg(not(feature = "tls"))]
#[expect(clippy::unused_async, reason = "with TLS it waits for the handshake")]
async fn transport(
    socket: TcpStream,
    _: &Arc<Progress>,
    _: &ServerState,
    _: &mut watch::Receiver<bool>,
) -> Option<Transport> {
    Some(Transport::Tcp(socket))
}

/// Serves a connection of HTTP/1.1 as long as requests come. While none does, hyper and its buffers are put away, and it has no place.
async fn serve_http1(
    socket: &Socket,
    shared: &Arc<ServerState>,
    progress: &Arc<Progress>,
    draining: &mut watch::Receiver<bool>,
) {
    let mut kept = None;
    loop {
        let more = tokio::select! {
            biased;
            more = socket.next() => more,
            _ = draining.wait_for(|draining| *draining) => false,
        };
        if !more {
            finish(socket.clone()).await;
            return;
        }
        let place = match kept.take() {
            Some(place) => place,
            None => served_place(socket, shared, progress).await,
        };
        // In a box, as the task of a connection has the size of the largest it ever waits for.
        let end = Box::pin(serve_requests(socket, shared, progress, draining)).await;
        if socket.holds_much() {
            // The begin of its head takes as much memory as a served connection.
            kept = Some(place);
        }
        // Bytes after an unread body are no request.
        if end == End::Over || progress.is_cut() || progress.is_kept_for_livez() {
            return;
        }
    }
}

/// Requests come one after another, also when the client does not wait for the responses (pipelining): hyper begins one
/// after the response to the previous one. So pipelined posts do not share a commit; streams of HTTP/2 and batches do.
async fn serve_requests(
    socket: &Socket,
    shared: &Arc<ServerState>,
    progress: &Arc<Progress>,
    draining: &mut watch::Receiver<bool>,
) -> End {
    let connection = CurrentConnection::new(shared, progress);
    let service = service_fn(move |request: Request<Incoming>| {
        let connection = connection.get();
        let progress = &connection.progress;
        let place = connection.shared.begin(progress, request.headers());
        let turn = RequestTurn::Http1(progress.begin(), place);
        respond(connection, turn, request)
    });
    let io = TokioIo::new(socket.clone());
    socket.unpark();
    let mut connection = shared.http1.serve_connection(io, service);
    let end = {
        let driven = pin!(socket.drive(Pin::new(&mut connection)));
        let stopping = async { drop(draining.wait_for(|draining| *draining).await) };
        unless(driven, stopping, || shared.is_stopping()).await
    };
    match end {
        Ok(End::Over) => return End::Over,
        Ok(End::Rest) => {
            socket.park(&connection.into_parts().read_buf);
            return End::Rest;
        }
        Err(()) => {}
    }
    let mut connection = Pin::new(&mut connection);
    connection.as_mut().graceful_shutdown();
    socket.drive(connection).await;
    End::Over
}
