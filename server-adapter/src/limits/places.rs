//! A bound on served connections, of all sources or of one, and how often slow ones lose their place.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// Time that a connection waits for a place after which those that are slow lose theirs.
pub(crate) const STALL: Duration = Duration::from_millis(500);
/// The least time between two such searches, however many wait: each examines all connections.
const PAUSE: Duration = Duration::from_millis(100);

/// The places of all sources, or of one.
#[derive(Debug)]
pub(crate) struct Places {
    permits: Arc<Semaphore>,
    max: usize,
    began: Instant,
    /// The last search for slow connections, in milliseconds after `began`.
    looked: AtomicU64,
}

impl Places {
    pub(crate) fn new(max: usize) -> Self {
        let max = max.min(Semaphore::MAX_PERMITS);
        Self {
            permits: Arc::new(Semaphore::new(max)),
            max,
            began: Instant::now(),
            looked: AtomicU64::new(0),
        }
    }

    /// Whether a connection may wait for a place.
    pub(crate) fn are_taken(&self) -> bool {
        self.permits.available_permits() == 0
    }

    /// How many are taken.
    pub(crate) fn taken(&self) -> usize {
        self.max - self.permits.available_permits().min(self.max)
    }

    pub(crate) fn try_take(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.permits).try_acquire_owned().ok()
    }

    pub(crate) async fn take(&self) -> Option<OwnedSemaphorePermit> {
        // Nobody closes the semaphore.
        Arc::clone(&self.permits).acquire_owned().await.ok()
    }

    /// Whether all are taken, and the next search for slow connections is due. Places granted meanwhile do not matter: the
    /// waiting connection got none.
    pub(crate) fn may_look(&self, now: Instant) -> bool {
        let ms = now.saturating_duration_since(self.began).as_millis();
        let now = u64::try_from(ms).unwrap_or(u64::MAX);
        let looked = self.looked.load(Ordering::Relaxed);
        if !self.are_taken() || u128::from(now.saturating_sub(looked)) < PAUSE.as_millis() {
            return false;
        }
        let relaxed = Ordering::Relaxed;
        let noted = self.looked.compare_exchange(looked, now, relaxed, relaxed);
        noted.is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_that_change_hands_do_not_keep_slow_connections_from_being_looked_for() {
        let places = Places::new(2);
        let _slow = places.try_take();
        let changing = places.try_take();
        let later = Instant::now() + STALL;
        drop(changing);
        assert!(!places.may_look(later), "there is one");
        let _changed = places.try_take();
        assert!(places.may_look(later));
        assert!(!places.may_look(later), "once in that time");
        assert!(places.may_look(later + PAUSE));
    }
}
