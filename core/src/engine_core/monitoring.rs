//! What monitoring asks for: the fleet counted, and the state of the store.

use crate::error::Result;
use crate::locks::lock;
use crate::model::{FleetCounts, StoreStatus};
use crate::timestamp::Timestamp;
use crate::view::{Reader, fleet};

use super::EngineCore;

/// The counts of the fleet, kept for as long as they hold.
#[derive(Debug)]
pub(super) struct KnownFleet {
    /// [`Store::fleet_version`](crate::store::Store::fleet_version) at that time.
    version: u64,
    from: Timestamp,
    until: Timestamp,
    counts: FleetCounts,
}

impl EngineCore {
    /// The fleet as it stands now. Where neither a write nor time has changed it since it was last counted, nothing is read.
    pub(crate) fn fleet_counts(&self) -> Result<FleetCounts> {
        // Before the lock: what commits here notifies the observer, which may ask as well.
        self.settle();
        // Held while counting: of those who ask at the same time one counts.
        let mut known = lock(&self.fleet);
        let (version, now) = (self.store.fleet_version(), self.now());
        if let Some(known) = &*known
            && known.version == version
            && (known.from..known.until).contains(&now)
        {
            return Ok(known.counts.clone());
        }
        let reader = Reader::new(&self.store, now)?;
        let (counts, until) = fleet::counts(&reader)?;
        *known = Some(KnownFleet {
            version,
            from: now,
            until,
            counts: counts.clone(),
        });
        Ok(counts)
    }

    /// How much is stored, and how far upkeep has come.
    pub(crate) fn store_status(&self) -> Result<StoreStatus> {
        self.settle();
        let bytes = self.store.bytes()?;
        let free_bytes = self.injected.free_space.as_ref().and_then(|free| free());
        let queue = self.store.queue();
        Ok(StoreStatus {
            bytes,
            free_bytes,
            queue_records: queue.records(),
            queue_bytes: queue.bytes(),
            oldest_queued: queue.oldest(),
            retention_applied: self.swept(),
        })
    }
}
