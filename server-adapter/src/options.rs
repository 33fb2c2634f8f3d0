//! What a host decides about the server. The limits of the engine (bodies, heads, rates) are in its own configuration.

use std::fmt;
use std::num::NonZero;
use std::thread::available_parallelism;
use std::time::Duration;

use deskfleet::settings;
use deskfleet::settings::Form::{Bytes, Count, Names, Text, Time};

use crate::backups::Backups;
use crate::backups::sent_copies::SentCopies;
#[cfg(feature = "tls")]
use crate::connection::tls::Tls;
#[cfg(not(feature = "tls"))]
use crate::connection::without_tls::Tls;
use crate::log::access_log::{AccessLog, LogFormat};
use crate::metrics::Metrics;
use crate::request::cors::is_origin;
use crate::request::hosts::is_host_name;
use crate::request::operation::Operation;

/// The most connections that may be configured.
const CONNECTIONS_MAX: u64 = 1 << 20;
/// The most memory for bodies that may be configured.
const BODIES_BYTES_MAX: u64 = 1 << 40;
/// The most slow reads at once that may be configured.
const SLOW_READS_MAX: u64 = 1 << 16;
/// The longest time that may be configured, in milliseconds: a day.
const TIME_MAX: u64 = 24 * 60 * 60 * 1000;

settings! {
    /// What a read shows on a node of a fleet.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Reads {
        /// What any node acknowledged before the read began: each asks the log where it ends. Where the log does not respond within a
        /// second, what this node has applied.
        #[default]
        Latest = "latest",
        /// What this node has applied: it may lack what another acknowledged a moment ago, unless the request names a position.
        Local = "local",
    }
}

settings! {
    /// The options of a [`Server`](crate::Server); the defaults suit a service on the open network.
    #[derive(Clone)]
    pub struct ServerOptions {
        /// Connections that are open at once. A new one then takes the place of the idlest one of the source that has most; where all have a
        /// request in progress it gets no response but that of `/livez`. With 900 and the store's own files and the places kept for
        /// `/livez`, a process is below the 1024 open files that many systems allow.
        pub connections_max: usize = 900, Count(1, CONNECTIONS_MAX);
        /// Connections from one source (an address; of IPv6, one network of 64 bits), above which a new one takes the place of the
        /// idlest of its own; eight requests over HTTP/2 may be under way for each. Behind a proxy (`proxied`) the requests under way
        /// from one source instead, and at most a quarter of `connections_served`. With none: half of `connections_max`, or 16 if that is less.
        pub connections_per_source: Option<usize> = None, Count(1, CONNECTIONS_MAX);
        /// Connections of which a request is received, handled or answered at once, of which one source may have a quarter, and one in
        /// eight is kept for sources that have few (neither behind a proxy, `proxied`); each may hold a head of 32 KiB. The others wait, and
        /// those that wait for ten seconds get 503; `/livez` does not wait. Where one waits for half a second, those of one source are closed
        /// that bring or take less than 16 KiB a second.
        pub connections_served: usize = 2048, Count(1, CONNECTIONS_MAX);
        /// Bytes of request bodies, decoded, held in memory at once, of which one source may have a quarter; up to 64 bodies
        /// wait for room, within `body_timeout`, others are refused with 503. A body counts with what has arrived, a telemetry
        /// batch with what is kept of it. Both bounds are raised to the engine's largest body where they are less, and one body may
        /// go on beyond each, so that none wait for each other.
        pub bodies_bytes_max: usize = 64 * 1024 * 1024, Bytes(0, BODIES_BYTES_MAX);
        /// Bytes of responses that were made and not yet sent, of which one source may have a quarter, and one byte in eight is
        /// kept for sources that have little of it: a request whose response finds no room is refused with 503. Responses up to 1 KiB and the files of the console take none, those of operators have 8 MiB
        /// beside it, and lists of any length are made chunk by chunk, 64 at once.
        pub responses_bytes_max: usize = 32 * 1024 * 1024, Bytes(0, BODIES_BYTES_MAX);
        /// Reads that can take more than a millisecond, run at once, off the event loop; one source gets at most half of them. A
        /// request that finds no place within half a second is refused with 503. The default is 4 for each core.
        pub slow_reads_max: usize = 4 * available_parallelism().map_or(1, NonZero::get), Count(1, SLOW_READS_MAX);
        /// Streams of `GET /query/events` open at once, of which one source may have half; others are refused with 503. Each is a
        /// connection of HTTP/1.1 or a request of HTTP/2, and counts as such.
        pub event_streams_max: usize = 256, Count(1, CONNECTIONS_MAX);
        /// Time from the first byte of a request head to its last.
        pub head_timeout: Duration = Duration::from_secs(10), Time(1, TIME_MAX);
        /// Time from the head to the last byte of the body; beyond it 408. So is a body that brings less than 1 KiB a second after its
        /// first five.
        pub body_timeout: Duration = Duration::from_secs(30), Time(1, TIME_MAX);
        /// Time a connection may rest before its first and between two requests.
        pub idle_timeout: Duration = Duration::from_secs(75), Time(1, TIME_MAX);
        /// Time a client may leave a response unread, and in which it reads 64 KiB at least, or all that is left.
        pub write_timeout: Duration = Duration::from_secs(30), Time(1, TIME_MAX);
        /// Time that requests in flight get to finish at shutdown.
        pub drain_timeout: Duration = Duration::from_secs(10), Time(0, TIME_MAX);
        /// Pause between two rounds of maintenance: ending actions, filing telemetry, retention. With none they are left to the host
        /// of the engine.
        pub maintain_every: Option<Duration> = Some(Duration::from_secs(1)), Time(1, TIME_MAX);
        /// Host names that are accepted besides addresses and `localhost`; others are refused with 421. With none, a server that
        /// listens on a loopback address accepts no others, against DNS rebinding, and any other server accepts all.
        pub hosts: Vec<String> = Vec::new(), Text("host names such as \"fleet.example.com\", without port or path", is_host_name);
        /// Requests with a bad key in a minute from one source; above it those with a bad key are refused from there with 429 instead
        /// of 401, until there is room for another. A good key always passes. None or 0 for no bound.
        pub bad_keys_per_minute: Option<u32> = Some(20), Count(0, u32::MAX.into());
        /// Bytes of telemetry a second, decoded, that one source may send without a key, and those of four seconds at once; above it
        /// 429 with `Retry-After`. It is for the disk, which anyone who reaches the server could fill; 5000 desktops behind one address
        /// send less than 1 MiB a second. None or 0 for no bound.
        pub keyless_bytes_per_second: Option<u64> = Some(16 * 1024 * 1024), Bytes(0, BODIES_BYTES_MAX);
        /// Whether all requests come through a proxy that adds the address of its client to `X-Forwarded-For`: the last one there is
        /// the source of a request then. Anyone else could write there what they like.
        pub proxied: bool = false;
        /// What reads show where several nodes share a log: `latest` for what any node acknowledged before, which asks the log each time, or
        /// `local` for what this node has applied.
        pub reads: Reads as "cluster.reads" = Reads::Latest;
        /// How long a node that is cut off from the log that several nodes share serves reads, and accepts keys that may be revoked by then;
        /// after that it refuses them with 503 until it has all of the log again. 0 for no bound.
        pub reads_max_age: Duration as "cluster.reads_max_age" = Duration::from_secs(60 * 60), Time(0, TIME_MAX);
        /// The form of the access log, a line for each request: `text`, `json` for one object a line, or `off`.
        pub log_format: LogFormat as "log.format" = LogFormat::Text;
        /// Operations whose requests have no line in the access log, by the operation ids of `/openapi.json`. They are counted in the
        /// metrics all the same.
        pub log_except: Vec<String> as "log.except" = Vec::new(), Names("operation ids such as \"postStats\"", operation_ids);
        /// Whether only requests that were refused or failed have a line: those with a status of 400 and above.
        pub log_errors_only: bool as "log.errors_only" = false;
        /// The origins whose pages may read responses in a browser, `scheme://host[:port]` as the browser sends them. Others get no
        /// CORS header.
        pub cors_origins: Vec<String> as "cors.origins" = Vec::new(), Text("origins such as \"https://console.example.com\"", is_origin);
        in code {
            /// Where requests are counted; give the same value to the engine as its observer and commits are counted too.
            pub metrics: Metrics = Metrics::default();
            /// Where `POST /operator/backups` writes copies of the store; without it that is refused.
            pub backups: Option<Backups> = None;
            /// Where a copy is written that `POST /operator/backups/download` sends; without it that is refused.
            pub sent_copies: Option<SentCopies> = None;
            /// TLS on all connections; without it they are in clear text.
            pub tls: Option<Tls> = None;
            /// Receives the lines of the access log.
            pub access_log: Option<AccessLog> = None;
            /// Whether the threads of `spawn_blocking` that slow reads run on give way to all others from then on, where the system has
            /// a priority for each thread (Linux): for a runtime that serves nothing else. Expensive questions then leave posts the
            /// processor.
            pub slow_reads_give_way: bool = false;
        }
    }
}

/// The operation ids of all operations.
fn operation_ids() -> Vec<&'static str> {
    Operation::all().map(Operation::label).collect()
}

/// By default a source may have one connection in this many, and at least [`SOURCE_LEAST`]: thousands of agents behind one address.
const SOURCE_PART: usize = 2;
/// Of the connections that are served, a source may have one in this many.
const SOURCE_SERVED_PART: usize = 4;
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

    /// The connections of one source that are served at once.
    pub(crate) fn source_served_max(&self) -> usize {
        if self.proxied {
            self.connections_served
        } else {
            self.source_served_part()
        }
    }

    fn source_served_part(&self) -> usize {
        self.connections_served.div_ceil(SOURCE_SERVED_PART)
    }

    /// The requests of one forwarded source that are under way at once: over HTTP/1.1 each takes a connection of the proxy that is served.
    pub(crate) fn forwarded_requests_max(&self) -> usize {
        self.source_connections_max().min(self.source_served_part())
    }

    /// These options with those of `new` that change while a server runs ([`ServerHandle::reload`](crate::ServerHandle::reload)).
    /// Timeouts and certificates are those of connections that begin later; TLS is neither begun nor ended.
    #[must_use]
    pub fn reloaded(&self, new: &Self) -> Self {
        Self {
            head_timeout: new.head_timeout,
            body_timeout: new.body_timeout,
            idle_timeout: new.idle_timeout,
            write_timeout: new.write_timeout,
            drain_timeout: new.drain_timeout,
            hosts: new.hosts.clone(),
            bad_keys_per_minute: new.bad_keys_per_minute,
            keyless_bytes_per_second: new.keyless_bytes_per_second,
            log_format: new.log_format,
            log_except: new.log_except.clone(),
            log_errors_only: new.log_errors_only,
            cors_origins: new.cors_origins.clone(),
            tls: match (&self.tls, &new.tls) {
                (Some(_), Some(new)) => Some(new.clone()),
                (in_force, _) => in_force.clone(),
            },
            ..self.clone()
        }
    }
}

impl fmt::Debug for ServerOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("ServerOptions");
        settings::each(&mut self.clone(), &mut |setting| {
            fields.field(setting.name, &setting.value);
        });
        fields.finish_non_exhaustive()
    }
}
