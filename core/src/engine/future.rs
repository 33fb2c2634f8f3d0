//! The futures of [`Engine::call`](super::Engine::call) and [`Engine::submit_batch`](super::Engine::submit_batch).

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::{HeaderValue, Response};

use crate::api::{self, Step, Then, Tickets};
use crate::config::CommitDriver;
use crate::engine_core::EngineCore;
use crate::error::{EngineError, Result};
use crate::mutation::Outcome;
use crate::store::writer::Ticket;

use super::ResponseBody;

/// Resolves to the response, once what the request wrote is durable. Needs no particular executor.
#[must_use = "a response that nobody awaits is lost, though what was submitted is still written"]
pub struct ResponseFuture(State<Bytes>);

/// [`ResponseFuture`] with a body that is made while it is sent.
#[must_use = "a response that nobody awaits is lost, though what was submitted is still written"]
pub struct StreamedFuture(State<ResponseBody>);

enum State<B> {
    Ready(Option<Response<B>>),
    Waiting {
        waiting: Waiting,
        then: Option<Then>,
        traceparent: Option<HeaderValue>,
    },
}

/// Outcomes on their way.
struct Waiting {
    core: Arc<EngineCore>,
    /// The one whose outcome comes next, behind those in `outcomes`.
    current: Option<Ticket<Outcome>>,
    /// Those behind that.
    tickets: Tickets,
    outcomes: Vec<Outcome>,
    /// Whether the futures of the same turn had their chance to submit.
    gathered: bool,
}

impl ResponseFuture {
    pub(super) fn of(
        core: Arc<EngineCore>,
        step: Step,
        traceparent: impl FnOnce() -> Option<HeaderValue>,
    ) -> Self {
        Self(match step {
            Step::Done(response) => State::Ready(Some(response)),
            Step::Streamed(response, chunks) => {
                let response = api::collect(&core, traceparent().as_ref(), response, chunks);
                State::Ready(Some(response))
            }
            Step::Wait(tickets, then) => State::waiting(core, tickets, then, traceparent()),
        })
    }
}

impl StreamedFuture {
    pub(super) fn of(
        core: Arc<EngineCore>,
        step: Step,
        traceparent: impl FnOnce() -> Option<HeaderValue>,
    ) -> Self {
        Self(match step {
            Step::Done(response) => State::Ready(Some(response.map(ResponseBody::from))),
            Step::Streamed(response, chunks) => State::Ready(Some(
                response.map(|first| ResponseBody::streamed(first, core, chunks)),
            )),
            Step::Wait(tickets, then) => State::waiting(core, tickets, then, traceparent()),
        })
    }
}

impl<B: From<Bytes>> State<B> {
    fn waiting(
        core: Arc<EngineCore>,
        tickets: Tickets,
        then: Then,
        traceparent: Option<HeaderValue>,
    ) -> Self {
        Self::Waiting {
            waiting: Waiting::new(core, tickets),
            then: Some(then),
            traceparent,
        }
    }

    fn poll(&mut self, context: &Context<'_>) -> Poll<Response<B>> {
        match self {
            #[expect(
                clippy::expect_used,
                reason = "the contract of `Future`: never polled after it has resolved"
            )]
            Self::Ready(response) => {
                Poll::Ready(response.take().expect("polled after it had resolved"))
            }
            Self::Waiting {
                waiting,
                then,
                traceparent,
            } => {
                let outcomes = ready!(waiting.poll(context));
                let then = then.take().unwrap_or(Then::Empty);
                let traceparent = traceparent.as_ref();
                let response = api::finish(&waiting.core, traceparent, outcomes, then);
                *self = Self::Ready(None);
                Poll::Ready(response.map(B::from))
            }
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Ready(_) => "ready",
            Self::Waiting { .. } => "waiting",
        }
    }
}

impl Waiting {
    fn new(core: Arc<EngineCore>, mut tickets: Tickets) -> Self {
        Self {
            current: tickets.next(),
            tickets,
            outcomes: Vec::new(),
            gathered: core.config.commit_driver != CommitDriver::Caller,
            core,
        }
    }

    fn poll(&mut self, context: &Context<'_>) -> Poll<Vec<Outcome>> {
        if !self.gathered {
            // One turn of the executor, so that what is ready beside this future goes into the same commit.
            self.gathered = true;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        while let Some(ticket) = &mut self.current {
            let outcome = ready!(self.core.poll(ticket, context.waker()));
            self.outcomes.push(outcome);
            self.current = self.tickets.next();
        }
        Poll::Ready(std::mem::take(&mut self.outcomes))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        // What it submitted is still to be written, and nobody else may be there to do it.
        if self.current.is_some() && self.core.config.commit_driver == CommitDriver::Caller {
            self.core.lead();
        }
    }
}

impl Future for ResponseFuture {
    type Output = Response<Bytes>;

    /// # Panics
    /// When polled again after it has resolved.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.poll(context)
    }
}

impl Future for StreamedFuture {
    type Output = Response<ResponseBody>;

    /// # Panics
    /// When polled again after it has resolved.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.poll(context)
    }
}

impl fmt::Debug for ResponseFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ResponseFuture")
            .field(&self.0.name())
            .finish()
    }
}

impl fmt::Debug for StreamedFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StreamedFuture")
            .field(&self.0.name())
            .finish()
    }
}

/// Resolves once the records of a batch are durable, or will not be. Needs no particular executor.
#[must_use = "whether the records are durable is known to those who await it"]
pub struct BatchFuture(Submitted);

enum Submitted {
    Waiting(Waiting),
    Refused(EngineError),
}

impl BatchFuture {
    pub(super) fn new(core: &Arc<EngineCore>, submitted: Result<Ticket<Outcome>>) -> Self {
        Self(match submitted {
            Ok(ticket) => Submitted::Waiting(Waiting::new(Arc::clone(core), Tickets::one(ticket))),
            Err(error) => Submitted::Refused(error),
        })
    }
}

impl Future for BatchFuture {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            Submitted::Waiting(waiting) => {
                let mut outcomes = ready!(waiting.poll(context)).into_iter();
                Poll::Ready(outcomes.try_for_each(|outcome| outcome.map(drop)))
            }
            Submitted::Refused(error) => Poll::Ready(Err(error.clone())),
        }
    }
}

impl fmt::Debug for BatchFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match &self.0 {
            Submitted::Waiting(_) => "waiting",
            Submitted::Refused(_) => "refused",
        };
        f.debug_tuple("BatchFuture").field(&state).finish()
    }
}
