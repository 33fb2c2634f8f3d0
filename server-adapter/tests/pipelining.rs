//! Requests sent before the responses to earlier ones: answered correctly, in order, and several in one write.

use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use crate::client::Client;
use deskfleet::{CommitDriver, Config, Engine, NewKey, Scope};
use deskfleet_server::{RunningServer, ServerOptions, spawn};

const RECORD: &str = r#"{"instanceId":"ws-1","username":"jdoe"}"#;
const COUNT: &str = "GET /api/Stats/queue/count HTTP/1.1\r\nhost: localhost\r\n\r\n";

fn server(options: ServerOptions) -> (Engine, RunningServer) {
    let engine = Engine::builder()
        .clock(SystemTime::now)
        .seed(1)
        .open_in_memory()
        .unwrap();
    let server = spawn(engine.clone(), options).unwrap();
    (engine, server)
}

fn post(headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "POST /api/Stats/Post HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n{headers}\r\n{body}"
    )
}

#[test]
fn pipelined_posts_are_all_stored() {
    let (engine, server) = server(ServerOptions::default());
    let mut client = Client::connect(server.addr());
    for round in 1..=3 {
        client.send(post("", RECORD).repeat(16));
        for _ in 0..16 {
            assert_eq!(client.answer_to("POST").status, 200);
        }
        assert_eq!(engine.queue_count(), 16 * round);
    }
}

/// As `nc -N` does after its last request.
#[test]
fn client_that_closes_its_side_gets_the_responses_to_what_it_sent() {
    let mut config = Config::default();
    config.commit_driver = CommitDriver::Host;
    let engine = Engine::builder()
        .config(config)
        .clock(SystemTime::now)
        .seed(1)
        .open_in_memory()
        .unwrap();
    let options = ServerOptions {
        // Upkeep would commit.
        maintain_every: None,
        ..Default::default()
    };
    let server = spawn(engine.clone(), options).unwrap();
    let mut stored = 0;
    for count in [1, 3] {
        let mut client = Client::connect(server.addr());
        // The first asks for leave to send its body, and has sent it already.
        let first = post("expect: 100-continue\r\n", RECORD);
        client.send(first + &post("", RECORD).repeat(count - 1));
        client.close_sending();
        let begun = Instant::now();
        for _ in 0..count {
            // Time to see the end of the input.
            sleep(Duration::from_millis(100));
            while engine.queue_count() == stored {
                assert!(begun.elapsed() < Duration::from_secs(10));
                engine.commit_pending();
            }
            stored += 1;
            let mut answer = client.answer_to("POST");
            if answer.status == 100 {
                answer = client.answer_to("POST");
            }
            assert_eq!(answer.status, 200);
        }
        assert!(client.is_closed());
    }
    // Nothing is committed: the client counts as gone.
    let mut client = Client::connect(server.addr());
    client.send(post("", RECORD));
    let begun = Instant::now();
    client.close_sending();
    assert!(client.is_closed());
    assert!(begun.elapsed() >= Duration::from_secs(2));
}

/// A short unread body is discarded, so that the connection is good for the next request.
#[test]
fn request_after_the_unread_body_of_a_slow_read_is_handled() {
    let (engine, server) = server(ServerOptions::default());
    let key = engine.issue_key(NewKey::new("pages", [Scope::Read]));
    let key = format!("x-api-key: {}\r\n", key.unwrap().secret);
    for length in [100, 3000] {
        let mut client = Client::connect(server.addr());
        let get = post(&key, &"x".repeat(length)).replacen(
            "POST /api/Stats/Post",
            "GET /query/workspaces",
            1,
        );
        client.send(get + COUNT);
        assert_eq!(client.answer_to("GET").status, 200, "{length}");
        assert_eq!(client.answer_to("GET").body, "0", "{length}");
    }
}

#[test]
fn request_after_a_refused_method_and_its_body_is_handled() {
    let (_, server) = server(ServerOptions::default());
    for length in [0, 100, 60_000] {
        let mut client = Client::connect(server.addr());
        let body = "x".repeat(length);
        client.send(post("", &body).replacen("POST", "PATCH", 1) + COUNT);
        assert_eq!(client.answer_to("PATCH").status, 405, "{length}");
        assert_eq!(client.answer_to("GET").body, "0", "{length}");
    }
}

#[test]
fn pipelined_responses_come_in_the_order_of_the_requests() {
    let (_, server) = server(ServerOptions::default());
    let mut client = Client::connect(server.addr());
    client.send([&post("", RECORD), COUNT].concat().repeat(8));
    for expected in 1..=8 {
        assert_eq!(client.answer_to("POST").status, 200);
        assert_eq!(client.answer_to("GET").body, expected.to_string());
    }
    // However the bytes are split.
    let all = [&post("", RECORD), COUNT].concat().repeat(3);
    for piece in all.as_bytes().chunks(7) {
        client.send(piece);
    }
    for expected in 9..=11 {
        assert_eq!(client.answer_to("POST").status, 200);
        assert_eq!(client.answer_to("GET").body, expected.to_string());
    }
}

#[test]
fn refused_request_in_a_pipeline_leaves_the_others() {
    let (_, server) = server(ServerOptions::default());
    let mut client = Client::connect(server.addr());
    let head = "HEAD /api/Stats/queue/count HTTP/1.1\r\nhost: localhost\r\n\r\n";
    client.send(
        [
            &post("", RECORD),
            &post("", "{"),
            head,
            &post("", RECORD),
            COUNT,
        ]
        .concat(),
    );
    assert_eq!(client.answer_to("POST").status, 200);
    let refused = client.answer_to("POST");
    assert_eq!(refused.status, 400);
    assert_eq!(refused.json()["code"], "InvalidBody");
    let head = client.answer_to("HEAD");
    assert_eq!(
        (head.status, head.header("content-length")),
        (200, Some("1"))
    );
    assert_eq!(client.answer_to("POST").status, 200);
    assert_eq!(client.answer_to("GET").body, "2");
    assert_eq!(client.ask("GET", "/livez", "").status, 200);
}

#[test]
fn request_after_an_unread_body_is_not_executed() {
    let (engine, server) = server(ServerOptions::default());
    let mut client = Client::connect(server.addr());
    let long = post("", &" ".repeat(65_537));
    client.send([post("", RECORD), long, post("", RECORD)].concat());
    assert_eq!(client.answer_to("POST").status, 200);
    let refused = client.answer_to("POST");
    assert_eq!(refused.status, 413);
    assert!(client.is_closed());
    assert_eq!(engine.queue_count(), 1);
}

#[test]
fn request_after_connection_close_is_not_executed() {
    let (engine, server) = server(ServerOptions::default());
    let mut client = Client::connect(server.addr());
    client.send(
        [
            post("", RECORD),
            post("connection: close\r\n", RECORD),
            post("", RECORD),
        ]
        .concat(),
    );
    assert_eq!(client.answer_to("POST").status, 200);
    assert_eq!(client.answer_to("POST").status, 200);
    assert!(client.is_closed());
    assert_eq!(engine.queue_count(), 2);

    let mut client = Client::connect(server.addr());
    client.send([&post("", RECORD), "G@T / HTTP/1.1\r\n\r\n", COUNT].concat());
    assert_eq!(client.answer_to("POST").status, 200);
    assert_eq!(client.answer_to("GET").status, 400);
    assert!(client.is_closed());
}

/// Only a single write by the server puts several responses into one read.
#[test]
fn pipelined_responses_ready_together_are_sent_in_one_write() {
    let (_, server) = server(ServerOptions::default());
    let mut client = Client::connect(server.addr());
    assert_eq!(client.ask("GET", "/livez", "").status, 200);
    client.send("GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(8));
    let read = client.read_once();
    assert_eq!(read.matches("\r\n\r\nok\n").count(), 8, "{read}");
}

#[test]
fn response_is_sent_before_the_next_head_is_complete() {
    let options = ServerOptions {
        head_timeout: Duration::from_millis(200),
        ..Default::default()
    };
    let (_, server) = server(options);
    let mut client = Client::connect(server.addr());
    let (half, rest) = COUNT.split_at(20);
    client.send([&post("", RECORD), half].concat());
    assert_eq!(client.answer_to("POST").status, 200);
    client.send(rest);
    assert_eq!(client.answer_to("GET").body, "1");

    // The deadline of a head runs from its first byte after the previous response; until then the connection is idle.
    client.send([COUNT, half].concat());
    assert_eq!(client.answer_to("GET").body, "1");
    client.send(&rest[..3]);
    assert!(client.is_closed());
}

/// The deadline of a head does not include the heads after it.
#[test]
fn pipelined_requests_may_take_longer_than_the_head_timeout() {
    let options = ServerOptions {
        head_timeout: Duration::from_millis(300),
        idle_timeout: Duration::from_millis(300),
        ..Default::default()
    };
    let (_, server) = server(options);
    let mut client = Client::connect(server.addr());
    for _ in 0..8 {
        client.send([COUNT, COUNT].concat());
        assert_eq!(client.answer_to("GET").status, 200);
        assert_eq!(client.answer_to("GET").status, 200);
        sleep(Duration::from_millis(100));
    }
}
