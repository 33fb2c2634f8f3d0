//! `double`: serves a test double, in memory.
//!
//! It is a small server of its own for HTTP/1.1, so that the real one has no way to a fault: no events as they happen, no pages of a
//! running service, no console.

use std::convert::Infallible;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use clap::{Args, ValueHint};
use deskfleet::Timestamp;
use deskfleet::testing::{Double, DoubleOptions, Rule, fleet};
use deskfleet_server::{is_for_address, listen};
use http::header::ORIGIN;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

use super::export_args::time;
use super::failure::Failure;
use super::origin::resolve;
use super::output::{data_json, say};
use super::setting_args::address;
use super::signals;

/// Connections at once; others wait to be accepted. Each holds a thread while a rule holds back its response.
const CONNECTIONS_MAX: usize = 256;
/// The largest body of a request, in bytes: that of the journal to replay.
const BODY_BYTES_MAX: usize = 64 * 1024 * 1024;
/// The time for a head and that for a body.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);
/// Pause after a failed `accept`, which a lack of file descriptors makes fail again at once.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// The most desktops to begin with.
const DESKTOPS_MAX: u32 = 100_000;

/// The options of `double`.
#[derive(Debug, PartialEq, Eq, Args)]
pub(crate) struct DoubleArgs {
    /// The faults: a JSON file with a rule, or a list of rules
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) rules: Option<PathBuf>,
    /// Address and port; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080", value_parser = address)]
    pub(crate) listen: String,
    /// Begin with `N` desktops, `ws-000000001` of `user1` and so on
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = desktop_count)]
    pub(crate) desktops: u32,
    /// The source of keys and trace ids: the same number and requests give the same bytes
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = seed_number)]
    pub(crate) seed: u64,
    /// The time at which the clock begins and stands [default: 2026-01-01T00:00:00Z]
    #[arg(long, value_name = "TIME", value_parser = time, allow_hyphen_values = true)]
    pub(crate) clock: Option<Timestamp>,
}

fn desktop_count(text: &str) -> Result<u32, &'static str> {
    let count = text
        .parse::<u32>()
        .ok()
        .filter(|count| *count <= DESKTOPS_MAX);
    count.ok_or("not a whole number from 0 to 100000")
}

fn seed_number(text: &str) -> Result<u64, &'static str> {
    text.parse().map_err(|_| "not a whole number from 0")
}

/// The line on standard output.
#[derive(Debug, serde::Serialize)]
struct Started {
    url: String,
    key: String,
}

/// Serves until SIGINT or SIGTERM.
pub(crate) fn run(args: &DoubleArgs) -> Result<(), Failure> {
    let double = open(args)?;
    let listen_at = resolve(&args.listen)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .max_blocking_threads(CONNECTIONS_MAX)
        .enable_io()
        .enable_time()
        .build()
        .map_err(|error| Failure::caused("cannot start the runtime", &error))?;
    let served = runtime.block_on(async {
        let failed = |error: io::Error| {
            Failure::caused(format_args!("cannot listen on {listen_at}"), &error)
        };
        let listener = listen(listen_at).map_err(failed)?;
        let at = listener.local_addr().unwrap_or(listen_at);
        let caught = signals::ignore_reloads().and_then(|()| signals::catch(|| {}, || {}));
        let stop = caught.map_err(|error| Failure::caused("cannot catch signals", &error))?;
        greet(at, &double)?;
        accept(listener, double, stop).await;
        Ok(())
    });
    // A rule may hold back a response for minutes.
    runtime.shutdown_background();
    served
}

fn open(args: &DoubleArgs) -> Result<Double, Failure> {
    let mut rules = Vec::new();
    if let Some(file) = &args.rules {
        let text = fs::read_to_string(file).map_err(|error| Failure::cannot_read(file, &error))?;
        rules =
            Rule::parse(&text).map_err(|error| Failure(format!("{}: {error}", file.display())))?;
    }
    let mut options = DoubleOptions {
        seed: args.seed,
        ..DoubleOptions::default()
    };
    if let Some(clock) = args.clock {
        options.clock = clock;
    }
    let double = Double::open(options)?;
    double.engine().put_workspaces(fleet(args.desktops))?;
    double.fail_all(rules)?;
    Ok(double)
}

fn greet(at: SocketAddr, double: &Double) -> Result<(), Failure> {
    say!("deskfleet serves a TEST DOUBLE at http://{at}");
    say!(
        "  Everything is in memory and gone at the end; its clock stands at {}.",
        double.now()
    );
    say!("  Paths below /double/ control it without a key: do not let others reach this address.");
    data_json(&Started {
        url: format!("http://{at}"),
        key: double.key(),
    })
}

async fn accept(listener: TcpListener, double: Double, mut stop: oneshot::Receiver<()>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        tokio::select! {
            biased;
            _ = &mut stop => return,
            next = next(&listener, &places) => match next {
                Ok((socket, place)) => drop(tokio::spawn(connection(socket, place, double.clone()))),
                Err(_) => sleep(ACCEPT_PAUSE).await,
            }
        }
    }
}

async fn next(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> io::Result<(TcpStream, OwnedSemaphorePermit)> {
    let place = Arc::clone(places).acquire_owned().await;
    let place = place.map_err(io::Error::other)?;
    let (socket, _) = listener.accept().await?;
    Ok((socket, place))
}

async fn connection(socket: TcpStream, place: OwnedSemaphorePermit, double: Double) {
    // Responses are written in one piece; Nagle's algorithm would only delay them.
    let _ = socket.set_nodelay(true);
    let Ok(at) = socket.local_addr() else {
        return;
    };
    let service = service_fn(|request| respond(request, double.clone(), at));
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(REQUEST_TIMEOUT)
        .serve_connection(TokioIo::new(socket), service);
    // A client that goes away is none of a double's business.
    let _ = served.await;
    drop(place);
}

async fn respond(
    request: Request<Incoming>,
    double: Double,
    at: SocketAddr,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let body = timeout(
        REQUEST_TIMEOUT,
        Limited::new(body, BODY_BYTES_MAX).collect(),
    )
    .await;
    let response = match body {
        Ok(Ok(body)) => {
            let is_control = head.uri.path().starts_with("/double");
            let request = Request::from_parts(head, body.to_bytes());
            // Neither a page of the web that a browser on this machine has open, nor one that gave its name this address.
            let is_of_a_page =
                || request.headers().contains_key(ORIGIN) || !is_for_address(&request, at);
            if is_control && is_of_a_page() {
                empty(StatusCode::FORBIDDEN)
            } else {
                handled(request, double, is_control).await
            }
        }
        Ok(Err(_)) => empty(StatusCode::PAYLOAD_TOO_LARGE),
        Err(_) => empty(StatusCode::REQUEST_TIMEOUT),
    };
    Ok(response.map(Full::new))
}

/// The response of the double, which may block for the latency of a rule. What controls it has a thread of its own: the others may all
/// be held back, also by clients that are gone.
async fn handled(request: Request<Bytes>, double: Double, is_control: bool) -> Response<Bytes> {
    let (done, response) = oneshot::channel();
    let handle = move || drop(done.send(double.handle(request)));
    if is_control {
        if thread::Builder::new().spawn(handle).is_err() {
            return empty(StatusCode::SERVICE_UNAVAILABLE);
        }
    } else {
        spawn_blocking(handle);
    }
    let failed = |_| empty(StatusCode::INTERNAL_SERVER_ERROR);
    response.await.unwrap_or_else(failed)
}

fn empty(status: StatusCode) -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = status;
    response
}
