//! How bad is what is wrong now, in one word.

use deskfleet::{Engine, Severity};

/// The worst severity of all conditions, `ok` without any. It reads the whole fleet.
pub(crate) fn worst(engine: &Engine) -> &'static str {
    let all = engine.conditions();
    let worst = all.iter().map(|condition| condition.severity).max();
    worst.map_or("ok", Severity::as_str)
}
