//! Waiting for events: each commit that appended some wakes all waiting streams once, without a lock.

use std::sync::{Mutex, MutexGuard};
use std::task::Waker;

use crate::domain::keys;
use crate::locks::lock;
use crate::model::PRINCIPAL_ID;

use super::EngineCore;

/// The streams that wait for events.
#[derive(Debug, Default)]
pub(super) struct EventWaiters(Mutex<WaitingStreams>);

#[derive(Debug, Default)]
struct WaitingStreams {
    /// Wakers by the number of the stream; a list, because the code of a map is larger.
    wakers: Vec<Option<Waker>>,
    /// Numbers of streams that have ended.
    free: Vec<usize>,
    /// The last event for which they were woken.
    woken_for: u64,
    closed: bool,
}

impl EngineCore {
    /// A new number for a stream of events.
    pub(crate) fn begin_event_stream(&self) -> usize {
        let mut waiting = lock(&self.event_waiters.0);
        if let Some(number) = waiting.free.pop() {
            return number;
        }
        waiting.wakers.push(None);
        waiting.wakers.len() - 1
    }

    /// Registers `waker` for the next commit with events. Check for events again afterwards.
    pub(crate) fn wait_for_events(&self, number: usize, waker: &Waker) {
        let mut waiting = lock(&self.event_waiters.0);
        if waiting.closed {
            drop(waiting);
            return waker.wake_by_ref();
        }
        let registered = waiting.wakers.get_mut(number);
        let replaced = registered.and_then(|registered| registered.replace(waker.clone()));
        // The waker is dropped without the lock: it may own another stream.
        drop(waiting);
        drop(replaced);
    }

    /// Ends a stream; its number may be used again.
    pub(crate) fn end_event_stream(&self, number: usize) {
        let mut waiting = lock(&self.event_waiters.0);
        let waker = waiting.wakers.get_mut(number).and_then(Option::take);
        waiting.free.push(number);
        drop(waiting);
        drop(waker);
    }

    /// Whether streams have ended because the engine was closed.
    pub(crate) fn events_are_over(&self) -> bool {
        lock(&self.event_waiters.0).closed
    }

    /// Whether the key of that number is accepted now.
    pub(crate) fn is_accepted(&self, key: u64) -> bool {
        if key == PRINCIPAL_ID {
            return true;
        }
        let now = self.now();
        let keys = self.store.keys();
        keys.numbered(key)
            .is_some_and(|known| keys::is_accepted(&known.info, now))
    }

    /// Wakes the waiting streams if there are events for which they were not woken.
    pub(super) fn wake_for_events(&self) {
        let last = self.store.last_event();
        let mut waiting = lock(&self.event_waiters.0);
        if waiting.woken_for == last {
            return;
        }
        waiting.woken_for = last;
        wake(waiting);
    }

    /// Ends all streams.
    pub(super) fn end_event_streams(&self) {
        let mut waiting = lock(&self.event_waiters.0);
        waiting.closed = true;
        wake(waiting);
    }
}

/// Wakes all waiting streams, without the lock.
fn wake(mut waiting: MutexGuard<'_, WaitingStreams>) {
    let wakers: Vec<_> = waiting.wakers.iter_mut().filter_map(Option::take).collect();
    drop(waiting);
    wakers.into_iter().for_each(Waker::wake);
}
