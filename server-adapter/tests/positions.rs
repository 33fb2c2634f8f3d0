//! Nodes that share a log: positions on answers, and the list of nodes.
#![cfg(feature = "cluster")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use crate::client::{Answer, Client};
use crate::schema;
use deskfleet::cluster::{
    Appended, EntryId, Log, LogBounds, LogEntry, LogError, LogErrorKind, MemoryLog, NodeReport,
};
use deskfleet::{Engine, NewKey, Scope};
use deskfleet_server::{Reads, RunningServer, ServerOptions, spawn};

const LIST: &str = "/operator/workspaces";
const CLUSTER: &str = "/operator/cluster";
const POSITION: &str = "x-deskfleet-position";
const LOG: &str = "x-deskfleet-log";

/// A node whose server follows the log.
struct Node {
    engine: Engine,
    server: RunningServer,
    key: String,
}

impl Node {
    fn begin(seed: u64, log: &MemoryLog, key: Option<&str>) -> Self {
        Self::over(seed, log.clone(), key, Reads::Local)
    }

    fn over(seed: u64, log: impl Log, key: Option<&str>, reads: Reads) -> Self {
        let engine = Engine::builder()
            .clock(SystemTime::now)
            .seed(seed)
            .log(log, format!("node-{seed}"))
            .open_in_memory()
            .unwrap();
        let key = key.map_or_else(|| admin_key(&engine), str::to_owned);
        let options = ServerOptions {
            cors_origins: vec!["https://console.example.com".to_owned()],
            reads,
            ..ServerOptions::default()
        };
        let server = spawn(engine.clone(), options).unwrap();
        Self {
            engine,
            server,
            key,
        }
    }

    fn client(&self) -> Client {
        Client::connect(self.server.addr())
    }

    fn ask(&self, method: &str, target: &str, headers: &str) -> Answer {
        let headers = format!("x-api-key: {}\r\ncontent-length: 0\r\n{headers}", self.key);
        self.client().ask(method, target, &headers)
    }

    /// The id of the log, as `cluster status` prints it.
    fn fleet(&self) -> String {
        let status = self.ask("GET", CLUSTER, "").json();
        status["fleet"].as_str().unwrap().to_owned()
    }

    fn put(&self, id: &str) -> u64 {
        let body = format!(r#"{{"workSpId":"{id}","state":"AVAILABLE"}}"#);
        let length = body.len();
        let mut client = self.client();
        client.send(format!(
            "PUT {LIST}/{id} HTTP/1.1\r\nhost: localhost\r\nx-api-key: {}\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n\r\n{body}",
            self.key
        ));
        let answer = client.answer_to("PUT");
        assert!(answer.status < 300, "{answer:?}");
        position(&answer)
    }
}

fn admin_key(engine: &Engine) -> String {
    let new = NewKey::new("admin", [Scope::Admin]);
    engine.issue_key(new).unwrap().secret
}

fn position(answer: &Answer) -> u64 {
    answer.header(POSITION).unwrap().parse().unwrap()
}

fn two_nodes() -> (MemoryLog, Node, Node) {
    let log = MemoryLog::new(SystemTime::now);
    let one = Node::begin(1, &log, None);
    let two = Node::begin(2, &log, Some(&one.key));
    // The key is accepted there too.
    while two.engine.position() < one.engine.position() {
        std::thread::sleep(Duration::from_millis(5));
    }
    (log, one, two)
}

#[test]
fn position_of_a_write_lets_any_node_answer_with_it() {
    let (_log, one, two) = two_nodes();
    for number in 0..50 {
        let (written, read) = if number % 2 == 0 {
            (&one, &two)
        } else {
            (&two, &one)
        };
        let id = format!("ws-{number}");
        let position = written.put(&id);
        let header = format!("{POSITION}: {position}\r\n");
        let answer = read.ask("GET", &format!("{LIST}/{id}"), &header);
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(self::position(&answer) >= position);
    }
}

/// A log that followers hear nothing of: an entry of another node is applied where the log is asked for it.
#[derive(Clone)]
struct SilentLog {
    log: MemoryLog,
    is_down: Arc<AtomicBool>,
}

impl SilentLog {
    fn new() -> Self {
        Self {
            log: MemoryLog::new(SystemTime::now),
            is_down: Arc::default(),
        }
    }

    fn up(&self) -> Result<&MemoryLog, LogError> {
        if self.is_down.load(Ordering::Relaxed) {
            return Err(LogError::new(LogErrorKind::Unavailable, "it is down"));
        }
        Ok(&self.log)
    }
}

impl Log for SilentLog {
    fn append(&self, id: EntryId, body: &[u8]) -> Result<Appended, LogError> {
        self.up()?.append(id, body)
    }

    fn read(
        &self,
        from: u64,
        bytes_max: usize,
        patience: Duration,
    ) -> Result<Vec<LogEntry>, LogError> {
        let log = self.up()?;
        if patience.is_zero() {
            return log.read(from, bytes_max, patience);
        }
        std::thread::sleep(patience);
        Ok(Vec::new())
    }

    fn bounds(&self, seen: u64) -> Result<LogBounds, LogError> {
        self.up()?.bounds(seen)
    }

    fn trim(&self, below: u64) -> Result<(), LogError> {
        self.up()?.trim(below)
    }

    fn report(&self, node: &str, report: &str) -> Result<(), LogError> {
        self.up()?.report(node, report)
    }

    fn reports(&self) -> Result<Vec<NodeReport>, LogError> {
        self.up()?.reports()
    }

    fn forget(&self, node: &str) -> Result<(), LogError> {
        self.up()?.forget(node)
    }
}

/// Two nodes over such a log. The second has applied what was in it when it began.
fn silent_nodes(reads: Reads) -> (SilentLog, Node, Node) {
    let log = SilentLog::new();
    let one = Node::over(1, log.clone(), None, reads);
    let two = Node::over(2, log.clone(), Some(&one.key), reads);
    while two.engine.position() < one.engine.position() {
        std::thread::sleep(Duration::from_millis(5));
    }
    (log, one, two)
}

#[test]
fn reads_without_a_position_have_what_another_node_acknowledged() {
    let (_log, one, two) = silent_nodes(Reads::Latest);
    for number in 0..20 {
        let id = format!("ws-{number}");
        one.put(&id);
        let read = two.ask("GET", &format!("{LIST}/{id}"), "");
        assert_eq!(read.status, 200, "{read:?}");
        let new = NewKey::new(id, [Scope::Admin]);
        let key = one.engine.issue_key(new).unwrap();
        let with_key = format!("x-api-key: {}\r\n", key.secret);
        let keyed = two.client().ask("GET", LIST, &with_key);
        assert_eq!(keyed.status, 200, "{keyed:?}");
        one.engine.revoke_key(key.info.id).unwrap();
        assert_eq!(two.client().ask("GET", CLUSTER, &with_key).status, 401);
    }
}

#[test]
fn local_reads_have_what_was_applied_here() {
    let (_log, one, two) = silent_nodes(Reads::Local);
    one.put("ws-1");
    assert_eq!(two.ask("GET", &format!("{LIST}/ws-1"), "").status, 404);
}

#[test]
fn reads_go_on_while_the_log_is_down_and_are_the_latest_after_it() {
    let (log, one, two) = silent_nodes(Reads::Latest);
    one.put("ws-1");
    log.is_down.store(true, Ordering::Relaxed);
    let begun = Instant::now();
    for _ in 0..50 {
        assert_eq!(two.ask("GET", LIST, "").status, 200);
    }
    // Each would wait for a second otherwise.
    assert!(begun.elapsed() < Duration::from_secs(25), "{begun:?}");
    log.is_down.store(false, Ordering::Relaxed);
    while two.ask("GET", &format!("{LIST}/ws-1"), "").status != 200 {
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "it is not applied"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn every_answer_of_a_node_has_its_position() {
    let (_log, one, _two) = two_nodes();
    let last = one.put("ws-1");
    let fleet = one.fleet();
    for (method, target, headers, status) in [
        ("GET", LIST, "", 200),
        ("HEAD", LIST, "", 200),
        ("GET", "/nowhere", "", 404),
        ("DELETE", CLUSTER, "", 405),
        ("GET", "/livez", "", 200),
        (
            "OPTIONS",
            LIST,
            "origin: https://console.example.com\r\naccess-control-request-method: GET\r\n",
            204,
        ),
    ] {
        let answer = one.ask(method, target, headers);
        assert_eq!(answer.status, status, "{target} {answer:?}");
        assert!(position(&answer) >= last, "{target}");
        assert_eq!(answer.header(LOG), Some(&*fleet), "{target}");
    }
    let origin = one.ask("GET", LIST, "origin: https://console.example.com\r\n");
    let exposed = origin.header("access-control-expose-headers").unwrap();
    assert!(
        exposed.contains(POSITION) && exposed.contains(LOG),
        "{exposed}"
    );
    let alone = Client::connect(alone().addr()).ask("GET", "/livez", "");
    assert_eq!((alone.header(POSITION), alone.header(LOG)), (None, None));
}

/// A server that shares no log.
fn alone() -> RunningServer {
    let builder = Engine::builder().clock(SystemTime::now).seed(3);
    spawn(builder.open_in_memory().unwrap(), ServerOptions::default()).unwrap()
}

#[test]
fn position_that_is_not_reached_is_503_and_one_that_is_no_number_400() {
    let (_log, one, _two) = two_nodes();
    // The first is refused at once: no answer had it. The other is waited for.
    let last = one.engine.log_last().unwrap();
    for position in [u64::MAX, last + 1000] {
        let refused = one.ask("GET", LIST, &format!("{POSITION}: {position}\r\n"));
        assert_eq!(refused.status, 503);
    }
    let refused = one.ask("GET", LIST, &format!("{POSITION}: {}\r\n", u64::MAX));
    assert_eq!(refused.status, 503);
    assert_eq!(refused.header("retry-after"), Some("1"));
    let body = refused.json();
    assert_eq!(body["code"], "StorageUnavailable");
    assert!(
        body["detail"]
            .as_str()
            .unwrap()
            .contains("X-Deskfleet-Position")
    );
    for text in ["", "-1", "+1", "1.5", "last", "18446744073709551616"] {
        let refused = one.ask("GET", LIST, &format!("{POSITION}: {text}\r\n"));
        assert_eq!(refused.status, 400, "{text:?}");
        let detail = refused.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains("X-Deskfleet-Position: 4412"), "{detail}");
    }
    // A page of the server's own never waits.
    let live = one.ask("GET", "/livez", &format!("{POSITION}: {}\r\n", u64::MAX));
    assert_eq!(live.status, 200);
}

#[test]
fn position_of_another_log_is_not_waited_for() {
    let (_log, one, two) = two_nodes();
    let other = Node::begin(7, &MemoryLog::new(SystemTime::now), None);
    let (fleet, foreign) = (one.fleet(), other.fleet());
    assert_eq!(two.fleet(), fleet);
    assert_ne!(foreign, fleet);
    let far = format!("{POSITION}: {}\r\n", one.engine.log_last().unwrap() + 1000);
    for (log, status) in [
        (String::new(), 503),
        (format!("{LOG}: {fleet}\r\n"), 503),
        (format!("{LOG}: {}\r\n", fleet.to_uppercase()), 503),
        (format!("{LOG}: {foreign}\r\n"), 200),
    ] {
        // What no log can have is refused whichever is named.
        let unreadable = one.ask("GET", LIST, &format!("{POSITION}: -1\r\n{log}"));
        assert_eq!(unreadable.status, 400, "{log} {unreadable:?}");
        let answer = one.ask("GET", LIST, &format!("{far}{log}"));
        assert_eq!(answer.status, status, "{log} {answer:?}");
        assert_eq!(answer.header(LOG), Some(&*fleet));
    }
    let written = one.put("ws-1");
    let both = format!("{POSITION}: {written}\r\n{LOG}: {fleet}\r\n");
    assert_eq!(two.ask("GET", &format!("{LIST}/ws-1"), &both).status, 200);
}

#[test]
fn log_that_is_no_id_is_400() {
    let (_log, one, _two) = two_nodes();
    let fleet = one.fleet();
    for text in [
        "",
        "0",
        "none",
        fleet.get(1..).unwrap(),
        &format!("{fleet}0"),
        &fleet.replace(|_| true, "g"),
    ] {
        for position in [String::new(), format!("{POSITION}: 1\r\n")] {
            let refused = one.ask("GET", LIST, &format!("{position}{LOG}: {text}\r\n"));
            assert_eq!(refused.status, 400, "{text:?} {refused:?}");
            assert_eq!(refused.json()["code"], "InvalidRequest");
            assert_eq!(refused.header("retry-after"), None);
        }
    }
    // A page of the server's own reads neither, and a server without a log has none.
    assert_eq!(
        one.ask("GET", "/livez", &format!("{LOG}: none\r\n")).status,
        200
    );
    let alone = alone();
    let mut client = Client::connect(alone.addr());
    assert_ne!(
        client.ask("GET", LIST, &format!("{LOG}: none\r\n")).status,
        400
    );
}

#[test]
fn requests_beyond_the_bound_of_those_that_wait_are_refused() {
    let (_log, one, _two) = two_nodes();
    let head = format!(
        "GET {LIST} HTTP/1.1\r\nhost: localhost\r\nx-api-key: {}\r\n{POSITION}: {}\r\n\r\n",
        one.key,
        one.engine.log_last().unwrap() + 1000
    );
    let mut clients: Vec<_> = (0..160).map(|_| one.client()).collect();
    for client in &mut clients {
        client.send(head.clone());
    }
    let codes = clients.iter_mut().map(|client| {
        let answer = client.answer_to("GET");
        assert_eq!(
            (answer.status, answer.header("retry-after")),
            (503, Some("1"))
        );
        answer.json()["code"].as_str().unwrap().to_owned()
    });
    let codes: Vec<_> = codes.collect();
    assert!(codes.iter().any(|code| code == "StorageUnavailable"));
}

#[test]
fn stream_of_events_resumes_on_another_node() {
    let (_log, one, two) = two_nodes();
    let open = |node: &Node, after: u64, position: u64| {
        let mut client = node.client();
        client.send(format!(
            "GET /query/events HTTP/1.1\r\nhost: localhost\r\nx-api-key: {}\r\naccept: text/event-stream\r\n\
             last-event-id: {after}\r\n{POSITION}: {position}\r\n\r\n",
            node.key
        ));
        let head = client.head();
        assert!(head.starts_with("http/1.1 200"), "{head}");
        assert!(head.contains(POSITION), "{head}");
        client
    };
    let read = |client: &mut Client, last: &str| {
        let mut text = String::new();
        while !text.contains(last) {
            text.push_str(&client.read_once());
        }
        let ids = text.lines().filter_map(|line| line.strip_prefix("id: "));
        ids.map(|id| id.parse().unwrap()).collect::<Vec<u64>>()
    };
    one.put("ws-1");
    let position = one.put("ws-2");
    let all = read(&mut open(&two, 0, position), "ws-2");
    assert!(all.len() >= 2 && all.is_sorted());
    let same = read(&mut open(&one, 0, position), "ws-2");
    assert_eq!(all, same);
    let position = two.put("ws-3");
    let rest = read(&mut open(&one, *all.last().unwrap(), position), "ws-3");
    assert!(rest.iter().all(|id| id > all.last().unwrap()));
}

#[test]
fn status_lists_the_nodes_and_one_that_is_gone_is_forgotten() {
    let (log, one, two) = two_nodes();
    let position = two.put("ws-1");
    let mut gone = GoneNode::report(&log, "node-9");
    let status = loop {
        let answer = one.ask("GET", CLUSTER, "");
        assert_eq!(answer.status, 200, "{answer:?}");
        let status = answer.json();
        let nodes = status["nodes"].as_array().unwrap();
        let applied = nodes
            .iter()
            .filter(|node| node["position"].as_u64() >= Some(position));
        if applied.count() == 2 {
            break status;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let document = schema::document();
    let media = &document["paths"][CLUSTER]["get"]["responses"]["200"]["content"];
    let schema = &media["application/json"]["schema"];
    assert!(schema.is_object());
    assert_eq!(schema::mismatch(&document, schema, &status, "$"), None);
    assert_eq!(status["node"], "node-1");
    let names = status["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|node| node["node"].as_str());
    assert_eq!(
        names.collect::<Vec<_>>(),
        [Some("node-1"), Some("node-2"), Some("node-9")]
    );
    gone.forget(&one);
    assert_eq!(one.engine.cluster_status().unwrap().unwrap().nodes.len(), 2);
}

/// A node that reported and is gone.
struct GoneNode(&'static str);

impl GoneNode {
    fn report(log: &MemoryLog, name: &'static str) -> Self {
        Log::report(log, name, "{}").unwrap();
        Self(name)
    }

    fn forget(&mut self, node: &Node) {
        let path = format!("{CLUSTER}/nodes/{}", self.0);
        let forgotten = node.ask("DELETE", &path, "");
        assert_eq!((forgotten.status, &*forgotten.body), (204, ""));
        let audit = node.ask("GET", "/operator/audit?action=ConfigureFleet", "");
        let json = audit.json();
        let row = &json["activities"][0];
        assert_eq!(row["detail"], format!("node {} off the list", self.0));
        assert_eq!(row["apiKeyName"], "admin");
        assert_eq!(node.ask("DELETE", &path, "").status, 404);
        assert_eq!(node.ask("GET", &path, "").status, 405);
    }
}

#[test]
fn server_without_a_log_has_no_nodes_and_says_so() {
    let builder = Engine::builder().clock(SystemTime::now).seed(3);
    let engine = builder.open_in_memory().unwrap();
    let key = admin_key(&engine);
    let server = spawn(engine, ServerOptions::default()).unwrap();
    let mut client = Client::connect(server.addr());
    let with_key = format!("x-api-key: {key}\r\ncontent-length: 0\r\n{POSITION}: none\r\n");
    for (method, path) in [
        ("GET", CLUSTER),
        ("DELETE", "/operator/cluster/nodes/node-1"),
    ] {
        assert_eq!(
            client.ask(method, path, "content-length: 0\r\n").status,
            401
        );
        let answer = client.ask(method, path, &with_key);
        assert_eq!(answer.status, 404);
        assert!(answer.json()["detail"].as_str().unwrap().contains("--log"));
    }
}
