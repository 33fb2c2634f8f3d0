//! The result of a handler: the response, or the writes that it waits for.

use std::fmt;

use bytes::Bytes;
use http::{HeaderValue, Response};

use crate::engine_core::{EngineCore, Outcomes, PendingWrite};
use crate::mutation::{AuditAccess, AuditRefusal, Mutation, Outcome};
use crate::observer::Event;
use crate::wire::list::ListBody;
use crate::wire::problem::Problem;
use crate::wire::reply;

use super::chunks::{Chunks, Items, Made};
use super::import::Import;
use super::{Call, Failure, Handled};

/// The result of a handler.
#[derive(Debug)]
pub(crate) enum Completion {
    /// The response.
    Response(Response<Bytes>),
    /// The response with the first chunk of its body, and the rest.
    Chunked(Response<Bytes>, Chunks),
    /// The response is made once the writes are durable. If one was refused, the first refusal is the response.
    Pending(Outcomes, Respond),
    /// The response is made once the import is over.
    Import(Box<Import>),
}

/// Makes a response from the outcome of the writes: the first error among them, if any.
pub(crate) struct Respond(Box<MakeResponse>);

type MakeResponse = dyn FnOnce(&EngineCore, Outcome) -> Result<Made, Failure> + Send;

impl fmt::Debug for Respond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Respond").finish_non_exhaustive()
    }
}

impl Respond {
    /// The response, once all outcomes are there.
    pub(crate) fn respond(
        self,
        core: &EngineCore,
        traceparent: Option<&HeaderValue>,
        outcome: Outcome,
    ) -> Made {
        (self.0)(core, outcome).unwrap_or_else(|failure| {
            let problem = failure.into_problem(core);
            (super::problem(core, &problem, traceparent), None)
        })
    }
}

impl Completion {
    /// The response comes when all outcomes are there.
    pub(super) fn after(
        outcomes: Outcomes,
        respond: impl FnOnce() -> Result<Response<Bytes>, Failure> + Send + 'static,
    ) -> Self {
        Self::from_outcome(outcomes, |_, outcome| {
            outcome?;
            respond()
        })
    }

    /// The response is made from the outcome: the first error, if there is one.
    pub(super) fn from_outcome(
        outcomes: Outcomes,
        respond: impl FnOnce(&EngineCore, Outcome) -> Result<Response<Bytes>, Failure> + Send + 'static,
    ) -> Self {
        let make = |core: &EngineCore, outcome: Outcome| Ok((respond(core, outcome)?, None));
        Self::Pending(outcomes, Respond(Box::new(make)))
    }

    /// The same response, once the audit row of its data is durable.
    pub(super) fn once_audited(self, core: &EngineCore, row: AuditAccess) -> Self {
        let made = match self {
            _ if core.store.is_read_only() => return self,
            Self::Response(response) => (response, None),
            Self::Chunked(response, rest) => (response, Some(rest)),
            Self::Pending(..) | Self::Import(_) => return self,
        };
        let action = row.action;
        let outcomes = Outcomes::one(core.submit(row).claim);
        let make = move |core: &EngineCore, outcome: Outcome| {
            core.audited(action, outcome)?;
            Ok(made)
        };
        Self::Pending(outcomes, Respond(Box::new(make)))
    }

    /// The response of a refusal, once its audit row is durable. If the row cannot be written, the response is the same and the
    /// host is notified.
    pub(super) fn refused(core: &EngineCore, row: AuditRefusal, problem: Problem) -> Self {
        let action = row.action;
        let outcomes = Outcomes::one(core.submit(row).claim);
        let make = move |core: &EngineCore, outcome: Outcome| {
            if outcome.is_err() {
                let action = action.as_str();
                core.observe(&Event::Unaudited { action });
            }
            Err(problem.into())
        };
        Self::Pending(outcomes, Respond(Box::new(make)))
    }

    /// The response is made once the import is over.
    pub(super) fn import(import: Import) -> Self {
        Self::Import(Box::new(import))
    }

    /// The response is made from the result of the write.
    pub(super) fn from_write<T: Send + 'static>(
        write: PendingWrite<T>,
        respond: impl FnOnce(T) -> Response<Bytes> + Send + 'static,
    ) -> Self {
        let PendingWrite { claim, output } = write;
        Self::after(Outcomes::one(claim), || Ok(respond(output.take()?)))
    }

    /// Makes it the response to HEAD: without its body.
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
    /// Submits a mutation; the response is made from its result.
    pub(super) fn write<M: Mutation>(
        &self,
        mutation: M,
        respond: impl FnOnce(M::Output) -> Response<Bytes> + Send + 'static,
    ) -> Completion {
        Completion::from_write(self.core.submit(mutation), respond)
    }

    /// 200 with a list. A list that fits one chunk is an ordinary body.
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
