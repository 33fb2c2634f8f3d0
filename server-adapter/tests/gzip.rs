//! Bodies in gzip: decoded within the same limits, refused with the same texts.

use std::io::Write as _;
use std::time::{Duration, SystemTime};

use crate::client::{Answer, Client};
use deskfleet::{Config, Engine, NewKey, Scope};
use deskfleet_server::{RunningServer, ServerOptions, spawn};
use flate2::Compression;
use flate2::write::GzEncoder;

const POST: &str = "/api/Stats/Post";
const RECORD: &[u8] = br#"{"instanceId":"ws-1","username":"jdoe","processorInUse":12}"#;

struct Served {
    engine: Engine,
    server: RunningServer,
}

fn served(options: ServerOptions) -> Served {
    let engine = Engine::builder()
        .clock(SystemTime::now)
        .seed(1)
        .config(Config::default())
        .open_in_memory()
        .unwrap();
    let server = spawn(engine.clone(), options).unwrap();
    Served { engine, server }
}

impl Served {
    fn client(&self) -> Client {
        Client::connect(self.server.addr())
    }

    /// The header with a new admin key.
    fn key(&self) -> String {
        let new = NewKey::new("admin", [Scope::Admin]);
        format!(
            "x-api-key: {}\r\n",
            self.engine.issue_key(new).unwrap().secret
        )
    }
}

fn zip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A record padded with spaces to `n` bytes.
fn padded(bytes: usize) -> Vec<u8> {
    let mut body = RECORD.to_vec();
    body.resize(bytes, b' ');
    body
}

#[track_caller]
fn refused(answer: &Answer, status: u16, code: &str) {
    assert_eq!(answer.status, status, "{answer:?}");
    let told = answer.json();
    assert_eq!(told.get("code"), Some(&code.into()), "{answer:?}");
}

#[test]
fn gzip_record_in_any_spelling_of_the_coding_is_stored_as_sent() {
    let served = served(ServerOptions::default());
    let mut client = served.client();
    for coding in [
        "gzip",
        "GZIP",
        "x-gzip",
        "X-Gzip",
        "identity, gzip",
        "gzip,",
    ] {
        let answer = client.post_coded(POST, "", coding, &zip(RECORD));
        assert_eq!((answer.status, answer.body.as_str()), (200, ""), "{coding}");
    }
    for coding in ["identity", "Identity"] {
        assert_eq!(client.post_coded(POST, "", coding, RECORD).status, 200);
    }
    let (first, second) = RECORD.split_at(20);
    let members = [zip(first), zip(b""), zip(second)].concat();
    assert_eq!(client.post_coded(POST, "", "gzip", &members).status, 200);

    let target = "/operator/telemetry/stats?instanceId=ws-1";
    let history = client.ask("GET", target, &served.key()).json();
    let records = history["records"].as_array().unwrap();
    assert_eq!(records.len(), 9);
    assert!(
        records
            .iter()
            .all(|record| record["processorInUse"] == 12.0)
    );
}

#[test]
fn gzip_body_without_a_length_is_decoded_as_it_arrives() {
    let served = served(ServerOptions::default());
    let mut client = served.client();
    client.send(format!(
        "POST {POST} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         content-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n"
    ));
    for byte in zip(RECORD) {
        client.send([b"1\r\n", &[byte][..], b"\r\n"].concat());
    }
    client.send("0\r\n\r\n");
    assert_eq!(client.answer_to("POST").status, 200);
}

#[test]
fn gzip_body_above_the_limit_when_decoded_returns_413() {
    let served = served(ServerOptions::default());
    let key = served.key();
    let mut client = served.client();
    for (target, max) in [
        (POST, 64 * 1024),
        ("/api/Stats/PostProcesses", 1024 * 1024),
        ("/operator/telemetry?stream=stats", 8 * 1024 * 1024),
    ] {
        let fits = client.post_coded(target, &key, "gzip", &zip(&padded(max)));
        assert_eq!(fits.status, 200, "{target} {fits:?}");
        let more = client.post_coded(target, &key, "gzip", &zip(&padded(max + 1)));
        refused(&more, 413, "PayloadTooLarge");
        let plain = served.client().post(target, &key, &" ".repeat(max + 1));
        assert_eq!(more.json()["detail"], plain.json()["detail"]);
        // All of it was read: the connection stays open.
        assert_eq!(client.ask("GET", "/livez", "").status, 200);
    }
    // The key is checked before the size.
    let bomb = zip(&vec![b' '; 50_000_000]);
    refused(
        &client.post_coded("/operator/keys", "", "gzip", &bomb),
        401,
        "InvalidApiKey",
    );
    refused(
        &served
            .client()
            .post_coded("/operator/telemetry", &key, "gzip", &bomb),
        413,
        "PayloadTooLarge",
    );
}

#[test]
fn damaged_gzip_is_refused_with_its_reason() {
    let served = served(ServerOptions::default());
    let key = served.key();
    for (target, content) in [
        (POST, RECORD),
        ("/operator/telemetry", RECORD),
        ("/operator/workspaces", br#"[{"workSpId":"ws-1"}]"#),
    ] {
        let good = zip(content);
        let mut damaged = good.clone();
        let last = damaged.len() - 1;
        damaged[last] ^= 1;
        for (body, word) in [
            (content, "not gzip"),
            (&good[..good.len() - 1], "ends before its end"),
            (&good[..7], "ends before its end"),
            (&damaged, "damaged"),
            (&[&good[..], b"\0"].concat(), "something else"),
        ] {
            let answer = served.client().post_coded(target, &key, "gzip", body);
            refused(&answer, 400, "InvalidBody");
            let detail = answer.json()["detail"].as_str().unwrap().to_owned();
            assert!(detail.contains(word), "{detail}");
        }
    }
    let mut client = served.client();
    // The checks before the body still apply, and a refusal leaves the connection as it was.
    refused(
        &client.post_coded("/operator/keys", "", "gzip", RECORD),
        401,
        "InvalidApiKey",
    );
    refused(
        &client.post_coded(POST, "", "gzip", RECORD),
        400,
        "InvalidBody",
    );
    assert_eq!(
        client.post_coded(POST, "", "gzip", &zip(RECORD)).status,
        200
    );
    assert_eq!(served.engine.queue_count(), 1);
}

#[test]
fn unsupported_content_coding_returns_415_with_accept_encoding() {
    let served = served(ServerOptions::default());
    let mut client = served.client();
    for coding in ["br", "deflate", "zstd", "gzip, gzip", "gzip, br"] {
        let answer = client.post_coded(POST, "", coding, &zip(RECORD));
        refused(&answer, 415, "UnsupportedMediaType");
        assert_eq!(answer.header("accept-encoding"), Some("gzip, identity"));
    }
    let typed = client.post(POST, "content-type: text/plain\r\n", "{}");
    assert_eq!((typed.status, typed.header("accept-encoding")), (415, None));
}

/// The budget holds one largest body at a time. If a share were not returned, the next request would wait for ever.
#[test]
fn body_budget_after_every_outcome_is_whole() {
    let options = ServerOptions {
        bodies_bytes_max: 0,
        body_timeout: Duration::from_millis(1500),
        ..Default::default()
    };
    let served = served(options);
    let key = served.key();
    let bomb = zip(&vec![b' '; 20_000_000]);
    for _ in 0..3 {
        let mut client = served.client();
        let answer = client.post_coded("/operator/telemetry", &key, "gzip", &bomb);
        assert_eq!(answer.status, 413);
        let answer = served
            .client()
            .post_coded("/operator/telemetry", &key, "gzip", RECORD);
        assert_eq!(answer.status, 400);
        client = served.client();
        client.send("POST /operator/telemetry HTTP/1.1\r\nhost: localhost\r\ncontent-encoding: gzip\r\ncontent-length: 900\r\n\r\n");
        assert_eq!(client.answer_to("POST").status, 408);
        let answer = served.client().post_coded(
            "/operator/telemetry?stream=stats",
            &key,
            "gzip",
            &zip(&padded(8 * 1024 * 1024)),
        );
        assert_eq!(answer.status, 200);
    }
}
