//! Telemetry batches that the engine reads in pieces, over both versions, plain and in gzip.
#![cfg(feature = "http2")]

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use crate::served::{Served, served};
use bytes::Bytes;
use deskfleet_server::ServerOptions;
use flate2::Compression;
use flate2::write::GzEncoder;
use h2::Reason;
use h2::client::{ResponseFuture, SendRequest};
use http::Request;

const TARGET: &str = "/operator/telemetry";

impl Served {
    /// The head of a chunked batch.
    fn head(&self, more: &str) -> String {
        let key = &self.key;
        format!(
            "POST {TARGET} HTTP/1.1\r\nhost: localhost\r\nx-api-key: {key}\r\ntransfer-encoding: chunked\r\n{more}\r\n"
        )
    }

    /// A batch over HTTP/2, its body not sent yet.
    fn begin(
        &self,
        requests: &mut SendRequest<Bytes>,
        coding: &str,
    ) -> (ResponseFuture, h2::SendStream<Bytes>) {
        let request = Request::post(format!("http://localhost{TARGET}"))
            .header("x-api-key", &self.key)
            .header("content-encoding", coding)
            .body(());
        requests.send_request(request.unwrap(), false).unwrap()
    }

    /// Sends pieces over HTTP/2; status and text of the answer.
    fn http2(&self, coding: &str, pieces: &[&[u8]]) -> (u16, String) {
        run(async {
            let mut requests = self.connect().await;
            let (answer, mut stream) = self.begin(&mut requests, coding);
            for piece in pieces {
                stream
                    .send_data(Bytes::copy_from_slice(piece), false)
                    .unwrap();
            }
            let _ = stream.send_data(Bytes::new(), true);
            let (head, mut body) = answer.await.unwrap().into_parts();
            let mut whole = Vec::new();
            while let Some(piece) = body.data().await {
                whole.extend_from_slice(&piece.unwrap());
            }
            (head.status.as_u16(), String::from_utf8(whole).unwrap())
        })
    }

    /// The same over HTTP/1.1, each piece a chunk.
    fn http1(&self, coding: &str, pieces: &[&[u8]]) -> (u16, String) {
        let mut client = self.client();
        client.send(self.head(&format!("content-encoding: {coding}\r\n")));
        for piece in pieces {
            client.send(chunk(piece));
        }
        client.send("0\r\n\r\n");
        let answer = client.answer_to("POST");
        (answer.status, answer.body)
    }

    async fn connect(&self) -> SendRequest<Bytes> {
        let socket = tokio::net::TcpStream::connect(self.server.addr())
            .await
            .unwrap();
        let (requests, connection) = h2::client::handshake(socket).await.unwrap();
        tokio::spawn(connection);
        requests.ready().await.unwrap()
    }
}

/// Runs a test on a runtime of its own; fails instead of hanging.
fn run<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime
        .block_on(async { tokio::time::timeout(Duration::from_secs(20), test).await })
        .unwrap()
}

fn chunk(piece: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat()
}

fn zip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Good, bad and empty lines, with both line ends; most are split wherever the text is cut.
fn text() -> Vec<u8> {
    let line = |n: u32| match n % 5 {
        0 => "\r\n".to_owned(),
        1 => format!("{{\"stats\":{{\"id\":\"{n}\"}}}}\n"),
        _ => format!(
            "{{\"stats\":{{\"id\":{n},\"username\":\"jdö{n}\",\"instanceId\":\"ws-1\"}}}}\r\n"
        ),
    };
    (0..2000).map(line).collect::<String>().into_bytes()
}

#[test]
fn batch_by_any_transport_gets_the_same_response() {
    let text = text();
    let zipped = zip(&text);
    let expected = {
        let served = served(ServerOptions::default(), |_| {});
        let request = Request::post(TARGET).header("x-api-key", &served.key);
        let answer = served
            .engine
            .handle(request.body(Bytes::from(text.clone())).unwrap());
        (
            answer.status().as_u16(),
            String::from_utf8(answer.body().to_vec()).unwrap(),
        )
    };
    assert!(
        expected
            .1
            .starts_with(r#"{"accepted":1200,"rejected":400,"#)
    );
    for (coding, body) in [("identity", &text), ("gzip", &zipped)] {
        for piece in [997, body.len()] {
            let pieces: Vec<_> = body.chunks(piece).collect();
            let served = served(ServerOptions::default(), |_| {});
            assert_eq!(served.http1(coding, &pieces), expected, "{coding} {piece}");
            assert_eq!(served.engine.queue_count(), 1200);
            assert_eq!(served.http2(coding, &pieces), expected, "{coding} {piece}");
            assert_eq!(served.engine.queue_count(), 2400);
        }
    }
}

#[test]
fn batch_of_a_client_that_disconnects_leaves_nothing() {
    let served = served(ServerOptions::default(), |_| {});
    let text = text();
    let zipped = zip(&text);
    for (coding, body) in [("identity", &text), ("gzip", &zipped)] {
        let half = &body[..body.len() / 2];
        let mut socket = TcpStream::connect(served.server.addr()).unwrap();
        let head = served.head(&format!("content-encoding: {coding}\r\n"));
        socket.write_all(head.as_bytes()).unwrap();
        socket.write_all(&chunk(half)).unwrap();
        socket.shutdown(Shutdown::Write).unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 400 "),
            "{answer}"
        );

        run(async {
            let mut requests = served.connect().await;
            let (answer, mut stream) = served.begin(&mut requests, coding);
            stream
                .send_data(Bytes::copy_from_slice(half), false)
                .unwrap();
            let livez = || Request::get("http://localhost/livez").body(()).unwrap();
            requests
                .send_request(livez(), true)
                .unwrap()
                .0
                .await
                .unwrap();
            stream.send_reset(Reason::CANCEL);
            drop(answer);
            requests
                .send_request(livez(), true)
                .unwrap()
                .0
                .await
                .unwrap();
        });
    }
    let counted = served.client().ask("GET", "/api/Stats/queue/count", "");
    assert_eq!(counted.body, "0");
}

#[test]
fn oversized_or_broken_batch_leaves_nothing() {
    let text = text();
    let max = text.len() - 1;
    let served = served(ServerOptions::default(), |config| {
        config.limits.batch_body_bytes = max;
    });
    let zipped = zip(&text);
    let mut damaged = zip(&text[..max]);
    let last = damaged.len() - 1;
    damaged[last] ^= 1;
    for (coding, body, status, code) in [
        ("identity", &text, 413, "PayloadTooLarge"),
        ("gzip", &zipped, 413, "PayloadTooLarge"),
        ("gzip", &damaged, 400, "InvalidBody"),
        ("br", &zipped, 415, "UnsupportedMediaType"),
    ] {
        let pieces: Vec<_> = body.chunks(5000).collect();
        for answer in [served.http1(coding, &pieces), served.http2(coding, &pieces)] {
            assert_eq!(answer.0, status, "{answer:?}");
            assert!(
                answer.1.contains(&format!("\"code\":\"{code}\"")),
                "{answer:?}"
            );
        }
        assert_eq!(served.engine.queue_count(), 0);
    }
    assert_eq!(served.http1("identity", &[&text[..max]]).0, 200);
}

/// More than the budget holds; each batch keeps some of it while it waits for more.
#[test]
fn concurrent_batches_that_fill_the_budget_all_complete() {
    let options = ServerOptions {
        bodies_bytes_max: 0,
        ..Default::default()
    };
    let served = served(options, |config| {
        config.limits.record_body_bytes = 64 * 1024;
        config.limits.processes_body_bytes = 64 * 1024;
        config.limits.batch_body_bytes = 64 * 1024;
    });
    let line = |n: usize| format!("{{\"startup\":{{\"username\":\"{n:0>900}\"}}}}\n");
    let half: String = (0..30).map(line).collect();
    let mut clients: Vec<_> = (0..8).map(|_| served.client()).collect();
    for client in &mut clients {
        client.send(served.head(""));
        client.send(chunk(half.as_bytes()));
    }
    for client in &mut clients {
        client.send(chunk(half.as_bytes()));
        client.send("0\r\n\r\n");
    }
    for client in &mut clients {
        let answer = client.answer_to("POST");
        assert_eq!(answer.json()["accepted"], 60, "{answer:?}");
    }
    assert_eq!(served.engine.queue_count(), 8 * 60);
}
