//! What is not counted by the server but asked of the engine: figures of the fleet and of the store.

use std::time::Duration;

use deskfleet::{Engine, FleetCounts, State, StoreStatus, Timestamp};

use super::exposition::Exposition;

/// The figures at one moment.
#[derive(Debug, Clone)]
pub(crate) struct Figures {
    now: Timestamp,
    ready: bool,
    queue_records_max: u64,
    /// `None` where the store cannot be read.
    fleet: Option<FleetCounts>,
    /// `None` where the store cannot be reached.
    store: Option<StoreStatus>,
}

impl Figures {
    /// Reads them. Takes as long as [`Engine::fleet_counts`].
    pub(crate) fn of(engine: &Engine) -> Self {
        Self {
            now: engine.now(),
            ready: engine.is_ready(),
            queue_records_max: engine.config().limits.queue_records,
            fleet: engine.fleet_counts().ok(),
            store: engine.store_status().ok(),
        }
    }

    /// What there is to say where they cannot be read.
    pub(crate) fn unread(engine: &Engine) -> Self {
        Self {
            now: engine.now(),
            ready: false,
            queue_records_max: engine.config().limits.queue_records,
            fleet: None,
            store: None,
        }
    }

    pub(super) fn write(&self, text: &mut Exposition) {
        text.gauge(
            "ready",
            "Whether the store can be read and takes writes.",
            u8::from(self.ready),
        );
        if let Some(fleet) = &self.fleet {
            self.write_fleet(text, fleet);
        }
        if let Some(store) = &self.store {
            self.write_store(text, store);
        }
    }

    fn write_fleet(&self, text: &mut Exposition, fleet: &FleetCounts) {
        let name = text.family("workspaces", "gauge", "Workspaces, by state.");
        let states = State::ALL
            .iter()
            .map(|state| (state.as_str(), fleet.in_state(*state)));
        for (state, count) in states.chain([("other", fleet.in_other_state)]) {
            text.sample(&format!("{name}{{state=\"{state}\"}}"), count);
        }
        text.gauge(
            "workspaces_held",
            "Workspaces on litigation hold.",
            fleet.held,
        );
        text.gauge(
            "actions_running",
            "Actions that were accepted and have not ended.",
            fleet.actions,
        );
        text.gauge(
            "oldest_action_age_seconds",
            "Time since the oldest running action was accepted; 0 without one.",
            self.age(fleet.oldest_action),
        );
    }

    fn write_store(&self, text: &mut Exposition, store: &StoreStatus) {
        text.gauge("store_bytes", "Size of the store's file.", store.bytes);
        if let Some(free) = store.free_bytes {
            text.gauge("disk_free_bytes", "Free space of the store's disk.", free);
        }
        text.gauge(
            "queue_records",
            "Telemetry records accepted and not yet filed.",
            store.queue_records,
        );
        text.gauge(
            "queue_records_max",
            "Queued records above which telemetry is refused.",
            self.queue_records_max,
        );
        text.gauge(
            "queue_bytes",
            "Bytes of these records in the store.",
            store.queue_bytes,
        );
        text.gauge(
            "oldest_queued_record_age_seconds",
            "Time since the oldest of these records was received; 0 without one.",
            self.age(store.oldest_queued),
        );
        if let Some(applied) = store.retention_applied {
            text.gauge(
                "retention_applied_timestamp_seconds",
                "Time up to which retention was applied, since the epoch.",
                unix_seconds(applied),
            );
        }
    }

    /// Seconds since `moment`.
    fn age(&self, moment: Option<Timestamp>) -> f64 {
        let age = moment.map(|moment| self.now.duration_since(moment));
        age.as_ref().map_or(0.0, Duration::as_secs_f64)
    }
}

/// Seconds since the epoch; nothing here is older.
pub(super) fn unix_seconds(moment: Timestamp) -> f64 {
    moment.duration_since(Timestamp::UNIX_EPOCH).as_secs_f64()
}
