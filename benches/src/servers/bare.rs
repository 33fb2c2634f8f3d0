//! hyper alone, and hyper in front of a log.

use std::convert::Infallible;
use std::rc::Rc;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::rt::Executor;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::task::{LocalSet, spawn_local};

use super::gathered::GatheredLog;
use super::log_file::LogFile;
use super::{announce, listen};

/// Spawns beside the connection, on its thread.
#[derive(Clone, Copy)]
struct Local;

impl<F: Future + 'static> Executor<F> for Local {
    fn execute(&self, future: F) {
        spawn_local(async {
            future.await;
        });
    }
}

/// Reads the body and answers 200.
pub(super) fn echo(http2: bool) {
    run(http2, || async |_: Bytes| {});
}

/// Answers 200 when the body is in the log.
pub(super) fn log(file: impl LogFile, http2: bool) {
    run(http2, || {
        let log = Rc::new(GatheredLog::new(file));
        let flushing = Rc::clone(&log);
        spawn_local(async move { flushing.flush_forever().await });
        move |body: Bytes| {
            let log = Rc::clone(&log);
            async move { log.put(&body).await }
        }
    });
}

/// One thread: the driver needs a core of its own, and servers as simple as these gain nothing by sharing one listener.
fn run<S: AsyncFn(Bytes) + Clone + 'static>(http2: bool, store: impl FnOnce() -> S) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
        .expect("a runtime");
    let local = LocalSet::new();
    local.block_on(&runtime, async {
        let listener = listen().await;
        let stopped = announce(listener.local_addr().expect("an address"));
        let store = store();
        let accepting = async {
            loop {
                let (stream, _) = listener.accept().await.expect("a connection");
                stream.set_nodelay(true).expect("an option of the socket");
                let store = store.clone();
                let service = service_fn(move |request| answer(store.clone(), request));
                let io = TokioIo::new(stream);
                // A broken connection is an error of the client.
                if http2 {
                    let serving = http2::Builder::new(Local).serve_connection(io, service);
                    spawn_local(async { drop(serving.await) });
                } else {
                    let serving = http1::Builder::new().serve_connection(io, service);
                    spawn_local(async { drop(serving.await) });
                }
            }
        };
        tokio::select! {
            () = accepting => {}
            _ = stopped => {}
        }
    });
}

async fn answer<S: AsyncFn(Bytes)>(
    store: S,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    // A body that breaks off is stored as empty; the client is gone anyway.
    let body = request.into_body().collect().await;
    store(
        body.map(http_body_util::Collected::to_bytes)
            .unwrap_or_default(),
    )
    .await;
    Ok(Response::new(Full::default()))
}
