//! Waiting until a node has applied as much of the log as a client has seen.

use std::sync::Mutex;
use std::task::{Poll, Waker};

use crate::locks::lock;

use super::Cluster;

/// The requests that wait, each for a position.
#[derive(Default)]
pub(super) struct PositionWaiters(Mutex<WaitingRequests>);

#[derive(Default)]
struct WaitingRequests {
    next: u64,
    /// Number, position and waker.
    wakers: Vec<(u64, u64, Waker)>,
}

impl WaitingRequests {
    fn take(&mut self, number: u64) -> Option<Waker> {
        let place = self
            .wakers
            .iter()
            .position(|(other, ..)| *other == number)?;
        Some(self.wakers.swap_remove(place).2)
    }
}

impl PositionWaiters {
    /// Wakes the requests whose position is applied now.
    pub(super) fn wake_through(&self, position: u64) {
        let mut waiting = lock(&self.0);
        let wakers = &mut waiting.wakers;
        let reached = wakers.extract_if(.., |(_, awaited, _)| *awaited <= position);
        let reached: Vec<_> = reached.collect();
        drop(waiting);
        for (_, _, waker) in reached {
            waker.wake();
        }
    }
}

impl Cluster {
    /// Ready once the log is applied up to `position`. The first call sets `number`, which identifies the request.
    pub(crate) fn poll_applied(
        &self,
        position: u64,
        number: &mut Option<u64>,
        waker: &Waker,
    ) -> Poll<()> {
        if self.position() >= position {
            return Poll::Ready(());
        }
        let mut waiting = lock(&self.waiters.0);
        let next = waiting.next;
        let number = *number.get_or_insert(next);
        waiting.next = next.max(number + 1);
        let replaced = waiting.take(number);
        waiting.wakers.push((number, position, waker.clone()));
        // The waker is dropped without the lock.
        drop(waiting);
        drop(replaced);
        // The position may have been reached before this request was on the list.
        if self.position() >= position {
            return Poll::Ready(());
        }
        Poll::Pending
    }

    /// Removes the request with this number.
    pub(crate) fn end_wait(&self, number: u64) {
        let ended = lock(&self.waiters.0).take(number);
        drop(ended);
    }
}
