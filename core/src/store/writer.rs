//! Group commit: all that is pending goes into one transaction, one sync, then every ticket resolves.
//!
//! A caller that finds the writer free leads: it takes all pending submissions, commits them and wakes the others. Submissions
//! that arrive in the meantime are the next batch. When a batch ends, a thread that blocks for the next one is asked to lead it;
//! if there is none, every polled future is woken, and the first of them leads. A future that was never polled is never asked.
//! There is no timer: the commit in progress is the clock, and a lone submission is committed at once.
//!
//! A caller may give the lead up before all of its batch is resolved: the next batch is then committed beside the rest.

mod ticket;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::task::{Poll, Waker};

use crate::locks::{lock, wait};

use ticket::Slot;
pub(crate) use ticket::Ticket;
pub(crate) use ticket::this_thread;

/// The most threads that an engine has for commits: one appends a batch to the log while the other applies the batch before it.
const OWN_THREADS_MAX: usize = 2;

/// Commits submissions of type `M` in batches, as the module describes. Each submission has an outcome of type `O`.
#[derive(Debug)]
pub(crate) struct Writer<M, O> {
    waiting: Mutex<PendingBatch<M, O>>,
    /// Wakes the engine's own threads, by index.
    arrived: [Condvar; OWN_THREADS_MAX],
    /// Whether callers may lead beside the engine's own threads. It is set with `waiting` locked.
    callers_lead: AtomicBool,
    own_threads: OwnThreads,
    /// The outcome of a submission whose commit panicked.
    lost: fn() -> O,
}

/// The next batch, and who commits it. Tickets register for an outcome under this lock: the caller that ends leading sees each of them, or
/// they see that nobody leads.
#[derive(Debug)]
struct PendingBatch<M, O> {
    batch: Vec<(M, Arc<Slot<O>>)>,
    /// Whether a batch is being committed and not released.
    leading: bool,
    /// Whether the engine has threads of its own, which always lead.
    has_threads: bool,
    /// How many own threads will look for a batch by themselves: a busy thread needs no notification, which is a system call.
    looking: usize,
    /// Indexes of the own threads that wait for a notification. The last one is notified first, because its caches are warm.
    idle: Vec<usize>,
    /// Whether an own thread was notified and has not noticed it yet, by index.
    notified: [bool; OWN_THREADS_MAX],
    /// How many own threads wait for a caller: while there are some, callers lead too.
    out: usize,
    /// Whether the own threads end once nothing is pending.
    closed: bool,
}

/// The engine's own threads. Each has an index from its first [`Writer::lead_next`] on.
#[derive(Debug)]
struct OwnThreads([OwnThread; OWN_THREADS_MAX]);

/// One of the engine's own threads.
#[derive(Debug)]
struct OwnThread {
    /// [`this_thread`] of it, or [`NO_THREAD`].
    number: AtomicUsize,
    /// Whether it waits for a caller.
    is_out: AtomicBool,
}

/// No thread has this number: it is the address of a byte.
pub(crate) const NO_THREAD: usize = usize::MAX;

impl Default for OwnThreads {
    fn default() -> Self {
        let none = |_| OwnThread {
            number: AtomicUsize::new(NO_THREAD),
            is_out: AtomicBool::new(false),
        };
        Self(std::array::from_fn(none))
    }
}

impl OwnThreads {
    /// Adds this thread, once; returns its index, unless there are [`OWN_THREADS_MAX`] others.
    fn add(&self) -> Option<usize> {
        let (order, this) = (Ordering::Relaxed, this_thread());
        let is_this = |own: &OwnThread| own.number.load(order) == this;
        let takes_this = |own: &OwnThread| {
            let added = own.number.compare_exchange(NO_THREAD, this, order, order);
            added.is_ok()
        };
        let threads = || self.0.iter();
        let known = threads().position(is_this);
        known.or_else(|| threads().position(takes_this))
    }

    fn this(&self) -> Option<&OwnThread> {
        let this = this_thread();
        self.0
            .iter()
            .find(|own| own.number.load(Ordering::Relaxed) == this)
    }

    /// Records that this thread waits for a caller; returns false if it does already, or is not one of them.
    fn step_out(&self) -> bool {
        self.this()
            .is_some_and(|own| !own.is_out.swap(true, Ordering::Relaxed))
    }

    /// Records that this thread leads again; returns whether it had stepped out.
    fn step_in(&self) -> bool {
        self.this()
            .is_some_and(|own| own.is_out.swap(false, Ordering::Relaxed))
    }

    /// Whether this thread is one of them.
    fn has_this(&self) -> bool {
        self.this().is_some()
    }
}

/// The next step of a caller that wants an outcome.
#[derive(Debug)]
pub(crate) enum Turn<'w, M, O: Clone> {
    /// Take the outcome.
    Outcome(O),
    /// Commit this batch and ask again.
    Lead(Vec<M>, Batch<'w, M, O>),
}

/// A batch being committed; no other caller leads until it is released or dropped. Each owner gets an outcome however it ends:
/// after a panic the unresolved ones are resolved as lost.
#[derive(Debug)]
pub(crate) struct Batch<'w, M, O: Clone> {
    writer: &'w Writer<M, O>,
    slots: Vec<Option<Arc<Slot<O>>>>,
    released: bool,
    /// Whether a thread of the engine's own has released it: that thread looks for no other batch until this one is dropped.
    is_away: bool,
}

impl<M, O: Clone> Batch<'_, M, O> {
    /// Delivers outcomes, each with the index of its submission in the batch.
    pub(crate) fn resolve(&mut self, outcomes: impl IntoIterator<Item = (usize, O)>) {
        for (index, outcome) in outcomes {
            if let Some(slot) = self.slots.get_mut(index).and_then(Option::take) {
                slot.resolve(outcome);
            }
        }
    }

    /// Lets another caller lead, while this one goes on with what is not resolved yet. Returns the wakers of futures that could lead, to
    /// be woken without a lock.
    #[must_use]
    pub(crate) fn release(&mut self) -> Vec<Waker> {
        if std::mem::replace(&mut self.released, true) {
            return Vec::new();
        }
        let mut waiting = lock(&self.writer.waiting);
        waiting.leading = false;
        if waiting.has_threads && self.writer.own_threads.has_this() {
            self.is_away = waiting.looking > 0;
            waiting.looking = waiting.looking.saturating_sub(1);
            self.writer.notify_thread(waiting);
            return Vec::new();
        }
        self.writer.ask_to_lead(waiting)
    }
}

impl<M, O: Clone> Drop for Batch<'_, M, O> {
    fn drop(&mut self) {
        for slot in self.slots.iter_mut().filter_map(Option::take) {
            slot.resolve((self.writer.lost)());
        }
        let mut waiting = lock(&self.writer.waiting);
        waiting.looking += usize::from(self.is_away);
        if self.released {
            return;
        }
        waiting.leading = false;
        let wakers = self.writer.ask_to_lead(waiting);
        wakers.into_iter().for_each(Waker::wake);
    }
}

impl<M, O: Clone> Writer<M, O> {
    /// A writer with nothing pending. With `threads` of the engine's own, at most [`OWN_THREADS_MAX`], only they commit. `lost` is the outcome of a
    /// submission whose commit panicked.
    pub(crate) fn new(threads: usize, lost: fn() -> O) -> Self {
        Self {
            waiting: Mutex::new(PendingBatch {
                batch: Vec::new(),
                leading: false,
                has_threads: threads > 0,
                looking: threads,
                idle: Vec::new(),
                notified: [false; OWN_THREADS_MAX],
                out: 0,
                closed: false,
            }),
            arrived: [const { Condvar::new() }; OWN_THREADS_MAX],
            callers_lead: AtomicBool::new(threads == 0),
            own_threads: OwnThreads::default(),
            lost,
        }
    }

    /// Adds a submission to the pending ones.
    pub(crate) fn submit(&self, submission: M) -> Ticket<O> {
        let slot = Arc::new(Slot::default());
        let mut waiting = lock(&self.waiting);
        waiting.batch.push((submission, Arc::clone(&slot)));
        self.notify_thread(waiting);
        Ticket::new(slot)
    }

    /// Notifies a thread of the engine's own of the pending batch, unless one looks for it by itself.
    fn notify_thread(&self, mut waiting: MutexGuard<'_, PendingBatch<M, O>>) {
        if waiting.batch.is_empty() || waiting.looking > 0 {
            return;
        }
        if let Some(index) = waiting.idle.pop()
            && let Some(notified) = waiting.notified.get_mut(index)
            && let Some(arrived) = self.arrived.get(index)
        {
            *notified = true;
            waiting.looking += 1;
            drop(waiting);
            arrived.notify_one();
        }
    }

    /// Takes all pending submissions, unless there are none, another caller commits, or only the engine's own threads may. The
    /// caller commits and resolves the batch; until that is dropped no other caller leads.
    pub(crate) fn lead(&self) -> Option<(Vec<M>, Batch<'_, M, O>)> {
        self.take(&mut lock(&self.waiting))
    }

    fn take(&self, waiting: &mut PendingBatch<M, O>) -> Option<(Vec<M>, Batch<'_, M, O>)> {
        if !self.may_lead() || waiting.leading || waiting.batch.is_empty() {
            return None;
        }
        waiting.leading = true;
        let pending = std::mem::take(&mut waiting.batch).into_iter();
        let (submissions, slots): (Vec<M>, Vec<_>) = pending
            .map(|(submission, slot)| (submission, Some(slot)))
            .unzip();
        let batch = Batch {
            writer: self,
            slots,
            released: false,
            is_away: false,
        };
        Some((submissions, batch))
    }

    /// Waits for the next batch, for the engine's own thread; `None` once [`Self::close`] was called and nothing is pending. It calls
    /// `give_way` where a batch has gathered already: clients that were just answered send their next records meanwhile, and share its sync.
    pub(crate) fn lead_next(&self, give_way: fn()) -> Option<(Vec<M>, Batch<'_, M, O>)> {
        let index = self.own_threads.add()?;
        let arrived = self.arrived.get(index)?;
        let has_gathered = !lock(&self.waiting).batch.is_empty();
        if has_gathered {
            give_way();
        }
        loop {
            if let Some(taken) = self.lead() {
                return Some(taken);
            }
            let mut waiting = lock(&self.waiting);
            if waiting.closed {
                return self.take(&mut waiting);
            }
            // A caller that leads notifies a thread at its end.
            if waiting.batch.is_empty() || waiting.leading {
                waiting.looking = waiting.looking.saturating_sub(1);
                waiting.idle.push(index);
                let mut is_notified = false;
                while !is_notified && !waiting.closed {
                    waiting = wait(arrived, waiting);
                    let notified = waiting.notified.get_mut(index);
                    is_notified = notified.is_some_and(std::mem::take);
                }
            }
        }
    }

    /// Blocks until the outcome is there or this thread must lead.
    pub(crate) fn wait(&self, ticket: &mut Ticket<O>) -> Turn<'_, M, O> {
        loop {
            if let Some(outcome) = ticket.outcome() {
                return Turn::Outcome(outcome);
            }
            let mut waiting = lock(&self.waiting);
            if let Some((submissions, batch)) = self.take(&mut waiting) {
                return Turn::Lead(submissions, batch);
            }
            ticket.block(waiting);
        }
    }

    /// As [`Self::wait`] for a future: where it would block, `waker` is called when it should be polled again. Without `may_lead`
    /// it never leads.
    pub(crate) fn poll(
        &self,
        ticket: &mut Ticket<O>,
        waker: &Waker,
        may_lead: bool,
    ) -> Poll<Turn<'_, M, O>> {
        if !self.may_lead() {
            // This runs without the shared lock. If callers lead by now, this one may have registered too late to be asked.
            let registered = ticket.register(waker);
            if registered.is_ready() || !self.may_lead() {
                return registered.map(Turn::Outcome);
            }
        }
        if let Some(outcome) = ticket.outcome() {
            return Poll::Ready(Turn::Outcome(outcome));
        }
        let mut waiting = lock(&self.waiting);
        if may_lead && let Some((submissions, batch)) = self.take(&mut waiting) {
            return Poll::Ready(Turn::Lead(submissions, batch));
        }
        ticket.register(waker).map(Turn::Outcome)
    }

    /// Whether this thread is one of the engine's own.
    pub(crate) fn is_own_thread(&self) -> bool {
        self.own_threads.has_this()
    }

    /// If this thread is one of the engine's own, lets callers lead until [`Self::step_in`]: it is about to wait for a caller, which
    /// may wait for a commit.
    pub(crate) fn step_out(&self) {
        if self.own_threads.step_out() {
            let mut waiting = lock(&self.waiting);
            waiting.out += 1;
            self.callers_lead.store(true, Ordering::Release);
            let wakers = self.look_again(waiting);
            wakers.into_iter().for_each(Waker::wake);
        }
    }

    /// Ends [`Self::step_out`]: this thread leads again.
    pub(crate) fn step_in(&self) {
        if self.own_threads.step_in() {
            let mut waiting = lock(&self.waiting);
            waiting.out -= 1;
            self.callers_lead
                .store(waiting.out > 0 || !waiting.has_threads, Ordering::Release);
        }
    }

    /// If submissions are pending and no thread leads, asks their waiters to lead. Returns the wakers to be woken for that.
    fn ask_to_lead(&self, waiting: MutexGuard<'_, PendingBatch<M, O>>) -> Vec<Waker> {
        if waiting.leading || waiting.batch.is_empty() {
            return Vec::new();
        }
        if waiting.has_threads {
            // After a caller has led, any waiter may be the one that can lead next.
            if !self.own_threads.has_this() {
                return self.look_again(waiting);
            }
            self.notify_thread(waiting);
            return Vec::new();
        }
        // A blocking thread certainly leads. A future may have been abandoned by its task, so all futures are woken.
        let slots = || waiting.batch.iter().map(|(_, slot)| slot);
        if slots().any(|slot| slot.ask_thread()) {
            return Vec::new();
        }
        slots().flat_map(|slot| slot.wakers()).collect()
    }

    /// Lets all waiters of pending submissions check again whether they may lead. Returns the wakers of the futures among them.
    fn look_again(&self, waiting: MutexGuard<'_, PendingBatch<M, O>>) -> Vec<Waker> {
        let mut wakers = Vec::new();
        for (_, slot) in &waiting.batch {
            slot.look_again();
            wakers.extend(slot.wakers());
        }
        self.notify_thread(waiting);
        wakers
    }

    /// Lets the engine's own threads end once nothing is pending; from then on callers lead.
    pub(crate) fn close(&self) {
        self.end_threads(lock(&self.waiting));
    }

    /// As [`Self::close`], in a forked child, which has none of these threads, even if one was leading in the parent.
    pub(crate) fn close_in_child(&self) {
        let mut waiting = lock(&self.waiting);
        if !waiting.closed {
            waiting.leading = false;
            self.end_threads(waiting);
        }
    }

    fn end_threads(&self, mut waiting: MutexGuard<'_, PendingBatch<M, O>>) {
        self.callers_lead.store(true, Ordering::Release);
        waiting.closed = true;
        waiting.has_threads = false;
        self.arrived.iter().for_each(Condvar::notify_all);
        let wakers = self.ask_to_lead(waiting);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Whether this thread may lead. The engine's own threads come here too, when their observer writes.
    fn may_lead(&self) -> bool {
        self.callers_lead.load(Ordering::Acquire) || self.own_threads.has_this()
    }
}

#[cfg(test)]
mod tests;
