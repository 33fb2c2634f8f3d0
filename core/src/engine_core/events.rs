//! Waiting for events: each commit that appended some wakes all that wait, once, and holds no lock meanwhile.

use std::sync::{Mutex, MutexGuard};
use std::task::Waker;

use crate::domain::keys;
use crate::locks::lock;

use super::EngineCore;

/// Those who wait for events.
#[derive(Debug, Default)]
pub(super) struct EventWaiters(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    /// By the numbers of their streams; a list, as the code of a map is larger.
    wakers: Vec<Option<Waker>>,
    /// Numbers of streams that have ended.
    free: Vec<usize>,
    /// The last event that they were woken for.
    woken_for: u64,
    closed: bool,
}

impl EngineCore {
    /// The number of a stream of events, to wait with.
    pub(crate) fn begin_event_stream(&self) -> usize {
        let mut waiting = lock(&self.event_waiters.0);
        if let Some(stream) = waiting.free.pop() {
            return stream;
        }
        waiting.wakers.push(None);
        waiting.wakers.len() - 1
    }

    /// Registers `waker` for the next commit with events. Check for events again afterwards.
    pub(crate) fn wait_for_events(&self, stream: usize, waker: &Waker) {
        let mut waiting = lock(&self.event_waiters.0);
        if waiting.closed {
            drop(waiting);
            return waker.wake_by_ref();
        }
        let place = waiting.wakers.get_mut(stream);
        let replaced = place.and_then(|place| place.replace(waker.clone()));
        // What a waker holds is dropped without the lock: it may be another stream.
        drop(waiting);
        drop(replaced);
    }

    /// Ends a stream; its number may be given to another one.
    pub(crate) fn end_event_stream(&self, stream: usize) {
        let mut waiting = lock(&self.event_waiters.0);
        let waker = waiting.wakers.get_mut(stream).and_then(Option::take);
        waiting.free.push(stream);
        drop(waiting);
        drop(waker);
    }

    /// Whether streams of events are over, as the engine was closed.
    pub(crate) fn events_are_over(&self) -> bool {
        lock(&self.event_waiters.0).closed
    }

    /// Whether the key of that number is accepted now.
    pub(crate) fn is_accepted(&self, key: u64) -> bool {
        let now = self.now();
        let keys = self.store.keys();
        keys.numbered(key)
            .is_some_and(|known| keys::is_accepted(&known.info, now))
    }

    /// Wakes those who wait, if there are events that they were not woken for.
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

/// Wakes all that wait, without the lock.
fn wake(mut waiting: MutexGuard<'_, Waiting>) {
    let wakers: Vec<_> = waiting.wakers.iter_mut().filter_map(Option::take).collect();
    drop(waiting);
    wakers.into_iter().for_each(Waker::wake);
}
