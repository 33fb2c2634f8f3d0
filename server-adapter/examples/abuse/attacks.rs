//! The attacks.

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use deskfleet::Timestamp;

use super::ground::{Ground, gzip, post, request};

/// Whether the server's standard error is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stderr {
    Read,
    Unread,
}

/// What one thread of the attacker repeats.
pub(crate) type Attacker<'g> = Box<dyn Fn() -> io::Result<()> + Send + 'g>;

/// One attack.
pub(crate) struct Attack {
    pub(crate) name: &'static str,
    pub(crate) stderr: Stderr,
    /// Workspaces in the store.
    pub(crate) desktops: usize,
    /// Sent before the healthy client is measured.
    pub(crate) prepare: fn(&Ground) -> io::Result<()>,
    /// Sent while it is measured, and while the server shuts down.
    pub(crate) attackers: for<'g> fn(&'g Ground) -> Vec<Attacker<'g>>,
}

/// An attack on a server without desktops whose standard error is read.
const PLAIN: Attack = Attack {
    name: "none",
    stderr: Stderr::Read,
    desktops: 0,
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
        prepare: |ground| pour_alike(ground, ALIKE),
        attackers: |ground| {
            let asks = |_| -> Attacker<'_> {
                Box::new(|| ground.ask("/api/Information/GetUserInformation?username=evil"))
            };
            let mut attackers: Vec<_> = (0..4).map(asks).collect();
            attackers.push(Box::new(|| pour_alike(ground, 5000)));
            attackers
        },
        ..PLAIN
    },
    Attack {
        name: "unfinished-bodies",
        attackers: |ground| (0..150).map(|_| unfinished(ground)).collect(),
        ..PLAIN
    },
    Attack {
        name: "connections",
        attackers: |ground| (0..42).map(|_| hundred_connections(ground)).collect(),
        ..PLAIN
    },
    Attack {
        name: "large-history",
        prepare: |ground| {
            let items = vec!["{}"; 4096].join(",");
            let body = format!(r#"{{"instanceId":"ws-evil","processes":[{items}]}}"#);
            let report = gzip(body.as_bytes());
            let headers = "content-encoding: gzip\r\n";
            let report = post("/api/Stats/PostProcesses", headers, &report);
            ground.pour(32, 3000, |_| report.clone())
        },
        attackers: |ground| {
            let asks = |_| -> Attacker<'_> {
                Box::new(|| ground.ask("/operator/telemetry/processes?instanceId=ws-evil&limit=1"))
            };
            (0..4).map(asks).collect()
        },
        ..PLAIN
    },
    Attack {
        name: "unread-answers",
        desktops: 1,
        prepare: |ground| {
            let key = format!("x-api-key: {}\r\n", ground.key);
            let target = "/operator/workspaces/ws-0000000/litigation-hold";
            ground.pour(32, 10_000, |number| {
                let body = format!(r#"{{"matter":"{number:0>250}","reason":"evil"}}"#);
                request("PUT", target, &key, body.as_bytes())
            })
        },
        attackers: |ground| (0..400).map(|_| unread(ground)).collect(),
        ..PLAIN
    },
    Attack {
        name: "unread-stderr",
        stderr: Stderr::Unread,
        attackers: |ground| {
            let request = b"GET /nowhere HTTP/1.1\r\nhost: localhost\r\n\r\n".to_vec();
            vec![Box::new(move || ground.pour(4, 4000, |_| request.clone()))]
        },
        ..PLAIN
    },
    Attack {
        name: "end-while-filing",
        prepare: |ground| pour_alike(ground, 2 * ALIKE),
        ..PLAIN
    },
    Attack {
        name: "long-reads",
        desktops: DESKTOPS,
        attackers: |ground| {
            let asks = |number: usize| -> Attacker<'_> {
                Box::new(move || match number % 4 {
                    0 => ground.ask("/operator/workspaces?username=nobody&limit=500"),
                    1 => ground.ask("/api/Information/GetUserInformation?username=user77777"),
                    _ => ground.ask("/operator/workspaces?q=nothing-like-it&limit=500"),
                })
            };
            (0..64).map(asks).collect()
        },
        ..PLAIN
    },
];

/// Posts records of one desktop and one time that differ in one field.
fn pour_alike(ground: &Ground, count: usize) -> io::Result<()> {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let hour = 10_000_000 * 3600;
    let now = Timestamp::from(SystemTime::now()).ticks();
    let time = Timestamp::from_ticks(now - now.rem_euclid(hour));
    let first = NEXT.fetch_add(count, Ordering::Relaxed);
    ground.pour(48, count, |number| {
        let id = first + number;
        let body = format!(
            r#"{{"id":{id},"instanceId":"ws-evil","username":"evil","updatetime":"{time}","processorInUse":12}}"#
        );
        post("/api/Stats/Post", "", body.as_bytes())
    })
}

/// A report in gzip that stops before its end, until the server closes.
fn unfinished(ground: &Ground) -> Attacker<'_> {
    let items = vec![r#"{"processName":"evil"}"#; 4096].join(",");
    let body = format!(r#"{{"instanceId":"ws-evil","processes":[{items}]}}"#);
    let mut request = post(
        "/api/Stats/PostProcesses",
        "content-encoding: gzip\r\n",
        &gzip(body.as_bytes()),
    );
    request.truncate(request.len() - 20);
    Box::new(move || {
        let mut stream = ground.attack()?;
        stream.write_all(&request)?;
        wait_for_the_end(&mut stream)
    })
}

/// A hundred connections that send nothing, replaced when the first of them is closed, at most once a second: without
/// that pause most of the host's time would go into making them.
fn hundred_connections(ground: &Ground) -> Attacker<'_> {
    Box::new(|| {
        let connections: io::Result<Vec<_>> = (0..100).map(|_| ground.attack()).collect();
        std::thread::sleep(Duration::from_secs(1));
        match connections?.first_mut() {
            Some(first) => wait_for_the_end(first),
            None => Ok(()),
        }
    })
}

/// A long answer that is not read.
fn unread(ground: &Ground) -> Attacker<'_> {
    Box::new(|| {
        let mut stream = ground.attack()?;
        stream
            .write_all(&ground.get("/api/Information/GetAdminActivity?numberOfActivities=10000"))?;
        // The server closes it at some point; what matters is the memory that it holds until then.
        std::thread::sleep(Duration::from_secs(5));
        drop(stream);
        Ok(())
    })
}

fn wait_for_the_end(stream: &mut TcpStream) -> io::Result<()> {
    let mut some = [0; 512];
    while stream.read(&mut some)? > 0 {}
    Ok(())
}
