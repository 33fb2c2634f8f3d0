//! [`Engine`]: the engine as a value.

mod body;
mod builder;
mod cluster;
mod event_bytes;
mod events;
mod exchange;
mod future;
#[cfg(feature = "tower")]
mod offload;
#[cfg(feature = "tower")]
mod service;
mod typed;

use std::sync::{Arc, Mutex, Weak};
use std::thread::JoinHandle;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderValue, Method, Request, Response};

use crate::api::endpoint::{Access, Route};
use crate::api::router::Router;
use crate::api::{self, Completion};
use crate::engine_core::EngineCore;
use crate::error::EngineError;
use crate::locks::lock;
use crate::model::{KeyInfo, Scope};
use crate::store::disk::file_of_process::OwnProcess;
use crate::wire::problem::{Code, Problem};
use crate::wire::trace::TraceId;

pub use body::ResponseBody;
pub use builder::{EngineBuilder, Upkeep};
pub use cluster::AppliedFuture;
pub use event_bytes::EventBytes;
pub use events::EventStream;
pub use exchange::{Dispatched, Exchange};
pub use future::{ResponseFuture, WriteFuture};
#[cfg(feature = "tower")]
pub use offload::SlowWork;
#[cfg(feature = "tower")]
pub use service::{EngineService, ServiceBody, ServiceFuture};
pub use typed::{
    Accepted, AcceptedPosition, BatchFuture, RefusedBatch, TelemetryBatch, WorkspaceImport,
    WorkspaceList, WorkspacePage, WorkspaceQuery,
};

/// A fleet of virtual desktops inside this process. Clones share it; the last one closes it. The iterators that its methods return are
/// such clones: they keep its file open until they are dropped or [`Self::close`] is called. A [`WeakEngine`], a stream and a body are none.
///
/// ```
/// use bytes::Bytes;
/// use deskfleet::Engine;
/// use http::Request;
///
/// let engine = Engine::in_memory()?; // or `Engine::open("fleet.redb")`
/// let request = Request::post("/api/Stats/Post")
///     .header("content-type", "application/json")
///     .body(Bytes::from_static(br#"{"username":"jdoe","processorInUse":12}"#))?;
/// assert_eq!(engine.handle(request).status(), 200); // 200 means durable
/// assert_eq!(engine.queue_count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Engine {
    running: Arc<Running>,
}

/// An engine that this handle does not keep open, for what the engine itself holds, such as its observer.
///
/// ```
/// use std::sync::{Arc, OnceLock};
/// use deskfleet::{Engine, Event, WeakEngine};
///
/// let watched: Arc<OnceLock<WeakEngine>> = Arc::default();
/// let seen = Arc::clone(&watched);
/// let engine = Engine::builder()
///     .observer(move |_: &Event<'_>| {
///         if let Some(engine) = seen.get().and_then(WeakEngine::upgrade) {
///             let _ = engine.queue_count();
///         }
///     })
///     .open_in_memory()?;
/// watched.get_or_init(|| engine.downgrade());
/// # Ok::<(), deskfleet::EngineError>(())
/// ```
#[derive(Debug, Clone)]
pub struct WeakEngine {
    running: Weak<Running>,
}

impl WeakEngine {
    /// The engine; `None` once its last clone was dropped.
    #[must_use]
    pub fn upgrade(&self) -> Option<Engine> {
        let running = self.running.upgrade()?;
        Some(Engine { running })
    }
}

/// The core, and the threads of the engine: those of [`CommitDriver::Thread`](crate::CommitDriver::Thread), and that of
/// [`Upkeep::Thread`].
#[derive(Debug)]
struct Running {
    core: Arc<EngineCore>,
    router: Router,
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// The process that has the threads.
    process: OwnProcess,
}

impl Running {
    /// Ends the threads, after they have committed all pending writes. When the observer calls this on one of them, it does not
    /// wait for that thread.
    fn stop(&self) {
        self.core.stop_threads();
        let here = std::thread::current().id();
        let threads = std::mem::take(&mut *lock(&self.threads));
        if self.process.was_forked() {
            // A forked child has none of them: joining one would wait without end, and detaching one is an error.
            let _ = std::mem::ManuallyDrop::new(threads);
            return;
        }
        for thread in threads {
            if thread.thread().id() != here {
                thread.thread().unpark();
                // The panic hook has reported a panic of the thread already.
                let _ = thread.join();
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
        // No caller is left to report the error to.
        let _ = self.core.close();
    }
}

impl Engine {
    /// Begins an engine; see [`EngineBuilder`].
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    /// A handle that does not keep the engine open.
    #[must_use]
    pub fn downgrade(&self) -> WeakEngine {
        WeakEngine {
            running: Arc::downgrade(&self.running),
        }
    }

    fn core(&self) -> &EngineCore {
        &self.running.core
    }

    /// Handles a request. Blocks until its writes are durable. Every failure is a response. The whole body is in memory, which
    /// takes 120 MB for 500 000 activities; [`Self::respond`] makes it while it is sent.
    #[must_use]
    pub fn handle(&self, request: Request<Bytes>) -> Response<Bytes> {
        let core = self.core();
        let (head, body) = request.into_parts();
        let mut exchange = self.exchange(head);
        match exchange.finish_with(core, &body) {
            Completion::Response(response) => response,
            Completion::Chunked(response, chunks) => {
                api::collect(core, exchange.traceparent(), (response, Some(chunks)))
            }
            Completion::Pending(outcomes, respond) => {
                let outcome = outcomes.wait(core);
                let made = respond.respond(core, exchange.traceparent(), outcome);
                api::collect(core, exchange.traceparent(), made)
            }
            Completion::Import(mut import) => {
                import.wait_over(core);
                import.respond(core, exchange.traceparent())
            }
        }
    }

    /// Handles a request as a future that any executor can drive. This call parses and reads, and takes as long as that; it waits
    /// for no commit, but a question about the fleet (`/query/…`) for the one that files a short queue. The future waits until the
    /// writes are durable. Dropping it does not take back what was submitted.
    pub fn call(&self, request: Request<Bytes>) -> ResponseFuture {
        let (head, body) = request.into_parts();
        let mut exchange = self.exchange(head);
        let completion = exchange.finish_with(self.core(), &body);
        ResponseFuture::whole(Arc::clone(&self.running.core), completion, &exchange)
    }

    /// Handles a request as [`Self::call`] does, with a body that is made while it is sent: a list of any length takes less than
    /// 1 MiB. The bytes are those of the other two. [`Self::begin`] is the same for a request whose body arrives in pieces.
    pub fn respond(&self, request: Request<Bytes>) -> ResponseFuture<ResponseBody> {
        let (head, body) = request.into_parts();
        let mut exchange = self.exchange(head);
        let completion = exchange.finish_with(self.core(), &body);
        ResponseFuture::streamed(Arc::clone(&self.running.core), completion, &exchange)
    }

    #[inline]
    fn exchange(&self, head: Parts) -> api::Exchange {
        api::Exchange::begin(self.core(), &self.running.router, head)
    }

    /// The endpoint with this path and method; HEAD counts as GET.
    #[must_use]
    pub fn route(&self, method: &Method, path: &str) -> Option<&'static Route> {
        self.running.router.find(method, path).route()
    }

    /// Checks a request for something that the host serves itself, like an endpoint that needs a key with `scope`: the sizes of
    /// its head, its key, the key's rate and scope, and the encoding of its query. Returns the accepted key, and the response if
    /// the request is refused; both if an accepted key is refused. Writes no audit row; see [`Self::audit_access`].
    #[must_use]
    pub fn authorize(
        &self,
        head: &Parts,
        scope: Scope,
    ) -> (Option<KeyInfo>, Option<Response<Bytes>>) {
        let core = self.core();
        let (key, checked) = api::authorize(core, Access::Key(scope), head);
        let refusal = checked.err().map(|problem| {
            let traceparent = TraceId::traceparent(&head.extensions, &head.headers);
            api::problem(core, &problem, traceparent)
        });
        (key.map(|key| key.info.clone()), refusal)
    }

    /// The trace id for a request with this header `traceparent`: that of a valid header, else a random one. See [`TraceId`].
    #[must_use]
    pub fn trace_id(&self, traceparent: Option<&HeaderValue>) -> TraceId {
        TraceId::new(traceparent, &self.core().trace_random)
    }

    /// The response for an error of a typed method, in the form of the engine's own. Internal errors are reported to the observer and
    /// say nothing of what they are. `traceparent` is what [`TraceId::traceparent`] returns for the request.
    ///
    /// ```
    /// use deskfleet::{ActionRequest, Engine};
    ///
    /// let engine = Engine::in_memory()?;
    /// let error = engine.act(ActionRequest::reboot("ws-1")).unwrap_err();
    /// assert_eq!(engine.error_response(error, None).status(), 404);
    /// # Ok::<(), deskfleet::EngineError>(())
    /// ```
    #[must_use]
    pub fn error_response(
        &self,
        error: EngineError,
        traceparent: Option<&HeaderValue>,
    ) -> Response<Bytes> {
        let core = self.core();
        let problem = api::Failure::Engine(error).into_problem(core);
        api::problem(core, &problem, traceparent)
    }

    /// The response for a refusal by the server itself, in the form of the engine's own. An empty `detail` is left out.
    /// `traceparent` is what [`TraceId::traceparent`] returns for the request.
    #[must_use]
    pub fn problem(
        &self,
        code: Code,
        detail: &'static str,
        traceparent: Option<&HeaderValue>,
    ) -> Response<Bytes> {
        let problem = if detail.is_empty() {
            Problem::new(code)
        } else {
            Problem::detailed(code, detail)
        };
        api::problem(self.core(), &problem, traceparent)
    }
}
