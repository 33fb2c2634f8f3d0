//! Connections that wait to be served: all of a burst are, `/livez` does not wait, and those that bring or take next to nothing make room.
#![cfg(target_os = "linux")] // where every address of 127.0.0.0/8 is this host

use std::net::Ipv4Addr;
use std::time::{Duration, SystemTime};

use crate::client::Client;
use deskfleet::{Engine, NewKey, Scope};
use deskfleet_server::{RunningServer, ServerOptions, spawn};

const POST: &str = "/api/Stats/PostActivity";
const RECORD: &str = r#"{"instanceId":"ws-1","username":"jdoe"}"#;

fn server_with(options: ServerOptions) -> (RunningServer, Engine) {
    let engine = Engine::builder()
        .clock(SystemTime::now)
        .seed(1)
        .open_in_memory()
        .unwrap();
    // No deadline but those of the places ends anything.
    let hour = Duration::from_secs(3600);
    let options = ServerOptions {
        head_timeout: hour,
        body_timeout: hour,
        write_timeout: hour,
        idle_timeout: hour,
        ..options
    };
    (spawn(engine.clone(), options).unwrap(), engine)
}

fn server(options: ServerOptions) -> RunningServer {
    server_with(options).0
}

fn request() -> String {
    let length = RECORD.len();
    format!(
        "POST {POST} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n\r\n{RECORD}"
    )
}

/// Posts until it is served. A request that waits for ten seconds is refused, which a busy host may do to any.
fn post_until_served(server: &RunningServer) {
    while Client::connect(server.addr()).post(POST, "", RECORD).status != 200 {}
}

/// The counter of connections that were refused for `reason`.
fn refused(server: &RunningServer, reason: &str) -> u64 {
    let text = Client::connect(server.addr())
        .ask("GET", "/metrics", "")
        .body;
    let series = format!("deskfleet_connections_refused_total{{reason=\"{reason}\"}} ");
    let value = text
        .lines()
        .find_map(|line| line.strip_prefix(series.as_str()));
    value.unwrap().parse().unwrap()
}

#[test]
fn burst_of_one_source_above_the_places_is_served() {
    let server = server(ServerOptions {
        connections_max: 256,
        connections_served: 4,
        ..ServerOptions::default()
    });
    let mut clients: Vec<_> = (0..64).map(|_| Client::connect(server.addr())).collect();
    for _ in 0..2 {
        for client in &mut clients {
            client.send(request());
        }
        for client in &mut clients {
            assert_eq!(client.answer_to("POST").status, 200);
        }
    }
    for reason in ["source_full", "server_full", "idle", "slow", "busy"] {
        assert_eq!(refused(&server, reason), 0, "{reason}");
    }
}

#[test]
fn connections_of_a_full_source_are_counted() {
    let server = server(ServerOptions {
        connections_max: 24,
        connections_per_source: Some(2),
        ..ServerOptions::default()
    });
    let attacker = Ipv4Addr::new(127, 0, 0, 2);
    let crowd: Vec<_> = (0..9)
        .map(|_| Client::connect_from(attacker, server.addr()))
        .collect();
    // Those that rest for a second make room for others.
    let counted = refused(&server, "source_full") + refused(&server, "idle");
    assert_eq!(counted, 7);
    drop(crowd);
}

#[test]
fn slow_heads_of_other_sources_lose_their_places() {
    let server = server(ServerOptions {
        connections_served: 4,
        ..ServerOptions::default()
    });
    let _slow: Vec<_> = (2..6)
        .map(|last| {
            let mut client = Client::connect_from(Ipv4Addr::new(127, 0, 0, last), server.addr());
            client.send("POST /api/Stats/Post HTTP/1.1\r\nhost: local");
            client
        })
        .collect();
    post_until_served(&server);
}

#[test]
fn slow_body_and_unread_response_of_the_same_source_lose_their_place() {
    let server = server(ServerOptions {
        connections_served: 1,
        ..ServerOptions::default()
    });
    let mut slow_body = Client::connect(server.addr());
    slow_body.send(format!(
        "POST {POST} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nexpect: 100-continue\r\n\
         content-length: 99\r\n\r\n"
    ));
    assert!(
        slow_body.head().starts_with("http/1.1 100"),
        "it has the place"
    );
    slow_body.send("{");
    post_until_served(&server);
    assert!(slow_body.is_closed());

    let mut unread = Client::connect(server.addr());
    // More than sockets buffer.
    let document = "GET /openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n";
    unread.send(document.repeat(200));
    assert!(
        unread.head().starts_with("http/1.1 200"),
        "it has the place"
    );
    post_until_served(&server);
    assert!(refused(&server, "slow") >= 2);
}

#[test]
fn livez_waits_for_no_place_and_other_requests_do() {
    let (server, engine) = server_with(ServerOptions {
        connections_served: 1,
        ..ServerOptions::default()
    });
    let issued = engine.issue_key(NewKey::new("reader", [Scope::Read]));
    let key = issued.unwrap().secret;
    let mut stream = Client::connect(server.addr());
    stream.send(format!(
        "GET /query/events HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\nx-api-key: {key}\r\n\r\n"
    ));
    assert!(
        stream.head().starts_with("http/1.1 200"),
        "it has the place"
    );
    let mut waiting = Client::connect(server.addr());
    waiting.send(request());
    for (method, target) in [
        ("GET", "/livez"),
        ("HEAD", "/livez"),
        ("GET", "/livez?x=1"),
        ("GET", "/LiveZ/"),
    ] {
        let answer = Client::connect(server.addr()).ask(method, target, "");
        assert_eq!(answer.status, 200, "{method} {target}");
        assert_eq!(answer.header("connection"), Some("close"));
    }
    assert_eq!(engine.queue_count(), 0);
    drop(stream);
    post_until_served(&server);
}

#[test]
fn rest_of_a_refused_body_is_no_request() {
    let (server, engine) = server_with(ServerOptions::default());
    let length = 1 << 30;
    for (host, status) in [("localhost", 413), ("evil.example", 421)] {
        let mut client = Client::connect(server.addr());
        client.send(format!(
            "POST {POST} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{}",
            request()
        ));
        let refused = client.answer_to("POST");
        assert_eq!(
            (refused.status, refused.header("connection")),
            (status, Some("close"))
        );
        assert!(client.is_closed());
    }
    while server_connections(&server) > 1 {
        std::thread::yield_now();
    }
    assert_eq!(engine.queue_count(), 0);
}

#[test]
fn connection_with_a_short_body_that_was_refused_serves_on_after_a_rest() {
    let server = server(ServerOptions::default());
    let mut client = Client::connect(server.addr());
    client.send(request().replace("localhost", "evil.example"));
    let refused = client.answer_to("POST");
    assert_eq!((refused.status, refused.header("connection")), (421, None));
    // Longer than it takes for a connection to be parked.
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(client.post(POST, "", RECORD).status, 200);
}

/// The connections that are open, with the one that asks.
fn server_connections(server: &RunningServer) -> u64 {
    let text = Client::connect(server.addr())
        .ask("GET", "/metrics", "")
        .body;
    let open = |line: &str| line.strip_prefix("deskfleet_connections ")?.parse().ok();
    text.lines().find_map(open).unwrap()
}

#[test]
fn refused_request_is_not_asked_for_the_body_it_announces() {
    let server = server(ServerOptions::default());
    for (host, status) in [("localhost", 401), ("evil.example", 421)] {
        let mut client = Client::connect(server.addr());
        client.send(format!(
            "POST /operator/telemetry HTTP/1.1\r\nhost: {host}\r\nexpect: 100-continue\r\ncontent-length: 7000000\r\n\r\n"
        ));
        let refused = client.answer_to("POST");
        assert_eq!(
            (refused.status, refused.header("connection")),
            (status, Some("close"))
        );
        assert!(client.is_closed());
    }
}

#[cfg(feature = "http2")]
#[test]
fn resting_http2_connection_that_makes_room_gets_goaway() {
    let server = server(ServerOptions {
        connections_served: 1,
        ..ServerOptions::default()
    });
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let address = server.addr();
    let (requests, end) = runtime.block_on(async move {
        let socket = tokio::net::TcpStream::connect(address).await.unwrap();
        let (mut requests, connection) = h2::client::handshake(socket).await.unwrap();
        let end = tokio::spawn(connection);
        let request = http::Request::get("http://localhost/livez")
            .body(())
            .unwrap();
        let (response, _) = requests.send_request(request, true).unwrap();
        assert_eq!(response.await.unwrap().status(), 200);
        (requests, end)
    });
    let posting =
        std::thread::spawn(
            move || {
                while Client::connect(address).post(POST, "", RECORD).status != 200 {}
            },
        );
    let limit = Duration::from_secs(30);
    let ended = runtime.block_on(async { tokio::time::timeout(limit, end).await });
    ended.unwrap().unwrap().unwrap();
    posting.join().unwrap();
    drop(requests);
}
