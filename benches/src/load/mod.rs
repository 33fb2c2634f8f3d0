//! A client that keeps a server busy: Stats posts over HTTP/1.1 or HTTP/2, all on one thread, with as little work per
//! request as possible.

mod http1;
mod http2;
mod requests;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::figures::float;
use crate::servers::{Protocol, ServerProcess, cpu_micros};
use requests::Requests;

/// Streams of one HTTP/2 connection.
pub const STREAMS: usize = 32;

/// The load: `n` clients, each with one request in flight.
#[derive(Debug, Clone, Copy)]
pub struct Load {
    /// Their protocol.
    pub protocol: Protocol,
    /// Their number; over HTTP/2 they share connections, [`STREAMS`] per connection.
    pub clients: usize,
}

/// The figures of one turn of a server.
#[derive(Debug, Clone, Copy)]
pub struct Turn {
    /// Requests per second with status 200.
    pub rate: f64,
    /// Processor time of the server for each of them, in microseconds.
    pub cpu: f64,
    /// The same, including the work that the server did after the turn.
    pub cpu_in_all: f64,
    /// Processor time of this client for each request, in microseconds.
    pub client_cpu: f64,
    /// Responses other than 200.
    pub refused: u64,
}

/// The counters of the clients.
#[derive(Debug, Default)]
struct Progress {
    accepted: AtomicU64,
    refused: AtomicU64,
    stop: AtomicBool,
}

impl Progress {
    fn count(&self, accepted: bool) {
        let counter = if accepted {
            &self.accepted
        } else {
            &self.refused
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    fn accepted(&self) -> u64 {
        self.accepted.load(Ordering::Relaxed)
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Running clients, until this is [finished](Self::finish).
#[derive(Debug)]
pub struct Running {
    progress: Arc<Progress>,
    clients: Vec<JoinHandle<()>>,
}

impl Running {
    /// Connects the clients and starts them; needs a tokio runtime. `None` when the server does not speak that
    /// protocol.
    pub async fn start(address: SocketAddr, load: Load) -> Option<Self> {
        let progress = Arc::new(Progress::default());
        let clients = match load.protocol {
            Protocol::Http1 => http1::start(address, load.clients, &progress).await,
            Protocol::Http2 => http2::start(address, load.clients, &progress).await?,
        };
        Some(Self { progress, clients })
    }

    /// Requests with status 200 so far.
    #[must_use]
    pub fn accepted(&self) -> u64 {
        self.progress.accepted()
    }

    /// Lets each client finish its last request; returns the number of 200 responses, and of others.
    ///
    /// # Panics
    /// When a client failed.
    pub async fn finish(self) -> (u64, u64) {
        self.progress.stop.store(true, Ordering::Relaxed);
        for client in self.clients {
            client.await.expect("a client");
        }
        let refused = self.progress.refused.load(Ordering::Relaxed);
        (self.progress.accepted(), refused)
    }
}

/// The runtime of the clients.
///
/// # Panics
/// When it cannot be built.
#[must_use]
pub fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .expect("a runtime")
}

/// Keeps `server` busy for a tenth of `time`, then for `time`, which counts, and waits until it is idle. `None` when it
/// does not speak that protocol.
///
/// # Panics
/// When a client fails, or nothing is accepted.
pub fn turn(runtime: &Runtime, server: &ServerProcess, load: Load, time: Duration) -> Option<Turn> {
    let this = std::process::id();
    let cpu_before = server.cpu_micros();
    let (mut turn, all) = runtime.block_on(async {
        let running = Running::start(server.address, load).await?;
        sleep(time / 10).await;
        let start = Instant::now();
        let before = (running.accepted(), server.cpu_micros(), cpu_micros(this));
        sleep(time).await;
        let seconds = start.elapsed().as_secs_f64();
        let accepted = float(running.accepted() - before.0);
        assert!(accepted > 0.0, "the server accepts nothing");
        let cpu = float(server.cpu_micros() - before.1);
        let client_cpu = float(cpu_micros(this) - before.2);
        let (all, refused) = running.finish().await;
        let turn = Turn {
            rate: accepted / seconds,
            cpu: cpu / accepted,
            cpu_in_all: 0.0,
            client_cpu: client_cpu / accepted,
            refused,
        };
        Some((turn, all))
    })?;
    server.settle(time * 4);
    turn.cpu_in_all = float(server.cpu_micros() - cpu_before) / float(all);
    Some(turn)
}

/// One client for `time`, without a runtime; returns the latency of each response, in microseconds.
///
/// # Panics
/// When a request does not return 200.
#[must_use]
pub fn lone_client(address: SocketAddr, time: Duration) -> Vec<f64> {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.set_nodelay(true).expect("an option of the socket");
    let mut requests = Requests::new(0, 1);
    let mut answer = http1::Answer::default();
    let mut times = Vec::new();
    let start = Instant::now();
    while start.elapsed() < time {
        let request = requests.next();
        let sent = Instant::now();
        stream.write_all(request).expect("it is sent");
        let accepted = loop {
            let read = stream.read(answer.room()).expect("an answer");
            if let Some(accepted) = answer.took(read) {
                break accepted;
            }
        };
        times.push(sent.elapsed().as_secs_f64() * 1e6);
        assert!(accepted, "the server refuses");
    }
    times
}
