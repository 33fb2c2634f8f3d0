//! A bound on guessing API keys: above `n` bad keys a minute from one source they get 429 instead of 401. A good key always passes.
//!
//! Kept here and not in the engine, which knows no sockets and so no sources.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use http::HeaderMap;
use http::header::AUTHORIZATION;

use crate::locks::lock;
use crate::sources::network;

/// The span that the bound is for.
const WINDOW: Duration = Duration::from_secs(60);
/// Sources that are remembered; beyond that those nearest to their end are forgotten.
const SOURCES_MAX: usize = 4096;

/// The bad keys of each source.
///
/// For each source there is one moment: when all of its bad keys are forgotten. Each moves it on by the same interval, and a
/// source is refused while there is no room for another one within the window (GCRA).
#[derive(Debug, Default)]
pub(crate) struct FailedKeys {
    sources: Mutex<BTreeMap<IpAddr, Instant>>,
}

impl FailedKeys {
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
        let source = network(source);
        let mut sources = self.lock();
        if sources.len() >= SOURCES_MAX && !sources.contains_key(&source) {
            sources.retain(|_, forgotten| *forgotten > now);
            forget_some(&mut sources);
        }
        let forgotten = sources.entry(source).or_insert(now);
        let then = (*forgotten).max(now) + interval;
        let wait = then.saturating_duration_since(now + WINDOW);
        if wait.is_zero() {
            *forgotten = then;
            return None;
        }
        Some(wait.as_secs() + u64::from(wait.subsec_nanos() > 0))
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

/// Whether a request may hold a key: one that holds none failed nothing. A name in the query can be written in many ways, so
/// any query counts.
pub(crate) fn holds_key(headers: &HeaderMap, query: Option<&str>) -> bool {
    headers.contains_key("x-api-key")
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
        let failed = FailedKeys::default();
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
            let failed = FailedKeys::default();
            let now = Instant::now();
            for _ in 0..1000 {
                assert_eq!(failed.bad_key(none, address("::1"), now), None);
            }
        }
    }

    #[test]
    fn many_sources_take_bounded_memory_and_the_busiest_stay() {
        let failed = FailedKeys::default();
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
