//! The state that all connections of a server share.

use std::io;
use std::net::{IpAddr, SocketAddr};
#[cfg(feature = "cluster")]
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[cfg(feature = "cluster")]
use deskfleet::EngineError;
use deskfleet::{Condition, Engine, Unattended};
use http::HeaderMap;
#[cfg(feature = "cluster")]
use http::HeaderValue;
use hyper::server::conn::http1;
use tokio::sync::{Semaphore, watch};

#[cfg(feature = "cluster")]
use crate::cluster::FleetStatus;
#[cfg(feature = "cluster")]
use crate::cluster::latest_reads::LatestReads;
use crate::connection::progress::Progress;
use crate::connection::protocol;
#[cfg(feature = "tls")]
use crate::connection::tls::Tls;
#[cfg(feature = "console")]
use crate::console::codes::SignInCodes;
use crate::limits::budget::{ResponseRooms, Room};
use crate::limits::connection_slots::ConnectionSlots;
use crate::limits::source_rates::SourceRates;
#[cfg(feature = "http2")]
use crate::limits::sources::CommonPlaces;
#[cfg(feature = "cluster")]
use crate::limits::sources::POSITION_WAITERS_MAX;
use crate::limits::sources::{Bounds, RequestPlace, Sources, forwarded};
use crate::locks::lock;
use crate::log::LogQueue;
use crate::log::access_log::LogFormat;
use crate::metrics::scraped::Scraped;
use crate::metrics::{Figures, Metrics};
use crate::options::ServerOptions;
use crate::request::cors::Cors;
use crate::request::hosts::Hosts;
use crate::response::event_streams::EventStreams;
use crate::response::keyed_responses::KeyedResponses;
use crate::response::slow_reads::SlowReads;

/// Requests in progress over HTTP/2, for each allowed connection; more are refused with 503.
const STREAMS_PER_CONNECTION: usize = 8;
/// The most requests in progress over HTTP/2. One source may have an eighth, and an eighth is kept for sources that have few. A
/// head is 16 KiB at most.
const STREAMS_MAX: usize = 4096;
/// See [`STREAMS_MAX`].
const STREAMS_PART: usize = 8;
/// Bodies of HTTP/2 that nobody needs and that are read all the same, at once.
const DISCARDED_BODIES_MAX: usize = 64;
/// The greatest age of a list of the nodes; each node reports once a second.
#[cfg(feature = "cluster")]
const FLEET_AGE_MAX: Duration = Duration::from_secs(1);

/// The options that can change while the server runs.
#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) options: ServerOptions,
    pub(crate) cors: Cors,
    /// How often options were replaced before.
    reloads: u64,
}

impl Live {
    fn new(options: ServerOptions, reloads: u64) -> io::Result<Self> {
        let cors = Cors::new(&options.cors_origins)?;
        #[cfg(feature = "tls")]
        let end = options.tls.as_ref().and_then(Tls::certificate_end);
        #[cfg(feature = "tls")]
        options.metrics.set_certificate_end(end);
        if options.access_log.is_some() {
            // Who reads both from one stream reads one format.
            LogQueue::stderr().set_json(options.log_format == LogFormat::Json);
        }
        Ok(Self {
            options,
            cors,
            reloads,
        })
    }
}

/// The state that every connection of a server shares.
#[derive(Debug)]
pub(crate) struct ServerState {
    pub(crate) engine: Engine,
    /// The one that is listened on.
    address: SocketAddr,
    /// Replaced as a whole.
    live: Mutex<Arc<Live>>,
    /// How often `live` was replaced: read for each request, where its lock would be taken by all connections in turn.
    reloads: AtomicU64,
    pub(crate) scraped: Scraped<Figures>,
    /// Read anew each time: it is quick, where the disk is.
    pub(crate) unready: Scraped<Vec<Condition>>,
    /// Empty also where it cannot be read.
    pub(crate) unattended: Scraped<Unattended>,
    /// The budget of request bodies.
    pub(crate) budget: Room,
    /// The budget of unsent responses.
    pub(crate) responses: ResponseRooms,
    pub(crate) keyed_responses: Arc<KeyedResponses>,
    pub(crate) sources: Arc<Sources>,
    pub(crate) slots: Arc<ConnectionSlots>,
    pub(crate) bad_keys: SourceRates,
    pub(crate) keyless_bytes: SourceRates,
    #[cfg(feature = "console")]
    pub(crate) sign_in_codes: Arc<SignInCodes>,
    pub(crate) metrics: Metrics,
    /// Whether a proxy names the source of each request.
    proxied: bool,
    pub(crate) slow_reads: Arc<SlowReads>,
    pub(crate) event_streams: EventStreams,
    pub(crate) discarded_bodies: Arc<Semaphore>,
    /// One request at a time asks the log, because that takes seconds when the log is gone.
    #[cfg(feature = "cluster")]
    pub(crate) fleet: Scraped<Result<Option<FleetStatus>, EngineError>>,
    #[cfg(feature = "cluster")]
    pub(crate) position_waiters: Arc<Semaphore>,
    #[cfg(feature = "cluster")]
    pub(crate) latest_reads: Arc<LatestReads>,
    /// The value of `X-Deskfleet-Log`, once it is known.
    #[cfg(feature = "cluster")]
    pub(crate) log_id: OnceLock<HeaderValue>,
    /// Whether connections end. hyper-util's `GracefulShutdown` watches connections of hyper; ours have none while they are parked.
    pub(crate) draining: watch::Sender<bool>,
    /// Whether the server stops, which comes before that; read without a lock.
    is_stopping: AtomicBool,
    pub(crate) http1: http1::Builder,
    #[cfg(feature = "http2")]
    pub(crate) http2: hyper::server::conn::http2::Builder<hyper_util::rt::TokioExecutor>,
    /// The requests of all connections of HTTP/2.
    #[cfg(feature = "http2")]
    pub(crate) http2_requests: CommonPlaces,
}

impl ServerState {
    /// `address` is the one that is listened on.
    ///
    /// # Errors
    /// When an option is not valid.
    pub(crate) fn new(
        engine: Engine,
        options: ServerOptions,
        address: SocketAddr,
    ) -> io::Result<Self> {
        let limits = &engine.config().limits;
        let largest_body = limits
            .record_body_bytes
            .max(limits.processes_body_bytes)
            .max(limits.batch_body_bytes);
        let streams_max = options
            .connections_max
            .saturating_mul(STREAMS_PER_CONNECTION);
        let streams_max = streams_max.min(STREAMS_MAX);
        let requests_max = if options.proxied {
            options.forwarded_requests_max()
        } else {
            let most = (streams_max / STREAMS_PART).max(STREAMS_PER_CONNECTION);
            (options.source_connections_max() * STREAMS_PER_CONNECTION).min(most)
        };
        let bounds = Bounds {
            served_max: (options.connections_served, options.source_served_max()),
            requests_max,
            bodies_bytes_max: options.bodies_bytes_max,
            largest_body,
            responses_bytes_max: options.responses_bytes_max,
            slow_reads_max: options.slow_reads_max,
            event_streams_max: options.event_streams_max,
        };
        Ok(Self {
            budget: Room::new(options.bodies_bytes_max, largest_body),
            responses: ResponseRooms::of_all(options.responses_bytes_max),
            keyed_responses: Arc::default(),
            sources: Sources::new(bounds),
            slots: ConnectionSlots::new(&options),
            scraped: Scraped::new(Figures::read),
            unready: Scraped::pausing(Duration::ZERO, Engine::unready),
            #[cfg(feature = "cluster")]
            fleet: Scraped::pausing(FLEET_AGE_MAX, FleetStatus::read),
            unattended: Scraped::new(|engine| engine.unattended_actions().unwrap_or_default()),
            bad_keys: SourceRates::default(),
            keyless_bytes: SourceRates::default(),
            #[cfg(feature = "console")]
            sign_in_codes: Arc::default(),
            event_streams: EventStreams::new(options.event_streams_max),
            discarded_bodies: Arc::new(Semaphore::new(DISCARDED_BODIES_MAX)),
            #[cfg(feature = "cluster")]
            position_waiters: Arc::new(Semaphore::new(POSITION_WAITERS_MAX)),
            #[cfg(feature = "cluster")]
            latest_reads: Arc::default(),
            #[cfg(feature = "cluster")]
            log_id: OnceLock::new(),
            draining: watch::Sender::new(false),
            is_stopping: AtomicBool::new(false),
            slow_reads: Arc::new(SlowReads::of_all(&options)),
            http1: protocol::http1(),
            #[cfg(feature = "http2")]
            http2: protocol::http2(limits),
            #[cfg(feature = "http2")]
            http2_requests: CommonPlaces::new(streams_max, requests_max),
            proxied: options.proxied,
            metrics: options.metrics.clone(),
            engine,
            address,
            live: Mutex::new(Arc::new(Live::new(options, 0)?)),
            reloads: AtomicU64::new(0),
        })
    }

    /// The options in force.
    pub(crate) fn live(&self) -> Arc<Live> {
        Arc::clone(&lock(&self.live))
    }

    /// Whether these are the options in force.
    pub(crate) fn is_in_force(&self, live: &Live) -> bool {
        self.reloads.load(Ordering::Acquire) == live.reloads
    }

    /// Takes from `new` the options that change while the server runs.
    ///
    /// # Errors
    /// When an option is not valid; nothing changes then.
    pub(crate) fn reload(&self, new: &ServerOptions) -> io::Result<()> {
        let mut live = lock(&self.live);
        let reloads = live.reloads + 1;
        *live = Arc::new(Live::new(live.options.reloaded(new), reloads)?);
        self.reloads.store(reloads, Ordering::Release);
        Ok(())
    }

    /// Whether the server stops.
    pub(crate) fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Acquire)
    }

    /// Begins to stop: each response is the last of its connection.
    pub(crate) fn stop(&self) {
        self.is_stopping.store(true, Ordering::Release);
    }

    /// Ends connections after the responses in flight, and those without one at once.
    pub(crate) fn drain(&self) {
        self.draining.send_replace(true);
    }

    /// The hosts that are accepted with these options.
    pub(crate) fn hosts<'a>(&self, options: &'a ServerOptions) -> Hosts<'a> {
        Hosts::new(&options.hosts, self.address)
    }

    /// The address that a request comes from: the other end of the connection, or what a trusted proxy says.
    pub(crate) fn source_address(&self, progress: &Progress, headers: &HeaderMap) -> IpAddr {
        let client = self.proxied.then(|| forwarded(headers)).flatten();
        client.unwrap_or(progress.peer)
    }

    /// Begins a request; it ends when the result is dropped.
    pub(crate) fn begin(&self, progress: &Progress, headers: &HeaderMap) -> RequestPlace {
        if !self.proxied {
            return progress.source.begin();
        }
        let source = self.source_address(progress, headers);
        self.sources.find_or_add(source).begin()
    }
}
