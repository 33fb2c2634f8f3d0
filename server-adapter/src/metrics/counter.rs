//! A counter: an atomic that nothing else is ordered by.

use std::sync::atomic::{AtomicU64, Ordering};

pub(super) fn add(counter: &AtomicU64, value: u64) {
    counter.fetch_add(value, Ordering::Relaxed);
}

pub(super) fn read(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}
