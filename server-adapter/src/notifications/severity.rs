//! How bad is what is wrong now.

use deskfleet::Engine;

/// The severity of a condition, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Severity {
    /// Nothing is wrong.
    Ok,
    /// The server cannot be used as it should.
    Critical,
}

impl Severity {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Critical => "critical",
        }
    }
}

/// The worst severity of all conditions. It reads the store.
pub(crate) fn worst(engine: &Engine) -> Severity {
    if engine.is_ready() {
        Severity::Ok
    } else {
        Severity::Critical
    }
}
