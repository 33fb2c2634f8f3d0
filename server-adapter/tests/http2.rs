//! HTTP/2 in clear text: many requests at once on one connection, within the bounds of any connection.
#![cfg(feature = "http2")]

use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::time::{Duration, Instant, SystemTime};

use crate::client::Client;
use bytes::Bytes;
use deskfleet::{Config, Engine};
use deskfleet_server::{RunningServer, ServerOptions, spawn};
use h2::Reason;
use h2::client::{Builder, ResponseFuture, SendRequest};
use http::{Method, Request, Response, Version};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

const RECORD: &[u8] = br#"{"instanceId":"ws-1","username":"jdoe"}"#;
const SHORT: Duration = Duration::from_millis(80);

fn engine(config: Config) -> Engine {
    Engine::builder()
        .clock(SystemTime::now)
        .seed(1)
        .config(config)
        .open_in_memory()
        .unwrap()
}

fn server(options: ServerOptions) -> RunningServer {
    spawn(engine(Config::default()), options).unwrap()
}

/// Runs a test on a runtime of its own; fails instead of hanging.
fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime
        .block_on(async { tokio::time::timeout(Duration::from_secs(20), test).await })
        .unwrap();
}

/// A connection: its request sender, and its end.
struct Connection {
    requests: SendRequest<Bytes>,
    end: JoinHandle<Result<(), h2::Error>>,
}

async fn connect(address: SocketAddr) -> Connection {
    connect_with(address, &Builder::new()).await
}

async fn connect_with(address: SocketAddr, builder: &Builder) -> Connection {
    let socket = TcpStream::connect(address).await.unwrap();
    socket.set_nodelay(true).unwrap();
    let (requests, connection) = builder.handshake(socket).await.unwrap();
    let end = tokio::spawn(connection);
    let requests = requests.ready().await.unwrap();
    Connection { requests, end }
}

fn request(method: Method, path: &str) -> Request<()> {
    Request::builder()
        .method(method)
        .uri(format!("http://localhost{path}"))
        .version(Version::HTTP_2)
        .header("content-type", "application/json")
        .body(())
        .unwrap()
}

impl Connection {
    fn get(&mut self, path: &str) -> ResponseFuture {
        let request = request(Method::GET, path);
        self.requests.send_request(request, true).unwrap().0
    }

    /// A request whose body is not sent yet.
    fn begin(&mut self, path: &str) -> (ResponseFuture, h2::SendStream<Bytes>) {
        let request = request(Method::POST, path);
        self.requests.send_request(request, false).unwrap()
    }

    fn post(&mut self, path: &str, body: &[u8]) -> ResponseFuture {
        let (answer, mut stream) = self.begin(path);
        stream
            .send_data(Bytes::copy_from_slice(body), true)
            .unwrap();
        answer
    }
}

async fn text(answer: Response<h2::RecvStream>) -> String {
    let mut body = answer.into_body();
    let mut whole = Vec::new();
    while let Some(piece) = body.data().await {
        let piece = piece.unwrap();
        body.flow_control().release_capacity(piece.len()).unwrap();
        whole.extend_from_slice(&piece);
    }
    String::from_utf8(whole).unwrap()
}

#[test]
fn http1_and_http2_are_served_at_one_address() {
    let server = server(ServerOptions::default());
    run(async {
        let mut connection = connect(server.addr()).await;
        let answer = connection.get("/livez").await.unwrap();
        assert_eq!(
            (answer.status().as_u16(), answer.version()),
            (200, Version::HTTP_2)
        );
        assert!(answer.headers().get("connection").is_none());
        assert!(answer.headers().get("date").is_some());
        assert_eq!(text(answer).await, "ok\n");
    });
    assert_eq!(
        Client::connect(server.addr()).ask("GET", "/livez", "").body,
        "ok\n"
    );
    // Begins like the preface, and differs.
    let mut client = Client::connect(server.addr());
    for byte in "PRI /livez HTTP/1.1\r\nhost: localhost\r\n\r\n".bytes() {
        client.send([byte]);
    }
    assert_eq!(client.answer_to("GET").status, 405);
}

#[test]
fn concurrent_http2_posts_are_all_stored() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fleet.redb");
    let open = || {
        Engine::builder()
            .clock(SystemTime::now)
            .seed(1)
            .open(&file)
            .unwrap()
    };
    let engine = open();
    let server = spawn(engine.clone(), ServerOptions::default()).unwrap();
    run(async {
        let mut connection = connect(server.addr()).await;
        let answers: Vec<_> = (0..32)
            .map(|_| connection.post("/api/Stats/Post", RECORD))
            .collect();
        for answer in answers {
            let answer = answer.await.unwrap();
            assert_eq!(answer.status(), 200);
            assert_eq!(text(answer).await, "");
        }
        let count = connection.get("/api/Stats/queue/count").await.unwrap();
        assert_eq!(text(count).await, "32");
    });
    assert_eq!(server.stop().unwrap().cut_off, 0);
    engine.close().unwrap();
    drop(engine);
    assert_eq!(open().queue_count(), 32);
}

#[test]
fn http2_heads_and_bodies_have_the_limits_of_http1() {
    let server = server(ServerOptions::default());
    run(async {
        let mut connection = connect(server.addr()).await;
        for (bytes, status) in [(65_536, 200), (65_537, 413), (1_000_000, 413)] {
            let mut body = RECORD.to_vec();
            body.resize(bytes, b' ');
            let (answer, mut stream) = connection.begin("/api/Stats/PostActivity");
            stream.send_data(body.into(), true).unwrap();
            assert_eq!(answer.await.unwrap().status(), status, "{bytes}");
        }
        let long = "x".repeat(9_000);
        let answer = connection
            .get(&format!("/api/Stats/Test?{long}"))
            .await
            .unwrap();
        assert_eq!(answer.status(), 414);
        assert!(text(answer).await.contains("UriTooLong"));
        let mut many = request(Method::GET, "/api/Stats/Test");
        for field in 0..100 {
            let name: http::HeaderName = format!("x-{field}").parse().unwrap();
            many.headers_mut().insert(name, "1".parse().unwrap());
        }
        let answer = connection
            .requests
            .send_request(many, true)
            .unwrap()
            .0
            .await
            .unwrap();
        assert_eq!(answer.status(), 431);
        assert!(text(answer).await.contains("HeadersTooLarge"));
        // The connection stays usable.
        assert_eq!(connection.get("/livez").await.unwrap().status(), 200);
    });
}

/// Clients such as curl and httpx lose the response where their stream is reset while they send.
#[test]
fn stream_is_not_reset_while_the_client_sends_a_body_that_was_refused() {
    let server = server(ServerOptions::default());
    run(async {
        let mut connection = connect(server.addr()).await;
        for (method, path, status) in [
            (Method::POST, "/api/Stats/Post", 413),
            (Method::PUT, "/operator/workspaces/ws-1", 401),
            (Method::POST, "/operator/telemetry", 401),
            (Method::POST, "/operator/backups", 413),
            (Method::POST, "/nowhere", 404),
            (Method::GET, "/livez", 200),
        ] {
            let asked = request(method, path);
            let sent = connection.requests.send_request(asked, false).unwrap();
            let (response, mut body) = sent;
            let sending = async {
                for _ in 0..200 {
                    body.reserve_capacity(16 * 1024);
                    while body.capacity() == 0 {
                        let granted = poll_fn(|context| body.poll_capacity(context)).await;
                        granted
                            .unwrap_or_else(|| panic!("{path}: the stream is reset"))
                            .unwrap();
                    }
                    let piece = Bytes::from(vec![b' '; body.capacity().min(16 * 1024)]);
                    body.send_data(piece, false).unwrap();
                }
                body.send_data(Bytes::new(), true).unwrap();
            };
            let (response, ()) = tokio::join!(response, sending);
            assert_eq!(response.unwrap().status(), status, "{path}");
        }
    });
}

#[test]
fn slow_http2_body_is_refused_and_its_connection_stays() {
    let options = ServerOptions {
        body_timeout: SHORT,
        ..Default::default()
    };
    let server = server(options);
    run(async {
        let mut connection = connect(server.addr()).await;
        let (slow, _stream) = connection.begin("/api/Stats/Post");
        let quick = connection.post("/api/Stats/Post", RECORD);
        assert_eq!(quick.await.unwrap().status(), 200);
        assert_eq!(slow.await.unwrap().status(), 408);
        assert_eq!(connection.get("/livez").await.unwrap().status(), 200);
    });
}

#[test]
fn idle_http2_connection_gets_goaway_and_is_closed() {
    let options = ServerOptions {
        idle_timeout: SHORT,
        ..Default::default()
    };
    let server = server(options);
    run(async {
        let mut connection = connect(server.addr()).await;
        for _ in 0..4 {
            assert_eq!(connection.get("/livez").await.unwrap().status(), 200);
            tokio::time::sleep(SHORT / 2).await;
        }
        let asked = Instant::now();
        drop(connection.requests);
        // A close without an error: GOAWAY came first.
        connection.end.await.unwrap().unwrap();
        assert!(asked.elapsed() < Duration::from_secs(2));
    });
}

#[test]
fn unread_response_ends_the_connection() {
    let options = ServerOptions {
        write_timeout: SHORT,
        ..Default::default()
    };
    let server = server(options);
    run(async {
        let mut builder = Builder::new();
        builder.initial_window_size(100);
        let mut connection = connect_with(server.addr(), &builder).await;
        let answer = connection.get("/metrics").await.unwrap();
        // The body is held and not read; other requests do not keep the connection alive.
        while !connection.end.is_finished() {
            if let Ok(requests) = connection.requests.clone().ready().await {
                connection.requests = requests;
                let _ = connection.get("/api/Stats/Test").await;
            }
        }
        drop(answer);
    });
}

#[test]
fn http2_requests_above_the_bound_of_the_server_return_503() {
    let options = ServerOptions {
        connections_max: 1,
        ..Default::default()
    };
    let server = server(options);
    run(async {
        let mut connection = connect(server.addr()).await;
        let mut begun: Vec<_> = (0..8)
            .map(|_| connection.begin("/api/Stats/Post"))
            .collect();
        let refused = connection.get("/api/Stats/Test").await.unwrap();
        assert_eq!(refused.status(), 503);
        assert_eq!(connection.get("/livez").await.unwrap().status(), 200);
        let (answer, mut stream) = begun.pop().unwrap();
        stream.send_data(Bytes::from_static(RECORD), true).unwrap();
        assert_eq!(answer.await.unwrap().status(), 200);
        let metrics = connection.get("/metrics").await.unwrap();
        let counted = "{operation=\"testStats\",status=\"503\"} 1\n";
        assert!(text(metrics).await.contains(counted));
    });
}

#[test]
fn shutdown_completes_http2_streams_in_flight() {
    let server = server(ServerOptions::default());
    let address = server.addr();
    run(async {
        let mut connection = connect(address).await;
        let begun: Vec<_> = (0..8)
            .map(|_| connection.begin("/api/Stats/Post"))
            .collect();
        // The server has seen them all once this has its response.
        assert_eq!(connection.get("/livez").await.unwrap().status(), 200);
        let stopping = tokio::task::spawn_blocking(move || server.stop());
        while TcpStream::connect(address).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        for (answer, mut stream) in begun {
            stream.send_data(Bytes::from_static(RECORD), true).unwrap();
            assert_eq!(answer.await.unwrap().status(), 200);
        }
        drop(connection.requests);
        connection.end.await.unwrap().unwrap();
        assert_eq!(stopping.await.unwrap().unwrap().cut_off, 0);
    });
}

#[test]
fn shutdown_with_a_stuck_client_ends_in_time() {
    let options = ServerOptions {
        drain_timeout: SHORT,
        ..Default::default()
    };
    let server = server(options);
    run(async {
        let mut connection = connect(server.addr()).await;
        let (answer, _stream) = connection.begin("/api/Stats/Post");
        assert_eq!(connection.get("/livez").await.unwrap().status(), 200);
        let stopped = tokio::task::spawn_blocking(move || server.stop()).await;
        assert_eq!(stopped.unwrap().unwrap().cut_off, 1);
        assert!(answer.await.is_err());
    });
}

/// The budget holds one body of 64 KiB. If a share were not returned, the next body would not be read.
#[test]
fn http2_stream_reset_in_its_body_returns_its_budget() {
    let mut config = Config::default();
    config.limits.record_body_bytes = 64 * 1024;
    config.limits.processes_body_bytes = 64 * 1024;
    config.limits.batch_body_bytes = 64 * 1024;
    let options = ServerOptions {
        bodies_bytes_max: 0,
        body_timeout: Duration::from_secs(5),
        ..Default::default()
    };
    let server = spawn(engine(config), options).unwrap();
    run(async {
        let mut connection = connect(server.addr()).await;
        let began = Instant::now();
        for _ in 0..20 {
            let (answer, mut stream) = connection.begin("/api/Stats/Post");
            stream.send_data(Bytes::from_static(RECORD), false).unwrap();
            assert_eq!(connection.get("/livez").await.unwrap().status(), 200);
            stream.send_reset(Reason::CANCEL);
            drop(answer);
        }
        let mut body = RECORD.to_vec();
        body.resize(65_536, b' ');
        let answer = connection.post("/api/Stats/Post", &body).await.unwrap();
        assert_eq!(answer.status(), 200);
        assert!(began.elapsed() < Duration::from_secs(5));
    });
}

#[test]
fn http2_gzip_body_is_decoded() {
    use std::io::Write as _;
    let server = server(ServerOptions::default());
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(RECORD).unwrap();
    let body = encoder.finish().unwrap();
    run(async {
        let mut connection = connect(server.addr()).await;
        let mut request = request(Method::POST, "/api/Stats/Post");
        let coding = "gzip".parse().unwrap();
        request.headers_mut().insert("content-encoding", coding);
        let (answer, mut stream) = connection.requests.send_request(request, false).unwrap();
        stream.send_data(body.into(), true).unwrap();
        assert_eq!(answer.await.unwrap().status(), 200);
    });
}
