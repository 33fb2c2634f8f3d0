//! What a handler returns: the response, or the writes that it waits for.

use std::fmt;

use bytes::Bytes;
use http::{HeaderValue, Response};

use crate::engine_core::{EngineCore, Outcomes, PendingWrite};
use crate::mutation::{Mutation, Outcome};
use crate::wire::list::ListBody;
use crate::wire::reply;

use super::chunks::{Chunks, Items};
use super::import::Import;
use super::{Call, Failure, Handled};

/// What a handler returns.
#[derive(Debug)]
pub(crate) enum Completion {
    /// The response.
    Response(Response<Bytes>),
    /// The response with the first chunk of its body, and the rest.
    Chunked(Response<Bytes>, Chunks),
    /// The response is made once the writes are durable. Where one was refused, the first refusal is the response instead.
    Pending(Outcomes, Respond),
    /// The response is made once the import is over.
    Import(Box<Import>),
}

/// Makes a response of what the writes returned.
pub(crate) struct Respond(Box<dyn FnOnce() -> Result<Response<Bytes>, Failure> + Send>);

impl fmt::Debug for Respond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Respond").finish_non_exhaustive()
    }
}

impl Respond {
    /// The response, now that all outcomes are there; `outcome` is the first error among them.
    pub(crate) fn respond(
        self,
        core: &EngineCore,
        traceparent: Option<&HeaderValue>,
        outcome: Outcome,
    ) -> Response<Bytes> {
        let response = outcome.map_err(Failure::Engine).and_then(|()| (self.0)());
        response.unwrap_or_else(|failure| {
            let problem = failure.into_problem(core);
            super::problem(core, &problem, traceparent)
        })
    }
}

impl Completion {
    /// The response comes when all outcomes are there.
    pub(super) fn after(
        outcomes: Outcomes,
        respond: impl FnOnce() -> Result<Response<Bytes>, Failure> + Send + 'static,
    ) -> Self {
        Self::Pending(outcomes, Respond(Box::new(respond)))
    }

    /// The response is made once the import is over.
    pub(super) fn import(import: Import) -> Self {
        Self::Import(Box::new(import))
    }

    /// The response is made of what the write returns.
    pub(super) fn of<T: Send + 'static>(
        write: PendingWrite<T>,
        respond: impl FnOnce(T) -> Response<Bytes> + Send + 'static,
    ) -> Self {
        let PendingWrite { claim, output } = write;
        Self::after(Outcomes::one(claim), || Ok(respond(output.take()?)))
    }

    /// As the response to HEAD: without its body.
    pub(super) fn head(self) -> Self {
        match self {
            Self::Response(response) => Self::Response(reply::head(response)),
            // The length of the body is unknown without making it.
            Self::Chunked(response, _) => Self::Response(response.map(|_| Bytes::new())),
            Self::Pending(..) | Self::Import(_) => self,
        }
    }
}

impl Call<'_> {
    /// Submits a mutation; the response is made of what it returns.
    pub(super) fn write<M: Mutation>(
        &self,
        mutation: M,
        respond: impl FnOnce(M::Output) -> Response<Bytes> + Send + 'static,
    ) -> Completion {
        Completion::of(self.core.submit(mutation), respond)
    }

    /// 200 with a list. One that fits a chunk is a body as any other.
    pub(super) fn list(
        &self,
        content_type: HeaderValue,
        body: ListBody,
        items: Box<dyn Items>,
    ) -> Handled {
        let (first, rest) = Chunks::begin(self.core, body, items)?;
        let response = reply::ok(content_type, first);
        Ok(match rest {
            None => Completion::Response(response),
            Some(rest) => Completion::Chunked(response, rest),
        })
    }
}
