//! The futures of [`Engine::call`](super::Engine::call) and of the typed methods that end in `_async`.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::{HeaderValue, Response};

use crate::api::{self, Completion, Exchange, Import, Made, Respond};
use crate::config::CommitDriver;
use crate::engine_core::{EngineCore, Outcomes, Output, PendingWrite};
use crate::error::Result;
use crate::mutation::Outcome;

use super::ResponseBody;

/// Resolves to the response once the writes of the request are durable. Needs no particular executor. The body is one piece, or a
/// [`ResponseBody`] that is made while it is sent.
#[must_use = "a response that nobody awaits is lost, though what was submitted is still written, but for the rest of an import"]
pub struct ResponseFuture<B = Bytes>(State<B>);

/// Makes the body of a response to a request with that key.
type Finish<B> = fn(&Arc<EngineCore>, Option<&HeaderValue>, Option<u64>, Made) -> Response<B>;

enum State<B> {
    Ready(Response<B>),
    Pending {
        commits: PendingCommits,
        respond: Respond,
        finish: Finish<B>,
        key: Option<u64>,
        traceparent: Option<HeaderValue>,
    },
    Importing {
        import: PendingImport,
        traceparent: Option<HeaderValue>,
    },
    Resolved,
}

/// An import that is not over.
struct PendingImport {
    core: Arc<EngineCore>,
    import: Box<Import>,
}

/// Writes without an outcome yet.
struct PendingCommits {
    core: Arc<EngineCore>,
    outcomes: Outcomes,
    /// Whether the other futures of this turn were able to submit.
    gathered: bool,
}

impl ResponseFuture {
    pub(super) fn whole(
        core: Arc<EngineCore>,
        completion: Completion,
        exchange: &Exchange,
    ) -> Self {
        Self(match completion {
            Completion::Response(response) => State::Ready(response),
            Completion::Chunked(response, chunks) => {
                let traceparent = exchange.traceparent();
                State::Ready(api::collect(&core, traceparent, (response, Some(chunks))))
            }
            Completion::Pending(outcomes, respond) => State::Pending {
                commits: PendingCommits::new(core, outcomes),
                respond,
                finish: |core, traceparent, _, made| api::collect(core, traceparent, made),
                key: None,
                traceparent: exchange.traceparent().cloned(),
            },
            Completion::Import(import) => State::importing(core, import, exchange),
        })
    }
}

impl ResponseFuture<ResponseBody> {
    pub(super) fn streamed(
        core: Arc<EngineCore>,
        completion: Completion,
        exchange: &Exchange,
    ) -> Self {
        Self(match completion {
            Completion::Response(response) => State::Ready(response.map(ResponseBody::from)),
            Completion::Chunked(response, chunks) => {
                let made = (response, Some(chunks));
                State::Ready(streamed(&core, exchange.key().map(|key| key.id), made))
            }
            Completion::Pending(outcomes, respond) => State::Pending {
                commits: PendingCommits::new(core, outcomes),
                respond,
                finish: |core, _, key, made| streamed(core, key, made),
                key: exchange.key().map(|key| key.id),
                traceparent: exchange.traceparent().cloned(),
            },
            Completion::Import(import) => State::importing(core, import, exchange),
        })
    }
}

/// The response with a body that is made while it is sent.
fn streamed(
    core: &Arc<EngineCore>,
    key: Option<u64>,
    (response, rest): Made,
) -> Response<ResponseBody> {
    response.map(|first| match rest {
        Some(rest) => ResponseBody::streamed(first, Arc::clone(core), rest, key),
        None => first.into(),
    })
}

impl<B> State<B> {
    fn importing(core: Arc<EngineCore>, import: Box<Import>, exchange: &Exchange) -> Self {
        Self::Importing {
            import: PendingImport { core, import },
            traceparent: exchange.traceparent().cloned(),
        }
    }
}

impl<B: From<Bytes> + Unpin> Future for ResponseFuture<B> {
    type Output = Response<B>;

    /// # Panics
    /// When polled again after it has resolved.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let outcome = match &mut self.0 {
            State::Pending { commits, .. } => ready!(commits.poll(context)),
            State::Importing {
                import: PendingImport { core, import },
                ..
            } => {
                ready!(import.poll_over(core, context.waker()));
                Ok(())
            }
            State::Ready(_) | State::Resolved => Ok(()),
        };
        match std::mem::replace(&mut self.0, State::Resolved) {
            State::Ready(response) => Poll::Ready(response),
            State::Pending {
                commits,
                respond,
                finish,
                key,
                traceparent,
            } => {
                let traceparent = traceparent.as_ref();
                let made = respond.respond(&commits.core, traceparent, outcome);
                Poll::Ready(finish(&commits.core, traceparent, key, made))
            }
            State::Importing {
                import,
                traceparent,
            } => {
                let response = import.import.respond(&import.core, traceparent.as_ref());
                Poll::Ready(response.map(B::from))
            }
            #[expect(
                clippy::panic,
                reason = "the contract of `Future`: never polled after it has resolved"
            )]
            State::Resolved => panic!("polled after it had resolved"),
        }
    }
}

impl<B> fmt::Debug for ResponseFuture<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match &self.0 {
            State::Ready(_) => "ready",
            State::Pending { .. } | State::Importing { .. } => "pending",
            State::Resolved => "resolved",
        };
        f.debug_tuple("ResponseFuture").field(&state).finish()
    }
}

impl PendingCommits {
    fn new(core: Arc<EngineCore>, outcomes: Outcomes) -> Self {
        Self {
            gathered: core.config.commit_driver != CommitDriver::Caller,
            core,
            outcomes,
        }
    }

    fn poll(&mut self, context: &Context<'_>) -> Poll<Outcome> {
        if !self.gathered {
            // Waits for one turn of the executor, so that other futures that are ready join the same commit.
            self.gathered = true;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.outcomes.poll(&self.core, context.waker())
    }
}

impl Drop for PendingCommits {
    fn drop(&mut self) {
        // Its writes are still pending, and maybe no other caller commits them.
        if self.outcomes.is_pending() && self.core.config.commit_driver == CommitDriver::Caller {
            self.core.lead();
        }
    }
}

impl Drop for PendingImport {
    fn drop(&mut self) {
        // As above. The rest of an abandoned import is not written.
        if self.import.is_pending() && self.core.config.commit_driver == CommitDriver::Caller {
            self.core.lead();
        }
    }
}

/// Resolves once a write is durable or refused, to what the blocking method of the same name returns. Needs no particular
/// executor.
#[must_use = "whether the write is durable is known to those who await it"]
pub struct WriteFuture<T = ()> {
    commits: Result<PendingCommits>,
    output: Option<Output<T>>,
}

impl<T> WriteFuture<T> {
    pub(super) fn new(core: &Arc<EngineCore>, submitted: Result<PendingWrite<T>>) -> Self {
        match submitted {
            Ok(PendingWrite { claim, output }) => Self {
                commits: Ok(PendingCommits::new(Arc::clone(core), Outcomes::one(claim))),
                output: Some(output),
            },
            Err(error) => Self {
                commits: Err(error),
                output: None,
            },
        }
    }
}

impl<T> Future for WriteFuture<T> {
    type Output = Result<T>;

    /// # Panics
    /// When polled again after it has resolved to what the write returned.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.commits {
            Ok(commits) => ready!(commits.poll(context))?,
            Err(error) => return Poll::Ready(Err(error.clone())),
        }
        #[expect(
            clippy::expect_used,
            reason = "the contract of `Future`: never polled after it has resolved"
        )]
        let output = self.output.take().expect("polled after it had resolved");
        Poll::Ready(output.take())
    }
}

impl<T> fmt::Debug for WriteFuture<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match (&self.commits, &self.output) {
            (Ok(_), Some(_)) => "pending",
            (Ok(_), None) => "resolved",
            (Err(_), _) => "refused",
        };
        f.debug_tuple("WriteFuture").field(&state).finish()
    }
}
