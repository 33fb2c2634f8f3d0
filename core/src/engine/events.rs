//! [`EventStream`]: the event log, followed.

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::engine_core::EngineCore;
#[cfg(doc)]
use crate::error::ErrorKind;
use crate::error::Result;
use crate::limits::STREAMED_EVENTS_READ;
use crate::model::{FleetEvent, KeyInfo};
use crate::store::table::Step;
use crate::timestamp::Timestamp;
use crate::view::{Reader, events};

use super::Engine;

/// The event log from a position on: the events there are, then new ones.
///
/// As an iterator it yields the events that exist now, and more when it is called again later. [`Self::recv`] waits for new
/// events, on any executor. Every event is durable when it is yielded, and each is yielded once, in the order of the numbers.
/// Where events after the position are no longer kept, one [`EventType::Resync`](crate::EventType::Resync) comes instead of them.
///
/// A waiting stream costs an entry in a list. It holds no snapshot of the store, and at most 64 events.
///
/// ```
/// use deskfleet::{Engine, EventType, Workspace};
///
/// let engine = Engine::in_memory()?;
/// let mut events = engine.events(None); // from now on
/// engine.put_workspace(Workspace { id: "ws-1".into(), ..Workspace::default() })?;
/// let event = events.next().expect("an event")?;
/// assert_eq!((event.kind, event.workspace_id.as_deref()), (EventType::WorkspaceChanged, Some("ws-1")));
/// assert!(events.next().is_none());
///
/// let mut resumed = engine.events(Some(0)); // from the first event on
/// assert_eq!(resumed.next().expect("an event")?, event);
/// # Ok::<(), deskfleet::EngineError>(())
/// ```
#[must_use = "a stream yields events when it is asked for them"]
pub struct EventStream {
    core: Arc<EngineCore>,
    /// Its number among the streams that wait for events.
    number: usize,
    position: u64,
    read: VecDeque<FleetEvent>,
    /// The key that reads; the host itself has none.
    key: Option<KeyInfo>,
}

impl EventStream {
    pub(super) fn new(core: Arc<EngineCore>, after: Option<u64>, key: Option<KeyInfo>) -> Self {
        Self {
            number: core.begin_event_stream(),
            position: after.unwrap_or_else(|| core.store.last_event()),
            read: VecDeque::new(),
            key,
            core,
        }
    }

    /// The number of the event that was yielded last, to go on after it with another stream; before the first one, the position
    /// at which this one began.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// When the key that reads expires, for a stream of [`Exchange::dispatch`](super::Exchange::dispatch): polled then, the stream ends.
    #[must_use]
    pub fn expires(&self) -> Option<Timestamp> {
        self.key.as_ref()?.expires
    }

    /// The time from now until `time`, by the engine's clock.
    pub(super) fn left_until(&self, time: Timestamp) -> Duration {
        time.duration_since(self.core.now())
    }

    /// The next event, as soon as there is one; `None` once the engine is closed or the key that reads is no longer accepted. Dropping
    /// the future loses nothing.
    pub async fn recv(&mut self) -> Option<Result<FleetEvent>> {
        poll_fn(|context| self.poll_recv(context)).await
    }

    /// As [`Self::recv`], but polled. It reads from the store within the call, at most 64 events at a time.
    pub fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<FleetEvent>>> {
        let refused = |key: &KeyInfo| !self.core.is_accepted(key.id);
        if self.key.as_ref().is_some_and(refused) {
            self.read.clear();
            return Poll::Ready(None);
        }
        if let Some(next) = self.next() {
            return Poll::Ready(Some(next));
        }
        if self.core.events_are_over() {
            return Poll::Ready(None);
        }
        self.core.wait_for_events(self.number, context.waker());
        // A commit since the last check may have woken nobody.
        match self.next() {
            Some(next) => Poll::Ready(Some(next)),
            None => Poll::Pending,
        }
    }

    /// Reads the next events, if there are some.
    fn fill(&mut self) -> Result<()> {
        if self.core.store.last_event() == self.position || self.core.events_are_over() {
            return Ok(());
        }
        // An event is published once it is durable, so this never blocks: a stream is polled on event loops.
        let reader = Reader::new(&self.core.store, self.core.now())?;
        events::after(&reader, Some(self.position), |event| {
            self.read.push_back(event);
            if self.read.len() < STREAMED_EVENTS_READ {
                Step::Continue(())
            } else {
                Step::Break(())
            }
        })?;
        Ok(())
    }
}

impl Iterator for EventStream {
    type Item = Result<FleetEvent>;

    /// The next event that there is by now.
    ///
    /// # Errors
    /// [`ErrorKind::StorageUnavailable`] when the store cannot be read; a later call may succeed.
    fn next(&mut self) -> Option<Self::Item> {
        if self.read.is_empty()
            && let Err(error) = self.fill()
        {
            return Some(Err(error));
        }
        let event = self.read.pop_front()?;
        self.position = event.id;
        Some(Ok(event))
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        self.core.end_event_stream(self.number);
    }
}

impl fmt::Debug for EventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventStream")
            .field("position", &self.position)
            .finish_non_exhaustive()
    }
}

impl Engine {
    /// The events after the number `after`, then new ones. `None`: new ones alone. 0: all, with a `resync` if the first ones are
    /// no longer kept.
    pub fn events(&self, after: Option<u64>) -> EventStream {
        EventStream::new(Arc::clone(&self.running.core), after, None)
    }
}
