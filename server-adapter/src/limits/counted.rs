//! A count of things in progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// One more in a count, as long as it lives.
#[derive(Debug)]
pub(crate) struct Counted(Arc<AtomicU32>);

impl Counted {
    pub(crate) fn new(count: &Arc<AtomicU32>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(count))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
