//! From a request to a response: route, key, query, handler.

#![expect(
    clippy::unnecessary_wraps,
    reason = "all handlers have the signature that the route table names"
)]

mod actions;
pub(crate) mod ask;
mod audited;
pub(crate) mod auth;
mod batch;
pub(crate) mod chunks;
mod completion;
pub(crate) mod endpoint;
mod events;
mod exchange;
mod head;
mod import;
mod information;
mod operator;
mod outbox;
pub(crate) mod parameters;
pub(crate) mod query;
pub(crate) mod router;
pub(crate) mod routes;
#[cfg(feature = "schema")]
pub(crate) mod schemas;
mod stats;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response};

use crate::domain::query::Query;
use crate::engine_core::EngineCore;
use crate::error::EngineError;
use crate::mutation::Caller;
use crate::observer::Event;
use crate::store::fleet::keys::LiveKey;
use crate::wire::body::InvalidBody;
use crate::wire::problem::{Code, Problem};
use crate::wire::{reply, trace};

pub(crate) use chunks::{Chunks, Made, collect};
pub(crate) use completion::{Completion, Respond};
pub(crate) use exchange::{Exchange, authorize};
pub(crate) use import::Import;

use endpoint::Route;

/// A request whose head and body passed all checks, for its handler.
pub(crate) struct Call<'c> {
    pub(crate) core: &'c EngineCore,
    pub(crate) route: &'static Route,
    pub(crate) headers: &'c HeaderMap,
    pub(crate) body: &'c [u8],
    pub(crate) query: Query<'c>,
    /// The decoded segments of the path.
    pub(crate) segments: &'c [String],
    pub(crate) key: Option<&'c LiveKey>,
}

impl Call<'_> {
    /// The first `{name}` of the path.
    pub(crate) fn segment(&self) -> &str {
        self.segments.first().map_or("", String::as_str)
    }

    /// The first `{name}` of the path as a number.
    pub(crate) fn number(&self) -> Result<u64, Problem> {
        self.segment()
            .parse()
            .map_err(|_| Problem::new(Code::NotFound))
    }

    pub(crate) fn caller(&self) -> Caller {
        Caller::with_key(self.key)
    }
}

/// The response of a failure.
pub(crate) fn problem(
    core: &EngineCore,
    problem: &Problem,
    traceparent: Option<&HeaderValue>,
) -> Response<Bytes> {
    let traceparent = traceparent.map(HeaderValue::as_bytes);
    reply::problem(problem, &trace::trace_id(traceparent, &core.trace_random))
}

/// A handler's failure: an error in the request, or one of the engine.
#[derive(Debug)]
pub(crate) enum Failure {
    Problem(Problem),
    Engine(EngineError),
}

impl Failure {
    /// The problem for the caller. An internal error is reported to the host: the caller gets no details of it.
    pub(crate) fn into_problem(self, core: &EngineCore) -> Problem {
        match self {
            Self::Problem(problem) => problem,
            Self::Engine(error) => {
                if Code::from(error.kind()) == Code::Internal {
                    core.observe(&Event::Internal { error: &error });
                }
                Problem::from(&error)
            }
        }
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl From<InvalidBody> for Failure {
    fn from(wrong: InvalidBody) -> Self {
        Self::Problem(wrong.into())
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

type Handled = Result<Completion, Failure>;
