//! W3C trace ids: the log of the provider, that of the server and what it sends to others name the same one.

use std::fmt::{self, Write as _};

/// A trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trace(String);

impl Trace {
    /// A new one.
    pub(super) fn new() -> Self {
        Self(hex::<16>())
    }

    /// The header `traceparent` of a request of this trace.
    pub(super) fn parent(&self) -> String {
        format!("00-{}-{}-01", self.0, hex::<8>())
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn hex<const BYTES: usize>() -> String {
    let mut bytes = [0; BYTES];
    // An id of zeroes is not valid; one with a bit set is, where the system has no randomness.
    if getrandom::fill(&mut bytes).is_err() {
        bytes.fill(1);
    }
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
