//! The sources of requests, and the requests of each in progress: one client must not take what all share.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};

use http::HeaderMap;
use tokio::sync::OwnedSemaphorePermit;
#[cfg(feature = "cluster")]
use tokio::sync::Semaphore;
#[cfg(feature = "tls")]
use tokio::time::sleep;

use super::budget::{ResponseRooms, Room};
use super::places::Places;
#[cfg(feature = "tls")]
use super::places::STALL;
use crate::locks::lock;
use crate::response::event_streams::EventStreams;
use crate::response::slow_reads::SlowReads;

/// The most requests that wait for a position of the log; one source may have half. Each begin or end examines all of them.
#[cfg(feature = "cluster")]
pub(crate) const POSITION_WAITERS_MAX: usize = 256;

/// Handshakes of TLS at once, of which one source may have a quarter.
#[cfg(feature = "tls")]
const HANDSHAKES_MAX: usize = 512;
/// Of the places to be served at, and of the requests of HTTP/2, one in this many is kept for sources that have few.
const RESERVE_PART: usize = 8;
/// Few are one in this many of those that a source may have.
const FEW_PART: usize = 32;

/// The bounds of each source.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Bounds {
    /// Connections of all sources together that are served at once, and of each.
    pub(crate) served_max: (usize, usize),
    /// Requests in progress at once.
    pub(crate) requests_max: usize,
    /// Bytes of request bodies of all sources together.
    pub(crate) bodies_bytes_max: usize,
    /// The largest body.
    pub(crate) largest_body: usize,
    /// Bytes of unsent responses of all sources together.
    pub(crate) responses_bytes_max: usize,
    /// Slow reads of all sources together.
    pub(crate) slow_reads_max: usize,
    /// Event streams of all sources together.
    pub(crate) event_streams_max: usize,
}

/// The sources with something in progress.
#[derive(Debug)]
pub(crate) struct Sources {
    bounds: Bounds,
    served: CommonPlaces,
    #[cfg(feature = "tls")]
    handshakes: Places,
    known: Mutex<BTreeMap<IpAddr, Weak<Source>>>,
}

impl Sources {
    pub(crate) fn new(bounds: Bounds) -> Arc<Self> {
        let known = Mutex::default();
        let (all, each) = bounds.served_max;
        Arc::new(Self {
            bounds,
            served: CommonPlaces::new(all.max(1), each),
            #[cfg(feature = "tls")]
            handshakes: Places::new(HANDSHAKES_MAX),
            known,
        })
    }

    /// The source of `address`; the same one as long as it is in use.
    pub(crate) fn find_or_add(self: &Arc<Self>, address: IpAddr) -> Arc<Source> {
        let network = network(address);
        let mut known = lock(&self.known);
        if let Some(source) = known.get(&network).and_then(Weak::upgrade) {
            return source;
        }
        let bounds = self.bounds;
        let source = Arc::new(Source {
            sources: Arc::clone(self),
            network,
            #[cfg(feature = "tls")]
            handshakes: Places::new(HANDSHAKES_MAX / 4),
            served: Places::new(bounds.served_max.1.max(1)),
            requests: AtomicUsize::new(0),
            bodies: Room::of_source(bounds.bodies_bytes_max, bounds.largest_body),
            responses: ResponseRooms::of_source(bounds.responses_bytes_max),
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
    #[cfg(feature = "tls")]
    handshakes: Places,
    /// The places of its connections.
    pub(crate) served: Places,
    /// Requests in progress that have a place.
    requests: AtomicUsize,
    /// Its part of the budget of bodies.
    pub(crate) bodies: Room,
    /// The same of unsent responses.
    pub(crate) responses: ResponseRooms,
    pub(crate) slow_reads: SlowReads,
    pub(crate) event_streams: EventStreams,
    #[cfg(feature = "cluster")]
    pub(crate) position_waiters: Arc<Semaphore>,
}

impl Source {
    /// The address; for IPv6 that of the network.
    pub(crate) fn network(&self) -> IpAddr {
        self.network
    }

    /// The places that all sources share.
    pub(crate) fn common_places(&self) -> &Places {
        &self.sources.served.common
    }

    /// A place among all for a connection that has one of this source, if there is one now.
    pub(crate) fn try_serve(&self) -> Option<OwnedSemaphorePermit> {
        self.sources.served.try_take(self.served.taken())
    }

    /// The same as soon as there is one.
    pub(crate) async fn serve(&self) -> Option<OwnedSemaphorePermit> {
        self.sources.served.take(self.served.taken()).await
    }

    /// A place for a handshake of TLS, as soon as there is one.
    #[cfg(feature = "tls")]
    pub(crate) async fn begin_handshake(
        &self,
    ) -> (Option<OwnedSemaphorePermit>, Option<OwnedSemaphorePermit>) {
        let of_source = self.handshakes.take().await;
        (of_source, self.sources.handshakes.take().await)
    }

    /// Ready when a handshake has had enough time and another one may be waiting for its place.
    #[cfg(feature = "tls")]
    pub(crate) async fn needs_handshake_place(&self) {
        loop {
            sleep(STALL).await;
            if self.handshakes.are_taken() || self.sources.handshakes.are_taken() {
                return;
            }
        }
    }

    /// Whether one of its connections may be waiting for a place.
    pub(crate) fn is_crowded(&self) -> bool {
        self.served.are_taken() || self.common_places().are_taken()
    }

    /// Begins a request; it ends when the result is dropped.
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
        // Another source may have its entry already.
        if known
            .get(&self.network)
            .is_some_and(|known| known.strong_count() == 0)
        {
            known.remove(&self.network);
        }
    }
}

/// Places of all sources together, a part of which is kept for sources that have few.
#[derive(Debug)]
pub(crate) struct CommonPlaces {
    common: Places,
    reserved: Places,
    /// The most places, the wanted one included, with which a source may take from the reserve.
    few: usize,
}

impl CommonPlaces {
    /// At most `max` at once, of which one source has at most `each`.
    pub(crate) fn new(max: usize, each: usize) -> Self {
        // If one source may have all places, as behind a proxy, none are kept from it.
        let reserve = if each < max { max / RESERVE_PART } else { 0 };
        Self {
            common: Places::new(max - reserve),
            reserved: Places::new(reserve),
            few: (each / FEW_PART).max(1),
        }
    }

    /// A place for a source that has `taken`, with this one, if there is one now.
    fn try_take(&self, taken: usize) -> Option<OwnedSemaphorePermit> {
        let has_few = taken <= self.few;
        let reserved = || has_few.then(|| self.reserved.try_take()).flatten();
        self.common.try_take().or_else(reserved)
    }

    /// The same as soon as there is one.
    async fn take(&self, taken: usize) -> Option<OwnedSemaphorePermit> {
        if taken > self.few {
            return self.common.take().await;
        }
        tokio::select! {
            biased;
            place = self.common.take() => place,
            place = self.reserved.take() => place,
        }
    }
}

/// A request in progress, below the bounds or above one.
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
    pub(crate) fn within(mut self, all: &CommonPlaces) -> Self {
        self.of_all = all.try_take(self.source.requests.load(Ordering::Relaxed));
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

/// The network that counts as one source: an address of IPv4; for IPv6 a network of 64 bits, the least that one customer has.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => {
            let [a, b, c, d, ..] = v6.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        v4 @ IpAddr::V4(_) => v4,
    }
}

/// The source of a request behind a proxy: the last address in `X-Forwarded-For`, which the proxy added. The client wrote those
/// before it.
pub(crate) fn forwarded(headers: &HeaderMap) -> Option<IpAddr> {
    let last = headers.get_all("x-forwarded-for").iter().next_back()?;
    let last = last.to_str().ok()?.rsplit(',').next()?.trim();
    let without_port = || last.parse().ok().map(|address: SocketAddr| address.ip());
    let in_brackets = || last.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    last.parse().ok().or_else(without_port).or_else(in_brackets)
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

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
        for (last, found) in [
            ("192.0.2.7:4711", Some("192.0.2.7")),
            ("[2001:db8::1]:443", Some("2001:db8::1")),
            ("2001:db8::1", Some("2001:db8::1")),
            ("::ffff:192.0.2.7", Some("::ffff:192.0.2.7")),
            ("unknown", None),
            ("192.0.2.7]", None),
            ("192.0.2.7:", None),
        ] {
            headers.append("x-forwarded-for", HeaderValue::from_static(last));
            assert_eq!(forwarded(&headers), found.map(address), "{last}");
        }
    }

    #[test]
    fn sources_with_all_they_may_have_leave_places_to_those_with_few() {
        let sources = Sources::new(Bounds {
            served_max: (256, 64),
            ..Bounds::default()
        });
        let place = |source: &Source| Some((source.served.try_take()?, source.try_serve()?));
        let of = |last: u8| sources.find_or_add(Ipv4Addr::new(192, 0, 2, last).into());
        let taken = |source: &Source| -> Vec<_> { std::iter::from_fn(|| place(source)).collect() };
        let greedy: Vec<_> = (0..4).map(of).collect();
        let mut held: Vec<_> = greedy.iter().map(|source| taken(source)).collect();
        assert_eq!(held.iter().map(Vec::len).sum::<usize>(), 256 - 32);
        let late: Vec<_> = (4..20).map(of).collect();
        held.extend(late.iter().map(|source| taken(source)));
        assert_eq!(held.iter().map(Vec::len).sum::<usize>(), 256);
        assert!(held.iter().skip(4).all(|places| places.len() == 2));
    }

    #[cfg(feature = "http2")]
    #[test]
    fn requests_of_http2_leave_places_to_sources_with_few() {
        let sources = Sources::new(Bounds {
            served_max: (1, 1),
            requests_max: 64,
            ..Bounds::default()
        });
        let all = CommonPlaces::new(256, 64);
        let of = |last: u8| sources.find_or_add(Ipv4Addr::new(192, 0, 2, last).into());
        let begun = |source: Arc<Source>| -> Vec<_> {
            let begin = || Some(source.begin().within(&all)).filter(|place| place.admitted);
            std::iter::from_fn(begin).collect()
        };
        let held: Vec<_> = (0..6).map(|last| begun(of(last))).collect();
        let held: Vec<_> = held.iter().map(Vec::len).collect();
        assert_eq!(held, [64, 64, 64, 32, 2, 2]);
    }

    #[test]
    fn requests_above_the_bound_of_their_source_are_not_admitted() {
        let sources = Sources::new(Bounds {
            served_max: (1, 1),
            requests_max: 2,
            ..Bounds::default()
        });
        let source = sources.find_or_add(address("2001:db8::1"));
        let (first, second) = (
            source.begin(),
            sources.find_or_add(address("2001:db8::2")).begin(),
        );
        assert!(first.admitted && second.admitted);
        assert!(!source.begin().admitted);
        assert!(sources.find_or_add(address("192.0.2.1")).begin().admitted);
        drop(first);
        assert!(source.begin().admitted);
        drop((source, second));
        assert!(
            lock(&sources.known).is_empty(),
            "who has nothing under way is forgotten"
        );
    }
}
