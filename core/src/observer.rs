//! The hook that reports internal events to the host: internal error texts go here and nowhere else.

use std::time::Duration;

use crate::error::EngineError;
use crate::timestamp::Timestamp;

/// Something a host may log or count. No event holds an API key, a query string or a record.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A transaction reached the disk.
    Committed {
        /// The size of the batch: mutations in it, refused ones included; each telemetry record is one.
        mutations: usize,
        /// How long it took, from the first mutation applied to the end of the sync, by the engine's clock.
        duration: Duration,
    },
    /// A transaction failed; none of its mutations was acknowledged. The [kind](EngineError::kind) says whether it may
    /// take effect nevertheless.
    CommitFailed {
        /// The cause.
        error: &'a EngineError,
    },
    /// The thread of [`CommitDriver::Thread`](crate::CommitDriver::Thread) panicked during a commit and goes on:
    /// something injected by the host panicked, such as its clock. The writes of that commit were refused as
    /// `Indeterminate`.
    WriterThreadRestarted {
        /// The message of the panic.
        panic: &'a str,
    },
    /// A round of [`Upkeep::Thread`](crate::Upkeep::Thread) failed, and the next round tries again. Of failures
    /// in a row each 60th is reported, which is about one a minute.
    UpkeepFailed {
        /// The cause.
        error: &'a EngineError,
    },
    /// The file was not closed before, as after a crash, and was opened all the same: its checksums are right.
    Recovered {
        /// Telemetry records that were acknowledged, not yet in the file, and taken over from beside it.
        records: u64,
    },
    /// The file had an older format and has the one of this version now, which older versions do not read.
    Converted {
        /// The format before.
        from: u32,
        /// The format now.
        to: u32,
    },
    /// The store was opened without a lock, as its backend or its file system has none: nothing keeps a second engine from writing over
    /// this one.
    NotLocked,
    /// The store was closed and opened again after an I/O error.
    Reopened,
    /// The file was removed, renamed or replaced while it is open: writes are refused, because they would be lost.
    /// Reported by [`Engine::maintain`](crate::Engine::maintain).
    FileDisplaced {
        /// What was found in its place.
        error: &'a EngineError,
    },
    /// The file is where it was opened again, and writes go on.
    FileReturned,
    /// Something in the store is damaged: telemetry that could not be read was set aside, or another row cannot be read.
    /// [`Engine::ready`](crate::Engine::ready) fails with the same error until a person has seen to it. Reported by
    /// [`Engine::maintain`](crate::Engine::maintain), once for each.
    Damaged {
        /// What is damaged, and what to do.
        error: &'a EngineError,
    },
    /// The file that keeps space for what must be written on a full disk is used, or could not be made. It is made again by
    /// [`Engine::maintain`](crate::Engine::maintain), which reports this, once there is space.
    ReserveMissing {
        /// Why it cannot be made now.
        error: &'a EngineError,
    },
    /// The file that keeps space is there again.
    ReserveMade,
    /// Telemetry records moved from the queue into history.
    Filed {
        /// Records filed, exact repetitions included.
        records: u64,
    },
    /// The clock is far ahead of the last removal of old data: after a long pause, or because it is wrong. Retention
    /// follows it by a day for each hour that passes. Reported once an hour.
    RetentionBehind {
        /// Seconds between the two.
        seconds: u64,
    },
    /// Something was handed out without its row in the audit, as the disk is full; or refused, as its row could not be written.
    Unaudited {
        /// What was asked for: the action that the row would have.
        action: &'static str,
    },
    /// The store is a copy that was opened to be written for the first time: it has keys that were revoked, and lacks holds that were
    /// placed, after it was made.
    StartedOnCopy {
        /// When the copy was made.
        made_at: Timestamp,
    },
    /// A request was answered 500.
    Internal {
        /// The cause.
        error: &'a EngineError,
    },
}

/// Receives [`Event`]s, on the thread where they happen; keep it quick. Any closure is one.
///
/// It is called when its thread neither commits nor files; what happens while a thread files is reported at the end of that. It may call
/// the engine: read, write, do upkeep, even close it or drop the last clone. A write makes another event, so an observer that writes for
/// each event never ends. It holds a [`WeakEngine`](crate::WeakEngine): with a clone the engine would hold itself and never end. A panic in it is caught and ignored.
///
/// The other injected parts, the clock, the randomness, the probe of free space and the backend, are called while the
/// engine works and must not call it.
pub trait Observer: Send + Sync + 'static {
    /// Called once for each event.
    fn event(&self, event: &Event<'_>);
}

impl<F: Fn(&Event<'_>) + Send + Sync + 'static> Observer for F {
    fn event(&self, event: &Event<'_>) {
        self(event);
    }
}

/// Hands every event to [`tracing`], with the target `deskfleet`: failures as errors, what a host should look at as warnings,
/// commits and filing as debug.
#[cfg(feature = "tracing")]
#[derive(Debug, Clone, Copy, Default)]
pub struct TracingObserver;

#[cfg(feature = "tracing")]
impl Observer for TracingObserver {
    fn event(&self, event: &Event<'_>) {
        use tracing::{debug, error, info, warn};
        let chain = crate::error::error_chain;
        match event {
            Event::Committed {
                mutations,
                duration,
            } => debug!(target: "deskfleet", mutations, ?duration, "committed"),
            Event::Filed { records } => debug!(target: "deskfleet", records, "filed telemetry"),
            Event::CommitFailed { error } => {
                error!(target: "deskfleet", error = %chain(*error), "a commit failed");
            }
            Event::Internal { error } => {
                error!(target: "deskfleet", error = %chain(*error), "a request was answered 500");
            }
            Event::WriterThreadRestarted { panic } => {
                error!(target: "deskfleet", panic, "the writer thread panicked and goes on");
            }
            Event::UpkeepFailed { error } => {
                error!(target: "deskfleet", error = %chain(*error), "upkeep failed and goes on");
            }
            Event::FileDisplaced { error } => {
                error!(target: "deskfleet", error = %chain(*error), "the file was removed or replaced");
            }
            Event::Damaged { error } => {
                error!(target: "deskfleet", error = %chain(*error), "the store is damaged");
            }
            Event::RetentionBehind { seconds } => {
                warn!(target: "deskfleet", seconds, "the clock is far ahead of the last retention");
            }
            Event::Unaudited { action } => {
                error!(target: "deskfleet", action, "answered without an audit row: the disk is full, or the store cannot be written");
            }
            Event::StartedOnCopy { made_at } => {
                warn!(target: "deskfleet", %made_at, "the store is a copy: later revocations and holds are missing");
            }
            Event::ReserveMissing { error } => {
                warn!(target: "deskfleet", error = %chain(*error), "the space that is kept for a full disk is used");
            }
            Event::ReserveMade => info!(target: "deskfleet", "space is kept for a full disk again"),
            Event::Recovered { records } => {
                warn!(target: "deskfleet", records, "the store was not closed before and is recovered");
            }
            Event::Converted { from, to } => {
                warn!(target: "deskfleet", from, to, "the file was converted to a newer format");
            }
            Event::NotLocked => {
                warn!(target: "deskfleet", "the store has no lock: open it with one engine at a time");
            }
            Event::Reopened => warn!(target: "deskfleet", "the store was opened again"),
            Event::FileReturned => info!(target: "deskfleet", "the file is where it was opened"),
        }
    }
}

#[cfg(all(test, feature = "tracing"))]
mod tests {
    use std::fmt::{self, Write};
    use std::sync::{Arc, Mutex};

    use tracing::field::{Field, Visit};
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Metadata, Subscriber};

    use crate::error::ErrorKind;
    use crate::locks::lock;

    use super::*;

    /// Keeps each event as a line.
    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<String>>>);

    struct Line(String);

    impl Visit for Line {
        fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
            let _ = write!(self.0, " {field}={value:?}");
        }
    }

    impl Subscriber for Lines {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, event: &tracing::Event<'_>) {
            let metadata = event.metadata();
            let mut line = Line(format!("{} {}", metadata.level(), metadata.target()));
            event.record(&mut line);
            lock(&self.0).push(line.0);
        }

        fn enter(&self, _: &Id) {}

        fn exit(&self, _: &Id) {}
    }

    #[test]
    fn tracing_observer_says_what_happened_and_how_bad_it_is() {
        let lines = Lines::default();
        let error = EngineError::new(ErrorKind::StorageUnavailable, "the disk is gone");
        tracing::subscriber::with_default(lines.clone(), || {
            TracingObserver.event(&Event::Filed { records: 3 });
            TracingObserver.event(&Event::CommitFailed { error: &error });
        });
        let lines = lines.0.lock().unwrap();
        assert_eq!(
            lines[0],
            "DEBUG deskfleet message=filed telemetry records=3"
        );
        assert!(
            lines[1].starts_with("ERROR deskfleet message=a commit failed error="),
            "{}",
            lines[1]
        );
        assert!(lines[1].contains("the disk is gone"), "{}", lines[1]);
    }
}
