//! Waiting for an outcome: by a thread or by a future, alone or with others.
//!
//! Those who wait for one outcome as futures are woken in two steps. The committer wakes one future of each thread they
//! were last polled on; that one, when it is polled, wakes the others of its thread. For an executor a wake-up from one of
//! its own threads is a push into a local queue, one from elsewhere a lock and often a system call. A future that was woken
//! may be left alone by its task all the same: whom it did not wake the committer wakes, before it rests or commits again.

use std::sync::{Arc, Condvar, Mutex};
use std::task::{Poll, Waker};

use crate::locks::{lock, wait};

/// Where an outcome arrives.
#[derive(Debug)]
pub(super) struct Slot<O> {
    state: Mutex<State<O>>,
    changed: Condvar,
}

#[derive(Debug)]
struct State<O> {
    outcome: Option<O>,
    /// One of the threads that block should commit what waits.
    asked_to_lead: bool,
    /// Threads that block.
    blocked: usize,
    /// Futures that wait; a ticket knows its place.
    futures: Vec<Option<Waiter>>,
}

#[derive(Debug)]
struct Waiter {
    waker: Waker,
    thread: usize,
    /// Those this one is to wake when it is polled.
    others: Vec<Waker>,
}

impl<O> Default for Slot<O> {
    fn default() -> Self {
        Self {
            state: Mutex::new(State {
                outcome: None,
                asked_to_lead: false,
                blocked: 0,
                futures: Vec::new(),
            }),
            changed: Condvar::new(),
        }
    }
}

impl<O> Slot<O> {
    /// Hands the outcome to all who wait; returns whether some of them are to be woken by others.
    pub(super) fn resolve(&self, outcome: O) -> bool {
        let mut state = lock(&self.state);
        state.outcome = Some(outcome);
        let heralds = appoint_heralds(&mut state.futures);
        let blocked = state.blocked > 0;
        let mut waiters = state.futures.iter().flatten();
        let handed_on = waiters.any(|waiter| !waiter.others.is_empty());
        drop(state);
        if blocked {
            self.changed.notify_all();
        }
        heralds.into_iter().for_each(Waker::wake);
        handed_on
    }

    /// Wakes those who were to be woken by others and were not yet.
    pub(super) fn wake_the_rest(&self) {
        let mut state = lock(&self.state);
        let waiters = state.futures.iter_mut().flatten();
        let rest: Vec<_> = waiters
            .flat_map(|waiter| std::mem::take(&mut waiter.others))
            .collect();
        drop(state);
        rest.into_iter().for_each(Waker::wake);
    }

    /// Asks a thread that blocks to lead, where there is one; returns whether.
    pub(super) fn ask_thread(&self) -> bool {
        let mut state = lock(&self.state);
        if state.blocked == 0 {
            return false;
        }
        state.asked_to_lead = true;
        self.changed.notify_one();
        true
    }

    /// Whether a thread blocks.
    #[cfg(test)]
    pub(super) fn has_blocked_thread(&self) -> bool {
        lock(&self.state).blocked > 0
    }

    /// The wakers of the futures that wait.
    pub(super) fn wakers(&self) -> Vec<Waker> {
        let state = lock(&self.state);
        let waiters = state.futures.iter().flatten();
        waiters.map(|waiter| waiter.waker.clone()).collect()
    }
}

/// Makes one future of each thread the one that wakes the others of that thread; answers the wakers of those.
fn appoint_heralds(futures: &mut [Option<Waiter>]) -> Vec<Waker> {
    let mut heralds: Vec<(usize, usize, Vec<Waker>)> = Vec::new();
    for (place, future) in futures.iter_mut().enumerate() {
        let Some(thread) = future.as_ref().map(|waiter| waiter.thread) else {
            continue;
        };
        match heralds.iter_mut().find(|(known, ..)| *known == thread) {
            Some((_, _, others)) => others.extend(future.take().map(|waiter| waiter.waker)),
            None => heralds.push((thread, place, Vec::new())),
        }
    }
    let mut wakers = Vec::with_capacity(heralds.len());
    for (_, place, others) in heralds {
        if let Some(Some(herald)) = futures.get_mut(place) {
            herald.others = others;
            wakers.push(herald.waker.clone());
        }
    }
    wakers
}

/// A number that is this thread's as long as it lives.
pub(super) fn this_thread() -> usize {
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
    /// Where the future of this ticket waits.
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

    /// The outcome, if it is there. Wakes those that this one is to wake.
    pub(super) fn outcome(&mut self) -> Option<O> {
        let mut state = lock(&self.slot.state);
        let outcome = state.outcome.clone()?;
        let waiter = self
            .place
            .take()
            .and_then(|place| state.futures.get_mut(place)?.take());
        drop(state);
        wake_others(waiter);
        Some(outcome)
    }

    /// Blocks until the outcome is there or this thread is asked to lead; `registering` is dropped once it can be asked.
    pub(super) fn block<G>(&self, registering: G) {
        let mut state = lock(&self.slot.state);
        state.blocked += 1;
        drop(registering);
        while state.outcome.is_none() && !std::mem::take(&mut state.asked_to_lead) {
            state = wait(&self.slot.changed, state);
        }
        state.blocked -= 1;
    }

    /// Returns the outcome if it is there; else `waker` is called when it is, or when this future can lead.
    pub(super) fn register(&mut self, waker: &Waker) -> Poll<O> {
        let mut state = lock(&self.slot.state);
        if state.outcome.is_some() {
            drop(state);
            return self.outcome().map_or(Poll::Pending, Poll::Ready);
        }
        let waiter = Waiter {
            waker: waker.clone(),
            thread: this_thread(),
            others: Vec::new(),
        };
        let place = *self.place.get_or_insert(state.futures.len());
        match state.futures.get_mut(place) {
            Some(waiting) => *waiting = Some(waiter),
            None => state.futures.push(Some(waiter)),
        }
        Poll::Pending
    }
}

fn wake_others(waiter: Option<Waiter>) {
    if let Some(waiter) = waiter {
        waiter.others.into_iter().for_each(Waker::wake);
    }
}

impl<O: Clone> Drop for Ticket<O> {
    fn drop(&mut self) {
        let Some(place) = self.place else { return };
        let mut state = lock(&self.slot.state);
        let waiter = state.futures.get_mut(place).and_then(Option::take);
        drop(state);
        wake_others(waiter);
    }
}
