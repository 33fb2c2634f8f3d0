//! HTTP/2 on the listener of HTTP/1.1: in clear text, for clients that know beforehand (RFC 9113, section 3.3).
//!
//! Requests on one connection are handled at the same time and share commits. What bounds a connection of HTTP/1.1 bounds
//! one of HTTP/2: the preface has the deadline of a head, a body has its own, a response must be read, and a connection
//! without requests is closed after its rest.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use http::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::sync::watch;
use tokio::time::sleep;

use super::http2_requests::{Http2Requests, Overdue};
use super::progress::Progress;
use super::request_turn::RequestTurn;
use super::served::CurrentConnection;
use super::socket::Socket;
use super::unless::unless;
use crate::request::respond;
use crate::state::ServerState;

/// The preface of every connection of HTTP/2.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Time without requests after which a closing connection no longer waits for the client to learn of it; also the most time of a
/// connection that makes room for another.
const FAREWELL: Duration = Duration::from_secs(2);

/// Whether the connection begins with the preface; `None` when there is nothing to serve on it.
pub(crate) async fn begins(socket: &Socket, draining: &mut watch::Receiver<bool>) -> Option<bool> {
    tokio::select! {
        biased;
        begins = socket.begins_with(PREFACE) => begins.ok(),
        _ = draining.wait_for(|draining| *draining) => None,
    }
}

/// Serves a connection that began with the preface.
pub(crate) async fn serve(
    socket: Socket,
    shared: Arc<ServerState>,
    progress: Arc<Progress>,
    mut draining: watch::Receiver<bool>,
) {
    // For as long as the connection lives: the stream's deadlines for reading are not those of HTTP/2.
    let _turn = progress.begin();
    let options = &shared.live().options;
    let requests = Arc::new(Http2Requests::new(options.write_timeout, &progress));
    let connection = CurrentConnection::new(&shared, &progress);
    let begun = Arc::clone(&requests);
    let service = service_fn(move |request: Request<Incoming>| {
        let connection = connection.get();
        let shared = &connection.shared;
        let place = shared.begin(&connection.progress, request.headers());
        let turn = begun.begin(place.within(&shared.http2_requests));
        respond(connection, RequestTurn::Http2(turn), request)
    });
    let io = TokioIo::new(socket.clone());
    let mut connection = pin!(shared.http2.serve_connection(io, service));
    let ended = {
        let served = pin!(async {
            tokio::select! {
                biased;
                _ = socket.drive(connection.as_mut()) => None,
                // Until it has a place it gets only 503 and `/livez`.
                () = sleep(FAREWELL), if progress.is_kept_for_livez() => Some(FAREWELL),
                overdue = requests.overdue(options.idle_timeout) => match overdue {
                    Overdue::Response => None,
                    Overdue::Rest => Some(Duration::MAX),
                },
            }
        });
        let stopping = async {
            tokio::select! {
                biased;
                _ = draining.wait_for(|draining| *draining) => Duration::MAX,
                () = progress.evicted() => FAREWELL,
            }
        };
        unless(served, stopping, || {
            shared.is_stopping() || progress.is_evicted()
        })
        .await
    };
    let (Ok(Some(farewell_max)) | Err(farewell_max)) = ended else {
        return;
    };
    if progress.is_cut_off() {
        return;
    }
    // Sends GOAWAY, completes the requests sent before the client received it, and closes once the client has acknowledged it.
    connection.as_mut().graceful_shutdown();
    tokio::select! {
        biased;
        _ = socket.drive(connection) => {}
        _ = requests.overdue(FAREWELL) => {}
        () = progress.evicted() => {}
        () = sleep(farewell_max) => {}
    }
}
