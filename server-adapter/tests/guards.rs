//! Requests refused before anything else is checked: sources of bad keys, foreign hosts; and the form of the refusal.

use std::time::{Duration, SystemTime};

use crate::client::{Answer, Client};
use deskfleet::{Config, Engine, NewKey, Scope};
use deskfleet_server::{RunningServer, ServerOptions, spawn};

const LIST: &str = "/api/Information/GetAllWorkSpaces";

fn engine(config: Config) -> (Engine, String) {
    let engine = Engine::builder()
        .clock(SystemTime::now)
        .seed(1)
        .config(config)
        .open_in_memory()
        .unwrap();
    let key = engine
        .issue_key(NewKey::new("reader", [Scope::Read]))
        .unwrap();
    (engine, key.secret)
}

fn server(options: ServerOptions) -> (RunningServer, String) {
    let (engine, key) = engine(Config::default());
    (spawn(engine, options).unwrap(), key)
}

/// A listing with this key, from this source if a proxy is trusted.
fn list(client: &mut Client, key: &str, source: &str) -> Answer {
    let headers = format!("x-api-key: {key}\r\nx-forwarded-for: {source}\r\n");
    client.ask("GET", LIST, &headers)
}

#[test]
fn source_of_bad_keys_is_throttled_and_others_are_not() {
    let (server, key) = server(ServerOptions {
        proxied: true,
        bad_keys_per_minute: Some(3),
        ..Default::default()
    });
    let mut client = Client::connect(server.addr());
    // A request without a key is no guess.
    for _ in 0..10 {
        let headers = "x-forwarded-for: 192.0.2.1\r\n";
        assert_eq!(client.ask("GET", LIST, headers).status, 401);
    }
    for guess in ["dfk_a", "dfk_b", "dfk_c"] {
        assert_eq!(list(&mut client, guess, "192.0.2.1").status, 401);
    }
    let answer = list(&mut client, "dfk_d", "10.0.0.1, 192.0.2.1");
    assert_eq!(
        (answer.status, &answer.json()["code"]),
        (429, &"Throttled".into())
    );
    let seconds: u64 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=20).contains(&seconds), "{seconds}");
    let target = format!("{LIST}?%61piKey=dfk_e");
    let hidden = client.ask("GET", &target, "x-forwarded-for: 192.0.2.1\r\n");
    assert_eq!(hidden.status, 429, "however the key is carried");
    let head = client.ask(
        "HEAD",
        LIST,
        "x-api-key: dfk_f\r\nx-forwarded-for: 192.0.2.1\r\n",
    );
    assert_eq!((head.status, head.body.as_str()), (429, ""));

    // A good key passes from any source.
    assert_eq!(list(&mut client, &key, "192.0.2.1").status, 200);

    // Requests without a key, and other sources, are served.
    let agent = client.post(
        "/api/Stats/PostActivity",
        "x-forwarded-for: 192.0.2.1\r\n",
        r#"{"username":"jdoe"}"#,
    );
    assert_eq!(agent.status, 200);
    assert_eq!(
        client
            .ask("GET", "/livez", "x-forwarded-for: 192.0.2.1\r\n")
            .status,
        200
    );
    assert_eq!(list(&mut client, &key, "192.0.2.2").status, 200);
    assert_eq!(list(&mut client, &key, "192.0.2.1, 192.0.2.2").status, 200);
}

#[test]
fn source_is_the_peer_address_unless_a_proxy_is_trusted() {
    let (server, key) = server(ServerOptions {
        bad_keys_per_minute: Some(3),
        ..Default::default()
    });
    let mut client = Client::connect(server.addr());
    for source in ["192.0.2.1", "192.0.2.2", "192.0.2.3"] {
        assert_eq!(list(&mut client, "dfk_guess", source).status, 401);
    }
    let answer = list(&mut client, "dfk_guess", "192.0.2.4");
    assert_eq!(answer.status, 429, "a header does not make another source");
    assert_eq!(list(&mut client, &key, "192.0.2.4").status, 200);
}

#[test]
fn bad_ingest_keys_are_throttled_where_keys_are_required() {
    let mut config = Config::default();
    config.require_ingest_key = true;
    let (engine, _) = engine(config);
    let options = ServerOptions {
        bad_keys_per_minute: Some(2),
        ..Default::default()
    };
    let server = spawn(engine, options).unwrap();
    let mut client = Client::connect(server.addr());
    let statuses: Vec<u16> = (0..3)
        .map(|_| {
            let key = "x-api-key: dfk_guess\r\n";
            client.post("/api/Stats/PostActivity", key, "{}").status
        })
        .collect();
    assert_eq!(statuses, [401, 401, 429]);
}

#[test]
fn telemetry_without_a_key_has_a_bound_for_each_source() {
    let (server, key) = server(ServerOptions {
        proxied: true,
        keyless_bytes_per_second: Some(1),
        ..Default::default()
    });
    let mut client = Client::connect(server.addr());
    let report = r#"{"username":"jdoe"}"#;
    let mut post = |headers: &str| client.post("/api/Stats/PostActivity", headers, report);
    assert_eq!(post("x-forwarded-for: 192.0.2.1\r\n").status, 200);
    let refused = post("x-forwarded-for: 192.0.2.1\r\n");
    assert_eq!(
        (refused.status, &refused.json()["code"]),
        (429, &"Throttled".into())
    );
    let seconds: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=20).contains(&seconds), "{seconds}");
    assert_eq!(post("x-forwarded-for: 192.0.2.2\r\n").status, 200);
    let with_key = format!("x-api-key: {key}\r\nx-forwarded-for: 192.0.2.1\r\n");
    assert_eq!(post(&with_key).status, 200, "a key has no such bound");
    // What comes with a key takes nothing from those of its address that have none.
    let with_key = format!("x-api-key: {key}\r\nx-forwarded-for: 192.0.2.3\r\n");
    assert_eq!(post(&with_key).status, 200);
    assert_eq!(post("x-forwarded-for: 192.0.2.3\r\n").status, 200);
    // What brings nothing to the disk is served.
    let headers = "x-forwarded-for: 192.0.2.1\r\n";
    let count = client.ask("GET", "/api/Stats/queue/count", headers);
    assert_eq!((count.status, count.body.as_str()), (200, "5"));
}

#[test]
fn telemetry_without_a_key_counts_by_the_bytes_that_were_received() {
    let (server, _) = server(ServerOptions {
        keyless_bytes_per_second: Some(100),
        ..Default::default()
    });
    let mut client = Client::connect(server.addr());
    let mut post = || {
        // 1100 bytes in two chunks.
        let first = format!("{:1000}", r#"{"username":"jdoe""#);
        let last = format!("{:100}", "}");
        client.send(format!(
            "POST /api/Stats/PostActivity HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             transfer-encoding: chunked\r\n\r\n3e8\r\n{first}\r\n64\r\n{last}\r\n0\r\n\r\n"
        ));
        client.answer_to("POST")
    };
    assert_eq!(post().status, 200);
    let refused = post();
    assert_eq!(refused.status, 429);
    // 1100 bytes are those of 11 seconds, and four seconds are free.
    let seconds: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=7).contains(&seconds), "{seconds}");
}

#[test]
fn request_for_an_unknown_host_returns_421() {
    let (server, key) = server(ServerOptions {
        hosts: vec!["fleet.example".to_owned()],
        ..Default::default()
    });
    let mut client = Client::connect(server.addr());
    let mut ask = |host: &str, target: &str| {
        client.send(format!(
            "GET {target} HTTP/1.1\r\nhost: {host}\r\nx-api-key: {key}\r\n\r\n"
        ));
        client.answer_to("GET")
    };
    for host in [
        "fleet.example",
        "FLEET.example:8080",
        "localhost",
        "127.0.0.1",
    ] {
        assert_eq!(ask(host, LIST).status, 200, "{host}");
    }
    for target in [LIST, "/livez", "/openapi.json", "/nowhere"] {
        let refused = ask("evil.example", target);
        assert_eq!(
            (refused.status, &refused.json()["code"]),
            (421, &"MisdirectedRequest".into()),
            "{target}"
        );
    }
}

/// Refusals by the server have the form of those by the engine, and the request's trace id.
#[test]
fn refusals_by_the_server_are_problem_bodies() {
    let (server, _) = server(ServerOptions {
        body_timeout: Duration::from_millis(50),
        ..Default::default()
    });
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let head = format!(
        "POST /api/Stats/Post HTTP/1.1\r\nhost: localhost\r\ntraceparent: 00-{trace}-00f067aa0ba902b7-01\r\n"
    );
    for (rest, status, code) in [
        ("content-length: 5\r\n\r\n{", 408, "RequestTimeout"),
        (
            "transfer-encoding: chunked\r\n\r\nzz\r\n",
            400,
            "InvalidBody",
        ),
        ("host: localhost\r\n\r\n", 400, "InvalidRequest"),
    ] {
        let mut client = Client::connect(server.addr());
        client.send(format!("{head}{rest}"));
        let answer = client.answer_to("POST");
        let problem = answer.json();
        assert_eq!((answer.status, &problem["code"]), (status, &code.into()));
        assert_eq!(problem["status"], status);
        assert!(problem["traceId"].as_str().unwrap().contains(trace));
        assert!(problem["detail"].is_string());
        assert_eq!(
            answer.header("content-type"),
            Some("application/problem+json; charset=utf-8")
        );
    }
    let mut client = Client::connect(server.addr());
    client.send("HEAD /livez HTTP/1.1\r\nhost: evil.example\r\n\r\n");
    let head = client.answer_to("HEAD");
    assert_eq!(head.status, 421);
    assert_eq!(client.ask("GET", "/livez", "").body, "ok\n");
}
