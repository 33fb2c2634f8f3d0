//! Work that is kept off the event loop, and its bounds: in all, and for each source.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// How long a request waits for its place before it is refused: bursts pass, a server that is busy says so.
const WAIT: Duration = Duration::from_millis(500);
/// Responses whose body is not made yet as a whole, at once. Each holds less than 1 MiB.
const UNFINISHED_MAX: usize = 64;
/// Sources that are remembered before those without a place are forgotten.
const SOURCES_KEPT: usize = 64;

/// Places, of which each source gets at most half.
#[derive(Debug)]
struct Places {
    total: Arc<Semaphore>,
    share: usize,
    sources: Mutex<BTreeMap<IpAddr, Arc<Semaphore>>>,
}

/// One of the places; its drop frees it.
#[derive(Debug)]
pub(crate) struct Place {
    _of_source: OwnedSemaphorePermit,
    _of_all: OwnedSemaphorePermit,
}

impl Places {
    fn new(max: usize) -> Self {
        let max = max.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            total: Arc::new(Semaphore::new(max)),
            share: max.div_ceil(2),
            sources: Mutex::default(),
        }
    }

    fn of(&self, source: IpAddr) -> Arc<Semaphore> {
        let mut sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        if sources.len() >= SOURCES_KEPT {
            // Whoever has a place, or waits for one, holds the semaphore as well.
            sources.retain(|_, places| Arc::strong_count(places) > 1);
        }
        let places = sources.entry(source);
        Arc::clone(places.or_insert_with(|| Arc::new(Semaphore::new(self.share))))
    }

    /// The next place, first come, first served; the source's own bound comes first, so that none waits in front of others in
    /// vain. `None` would mean that a semaphore was closed; nobody closes one.
    async fn take(&self, source: IpAddr) -> Option<Place> {
        let of_source = self.of(source).acquire_owned().await.ok()?;
        let of_all = Arc::clone(&self.total).acquire_owned().await.ok()?;
        Some(Place {
            _of_source: of_source,
            _of_all: of_all,
        })
    }

    fn try_take(&self, source: IpAddr) -> Option<Place> {
        Some(Place {
            _of_source: self.of(source).try_acquire_owned().ok()?,
            _of_all: Arc::clone(&self.total).try_acquire_owned().ok()?,
        })
    }
}

/// The bounds on reads that take long, and on responses that are made while they are sent.
#[derive(Debug)]
pub(crate) struct SlowReads {
    running: Places,
    unfinished: Places,
}

impl SlowReads {
    /// At most `max` run at once.
    pub(crate) fn new(max: usize) -> Self {
        Self {
            running: Places::new(max),
            unfinished: Places::new(UNFINISHED_MAX),
        }
    }

    /// A place to run a request at; `None` when there is none for too long.
    pub(crate) async fn admit(&self, source: IpAddr) -> Option<Place> {
        timeout(WAIT, self.running.take(source)).await.ok()?
    }

    /// A place to go on with a response that has begun, however long it takes to get one.
    pub(crate) async fn resume(&self, source: IpAddr) -> Option<Place> {
        self.running.take(source).await
    }

    /// Room for a response that is made while it is sent.
    pub(crate) fn try_begin(&self, source: IpAddr) -> Option<Place> {
        self.unfinished.try_take(source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn places_of_one_source_are_at_most_half() {
        let places = Places::new(4);
        let (greedy, other) = (address("192.0.2.1"), address("192.0.2.2"));
        let held: Vec<_> = std::iter::repeat_with(|| places.try_take(greedy))
            .take(10)
            .flatten()
            .collect();
        assert_eq!(held.len(), 2);
        let others: Vec<_> = std::iter::repeat_with(|| places.try_take(other))
            .take(10)
            .flatten()
            .collect();
        assert_eq!(others.len(), 2);
        assert!(places.try_take(address("192.0.2.3")).is_none(), "all taken");
        drop(held);
        assert!(places.try_take(greedy).is_some());
        assert!(Places::new(1).try_take(greedy).is_some());
    }

    #[test]
    fn sources_without_a_place_are_forgotten() {
        let places = Places::new(2);
        let _held = places.try_take(address("192.0.2.1")).unwrap();
        for number in 0..10_000_u32 {
            drop(places.try_take(IpAddr::V4(number.into())));
        }
        let sources = places.sources.lock().unwrap();
        assert!(sources.len() <= SOURCES_KEPT);
        assert!(sources.contains_key(&address("192.0.2.1")));
    }
}
