//! Group commit: all that waits goes into one transaction, one sync, then every ticket resolves.
//!
//! Whoever finds the writer free leads: it takes all that waits, commits it and wakes the others. What arrives in the
//! meantime is the next batch, and one of those who wait for it is asked to lead that. There is no timer: the commit in
//! progress is the clock, and a lone mutation is committed at once.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The mutations that wait, and whether someone commits.
#[derive(Debug)]
pub(crate) struct Writer<M, O> {
    waiting: Mutex<Waiting<M, O>>,
    /// Wakes a thread of the engine's own.
    arrived: Condvar,
    /// The outcome of a mutation whose commit panicked.
    lost: fn() -> O,
}

#[derive(Debug)]
struct Waiting<M, O> {
    batch: Vec<(M, Arc<Slot<O>>)>,
    leading: bool,
    /// A thread leads; nobody else is asked to.
    has_thread: bool,
    closed: bool,
}

/// Where the outcome of one mutation arrives.
#[derive(Debug)]
struct Slot<O> {
    state: Mutex<SlotState<O>>,
    changed: Condvar,
}

#[derive(Debug)]
struct SlotState<O> {
    outcome: Option<O>,
    /// Its owner should commit what waits.
    asked_to_lead: bool,
    waker: Option<Waker>,
}

impl<O> Slot<O> {
    fn wake(&self, change: impl FnOnce(&mut SlotState<O>)) {
        let mut state = lock(&self.state);
        change(&mut state);
        let waker = state.waker.take();
        drop(state);
        self.changed.notify_one();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// The claim to the outcome of one submitted mutation.
#[derive(Debug)]
pub(crate) struct Ticket<O>(Arc<Slot<O>>);

impl<O> Ticket<O> {
    /// Takes the outcome if it is there; else waits until it is, or until the owner is asked to lead.
    pub(crate) fn wait(&self) -> Option<O> {
        let mut state = lock(&self.0.state);
        loop {
            if let Some(outcome) = state.outcome.take() {
                return Some(outcome);
            }
            if std::mem::take(&mut state.asked_to_lead) {
                return None;
            }
            state = self
                .0
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes the outcome if it is there, or answers `None` when the owner is asked to lead; else has `waker` called
    /// when either is so.
    pub(crate) fn poll(&self, waker: &Waker) -> Poll<Option<O>> {
        let mut state = lock(&self.0.state);
        if let Some(outcome) = state.outcome.take() {
            return Poll::Ready(Some(outcome));
        }
        if std::mem::take(&mut state.asked_to_lead) {
            return Poll::Ready(None);
        }
        state.waker = Some(waker.clone());
        Poll::Pending
    }
}

/// A batch being committed; nobody else leads until it is dropped. However it ends, each owner gets an outcome: what a
/// panic leaves unresolved is resolved as lost.
#[derive(Debug)]
pub(crate) struct Batch<'w, M, O> {
    writer: &'w Writer<M, O>,
    slots: std::vec::IntoIter<Arc<Slot<O>>>,
}

impl<M, O> Batch<'_, M, O> {
    /// Hands the outcomes over, in the order of the mutations. The writer stays taken until the batch is dropped.
    pub(crate) fn resolve(&mut self, outcomes: impl IntoIterator<Item = O>) {
        // Outcomes first: a slot is only taken when there is one for it.
        for (outcome, slot) in outcomes.into_iter().zip(self.slots.by_ref()) {
            slot.wake(|state| state.outcome = Some(outcome));
        }
    }
}

impl<M, O> Drop for Batch<'_, M, O> {
    fn drop(&mut self) {
        for slot in self.slots.by_ref() {
            slot.wake(|state| state.outcome = Some((self.writer.lost)()));
        }
        self.writer.finish();
    }
}

impl<M, O> Writer<M, O> {
    /// A writer with nothing waiting. With `has_thread` only that thread commits. `lost` is the outcome of a mutation whose
    /// commit panicked.
    pub(crate) fn new(has_thread: bool, lost: fn() -> O) -> Self {
        Self {
            waiting: Mutex::new(Waiting {
                batch: Vec::new(),
                leading: false,
                has_thread,
                closed: false,
            }),
            arrived: Condvar::new(),
            lost,
        }
    }

    /// Puts a mutation behind those that wait.
    pub(crate) fn submit(&self, mutation: M) -> Ticket<O> {
        let slot = Arc::new(Slot {
            state: Mutex::new(SlotState {
                outcome: None,
                asked_to_lead: false,
                waker: None,
            }),
            changed: Condvar::new(),
        });
        let mut waiting = lock(&self.waiting);
        waiting.batch.push((mutation, Arc::clone(&slot)));
        let wake = waiting.has_thread && !waiting.leading;
        drop(waiting);
        if wake {
            self.arrived.notify_one();
        }
        Ticket(slot)
    }

    /// Takes all that waits, if there is something and nobody commits now. The caller commits it and resolves the batch;
    /// until that is dropped nobody else leads.
    pub(crate) fn lead(&self) -> Option<(Vec<M>, Batch<'_, M, O>)> {
        let mut waiting = lock(&self.waiting);
        if waiting.leading || waiting.batch.is_empty() {
            return None;
        }
        waiting.leading = true;
        Some(self.split(std::mem::take(&mut waiting.batch)))
    }

    /// Waits for work, for a thread of the engine's own; `None` once [`Self::close`] was called and nothing waits.
    pub(crate) fn lead_next(&self) -> Option<(Vec<M>, Batch<'_, M, O>)> {
        let mut waiting = lock(&self.waiting);
        loop {
            if !waiting.leading && !waiting.batch.is_empty() {
                waiting.leading = true;
                return Some(self.split(std::mem::take(&mut waiting.batch)));
            }
            if waiting.closed {
                return None;
            }
            waiting = self
                .arrived
                .wait(waiting)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn split(&self, batch: Vec<(M, Arc<Slot<O>>)>) -> (Vec<M>, Batch<'_, M, O>) {
        let (mutations, slots): (Vec<M>, Vec<_>) = batch.into_iter().unzip();
        let batch = Batch {
            writer: self,
            slots: slots.into_iter(),
        };
        (mutations, batch)
    }

    /// Ends leading. Of those who wait by now, the first is asked to lead.
    fn finish(&self) {
        let mut waiting = lock(&self.waiting);
        waiting.leading = false;
        let next = waiting.batch.first().map(|(_, slot)| Arc::clone(slot));
        let has_thread = waiting.has_thread;
        drop(waiting);
        match next {
            Some(_) if has_thread => self.arrived.notify_one(),
            Some(slot) => slot.wake(|state| state.asked_to_lead = true),
            None => {}
        }
    }

    /// Lets the thread end once nothing waits; from then on callers lead.
    pub(crate) fn close(&self) {
        let mut waiting = lock(&self.waiting);
        waiting.closed = true;
        waiting.has_thread = false;
        drop(waiting);
        self.arrived.notify_all();
    }

    /// Whether a thread of the engine's own commits.
    pub(crate) fn has_thread(&self) -> bool {
        lock(&self.waiting).has_thread
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_becomes_one_batch_in_its_order() {
        let writer = Writer::<u32, u32>::new(false, || 0);
        let tickets = [1, 2, 3].map(|mutation| writer.submit(mutation));
        let (mutations, mut batch) = writer.lead().unwrap();
        assert_eq!(mutations, [1, 2, 3]);
        let late = writer.submit(4);
        assert!(writer.lead().is_none(), "one leads at a time");
        batch.resolve([10, 20, 30]);
        assert!(writer.lead().is_none(), "the batch is not dropped yet");
        drop(batch);
        assert_eq!(
            tickets.map(|ticket| ticket.wait()),
            [Some(10), Some(20), Some(30)]
        );
        assert_eq!(
            late.wait(),
            None,
            "the first of the next batch is asked to lead"
        );
        assert_eq!(writer.lead().unwrap().0, [4]);
    }

    #[test]
    fn a_thread_takes_what_waits_and_ends_when_closed() {
        let writer = Arc::new(Writer::<u32, u32>::new(true, || 0));
        let thread = std::thread::spawn({
            let writer = Arc::clone(&writer);
            move || {
                while let Some((mutations, mut batch)) = writer.lead_next() {
                    batch.resolve(mutations.into_iter().map(|mutation| mutation * 10));
                }
            }
        });
        let tickets: Vec<_> = (0..100).map(|mutation| writer.submit(mutation)).collect();
        for (mutation, ticket) in (0..100).zip(tickets) {
            assert_eq!(ticket.wait(), Some(mutation * 10));
        }
        writer.close();
        thread.join().unwrap();
    }

    #[test]
    fn a_batch_that_is_dropped_is_lost_and_frees_the_writer() {
        let writer = Writer::<u32, u32>::new(false, || 99);
        let tickets = [1, 2].map(|mutation| writer.submit(mutation));
        drop(writer.lead());
        assert_eq!(tickets.map(|ticket| ticket.wait()), [Some(99), Some(99)]);
        let next = writer.submit(3);
        let (mutations, mut batch) = writer.lead().unwrap();
        assert_eq!(mutations, [3]);
        batch.resolve([30]);
        assert_eq!(next.wait(), Some(30));
    }
}
