//! The turn to file or to seal, and the events that are delivered at its end.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use crate::error::{EngineError, Result};
use crate::locks::{lock, try_lock};
use crate::observer::Event;
use crate::store::writer::{NO_THREAD, this_thread};

use super::EngineCore;

/// Locked while a step of filing or sealing is prepared and written: each builds on the one before.
#[derive(Debug)]
pub(super) struct Filing {
    turn: Mutex<()>,
    /// The thread that has the turn.
    thread: AtomicUsize,
    /// Events of that thread since then: an observer that reads needs the turn itself.
    events: Mutex<Vec<OwnedEvent>>,
    /// Why the last attempt to file failed.
    failed: Mutex<Option<EngineError>>,
}

impl Default for Filing {
    fn default() -> Self {
        Self {
            turn: Mutex::default(),
            thread: AtomicUsize::new(NO_THREAD),
            events: Mutex::default(),
            failed: Mutex::default(),
        }
    }
}

/// An event that owns its data.
#[derive(Debug)]
enum OwnedEvent {
    Whole(Event<'static>),
    CommitFailed(EngineError),
}

impl OwnedEvent {
    /// A copy of an event that can happen on a thread that files; `None` for any other.
    fn from_event(event: &Event<'_>) -> Option<Self> {
        Some(match *event {
            Event::Committed {
                mutations,
                duration,
            } => Self::Whole(Event::Committed {
                mutations,
                duration,
            }),
            Event::Filed { records } => Self::Whole(Event::Filed { records }),
            Event::Reopened => Self::Whole(Event::Reopened),
            Event::CommitFailed { error } => Self::CommitFailed(error.clone()),
            Event::WriterThreadRestarted { .. }
            | Event::UpkeepFailed { .. }
            | Event::FileDisplaced { .. }
            | Event::FileReturned
            | Event::NotLocked
            | Event::Damaged { .. }
            | Event::ReserveMissing { .. }
            | Event::ReserveMade
            | Event::RetentionBehind { .. }
            | Event::Unaudited { .. }
            | Event::StartedOnCopy { .. }
            | Event::Recovered { .. }
            | Event::Converted { .. }
            | Event::Internal { .. } => return None,
        })
    }
}

/// The turn of this thread.
pub(crate) struct FilingTurn<'c> {
    core: &'c EngineCore,
    turn: Option<MutexGuard<'c, ()>>,
}

impl EngineCore {
    /// Records how the last attempt to file ended.
    pub(super) fn note_filing<T>(&self, filed: &Result<T>) {
        *lock(&self.filing.failed) = filed.as_ref().err().cloned();
    }

    /// Why the last attempt to file failed.
    pub(super) fn filing_failed(&self) -> Option<EngineError> {
        lock(&self.filing.failed).clone()
    }

    /// Waits for the turn.
    pub(super) fn filing_turn(&self) -> FilingTurn<'_> {
        self.try_filing_turn().unwrap_or_else(|| {
            // The thread that has the turn may wait for a commit of this thread, whose observer wants the turn.
            self.commits.step_out();
            self.has_filing_turn(lock(&self.filing.turn))
        })
    }

    /// The turn, unless another thread has it.
    pub(crate) fn try_filing_turn(&self) -> Option<FilingTurn<'_>> {
        try_lock(&self.filing.turn).map(|turn| self.has_filing_turn(turn))
    }

    fn has_filing_turn<'c>(&'c self, turn: MutexGuard<'c, ()>) -> FilingTurn<'c> {
        self.filing.thread.store(this_thread(), Ordering::Relaxed);
        FilingTurn {
            core: self,
            turn: Some(turn),
        }
    }

    /// Keeps an event until this thread gives its turn back; returns whether it has the turn.
    pub(super) fn defer(&self, event: &Event<'_>) -> bool {
        if self.filing.thread.load(Ordering::Relaxed) != this_thread() {
            return false;
        }
        let owned = OwnedEvent::from_event(event);
        let is_deferred = owned.is_some();
        lock(&self.filing.events).extend(owned);
        is_deferred
    }
}

impl Drop for FilingTurn<'_> {
    fn drop(&mut self) {
        let filing = &self.core.filing;
        let events = std::mem::take(&mut *lock(&filing.events));
        filing.thread.store(NO_THREAD, Ordering::Relaxed);
        drop(self.turn.take());
        for event in events {
            match event {
                OwnedEvent::Whole(event) => self.core.observe(&event),
                OwnedEvent::CommitFailed(error) => {
                    self.core.observe(&Event::CommitFailed { error: &error });
                }
            }
        }
    }
}
