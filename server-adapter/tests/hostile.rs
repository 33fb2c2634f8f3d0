//! What an untrusted client can send, with one verdict each. The table is in `attacks/`; `docs/hostile.md` shows the
//! same rows.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use crate::attacks::{Attack, Then, all, statuses};
use crate::client::Client;
use deskfleet::Engine;
use deskfleet_server::{RunningServer, ServerOptions, spawn};

#[cfg(all(feature = "console", feature = "http2"))]
const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/hostile.md");

/// Slow attacks are given up after this; all others are sent in one piece.
const SHORT: Duration = Duration::from_millis(700);

type Log = Arc<Mutex<Vec<String>>>;

fn server() -> (RunningServer, Engine, Log) {
    let engine = Engine::builder()
        .clock(SystemTime::now)
        .seed(1)
        .open_in_memory()
        .unwrap();
    let log = Log::default();
    let lines = Arc::clone(&log);
    let options = ServerOptions {
        head_timeout: SHORT,
        body_timeout: SHORT,
        bad_keys_per_minute: None,
        maintain_every: None,
        access_log: Some(Arc::new(move |line: &str| {
            lines.lock().unwrap().push(line.to_owned());
        })),
        ..Default::default()
    };
    (spawn(engine.clone(), options).unwrap(), engine, log)
}

/// The outcome of an attack, as the table writes it.
fn verdict(server: &RunningServer, attack: &Attack) -> String {
    let mut client = Client::connect(server.addr());
    client.try_send((attack.bytes)());
    let send_another = "GET /livez HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    if matches!(attack.then, Then::Open) {
        // A request that is served as usual: the connection is in the expected state.
        client.try_send(send_another);
    }
    let (message, closed) = client.read_while_open();
    let (answers, end) = match attack.then {
        Then::Open => {
            let mut answers = statuses(&message);
            let alive = answers.pop() == Some(200) && message.ends_with(b"ok\n");
            (answers, if alive { "" } else { "NOT ALIVE" })
        }
        Then::Closed => (statuses(&message), if closed { "closed" } else { "OPEN" }),
        Then::Frames(_) if !closed => return "OPEN".to_owned(),
        Then::Frames(judge) => return judge(&message),
    };
    let answers = answers.iter().map(u16::to_string);
    let parts: Vec<String> = answers
        .chain((!end.is_empty()).then(|| end.to_owned()))
        .collect();
    parts.join(", ")
}

#[test]
fn every_attack_gets_its_verdict() {
    let (server, engine, log) = server();
    let mut wrong = Vec::new();
    for attack in all() {
        let before = engine.queue_count();
        let found = verdict(&server, &attack);
        if found != attack.verdict {
            wrong.push(format!("{}: {found}, not {}", attack.name, attack.verdict));
        }
        let accepted = engine.queue_count() - before;
        if accepted != attack.records {
            wrong.push(format!("{}: {accepted} records", attack.name));
        }
        let mut healthy = Client::connect(server.addr());
        assert_eq!(
            healthy.ask("GET", "/readyz", "").status,
            200,
            "{}",
            attack.name
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    server.stop().unwrap();
    for line in log.lock().unwrap().iter() {
        assert!(is_whole_line(line), "{line:?}");
    }
}

/// All parts of a line, in printable ASCII: nothing that was sent made a line of its own.
fn is_whole_line(line: &str) -> bool {
    let parts: Vec<&str> = line.split(' ').collect();
    let [
        time,
        client,
        method,
        path,
        _,
        status,
        bytes,
        duration,
        _,
        trace,
    ] = parts[..]
    else {
        return false;
    };
    line.bytes()
        .all(|byte| byte == b' ' || byte.is_ascii_graphic())
        && time.ends_with('Z')
        && client == "127.0.0.1"
        && method.len() <= 16
        && !path.contains('?')
        && status.len() == 3
        && status.parse::<u16>().is_ok()
        && bytes.ends_with('B')
        && duration.ends_with("ms")
        && trace.len() == 55
}

#[cfg(all(feature = "console", feature = "http2"))]
#[test]
fn hostile_document_lists_every_attack() {
    let document = std::fs::read_to_string(DOCUMENT).unwrap();
    let verdicts = document.split("\n## ").next().unwrap();
    let documented: Vec<&str> = verdicts
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| attack"))
        .collect();
    let rows: Vec<String> = all()
        .iter()
        .map(|attack| format!("| {} | {} |", attack.name, attack.shown()))
        .collect();
    assert_eq!(documented, rows, "\n{}\n", rows.join("\n"));
}

#[test]
fn responses_have_no_cors_header_and_forbid_sniffing_and_caching() {
    let (server, _, _) = server();
    let mut client = Client::connect(server.addr());
    let origin = "origin: http://evil.example\r\naccess-control-request-method: POST\r\n\
                  access-control-request-private-network: true\r\n";
    for (method, target) in [
        ("GET", "/livez"),
        ("GET", "/openapi.json"),
        ("GET", "/api/Stats/queue/count"),
        ("GET", "/api/Information/GetAllWorkSpaces"),
        ("OPTIONS", "/api/Stats/Post"),
        ("OPTIONS", "/operator/keys"),
        ("GET", "/nowhere"),
    ] {
        let answer = client.ask(method, target, origin);
        assert!(!answer.head.contains("access-control-"), "{answer:?}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("cache-control", "no-store"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{method} {target}");
        }
        assert_eq!(answer.status == 405, method == "OPTIONS");
    }
}
