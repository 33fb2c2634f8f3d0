//! Clients over HTTP/2: each is a stream at a time, and 32 share a connection.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use h2::client::SendRequest;
use http::{Request, StatusCode, Uri, header};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::requests::Requests;
use super::{Load, Progress, STREAMS};

/// A server that has not responded to the first request by then does not speak HTTP/2.
const FIRST_ANSWER: Duration = Duration::from_secs(5);

/// Connects all of them, then starts them; `None` when the server does not speak the protocol.
pub(super) async fn start(
    address: SocketAddr,
    load: Load,
    progress: &Arc<Progress>,
) -> Option<Vec<JoinHandle<()>>> {
    let uri = post_uri(address);
    let mut connected = Vec::with_capacity(load.clients);
    while connected.len() < load.clients {
        let mut client = connect(address).await?;
        if connected.is_empty() {
            let mut first = Requests::new(0, 1, load.desktops);
            let asked = timeout(FIRST_ANSWER, post(&mut client, &uri, first.next_body())).await;
            asked.ok()?.ok()?;
        }
        let clients = (load.clients - connected.len()).min(STREAMS);
        connected.extend(std::iter::repeat_n(client, clients));
    }
    let tasks = connected.into_iter().enumerate().map(|(index, client)| {
        let requests = Requests::new(index, load.clients, load.desktops);
        tokio::spawn(post_many(
            client,
            uri.clone(),
            requests,
            Arc::clone(progress),
        ))
    });
    Some(tasks.collect())
}

/// A connection with one stream at a time.
#[derive(Debug)]
pub struct StreamClient {
    client: SendRequest<Bytes>,
    uri: Uri,
}

impl StreamClient {
    /// Connects it; `None` when the server does not speak the protocol. Needs a tokio runtime.
    ///
    /// # Panics
    /// When it cannot connect.
    pub async fn connect(address: SocketAddr) -> Option<Self> {
        let client = connect(address).await?;
        let uri = post_uri(address);
        Some(Self { client, uri })
    }

    /// Posts a record; returns whether it was accepted.
    ///
    /// # Errors
    /// When the connection ends.
    pub async fn post(&mut self, body: &[u8]) -> Result<bool, h2::Error> {
        post(&mut self.client, &self.uri, body).await
    }
}

fn post_uri(address: SocketAddr) -> Uri {
    let uri = format!("http://{address}/api/Stats/Post");
    uri.parse().expect("a URI")
}

async fn connect(address: SocketAddr) -> Option<SendRequest<Bytes>> {
    let stream = TcpStream::connect(address).await.expect("a connection");
    stream.set_nodelay(true).expect("an option of the socket");
    let (client, connection) = h2::client::handshake(stream).await.ok()?;
    // An error of the connection is reported to its streams too.
    tokio::spawn(async { drop(connection.await) });
    Some(client)
}

async fn post_many(
    mut client: SendRequest<Bytes>,
    uri: Uri,
    mut requests: Requests,
    progress: Arc<Progress>,
) {
    while !progress.stopped() {
        let body = requests.next_body();
        let sent = Instant::now();
        let accepted = post(&mut client, &uri, body).await;
        progress.count(accepted.expect("an answer"), sent);
    }
}

async fn post(client: &mut SendRequest<Bytes>, uri: &Uri, body: &[u8]) -> Result<bool, h2::Error> {
    let mut request = Request::post(uri.clone()).body(()).expect("a request");
    let headers = request.headers_mut();
    let json = header::HeaderValue::from_static("application/json");
    headers.insert(header::CONTENT_TYPE, json);
    headers.insert(header::CONTENT_LENGTH, body.len().into());
    std::future::poll_fn(|context| client.poll_ready(context)).await?;
    let (response, mut sending) = client.send_request(request, false)?;
    sending.send_data(Bytes::copy_from_slice(body), true)?;
    let response = response.await?;
    let status = response.status();
    let mut body = response.into_body();
    while let Some(part) = body.data().await {
        body.flow_control().release_capacity(part?.len())?;
    }
    Ok(status == StatusCode::OK)
}
