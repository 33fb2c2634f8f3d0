//! [`Engine`]: the whole of it, as a value.

mod body;
mod builder;
mod future;
#[cfg(feature = "tower")]
mod tower;
mod typed;
mod upload;

use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use bytes::Bytes;
use http::{HeaderValue, Request, Response};

use crate::api::router::Router;
use crate::api::{self, Step};
use crate::engine_core::EngineCore;
use crate::locks::lock;
use crate::wire::problem::{Code, Problem};

pub use body::ResponseBody;
pub use builder::EngineBuilder;
pub use future::{BatchFuture, ResponseFuture, StreamedFuture};
#[cfg(feature = "tower")]
pub use tower::ServiceFuture;
pub use typed::{TelemetryBatch, WorkspaceList, WorkspacePage, WorkspaceQuery};
pub use upload::Upload;

/// A fleet of virtual desktops inside this process. Clones share it; the last one closes it.
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

/// The core and the thread that commits for it, if one was asked for.
#[derive(Debug)]
struct Running {
    core: Arc<EngineCore>,
    router: Router,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Running {
    /// Ends the thread, after it has committed what waits. Called on that thread, by the observer, it does not wait for it.
    fn stop(&self) {
        self.core.stop_thread();
        let thread = lock(&self.thread).take();
        if let Some(thread) = thread
            && !self.core.is_writer_thread()
        {
            // A panic on it was reported by the panic hook already.
            let _ = thread.join();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
        // Nobody is left to tell.
        let _ = self.core.close();
    }
}

impl Engine {
    /// Begins an engine; see [`EngineBuilder`].
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    fn core(&self) -> &EngineCore {
        &self.running.core
    }

    /// Answers a request. Blocks until what it wrote is durable. Every failure is a response. The body is in memory as a whole,
    /// which takes 120 MB for 500 000 activities; [`Self::respond`] makes it while it is sent.
    #[must_use]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "a server owns the request and is done with it"
    )]
    pub fn handle(&self, request: Request<Bytes>) -> Response<Bytes> {
        let core = self.core();
        match api::dispatch(core, &self.running.router, &request) {
            Step::Done(response) => response,
            Step::Streamed(response, chunks) => {
                let traceparent = request.headers().get(api::TRACEPARENT);
                api::collect(core, traceparent, response, chunks)
            }
            Step::Wait(tickets, then) => {
                let outcomes: Vec<_> = tickets.map(|mut ticket| core.wait(&mut ticket)).collect();
                api::finish(
                    core,
                    request.headers().get(api::TRACEPARENT),
                    outcomes,
                    then,
                )
            }
        }
    }

    /// Answers a request as a future that any executor can drive. Parsing and reading happen at once, in this call, which
    /// takes as long as they do; it waits for no commit. The future waits for what must be durable. Dropping it does not take
    /// back what was submitted.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "a server owns the request and is done with it"
    )]
    pub fn call(&self, request: Request<Bytes>) -> ResponseFuture {
        let core = Arc::clone(&self.running.core);
        let step = api::dispatch(&core, &self.running.router, &request);
        let traceparent = || request.headers().get(api::TRACEPARENT).cloned();
        ResponseFuture::of(core, step, traceparent)
    }

    /// Answers a request as [`Self::call`] does, with a body that is made while it is sent: a list of any length takes less than
    /// 1 MiB. The bytes are those of the other two.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "a server owns the request and is done with it"
    )]
    pub fn respond(&self, request: Request<Bytes>) -> StreamedFuture {
        let core = Arc::clone(&self.running.core);
        let step = api::dispatch(&core, &self.running.router, &request);
        let traceparent = || request.headers().get(api::TRACEPARENT).cloned();
        StreamedFuture::of(core, step, traceparent)
    }

    /// The most that a server needs to read of the body of a request with this path, in bytes. One byte more tells the
    /// engine that the body is too large; 0 means that a body is ignored.
    #[must_use]
    pub fn body_bytes_max(&self, path: &str) -> usize {
        let routes = self.running.router.routes(path).iter();
        let limits = &self.core().config.limits;
        routes
            .map(|route| api::body_bytes_max(limits, route.body))
            .max()
            .unwrap_or(0)
    }

    /// The response of a refusal that a server makes itself, in the form of the engine's own; an empty `detail` is left out.
    /// `traceparent` is the request's header, if it had one.
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
