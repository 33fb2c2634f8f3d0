//! Events over HTTP/2: each stream of them is a request like others.
#![cfg(feature = "http2")]

use std::time::Duration;

use crate::served::{Served, served};
use bytes::Bytes;
use deskfleet::Engine;
use deskfleet_server::ServerOptions;
use h2::RecvStream;
use h2::client::SendRequest;
use http::{Request, StatusCode, Version};
use tokio::net::TcpStream;

/// Streams at once on the connection.
const STREAMS: usize = 3;

async fn begin(requests: &mut SendRequest<Bytes>, target: &str, key: &str) -> RecvStream {
    let request = Request::get(format!("http://localhost{target}"))
        .version(Version::HTTP_2)
        .header("x-api-key", key)
        .header("accept", "text/event-stream")
        .body(())
        .unwrap();
    let (answer, _) = requests.send_request(request, true).unwrap();
    let answer = answer.await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    answer.into_body()
}

/// The text up to the end of an event or comment, or to the end of the body.
async fn next(events: &mut RecvStream) -> String {
    let mut text = Vec::new();
    while !text.ends_with(b"\n\n") {
        let Some(data) = events.data().await else {
            break;
        };
        text.extend_from_slice(&data.unwrap());
        let capacity = events.flow_control();
        let used = capacity.used_capacity();
        capacity.release_capacity(used).unwrap();
    }
    String::from_utf8(text).unwrap()
}

async fn follow(engine: &Engine, served: &Served) {
    let socket = TcpStream::connect(served.server.addr()).await.unwrap();
    let (mut requests, connection) = h2::client::handshake(socket).await.unwrap();
    tokio::spawn(connection);
    let mut streams = Vec::new();
    for _ in 0..STREAMS {
        streams.push(begin(&mut requests, "/query/events", &served.key).await);
    }
    for events in &mut streams {
        assert_eq!(next(events).await, ":\n\n");
    }
    let key = engine.keys().first().unwrap().id;
    engine.force_revoke_key(key).unwrap();
    for events in &mut streams {
        assert_eq!(next(events).await, "", "its key was revoked");
    }
    let livez = Request::get("http://localhost/livez").body(()).unwrap();
    let (answer, _) = requests.send_request(livez, true).unwrap();
    assert_eq!(
        answer.await.unwrap().status(),
        StatusCode::OK,
        "the connection goes on"
    );
}

#[test]
fn streams_over_one_connection_of_http2_end_by_themselves() {
    let served = served(ServerOptions::default(), |_| {});
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let test = follow(&served.engine, &served);
    let patience = Duration::from_secs(60);
    let ended = runtime.block_on(async { tokio::time::timeout(patience, test).await });
    ended.unwrap();
}
