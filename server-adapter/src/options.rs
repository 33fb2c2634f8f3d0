//! What a host decides about the server. The limits of the engine (bodies, heads, rates) are in its own configuration.

use std::fmt;
use std::num::NonZero;
use std::thread::available_parallelism;
use std::time::Duration;

use crate::access_log::{AccessLog, LogFormat};
use crate::metrics::Metrics;

/// The options of a [`Server`](crate::Server); the defaults suit a service on the open network.
#[derive(Clone)]
pub struct ServerOptions {
    /// Connections served at once. A new one then takes the place of the idlest one of the source that has most; where all have a
    /// request in progress it gets no response but that of `/livez`. Default 900: with the store's own files and the places kept for
    /// `/livez` that is below the 1024 open files that many systems allow a process.
    pub connections_max: usize,
    /// Connections from one source (an address; of IPv6, one network of 64 bits), above which a new one takes the place of the
    /// idlest of its own; eight requests over HTTP/2 may be under way for each. Behind a proxy ([`proxied`](Self::proxied)) the
    /// requests under way from one source instead. Default `None`: a quarter of `connections_max`, or 16 if that is less.
    pub connections_per_source: Option<usize>,
    /// Bytes of request bodies, decoded, held in memory at once, of which one source may have a quarter; up to 64 bodies
    /// wait for room, within [`body_timeout`](Self::body_timeout), others are refused with 503. A body counts with what has arrived, a telemetry batch with what is kept of it. Both
    /// bounds are raised to the engine's largest body where they are less, and one body may go on beyond each, so that none wait
    /// for each other. Default 64 MiB.
    pub bodies_bytes_max: usize,
    /// Reads that can take more than a millisecond, run at once, off the event loop; one source gets at most half of them. A
    /// request that finds no place within half a second is refused with 503. Default 4 for each core.
    pub slow_reads_max: usize,
    /// Time from the first byte of a request head to its last. Default 10 s.
    pub head_timeout: Duration,
    /// Time from the head to the last byte of the body; beyond it 408. So is a body that brings less than 1 KiB a second after its
    /// first five. Default 30 s.
    pub body_timeout: Duration,
    /// Time a connection may rest before its first and between two requests. Default 75 s.
    pub idle_timeout: Duration,
    /// Time a client may leave a response unread. Default 30 s.
    pub write_timeout: Duration,
    /// Time that requests in flight get to finish at shutdown. Default 10 s.
    pub drain_timeout: Duration,
    /// Pause between two rounds of [`Engine::maintain`](deskfleet::Engine::maintain); `None` leaves them to the host.
    /// Default 1 s.
    pub maintain_every: Option<Duration>,
    /// Host names that are accepted besides addresses and `localhost`; others are refused with 421. With none, a server that
    /// listens on a loopback address accepts no others, against DNS rebinding, and any other server accepts all. Default none.
    pub hosts: Vec<String>,
    /// Requests with a bad key in a minute from one source; above it those with a bad key are refused from there with 429 instead of
    /// 401, until there is room for another. A good key always passes. `None` or 0 for no bound. Default 20.
    pub bad_keys_per_minute: Option<u32>,
    /// Whether all requests come through a proxy that adds the address of its client to `X-Forwarded-For`: the last one there is
    /// the source of a request then. Anyone else could write there what they like. Default no.
    pub proxied: bool,
    /// Where requests are counted; give the same value to the engine as its observer and commits are counted too.
    pub metrics: Metrics,
    /// Receives one line for each request. Default none.
    pub access_log: Option<AccessLog>,
    /// The form of these lines: text, JSON, or none. Default text.
    pub log_format: LogFormat,
    /// The origins whose pages may read responses in a browser, `scheme://host[:port]` as the browser sends them. Others get no CORS
    /// header. Default none.
    pub cors_origins: Vec<String>,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            connections_max: 900,
            connections_per_source: None,
            bodies_bytes_max: 64 * 1024 * 1024,
            slow_reads_max: 4 * available_parallelism().map_or(1, NonZero::get),
            head_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(75),
            write_timeout: Duration::from_secs(30),
            drain_timeout: Duration::from_secs(10),
            maintain_every: Some(Duration::from_secs(1)),
            hosts: Vec::new(),
            bad_keys_per_minute: Some(20),
            proxied: false,
            metrics: Metrics::default(),
            access_log: None,
            log_format: LogFormat::default(),
            cors_origins: Vec::new(),
        }
    }
}

/// By default a source may have one connection in this many, and at least [`SOURCE_LEAST`].
const SOURCE_PART: usize = 4;
/// See [`SOURCE_PART`].
const SOURCE_LEAST: usize = 16;

impl ServerOptions {
    /// The connections that one source may have, [`connections_per_source`](Self::connections_per_source) or its default.
    pub(crate) fn source_connections_max(&self) -> usize {
        let part = || (self.connections_max / SOURCE_PART).max(SOURCE_LEAST);
        self.connections_per_source
            .unwrap_or_else(part)
            .clamp(1, self.connections_max.max(1))
    }
}

impl fmt::Debug for ServerOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerOptions")
            .field("connections_max", &self.connections_max)
            .field("connections_per_source", &self.connections_per_source)
            .field("bodies_bytes_max", &self.bodies_bytes_max)
            .field("slow_reads_max", &self.slow_reads_max)
            .field("head_timeout", &self.head_timeout)
            .field("body_timeout", &self.body_timeout)
            .field("idle_timeout", &self.idle_timeout)
            .field("write_timeout", &self.write_timeout)
            .field("drain_timeout", &self.drain_timeout)
            .field("maintain_every", &self.maintain_every)
            .field("hosts", &self.hosts)
            .field("bad_keys_per_minute", &self.bad_keys_per_minute)
            .field("proxied", &self.proxied)
            .field("access_log", &self.access_log.is_some())
            .field("log_format", &self.log_format)
            .field("cors_origins", &self.cors_origins)
            .finish_non_exhaustive()
    }
}
