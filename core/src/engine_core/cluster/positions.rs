//! Waiting until a node has seen as much of the log as a client has.

use std::sync::Mutex;
use std::task::{Poll, Waker};

use crate::locks::lock;

use super::Cluster;

/// Those who wait, by their numbers, each for a position.
#[derive(Default)]
pub(super) struct PositionWaiters(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    next: u64,
    /// Number, position, and who is woken.
    wakers: Vec<(u64, u64, Waker)>,
}

impl Waiting {
    fn take(&mut self, number: u64) -> Option<Waker> {
        let place = self
            .wakers
            .iter()
            .position(|(other, ..)| *other == number)?;
        Some(self.wakers.swap_remove(place).2)
    }
}

impl PositionWaiters {
    /// Wakes those who wait for what is applied now.
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
    /// Ready once the log is applied up to `position`. `number` is that of the one who waits, given with the first call.
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
        // What a waker holds is dropped without the lock.
        drop(waiting);
        drop(replaced);
        // It may have been applied before this one was on the list.
        if self.position() >= position {
            return Poll::Ready(());
        }
        Poll::Pending
    }

    /// The one of this number waits no longer.
    pub(crate) fn end_wait(&self, number: u64) {
        let ended = lock(&self.waiters.0).take(number);
        drop(ended);
    }
}
