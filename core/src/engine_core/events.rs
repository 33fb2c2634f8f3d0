//! Waiting for events: each commit that appended some wakes all that wait, once, and holds no lock meanwhile.

use std::collections::BTreeMap;
use std::mem::take;
use std::sync::Mutex;
use std::task::Waker;

use crate::domain::keys;
use crate::locks::lock;

use super::EngineCore;

/// Those who wait for events.
#[derive(Debug, Default)]
pub(super) struct EventWaiters(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    /// By the numbers of their streams.
    wakers: BTreeMap<u64, Waker>,
    next_stream: u64,
    /// The last event that they were woken for.
    woken_for: u64,
    closed: bool,
}

impl EngineCore {
    /// The number of a stream of events, to wait with.
    pub(crate) fn begin_event_stream(&self) -> u64 {
        let mut waiting = lock(&self.event_waiters.0);
        waiting.next_stream += 1;
        waiting.next_stream
    }

    /// Has `waker` woken after the next commit with events. Whether there are some is to be looked at after this again.
    pub(crate) fn wait_for_events(&self, stream: u64, waker: &Waker) {
        let mut waiting = lock(&self.event_waiters.0);
        if waiting.closed {
            drop(waiting);
            return waker.wake_by_ref();
        }
        let replaced = waiting.wakers.insert(stream, waker.clone());
        // What a waker holds is dropped without the lock: it may be another stream.
        drop(waiting);
        drop(replaced);
    }

    /// Nobody waits for that stream any longer.
    pub(crate) fn end_event_stream(&self, stream: u64) {
        let waker = lock(&self.event_waiters.0).wakers.remove(&stream);
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
        keys.iter()
            .any(|known| known.info.id == key && keys::is_accepted(&known.info, now))
    }

    /// Wakes those who wait, if there are events that they were not woken for.
    pub(super) fn wake_for_events(&self) {
        let last = self.store.last_event();
        let mut waiting = lock(&self.event_waiters.0);
        if waiting.woken_for == last {
            return;
        }
        waiting.woken_for = last;
        let wakers = take(&mut waiting.wakers);
        drop(waiting);
        wakers.into_values().for_each(Waker::wake);
    }

    /// Ends all streams.
    pub(super) fn end_event_streams(&self) {
        let mut waiting = lock(&self.event_waiters.0);
        waiting.closed = true;
        let wakers = take(&mut waiting.wakers);
        drop(waiting);
        wakers.into_values().for_each(Waker::wake);
    }
}
