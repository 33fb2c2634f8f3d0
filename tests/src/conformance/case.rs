//! How a conformance case is written down: data that any transport can run.
//!
//! A case is one row of a document with one concrete example: the fleet, the requests, the expected responses. Texts
//! may hold `«name»`. In a request it stands for a text known by that name: the keys `admin`, `read`, `act` and
//! `ingest`, or a value that an earlier response had at that place. In an expectation it stands for any value; the
//! first match binds the name, and `«_»` is never bound.

use deskfleet::{Config, Record, Scope, Timestamp, Workspace};

use super::fixtures::details;

/// The moment at which every case begins.
pub const NOW: &str = "2026-11-20T12:00:00Z";
/// The trace every request carries, unless it brings its own.
pub const TRACE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";

/// One example of one row.
#[derive(Debug, Clone)]
pub struct Case {
    /// The row of the document, one of [`ROWS`](super::documents::ROWS).
    pub row: &'static str,
    /// What the example shows.
    pub name: String,
    /// Configuration that differs from the default.
    pub config: fn(&mut Config),
    /// What happens, in order.
    pub steps: Vec<Step>,
    /// Whether it runs through `handle` only, because it is very large or tests what the engine leaves to its host.
    pub engine_only: bool,
}

/// One thing that happens in a case.
#[derive(Debug, Clone)]
pub enum Step {
    /// The host puts a workspace in.
    Put(Box<Workspace>),
    /// The host places a hold.
    Hold(String),
    /// The host records telemetry.
    Record(Record),
    /// The host issues a key; later steps refer to its secret by its name.
    Key(String, Vec<Scope>, Option<Timestamp>),
    /// The clock moves by seconds.
    Clock(i64),
    /// The clock is set.
    At(Timestamp),
    /// Queued telemetry is filed.
    File,
    /// Upkeep runs.
    Maintain,
    /// The medium reports its free space.
    Free(u64),
    /// The medium refuses writes, or accepts them again.
    Broken(bool),
    /// The medium accepts writes and fails to sync them.
    Unsynced,
    /// A request.
    Call(Box<Call>),
}

/// One request and the expected response.
#[derive(Debug, Clone)]
pub struct Call {
    /// Method, as sent.
    pub method: String,
    /// Name of the key sent with it.
    pub key: Option<String>,
    /// Path and query, as sent.
    pub target: String,
    /// Headers sent beside the trace.
    pub headers: Vec<(String, String)>,
    /// Body sent.
    pub body: Vec<u8>,
    /// The expected response.
    pub expect: Expect,
}

/// An expected response.
#[derive(Debug, Clone, Default)]
pub struct Expect {
    /// Status.
    pub status: u16,
    /// Headers that must have this value, or that must be absent.
    pub headers: Vec<(String, Option<String>)>,
    /// Body.
    pub body: Body,
}

/// An expected body.
#[derive(Debug, Clone, Default)]
pub enum Body {
    /// Empty.
    #[default]
    Empty,
    /// Exactly this text.
    Text(String),
    /// The same JSON value; members in any order, numbers by value.
    Json(String),
    /// A problem with this code, and these fields in `errors`.
    Problem(&'static str, Vec<(String, Message)>),
    /// Any body; another call checks it.
    Any,
}

/// A message in the `errors` of a problem.
#[derive(Debug, Clone)]
pub enum Message {
    /// The documented text.
    Exact(String),
    /// No documented text, but it must contain these words.
    Holding(Vec<String>),
}

impl Case {
    /// A case of a row.
    pub fn new(row: &'static str, name: impl Into<String>) -> Self {
        Self {
            row,
            name: name.into(),
            config: |_| {},
            steps: Vec::new(),
            engine_only: false,
        }
    }

    /// Runs through `handle` only.
    #[must_use]
    pub fn engine_only(mut self) -> Self {
        self.engine_only = true;
        self
    }

    /// The host configures something differently.
    #[must_use]
    pub fn config(mut self, config: fn(&mut Config)) -> Self {
        self.config = config;
        self
    }

    /// Appends a step.
    #[must_use]
    pub fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Appends [`Step::Put`].
    #[must_use]
    pub fn put(self, workspace: Workspace) -> Self {
        self.step(Step::Put(Box::new(workspace)))
    }

    /// Appends a put of the operator's that cancels a running action.
    #[must_use]
    pub fn reset(self, workspace: &Workspace) -> Self {
        let line = format!(
            "PUT admin /operator/workspaces/{}?override=true",
            workspace.id
        );
        self.call(call(&line).json(details(workspace)).gives_any())
    }

    /// Appends a [`Step::Put`] for each.
    #[must_use]
    pub fn puts(self, workspaces: impl IntoIterator<Item = Workspace>) -> Self {
        workspaces.into_iter().fold(self, Self::put)
    }

    /// Appends [`Step::Hold`].
    #[must_use]
    pub fn hold(self, id: &str) -> Self {
        self.step(Step::Hold(id.to_owned()))
    }

    /// Appends [`Step::Record`].
    #[must_use]
    pub fn record(self, record: Record) -> Self {
        self.step(Step::Record(record))
    }

    /// Appends [`Step::Key`].
    #[must_use]
    pub fn key(self, name: &str, scopes: &[Scope], expires: Option<&str>) -> Self {
        let expires = expires.map(|time| time.parse().expect("a date-time"));
        self.step(Step::Key(name.to_owned(), scopes.to_vec(), expires))
    }

    /// Appends [`Step::Clock`].
    #[must_use]
    pub fn clock(self, seconds: i64) -> Self {
        self.step(Step::Clock(seconds))
    }

    /// `n` days pass, with upkeep each day.
    #[must_use]
    pub fn days(self, days: i64) -> Self {
        (0..days).fold(self, |case, _| case.clock(24 * 3600).maintain())
    }

    /// Appends [`Step::At`].
    #[must_use]
    pub fn set_time(self, time: &str) -> Self {
        self.step(Step::At(time.parse().expect("a date-time")))
    }

    /// Appends [`Step::File`].
    #[must_use]
    pub fn file(self) -> Self {
        self.step(Step::File)
    }

    /// Appends [`Step::Maintain`].
    #[must_use]
    pub fn maintain(self) -> Self {
        self.step(Step::Maintain)
    }

    /// Appends [`Step::Call`].
    #[must_use]
    pub fn call(self, call: Call) -> Self {
        self.step(Step::Call(Box::new(call)))
    }
}

/// A request from its line: method, key name or `-`, target. The expected response is 200 without content unless
/// changed.
pub fn call(line: &str) -> Call {
    let mut words = line.splitn(3, ' ');
    let mut word = || words.next().expect("method, key, target").to_owned();
    let (method, key, target) = (word(), word(), word());
    Call {
        method,
        key: Some(key).filter(|key| key != "-"),
        target,
        headers: Vec::new(),
        body: Vec::new(),
        expect: Expect {
            status: 200,
            ..Expect::default()
        },
    }
}

impl Call {
    /// Sends a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sends a body, with a content type unless it is empty.
    #[must_use]
    pub fn body(mut self, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        if content_type.is_empty() {
            return self;
        }
        self.header("content-type", content_type)
    }

    /// Sends a JSON body.
    #[must_use]
    pub fn json(self, body: impl Into<Vec<u8>>) -> Self {
        self.body("application/json", body)
    }

    /// Expects this status and no body.
    #[must_use]
    pub fn empty(mut self, status: u16) -> Self {
        self.expect.status = status;
        self.expect.body = Body::Empty;
        self
    }

    /// Expects 200 with exactly this text.
    #[must_use]
    pub fn gives(mut self, text: impl Into<String>) -> Self {
        self.expect.body = Body::Text(text.into());
        self
    }

    /// Expects 200 with this JSON value.
    #[must_use]
    pub fn gives_json(mut self, json: impl Into<String>) -> Self {
        self.expect.body = Body::Json(json.into());
        self
    }

    /// Expects 200; another call checks the effect.
    #[must_use]
    pub fn gives_any(mut self) -> Self {
        self.expect.body = Body::Any;
        self
    }

    /// Expects this status instead of 200.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.expect.status = status;
        self
    }

    /// Expects this header.
    #[must_use]
    pub fn answers(mut self, name: &str, value: &str) -> Self {
        let header = (name.to_owned(), Some(value.to_owned()));
        self.expect.headers.push(header);
        self
    }

    /// Expects that this header is absent.
    #[must_use]
    pub fn lacks(mut self, name: &str) -> Self {
        self.expect.headers.push((name.to_owned(), None));
        self
    }

    /// Expects a refusal with this code.
    #[must_use]
    pub fn refused(mut self, code: &'static str) -> Self {
        self.expect.status = super::documents::problem(code).status;
        self.expect.body = Body::Problem(code, Vec::new());
        self
    }

    /// Expects that the refusal names this field with this message.
    #[must_use]
    pub fn error(self, field: &str, message: impl Into<String>) -> Self {
        self.with_error(field, Message::Exact(message.into()))
    }

    /// Expects that the refusal names this field with a message that contains these words.
    #[must_use]
    pub fn error_holding(self, field: &str, words: &[&str]) -> Self {
        let words = words.iter().map(|&word| word.to_owned()).collect();
        self.with_error(field, Message::Holding(words))
    }

    fn with_error(mut self, field: &str, message: Message) -> Self {
        let Body::Problem(_, errors) = &mut self.expect.body else {
            panic!("only a refusal has errors");
        };
        errors.push((field.to_owned(), message));
        self
    }
}
