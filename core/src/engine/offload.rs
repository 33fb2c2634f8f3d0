//! Work that runs where the host lets it block, and its result on the event loop.

use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use crate::locks::lock;

/// Work to run where blocking is allowed.
pub type SlowWork = Box<dyn FnOnce() + Send>;

/// Runs work elsewhere.
pub(super) type Spawn = dyn Fn(SlowWork) + Send + Sync;

/// The result of work that was handed to the host.
#[derive(Debug)]
pub(super) struct Offloaded<T>(Arc<Mutex<Slot<T>>>);

#[derive(Debug)]
enum Slot<T> {
    Running(Option<Waker>),
    Ended(Option<T>),
}

/// Delivers a result; its drop without one, as when the work panics or is never run, says that there is none.
struct Delivery<T>(Arc<Mutex<Slot<T>>>);

impl<T> Delivery<T> {
    fn finish(&self, result: Option<T>) {
        let mut slot = lock(&self.0);
        if let Slot::Running(waker) = &mut *slot {
            let waker = waker.take();
            *slot = Slot::Ended(result);
            drop(slot);
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }
}

impl<T> Drop for Delivery<T> {
    fn drop(&mut self) {
        self.finish(None);
    }
}

impl<T: Send + 'static> Offloaded<T> {
    /// Hands `work` to the host.
    pub(super) fn run(spawn: &Spawn, work: impl FnOnce() -> T + Send + 'static) -> Self {
        let slot = Arc::new(Mutex::new(Slot::Running(None)));
        let delivery = Delivery(Arc::clone(&slot));
        spawn(Box::new(move || {
            // Nobody waits any more: the client is gone, and nothing was submitted.
            if Arc::strong_count(&delivery.0) > 1 {
                delivery.finish(Some(work()));
            }
        }));
        Self(slot)
    }
}

impl<T> Offloaded<T> {
    /// The result, once; `None` if the work ended without one.
    pub(super) fn poll(&self, context: &Context<'_>) -> Poll<Option<T>> {
        match &mut *lock(&self.0) {
            Slot::Ended(result) => Poll::Ready(result.take()),
            Slot::Running(waker) => {
                *waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn poll<T>(offloaded: &Offloaded<T>) -> Poll<Option<T>> {
        offloaded.poll(&Context::from_waker(Waker::noop()))
    }

    #[test]
    fn work_that_is_dropped_or_panics_ends_without_a_result() {
        let dropped = Offloaded::run(&drop, || 1);
        assert_eq!(poll(&dropped), Poll::Ready(None));
        let in_thread = |work: SlowWork| assert!(std::thread::spawn(work).join().is_err());
        let panicked = Offloaded::run(&in_thread, || panic!("as the test wants it"));
        assert_eq!(poll::<()>(&panicked), Poll::Ready(None));
    }

    #[test]
    fn work_that_nobody_waits_for_is_not_done() {
        let kept: Arc<Mutex<Vec<SlowWork>>> = Arc::default();
        let keep = Arc::clone(&kept);
        let spawn = move |work| lock(&keep).push(work);
        drop(Offloaded::run(&spawn, || panic!("nobody waits for it")));
        let work = lock(&kept).pop().unwrap();
        work();
    }

    #[test]
    fn result_of_work_arrives_after_it_ran() {
        let kept: Arc<Mutex<Vec<SlowWork>>> = Arc::default();
        let keep = Arc::clone(&kept);
        let offloaded = Offloaded::run(&move |work| lock(&keep).push(work), || 7);
        assert_eq!(poll(&offloaded), Poll::Pending);
        let work = lock(&kept).pop().unwrap();
        work();
        assert_eq!(poll(&offloaded), Poll::Ready(Some(7)));
    }
}
