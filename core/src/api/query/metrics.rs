//! `GET /query/metrics`

use crate::api::{Call, Completion, Handled};
use crate::engine_core::EngineCore;
use crate::view::actions;
use crate::wire::metrics::{self, Figures, PROMETHEUS};
use crate::wire::reply;

pub(in crate::api) fn metrics(call: &Call<'_>) -> Handled {
    let text = text(call.core).into_bytes();
    Ok(Completion::Response(reply::ok(PROMETHEUS, text)))
}

/// The metrics of the fleet and the store; those that cannot be read are left out.
pub(crate) fn text(core: &EngineCore) -> String {
    let unattended = core
        .reader()
        .and_then(|reader| actions::unattended(&reader));
    metrics::text(&Figures {
        now: core.now(),
        counts: core.fleet_counts().ok(),
        unattended: unattended.ok(),
        summary: core.fleet_summary().ok(),
        store: core.store_status().ok(),
        queue_records_max: core.config.limits.queue_records,
        late_and_ahead: core.late_and_ahead(),
        rejected: core.rejected(),
        conditions: core.noted_conditions().unwrap_or_default(),
    })
}
