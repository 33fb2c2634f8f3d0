//! The attacks.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use deskfleet::Timestamp;

use super::server::{AttackedServer, Setup, Stderr, gzip, post, request};

/// What one thread of the attacker repeats.
pub(crate) type Attacker<'g> = Box<dyn Fn() -> io::Result<()> + Send + 'g>;

/// One attack.
pub(crate) struct Attack {
    pub(crate) name: &'static str,
    pub(crate) setup: Setup,
    /// Sent before the healthy client is measured.
    pub(crate) prepare: fn(&AttackedServer) -> io::Result<()>,
    /// Sent while it is measured, and while the server shuts down.
    pub(crate) attackers: for<'g> fn(&'g AttackedServer) -> Vec<Attacker<'g>>,
}

/// An attack on a server without desktops whose standard error is read.
const PLAIN: Attack = Attack {
    name: "none",
    setup: Setup::PLAIN,
    prepare: |_| Ok(()),
    attackers: |_| Vec::new(),
};

/// Records that differ in one field, all of one desktop and one time.
const ALIKE: usize = 130_000;
/// Desktops of a large fleet.
const DESKTOPS: usize = 100_000;

/// All of them.
pub(crate) const ALL: &[Attack] = &[
    PLAIN,
    Attack {
        name: "repetitions",
        prepare: |server| pour_alike(server, ALIKE),
        attackers: |server| {
            let asks = |_| -> Attacker<'_> {
                Box::new(|| server.ask("/api/Information/GetUserInformation?username=evil"))
            };
            let mut attackers: Vec<_> = (0..4).map(asks).collect();
            attackers.push(Box::new(|| pour_alike(server, 5000)));
            attackers
        },
        ..PLAIN
    },
    Attack {
        name: "unfinished-bodies",
        attackers: |server| (0..150).map(|_| unfinished(server)).collect(),
        ..PLAIN
    },
    Attack {
        name: "connections",
        attackers: |server| (0..42).map(|_| hundred_connections(server)).collect(),
        ..PLAIN
    },
    Attack {
        name: "large-history",
        prepare: |server| {
            let items = vec!["{}"; 4096].join(",");
            let body = format!(r#"{{"instanceId":"ws-evil","processes":[{items}]}}"#);
            let report = gzip(body.as_bytes());
            let headers = "content-encoding: gzip\r\n";
            let report = post("/api/Stats/PostProcesses", headers, &report);
            server.pour(32, 3000, |_| report.clone())
        },
        attackers: |server| {
            let asks = |_| -> Attacker<'_> {
                Box::new(|| server.ask("/operator/telemetry/processes?instanceId=ws-evil&limit=1"))
            };
            (0..4).map(asks).collect()
        },
        ..PLAIN
    },
    Attack {
        name: "unread-answers",
        setup: Setup {
            desktops: 1,
            ..Setup::PLAIN
        },
        prepare: |server| {
            let key = format!("x-api-key: {}\r\n", server.key);
            let target = "/operator/workspaces/ws-0000000/litigation-hold";
            server.pour(32, 10_000, |number| {
                let body = format!(r#"{{"matter":"{number:0>250}","reason":"evil"}}"#);
                request("PUT", target, &key, body.as_bytes())
            })
        },
        attackers: |server| (0..400).map(|_| unread(server)).collect(),
    },
    Attack {
        name: "unread-whole-responses",
        setup: Setup {
            desktops: 20_000,
            users: 1,
            ..Setup::PLAIN
        },
        attackers: |server| (0..60).map(|number| unread_http2(server, number)).collect(),
        ..PLAIN
    },
    Attack {
        name: "half-heads",
        attackers: |server| (0..30).map(|number| half_heads(server, number)).collect(),
        ..PLAIN
    },
    Attack {
        name: "trickled-responses",
        attackers: |server| (0..30).map(|number| trickled(server, number)).collect(),
        ..PLAIN
    },
    Attack {
        name: "unread-stderr",
        setup: Setup {
            stderr: Stderr::Unread,
            ..Setup::PLAIN
        },
        attackers: |server| {
            let request = b"GET /nowhere HTTP/1.1\r\nhost: localhost\r\n\r\n".to_vec();
            vec![Box::new(move || server.pour(4, 4000, |_| request.clone()))]
        },
        ..PLAIN
    },
    Attack {
        name: "end-while-filing",
        prepare: |server| pour_alike(server, 2 * ALIKE),
        ..PLAIN
    },
    Attack {
        name: "long-reads",
        setup: Setup {
            desktops: DESKTOPS,
            ..Setup::PLAIN
        },
        attackers: |server| {
            let asks = |number: usize| -> Attacker<'_> {
                Box::new(move || match number % 4 {
                    0 => server.ask("/operator/workspaces?username=nobody&limit=500"),
                    1 => server.ask("/api/Information/GetUserInformation?username=user77777"),
                    _ => server.ask("/operator/workspaces?q=nothing-like-it&limit=500"),
                })
            };
            (0..64).map(asks).collect()
        },
        ..PLAIN
    },
];

/// Posts records of one desktop and one time that differ in one field.
fn pour_alike(server: &AttackedServer, count: usize) -> io::Result<()> {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let hour = 10_000_000 * 3600;
    let now = Timestamp::from(SystemTime::now()).ticks();
    let time = Timestamp::from_ticks(now - now.rem_euclid(hour));
    let first = NEXT.fetch_add(count, Ordering::Relaxed);
    server.pour(48, count, |number| {
        let id = first + number;
        let body = format!(
            r#"{{"id":{id},"instanceId":"ws-evil","username":"evil","updatetime":"{time}","processorInUse":12}}"#
        );
        post("/api/Stats/Post", "", body.as_bytes())
    })
}

/// A report in gzip that stops before its end, until the server closes.
fn unfinished(server: &AttackedServer) -> Attacker<'_> {
    let items = vec![r#"{"processName":"evil"}"#; 4096].join(",");
    let body = format!(r#"{{"instanceId":"ws-evil","processes":[{items}]}}"#);
    let mut request = post(
        "/api/Stats/PostProcesses",
        "content-encoding: gzip\r\n",
        &gzip(body.as_bytes()),
    );
    request.truncate(request.len() - 20);
    Box::new(move || {
        let mut stream = server.attack()?;
        stream.write_all(&request)?;
        wait_for_the_end(&mut stream)
    })
}

/// A hundred connections that send nothing, replaced when the first of them is closed, at most once a second: without
/// that pause most of the host's time would go into making them.
fn hundred_connections(server: &AttackedServer) -> Attacker<'_> {
    Box::new(|| {
        let connections: io::Result<Vec<_>> = (0..100).map(|_| server.attack()).collect();
        std::thread::sleep(Duration::from_secs(1));
        match connections?.first_mut() {
            Some(first) => wait_for_the_end(first),
            None => Ok(()),
        }
    })
}

/// A long answer that is not read.
fn unread(server: &AttackedServer) -> Attacker<'_> {
    Box::new(|| {
        let mut stream = server.attack()?;
        stream
            .write_all(&server.get("/api/Information/GetAdminActivity?numberOfActivities=10000"))?;
        // The server closes it at some point; what matters is the memory that it holds until then.
        std::thread::sleep(Duration::from_secs(5));
        drop(stream);
        Ok(())
    })
}

/// A connection of HTTP/2 that takes no byte of any body, with a hundred requests for long ones. One in four needs no key.
fn unread_http2(server: &AttackedServer, number: usize) -> Attacker<'_> {
    let source = source(number, 4);
    Box::new(move || {
        let mut stream = server.attack_from(source)?;
        let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
        // SETTINGS_INITIAL_WINDOW_SIZE is 0.
        frame(&mut bytes, 4, 0, 0, &[0, 4, 0, 0, 0, 0]);
        for stream_id in (1..200).step_by(2) {
            let target = match stream_id % 8 {
                1 => "/metrics",
                3 => "/api/Information/GetUserInformation?username=user0",
                _ => "/query/workspaces?limit=500",
            };
            let mut fields = Vec::new();
            for (name, value) in [
                (":method", "GET"),
                (":scheme", "http"),
                (":authority", "localhost"),
                (":path", target),
                ("x-api-key", &server.key),
            ] {
                // A literal without indexing; no text is longer than 126 bytes.
                fields.push(0);
                for text in [name, value] {
                    fields.push(u8::try_from(text.len()).unwrap_or(126));
                    fields.extend_from_slice(text.as_bytes());
                }
            }
            frame(&mut bytes, 1, 5, stream_id, &fields);
        }
        stream.write_all(&bytes)?;
        // The server closes it at some point; what matters is the memory that it holds until then.
        std::thread::sleep(Duration::from_secs(15));
        drop(stream);
        Ok(())
    })
}

/// Appends a frame of HTTP/2.
fn frame(bytes: &mut Vec<u8>, kind: u8, flags: u8, stream_id: u32, payload: &[u8]) {
    let length = u32::try_from(payload.len()).unwrap_or_default();
    bytes.extend_from_slice(length.to_be_bytes().get(1..).unwrap_or_default());
    bytes.extend_from_slice(&[kind, flags]);
    bytes.extend_from_slice(&stream_id.to_be_bytes());
    bytes.extend_from_slice(payload);
}

/// One of `count` addresses of an attacker.
fn source(number: usize, count: usize) -> Ipv4Addr {
    let last = u8::try_from(number % count).unwrap_or_default();
    Ipv4Addr::new(127, 0, 0, 2 + last)
}

/// A hundred heads of 30 000 bytes from one of four sources that go on by a byte a second.
fn half_heads(server: &AttackedServer, number: usize) -> Attacker<'_> {
    let source = source(number, 4);
    let mut head = b"GET /livez?x HTTP/1.1\r\nhost: localhost\r\nx: ".to_vec();
    head.resize(30_000, b'x');
    Box::new(move || {
        let streams: io::Result<Vec<_>> = (0..100).map(|_| server.attack_from(source)).collect();
        let mut streams = streams?;
        for stream in &mut streams {
            stream.write_all(&head)?;
        }
        for _ in 0..10 {
            std::thread::sleep(Duration::from_secs(1));
            for stream in &mut streams {
                stream.write_all(b"x")?;
            }
        }
        Ok(())
    })
}

/// A hundred connections from one of two sources with many requests for the OpenAPI document, of which a little is read each second.
fn trickled(server: &AttackedServer, number: usize) -> Attacker<'_> {
    let source = source(number, 2);
    let requests = b"GET /openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(30);
    Box::new(move || {
        let streams: io::Result<Vec<_>> = (0..100).map(|_| server.attack_from(source)).collect();
        let mut streams = streams?;
        for stream in &mut streams {
            stream.write_all(&requests)?;
        }
        let mut some = [0; 512];
        for _ in 0..10 {
            std::thread::sleep(Duration::from_secs(1));
            for stream in &mut streams {
                if stream.read(&mut some)? == 0 {
                    return Ok(());
                }
            }
        }
        Ok(())
    })
}

fn wait_for_the_end(stream: &mut TcpStream) -> io::Result<()> {
    let mut some = [0; 512];
    while stream.read(&mut some)? > 0 {}
    Ok(())
}
