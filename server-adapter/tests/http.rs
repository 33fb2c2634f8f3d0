//! The server over a real socket: bounds, pages, logs, shutdown.

use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use crate::client::Client;
use deskfleet::{Config, Engine, NewKey, Scope};
use deskfleet_server::{LogFormat, Metrics, RunningServer, Server, ServerOptions, spawn};

const RECORD: &str = r#"{"instanceId":"ws-1","username":"jdoe"}"#;

fn engine() -> Engine {
    engine_with(Config::default(), Metrics::default())
}

fn engine_with(config: Config, metrics: Metrics) -> Engine {
    Engine::builder()
        .clock(SystemTime::now)
        .seed(1)
        .config(config)
        .observer(metrics)
        .open_in_memory()
        .unwrap()
}

fn server() -> RunningServer {
    spawn(engine(), ServerOptions::default()).unwrap()
}

fn key(engine: &Engine) -> String {
    let new = NewKey::new("admin", [Scope::Admin]);
    engine.issue_key(new).unwrap().secret
}

#[test]
fn keep_alive_connection_serves_many_requests() {
    let server = server();
    let mut client = Client::connect(server.addr());
    for _ in 0..3 {
        assert_eq!(
            client.post("/api/Stats/PostActivity", "", RECORD).status,
            200
        );
        assert_eq!(client.ask("GET", "/livez", "").status, 200);
    }
    let count = client.ask("GET", "/api/Stats/queue/count", "");
    assert!(count.json().is_u64(), "{count:?}");
    let unknown = client.ask("GET", "/nowhere", "");
    assert_eq!(
        (unknown.status, &unknown.json()["code"]),
        (404, &"NotFound".into())
    );
}

#[test]
fn head_request_returns_the_length_and_no_body() {
    let server = server();
    let mut client = Client::connect(server.addr());
    for target in [
        "/livez",
        "/openapi.json",
        "/api/Stats/queue/count",
        "/nowhere",
    ] {
        let get = client.ask("GET", target, "");
        let head = client.ask("HEAD", target, "");
        assert_eq!(head.status, get.status, "{target}");
        if target != "/nowhere" {
            assert_eq!(
                head.header("content-length"),
                get.header("content-length"),
                "{target}"
            );
        }
        assert_eq!(
            head.header("content-type"),
            get.header("content-type"),
            "{target}"
        );
    }
    // If a body had followed, it would be read as the next response.
    assert_eq!(client.ask("GET", "/livez", "").body, "ok\n");
}

#[test]
fn declared_length_above_the_limit_returns_413_without_reading() {
    let server = server();
    let mut client = Client::connect(server.addr());
    client.send(
        "POST /api/Stats/Post HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         expect: 100-continue\r\ncontent-length: 65537\r\n\r\n",
    );
    // Not `100 Continue`: the body was never requested.
    let answer = client.answer_to("POST");
    assert_eq!(
        (answer.status, &answer.json()["code"]),
        (413, &"PayloadTooLarge".into())
    );
    assert!(client.is_closed());
}

#[test]
fn client_that_sends_an_oversized_body_first_reads_the_refusal() {
    let server = server();
    let mut client = Client::connect(server.addr());
    let body = "x".repeat(4 * 1024 * 1024);
    assert_eq!(client.post("/api/Stats/Post", "", &body).status, 413);
}

#[test]
fn chunked_body_above_the_limit_returns_413() {
    let server = server();
    let mut client = Client::connect(server.addr());
    let head = "POST /api/Stats/Post HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
                transfer-encoding: chunked\r\n\r\n";
    client.send(head);
    for piece in [&RECORD[..10], &RECORD[10..]] {
        client.send(format!("{:x}\r\n{piece}\r\n", piece.len()));
    }
    client.send("0\r\n\r\n");
    assert_eq!(client.answer_to("POST").status, 200);

    client.send(head);
    let piece = " ".repeat(1024);
    for _ in 0..65 {
        client.send(format!("400\r\n{piece}\r\n"));
    }
    assert_eq!(client.answer_to("POST").status, 413);
}

#[test]
fn body_of_exactly_the_limit_is_accepted() {
    let server = server();
    let mut client = Client::connect(server.addr());
    let body = format!("{}{RECORD}", " ".repeat(65_536 - RECORD.len()));
    assert_eq!(
        client.post("/api/Stats/PostActivity", "", &body).status,
        200
    );
    assert_eq!(
        client
            .post("/api/Stats/PostActivity", "", &format!("{body} "))
            .status,
        413
    );
}

#[test]
fn missing_body_returns_408_and_broken_framing_400() {
    let options = ServerOptions {
        body_timeout: Duration::from_millis(50),
        ..Default::default()
    };
    let server = spawn(engine(), options).unwrap();
    let mut client = Client::connect(server.addr());
    client.send("POST /api/Stats/Post HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\n\r\n{");
    assert_eq!(client.answer_to("POST").status, 408);

    let mut client = Client::connect(server.addr());
    client.send(
        "POST /api/Stats/Post HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    );
    assert_eq!(client.answer_to("POST").status, 400);
}

#[test]
fn heads_above_the_limits_are_refused() {
    let server = server();
    let long = "a".repeat(9_000);
    let mut client = Client::connect(server.addr());
    let answer = client.ask("GET", &format!("/api/Stats/Test?x={long}"), "");
    assert_eq!(
        (answer.status, &answer.json()["code"]),
        (414, &"UriTooLong".into())
    );
    let answer = client.ask(
        "GET",
        "/api/Stats/Test",
        &format!("a: {long}\r\nb: {long}\r\n"),
    );
    assert_eq!(
        (answer.status, &answer.json()["code"]),
        (431, &"HeadersTooLarge".into())
    );
    // Beyond the buffer there is no request to pass to the engine.
    let mut client = Client::connect(server.addr());
    client.send(format!(
        "GET / HTTP/1.1\r\nhost: localhost\r\na: {}\r\n",
        "a".repeat(70_000)
    ));
    assert_eq!(client.answer_to("GET").status, 431);
}

#[test]
fn slow_and_idle_connections_are_closed() {
    let short = Duration::from_millis(50);
    let options = ServerOptions {
        head_timeout: short,
        ..Default::default()
    };
    let server = spawn(engine(), options).unwrap();
    let mut client = Client::connect(server.addr());
    assert_eq!(client.ask("GET", "/livez", "").status, 200);
    client.send("GET /livez HTTP/1.1\r\nhost:");
    assert!(client.is_closed());

    let options = ServerOptions {
        idle_timeout: short,
        ..Default::default()
    };
    let server = spawn(engine(), options).unwrap();
    let mut client = Client::connect(server.addr());
    assert_eq!(client.ask("GET", "/livez", "").status, 200);
    assert!(client.is_closed());
}

#[test]
fn shutdown_completes_requests_in_flight() {
    let server = server();
    let address = server.addr();
    let mut client = Client::connect(address);
    let mut resting = Client::connect(address);
    assert_eq!(resting.ask("GET", "/livez", "").status, 200);
    let length = RECORD.len();
    client.send(format!(
        "POST /api/Stats/PostActivity HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         expect: 100-continue\r\ncontent-length: {length}\r\n\r\n"
    ));
    assert!(client.head().starts_with("http/1.1 100"));

    let stopping = std::thread::spawn(move || server.stop());
    assert!(resting.is_closed());
    while TcpStream::connect(address).is_ok() {
        std::thread::sleep(Duration::from_millis(1));
    }
    client.send(RECORD);
    assert_eq!(client.answer_to("POST").status, 200);
    assert!(client.is_closed());
    assert_eq!(stopping.join().unwrap().unwrap().cut_off, 0);
}

/// Two clients of a server on this socket, one that it serves and one that it has not taken, with the requests that they sent just before it
/// was stopped: the event loop does not turn between.
fn clients_of_a_stopped_server(listener: std::net::TcpListener, is_shared: bool) -> [Client; 2] {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        listener.set_nonblocking(true).unwrap();
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        let server = Server::new(listener, engine(), ServerOptions::default());
        let server = server.unwrap().shared_socket(is_shared);
        let address = server.local_addr().unwrap();
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let sending = async {
            let served = tokio::task::spawn_blocking(move || {
                let mut served = Client::connect(address);
                assert_eq!(served.ask("GET", "/livez", "").status, 200);
                served
            });
            let mut clients = [served.await.unwrap(), Client::connect(address)];
            for client in &mut clients {
                client.send("GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n");
            }
            stop.send(()).unwrap();
            clients
        };
        let running = server.run(async { drop(stopped.await) });
        let (clients, drained) = tokio::join!(sending, running);
        assert_eq!(drained.unwrap().cut_off, 0);
        clients
    })
}

fn assert_last_answer(client: &mut Client) {
    let answer = client.answer_to("GET");
    assert_eq!(
        (answer.status, answer.header("connection")),
        (200, Some("close"))
    );
    assert!(client.is_closed());
}

#[test]
fn shutdown_completes_requests_that_only_the_system_has_received() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    for client in &mut clients_of_a_stopped_server(listener, false) {
        assert_last_answer(client);
    }
}

#[test]
fn shutdown_leaves_connections_that_wait_to_the_next_process_of_a_shared_socket() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let shared = listener.try_clone().unwrap();
    let [mut served, waiting] = clients_of_a_stopped_server(listener, true);
    assert_last_answer(&mut served);
    assert!(shared.accept().is_ok());
    drop(waiting);
}

#[test]
fn shutdown_with_a_stuck_client_ends_in_time() {
    let options = ServerOptions {
        drain_timeout: Duration::from_millis(50),
        ..Default::default()
    };
    let server = spawn(engine(), options).unwrap();
    let mut client = Client::connect(server.addr());
    client.send(
        "POST /api/Stats/Post HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         expect: 100-continue\r\ncontent-length: 9\r\n\r\n",
    );
    assert!(client.head().starts_with("http/1.1 100"));
    assert_eq!(server.stop().unwrap().cut_off, 1);
    assert!(client.is_closed());
}

#[test]
fn health_pages_and_their_methods() {
    let engine = engine();
    let server = spawn(engine.clone(), ServerOptions::default()).unwrap();
    let mut client = Client::connect(server.addr());
    let ready = client.ask("GET", "/readyz", "").body;
    assert!(
        ready.starts_with("ready\nsimulated: the clock ends RebootWorkSpace, "),
        "{ready}"
    );
    assert_eq!(client.ask("GET", "/ReadyZ/?x=1", "").status, 200);
    assert_eq!(client.ask("GET", "//", "").status, 404);
    let refused = client.ask("POST", "/livez", "");
    assert_eq!(
        (refused.status, refused.header("allow")),
        (405, Some("get, head"))
    );
    assert_eq!(refused.json()["code"], "MethodNotAllowed");
    assert_eq!(
        client.ask("GET", "/openapi.json", "").json()["openapi"],
        "3.1.0"
    );

    engine.close().unwrap();
    assert_eq!(client.ask("GET", "/livez", "").status, 200);
    assert_eq!(client.ask("GET", "/readyz", "").status, 503);
}

#[test]
fn metrics_count_requests_and_hold_no_secret() {
    let metrics = Metrics::default();
    let engine = engine_with(Config::default(), metrics.clone());
    let key = key(&engine);
    let options = ServerOptions {
        metrics,
        ..Default::default()
    };
    let server = spawn(engine, options).unwrap();
    let mut client = Client::connect(server.addr());
    let target = format!("/api/Information/GetAllWorkSpaces?apiKey={key}&limit=7");
    assert_eq!(client.ask("GET", &target, "").status, 200);
    let target = format!("/operator/workspaces/ws-secret?apiKey={key}");
    assert_eq!(client.ask("GET", &target, "").status, 404);
    assert_eq!(client.ask("GET", "/nowhere/ws-secret", "").status, 404);
    assert_eq!(
        client.post("/api/Stats/PostActivity", "", RECORD).status,
        200
    );

    let answer = client.ask("GET", "/metrics", "");
    assert_eq!(
        answer.header("content-type"),
        Some("text/plain; version=0.0.4; charset=utf-8")
    );
    let text = answer.body;
    for expected in [
        "deskfleet_requests_total{operation=\"getAllWorkSpaces\",status=\"200\"} 1\n",
        "deskfleet_requests_total{operation=\"getWorkspace\",status=\"404\"} 1\n",
        "deskfleet_requests_total{operation=\"none\",status=\"404\"} 1\n",
        "deskfleet_request_duration_seconds_count{operation=\"postActivity\"} 1\n",
        "deskfleet_connections 1\n",
        "deskfleet_queue_records ",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
    assert!(!text.contains("deskfleet_commits_total 0\n"), "{text}");
    for secret in [key.as_str(), "dfk_", "apiKey", "limit", "secret"] {
        assert!(!text.contains(secret), "{secret}\n{text}");
    }
}

#[test]
fn access_log_has_no_query_and_no_key() {
    for format in [LogFormat::Text, LogFormat::Json] {
        access_log_hides_keys(format);
    }
}

fn access_log_hides_keys(log_format: LogFormat) {
    let lines: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = Arc::clone(&lines);
    let options = ServerOptions {
        access_log: Some(Arc::new(move |line: &str| {
            log.lock().unwrap().push(line.to_owned());
        })),
        log_format,
        ..Default::default()
    };
    let engine = engine();
    let key = key(&engine);
    let server = spawn(engine, options).unwrap();
    let mut client = Client::connect(server.addr());
    client.ask(
        "GET",
        &format!("/api/Information/GetAllWorkSpaces?apiKey={key}"),
        "",
    );
    client.ask(
        "GET",
        &format!("/operator/workspaces/{key}"),
        &format!("x-api-key: {key}\r\n"),
    );
    client.ask(
        "GET",
        &format!("/livez%3fapiKey={key}"),
        &format!("authorization: Bearer {key}\r\n"),
    );
    server.stop().unwrap();

    let lines = lines.lock().unwrap();
    assert_eq!(lines.len(), 3);
    let first = lines.first().unwrap();
    assert!(first.contains("getAllWorkSpaces"), "{lines:?}");
    for line in lines.iter() {
        assert!(
            !line.contains('?') && !line.contains("dfk_") && !line.contains("apiKey"),
            "{line}"
        );
    }
}
