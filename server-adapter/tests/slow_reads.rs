//! Reads off the event loop: their bounds, and responses that are made while they are sent.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, SystemTime};

use crate::client::Client;
use crate::served::large_day;
use deskfleet::{Engine, NewKey, Scope};
use deskfleet_server::{ServerOptions, spawn};

const LIST: &str = "/operator/workspaces?q=none";
const DAY: &str = "/api/Information/Get24HourActivity";

/// A clock that blocks callers off the event loop while it is shut.
#[derive(Default)]
struct Gate {
    shut: Mutex<bool>,
    opened: Condvar,
    held: AtomicUsize,
    enabled: AtomicBool,
}

impl Gate {
    fn pass(&self) {
        // The thread of the event loop has this name; those of the blocking pool do not.
        let on_the_loop = thread::current().name() == Some("deskfleet-server");
        if on_the_loop || !self.enabled.load(Ordering::SeqCst) {
            return;
        }
        self.held.fetch_add(1, Ordering::SeqCst);
        let mut shut = self.shut.lock().unwrap();
        while *shut {
            shut = self.opened.wait(shut).unwrap();
        }
    }

    fn shut(&self) {
        *self.shut.lock().unwrap() = true;
        self.enabled.store(true, Ordering::SeqCst);
    }

    fn open(&self) {
        self.enabled.store(false, Ordering::SeqCst);
        *self.shut.lock().unwrap() = false;
        self.opened.notify_all();
    }

    fn wait_for(&self, held: usize) {
        while self.held.load(Ordering::SeqCst) < held {
            thread::yield_now();
        }
    }
}

fn engine(gate: &Arc<Gate>) -> (Engine, String) {
    let gate = Arc::clone(gate);
    let clock = move || {
        gate.pass();
        SystemTime::now()
    };
    let engine = Engine::builder()
        .clock(clock)
        .seed(1)
        .open_in_memory()
        .unwrap();
    let key = engine
        .issue_key(NewKey::new("admin", [Scope::Admin]))
        .unwrap();
    (engine, format!("x-api-key: {}\r\n", key.secret))
}

fn quiet(options: ServerOptions) -> ServerOptions {
    ServerOptions {
        maintain_every: None,
        ..options
    }
}

#[test]
fn slow_reads_above_the_bound_return_503_and_others_are_served() {
    let gate = Arc::new(Gate::default());
    let (engine, key) = engine(&gate);
    let options = quiet(ServerOptions {
        slow_reads_max: 4,
        proxied: true,
        ..ServerOptions::default()
    });
    let server = spawn(engine, options).unwrap();
    gate.shut();
    let ask = |source: &str| {
        let mut client = Client::connect(server.addr());
        let from = format!("{key}x-forwarded-for: {source}\r\n");
        client.send(format!(
            "GET {LIST} HTTP/1.1\r\nhost: localhost\r\n{from}\r\n"
        ));
        client
    };
    let mut under_way = vec![ask("192.0.2.1"), ask("192.0.2.1")];
    gate.wait_for(2);
    // Its half is taken, though there is room for others.
    let refused = ask("192.0.2.1").answer_to("GET");
    assert_eq!(
        (refused.status, &refused.json()["code"]),
        (503, &"ServerBusy".into())
    );
    let message = refused.json()["detail"].to_string();
    assert!(
        message.contains("Too many requests are under way"),
        "{message}"
    );
    assert!(refused.head.contains("retry-after: 1"), "{}", refused.head);
    let detail = refused.json()["detail"].clone();
    let expected = "Too many requests are under way; try again later.";
    assert_eq!(detail, expected, "no stream of events was asked for");
    under_way.extend([ask("192.0.2.2"), ask("192.0.2.2")]);
    gate.wait_for(4);
    assert_eq!(
        ask("192.0.2.3").answer_to("GET").status,
        503,
        "all are taken"
    );

    let mut client = Client::connect(server.addr());
    assert_eq!(client.ask("GET", "/livez", "").status, 200);
    assert_eq!(client.post("/api/Stats/Post", "", "{}").status, 200);
    assert_eq!(client.ask("GET", "/api/Stats/queue/count", "").body, "1");

    gate.open();
    for client in &mut under_way {
        assert_eq!(client.answer_to("GET").status, 200);
    }
    assert_eq!(ask("192.0.2.1").answer_to("GET").status, 200);
}

#[test]
fn failed_response_in_chunks_ends_its_connection_before_the_last_chunk() {
    let (engine, key) = engine(&Arc::default());
    large_day(&engine);
    let server = spawn(engine.clone(), quiet(ServerOptions::default())).unwrap();
    let mut stream = TcpStream::connect(server.addr()).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    let request = format!("GET {DAY} HTTP/1.1\r\nhost: localhost\r\n{key}\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut head = [0; 12];
    stream.read_exact(&mut head).unwrap();
    assert_eq!(&head, b"HTTP/1.1 200");
    engine.close().unwrap();
    let mut rest = Vec::new();
    // A reset is an end as well.
    let _ = stream.read_to_end(&mut rest);
    assert!(
        !rest.ends_with(b"0\r\n\r\n"),
        "{} bytes look whole",
        rest.len()
    );
    assert!(rest.len() < 20_000_000);
}

#[test]
fn unread_responses_are_bounded_per_source() {
    let (engine, key) = engine(&Arc::default());
    large_day(&engine);
    let server = spawn(engine, quiet(ServerOptions::default())).unwrap();
    let mut streams: Vec<_> = (0..40)
        .map(|_| {
            let mut stream = TcpStream::connect(server.addr()).unwrap();
            let request = format!("GET {DAY} HTTP/1.1\r\nhost: localhost\r\n{key}\r\n");
            stream.write_all(request.as_bytes()).unwrap();
            stream
        })
        .collect();
    let mut statuses = Vec::new();
    for stream in &mut streams {
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        let mut head = [0; 12];
        stream.read_exact(&mut head).unwrap();
        statuses.push(head[9..].to_vec());
    }
    let begun = statuses.iter().filter(|status| *status == b"200").count();
    let refused = statuses.iter().filter(|status| *status == b"503").count();
    assert!(
        begun <= 32 && begun + refused == 40,
        "{begun} begun, {refused} refused"
    );
    assert!(begun >= 8, "{begun}");
    let mut client = Client::connect(server.addr());
    assert_eq!(client.ask("GET", "/livez", "").status, 200);
}
