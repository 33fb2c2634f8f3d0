//! The injected clock. Core never reads the time of the host by itself.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::SystemTime;

use crate::timestamp::Timestamp;

/// Returns the time to the engine. `std::time::SystemTime::now` is a clock; so is any closure that returns a
/// [`SystemTime`].
pub trait Clock: Send + Sync + 'static {
    /// The time now.
    fn now(&self) -> Timestamp;
}

impl<F: Fn() -> SystemTime + Send + Sync + 'static> Clock for F {
    fn now(&self) -> Timestamp {
        self().into()
    }
}

/// The clock of the operating system.
#[cfg(feature = "system")]
#[derive(Debug)]
pub(crate) struct SystemClock;

#[cfg(feature = "system")]
impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "the feature `system` asks for it"
    )]
    fn now(&self) -> Timestamp {
        SystemTime::now().into()
    }
}

/// A clock that stands still until it is moved: for test doubles and simulations. Clones share their time.
#[derive(Clone)]
pub struct ManualClock(Arc<AtomicI64>);

impl ManualClock {
    /// A clock that stands at `start`.
    #[must_use]
    pub fn new(start: Timestamp) -> Self {
        Self(Arc::new(AtomicI64::new(start.ticks())))
    }

    /// Sets the time, forward or back.
    pub fn set(&self, time: Timestamp) {
        self.0.store(time.ticks(), Ordering::SeqCst);
    }

    /// Moves the time forward by `seconds`, or back when negative.
    pub fn advance_seconds(&self, seconds: i64) {
        self.set(self.now().plus_seconds(seconds));
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_ticks(self.0.load(Ordering::SeqCst))
    }
}

impl fmt::Debug for ManualClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ManualClock({})", self.now())
    }
}
