//! One request, from its head to its response.

use std::sync::Arc;
use std::task::{Poll, Waker};

use http::header::CONTENT_LENGTH;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method};

use crate::config::Limits;
use crate::domain::query::Query;
use crate::engine_core::EngineCore;
use crate::model::{KeyInfo, Rejection};
use crate::mutation::Caller;
use crate::store::fleet::keys::LiveKey;
use crate::wire::problem::{Code, Problem};
use crate::wire::trace::TraceId;

use super::batch::{BatchReader, bare_stream};
use super::endpoint::{Access, Answer, BodyForm, RequestBody, Route};
use super::events::{StreamStart, stream_start};
use super::head::{check_media, check_sizes};
use super::import::Import;
use super::router::{Found, Router};
use super::{Call, Completion, Handled, audited, auth};

/// A request whose head is checked and whose body arrives in any number of pieces. The first refusal is its response.
#[derive(Debug)]
pub(crate) struct Exchange {
    head: Parts,
    /// The row of the table; `None` where no endpoint has that path and method.
    route: Option<&'static Route>,
    admission: Admission,
    body: Body,
    /// Bytes of the body that may still arrive.
    left: usize,
}

/// Boxed, because an admitted request is moved faster without it.
type Admission = Result<Admitted, Box<Refusal>>;

/// An authorized call of an endpoint.
#[derive(Debug)]
struct Admitted {
    route: &'static Route,
    /// The decoded segments of the path.
    segments: Vec<String>,
    key: Option<Arc<LiveKey>>,
}

/// Why a request is refused.
#[derive(Debug)]
struct Refusal {
    problem: Problem,
    /// The endpoint, once the caller is known: such a refusal can be audited.
    call: Option<Admitted>,
}

/// The received part of a body.
#[derive(Debug)]
enum Body {
    /// It is not read: the request has none, or is refused already.
    Ignored,
    Whole(Vec<u8>),
    /// The records of a telemetry batch are read as they arrive.
    Batch(Box<BatchReader>),
    /// The records of an import are read as they arrive, and committed by the 1000.
    Import(Box<Import>),
    TooLarge,
    /// The content coding cannot be decoded any further; a sentence for the sender.
    Broken(&'static str),
}

impl Exchange {
    /// Checks the head.
    #[inline]
    pub(crate) fn begin(core: &EngineCore, router: &Router, head: Parts) -> Self {
        let (route, admission) = admit(core, router, &head);
        let limits = &core.config.limits;
        let body = |call: &Admitted| match call.route.body.form() {
            BodyForm::None => Body::Ignored,
            BodyForm::Json | BodyForm::OptionalJson => Body::Whole(Vec::new()),
            BodyForm::Batch => {
                let bare = bare_stream(Query::new(head.uri.query())).ok().flatten();
                Body::Batch(Box::new(BatchReader::new(limits, bare)))
            }
            BodyForm::Import => {
                let by = Caller::with_key(call.key.as_deref());
                let query = Query::new(head.uri.query());
                Body::Import(Box::new(Import::of_body(core, &head.headers, query, by)))
            }
        };
        Self {
            body: admission.as_ref().map_or(Body::Ignored, body),
            left: route.map_or(0, |route| route.body_bytes_max(limits)),
            head,
            route,
            admission,
        }
    }

    pub(crate) fn route(&self) -> Option<&'static Route> {
        self.route
    }

    pub(crate) fn body_bytes_max(&self, limits: &Limits) -> usize {
        match (self.route, &self.admission) {
            (Some(route), Ok(_)) => route.body_bytes_max(limits),
            (Some(route), Err(_)) => route.body_bytes_max(limits).min(limits.body_bytes_max()),
            // The body is read and discarded, so that the connection can serve another request.
            (None, Err(refused)) if refused.problem.code == Code::MethodNotAllowed => {
                limits.record_body_bytes
            }
            (None, _) => 0,
        }
    }

    pub(crate) fn push(&mut self, core: &EngineCore, piece: &[u8]) {
        if matches!(self.body, Body::Whole(_) | Body::Batch(_)) {
            match self.left.checked_sub(piece.len()) {
                Some(left) => self.left = left,
                None => return self.too_large(),
            }
        }
        match &mut self.body {
            Body::Whole(whole) => {
                grow(whole, piece.len(), self.left, &self.head.headers);
                whole.extend_from_slice(piece);
            }
            Body::Batch(batch) => batch.push(core, piece),
            Body::Import(import) => import.push(piece),
            Body::Ignored | Body::TooLarge | Body::Broken(_) => {}
        }
    }

    pub(crate) fn too_large(&mut self) {
        self.end_body(Body::TooLarge);
    }

    /// Ready when the next piece may come: then at most a part of an import is in memory.
    pub(crate) fn poll_ready(&mut self, core: &EngineCore, waker: &Waker) -> Poll<()> {
        if let Body::Import(import) = &mut self.body {
            return import.poll_ready(core, waker);
        }
        Poll::Ready(())
    }

    /// Whether a part of the body was submitted already.
    pub(crate) fn has_begun(&self) -> bool {
        matches!(&self.body, Body::Import(import) if import.has_begun())
    }

    pub(crate) fn broken(&mut self, message: &'static str) {
        if let Body::Import(import) = &mut self.body {
            return import.broken(message);
        }
        self.end_body(Body::Broken(message));
    }

    /// The received part is dropped.
    fn end_body(&mut self, end: Body) {
        if matches!(self.body, Body::Whole(_) | Body::Batch(_)) {
            self.body = end;
        }
    }

    pub(crate) fn is_refused(&self) -> bool {
        self.admission.is_err()
            || match &self.body {
                Body::TooLarge | Body::Broken(_) => true,
                Body::Import(import) => import.has_failed(),
                Body::Ignored | Body::Whole(_) | Body::Batch(_) => false,
            }
    }

    /// The memory that the body takes, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        match &self.body {
            Body::Whole(whole) => whole.capacity(),
            Body::Batch(batch) => batch.bytes(),
            Body::Import(import) => import.bytes(),
            Body::Ignored | Body::TooLarge | Body::Broken(_) => 0,
        }
    }

    /// The bytes that were pushed of a body that is kept as it is; of any other as [`Self::bytes`].
    pub(crate) fn body_bytes(&self) -> usize {
        if let Body::Whole(whole) = &self.body {
            whole.len()
        } else {
            self.bytes()
        }
    }

    /// Handles the request with the body that was pushed.
    pub(crate) fn finish(&mut self, core: &EngineCore) -> Completion {
        let body = std::mem::replace(&mut self.body, Body::Ignored);
        self.respond(core, |call, head| match body {
            Body::Batch(batch) => batch.finish(core),
            Body::Import(import) => Ok(Completion::import(import.finish(core)?)),
            Body::Whole(whole) => call.handle(core, head, Ok(&whole)),
            Body::Ignored => call.handle(core, head, Ok(b"")),
            Body::TooLarge => call.handle(core, head, Err(BodyFault::TooLarge)),
            Body::Broken(message) => call.handle(core, head, Err(BodyFault::Broken(message))),
        })
    }

    /// As [`Self::finish`] after all of `body` was pushed, which is not copied.
    pub(crate) fn finish_with(&mut self, core: &EngineCore, body: &[u8]) -> Completion {
        if let Body::Import(import) = &mut self.body {
            import.push(body);
            return self.finish(core);
        }
        let fits = body.len() <= self.left || matches!(self.body, Body::Ignored);
        let body = if fits {
            Ok(body)
        } else {
            Err(BodyFault::TooLarge)
        };
        self.respond(core, |call, head| call.handle(core, head, body))
    }

    /// The source of trace ids.
    pub(crate) fn traceparent(&self) -> Option<&HeaderValue> {
        TraceId::traceparent(&self.head.extensions, &self.head.headers)
    }

    /// The accepted key, also of a refused request.
    pub(crate) fn key(&self) -> Option<&KeyInfo> {
        let call = match &self.admission {
            Ok(call) => call,
            Err(refusal) => refusal.call.as_ref()?,
        };
        call.key.as_deref().map(|key| &key.info)
    }

    /// Whether the request carries an accepted key, also if none is needed.
    pub(crate) fn carries_key(&self, core: &EngineCore) -> bool {
        auth::carries_key(core, &self.head)
    }

    /// The position of the requested stream of events; `None` for any other request, and for a refused one.
    pub(crate) fn event_stream(&self) -> Option<StreamStart> {
        let call = self.admission.as_ref().ok()?;
        let is_stream = call.route.answer == Answer::Events && self.head.method == Method::GET;
        let query = Query::new(self.head.uri.query());
        let start = is_stream.then(|| stream_start(&self.head.headers, query));
        start?.ok()?
    }

    fn respond(
        &self,
        core: &EngineCore,
        handle: impl FnOnce(&Admitted, &Parts) -> Handled,
    ) -> Completion {
        let completion = match &self.admission {
            Ok(call) => self.handled(core, call, handle).unwrap_or_else(|failure| {
                self.refuse(core, &failure.into_problem(core), Some(call))
            }),
            Err(refusal) => self.refuse(core, &refusal.problem, refusal.call.as_ref()),
        };
        if self.head.method != Method::HEAD {
            return completion;
        }
        completion.head()
    }

    /// The result of the handler. If it hands data out, the audit row is durable before the first byte.
    fn handled(
        &self,
        core: &EngineCore,
        call: &Admitted,
        handle: impl FnOnce(&Admitted, &Parts) -> Handled,
    ) -> Handled {
        // Most requests have no such row, and a completion is large to move.
        let Some(action) = audited::handed_out(call.route, &self.head)? else {
            return handle(call, &self.head);
        };
        let completion = handle(call, &self.head)?;
        let row = audited::access(action, call.route, call.key.as_deref(), &self.head);
        Ok(completion.once_audited(core, row))
    }

    /// The response of a refusal, after its audit row is durable. A read-only store has no rows.
    fn refuse(&self, core: &EngineCore, problem: &Problem, call: Option<&Admitted>) -> Completion {
        self.count_rejected(core, problem.code);
        let row = call.and_then(|call| {
            let (route, key) = (call.route, call.key.as_deref());
            audited::refusal(route, &call.segments, key, &self.head, problem)
        });
        if let Some(row) = row
            && !core.store.is_read_only()
        {
            return Completion::refused(core, row, problem.clone());
        }
        Completion::Response(super::problem(core, problem, self.traceparent()))
    }

    /// Counts telemetry that was refused before a handler read it.
    fn count_rejected(&self, core: &EngineCore, code: Code) {
        let has_records = self
            .route
            .is_some_and(|route| matches!(route.body, RequestBody::Record(_) | RequestBody::Batch));
        if has_records && code == Code::PayloadTooLarge {
            core.count_rejected(Rejection::TooLong, 1);
        } else if has_records && code == Code::UnsupportedMediaType {
            core.count_rejected(Rejection::ContentType, 1);
        }
    }
}

impl Admitted {
    fn handle(&self, core: &EngineCore, head: &Parts, body: Result<&[u8], BodyFault>) -> Handled {
        if self.route.body.form() == BodyForm::OptionalJson {
            let is_empty = matches!(body, Ok(b"") | Err(BodyFault::Broken(_)));
            check_media(&head.headers, !is_empty)?;
        }
        let limits = &core.config.limits;
        let call = Call {
            core,
            route: self.route,
            headers: &head.headers,
            body: body.map_err(|fault| fault.problem(limits, self.route))?,
            query: Query::new(head.uri.query()),
            segments: &self.segments,
            key: self.key.as_deref(),
        };
        self.route.handler.run(&call)
    }
}

/// Reserves memory for `more` bytes. It doubles, but not beyond the limit or the `Content-Length`.
fn grow(whole: &mut Vec<u8>, more: usize, left: usize, headers: &HeaderMap) {
    let length = whole.len() + more;
    if length <= whole.capacity() {
        return;
    }
    let declared = || headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok();
    // A length that is too small already does not count.
    let declared = declared().filter(|declared| *declared >= length);
    let most = declared.map_or(length + left, |declared: usize| declared.min(length + left));
    let room = (2 * whole.capacity()).min(most).max(length);
    whole.reserve_exact(room - whole.len());
}

/// Why a body cannot be read.
#[derive(Debug, Clone, Copy)]
enum BodyFault {
    TooLarge,
    Broken(&'static str),
}

impl BodyFault {
    fn problem(self, limits: &Limits, route: &Route) -> Problem {
        match self {
            Self::TooLarge => {
                let max = route.body_bytes_max(limits);
                let message = if route.body.form() == BodyForm::Batch {
                    format!(
                        "The batch is larger than {max} bytes, the setting limits.batch_body_bytes. Split it between lines into several requests."
                    )
                } else {
                    format!("The body is larger than {max} bytes.")
                };
                Problem::detailed(Code::PayloadTooLarge, message)
            }
            Self::Broken(message) => Problem::detailed(Code::InvalidBody, message),
        }
    }
}

/// Checks the head, for the row of the table that it asks for.
fn admit(core: &EngineCore, router: &Router, head: &Parts) -> (Option<&'static Route>, Admission) {
    let found = router.find(&head.method, head.uri.path());
    let route = found.route();
    let refused = |problem, call| Err(Box::new(Refusal { problem, call }));
    let admission = match authenticate(core, found, head) {
        Ok(call) => match check(core, &call, head) {
            Ok(()) => Ok(call),
            Err(problem) => refused(problem, Some(call)),
        },
        Err(problem) => refused(problem, None),
    };
    (route, admission)
}

/// Finds the route and the caller. The sizes of the head are checked first.
fn authenticate(core: &EngineCore, found: Found, head: &Parts) -> Result<Admitted, Problem> {
    check_sizes(&core.config.limits, head)?;
    let (route, segments) = match found {
        Found::Route { route, segments } => (route, segments),
        Found::MethodNotAllowed(allow) => return Err(Problem::method_not_allowed(allow)),
        Found::Nothing => return Err(Problem::new(Code::NotFound)),
    };
    let key = auth::authenticate(core, route.access, head)?;
    Ok(Admitted {
        route,
        segments,
        key,
    })
}

/// Checks a request for something that the host serves itself, like an endpoint with `access` and no parameters. Returns the
/// accepted key also if the request is refused.
pub(crate) fn authorize(
    core: &EngineCore,
    access: Access,
    head: &Parts,
) -> (Option<Arc<LiveKey>>, Result<(), Problem>) {
    let key = check_sizes(&core.config.limits, head)
        .and_then(|()| auth::authenticate(core, access, head));
    let key = match key {
        Ok(key) => key,
        Err(problem) => return (None, Err(problem)),
    };
    let checked = auth::authorize(core, access, key.as_deref()).and_then(|()| {
        let checked = Query::new(head.uri.query()).check(std::iter::empty());
        checked.map_err(|error| Problem::from(&error))
    });
    (key, checked)
}

/// Checks the rate and the scope of the key, the query, and the headers about the body.
fn check(core: &EngineCore, admitted: &Admitted, head: &Parts) -> Result<(), Problem> {
    let route = admitted.route;
    auth::authorize(core, route.access, admitted.key.as_deref())?;
    auth::authorize_action(route, admitted.key.as_deref())?;
    let query = Query::new(head.uri.query());
    let checked = route.check_query(query, |_| true);
    checked.map_err(|error| Problem::from(&error))?;
    match route.body.form() {
        // The end of the request shows whether it has an optional body.
        BodyForm::None | BodyForm::OptionalJson => Ok(()),
        // Their text says what they are.
        BodyForm::Batch => {
            bare_stream(query).map_err(|error| Problem::from(&error))?;
            check_media(&head.headers, false)
        }
        BodyForm::Import => check_media(&head.headers, false),
        BodyForm::Json => check_media(&head.headers, true),
    }
}
