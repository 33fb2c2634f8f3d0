//! Waiting for an outcome: by a thread or by a future, alone or with others.

use std::sync::{Arc, Condvar, Mutex};
use std::task::{Poll, Waker};

use crate::locks::{lock, wait};

/// The slot of an outcome.
#[derive(Debug)]
pub(super) struct Slot<O> {
    state: Mutex<State<O>>,
    changed: Condvar,
}

#[derive(Debug)]
struct State<O> {
    outcome: Option<O>,
    /// One of the blocking threads should commit the pending batch.
    asked_to_lead: bool,
    /// Threads that block.
    blocked: usize,
    /// How often all of them were asked to check again.
    looks: usize,
    /// The wakers of the waiting futures; a ticket knows its index.
    futures: Vec<Option<Waker>>,
}

impl<O> Default for Slot<O> {
    fn default() -> Self {
        Self {
            state: Mutex::new(State {
                outcome: None,
                asked_to_lead: false,
                blocked: 0,
                looks: 0,
                futures: Vec::new(),
            }),
            changed: Condvar::new(),
        }
    }
}

impl<O> Slot<O> {
    /// Delivers the outcome to all waiters.
    pub(super) fn resolve(&self, outcome: O) {
        let mut state = lock(&self.state);
        state.outcome = Some(outcome);
        let futures = std::mem::take(&mut state.futures);
        let blocked = state.blocked > 0;
        drop(state);
        if blocked {
            self.changed.notify_all();
        }
        futures.into_iter().flatten().for_each(Waker::wake);
    }

    /// Asks a blocking thread to lead; returns whether there is one.
    pub(super) fn ask_thread(&self) -> bool {
        let mut state = lock(&self.state);
        if state.blocked == 0 {
            return false;
        }
        state.asked_to_lead = true;
        self.changed.notify_one();
        true
    }

    /// Makes all blocking threads return and ask again.
    pub(super) fn look_again(&self) {
        let mut state = lock(&self.state);
        state.looks += 1;
        self.changed.notify_all();
    }

    /// Whether a thread blocks.
    #[cfg(test)]
    pub(super) fn has_blocked_thread(&self) -> bool {
        lock(&self.state).blocked > 0
    }

    /// The wakers of the futures that wait.
    pub(super) fn wakers(&self) -> Vec<Waker> {
        let state = lock(&self.state);
        state.futures.iter().flatten().cloned().collect()
    }
}

/// A number that identifies this thread while it lives.
pub(crate) fn this_thread() -> usize {
    thread_local!(static ADDRESS: u8 = const { 0 });
    // A thread that is ending has none; it shares 0 with others like it.
    ADDRESS
        .try_with(|address| std::ptr::from_ref(address).addr())
        .unwrap_or(0)
}

/// A claim to an outcome.
#[derive(Debug)]
pub(crate) struct Ticket<O: Clone> {
    slot: Arc<Slot<O>>,
    /// The index of this ticket's waker.
    place: Option<usize>,
}

impl<O: Clone> Ticket<O> {
    pub(super) fn new(slot: Arc<Slot<O>>) -> Self {
        Self { slot, place: None }
    }

    /// Another claim to the same outcome.
    pub(crate) fn share(&self) -> Self {
        Self::new(Arc::clone(&self.slot))
    }

    /// The outcome, if it is there.
    pub(super) fn outcome(&self) -> Option<O> {
        lock(&self.slot.state).outcome.clone()
    }

    /// Blocks until the outcome is there or this thread is asked to lead; `registering` is dropped once it can be asked.
    pub(super) fn block<G>(&self, registering: G) {
        let mut state = lock(&self.slot.state);
        state.blocked += 1;
        drop(registering);
        let looks = state.looks;
        while state.outcome.is_none()
            && state.looks == looks
            && !std::mem::take(&mut state.asked_to_lead)
        {
            state = wait(&self.slot.changed, state);
        }
        state.blocked -= 1;
    }

    /// Returns the outcome if it is there; else `waker` is called when it is, or when this future can lead.
    pub(super) fn register(&mut self, waker: &Waker) -> Poll<O> {
        let mut state = lock(&self.slot.state);
        if let Some(outcome) = &state.outcome {
            // The waker was taken with the others.
            self.place = None;
            return Poll::Ready(outcome.clone());
        }
        let place = *self.place.get_or_insert(state.futures.len());
        let before = if let Some(waiting) = state.futures.get_mut(place) {
            waiting.replace(waker.clone())
        } else {
            state.futures.push(Some(waker.clone()));
            None
        };
        // The lock first: dropping a waker may run code of the executor.
        drop(state);
        drop(before);
        Poll::Pending
    }
}

impl<O: Clone> Drop for Ticket<O> {
    fn drop(&mut self) {
        let Some(place) = self.place else { return };
        let mut state = lock(&self.slot.state);
        let waker = state.futures.get_mut(place).and_then(Option::take);
        // The lock first: dropping a waker may run code of the executor.
        drop(state);
        drop(waker);
    }
}
