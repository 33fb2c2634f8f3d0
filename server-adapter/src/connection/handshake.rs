//! The begin of a connection with TLS.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use deskfleet::error_chain;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::progress::Progress;
use super::socket::{Socket, Transport};
use super::tls::Tls;
use crate::limits::sources::Source;
use crate::log::LogQueue;
use crate::options::ServerOptions;

/// The response to a client that does not speak TLS, in the only form that it can read.
const PLAIN: &[u8] = b"HTTP/1.1 400 Bad Request\r\n\
    content-type: text/plain; charset=utf-8\r\n\
    content-length: 49\r\n\
    connection: close\r\n\r\n\
    This port speaks TLS: use https:// and not http.\n";

/// A connection without a handshake, and why.
enum Failed {
    /// The client left, or exceeded its time.
    Gone,
    /// It sent HTTP in clear text.
    Plain(TcpStream),
    /// A failure of TLS. The client has received an alert.
    Tls(TcpStream, io::Error),
}

/// Completes the handshake within `head_timeout`. `None` if there is nothing to serve.
pub(crate) async fn accept(
    tls: &Tls,
    socket: TcpStream,
    progress: &Arc<Progress>,
    options: &ServerOptions,
) -> Option<Transport> {
    let done = handshake(tls, socket, &progress.source, options.head_timeout);
    let (socket, response) = match done.await {
        Ok(stream) => {
            progress.moved(Instant::now(), 0);
            return Some(Transport::Tls(Box::new(stream)));
        }
        Err(Failed::Gone) => return None,
        Err(Failed::Plain(socket)) => (socket, PLAIN),
        Err(Failed::Tls(socket, error)) => {
            let (peer, why) = (progress.peer.to_canonical(), error_chain(&error));
            LogQueue::stderr().line_about(
                "handshakes",
                &format!("deskfleet: no TLS with {peer}: {why}"),
            );
            (socket, &[][..])
        }
    };
    // The connection is closed like one with unread input: a reset would take the response from the client.
    progress.cut();
    let mut socket = Socket::new(Transport::Tcp(socket), Arc::clone(progress), options);
    // The client may be gone.
    if socket.write_all(response).await.is_ok() {
        let _ = socket.shutdown().await;
    }
    None
}

/// The client has `time_max` for its own bytes, however long it waits for a place meanwhile.
async fn handshake(
    tls: &Tls,
    socket: TcpStream,
    source: &Source,
    time_max: Duration,
) -> Result<TlsStream<TcpStream>, Failed> {
    let began = Instant::now();
    let mut first = [0];
    match timeout(time_max, socket.peek(&mut first)).await {
        Ok(Ok(1..)) if first.iter().all(u8::is_ascii_uppercase) => {
            return Err(Failed::Plain(socket));
        }
        Ok(Ok(1..)) => {}
        Ok(Ok(0) | Err(_)) | Err(_) => return Err(Failed::Gone),
    }
    let time_left = time_max.saturating_sub(began.elapsed());
    // Each handshake has buffers, and none has a place yet.
    let _place = source.begin_handshake().await;
    let accepting = TlsAcceptor::from(tls.config()).accept(socket);
    tokio::select! {
        biased;
        accepted = timeout(time_left, accepting.into_fallible()) => {
            let accepted = accepted.map_err(|_| Failed::Gone)?;
            accepted.map_err(|(error, socket)| Failed::Tls(socket, error))
        }
        () = source.needs_handshake_place() => Err(Failed::Gone),
    }
}
