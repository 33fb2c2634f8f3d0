//! A bound on guessing API keys: so many bad keys a minute from one source, and then 429 for whatever needs a key.
//!
//! Kept here and not in the engine, which knows no sockets and so no sources.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use deskfleet::{Access, Config};
use http::HeaderMap;
use http::header::AUTHORIZATION;

/// The span that a bound is told for.
const WINDOW: Duration = Duration::from_secs(60);
/// Sources that are remembered; beyond that those nearest to their end are forgotten.
const SOURCES_MAX: usize = 4096;

/// The bad keys of each source.
///
/// For each source there is one moment: when all of its bad keys are forgotten. Each moves it on by the same interval, and a
/// source is refused while there is no room for another one within the window (GCRA).
#[derive(Debug)]
pub(crate) struct Guesses {
    /// `None`: no bound.
    interval: Option<Duration>,
    sources: Mutex<BTreeMap<IpAddr, Instant>>,
    /// Whether any source is remembered: a server without bad keys takes no lock.
    any: AtomicBool,
}

impl Guesses {
    /// So many bad keys a minute; `None` or 0 for no bound.
    pub(crate) fn new(per_minute: Option<u32>) -> Self {
        Self {
            interval: per_minute.and_then(|count| WINDOW.checked_div(count)),
            sources: Mutex::default(),
            any: AtomicBool::new(false),
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<IpAddr, Instant>> {
        self.sources.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The whole seconds, at least one, for which `source` is to send no key.
    pub(crate) fn refuse(&self, source: IpAddr, now: Instant) -> Option<u64> {
        let interval = self.interval?;
        if !self.any.load(Ordering::Relaxed) {
            return None;
        }
        let forgotten = self.lock().get(&network(source)).copied()?;
        let wait = (forgotten + interval).checked_duration_since(now + WINDOW)?;
        (!wait.is_zero()).then(|| wait.as_secs() + u64::from(wait.subsec_nanos() > 0))
    }

    /// `source` has sent a bad key.
    pub(crate) fn note(&self, source: IpAddr, now: Instant) {
        let Some(interval) = self.interval else {
            return;
        };
        let source = network(source);
        let mut sources = self.lock();
        if sources.len() >= SOURCES_MAX && !sources.contains_key(&source) {
            sources.retain(|_, forgotten| *forgotten > now);
            forget_some(&mut sources);
        }
        let forgotten = sources.entry(source).or_insert(now);
        *forgotten = (*forgotten).max(now) + interval;
        self.any.store(true, Ordering::Relaxed);
    }
}

/// Makes room where there is none: a quarter goes at a time, so that a flood of sources does not search them all each time.
fn forget_some(sources: &mut BTreeMap<IpAddr, Instant>) {
    if sources.len() < SOURCES_MAX {
        return;
    }
    let mut moments: Vec<Instant> = sources.values().copied().collect();
    let (_, last_to_go, _) = moments.select_nth_unstable(SOURCES_MAX / 4);
    let last_to_go = *last_to_go;
    sources.retain(|_, forgotten| *forgotten > last_to_go);
}

/// What counts as one source: an address of IPv4; of IPv6 a network of 64 bits, which is the least that one customer has.
pub(crate) fn network(source: IpAddr) -> IpAddr {
    match source.to_canonical() {
        IpAddr::V6(v6) => {
            let [a, b, c, d, ..] = v6.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        v4 @ IpAddr::V4(_) => v4,
    }
}

/// Where a request comes from: the other end of the connection, or, where a proxy is trusted, the last address that it added to
/// `X-Forwarded-For`; those before it are whatever the client wrote.
pub(crate) fn source(peer: IpAddr, headers: &HeaderMap, proxied: bool) -> IpAddr {
    if !proxied {
        return peer;
    }
    let last = headers.get_all("x-forwarded-for").iter().next_back();
    let address = last.and_then(|value| {
        let last = value.to_str().ok()?.rsplit(',').next()?.trim();
        last.trim_matches(['[', ']']).parse().ok()
    });
    address.unwrap_or(peer)
}

/// Whether a request may hold a key: one that holds none guesses nothing. A name in the query can be written in many ways, so
/// any query counts.
pub(crate) fn holds_key(headers: &HeaderMap, query: Option<&str>) -> bool {
    headers.contains_key("x-api-key")
        || headers.contains_key(AUTHORIZATION)
        || query.is_some_and(|query| !query.is_empty())
}

/// Whether a call needs a key, in this configuration.
pub(crate) fn needs_key(access: Access, config: &Config) -> bool {
    match access {
        Access::Key(_) => true,
        Access::Telemetry => config.require_ingest_key,
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_source_has_its_bad_keys_a_minute_and_waits_for_the_next() {
        let guesses = Guesses::new(Some(20));
        let (bad, good) = (address("192.0.2.1"), address("192.0.2.2"));
        let start = Instant::now();
        for _ in 0..20 {
            assert_eq!(guesses.refuse(bad, start), None);
            guesses.note(bad, start);
        }
        assert_eq!(guesses.refuse(bad, start), Some(3));
        assert_eq!(guesses.refuse(good, start), None);
        let later = start + Duration::from_millis(2_500);
        assert_eq!(guesses.refuse(bad, later), Some(1));
        let later = start + Duration::from_secs(3);
        assert_eq!(guesses.refuse(bad, later), None);
        guesses.note(bad, later);
        assert_eq!(guesses.refuse(bad, later), Some(3));
        let much_later = start + WINDOW * 2;
        for _ in 0..20 {
            assert_eq!(guesses.refuse(bad, much_later), None);
            guesses.note(bad, much_later);
        }
        assert!(guesses.refuse(bad, much_later).is_some());
    }

    #[test]
    fn without_a_bound_nobody_is_refused() {
        for none in [None, Some(0)] {
            let guesses = Guesses::new(none);
            let now = Instant::now();
            for _ in 0..1000 {
                guesses.note(address("::1"), now);
            }
            assert_eq!(guesses.refuse(address("::1"), now), None);
        }
    }

    #[test]
    fn one_network_is_one_source_however_it_is_written() {
        assert_eq!(network(address("::ffff:192.0.2.1")), address("192.0.2.1"));
        let same = [address("2001:db8:1:2::1"), address("2001:db8:1:2:ffff::")];
        assert_eq!(network(same[0]), network(same[1]));
        assert_ne!(network(same[0]), network(address("2001:db8:1:3::1")));
    }

    #[test]
    fn many_sources_take_bounded_memory_and_the_busiest_stay() {
        let guesses = Guesses::new(Some(2));
        let now = Instant::now();
        let busy = address("192.0.2.1");
        guesses.note(busy, now);
        guesses.note(busy, now);
        for number in 0..20_000_u32 {
            guesses.note(IpAddr::V4(number.into()), now);
        }
        assert!(guesses.lock().len() <= SOURCES_MAX);
        assert!(guesses.refuse(busy, now).is_some());
        let full = |number: &u32| {
            guesses.note(IpAddr::V4((*number).into()), now);
            guesses.lock().len() == SOURCES_MAX
        };
        assert!((50_000..90_000).any(|number| full(&number)));
        let later = now + WINDOW * 2;
        guesses.note(address("::1"), later);
        assert_eq!(guesses.lock().len(), 1, "those that are forgotten go first");
    }

    #[test]
    fn a_proxy_is_believed_only_where_it_is_trusted_and_only_its_own_word() {
        let peer = address("127.0.0.1");
        let mut headers = HeaderMap::new();
        assert_eq!(source(peer, &headers, true), peer);
        let value = HeaderValue::from_static("198.51.100.9, 192.0.2.7");
        headers.append("x-forwarded-for", value);
        assert_eq!(source(peer, &headers, false), peer);
        assert_eq!(source(peer, &headers, true), address("192.0.2.7"));
        headers.append("x-forwarded-for", HeaderValue::from_static("[2001:db8::1]"));
        assert_eq!(source(peer, &headers, true), address("2001:db8::1"));
        headers.append("x-forwarded-for", HeaderValue::from_static("unknown"));
        assert_eq!(source(peer, &headers, true), peer);
    }
}
