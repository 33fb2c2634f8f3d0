//! Responses in gzip: long reads of the fleet, to clients that accept it.

use std::fmt::Write as _;
use std::io::Read as _;
use std::time::SystemTime;

use crate::client::Client;
use deskfleet::{Engine, NewKey, Scope};
use deskfleet_server::{RunningServer, ServerOptions, spawn};
use flate2::read::GzDecoder;

const COLUMNS: &str = "/query/workspaces?format=columns&limit=5000";
/// Sent in chunks.
const EXPORT: &str = "/query/export?stream=stats&format=ndjson";
const GZIP: &str = "accept-encoding: gzip, deflate, br\r\n";

/// A server with 5000 desktops and a record of each, and the header with an admin key.
fn served() -> (RunningServer, String) {
    // Two responses to the same request are the same at the same time.
    let now = SystemTime::now();
    let builder = Engine::builder().clock(move || now).seed(1);
    let engine = builder.open_in_memory().unwrap();
    let key = engine.issue_key(NewKey::new("admin", [Scope::Admin]));
    let key = format!("x-api-key: {}\r\n", key.unwrap().secret);
    let reported = engine.now().plus_seconds(-3600);
    let server = spawn(engine, ServerOptions::default()).unwrap();
    let (mut workspaces, mut records) = (String::new(), String::new());
    for number in 0..5000 {
        writeln!(
            workspaces,
            "{{\"workSpId\":\"ws-{number}\",\"computerName\":\"DESK-{number}\",\"username\":\"user{number}\",\"state\":\"AVAILABLE\"}}"
        )
        .unwrap();
        writeln!(
            records,
            "{{\"stats\":{{\"instanceId\":\"ws-{number}\",\"username\":\"user{number}\",\"processorInUse\":12,\"updatetime\":\"{reported}\"}}}}"
        )
        .unwrap();
    }
    let mut client = Client::connect(server.addr());
    for (target, body) in [
        ("/operator/workspaces", workspaces),
        ("/operator/telemetry", records),
    ] {
        let length = body.len();
        client.send(format!(
            "POST {target} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-ndjson\r\n{key}content-length: {length}\r\n\r\n{body}"
        ));
        assert_eq!(client.answer_to("POST").status, 200);
    }
    (server, key)
}

/// The head in lower case, and the body as it is sent but for the framing of chunks.
fn sent(server: &RunningServer, method: &str, target: &str, headers: &str) -> (String, Vec<u8>) {
    let mut client = Client::connect(server.addr());
    client.send(format!(
        "{method} {target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}\r\n"
    ));
    let bytes = client.read_to_end();
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
    let (head, mut body) = bytes.split_at(end.unwrap() + 4);
    let head = str::from_utf8(head).unwrap().to_lowercase();
    if !head.contains("transfer-encoding: chunked") {
        return (head, body.to_vec());
    }
    let mut whole = Vec::new();
    loop {
        let line = body.windows(2).position(|two| two == b"\r\n").unwrap();
        let size = str::from_utf8(&body[..line]).unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        whole.extend(&body[line + 2..line + 2 + size]);
        body = &body[line + 4 + size..];
        if size == 0 {
            return (head, whole);
        }
    }
}

fn inflated(bytes: &[u8]) -> Vec<u8> {
    let mut content = Vec::new();
    GzDecoder::new(bytes).read_to_end(&mut content).unwrap();
    content
}

#[test]
fn long_read_is_sent_in_gzip_to_clients_that_accept_it() {
    let (server, key) = served();
    for (target, in_chunks) in [(COLUMNS, false), (EXPORT, true)] {
        let (plain_head, plain) = sent(&server, "GET", target, &key);
        let (head, coded) = sent(&server, "GET", target, &format!("{key}{GZIP}"));
        for head in [&plain_head, &head] {
            assert!(head.starts_with("http/1.1 200 "), "{head}");
            assert!(head.contains("vary: accept-encoding\r\n"), "{head}");
            let is_chunked = head.contains("transfer-encoding: chunked");
            assert_eq!(is_chunked, in_chunks, "{target}: {head}");
        }
        assert!(!plain_head.contains("content-encoding"), "{plain_head}");
        assert!(head.contains("content-encoding: gzip\r\n"), "{head}");
        assert!(coded.len() * 4 < plain.len(), "{target}: {}", coded.len());
        assert!(inflated(&coded) == plain, "{target}");
    }
    let refused = format!("{key}accept-encoding: gzip;q=0, br\r\n");
    let (head, _) = sent(&server, "GET", COLUMNS, &refused);
    assert!(!head.contains("content-encoding"), "{head}");
}

#[test]
fn short_response_one_with_keys_and_a_refusal_are_not_compressed() {
    let (server, key) = served();
    for (method, target, status) in [
        ("GET", "/query/workspaces?limit=1", 200),
        ("GET", "/operator/keys", 200),
        ("GET", "/operator/workspaces", 200),
        ("GET", "/query/workspaces?limit=none", 400),
        ("HEAD", COLUMNS, 200),
    ] {
        let (head, _) = sent(&server, method, target, &format!("{key}{GZIP}"));
        assert!(head.starts_with(&format!("http/1.1 {status} ")), "{head}");
        assert!(!head.contains("content-encoding"), "{target}: {head}");
    }
}
