//! Rates of each source: guesses of API keys, and telemetry without a key.
//!
//! Kept here and not in the engine, which knows no sockets and so no sources.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName};

use super::sources::network;
use crate::locks::lock;

const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// The span that the bound on bad keys is for.
const WINDOW: Duration = Duration::from_secs(60);
/// How long a source may send telemetry at once for which it then has to wait.
const KEYLESS_CREDIT: Duration = Duration::from_secs(4);
/// Sources that are remembered; beyond that those nearest to their end are forgotten.
const SOURCES_MAX: usize = 4096;

/// The spent rate of each source.
///
/// For each source there is one moment: when all that it spent is paid off. What it spends moves the moment on by its cost, and a
/// source is refused while the moment is further off than its credit (GCRA).
#[derive(Debug, Default)]
pub(crate) struct SourceRates {
    sources: Mutex<BTreeMap<IpAddr, Instant>>,
}

impl SourceRates {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<IpAddr, Instant>> {
        lock(&self.sources)
    }

    /// `source` has sent a bad key, and may send `per_minute`; `None` or 0 for no bound. Notes it, unless it had too many already:
    /// then the whole seconds, at least one, for which it is to send no other.
    pub(crate) fn bad_key(
        &self,
        per_minute: Option<u32>,
        source: IpAddr,
        now: Instant,
    ) -> Option<u64> {
        let interval = WINDOW.checked_div(per_minute?)?;
        self.spend(source, interval, WINDOW.saturating_sub(interval), now)
    }

    /// `source` has sent `bytes` of telemetry without a key, and may send `per_second`; `None` or 0 for no bound. Notes them, unless
    /// it sent too many before: then the whole seconds, at least one, after which they are accepted. A report of any length passes
    /// where the credit is not used up.
    pub(crate) fn keyless(
        &self,
        per_second: Option<u64>,
        source: IpAddr,
        bytes: usize,
        now: Instant,
    ) -> Option<u64> {
        let millionths = (bytes as u64).saturating_mul(1_000_000);
        let cost = Duration::from_micros(millionths.checked_div(per_second?)?);
        self.spend(source, cost, KEYLESS_CREDIT, now)
    }

    /// Moves the moment of `source` on by `cost`, unless it is further off than `credit`: then the seconds until it no longer is.
    fn spend(&self, source: IpAddr, cost: Duration, credit: Duration, now: Instant) -> Option<u64> {
        let source = network(source);
        let mut sources = self.lock();
        if sources.len() >= SOURCES_MAX && !sources.contains_key(&source) {
            sources.retain(|_, paid| *paid > now);
            forget_some(&mut sources);
        }
        let paid = sources.entry(source).or_insert(now);
        let wait = paid.saturating_duration_since(now + credit);
        if wait.is_zero() {
            *paid = (*paid).max(now) + cost;
            return None;
        }
        Some(wait.as_secs() + u64::from(wait.subsec_nanos() > 0))
    }
}

/// Makes room if there is none: it removes a quarter at a time, so that a flood of sources does not search all of them each time.
fn forget_some(sources: &mut BTreeMap<IpAddr, Instant>) {
    if sources.len() < SOURCES_MAX {
        return;
    }
    let mut moments: Vec<Instant> = sources.values().copied().collect();
    let (_, last_to_go, _) = moments.select_nth_unstable(SOURCES_MAX / 4);
    let last_to_go = *last_to_go;
    sources.retain(|_, paid| *paid > last_to_go);
}

/// Whether a request may hold a key: one that holds none failed nothing. A name in the query can be written in many ways, so
/// any query counts.
pub(crate) fn holds_key(headers: &HeaderMap, query: Option<&str>) -> bool {
    headers.contains_key(X_API_KEY)
        || headers.contains_key(AUTHORIZATION)
        || query.is_some_and(|query| !query.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_source_has_its_bad_keys_a_minute_and_waits_for_the_next() {
        let failed = SourceRates::default();
        let bad_key = |source, now| failed.bad_key(Some(20), source, now);
        let (bad, other) = (address("192.0.2.1"), address("192.0.2.2"));
        let start = Instant::now();
        for _ in 0..20 {
            assert_eq!(bad_key(bad, start), None);
        }
        assert_eq!(bad_key(bad, start), Some(3));
        assert_eq!(bad_key(other, start), None);
        let later = start + Duration::from_millis(2_500);
        assert_eq!(bad_key(bad, later), Some(1));
        let later = start + Duration::from_secs(3);
        assert_eq!(bad_key(bad, later), None);
        assert_eq!(bad_key(bad, later), Some(3));
        let much_later = start + WINDOW * 2;
        for _ in 0..20 {
            assert_eq!(bad_key(bad, much_later), None);
        }
        assert!(bad_key(bad, much_later).is_some());
    }

    #[test]
    fn without_a_bound_nobody_is_refused() {
        for none in [None, Some(0)] {
            let rates = SourceRates::default();
            let now = Instant::now();
            for _ in 0..1000 {
                assert_eq!(rates.bad_key(none, address("::1"), now), None);
                let bytes = rates.keyless(none.map(u64::from), address("::1"), 1 << 20, now);
                assert_eq!(bytes, None);
            }
        }
    }

    #[test]
    fn a_source_sends_its_bytes_a_second_and_waits_for_what_it_sent_beyond() {
        let rates = SourceRates::default();
        let keyless = |source, bytes, now| rates.keyless(Some(1000), source, bytes, now);
        let (busy, other) = (address("192.0.2.1"), address("192.0.2.2"));
        let start = Instant::now();
        for _ in 0..4 {
            assert_eq!(keyless(busy, 1000, start), None);
        }
        assert_eq!(keyless(busy, 6000, start), None, "longer than what is left");
        assert_eq!(keyless(busy, 1, start), Some(6));
        assert_eq!(
            keyless(other, 1_000_000, start),
            None,
            "longer than the credit"
        );
        let later = start + Duration::from_secs(6);
        assert_eq!(keyless(busy, 1, later), None);
        assert_eq!(keyless(busy, 1, later), Some(1));
    }

    #[test]
    fn many_sources_take_bounded_memory_and_the_busiest_stay() {
        let failed = SourceRates::default();
        let bad_key = |source, now| failed.bad_key(Some(2), source, now);
        let now = Instant::now();
        let busy = address("192.0.2.1");
        for _ in 0..2 {
            assert_eq!(bad_key(busy, now), None);
        }
        let others = |number: u32| bad_key(IpAddr::V4(number.into()), now);
        for number in 0..20_000 {
            others(number);
        }
        assert!(failed.lock().len() <= SOURCES_MAX);
        assert!(bad_key(busy, now).is_some());
        let full = |number: u32| {
            others(number);
            failed.lock().len() == SOURCES_MAX
        };
        assert!((50_000..90_000).any(full));
        let later = now + WINDOW * 2;
        bad_key(address("::1"), later);
        assert_eq!(failed.lock().len(), 1, "those that are forgotten go first");
    }
}
