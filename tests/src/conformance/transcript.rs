//! A case as it ran on the native engine, recorded so that another build can be sent the same requests and must return
//! the same bytes. `tests/examples/write_transcripts.rs` writes the records, `wasm/tests/conformance.mjs` replays them.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;
use std::rc::Rc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use deskfleet::fields::{FieldValue, Fields};
use deskfleet::{Config, Engine, Scope, Stream, Timestamp, settings};
use http::{HeaderMap, Request, Response};
use serde_json::{Map, Value, json};

use super::case::{Case, NOW, Step};
use super::runner::{KEYS, SEED, run};
use crate::transport::{Handle, Transport};

/// A transport that records what passes through it.
struct Recording {
    handle: Handle,
    exchanges: Rc<RefCell<Vec<Value>>>,
}

impl Transport for Recording {
    fn send(&self, request: Request<Bytes>) -> Response<Bytes> {
        let asked = json!({
            "method": request.method().as_str(),
            "url": request.uri().to_string(),
            "headers": headers(request.headers()),
            "body": STANDARD.encode(request.body()),
        });
        let response = self.handle.send(request);
        let answered = json!({
            "status": response.status().as_u16(),
            "headers": headers(response.headers()),
            "body": STANDARD.encode(response.body()),
        });
        let exchange = json!({ "request": asked, "answer": answered });
        self.exchanges.borrow_mut().push(exchange);
        response
    }
}

/// Sorted by name; each character stands for a byte.
fn headers(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| bytes.iter().map(|byte| char::from(*byte)).collect();
    let pairs = headers.iter();
    let mut pairs: Vec<_> = pairs
        .map(|(name, value)| (name.as_str().to_owned(), text(value.as_bytes())))
        .collect();
    pairs.sort_by(|a, b| a.0.cmp(&b.0));
    pairs
}

/// Writes the transcripts of all cases that have one, each a line of JSON.
///
/// # Errors
///
/// When the file cannot be written.
pub fn write_all(path: &Path) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    for case in super::AREAS.iter().flat_map(|(_, cases)| cases()) {
        if let Some(transcript) = transcript(&case) {
            writeln!(file, "{transcript}")?;
        }
    }
    file.flush()
}

/// Runs a case on a fresh native engine and records it; `None` when it has a time that is finer than the clock of
/// JavaScript.
#[must_use]
pub fn transcript(case: &Case) -> Option<Value> {
    let exchanges = Rc::new(RefCell::default());
    let connect = |engine: &Engine| Recording {
        handle: Handle(engine.clone()),
        exchanges: Rc::clone(&exchanges),
    };
    let outcome = run(case, connect);
    assert_eq!(outcome.failures, Vec::<String>::new(), "it conforms here");
    let mut exchanges = exchanges.take().into_iter();
    let mut now: Timestamp = NOW.parse().expect("a date-time");
    let mut steps = vec![clock(now)?];
    let keys = KEYS.map(|(_, name, scope)| key(name, &[scope], None));
    steps.extend(keys);
    for step in &case.steps {
        steps.push(match step {
            Step::Call(_) => exchanges.next().expect("an exchange for each call"),
            Step::Put(workspace) => json!({ "put": workspace }),
            Step::Hold(id) => json!({ "hold": id, "matter": "Doe v. Roe" }),
            Step::Key(name, scopes, expires) => key(name, scopes, *expires),
            Step::Clock(seconds) => {
                now = now.plus_seconds(*seconds);
                clock(now)?
            }
            Step::At(time) => {
                now = *time;
                clock(now)?
            }
            Step::Record(record) => {
                json!({ "record": path(record.stream()), "body": fields(record.fields()) })
            }
            Step::File => json!({ "file": true }),
            Step::Maintain => json!({ "maintain": true }),
            Step::Free(bytes) => json!({ "free": bytes }),
            // JavaScript storages fail in other ways.
            Step::Unsynced => return None,
            Step::Broken(broken) => json!({ "broken": broken }),
        });
    }
    Some(json!({
        "row": case.row,
        "name": case.name,
        "options": options(case.config),
        "steps": steps,
    }))
}

/// The clock of JavaScript is a double of milliseconds; whole microseconds are required.
fn clock(now: Timestamp) -> Option<Value> {
    let micros = now.ticks() / 10;
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
    let milliseconds = micros as f64 / 1000.0;
    (micros * 10 == now.ticks() && micros >= 0).then(|| json!({ "clock": milliseconds }))
}

fn key(name: &str, scopes: &[Scope], expires: Option<Timestamp>) -> Value {
    let scopes: Vec<_> = scopes.iter().map(|scope| scope.as_str()).collect();
    json!({ "key": { "name": name, "scopes": scopes, "expires": expires } })
}

/// The options of `Engine.open` for a configuration: what differs from the default.
fn options(configure: fn(&mut Config)) -> Value {
    let defaults = settings::values(&mut Config::default());
    let mut config = Config::default();
    configure(&mut config);
    let mut options = json!({ "seed": SEED });
    for (name, value) in settings::values(&mut config) {
        let setting = (name, value);
        if defaults.contains(&setting) {
            continue;
        }
        let (name, value) = setting;
        let mut place = &mut options;
        for name in name.split('.') {
            place = &mut place[camel_case(name)];
        }
        *place = value.to_string().parse().unwrap();
    }
    options
}

fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        let (initial, rest) = word.split_at(1);
        name + &initial.to_uppercase() + rest
    })
}

fn path(stream: Stream) -> &'static str {
    match stream {
        Stream::Stats => "/api/Stats/Post",
        Stream::Activity => "/api/Stats/PostActivity",
        Stream::Startup => "/api/Stats/PostStartupMetrics",
        Stream::Processes => "/api/Stats/PostProcesses",
    }
}

/// The body that posts a record.
fn fields(record: &dyn Fields) -> Value {
    let specs = record.specs().iter().enumerate();
    let sent = specs.filter_map(|(index, spec)| {
        let value = match record.get(index)? {
            FieldValue::Null => Value::Null,
            FieldValue::Int(number) => number.into(),
            FieldValue::Float(number) => number.into(),
            FieldValue::Double(number) => number.into(),
            FieldValue::Text(text) => text.into_owned().into(),
            FieldValue::Time(time) => time.to_string().into(),
            FieldValue::Items(items) => items.iter().map(|item| fields(item)).collect(),
        };
        Some((spec.name.to_owned(), value))
    });
    Value::Object(sent.collect::<Map<_, _>>())
}
