//! A client of HTTP/2 in clear text: all requests on one connection.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use h2::client::SendRequest;
use h2::{RecvStream, SendStream};
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{Request, Response, Uri};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use crate::transport::Transport;

/// How long a response may take before the test fails instead of hanging.
const PATIENCE: Duration = Duration::from_secs(60);

/// A connection to a server with HTTP/2 by prior knowledge.
#[derive(Debug)]
pub struct Http2 {
    runtime: Runtime,
    requests: SendRequest<Bytes>,
}

impl Http2 {
    /// Connects.
    ///
    /// # Errors
    ///
    /// When the server does not run or does not speak HTTP/2.
    pub fn connect(address: SocketAddr) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let requests = runtime.block_on(async {
            let socket = TcpStream::connect(address).await?;
            socket.set_nodelay(true)?;
            let (requests, connection) = h2::client::handshake(socket).await.map_err(failed)?;
            // The task ends with the runtime; its failure is a failure of the requests on it.
            tokio::spawn(async { drop(connection.await) });
            Ok::<_, io::Error>(requests)
        })?;
        Ok(Self { runtime, requests })
    }

    async fn exchange(&self, request: Request<Bytes>) -> io::Result<Response<Bytes>> {
        let (mut head, body) = request.into_parts();
        let mut uri = head.uri.into_parts();
        uri.scheme = Some(Scheme::HTTP);
        uri.authority = Some(Authority::from_static("localhost"));
        uri.path_and_query = uri
            .path_and_query
            .or_else(|| Some(PathAndQuery::from_static("/")));
        head.uri = Uri::from_parts(uri).map_err(io::Error::other)?;
        let mut requests = self.requests.clone().ready().await.map_err(failed)?;
        let (answer, stream) = requests
            .send_request(Request::from_parts(head, ()), body.is_empty())
            .map_err(failed)?;
        if !body.is_empty() {
            // A server that refuses a body before it has read it all resets the stream; its response arrives
            // nevertheless.
            drop(send(stream, body).await);
        }
        let (head, body) = answer.await.map_err(failed)?.into_parts();
        let body = receive(body).await?;
        Ok(Response::from_parts(head, body))
    }
}

impl Transport for Http2 {
    fn send(&self, request: Request<Bytes>) -> Response<Bytes> {
        let exchange = async { timeout(PATIENCE, self.exchange(request)).await };
        let answer = self.runtime.block_on(exchange).expect("an answer in time");
        answer.expect("an answer from the server")
    }
}

/// Sends a body as far as the peer's windows allow.
async fn send(mut stream: SendStream<Bytes>, mut body: Bytes) -> io::Result<()> {
    while !body.is_empty() {
        stream.reserve_capacity(body.len());
        let capacity = std::future::poll_fn(|cx| stream.poll_capacity(cx)).await;
        let capacity = capacity.ok_or(io::ErrorKind::BrokenPipe)?.map_err(failed)?;
        let piece = body.split_to(capacity.min(body.len()));
        stream.send_data(piece, body.is_empty()).map_err(failed)?;
    }
    Ok(())
}

async fn receive(mut body: RecvStream) -> io::Result<Bytes> {
    let mut whole = BytesMut::new();
    while let Some(piece) = body.data().await {
        let piece = piece.map_err(failed)?;
        whole.extend_from_slice(&piece);
        body.flow_control()
            .release_capacity(piece.len())
            .map_err(failed)?;
    }
    Ok(whole.freeze())
}

fn failed(error: h2::Error) -> io::Error {
    io::Error::other(error)
}
