//! A node whose packets to the log are dropped, so that no call fails and none ends.

use std::net::SocketAddr;
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use super::{Fleet, has, put, readyz, wait_until};
use crate::client::{Answer, Client};

fn asked(address: SocketAddr, line: &str, key: &str, body: &str) -> Answer {
    let (method, path) = line.split_once(' ').unwrap();
    let length = body.len();
    let mut client = Client::connect(address);
    client.send(format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nx-api-key: {key}\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n\r\n{body}"
    ));
    client.answer_to(method)
}

/// Seconds in `X-Deskfleet-Age`.
fn age(answer: &Answer) -> u64 {
    answer.header("x-deskfleet-age").unwrap().parse().unwrap()
}

#[test]
fn read_that_did_not_wait_for_the_log_is_old_and_the_next_are_not() {
    let Some(fleet) = Fleet::begin() else { return };
    let place = fleet.node_folder();
    let node = fleet.serve(&place);
    let mut client = fleet.client(&node);
    assert_eq!(put(&mut client, "ws-1"), 200);
    let line = "GET /operator/workspaces/ws-1";
    let read = || age(&asked(node.address, line, &fleet.admin, ""));
    assert_eq!(read(), 0);
    let held = fleet.gate.hold();
    let begun = Instant::now();
    // It waited for a second, and the next does not wait; what another node wrote is in neither.
    assert!(read() >= 1);
    assert!(read() >= 1);
    assert!(begun.elapsed() < Duration::from_millis(1500));
    drop(held);
    let over = Instant::now();
    wait_until(|| read() == 0);
    assert!(over.elapsed() < Duration::from_millis(800), "{over:?}");
}

#[test]
fn node_that_hears_nothing_refuses_writes_in_a_second_and_old_reads() {
    let Some(fleet) = Fleet::begin() else { return };
    let place = fleet.node_folder();
    let bound = "--set cluster.reads_max_age=12s";
    let mut node = place.serve_with(&format!("{} {bound}", fleet.options(&place)));
    let mut client = fleet.client(&node);
    assert_eq!(put(&mut client, "ws-1"), 200);
    wait_until(|| readyz(&mut client).0 == 200);
    let ask = |line: &str, body: &str| asked(node.address, line, &fleet.admin, body);
    let read = || ask("GET /operator/workspaces/ws-1", "");
    assert_eq!((read().status, age(&read())), (200, 0));

    let held = fleet.gate.hold();
    let begun = Instant::now();
    scope(|scope| {
        // These wait for a call of the log, whose outcome may be that they were written.
        let waiting = ["POST /api/Stats/Post", "PUT /operator/workspaces/ws-2"];
        let first = waiting.map(|line| {
            let body = r#"{"workSpId":"ws-2","state":"AVAILABLE"}"#;
            scope.spawn(move || ask(line, body).status)
        });
        sleep(Duration::from_millis(1600));
        // What comes after a second of silence does not wait behind them.
        for line in [
            "POST /api/Stats/Post",
            "POST /api/Actions/StartWorkSpace?workSpaceId=ws-1",
            "PUT /operator/workspaces/ws-3",
            "POST /operator/telemetry",
            "DELETE /operator/telemetry?instance=ws-1",
        ] {
            let asked_at = Instant::now();
            let answer = ask(line, r#"{"workSpId":"ws-3"}"#);
            assert_eq!(answer.status, 503, "{line}: {answer:?}");
            assert!(answer.body.contains("has not responded"), "{answer:?}");
            assert_eq!(answer.header("retry-after"), Some("5"));
            // A call of the log takes up to five seconds.
            assert!(asked_at.elapsed() < Duration::from_secs(2), "{line}");
        }
        // A preview is a read.
        let preview = r#"{"action":"StartWorkSpace","workSpaceIds":["ws-1"]}"#;
        assert_eq!(ask("POST /query/preview", preview).status, 200);
        assert_eq!(read().status, 200);
        wait_until(|| readyz(&mut client).0 == 503);
        let (_, message) = readyz(&mut client);
        assert!(message.starts_with("LogUnavailable: the log "), "{message}");
        wait_until(|| age(&read()) >= 3);
        for status in first.map(|waiting| waiting.join().unwrap()) {
            assert_eq!(status, 503);
        }
    });
    // By then a key may be revoked. What needs no key is served.
    wait_until(|| read().status == 503);
    // The age is that of the last read before it was cut off.
    assert!(begun.elapsed() > Duration::from_secs(11));
    assert!(
        read().body.contains("cluster.reads_max_age"),
        "{:?}",
        read()
    );
    for (line, status) in [
        ("GET /livez", 200),
        ("GET /metrics", 200),
        ("GET /operator/keys", 503),
        ("POST /operator/backups/download", 503),
        ("POST /query/preview", 503),
    ] {
        assert_eq!(ask(line, "{}").status, status, "{line}");
    }

    drop(held);
    wait_until(|| read().status == 200 && age(&read()) == 0);
    wait_until(|| put(&mut client, "ws-3") == 200);
    assert!(has(&mut client, "ws-3"));
    wait_until(|| readyz(&mut client).0 == 200);
    node.terminate();
}
