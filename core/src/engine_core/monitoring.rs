//! Monitoring: counts of the fleet, and the state of the store.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::locks::lock;
use crate::model::{FleetCounts, State, StoreStatus};
use crate::timestamp::Timestamp;
use crate::view::query::fleet::FleetSummary;
use crate::view::{Reader, fleet};

use super::EngineCore;

/// The counts of the fleet, kept until they change.
#[derive(Debug)]
pub(super) struct KnownFleet {
    /// [`Store::fleet_version`](crate::store::Store::fleet_version) at that time.
    version: u64,
    from: Timestamp,
    until: Timestamp,
    counts: FleetCounts,
}

impl EngineCore {
    /// The fleet in numbers, for a question: a short queue is filed first.
    pub(crate) fn question_of_fleet(&self) -> Result<FleetSummary> {
        self.file_short_queue();
        self.fleet_summary()
    }

    /// The fleet in numbers.
    pub(crate) fn fleet_summary(&self) -> Result<FleetSummary> {
        let counts = self.fleet_counts()?;
        let now = self.now();
        let since = [15 * 60, 24 * 60 * 60].map(|seconds: i64| now.plus_seconds(-seconds));
        let [reporting_15m, reporting_24h] = self.store.seen_after(since)?;
        let by_state = State::ALL.iter();
        let by_state = by_state.map(|state| (state.as_str(), counts.in_state(*state)));
        let by_state = by_state.chain([("other", counts.in_other_state)]);
        let mut states = BTreeMap::new();
        // A loop, because collecting into a map would sort them.
        for (state, count) in by_state.filter(|(_, count)| *count > 0) {
            states.insert(state.to_owned(), count);
        }
        Ok(FleetSummary {
            work_spaces: counts.workspaces(),
            by_state: states,
            by_running_mode: counts.by_running_mode,
            by_compute_type: counts.by_compute_type,
            by_region: counts.by_region,
            by_protocol: counts.by_protocol,
            on_hold: counts.held,
            in_transition: counts.actions,
            reporting_15m,
            reporting_24h,
            records_per_second: self.rate.per_second(now),
            queued: self.store.queued(),
            store_bytes: self.store.bytes()?,
            at: now,
        })
    }

    /// The counts of the fleet now. It reads nothing if neither a write nor time has changed them since the last count.
    pub(crate) fn fleet_counts(&self) -> Result<FleetCounts> {
        // This comes before the lock: a commit here notifies the observer, which may call this too.
        self.settle();
        // Locked while counting, so that one of several concurrent callers counts.
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
            simulated: self.actions().simulated().collect(),
        })
    }
}
