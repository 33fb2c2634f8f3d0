//! Where requests come from, and what each source has under way: one client must not take what all share.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};

use http::HeaderMap;
#[cfg(feature = "http2")]
use tokio::sync::OwnedSemaphorePermit;
#[cfg(any(feature = "cluster", feature = "http2"))]
use tokio::sync::Semaphore;

use crate::budget::Room;
use crate::event_streams::EventStreams;
use crate::locks::lock;
use crate::slow_reads::SlowReads;

/// Requests that wait for a position of the log at once, of which one source may have half; each that begins or ends looks at all of
/// them.
#[cfg(feature = "cluster")]
pub(crate) const POSITION_WAITERS_MAX: usize = 256;

/// The bounds of each source.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// Requests under way at once.
    pub(crate) requests_max: usize,
    /// Bytes of request bodies of all sources together.
    pub(crate) bodies_bytes_max: usize,
    /// The largest body.
    pub(crate) largest_body: usize,
    /// Slow reads of all sources together.
    pub(crate) slow_reads_max: usize,
    /// Event streams of all sources together.
    pub(crate) event_streams_max: usize,
}

/// The sources that have something under way.
#[derive(Debug)]
pub(crate) struct Sources {
    bounds: Bounds,
    known: Mutex<BTreeMap<IpAddr, Weak<Source>>>,
}

impl Sources {
    pub(crate) fn new(bounds: Bounds) -> Arc<Self> {
        let known = Mutex::default();
        Arc::new(Self { bounds, known })
    }

    /// The source that `address` is of; the same one as long as anyone has it.
    pub(crate) fn of(self: &Arc<Self>, address: IpAddr) -> Arc<Source> {
        let network = network(address);
        let mut known = lock(&self.known);
        if let Some(source) = known.get(&network).and_then(Weak::upgrade) {
            return source;
        }
        let bounds = self.bounds;
        let source = Arc::new(Source {
            sources: Arc::clone(self),
            network,
            requests: AtomicUsize::new(0),
            bodies: Room::of_source(bounds.bodies_bytes_max, bounds.largest_body),
            slow_reads: SlowReads::of_source(bounds.slow_reads_max),
            event_streams: EventStreams::of_source(bounds.event_streams_max),
            #[cfg(feature = "cluster")]
            position_waiters: Arc::new(Semaphore::new(POSITION_WAITERS_MAX / 2)),
        });
        known.insert(network, Arc::downgrade(&source));
        source
    }
}

/// What one source has in progress.
#[derive(Debug)]
pub(crate) struct Source {
    sources: Arc<Sources>,
    network: IpAddr,
    /// Requests under way that have a place.
    requests: AtomicUsize,
    /// Its part of the budget of bodies.
    pub(crate) bodies: Room,
    pub(crate) slow_reads: SlowReads,
    pub(crate) event_streams: EventStreams,
    #[cfg(feature = "cluster")]
    pub(crate) position_waiters: Arc<Semaphore>,
}

impl Source {
    /// A request begins; it ends when the result is dropped.
    pub(crate) fn begin(self: &Arc<Self>) -> RequestPlace {
        let max = self.sources.bounds.requests_max;
        let more = |count: usize| (count < max).then_some(count + 1);
        let counted = self
            .requests
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
            .is_ok();
        RequestPlace {
            source: Arc::clone(self),
            counted,
            admitted: counted,
            #[cfg(feature = "http2")]
            of_all: None,
        }
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        let mut known = lock(&self.sources.known);
        // Another may stand in its place already.
        if known
            .get(&self.network)
            .is_some_and(|known| known.strong_count() == 0)
        {
            known.remove(&self.network);
        }
    }
}

/// A request under way, below the bounds or above one.
#[derive(Debug)]
pub(crate) struct RequestPlace {
    pub(crate) source: Arc<Source>,
    /// Whether it is one of those that its source counts.
    counted: bool,
    /// Whether there is room for it.
    pub(crate) admitted: bool,
    #[cfg(feature = "http2")]
    of_all: Option<OwnedSemaphorePermit>,
}

#[cfg(feature = "http2")]
impl RequestPlace {
    /// The same, below the bound of all sources as well.
    pub(crate) fn within(mut self, all: &Arc<Semaphore>) -> Self {
        self.of_all = Arc::clone(all).try_acquire_owned().ok();
        self.admitted &= self.of_all.is_some();
        self
    }
}

impl Drop for RequestPlace {
    fn drop(&mut self) {
        if self.counted {
            self.source.requests.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// What counts as one source: an address of IPv4; of IPv6 a network of 64 bits, which is the least that one customer has.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => {
            let [a, b, c, d, ..] = v6.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        v4 @ IpAddr::V4(_) => v4,
    }
}

/// Where a request comes from, behind a proxy: the last address that it added to `X-Forwarded-For`; those before it are
/// whatever the client wrote.
pub(crate) fn forwarded(headers: &HeaderMap) -> Option<IpAddr> {
    let last = headers.get_all("x-forwarded-for").iter().next_back()?;
    let last = last.to_str().ok()?.rsplit(',').next()?.trim();
    last.trim_matches(['[', ']']).parse().ok()
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn one_network_is_one_source_however_it_is_written() {
        assert_eq!(network(address("::ffff:192.0.2.1")), address("192.0.2.1"));
        let same = [address("2001:db8:1:2::1"), address("2001:db8:1:2:ffff::")];
        assert_eq!(network(same[0]), network(same[1]));
        assert_ne!(network(same[0]), network(address("2001:db8:1:3::1")));
    }

    #[test]
    fn a_proxy_is_believed_only_where_it_is_trusted_and_only_its_own_word() {
        let mut headers = HeaderMap::new();
        assert_eq!(forwarded(&headers), None);
        let value = HeaderValue::from_static("198.51.100.9, 192.0.2.7");
        headers.append("x-forwarded-for", value);
        assert_eq!(forwarded(&headers), Some(address("192.0.2.7")));
        headers.append("x-forwarded-for", HeaderValue::from_static("[2001:db8::1]"));
        assert_eq!(forwarded(&headers), Some(address("2001:db8::1")));
        headers.append("x-forwarded-for", HeaderValue::from_static("unknown"));
        assert_eq!(forwarded(&headers), None);
    }

    #[test]
    fn requests_above_the_bound_of_their_source_are_not_admitted() {
        let sources = Sources::new(Bounds {
            requests_max: 2,
            bodies_bytes_max: 0,
            largest_body: 0,
            slow_reads_max: 0,
            event_streams_max: 0,
        });
        let source = sources.of(address("2001:db8::1"));
        let (first, second) = (source.begin(), sources.of(address("2001:db8::2")).begin());
        assert!(first.admitted && second.admitted);
        assert!(!source.begin().admitted);
        assert!(sources.of(address("192.0.2.1")).begin().admitted);
        drop(first);
        assert!(source.begin().admitted);
        drop((source, second));
        assert!(
            lock(&sources.known).is_empty(),
            "who has nothing under way is forgotten"
        );
    }
}
