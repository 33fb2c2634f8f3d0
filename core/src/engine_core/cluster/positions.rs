//! Waiting until a node has seen as much of the log as a client has.

use std::sync::Mutex;
use std::task::{Poll, Waker};

use crate::locks::lock;

use super::Cluster;

/// Those who wait, each for a position.
#[derive(Default)]
pub(super) struct PositionWaiters(Mutex<Vec<(u64, Waker)>>);

impl PositionWaiters {
    /// Wakes those who wait for what is applied now.
    pub(super) fn wake_through(&self, position: u64) {
        let mut waiting = lock(&self.0);
        let reached = waiting.extract_if(.., |(awaited, _)| *awaited <= position);
        let reached: Vec<_> = reached.collect();
        drop(waiting);
        for (_, waker) in reached {
            waker.wake();
        }
    }

    /// Forgets those whose wakers are this one.
    fn forget(&self, waker: &Waker) {
        lock(&self.0).retain(|(_, other)| !other.will_wake(waker));
    }
}

impl Cluster {
    /// Ready once the log is applied up to `position`.
    pub(crate) fn poll_applied(&self, position: u64, waker: &Waker) -> Poll<()> {
        if self.position() >= position {
            return Poll::Ready(());
        }
        self.waiters.forget(waker);
        lock(&self.waiters.0).push((position, waker.clone()));
        // It may have been applied before this one was on the list.
        if self.position() >= position {
            return Poll::Ready(());
        }
        Poll::Pending
    }

    /// The future of this waker waits no longer.
    pub(crate) fn end_wait(&self, waker: &Waker) {
        self.waiters.forget(waker);
    }
}
