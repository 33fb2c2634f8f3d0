//! Pages of other origins: only those of named ones may read responses.

use std::time::SystemTime;

use crate::client::{Answer, Client};
use deskfleet::{Engine, NewKey, Scope};
use deskfleet_server::{RunningServer, ServerOptions, spawn};

const LIST: &str = "/api/Information/GetAllWorkSpaces";
const NAMED: &str = "https://console.example.com";
const OTHER: &str = "https://console.example.com.evil.example";

fn options(origins: &[&str]) -> ServerOptions {
    ServerOptions {
        cors_origins: origins.iter().map(|origin| (*origin).to_owned()).collect(),
        ..Default::default()
    }
}

fn engine() -> Engine {
    let builder = Engine::builder().clock(SystemTime::now).seed(1);
    builder.open_in_memory().unwrap()
}

fn server(origins: &[&str]) -> (RunningServer, String) {
    let engine = engine();
    let new = NewKey::new("console", [Scope::Read]);
    let key = engine.issue_key(new).unwrap().secret;
    (spawn(engine, options(origins)).unwrap(), key)
}

fn preflight(client: &mut Client, target: &str, origin: &str) -> Answer {
    let headers = format!(
        "origin: {origin}\r\naccess-control-request-method: GET\r\n\
         access-control-request-headers: x-api-key\r\n"
    );
    client.ask("OPTIONS", target, &headers)
}

#[test]
fn named_origin_reads_responses_and_refusals() {
    let (server, key) = server(&["http://localhost:5173", NAMED]);
    let mut client = Client::connect(server.addr());
    let origin = format!("origin: {NAMED}\r\n");
    let with_key = format!("{origin}x-api-key: {key}\r\n");
    for (method, target, headers, status) in [
        ("GET", LIST, &with_key, 200),
        ("HEAD", LIST, &with_key, 200),
        ("GET", LIST, &origin, 401),
        ("GET", "/operator/keys", &with_key, 403),
        ("GET", "/nowhere", &origin, 404),
        ("GET", "/livez", &origin, 200),
        // Not a preflight, which names a method.
        ("OPTIONS", LIST, &origin, 405),
    ] {
        let answer = client.ask(method, target, headers);
        assert_eq!(answer.status, status, "{target}");
        assert_eq!(
            answer.header("access-control-allow-origin"),
            Some(NAMED),
            "{target}"
        );
        assert!(answer.header("vary").unwrap().contains("origin"));
        let exposed = answer.header("access-control-expose-headers").unwrap();
        assert!(exposed.contains("retry-after"), "{exposed}");
        assert!(!answer.head.contains("credentials"), "{answer:?}");
    }
}

#[test]
fn preflight_of_a_named_origin_is_allowed_on_every_path() {
    let (server, _) = server(&[NAMED]);
    let mut client = Client::connect(server.addr());
    for target in [
        LIST,
        "/operator/workspaces/ws-1/hold",
        "/metrics",
        "/nowhere",
    ] {
        let answer = preflight(&mut client, target, NAMED);
        assert_eq!((answer.status, answer.body.as_str()), (204, ""), "{target}");
        for (name, value) in [
            ("access-control-allow-origin", NAMED),
            (
                "access-control-allow-methods",
                "get, head, post, put, delete",
            ),
            (
                "access-control-allow-headers",
                "authorization, content-encoding, content-type, last-event-id, traceparent, x-api-key, x-deskfleet-log, x-deskfleet-position",
            ),
            ("access-control-max-age", "7200"),
            ("vary", "origin"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{target}");
        }
        assert!(!answer.head.contains("credentials"), "{answer:?}");
    }
    let metrics = client.ask("GET", "/metrics", "").body;
    let counted = "deskfleet_requests_total{operation=\"preflight\",status=\"204\"} 4\n";
    assert!(metrics.contains(counted), "{metrics}");
}

#[test]
fn other_origins_get_no_cors_header() {
    let (server, key) = server(&[NAMED]);
    let mut client = Client::connect(server.addr());
    for origin in [
        OTHER,
        "null",
        "http://console.example.com",
        "https://console.example.com:8443",
        "https://CONSOLE.example.com",
        "",
    ] {
        let headers = format!("origin: {origin}\r\nx-api-key: {key}\r\n");
        let answer = client.ask("GET", LIST, &headers);
        assert_eq!(answer.status, 200, "the key counts, not the page");
        assert!(!answer.head.contains("access-control-"), "{answer:?}");
        assert_eq!(answer.header("vary"), Some("origin"), "{answer:?}");
        let answer = preflight(&mut client, LIST, origin);
        assert_eq!(answer.status, 405, "{origin}");
        assert!(!answer.head.contains("access-control-"), "{answer:?}");
    }
}

#[test]
fn named_origin_does_not_open_the_hosts() {
    let (server, _) = server(&[NAMED]);
    let mut client = Client::connect(server.addr());
    client.send(format!(
        "OPTIONS {LIST} HTTP/1.1\r\nhost: evil.example\r\norigin: {NAMED}\r\n\
         access-control-request-method: GET\r\n\r\n"
    ));
    assert_eq!(client.answer_to("OPTIONS").status, 421);
}

#[test]
fn server_with_a_text_that_is_no_origin_does_not_start() {
    for origin in ["*", "console.example.com", "https://console.example.com/"] {
        let error = spawn(engine(), options(&[origin])).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
        let message = error.to_string();
        assert!(
            message.contains(origin) && message.contains("https://console.example.com or"),
            "{message}"
        );
    }
}
