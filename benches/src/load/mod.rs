//! A client that keeps a server busy: Stats posts over HTTP/1.1 or HTTP/2, all on one thread, with as little work per
//! request as possible.

mod http1;
mod http2;
mod requests;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::figures::float;
use crate::fixture::DESKTOPS;
use crate::latency::{Latencies, Latency};
use crate::servers::{Protocol, ServerProcess, cpu_micros};
pub use http2::StreamClient;
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
    /// The desktops that they report on.
    pub desktops: u64,
}

/// The figures of one turn of a server.
#[derive(Debug, Clone, Copy)]
pub struct Turn {
    /// Requests per second with status 200.
    pub rate: f64,
    /// The times of all responses, from sending the request. Those of the last requests, which end after the turn, are
    /// among them, so that none is too long to be counted.
    pub latency: Latency,
    /// Processor time of the server for each of them, in microseconds.
    pub cpu: f64,
    /// The same, including the work that the server did after the turn.
    pub cpu_in_all: f64,
    /// Processor time of this client for each request, in microseconds.
    pub client_cpu: f64,
    /// Responses other than 200.
    pub refused: u64,
}

impl Load {
    /// `clients` clients over HTTP/1.1, and the usual desktops.
    #[must_use]
    pub const fn with_clients(clients: usize) -> Self {
        Self {
            protocol: Protocol::Http1,
            clients,
            desktops: DESKTOPS,
        }
    }
}

/// The counters of the clients.
#[derive(Debug, Default)]
struct Progress {
    accepted: AtomicU64,
    refused: AtomicU64,
    stop: AtomicBool,
    /// The clients are on one thread, so this lock is always free.
    latencies: Mutex<Latencies>,
}

impl Progress {
    /// Counts the response to a request that was sent at `sent`.
    fn count(&self, accepted: bool, sent: Instant) {
        let counter = if accepted {
            &self.accepted
        } else {
            &self.refused
        };
        counter.fetch_add(1, Ordering::Relaxed);
        let latencies = self.latencies.lock();
        latencies
            .unwrap_or_else(PoisonError::into_inner)
            .add(sent.elapsed());
    }

    fn take_latencies(&self) -> Latencies {
        let latencies = self.latencies.lock();
        std::mem::take(&mut latencies.unwrap_or_else(PoisonError::into_inner))
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
            Protocol::Http1 => http1::start(address, load, &progress).await,
            Protocol::Http2 => http2::start(address, load, &progress).await?,
        };
        Some(Self { progress, clients })
    }

    /// Requests with status 200 so far.
    #[must_use]
    pub fn accepted(&self) -> u64 {
        self.progress.accepted()
    }

    /// The times of the responses since the last call.
    #[must_use]
    pub fn take_latencies(&self) -> Latencies {
        self.progress.take_latencies()
    }

    /// Lets each client finish its last request.
    ///
    /// # Panics
    /// When a client failed.
    pub async fn finish(self) -> Finished {
        self.progress.stop.store(true, Ordering::Relaxed);
        for client in self.clients {
            client.await.expect("a client");
        }
        Finished {
            accepted: self.progress.accepted(),
            refused: self.progress.refused.load(Ordering::Relaxed),
            latencies: self.progress.take_latencies(),
        }
    }
}

/// What clients that have finished leave.
#[derive(Debug)]
pub struct Finished {
    /// Requests with status 200.
    pub accepted: u64,
    /// Requests with another status.
    pub refused: u64,
    /// The times of the responses that nobody [took](Running::take_latencies).
    pub latencies: Latencies,
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
        drop(running.take_latencies());
        let start = Instant::now();
        let before = (running.accepted(), server.cpu_micros(), cpu_micros(this));
        sleep(time).await;
        let seconds = start.elapsed().as_secs_f64();
        let accepted = float(running.accepted() - before.0);
        assert!(accepted > 0.0, "the server accepts nothing");
        let cpu = float(server.cpu_micros() - before.1);
        let client_cpu = float(cpu_micros(this) - before.2);
        let finished = running.finish().await;
        let turn = Turn {
            rate: accepted / seconds,
            latency: finished.latencies.summary(),
            cpu: cpu / accepted,
            cpu_in_all: 0.0,
            client_cpu: client_cpu / accepted,
            refused: finished.refused,
        };
        Some((turn, finished.accepted))
    })?;
    server.settle(time * 4);
    turn.cpu_in_all = float(server.cpu_micros() - cpu_before) / float(all);
    Some(turn)
}

/// One client for `time`, without a runtime; returns the time of each response.
///
/// # Panics
/// When a request does not return 200.
#[must_use]
pub fn lone_client(address: SocketAddr, time: Duration) -> Latencies {
    let mut client = LoneClient::connect(address);
    let mut requests = Requests::new(0, 1, DESKTOPS);
    let mut latencies = Latencies::default();
    let start = Instant::now();
    while start.elapsed() < time {
        let request = requests.next();
        let sent = Instant::now();
        client.ask(request);
        latencies.add(sent.elapsed());
    }
    latencies
}

/// A connection with one request in flight, without a runtime.
#[derive(Debug)]
pub struct LoneClient {
    stream: TcpStream,
    answer: http1::Answer,
}

impl LoneClient {
    /// Connects it.
    ///
    /// # Panics
    /// When it cannot connect.
    #[must_use]
    pub fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("a connection");
        stream.set_nodelay(true).expect("an option of the socket");
        Self {
            stream,
            answer: http1::Answer::default(),
        }
    }

    /// Sends `request`, head and body, and returns when the response is there.
    ///
    /// # Panics
    /// When it is not 200.
    pub fn ask(&mut self, request: &[u8]) {
        self.stream.write_all(request).expect("it is sent");
        let accepted = loop {
            let read = self.stream.read(self.answer.room()).expect("an answer");
            if let Some(accepted) = self.answer.took(read) {
                break accepted;
            }
        };
        assert!(accepted, "the server refuses");
    }
}
