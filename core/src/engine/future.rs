//! The future of [`Engine::call`](super::Engine::call).

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderValue, Response};

use crate::api::{self, Then, Tickets};
use crate::config::CommitDriver;
use crate::machine::Machine;
use crate::mutation::Outcome;
use crate::store::writer::Ticket;

/// Resolves to the response, once what the request wrote is durable. Needs no particular executor.
#[must_use = "a response that nobody awaits is lost, though what was submitted is still written"]
pub struct ResponseFuture(State);

enum State {
    Ready(Option<Response<Bytes>>),
    Waiting(Waiting),
}

struct Waiting {
    machine: Arc<Machine>,
    /// The one whose outcome comes next, behind those in `outcomes`.
    current: Option<Ticket<Outcome>>,
    /// Those behind that.
    tickets: Tickets,
    outcomes: Vec<Outcome>,
    then: Option<Then>,
    traceparent: Option<HeaderValue>,
    /// Whether the futures of the same turn had their chance to submit.
    gathered: bool,
}

impl ResponseFuture {
    pub(super) fn ready(response: Response<Bytes>) -> Self {
        Self(State::Ready(Some(response)))
    }

    pub(super) fn waiting(
        machine: Arc<Machine>,
        mut tickets: Tickets,
        then: Then,
        traceparent: Option<HeaderValue>,
    ) -> Self {
        Self(State::Waiting(Waiting {
            current: tickets.next(),
            tickets,
            outcomes: Vec::new(),
            then: Some(then),
            traceparent,
            gathered: machine.config.commit_driver != CommitDriver::Caller,
            machine,
        }))
    }
}

impl Waiting {
    fn poll(&mut self, context: &Context<'_>) -> Poll<Response<Bytes>> {
        if !self.gathered {
            // One turn of the executor, so that what is ready beside this future goes into the same commit.
            self.gathered = true;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let leads = self.machine.config.commit_driver != CommitDriver::Host;
        while let Some(ticket) = &mut self.current {
            if leads {
                self.machine.lead();
            }
            match ticket.poll(context.waker()) {
                Poll::Ready(Some(outcome)) => {
                    self.outcomes.push(outcome);
                    self.current = self.tickets.next();
                }
                Poll::Ready(None) => {}
                Poll::Pending => return Poll::Pending,
            }
        }
        let outcomes = std::mem::take(&mut self.outcomes);
        let then = self.then.take().unwrap_or(Then::Empty);
        Poll::Ready(api::finish(
            &self.machine,
            self.traceparent.as_ref(),
            outcomes,
            then,
        ))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        // Others may wait for this future to lead, and what it submitted is still to be written.
        if self.current.is_some() && self.machine.config.commit_driver == CommitDriver::Caller {
            self.machine.lead();
        }
    }
}

impl Future for ResponseFuture {
    type Output = Response<Bytes>;

    /// # Panics
    /// When polled again after it has resolved.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            #[expect(
                clippy::expect_used,
                reason = "the contract of `Future`: never polled after it has resolved"
            )]
            State::Ready(response) => {
                Poll::Ready(response.take().expect("polled after it had resolved"))
            }
            State::Waiting(waiting) => {
                let polled = waiting.poll(context);
                if polled.is_ready() {
                    self.0 = State::Ready(None);
                }
                polled
            }
        }
    }
}

impl fmt::Debug for ResponseFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match &self.0 {
            State::Ready(_) => "ready",
            State::Waiting(_) => "waiting",
        };
        f.debug_tuple("ResponseFuture").field(&state).finish()
    }
}
