//! Waiting for an outcome: by a thread or by a future, alone or with others.
//!
//! Those who wait for one outcome as futures are woken in two steps. The committer wakes one future of each thread they
//! were last polled on; that one, when it is polled, wakes the others of its thread. For an executor a wake-up from one of
//! its own threads is a push into a local queue, one from elsewhere a lock and often a system call.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Poll, Waker};

use super::lock;

/// Where an outcome arrives.
#[derive(Debug)]
pub(super) struct Slot<O> {
    state: Mutex<State<O>>,
    changed: Condvar,
}

#[derive(Debug)]
struct State<O> {
    outcome: Option<O>,
    /// One of the owners should commit what waits.
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
    /// Hands the outcome to all who wait.
    pub(super) fn resolve(&self, outcome: O) {
        let mut state = lock(&self.state);
        state.outcome = Some(outcome);
        let heralds = appoint_heralds(&mut state.futures);
        let blocked = state.blocked > 0;
        drop(state);
        if blocked {
            self.changed.notify_all();
        }
        heralds.into_iter().for_each(Waker::wake);
    }

    /// Asks one of those who wait to commit.
    pub(super) fn ask_to_lead(&self) {
        let mut state = lock(&self.state);
        state.asked_to_lead = true;
        let waiter = state.futures.iter().flatten().next();
        let waker = waiter.map(|waiter| waiter.waker.clone());
        drop(state);
        self.changed.notify_one();
        if let Some(waker) = waker {
            waker.wake();
        }
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
fn this_thread() -> usize {
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

    /// Answers the outcome once it is there, or `None` when this owner is asked to lead.
    pub(crate) fn wait(&mut self) -> Option<O> {
        let mut state = lock(&self.slot.state);
        loop {
            if let Some(outcome) = &state.outcome {
                return Some(outcome.clone());
            }
            if std::mem::take(&mut state.asked_to_lead) {
                return None;
            }
            state.blocked += 1;
            state = self
                .slot
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.blocked -= 1;
        }
    }

    /// Answers the outcome if it is there, or `None` when this owner is asked to lead; else has `waker` called when either
    /// is so.
    pub(crate) fn poll(&mut self, waker: &Waker) -> Poll<Option<O>> {
        let mut state = lock(&self.slot.state);
        if let Some(outcome) = state.outcome.clone() {
            let waiter = self
                .place
                .take()
                .and_then(|place| state.futures.get_mut(place)?.take());
            drop(state);
            wake_others(waiter);
            return Poll::Ready(Some(outcome));
        }
        if std::mem::take(&mut state.asked_to_lead) {
            return Poll::Ready(None);
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
        // The one that was to lead may be this one; another is woken instead.
        let next = state
            .futures
            .iter()
            .flatten()
            .next()
            .filter(|_| state.asked_to_lead);
        let next = next.map(|next| next.waker.clone());
        drop(state);
        wake_others(waiter);
        if let Some(next) = next {
            next.wake();
        }
    }
}
