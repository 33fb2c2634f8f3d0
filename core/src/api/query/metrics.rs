//! `GET /query/metrics`

use crate::api::{Call, Completion};
use crate::engine_core::EngineCore;
use crate::wire::metrics::{self, Figures, PROMETHEUS};
use crate::wire::reply;

pub(super) fn answer(call: &Call<'_>) -> Completion {
    Completion::Response(reply::ok(PROMETHEUS, text(call.core).into_bytes()))
}

/// The metrics of the fleet and the store; those that cannot be read are left out.
pub(crate) fn text(core: &EngineCore) -> String {
    metrics::text(&Figures {
        now: core.now(),
        counts: core.fleet_counts().ok(),
        summary: core.fleet_summary().ok(),
        store: core.store_status().ok(),
        queue_records_max: core.config.limits.queue_records,
    })
}
