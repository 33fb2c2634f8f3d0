//! One connection and the requests on it.

use std::pin::pin;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::access_log::Entry;
use crate::body;
use crate::operation::Operation;
use crate::pages;
use crate::state::ServerState;
use crate::stream::{GuardedStream, Progress};

/// What connections are to do; only ever moves on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// Serve.
    Serving,
    /// Answer what is in flight, then close.
    Draining,
    /// Close at once.
    Closed,
}

/// Serves one connection to its end. What goes wrong on it is the client's affair and is not reported.
pub(crate) async fn serve(
    stream: TcpStream,
    shared: Arc<ServerState>,
    mut phase: watch::Receiver<Phase>,
) {
    let _connected = shared.options.metrics.connected();
    let progress = Arc::new(Progress::default());
    let guarded = GuardedStream::new(
        stream,
        Arc::clone(&progress),
        shared.options.head_timeout,
        shared.options.write_timeout,
    );
    let service = service_fn(|request| answer(&shared, &progress, request));
    let mut connection = pin!(shared.http.serve_connection(TokioIo::new(guarded), service));
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = phase.wait_for(|phase| *phase >= Phase::Draining) => {}
    }
    connection.as_mut().graceful_shutdown();
    tokio::select! {
        _ = connection => {}
        _ = phase.wait_for(|phase| *phase == Phase::Closed) => {}
    }
}

/// Answers one request, counts it and logs it.
async fn answer(
    shared: &ServerState,
    progress: &Arc<Progress>,
    request: Request<Incoming>,
) -> hyper::Result<Response<Full<Bytes>>> {
    let _turn = progress.begin();
    let started = Instant::now();
    let operation = Operation::of(request.method(), request.uri().path());
    let logged = shared
        .options
        .access_log
        .as_ref()
        .map(|log| (log, request.method().clone(), request.uri().clone()));
    let response = match operation {
        Operation::Page(page) => pages::answer(page, shared, request.method()),
        Operation::Route(_) | Operation::None => through_engine(shared, progress, request).await,
    };
    let duration = started.elapsed();
    let status = response.status().as_u16();
    shared.options.metrics.answered(operation, status, duration);
    if let Some((log, method, uri)) = logged {
        let entry = Entry {
            time: shared.engine.now(),
            method: &method,
            path: uri.path(),
            status,
            bytes: response.body().len(),
            duration,
        };
        log(&entry.line());
    }
    Ok(response.map(Full::new))
}

async fn through_engine(
    shared: &ServerState,
    progress: &Progress,
    request: Request<Incoming>,
) -> Response<Bytes> {
    let (mut head, body) = request.into_parts();
    let bytes_max = shared.engine.body_bytes_max(head.uri.path());
    let reading = body::read(body, &mut head.headers, bytes_max, &shared.budget);
    let refused = match timeout(shared.options.body_timeout, reading).await {
        Ok(Ok(whole)) => {
            if whole.cut {
                progress.cut();
            }
            if let Some(broken) = whole.broken {
                head.extensions.insert(broken);
            }
            // `whole` goes on holding the body's share of the budget until the engine has answered.
            let request = Request::from_parts(head, whole.bytes.clone());
            let mut response = shared.engine.call(request).await;
            if let Some(codings) = response.headers_mut().get_mut(header::ACCEPT_ENCODING) {
                *codings = HeaderValue::from_static(body::CODINGS);
            }
            return response;
        }
        // The framing of the body is broken, or the client is gone and nobody reads the answer.
        Ok(Err(_)) => StatusCode::BAD_REQUEST,
        Err(_) => StatusCode::REQUEST_TIMEOUT,
    };
    progress.cut();
    refusal(refused)
}

/// A refusal of a request that never became one: without a body, and the connection ends.
fn refusal(status: StatusCode) -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}
