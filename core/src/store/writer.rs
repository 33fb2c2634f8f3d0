//! Group commit: all that waits goes into one transaction, one sync, then every ticket resolves.
//!
//! Whoever finds the writer free leads: it takes all that waits, commits it and wakes the others. What arrives in the
//! meantime is the next batch, and one of those who wait for it is asked to lead that. There is no timer: the commit in
//! progress is the clock, and a lone submission is committed at once.

mod ticket;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use ticket::Slot;
pub(crate) use ticket::Ticket;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What waits, and whether someone commits.
#[derive(Debug)]
pub(crate) struct Writer<M, O> {
    waiting: Mutex<Waiting<M, O>>,
    /// Wakes a thread of the engine's own.
    arrived: Condvar,
    /// Whether a thread leads; to be read without the lock.
    has_thread: AtomicBool,
    /// The outcome of a submission whose commit panicked.
    lost: fn() -> O,
}

#[derive(Debug)]
struct Waiting<M, O> {
    batch: Vec<(M, Arc<Slot<O>>)>,
    leading: bool,
    thread: Thread,
    closed: bool,
}

/// A thread of the engine's own, which leads; nobody else is asked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Thread {
    None,
    Busy,
    /// Waits to be told that something arrived: a system call, which a busy one is spared.
    Waits,
}

/// A batch being committed; nobody else leads until it is dropped. However it ends, each owner gets an outcome: what a
/// panic leaves unresolved is resolved as lost.
#[derive(Debug)]
pub(crate) struct Batch<'w, M, O: Clone> {
    writer: &'w Writer<M, O>,
    slots: std::vec::IntoIter<Arc<Slot<O>>>,
}

impl<M, O: Clone> Batch<'_, M, O> {
    /// Hands the outcomes over, in the order of the submissions. The writer stays taken until the batch is dropped.
    pub(crate) fn resolve(&mut self, outcomes: impl IntoIterator<Item = O>) {
        // Outcomes first: a slot is only taken when there is one for it.
        for (outcome, slot) in outcomes.into_iter().zip(self.slots.by_ref()) {
            slot.resolve(outcome);
        }
    }
}

impl<M, O: Clone> Drop for Batch<'_, M, O> {
    fn drop(&mut self) {
        for slot in self.slots.by_ref() {
            slot.resolve((self.writer.lost)());
        }
        self.writer.finish();
    }
}

impl<M, O: Clone> Writer<M, O> {
    /// A writer with nothing waiting. With `has_thread` only that thread commits. `lost` is the outcome of a submission whose
    /// commit panicked.
    pub(crate) fn new(has_thread: bool, lost: fn() -> O) -> Self {
        Self {
            waiting: Mutex::new(Waiting {
                batch: Vec::new(),
                leading: false,
                thread: if has_thread {
                    Thread::Busy
                } else {
                    Thread::None
                },
                closed: false,
            }),
            arrived: Condvar::new(),
            has_thread: AtomicBool::new(has_thread),
            lost,
        }
    }

    /// Puts a submission behind those that wait.
    pub(crate) fn submit(&self, submission: M) -> Ticket<O> {
        let slot = Arc::new(Slot::default());
        let mut waiting = lock(&self.waiting);
        waiting.batch.push((submission, Arc::clone(&slot)));
        self.tell_thread(waiting);
        Ticket::new(slot)
    }

    fn tell_thread(&self, mut waiting: MutexGuard<'_, Waiting<M, O>>) {
        if waiting.thread == Thread::Waits {
            waiting.thread = Thread::Busy;
            drop(waiting);
            self.arrived.notify_one();
        }
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
            if waiting.thread == Thread::Busy {
                waiting.thread = Thread::Waits;
            }
            waiting = self
                .arrived
                .wait(waiting)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn split(&self, batch: Vec<(M, Arc<Slot<O>>)>) -> (Vec<M>, Batch<'_, M, O>) {
        let (submissions, slots): (Vec<M>, Vec<_>) = batch.into_iter().unzip();
        let batch = Batch {
            writer: self,
            slots: slots.into_iter(),
        };
        (submissions, batch)
    }

    /// Ends leading. Where no thread leads, the first of those who wait by now is asked to.
    fn finish(&self) {
        let mut waiting = lock(&self.waiting);
        waiting.leading = false;
        let next = waiting.batch.first().map(|(_, slot)| Arc::clone(slot));
        match (next, waiting.thread) {
            (None, _) => {}
            (Some(_), Thread::Busy | Thread::Waits) => self.tell_thread(waiting),
            (Some(slot), Thread::None) => {
                drop(waiting);
                slot.ask_to_lead();
            }
        }
    }

    /// Lets the thread end once nothing waits; from then on callers lead.
    pub(crate) fn close(&self) {
        let mut waiting = lock(&self.waiting);
        waiting.closed = true;
        waiting.thread = Thread::None;
        self.has_thread.store(false, Ordering::Release);
        drop(waiting);
        self.arrived.notify_all();
    }

    /// Whether a thread of the engine's own commits.
    pub(crate) fn has_thread(&self) -> bool {
        self.has_thread.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::task::{Poll, Wake, Waker};
    use std::thread;

    use super::*;

    #[test]
    fn what_waits_becomes_one_batch_in_its_order() {
        let writer = Writer::<u32, u32>::new(false, || 0);
        let tickets = [1, 2, 3].map(|mutation| writer.submit(mutation));
        let (mutations, mut batch) = writer.lead().unwrap();
        assert_eq!(mutations, [1, 2, 3]);
        let mut late = writer.submit(4);
        assert!(writer.lead().is_none(), "one leads at a time");
        batch.resolve([10, 20, 30]);
        assert!(writer.lead().is_none(), "the batch is not dropped yet");
        drop(batch);
        assert_eq!(
            tickets.map(|mut ticket| ticket.wait()),
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
        let thread = thread::spawn({
            let writer = Arc::clone(&writer);
            move || {
                while let Some((mutations, mut batch)) = writer.lead_next() {
                    batch.resolve(mutations.into_iter().map(|mutation| mutation * 10));
                }
            }
        });
        let tickets: Vec<_> = (0..100).map(|mutation| writer.submit(mutation)).collect();
        for (mutation, mut ticket) in (0..100).zip(tickets) {
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
        assert_eq!(
            tickets.map(|mut ticket| ticket.wait()),
            [Some(99), Some(99)]
        );
        let mut next = writer.submit(3);
        let (mutations, mut batch) = writer.lead().unwrap();
        assert_eq!(mutations, [3]);
        batch.resolve([30]);
        assert_eq!(next.wait(), Some(30));
    }

    /// Counts how often it is woken.
    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Futures that wait for one outcome, with the counts of their wake-ups.
    fn waiting(shared: &Ticket<u32>, count: usize) -> (Vec<Ticket<u32>>, Vec<Arc<Count>>) {
        let counts: Vec<_> = (0..count).map(|_| Arc::<Count>::default()).collect();
        let waits = counts.iter().map(|count| {
            let mut ticket = shared.share();
            let waker = Waker::from(Arc::clone(count));
            assert!(ticket.poll(&waker).is_pending());
            ticket
        });
        (waits.collect(), counts)
    }

    fn woken(counts: &[Arc<Count>]) -> Vec<usize> {
        let count = |count: &Arc<Count>| count.0.load(Ordering::Relaxed);
        counts.iter().map(count).collect()
    }

    #[test]
    fn one_future_of_a_thread_is_woken_and_wakes_the_others_when_it_is_polled() {
        let writer = Writer::<u32, u32>::new(true, || 0);
        let shared = writer.submit(1);
        let (mut here, counts_here) = waiting(&shared, 3);
        let (there, counts_there) = thread::scope(|scope| {
            let there = scope.spawn(|| waiting(&shared, 2));
            there.join().unwrap()
        });
        writer.lead_next().unwrap().1.resolve([10]);
        assert_eq!(woken(&counts_here), [1, 0, 0]);
        assert_eq!(woken(&counts_there), [1, 0]);
        assert_eq!(here[0].poll(Waker::noop()), Poll::Ready(Some(10)));
        assert_eq!(woken(&counts_here), [1, 1, 1]);
        drop(there);
        assert_eq!(
            woken(&counts_there),
            [1, 1],
            "who is dropped instead of polled wakes the others as well"
        );
        for ticket in &mut here[1..] {
            assert_eq!(ticket.poll(Waker::noop()), Poll::Ready(Some(10)));
        }
    }

    #[test]
    fn who_is_dropped_when_asked_to_lead_has_another_asked() {
        let writer = Writer::<u32, u32>::new(false, || 0);
        let _first = writer.submit(1);
        let (_, batch) = writer.lead().unwrap();
        let shared = writer.submit(2);
        let (mut tickets, counts) = waiting(&shared, 2);
        drop(batch);
        assert_eq!(woken(&counts), [1, 0]);
        drop(tickets.remove(0));
        assert_eq!(woken(&counts), [1, 1]);
        assert_eq!(tickets[0].poll(Waker::noop()), Poll::Ready(None));
    }
}
