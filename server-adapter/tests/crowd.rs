//! Crowds: idle clients, and clients that never finish their requests, beside one that does. Their cost in memory and
//! time is measured by `cargo run --release -p deskfleet-server --example crowd`.

use std::thread::sleep;
use std::time::{Duration, SystemTime};

use crate::client::Client;
use deskfleet::Engine;
use deskfleet_server::{RunningServer, ServerOptions, spawn};

const CROWD: usize = 150;

fn server() -> (RunningServer, Engine) {
    let engine = Engine::builder().clock(SystemTime::now).seed(1);
    let engine = engine.open_in_memory().unwrap();
    let server = spawn(engine.clone(), ServerOptions::default()).unwrap();
    (server, engine)
}

/// Records, filed or not.
fn records(engine: &Engine) -> u64 {
    let report = engine.check().unwrap();
    report.queued_records + report.history_records
}

fn post(client: &mut Client, number: usize) {
    let body = format!(r#"{{"instanceId":"ws-{number}","username":"jdoe"}}"#);
    let answer = client.post("/api/Stats/PostActivity", "", &body);
    assert_eq!(answer.status, 200, "{number}: {answer:?}");
}

/// Connections are parked after a second of rest; those of this test rest for longer, and each is served as if it had
/// not.
#[test]
fn idle_connections_are_served_again() {
    let (server, engine) = server();
    let mut clients: Vec<_> = (0..CROWD).map(|_| Client::connect(server.addr())).collect();
    for round in 0..3 {
        for (number, client) in clients.iter_mut().enumerate() {
            post(client, round * CROWD + number);
        }
        sleep(Duration::from_millis(1300));
        // A head in pieces, the first of them on a parked connection.
        for client in &mut clients {
            client.send("GET /livez HT");
        }
        for client in &mut clients {
            client.send(
                "TP/1.1\r\nhost: localhost\r\n\r\nGET /readyz HTTP/1.1\r\nhost: localhost\r\n\r\n",
            );
            assert_eq!(client.answer_to("GET").status, 200);
            assert_eq!(client.answer_to("GET").status, 200);
        }
    }
    assert_eq!(records(&engine), 3 * CROWD as u64);
}

#[test]
fn unfinished_requests_do_not_delay_other_clients() {
    let (server, engine) = server();
    let begun = [
        "GET /livez HTTP/1.1\r\nhost: localhost\r\nx-slow: ",
        "POST /api/Stats/PostActivity HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{",
        "POST /operator/telemetry HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{",
        "",
    ];
    let mut crowd: Vec<_> = begun
        .iter()
        .cycle()
        .take(CROWD)
        .map(|begun| {
            let mut client = Client::connect(server.addr());
            client.try_send(begun);
            client
        })
        .collect();
    let mut good = Client::connect(server.addr());
    for number in 0..CROWD {
        post(&mut good, number);
        // One more byte of each, now and then; some have got a response and are closed.
        if number % 10 == 0 {
            for client in &mut crowd {
                client.try_send("a");
            }
        }
    }
    assert_eq!(
        records(&engine),
        CROWD as u64,
        "only complete requests are stored"
    );
}
