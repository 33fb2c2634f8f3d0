//! What a host decides about the server. The limits of the engine (bodies, heads, rates) are in its own configuration.

use std::fmt;
use std::num::NonZero;
use std::thread::available_parallelism;
use std::time::Duration;

use crate::access_log::AccessLog;
use crate::metrics::Metrics;

/// The options of a [`Server`](crate::Server); the defaults suit a service on the open network.
#[derive(Clone)]
pub struct ServerOptions {
    /// Connections served at once; more wait in the listener's backlog. Default 1000: with the store's own files that is below
    /// the 1024 open files that many systems allow a process.
    pub connections_max: usize,
    /// Bytes of request bodies, decoded, held in memory at once; more wait, within [`body_timeout`](Self::body_timeout). Raised to
    /// the engine's largest body where it is less. A telemetry batch counts with what is kept of it, and one may go on beyond
    /// this. Default 64 MiB.
    pub bodies_bytes_max: usize,
    /// Reads that can take more than a millisecond, run at once, off the event loop; one source gets at most half of them. A
    /// request that finds no place within half a second is refused with 503. Default 4 for each core.
    pub slow_reads_max: usize,
    /// Time from the first byte of a request head to its last. Default 10 s.
    pub head_timeout: Duration,
    /// Time from the head to the last byte of the body; beyond it 408. Default 30 s.
    pub body_timeout: Duration,
    /// Time a connection may rest before its first and between two requests. Default 75 s.
    pub idle_timeout: Duration,
    /// Time a client may leave an answer unread. Default 30 s.
    pub write_timeout: Duration,
    /// Time that requests in flight get to finish at shutdown. Default 10 s.
    pub drain_timeout: Duration,
    /// Pause between two rounds of [`Engine::maintain`](deskfleet::Engine::maintain); `None` leaves them to the host.
    /// Default 1 s.
    pub maintain_every: Option<Duration>,
    /// Host names that are answered for beside addresses and `localhost`; others are refused with 421. With none, a server that
    /// listens on a loopback address answers for no others, against DNS rebinding, and any other server for all. Default none.
    pub hosts: Vec<String>,
    /// Requests with a bad key in a minute from one address (of IPv6, one network of 64 bits); above it whatever needs a key is
    /// refused from there with 429, until there is room for another. `None` or 0 for no bound. Default 20.
    pub bad_keys_per_minute: Option<u32>,
    /// Whether all requests come through a proxy that adds the address of its client to `X-Forwarded-For`: the last one there is
    /// the source of a request then. Anyone else could write there what they like. Default no.
    pub proxied: bool,
    /// Where requests are counted; give the same value to the engine as its observer and commits are counted too.
    pub metrics: Metrics,
    /// Receives one line for each request. Default none.
    pub access_log: Option<AccessLog>,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            connections_max: 1000,
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
        }
    }
}

impl fmt::Debug for ServerOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerOptions")
            .field("connections_max", &self.connections_max)
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
            .finish_non_exhaustive()
    }
}
