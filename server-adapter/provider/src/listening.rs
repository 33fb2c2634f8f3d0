//! Signals, `/livez` and `/metrics`, on a thread of their own.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::status::Status;

/// Connections at once.
const CONNECTIONS: usize = 32;
/// How long a connection may last.
const CONNECTION_TIME: Duration = Duration::from_secs(30);

/// Serves at `address`, if there is one; sets `stop` at the first signal to stop, and ends the process at the second.
pub(super) fn start(
    address: Option<SocketAddr>,
    status: &Arc<Status>,
    stop: &Arc<AtomicBool>,
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let listener = address.map(|address| {
        let listener = runtime.block_on(TcpListener::bind(address));
        listener
            .map_err(|error| io::Error::new(error.kind(), format!("--listen {address}: {error}")))
    });
    let listener = listener.transpose()?;
    let (status, stop) = (Arc::clone(status), Arc::clone(stop));
    let mut signals = {
        let _inside = runtime.enter();
        Signals::catch()?
    };
    let thread = Builder::new().name("deskfleet-status".into());
    thread.spawn(move || {
        runtime.block_on(async {
            if let Some(listener) = listener {
                tokio::spawn(serve(listener, status));
            }
            loop {
                signals.next().await;
                if stop.swap(true, Ordering::Relaxed) {
                    #[expect(clippy::exit, reason = "asked twice")]
                    std::process::exit(1);
                }
            }
        });
    })?;
    Ok(())
}

async fn serve(listener: TcpListener, status: Arc<Status>) {
    let slots = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(slot) = Arc::clone(&slots).acquire_owned().await else {
            return;
        };
        let Ok((socket, _)) = listener.accept().await else {
            // Too many open files, for example: others may be closed by then.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let status = Arc::clone(&status);
        tokio::spawn(async move {
            let answer = service_fn(move |request| {
                let response = answer(&request, &status);
                async move { Ok::<_, Infallible>(response) }
            });
            let mut server = http1::Builder::new();
            server.timer(TokioTimer::new());
            let connection = server.serve_connection(TokioIo::new(socket), answer);
            // Whatever ends a connection is no failure of the provider.
            let _ = timeout(CONNECTION_TIME, connection).await;
            drop(slot);
        });
    }
}

fn answer(request: &Request<Incoming>, status: &Status) -> Response<Full<Bytes>> {
    let get = matches!(*request.method(), Method::GET | Method::HEAD);
    let (code, text) = match request.uri().path() {
        "/livez" if get => (StatusCode::OK, format!("alive\n{}", status.wrong())),
        "/metrics" if get => (StatusCode::OK, status.metrics()),
        "/livez" | "/metrics" => (StatusCode::METHOD_NOT_ALLOWED, String::new()),
        _ => (
            StatusCode::NOT_FOUND,
            "/livez and /metrics are here\n".to_owned(),
        ),
    };
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = code;
    let plain = http::HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert("content-type", plain);
    response
}

/// SIGINT and SIGTERM; on other systems Ctrl-C.
struct Signals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

impl Signals {
    #[cfg(unix)]
    fn catch() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    #[cfg(not(unix))]
    fn catch() -> io::Result<Self> {
        Ok(Self {})
    }

    async fn next(&mut self) {
        #[cfg(unix)]
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
        #[cfg(not(unix))]
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
