//! Webhooks and the heartbeat of the server as a process, with receivers that verify, refuse, hang and restart.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, SystemTime};

use crate::load::{Client, Place, Served, command};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use rustix::process::Signal;
use serde_json::Value;
use sha2::Sha256;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwqQ==";
/// Fails a test instead of hanging; nothing is measured by it.
const PATIENCE: Duration = Duration::from_secs(30);
/// No request may come within this time.
const QUIET: Duration = Duration::from_millis(700);

/// What a receiver does with a request.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Response {
    Status(u16),
    /// Nothing, until the sender has given up.
    Hang,
    /// A redirect to the receiver itself.
    Redirect,
}

/// A request to a receiver.
#[derive(Debug)]
pub(crate) struct Posted {
    line: String,
    headers: BTreeMap<String, String>,
    body: String,
}

impl Posted {
    pub(crate) fn id(&self) -> &str {
        &self.headers["webhook-id"]
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// The workspace of the event.
    fn workspace(&self) -> String {
        let json = self.json();
        json["data"]["workSpaceId"].as_str().unwrap().to_owned()
    }

    /// Checks the signature as a receiver does.
    pub(crate) fn verify(&self) {
        let secret = STANDARD.decode(SECRET.strip_prefix("whsec_").unwrap());
        let timestamp = &self.headers["webhook-timestamp"];
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let age = now.unwrap().as_secs() - timestamp.parse::<u64>().unwrap();
        assert!(age < 60, "{age}");
        let mut mac = Hmac::<Sha256>::new_from_slice(&secret.unwrap()).unwrap();
        mac.update(format!("{}.{timestamp}.{}", self.id(), self.body).as_bytes());
        let signature = STANDARD.encode(mac.finalize().into_bytes());
        assert_eq!(self.headers["webhook-signature"], format!("v1,{signature}"));
    }
}

/// A receiver on a thread of its own.
pub(crate) struct Monitor {
    address: SocketAddr,
    posted: Receiver<Posted>,
    responses: Sender<Response>,
}

impl Monitor {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (send, posted) = channel();
        let (responses, wanted) = channel();
        thread::spawn(move || {
            for stream in listener.incoming() {
                receive(stream.unwrap(), address, &send, &wanted);
            }
        });
        Self {
            address,
            posted,
            responses,
        }
    }

    /// The responses to the next requests; after them each is taken.
    fn respond(&self, responses: &[Response]) {
        for response in responses {
            self.responses.send(*response).unwrap();
        }
    }

    pub(crate) fn next(&self) -> Posted {
        self.posted.recv_timeout(PATIENCE).unwrap()
    }

    /// The next request, if one comes in time.
    pub(crate) fn next_within(&self, time: Duration) -> Option<Posted> {
        self.posted.recv_timeout(time).ok()
    }

    fn is_quiet(&self) -> bool {
        self.next_within(QUIET).is_none()
    }
}

/// Serves the requests of a connection.
fn receive(
    stream: TcpStream,
    address: SocketAddr,
    send: &Sender<Posted>,
    wanted: &Receiver<Response>,
) {
    let mut stream = BufReader::new(stream);
    while let Some(posted) = read(&mut stream) {
        let response = wanted.try_recv().unwrap_or(Response::Status(204));
        // The test may have ended.
        let _ = send.send(posted);
        let head = match response {
            Response::Hang => {
                // It ends when the sender closes the connection.
                let _ = stream.read(&mut [0]);
                return;
            }
            Response::Status(status) => format!("HTTP/1.1 {status} x\r\n"),
            Response::Redirect => format!("HTTP/1.1 307 x\r\nlocation: http://{address}/other\r\n"),
        };
        let text = format!("{head}content-length: 0\r\n\r\n");
        if stream.get_mut().write_all(text.as_bytes()).is_err() {
            return;
        }
    }
}

fn read(stream: &mut BufReader<TcpStream>) -> Option<Posted> {
    let mut line = String::new();
    stream.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let mut headers = BTreeMap::new();
    loop {
        let mut header = String::new();
        stream.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim_end().split_once(": ") else {
            break;
        };
        headers.insert(name.to_lowercase(), value.to_owned());
    }
    let length = headers.get("content-length");
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    stream.read_exact(&mut body).ok()?;
    let body = String::from_utf8(body).unwrap();
    Some(Posted {
        line: line.trim_end().to_owned(),
        headers,
        body,
    })
}

/// A place whose configuration has these webhooks.
fn place_with(webhooks: &str) -> Place {
    let place = Place::new();
    configure(&place, webhooks);
    place
}

/// Writes the configuration, and the secret of its webhooks.
pub(crate) fn configure(place: &Place, webhooks: &str) {
    fs::write(place.file("secret"), format!("{SECRET}\n")).unwrap();
    fs::write(place.file("deskfleet.toml"), webhooks).unwrap();
}

pub(crate) fn webhook(monitor: &Monitor, more: &str) -> String {
    let address = monitor.address;
    format!("[[webhooks]]\nurl = 'http://{address}/a/token'\nsecret_file = 'secret'\n{more}\n")
}

fn put(served: &Served, place: &Place, id: &str) {
    let mut client = Client::connect(served.address, &place.admin).unwrap();
    let put = format!("PUT /operator/workspaces/{id}");
    client.accepted(&put, "{}").unwrap();
}

fn metrics(served: &Served, place: &Place) -> String {
    let mut client = Client::connect(served.address, &place.admin).unwrap();
    client.ask("GET /metrics", "").unwrap().1
}

/// Waits until `/metrics` has a line.
fn wait_for_metric(served: &Served, place: &Place, line: &str) {
    let begun = std::time::Instant::now();
    while !metrics(served, place).lines().any(|found| found == line) {
        assert!(
            begun.elapsed() < PATIENCE,
            "{line}\n{}",
            metrics(served, place)
        );
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn events_are_posted_signed_and_once_across_restarts() {
    let monitor = Monitor::start();
    let place = place_with(&webhook(&monitor, "events = ['workspace.*', 'key.issued']"));
    let mut served = place.serve_with("--quiet");
    put(&served, &place, "ws-1");
    let first = monitor.next();
    first.verify();
    assert_eq!(first.line, "POST /a/token HTTP/1.1");
    assert_eq!(first.headers["content-type"], "application/json");
    let body = first.json();
    assert_eq!(body["type"], "workspace.changed");
    assert_eq!(body["data"]["type"], "workspace.changed");
    assert_eq!(body["data"]["at"], body["timestamp"]);
    assert_eq!(first.workspace(), "ws-1");
    // What is not selected is not sent.
    let mut client = Client::connect(served.address, &place.admin).unwrap();
    let hold = "PUT /operator/workspaces/ws-1/litigation-hold";
    client.accepted(hold, r#"{"matter":"Doe v. Roe"}"#).unwrap();
    served.terminate();
    let mut served = place.serve_with("--quiet");
    assert!(monitor.is_quiet());
    put(&served, &place, "ws-2");
    let second = monitor.next();
    assert_eq!(second.workspace(), "ws-2");
    assert_ne!(second.id(), first.id());
    let ending = |posted: &Posted| posted.id().split_once('-').unwrap().0.to_owned();
    assert_eq!(ending(&second), ending(&first), "the numbers of one source");
    wait_for_metric(
        &served,
        &place,
        r#"deskfleet_notifications_total{receiver="webhook-1",result="taken"} 1"#,
    );
    served.terminate();
}

#[test]
fn event_is_sent_again_until_it_is_taken_and_in_order() {
    let monitor = Monitor::start();
    let place = place_with(&webhook(
        &monitor,
        "timeout = '200ms'\nevents = ['workspace.*']",
    ));
    let mut served = place.serve_with("--quiet");
    monitor.respond(&[Response::Status(500), Response::Hang, Response::Redirect]);
    for id in ["ws-1", "ws-2"] {
        put(&served, &place, id);
    }
    let attempts: Vec<_> = (0..4).map(|_| monitor.next()).collect();
    for attempt in &attempts {
        attempt.verify();
        assert_eq!(attempt.workspace(), "ws-1");
        assert_eq!(attempt.id(), attempts[0].id());
        assert_eq!(attempt.line, "POST /a/token HTTP/1.1", "no redirect");
    }
    assert_eq!(monitor.next().workspace(), "ws-2");
    let failing = served.wait_for("takes no requests since");
    assert!(
        failing.contains("webhook 1 (http://127.0.0.1:"),
        "{failing}"
    );
    assert!(failing.contains("redirects are not followed"), "{failing}");
    assert!(!failing.contains("token"), "{failing}");
    let again = served.wait_for("takes requests again");
    assert!(!again.contains("token"), "{again}");
    for line in [
        r#"deskfleet_notifications_total{receiver="webhook-1",result="failed"} 3"#,
        r#"deskfleet_notifications_total{receiver="webhook-1",result="taken"} 2"#,
        r#"deskfleet_notifications_failing{receiver="webhook-1"} 0"#,
    ] {
        wait_for_metric(&served, &place, line);
    }
    served.terminate();
}

#[test]
fn receiver_that_was_down_gets_what_is_missing_after_restarts_and_kills() {
    let monitor = Monitor::start();
    let place = place_with(&webhook(
        &monitor,
        "timeout = '200ms'\nevents = ['workspace.*']",
    ));
    let mut served = place.serve_with("--quiet");
    put(&served, &place, "ws-1");
    let first = monitor.next();
    assert_eq!(first.workspace(), "ws-1");
    wait_for_position(&place, &first.json()["data"]["id"]);
    monitor.respond(&[Response::Status(503); 4]);
    for id in ["ws-2", "ws-3"] {
        put(&served, &place, id);
    }
    assert_eq!(monitor.next().workspace(), "ws-2");
    served.kill();
    let mut served = place.serve_with("--quiet");
    // It is refused once more, or was when the server was killed.
    assert_eq!(monitor.next().workspace(), "ws-2");
    served.terminate();
    let mut served = place.serve_with("--quiet");
    let mut found = vec![monitor.next().workspace()];
    while found.last().unwrap() != "ws-3" {
        found.push(monitor.next().workspace());
    }
    found.dedup();
    assert_eq!(found, ["ws-2", "ws-3"]);
    assert!(monitor.is_quiet());
    served.terminate();
}

/// Waits until the file has the event as the one that was taken last.
fn wait_for_position(place: &Place, event: &Value) {
    let begun = std::time::Instant::now();
    let position = || -> Value {
        let kept: Value =
            serde_json::from_slice(&fs::read(place.file("deskfleet.redb-webhooks")).unwrap())
                .unwrap();
        kept["positions"]
            .as_object()
            .unwrap()
            .values()
            .next()
            .unwrap()
            .clone()
    };
    while position() != *event {
        assert!(begun.elapsed() < PATIENCE);
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn webhook_gets_a_resync_where_its_position_is_lost() {
    let monitor = Monitor::start();
    let place = place_with(&webhook(&monitor, "events = ['action.failed']"));
    fs::write(place.file("deskfleet.redb-webhooks"), "{").unwrap();
    let mut served = place.serve_with("--quiet");
    served.wait_for("deskfleet.redb-webhooks is damaged");
    let posted = monitor.next();
    posted.verify();
    assert_eq!(posted.json()["type"], "resync");
    served.terminate();
    let mut served = place.serve_with("--quiet");
    assert!(monitor.is_quiet());
    served.terminate();
}

#[test]
fn failing_webhook_stops_no_other_and_no_request() {
    let (slow, good) = (Monitor::start(), Monitor::start());
    let gone = TcpListener::bind("127.0.0.1:0").unwrap();
    let nowhere = gone.local_addr().unwrap();
    drop(gone);
    let webhooks = [
        webhook(&slow, ""),
        format!("[[webhooks]]\nurl = 'http://{nowhere}/'\nsecret_file = 'secret'\n"),
        webhook(&good, "events = ['workspace.*']\nformat = 'slack'"),
    ];
    let place = place_with(&webhooks.concat());
    let mut served = place.serve_with("--quiet --set webhooks.1.timeout=1");
    slow.respond(&[Response::Hang; 3]);
    let begun = std::time::Instant::now();
    for number in 0..20 {
        put(&served, &place, &format!("ws-{number}"));
        assert!(
            good.next()
                .body
                .starts_with(r#"{"text":"workspace.changed"#)
        );
    }
    assert!(begun.elapsed() < PATIENCE);
    served.wait_for("webhook 2 (http://127.0.0.1:");
    // A webhook that is taken out of the configuration is left alone from then on.
    configure(
        &place,
        &webhook(&good, "events = ['workspace.*']\nformat = 'teams'"),
    );
    served.signal(Signal::HUP);
    // Whether they changed or not: only they may have.
    served.wait_for("The secrets of the webhooks were read again.");
    served.wait_for("Of 3 webhooks the first 1 are left.");
    put(&served, &place, "ws-new");
    let posted = good.next();
    assert!(posted.body.contains("AdaptiveCard") && posted.body.contains("ws-new"));
    assert!(!metrics(&served, &place).contains("webhook-2"));
    served.terminate();
}

#[test]
fn heartbeat_reports_the_worst_severity() {
    let monitor = Monitor::start();
    let address = monitor.address;
    let heartbeat =
        format!("[heartbeat]\nurl = 'http://{address}/ping/{{severity}}'\nevery = '100ms'\n");
    let place = place_with(&heartbeat);
    let mut served = place.serve_with("--quiet");
    let beat = monitor.next();
    assert_eq!(beat.line, "POST /ping/ok HTTP/1.1");
    assert_eq!(beat.body, r#"{"severity":"ok"}"#);
    monitor.respond(&[Response::Status(500); 3]);
    let failing = served.wait_for("takes no requests since");
    assert!(
        failing.contains("the heartbeat") && !failing.contains("ping"),
        "{failing}"
    );
    served.wait_for("takes requests again");
    // The store is not where it was.
    fs::rename(place.file("deskfleet.redb"), place.file("moved")).unwrap();
    while monitor.next().line != "POST /ping/critical HTTP/1.1" {}
    fs::rename(place.file("moved"), place.file("deskfleet.redb")).unwrap();
    configure(&place, &format!("{heartbeat}method = 'get'\n"));
    served.signal(Signal::HUP);
    while monitor.next().line != "GET /ping/ok HTTP/1.1" {}
    served.terminate();
}

#[test]
fn webhook_of_wrong_settings_is_refused_without_its_secrets() {
    let place = Place::new();
    fs::write(place.file("bad"), "whsec_c2VjcmV0").unwrap();
    let refused = |file: &str, options: &str| {
        configure(&place, file);
        let line = format!("serve --listen 127.0.0.1:0 {options}");
        let output = command(place.path(), &line).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_ne!(output.status.code(), Some(0), "{message}");
        assert!(
            !message.contains("c2Vjcm") && !message.contains("token"),
            "{message}"
        );
        message
    };
    for (file, part) in [
        (
            "[[webhooks]]\n",
            "deskfleet.toml:1: webhooks.1.url is missing",
        ),
        (
            "[[webhooks]]\nulr = 'http://h/token'\n",
            "did you mean webhooks.1.url?",
        ),
        (
            "[[webhook]]\nurl = 'http://h/token'\n",
            "did you mean webhooks.1.url?",
        ),
        (
            "[[webhooks]]\nurl = 'h/token'\n",
            "webhooks.1.url is \"h/***\"; expected a URL",
        ),
        (
            "[[webhooks]]\nurl = 'http://h/token'\n",
            "webhooks.1.secret_file is missing",
        ),
        (
            "[[webhooks]]\nurl = 'http://h/token'\nevents = ['action.faild']\n",
            "did you mean \"action.failed\"?",
        ),
        (
            "[[webhooks]]\nurl = 'http://h/token'\nsecret_file = 'bad'\n",
            "webhooks.1.secret_file: bad holds no secret",
        ),
        (
            "[[webhooks]]\nurl = 'http://h/token'\nformat = 'slack'\n[[webhooks]]\nurl = 'http://h/token'\nformat = 'slack'\n",
            "webhooks.2.url is that of an earlier webhook",
        ),
    ] {
        let message = refused(file, "");
        assert!(message.contains(part), "{file}: {message}");
    }
    let message = refused("", "--set webhooks.1.url=ftp://h/token");
    assert!(
        message.contains("--set webhooks.1.url=ftp://h/***"),
        "{message}"
    );
    let printed = {
        configure(
            &place,
            "[[webhooks]]\nurl = 'http://h/token'\nformat = 'slack'\n",
        );
        crate::load::done(
            place.path(),
            "config --set webhooks.2.url=http://i/token --set webhooks.2.format=teams",
        )
    };
    assert!(!printed.contains("token"), "{printed}");
    assert_eq!(printed.matches("\n[[webhooks]]\n").count(), 2, "{printed}");
    assert!(
        printed.contains("\nurl = \"http://i/***\" # --set\n"),
        "{printed}"
    );
    configure(&place, "");
    let printed = crate::load::done(place.path(), "config");
    assert!(printed.contains("\n# [[webhooks]]\n"), "{printed}");
}

/// Needs `openssl`.
#[cfg(feature = "tls")]
#[test]
fn https_receiver_is_verified_with_the_cas_of_the_system() {
    use crate::https::{TLS, certificate_folder};
    use std::process::Command;

    let Some(receiver) = certificate_folder() else {
        return;
    };
    let receiving = receiver.serve_with(&format!("--quiet {TLS}"));
    let port = receiving.address.port();
    let url = format!("https://localhost:{port}/livez");
    let place = place_with(&format!("[[webhooks]]\nurl = '{url}'\nformat = 'slack'\n"));
    for (cas, part) in [
        (receiver.file("ca.pem"), "it returned 405"),
        (place.file("secret"), "certificate"),
    ] {
        let mut program = Command::new("/usr/bin/env");
        program
            .arg(format!("SSL_CERT_FILE={}", cas.display()))
            .arg(crate::load::PROGRAM);
        let mut served = place.serve_by(program, "--listen 127.0.0.1:0 --quiet");
        put(&served, &place, "ws-1");
        let failing = served.wait_for("takes no requests since");
        assert!(failing.contains(part), "{failing}");
        assert!(!failing.contains("livez"), "{failing}");
        served.terminate();
    }
}
