//! Clients over HTTP/1.1, each with a connection of its own.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use super::requests::Requests;
use super::{Load, Progress};

/// Connects all of them, then starts them.
pub(super) async fn start(
    address: SocketAddr,
    load: Load,
    progress: &Arc<Progress>,
) -> Vec<JoinHandle<()>> {
    let mut connected = Vec::with_capacity(load.clients);
    for client in 0..load.clients {
        let stream = TcpStream::connect(address).await.expect("a connection");
        stream.set_nodelay(true).expect("an option of the socket");
        connected.push((stream, Requests::new(client, load.clients, load.desktops)));
    }
    let start = |(stream, requests)| tokio::spawn(post(stream, requests, Arc::clone(progress)));
    connected.into_iter().map(start).collect()
}

async fn post(mut stream: TcpStream, mut requests: Requests, progress: Arc<Progress>) {
    let mut answer = Answer::default();
    while !progress.stopped() {
        let request = requests.next();
        let sent = Instant::now();
        stream.write_all(request).await.expect("it is sent");
        let accepted = loop {
            let read = stream.read(answer.room()).await.expect("an answer");
            if let Some(accepted) = answer.took(read) {
                break accepted;
            }
        };
        progress.count(accepted, sent);
    }
}

/// A response as it arrives.
#[derive(Debug)]
pub(super) struct Answer {
    bytes: [u8; 2048],
    filled: usize,
}

impl Default for Answer {
    fn default() -> Self {
        Self {
            bytes: [0; 2048],
            filled: 0,
        }
    }
}

impl Answer {
    /// Where the next bytes go.
    pub(super) fn room(&mut self) -> &mut [u8] {
        self.bytes.get_mut(self.filled..).unwrap_or_default()
    }

    /// Handles `n` received bytes; once the response is complete, returns whether its status is 200, and starts the
    /// next.
    pub(super) fn took(&mut self, read: usize) -> Option<bool> {
        assert!(read > 0, "the server ended the connection");
        self.filled += read;
        let bytes = self.bytes.get(..self.filled).unwrap_or_default();
        let accepted = bytes.starts_with(b"HTTP/1.1 200");
        // The only 200 response here has no body; of any other response the length is parsed.
        if (accepted && bytes.ends_with(b"\r\n\r\n")) || (!accepted && is_whole(bytes)) {
            self.filled = 0;
            return Some(accepted);
        }
        None
    }
}

fn is_whole(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes).to_ascii_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length:"))
        .and_then(|length| length.trim().parse().ok());
    body.len() >= length.unwrap_or(0)
}
