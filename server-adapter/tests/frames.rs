//! HTTP/2 of misbehaving clients: hand-made frames over a raw socket.
#![cfg(feature = "http2")]

use std::time::{Duration, SystemTime};

use crate::client::Client;
use deskfleet::Engine;
use deskfleet_server::{RunningServer, ServerOptions, spawn};

const PREFACE: &str = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const SHORT: Duration = Duration::from_millis(80);

fn server(options: ServerOptions) -> RunningServer {
    let engine = Engine::builder()
        .clock(SystemTime::now)
        .seed(1)
        .open_in_memory()
        .unwrap();
    spawn(engine, options).unwrap()
}

/// One frame: type, flags, stream, payload.
fn frame(kind: u8, flags: u8, stream: u32, bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).unwrap().to_be_bytes();
    let head = [length[1], length[2], length[3], kind, flags];
    [&head[..], &stream.to_be_bytes(), bytes].concat()
}

#[test]
fn unfinished_http2_preface_closes_the_connection() {
    let options = ServerOptions {
        head_timeout: SHORT,
        ..Default::default()
    };
    let server = server(options);
    for bytes in [1, 10, PREFACE.len() - 1] {
        let mut client = Client::connect(server.addr());
        client.send(PREFACE.split_at(bytes).0);
        assert!(client.is_closed(), "{bytes}");
    }
}

#[test]
fn http2_connection_without_requests_is_closed() {
    let options = ServerOptions {
        idle_timeout: SHORT,
        ..Default::default()
    };
    let server = server(options);
    // One connection that sends nothing, one that sends a partial preface.
    assert!(Client::connect(server.addr()).is_closed());
    let mut silent = Client::connect(server.addr());
    silent.send(PREFACE);
    silent.send(frame(4, 0, 0, b""));
    silent.read_to_end();
}

#[test]
fn http2_connection_that_resets_many_streams_is_closed() {
    let server = server(ServerOptions::default());
    let mut client = Client::connect(server.addr());
    let mut bytes = PREFACE.as_bytes().to_vec();
    bytes.extend(frame(4, 0, 0, b""));
    for stream in (1..2_000).step_by(2) {
        // GET http://localhost/ with its complete head, and its end.
        bytes.extend(frame(1, 0b101, stream, b"\x82\x86\x84\x41\x09localhost"));
        bytes.extend(frame(3, 0, stream, &8_u32.to_be_bytes()));
    }
    client.send(bytes);
    let message = client.read_to_end();
    // GOAWAY for ENHANCE_YOUR_CALM.
    let goaway = message
        .windows(17)
        .any(|frame| frame[3] == 7 && frame[13..17] == [0, 0, 0, 11]);
    assert!(goaway, "{message:?}");
    assert_eq!(
        Client::connect(server.addr())
            .ask("GET", "/livez", "")
            .status,
        200
    );
}
