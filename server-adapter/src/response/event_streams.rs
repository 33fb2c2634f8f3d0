//! The bound on streams of events.

use std::sync::Arc;

use tokio::sync::Semaphore;

use super::slow_reads::SourcePlace;

/// The bound on streams that are open at once: of all sources, or of one.
#[derive(Debug)]
pub(crate) struct EventStreams(Arc<Semaphore>);

impl EventStreams {
    pub(crate) fn new(max: usize) -> Self {
        Self(Arc::new(Semaphore::new(max.min(Semaphore::MAX_PERMITS))))
    }

    /// The bound of one source, where at most `max` are open: each source gets at most half.
    pub(crate) fn of_source(max: usize) -> Self {
        Self::new(max.div_ceil(2))
    }

    /// A place for a stream of `source`, if there is one.
    pub(crate) fn begin(&self, source: &Self) -> Option<SourcePlace> {
        SourcePlace::try_take(&source.0, &self.0)
    }
}
