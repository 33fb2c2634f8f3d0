//! One connection, from its first byte to its last.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;

use http::Version;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::watch;

#[cfg(feature = "tls")]
use crate::handshake;
#[cfg(feature = "http2")]
use crate::http2;
use crate::progress::Progress;
use crate::refusal;
use crate::request::respond;
use crate::socket::{End, Socket, Transport};
use crate::state::ServerState;

/// Serves one connection to its end, or until its slot is given to another. Once `draining` is true it is closed after the
/// responses in flight. Its errors concern only the client and are not reported.
pub(crate) async fn serve(socket: TcpStream, progress: Arc<Progress>, shared: Arc<ServerState>) {
    let draining = shared.draining.subscribe();
    let _connected = shared.metrics.connected();
    tokio::select! {
        () = serve_either(socket, Arc::clone(&progress), shared, draining) => {}
        () = progress.evicted() => {}
    }
}

/// Serves a connection of either version.
async fn serve_either(
    socket: TcpStream,
    progress: Arc<Progress>,
    shared: Arc<ServerState>,
    mut draining: watch::Receiver<bool>,
) {
    let Some(transport) = transport(socket, &progress, &shared, &mut draining).await else {
        return;
    };
    let socket = Socket::new(transport, Arc::clone(&progress), &shared.live().options);
    #[cfg(feature = "http2")]
    match http2::begins(&socket, &mut draining).await {
        // A place that is kept for one `/livez` is no place for many requests at once.
        Some(true) if progress.is_kept_for_livez() => return,
        Some(true) => return Box::pin(http2::serve(socket, shared, progress, draining)).await,
        Some(false) => {}
        None => return,
    }
    serve_http1(&socket, &shared, &progress, &mut draining).await;
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

/// Serves a connection of HTTP/1.1 as long as requests come. While none does, hyper and its buffers are put away.
async fn serve_http1(
    socket: &Socket,
    shared: &ServerState,
    progress: &Arc<Progress>,
    draining: &mut watch::Receiver<bool>,
) {
    loop {
        // In a box, as the task of a connection has the size of the largest it ever waits for.
        match Box::pin(serve_requests(socket, shared, progress, draining)).await {
            End::Over => return,
            End::Rest => {}
        }
        tokio::select! {
            biased;
            more = socket.next() => if !more {
                return;
            },
            _ = draining.wait_for(|draining| *draining) => return,
        }
    }
}

/// Requests come one after another, also when the client does not wait for the responses (pipelining): hyper begins one
/// after the response to the previous one. So pipelined posts do not share a commit; streams of HTTP/2 and batches do.
async fn serve_requests(
    socket: &Socket,
    shared: &ServerState,
    progress: &Arc<Progress>,
    draining: &mut watch::Receiver<bool>,
) -> End {
    let service = service_fn(|request| {
        let turn = progress.begin();
        async move {
            let place = shared.begin(progress, request.headers());
            let mut response = respond(shared, progress, request, &place).await;
            if progress.is_kept_for_livez() {
                refusal::close(&mut response, Version::HTTP_11);
            }
            Ok::<_, Infallible>(response.map(|body| body.sent_on(progress).ending(turn)))
        }
    });
    let io = TokioIo::new(socket.clone());
    socket.unpark();
    let mut connection = shared.http1.serve_connection(io, service);
    let end = tokio::select! {
        biased;
        end = socket.drive(Pin::new(&mut connection)) => Some(end),
        _ = draining.wait_for(|draining| *draining) => None,
    };
    match end {
        Some(End::Over) => return End::Over,
        Some(End::Rest) => {
            socket.park(&connection.into_parts().read_buf);
            return End::Rest;
        }
        None => {}
    }
    let mut connection = Pin::new(&mut connection);
    connection.as_mut().graceful_shutdown();
    socket.drive(connection).await;
    End::Over
}
