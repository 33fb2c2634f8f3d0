//! One source at full force beside a healthy client: the share of each source, and which connection is closed when
//! there is no room.
//!
//! `cargo run --release -p deskfleet-server --example abuse` measures the same attacks at full size.
#![cfg(target_os = "linux")] // where every address of 127.0.0.0/8 is this host

use std::io::Write as _;
use std::net::Ipv4Addr;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use crate::client::Client;
use deskfleet::{CommitDriver, Config, Engine, NewKey, Scope};
use deskfleet_server::{RunningServer, ServerOptions, spawn};
use flate2::Compression;
use flate2::write::GzEncoder;

const ATTACKER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
const POST: &str = "/api/Stats/PostActivity";
const RECORD: &str = r#"{"instanceId":"ws-1","username":"jdoe"}"#;

fn server_with(config: Config, options: ServerOptions) -> (RunningServer, Engine) {
    let engine = Engine::builder()
        .clock(SystemTime::now)
        .seed(1)
        .config(config)
        .open_in_memory()
        .unwrap();
    (spawn(engine.clone(), options).unwrap(), engine)
}

fn server(options: ServerOptions) -> RunningServer {
    server_with(Config::default(), options).0
}

/// A server whose posts complete once the test commits them.
#[cfg(feature = "http2")]
fn committing_by_hand(options: ServerOptions) -> (RunningServer, Engine) {
    let mut config = Config::default();
    config.commit_driver = CommitDriver::Host;
    server_with(config, options)
}

fn post_of(length: usize) -> String {
    format!(
        "POST {POST} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n\r\n"
    )
}

/// A process report of about `n` bytes, in gzip.
fn report(bytes: usize) -> Vec<u8> {
    let item = r#"{"processName":"a process with a name","processCount":1}"#;
    let items = vec![item; bytes / item.len()].join(",");
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    write!(encoder, r#"{{"instanceId":"ws-1","processes":[{items}]}}"#).unwrap();
    encoder.finish().unwrap()
}

/// Connects until the server has taken the request of one of `clients`, so that all earlier ones were taken too.
fn settle(server: &RunningServer) {
    let answer = Client::connect(server.addr()).ask("GET", "/livez", "");
    assert_eq!(answer.status, 200);
}

#[test]
fn unfinished_bodies_take_no_room_before_they_arrive() {
    let server = server(ServerOptions {
        bodies_bytes_max: 0,
        body_timeout: Duration::from_secs(300),
        ..Default::default()
    });
    let gzip = "POST /api/Stats/PostProcesses HTTP/1.1\r\nhost: localhost\r\n\
                content-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: 3000\r\n\r\n";
    let begun: [Vec<u8>; 2] = [
        [gzip.as_bytes(), &report(10_000)[..20]].concat(),
        (post_of(60_000) + "{").into_bytes(),
    ];
    // The same source as the healthy client's: unsent bytes take no room.
    let _crowd: Vec<_> = begun
        .iter()
        .cycle()
        .take(150)
        .map(|begun| {
            let mut client = Client::connect(server.addr());
            client.send(begun);
            client
        })
        .collect();
    settle(&server);
    let mut healthy = Client::connect(server.addr());
    let report = report(20_000);
    for _ in 0..20 {
        let answer = healthy.post_coded("/api/Stats/PostProcesses", "", "gzip", &report);
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(healthy.post(POST, "", RECORD).status, 200);
    }
}

/// Bytes that have arrived take room, of their own source.
#[test]
fn bodies_of_one_source_fill_its_own_part_of_the_budget() {
    let mut config = Config::default();
    config.limits.batch_body_bytes = 64 * 1024;
    config.limits.processes_body_bytes = 64 * 1024;
    let options = ServerOptions {
        bodies_bytes_max: 4 * 1024 * 1024,
        body_timeout: Duration::from_secs(300),
        ..Default::default()
    };
    let (server, _) = server_with(config, options);
    let most = "x".repeat(60_000);
    let _crowd: Vec<_> = (0..100)
        .map(|_| {
            let mut client = Client::connect_from(ATTACKER, server.addr());
            client.send(post_of(60_001) + &most);
            client
        })
        .collect();
    settle(&server);
    let mut healthy = Client::connect(server.addr());
    let report = report(60_000);
    for _ in 0..20 {
        let answer = healthy.post_coded("/api/Stats/PostProcesses", "", "gzip", &report);
        assert_eq!(answer.status, 200, "{answer:?}");
    }
}

/// What is kept of a batch is in memory until its commit, and takes room until then.
#[test]
fn batch_that_waits_for_its_commit_keeps_its_room() {
    const BODY_BYTES: usize = 256 * 1024;
    let mut config = Config::default();
    config.commit_driver = CommitDriver::Host;
    config.limits.batch_body_bytes = BODY_BYTES;
    config.limits.processes_body_bytes = BODY_BYTES;
    let (server, engine) = server_with(
        config,
        ServerOptions {
            bodies_bytes_max: 0,
            body_timeout: Duration::from_secs(1),
            maintain_every: None,
            ..Default::default()
        },
    );
    let key = engine.issue_key(NewKey::new("agents", [Scope::Admin]));
    let key = key.unwrap().secret;
    // No two texts begin alike, so the records take as much memory as their text.
    let line = |number: u64| {
        let text = format!("{:016x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let (instance, user) = (&text, text.repeat(3));
        format!("{{\"activity\":{{\"instanceId\":\"{instance}\",\"username\":\"{user}\"}}}}\n")
    };
    let batch = |first: u64| (first..first + 2000).map(line).collect::<String>();
    let key = format!("x-api-key: {key}\r\n");
    let post = &|first: u64| {
        let answer =
            Client::connect(server.addr()).post("/operator/telemetry", &key, &batch(first));
        answer.status
    };
    let statuses = thread::scope(|scope| {
        let posts: Vec<_> = (1..8)
            .map(|number| scope.spawn(move || (*post)(number * 10_000)))
            .collect();
        // None is committed, so the first that ends had no room in its time.
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(10)
            && !posts.iter().any(thread::ScopedJoinHandle::is_finished)
        {
            thread::sleep(Duration::from_millis(10));
        }
        while !posts.iter().all(thread::ScopedJoinHandle::is_finished) {
            engine.commit_pending();
            thread::sleep(Duration::from_millis(10));
        }
        let statuses = posts.into_iter().map(|post| post.join().unwrap());
        statuses.collect::<Vec<_>>()
    });
    assert!(
        statuses.contains(&200) && statuses.contains(&408),
        "{statuses:?}"
    );
    // All room is given back.
    let last = thread::scope(|scope| {
        let last = scope.spawn(|| post(100_000));
        while !last.is_finished() {
            engine.commit_pending();
            thread::sleep(Duration::from_millis(10));
        }
        last.join().unwrap()
    });
    assert_eq!(last, 200);
}

#[test]
fn trickling_body_is_refused_before_the_body_timeout() {
    let server = server(ServerOptions {
        body_timeout: Duration::from_secs(300),
        ..Default::default()
    });
    let mut client = Client::connect(server.addr());
    client.send(post_of(60_000) + "{");
    assert_eq!(client.answer_to("POST").status, 408);
}

#[test]
fn source_with_too_many_connections_excludes_no_other_source() {
    let server = server(ServerOptions {
        connections_max: 24,
        connections_per_source: Some(8),
        ..Default::default()
    });
    let mut others: Vec<_> = (0..8).map(|_| Client::connect(server.addr())).collect();
    for client in &mut others {
        assert_eq!(client.post(POST, "", RECORD).status, 200);
    }
    let crowd: Vec<_> = (0..60)
        .map(|_| Client::connect_from(ATTACKER, server.addr()))
        .collect();
    for client in &mut others {
        assert_eq!(client.post(POST, "", RECORD).status, 200);
    }
    let closed = crowd
        .into_iter()
        .skip(8)
        .all(|mut client| client.is_closed());
    assert!(closed, "there is no room for more of it");
    let third = Ipv4Addr::new(127, 0, 0, 3);
    let answer = Client::connect_from(third, server.addr()).post(POST, "", RECORD);
    assert_eq!(answer.status, 200);
}

#[test]
fn connection_above_the_bound_replaces_the_idlest() {
    let server = server(ServerOptions {
        connections_max: 2,
        ..Default::default()
    });
    let [mut first, mut second] = [(); 2].map(|()| Client::connect(server.addr()));
    for client in [&mut second, &mut first] {
        assert_eq!(client.ask("GET", "/livez", "").status, 200);
        thread::sleep(Duration::from_millis(5));
    }
    let mut third = Client::connect(server.addr());
    assert_eq!(third.post(POST, "", RECORD).status, 200);
    assert!(second.is_closed());
    assert_eq!(first.ask("GET", "/livez", "").status, 200);
}

#[cfg(feature = "http2")]
mod over_http2 {
    use bytes::Bytes;
    use h2::client::{ResponseFuture, SendRequest};
    use http::Request;

    use super::*;

    /// Runs a test on a runtime of its own; fails instead of hanging.
    fn run(test: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let limit = Duration::from_secs(20);
        let in_time = runtime.block_on(async { tokio::time::timeout(limit, test).await });
        in_time.unwrap();
    }

    async fn connect(server: &RunningServer) -> SendRequest<Bytes> {
        let socket = tokio::net::TcpStream::connect(server.addr()).await.unwrap();
        let (requests, connection) = h2::client::handshake(socket).await.unwrap();
        tokio::spawn(connection);
        requests.ready().await.unwrap()
    }

    /// A whole post from this source, if a proxy is trusted.
    fn begin(requests: &mut SendRequest<Bytes>, source: &str) -> ResponseFuture {
        let request = Request::post(format!("http://localhost{POST}"))
            .header("content-type", "application/json")
            .header("x-forwarded-for", source);
        let request = request.body(()).unwrap();
        let (answer, mut body) = requests.send_request(request, false).unwrap();
        body.send_data(Bytes::from_static(RECORD.as_bytes()), true)
            .unwrap();
        answer
    }

    /// Once it has its response, all earlier requests on the same connection are being handled.
    async fn livez(requests: &mut SendRequest<Bytes>, source: &str) {
        let request = Request::get("http://localhost/livez").header("x-forwarded-for", source);
        let request = request.body(()).unwrap();
        let (answer, _) = requests.send_request(request, true).unwrap();
        assert_eq!(answer.await.unwrap().status(), 200);
    }

    #[test]
    fn livez_with_every_connection_busy_returns_200() {
        let (server, engine) = committing_by_hand(ServerOptions {
            connections_max: 1,
            ..Default::default()
        });
        run(async {
            let mut requests = connect(&server).await;
            let busy = begin(&mut requests, "");
            livez(&mut requests, "").await;
            for _ in 0..40 {
                let mut monitor = Client::connect(server.addr());
                assert_eq!(monitor.ask("GET", "/livez", "").status, 200);
                assert!(monitor.is_closed());
                let answer = Client::connect(server.addr()).post(POST, "", RECORD);
                assert_eq!(answer.status, 503, "{answer:?}");
                assert_eq!(answer.header("retry-after"), Some("1"));
            }
            assert_eq!(engine.commit_pending(), 1);
            assert_eq!(busy.await.unwrap().status(), 200);
        });
    }

    #[test]
    fn http2_connection_without_a_place_gets_503_and_livez() {
        let (server, engine) = committing_by_hand(ServerOptions {
            connections_max: 1,
            ..Default::default()
        });
        run(async {
            let mut requests = connect(&server).await;
            let busy = begin(&mut requests, "");
            livez(&mut requests, "").await;
            let request = Request::get("http://localhost/livez").body(()).unwrap();
            loop {
                let mut late = connect(&server).await;
                let refused = begin(&mut late, "");
                // It gets GOAWAY after two seconds.
                let Ok((alive, _)) = late.send_request(request.clone(), true) else {
                    continue;
                };
                if let (Ok(refused), Ok(alive)) = (refused.await, alive.await) {
                    assert_eq!(
                        (refused.status().as_u16(), alive.status().as_u16()),
                        (503, 200)
                    );
                    break;
                }
            }
            assert_eq!(engine.commit_pending(), 1);
            assert_eq!(busy.await.unwrap().status(), 200);
        });
    }

    #[test]
    fn requests_behind_a_proxy_are_bounded_per_source() {
        two_requests_of_a_source(ServerOptions {
            proxied: true,
            connections_per_source: Some(2),
            ..Default::default()
        });
    }

    #[test]
    fn source_behind_a_proxy_has_a_quarter_of_the_places() {
        two_requests_of_a_source(ServerOptions {
            proxied: true,
            connections_served: 8,
            ..Default::default()
        });
    }

    /// With these options one forwarded source has two requests under way, and no more.
    fn two_requests_of_a_source(options: ServerOptions) {
        let (server, engine) = committing_by_hand(options);
        run(async {
            let mut requests = connect(&server).await;
            let [first, second] = [(); 2].map(|()| begin(&mut requests, "192.0.2.1"));
            let third = begin(&mut requests, "10.0.0.1, 192.0.2.1");
            let other = begin(&mut requests, "192.0.2.2");
            assert_eq!(third.await.unwrap().status(), 503);
            livez(&mut requests, "192.0.2.1").await;
            assert_eq!(engine.commit_pending(), 3);
            for answer in [first, second, other] {
                assert_eq!(answer.await.unwrap().status(), 200);
            }
            let [again, also] = [(); 2].map(|()| begin(&mut requests, "192.0.2.1"));
            livez(&mut requests, "").await;
            assert_eq!(
                engine.commit_pending(),
                2,
                "a completed request left its place"
            );
            assert_eq!(again.await.unwrap().status(), 200);
            assert_eq!(also.await.unwrap().status(), 200);
        });
    }
}
