//! Runs a case over a transport and reports the differences.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use deskfleet::{
    Clock as _, CommitDriver, Config, Engine, ManualClock, NewKey, Scope, Timestamp, Upkeep,
    cluster::MemoryLog,
};
use http::{HeaderMap, Request, Response};

use super::case::{Body, Call, Case, NOW, Step, TRACE};
use super::documents::PROBLEMS;
use super::matching::{Names, filled, json_matches, problem_matches, text_matches, trace_of};
use crate::disk::{Disk, Fault, Operation};
use crate::transport::{Handle, InTurn, Transport};

/// The seed of every engine that a case runs on.
pub const SEED: u64 = 7;

/// Ticks, 100 µs: no two entries of a log have the same time, so those of many at one moment are of a little later.
const AHEAD: i64 = 1000;

/// The keys of every case: the name in cases, and the name they were issued under.
pub(super) const KEYS: [(&str, &str, Scope); 4] = [
    ("admin", "operator-desk", Scope::Admin),
    ("read", "reader", Scope::Read),
    ("act", "service-desk", Scope::Act),
    ("ingest", "agents", Scope::Ingest),
];

/// A response, as every transport must return it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Status.
    pub status: u16,
    /// Headers in the order of their names, without those of the connection.
    pub headers: BTreeMap<String, String>,
    /// Body.
    pub body: Bytes,
}

/// The result of running a case.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Every response, in order.
    pub answers: Vec<Answer>,
    /// Differences from the expectation; empty when it passes.
    pub failures: Vec<String>,
}

/// Where a case runs.
#[derive(Clone, Copy)]
enum Engines {
    /// One that writes before it answers.
    Durable(CommitDriver),
    /// One that writes later.
    Volatile,
    /// This many that share a log.
    Nodes(u64),
}

/// An engine, or the nodes of a fleet, with everything that a case controls.
struct Stage {
    engines: Vec<Engine>,
    clock: ManualClock,
    disks: Vec<Disk>,
    free_bytes: Arc<AtomicU64>,
    names: Names,
    /// Ticks by which the clock advances more than a step asks for.
    ahead: i64,
}

impl Stage {
    fn new(configure: fn(&mut Config), engines: Engines) -> Self {
        let clock = ManualClock::new(NOW.parse().expect("a date-time"));
        let mut config = Config::default();
        configure(&mut config);
        config.commit_driver = match engines {
            Engines::Durable(driver) => driver,
            Engines::Volatile | Engines::Nodes(_) => CommitDriver::Caller,
        };
        let mut stage = Self {
            engines: Vec::new(),
            disks: Vec::new(),
            free_bytes: Arc::new(AtomicU64::new(u64::MAX)),
            names: Names::new(),
            ahead: match engines {
                Engines::Durable(_) | Engines::Volatile => 0,
                Engines::Nodes(_) => AHEAD,
            },
            clock,
        };
        let log = MemoryLog::new(stage.clock.clone());
        let count = match engines {
            Engines::Durable(_) | Engines::Volatile => 1,
            Engines::Nodes(count) => count,
        };
        for number in 0..count {
            let probe = Arc::clone(&stage.free_bytes);
            let disk = Disk::new();
            let builder = Engine::builder()
                .clock(stage.clock.clone())
                // Nodes of the same seed would issue the same keys.
                .seed(SEED + number)
                .config(config.clone())
                .upkeep(Upkeep::Host)
                .free_space(move || Some(probe.load(Ordering::SeqCst)));
            let opened = match engines {
                Engines::Durable(_) => builder.open_backend(disk.backend()),
                Engines::Volatile => builder.open_volatile(disk.backend()),
                Engines::Nodes(_) => builder
                    .log(log.clone(), format!("node-{number}"))
                    .open_backend(disk.backend()),
            };
            stage.engines.push(opened.expect("an empty disk"));
            stage.disks.push(disk);
        }
        for (name, issued_as, scope) in KEYS {
            stage.issue(name, issued_as, &[scope], None);
        }
        stage.follow();
        stage
    }

    /// Has each node apply what the others wrote.
    fn follow(&self) {
        for engine in &self.engines {
            while engine.follow(Duration::ZERO).is_ok_and(|count| count > 0) {}
        }
    }

    fn engine(&self) -> &Engine {
        self.engines.first().expect("at least one")
    }

    fn fail(&self, fault: Fault) {
        self.disks.iter().for_each(|disk| disk.fail(fault));
    }

    fn issue(&mut self, name: &str, issued_as: &str, scopes: &[Scope], expires: Option<Timestamp>) {
        let key = NewKey::new(issued_as, scopes.iter().copied()).expiring(expires);
        let issued = self.engine().issue_key(key).expect("a good key");
        self.names.insert(name.to_owned(), issued.secret);
        self.names
            .insert(format!("{name} id"), issued.info.id.to_string());
    }

    /// Does a step that is no request.
    fn prepare(&mut self, step: &Step) {
        let engine = self.engine();
        match step {
            Step::Put(workspace) => drop(
                engine
                    .put_workspaces(vec![(**workspace).clone()])
                    .expect("put"),
            ),
            Step::Hold(id) => engine.place_hold(id, "Doe v. Roe", None).expect("hold"),
            Step::Record(record) => engine.record(record.clone()).expect("record"),
            Step::Key(name, scopes, expires) => self.issue(name, name, scopes, *expires),
            Step::Clock(seconds) => {
                self.clock.advance_seconds(*seconds);
                self.clock
                    .set(Timestamp::from_ticks(self.clock.now().ticks() + self.ahead));
            }
            Step::At(time) => self.clock.set(*time),
            Step::File => {
                for engine in &self.engines {
                    while engine.file_pending().expect("file") > 0 {}
                }
            }
            Step::Maintain => {
                for engine in &self.engines {
                    engine.maintain().expect("maintain");
                }
            }
            Step::Free(bytes) => self.free_bytes.store(*bytes, Ordering::SeqCst),
            Step::Broken(true) => self.fail(Fault::Writes),
            Step::Unsynced => self.fail(Fault::From(Operation::Sync, 0)),
            Step::Broken(false) => self.fail(Fault::None),
            Step::Call(_) => unreachable!("requests are sent"),
        }
        self.follow();
    }
}

/// Runs `case` through `handle` on a store in memory.
pub fn run_volatile(case: &Case) -> Outcome {
    let stage = Stage::new(case.config, Engines::Volatile);
    let transport = Handle(stage.engine().clone());
    played(case, stage, &transport)
}

/// Runs `case` through `handle` of the nodes of a fleet, each request through the next one. Nodes differ in the secrets of the keys that they
/// issue, in fractions of a millisecond, in when a key was last used there, and in what was received there of late; each counts the requests of a
/// key by itself.
pub fn run_on_nodes(case: &Case, count: u64) -> Outcome {
    let stage = Stage::new(case.config, Engines::Nodes(count));
    let transport = InTurn::new(stage.engines.clone());
    played(case, stage, &transport)
}

/// Runs `case` on a fresh engine behind the transport that `connect` makes.
pub fn run<T: Transport>(case: &Case, connect: impl Fn(&Engine) -> T) -> Outcome {
    run_driven(case, CommitDriver::Caller, connect)
}

/// The same with this commit driver.
pub fn run_driven<T: Transport>(
    case: &Case,
    driver: CommitDriver,
    connect: impl Fn(&Engine) -> T,
) -> Outcome {
    let stage = Stage::new(case.config, Engines::Durable(driver));
    let transport = connect(stage.engine());
    played(case, stage, &transport)
}

fn played(case: &Case, mut stage: Stage, transport: &impl Transport) -> Outcome {
    let mut outcome = Outcome::default();
    for (index, step) in case.steps.iter().enumerate() {
        let Step::Call(call) = step else {
            stage.prepare(step);
            continue;
        };
        let answer = answer_of(transport.send(request(call, &stage.names)), &call.method);
        stage.follow();
        if let Err(difference) = check(call, &answer, &mut stage.names) {
            outcome.failures.push(format!(
                "[{}] {}, step {index}: {} {} {:?} {:?}\n  {difference}\n  answered {} {:?} {}",
                case.row,
                case.name,
                call.method,
                clipped(&call.target),
                call.headers,
                clipped(&String::from_utf8_lossy(&call.body)),
                answer.status,
                answer.headers,
                clipped(&String::from_utf8_lossy(&answer.body)),
            ));
        }
        outcome.answers.push(answer);
    }
    outcome
}

fn clipped(text: &str) -> String {
    text.chars().take(1500).collect()
}

/// The request of a call. A key goes into the query, as the interface document has it; on the operator surface, which is
/// not the document's, into `X-Api-Key`.
fn request(call: &Call, names: &Names) -> Request<Bytes> {
    let mut target = filled(&call.target, names);
    let mut builder = Request::builder().method(call.method.as_str());
    if !call.headers.iter().any(|(name, _)| name == "traceparent") {
        builder = builder.header("traceparent", TRACE);
    }
    if let Some(key) = &call.key {
        let secret = names.get(key).expect("a key of the case");
        if target.starts_with("/operator") {
            builder = builder.header("x-api-key", secret);
        } else {
            let (path, query) = target.split_once('?').unwrap_or((&target, ""));
            let separator = if query.is_empty() { "" } else { "&" };
            target = format!("{path}?apiKey={secret}{separator}{query}");
        }
    }
    for (name, value) in &call.headers {
        builder = builder.header(name, filled(value, names));
    }
    let body = match std::str::from_utf8(&call.body) {
        Ok(text) if text.contains('«') => Bytes::from(filled(text, names)),
        _ => Bytes::from(call.body.clone()),
    };
    builder
        .uri(target)
        .body(body)
        .expect("a request that can be sent")
}

fn answer_of(response: Response<Bytes>, method: &str) -> Answer {
    let (head, body) = response.into_parts();
    Answer {
        status: head.status.as_u16(),
        headers: comparable(&head.headers, method),
        body,
    }
}

/// The headers without `date` and `connection`, which belong to the connection. The length is kept where the body does
/// not show it: on HEAD.
fn comparable(headers: &HeaderMap, method: &str) -> BTreeMap<String, String> {
    let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let kept = |name: &str| match name {
        "date" | "connection" => false,
        "content-length" => method == "HEAD",
        _ => true,
    };
    let kept = headers.iter().filter(|(name, _)| kept(name.as_str()));
    kept.map(|(name, value)| (name.as_str().to_owned(), text(value)))
        .collect()
}

fn check(call: &Call, answer: &Answer, names: &mut Names) -> Result<(), String> {
    let expect = &call.expect;
    if answer.status != expect.status {
        return Err(format!("status {} expected", expect.status));
    }
    for (name, value) in &expect.headers {
        if answer.headers.get(name) != value.as_ref() {
            return Err(format!("header {name} should be {value:?}"));
        }
    }
    let body = std::str::from_utf8(&answer.body).map_err(|error| error.to_string())?;
    always(call, answer, body, names)?;
    if call.method == "HEAD" {
        return if body.is_empty() {
            Ok(())
        } else {
            Err("HEAD with a body".to_owned())
        };
    }
    match &expect.body {
        Body::Any => Ok(()),
        Body::Empty => text_matches("", body, names),
        Body::Text(text) => text_matches(&filled(text, names), body, names),
        Body::Json(json) => json_matches(json, body, names),
        Body::Problem(code, errors) => {
            let parent = call.headers.iter().find(|(name, _)| name == "traceparent");
            let trace = trace_of(parent.map(|(_, value)| value.as_str()));
            problem_matches(code, errors, &trace, body)
        }
    }
}

/// What holds for every response.
fn always(call: &Call, answer: &Answer, body: &str, names: &Names) -> Result<(), String> {
    let header = |name: &str| answer.headers.get(name).map(String::as_str);
    let must = |good: bool, what: &str| if good { Ok(()) } else { Err(what.to_owned()) };
    let has_body = !body.is_empty();
    must(
        !has_body || header("cache-control") == Some("no-store"),
        "cache-control",
    )?;
    must(
        !has_body || header("x-content-type-options") == Some("nosniff"),
        "x-content-type-options",
    )?;
    must(
        !has_body || header("content-type").is_some(),
        "content-type",
    )?;
    let refused = answer.status >= 400;
    must(
        refused == (header("content-type") == Some("application/problem+json; charset=utf-8")),
        "problem type",
    )?;
    must(
        !refused || PROBLEMS.iter().any(|row| row.status == answer.status),
        "a documented status",
    )?;
    must(
        (answer.status == 405) == header("allow").is_some(),
        "Allow exactly with 405",
    )?;
    must(
        (answer.status == 401) == (header("www-authenticate") == Some("Bearer")),
        "WWW-Authenticate",
    )?;
    must(
        matches!(answer.status, 429 | 503) == header("retry-after").is_some(),
        "Retry-After",
    )?;
    must(
        header("retry-after").is_none_or(|value| value.parse::<u32>().is_ok()),
        "Retry-After seconds",
    )?;
    let issues = call.method == "POST" && call.target == "/operator/keys" && !refused;
    let told = names
        .values()
        .any(|text| text.starts_with("dfk_") && body.contains(text.as_str()));
    must(issues || !told, "an answer that holds a key")
}
