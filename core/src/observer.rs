//! The hook that tells a host what happens inside: internal error texts go here and nowhere else.

use crate::error::EngineError;

/// Something a host may log or count. No event holds an API key, a query string or a record.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A transaction reached the disk.
    Committed {
        /// Mutations in it, refused ones included.
        mutations: usize,
    },
    /// A transaction failed; none of its mutations was acknowledged.
    CommitFailed {
        /// The cause.
        error: &'a EngineError,
    },
    /// The store was closed and opened again after an I/O error.
    Reopened,
    /// Telemetry records moved from the queue into history.
    Filed {
        /// Records filed, exact repetitions included.
        records: u64,
    },
    /// The clock is far ahead of the time by which what is too old was last removed: after a long pause, or because it is
    /// wrong. Retention follows it by a day for each hour that passes; told once an hour.
    RetentionBehind {
        /// Seconds between the two.
        seconds: u64,
    },
    /// A request was answered 500.
    Internal {
        /// The cause.
        error: &'a EngineError,
    },
}

/// Receives [`Event`]s, on the thread where they happen; keep it quick. Any closure is one.
pub trait Observer: Send + Sync + 'static {
    /// Called once for each event.
    fn event(&self, event: &Event<'_>);
}

impl<F: Fn(&Event<'_>) + Send + Sync + 'static> Observer for F {
    fn event(&self, event: &Event<'_>) {
        self(event);
    }
}
