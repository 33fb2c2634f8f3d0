//! A telemetry batch whose text arrives in pieces: its lines are read as they come, and only what they become is kept.

use http::HeaderValue;
use http::request::Parts;

use crate::engine_core::EngineCore;
use crate::limits::{BATCH_LINE_MORE, Limits};
use crate::model::{RecordRef, Stream};
use crate::store::telemetry::arrivals::Arrivals;
use crate::wire::body::{self, LineErrors};
use crate::wire::problem::Problem;
use crate::wire::query::RawQuery;

use super::endpoint::{BrokenBody, RequestBody, Route};
use super::router::{Found, Router};
use super::{Failure, Handled, Step, Then, Tickets};

/// The lines of a batch, cut anywhere on their way in. Nothing is accepted before [`Self::finish`].
#[derive(Debug)]
pub(super) struct BatchLines {
    arrivals: Arrivals,
    errors: LineErrors,
    /// Lines that have ended.
    ended: u64,
    /// What has come of the next one.
    begun: Vec<u8>,
    /// Whether that has too many bytes already; they are not kept.
    begun_too_long: bool,
    line_max: usize,
}

impl BatchLines {
    pub(super) fn new(limits: &Limits) -> Self {
        let record_max = limits.record_body_bytes.max(limits.processes_body_bytes);
        Self {
            arrivals: Arrivals::default(),
            errors: LineErrors::default(),
            ended: 0,
            begun: Vec::new(),
            begun_too_long: false,
            line_max: record_max.saturating_add(BATCH_LINE_MORE),
        }
    }

    pub(super) fn push(&mut self, core: &EngineCore, mut piece: &[u8]) {
        while let Some(end) = piece.iter().position(|byte| *byte == b'\n') {
            let (line, rest) = piece.split_at(end);
            self.end_line(core, line);
            piece = rest.get(1..).unwrap_or_default();
        }
        self.keep(piece);
    }

    /// The answer, once what was read is durable.
    pub(super) fn finish(mut self, core: &EngineCore) -> Handled {
        self.end_line(core, b"");
        let then = Then::Lines {
            done: "accepted",
            count: self.arrivals.records(),
            errors: self.errors,
        };
        let ticket = core.accept_all(self.arrivals)?;
        Ok(Step::Wait(Tickets::one(ticket), then))
    }

    fn bytes(&self) -> usize {
        self.arrivals.bytes() + self.errors.bytes() + self.begun.capacity()
    }

    fn keep(&mut self, text: &[u8]) {
        if self.begun_too_long || self.begun.len() + text.len() > self.line_max {
            self.begun_too_long = true;
            self.begun = Vec::new();
        } else {
            self.begun.extend_from_slice(text);
        }
    }

    /// The line that has begun ends with `text`.
    fn end_line(&mut self, core: &EngineCore, text: &[u8]) {
        self.ended += 1;
        if self.begun.is_empty() && !self.begun_too_long && text.len() <= self.line_max {
            return self.read(core, text);
        }
        self.keep(text);
        if self.begun_too_long {
            self.begun_too_long = false;
            let said = format!("The line is longer than {} bytes.", self.line_max);
            return self.errors.add(self.ended, said);
        }
        let mut line = std::mem::take(&mut self.begun);
        self.read(core, &line);
        line.clear();
        self.begun = line;
    }

    fn read(&mut self, core: &EngineCore, line: &[u8]) {
        if body::is_blank(line) {
            return;
        }
        let mut record = RecordRef::empty(Stream::Stats);
        match body::batch_line(line, &mut record) {
            Ok(()) => core.push(&mut self.arrivals, &record),
            Err(message) => self.errors.add(self.ended, message),
        }
    }
}

/// A request that posts a batch, from its head on. What is refused stays so, whatever comes of the body.
#[derive(Debug)]
pub(crate) struct Upload {
    lines: Result<BatchLines, Problem>,
    /// Bytes of the body that may still come.
    left: usize,
    traceparent: Option<HeaderValue>,
}

impl Upload {
    /// Begins one; `None` when the request is another.
    pub(crate) fn begin(core: &EngineCore, router: &Router, head: &Parts) -> Option<Self> {
        let route = match router.find(&head.method, head.uri.path()) {
            Found::Route { route, .. } if route.body == RequestBody::Batch => route,
            Found::Route { .. } | Found::MethodNotAllowed(_) | Found::Nothing => return None,
        };
        let limits = &core.config.limits;
        Some(Self {
            lines: check(core, route, head).map(|()| BatchLines::new(limits)),
            left: super::body_bytes_max(limits, RequestBody::Batch),
            traceparent: head.headers.get(super::TRACEPARENT).cloned(),
        })
    }

    pub(crate) fn push(&mut self, core: &EngineCore, piece: &[u8]) {
        let Ok(lines) = &mut self.lines else { return };
        match self.left.checked_sub(piece.len()) {
            Some(left) => {
                self.left = left;
                lines.push(core, piece);
            }
            None => self.too_large(core),
        }
    }

    pub(crate) fn too_large(&mut self, core: &EngineCore) {
        self.refuse(|| super::too_large(&core.config.limits, RequestBody::Batch));
    }

    pub(crate) fn broken(&mut self, broken: BrokenBody) {
        self.refuse(|| super::broken_body(broken));
    }

    /// The first refusal counts; what was read until then is forgotten.
    fn refuse(&mut self, problem: impl FnOnce() -> Problem) {
        if self.lines.is_ok() {
            self.lines = Err(problem());
        }
    }

    pub(crate) fn is_refused(&self) -> bool {
        self.lines.is_err()
    }

    /// The memory that the batch takes, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.lines.as_ref().map_or(0, BatchLines::bytes)
    }

    /// At the end of the body.
    pub(crate) fn finish(self, core: &EngineCore) -> (Step, Option<HeaderValue>) {
        let lines = self.lines.map_err(Failure::Problem);
        let handled = lines.and_then(|lines| lines.finish(core));
        let step = handled.unwrap_or_else(|failure| {
            let refused = failure.into_problem(core);
            Step::Done(super::problem(core, &refused, self.traceparent.as_ref()))
        });
        (step, self.traceparent)
    }
}

/// What is checked of any request before its body.
fn check(core: &EngineCore, route: &Route, head: &Parts) -> Result<(), Problem> {
    super::check_head(&core.config.limits, &head.uri, &head.headers)?;
    let query = RawQuery::new(head.uri.query());
    let key = super::auth::authenticate(core, route.access, &head.headers, query)?;
    super::admitted(core, route, &head.uri, key.as_deref())?;
    super::check_coding(&head.headers)?;
    match head.extensions.get::<BrokenBody>() {
        Some(broken) => Err(super::broken_body(*broken)),
        None => Ok(()),
    }
}
