//! The event log of an engine, read as a whole.

use deskfleet::{Engine, EventType, FleetEvent, Result};
use serde_json::Value;

/// The events that are kept, oldest first.
///
/// # Errors
/// Those of the engine.
///
/// # Panics
/// When the detail of an event is no JSON object.
pub fn kept(engine: &Engine) -> Result<Vec<FleetEvent>> {
    let Some(first) = engine.events(Some(0)).next().transpose()? else {
        return Ok(Vec::new());
    };
    let oldest = if first.kind == EventType::Resync {
        member(&first, "oldest").expect("the oldest event")
    } else {
        first.id
    };
    engine.events(Some(oldest - 1)).collect()
}

/// A number of the detail of an event.
///
/// # Panics
/// When the detail is no JSON object.
#[must_use]
pub fn member(event: &FleetEvent, name: &str) -> Option<u64> {
    let detail: Value = serde_json::from_str(&event.detail).expect("a JSON object");
    detail[name].as_u64()
}
