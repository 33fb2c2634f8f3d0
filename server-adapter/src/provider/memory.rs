//! What a process knows of the actions in the outbox. It is lost with the process: the outbox has to do without it.

use std::time::{Instant, SystemTime};

use deskfleet::Timestamp;

use super::step::Attempt;
use super::trace::Trace;

/// What this process knows of an action.
#[derive(Debug)]
pub(super) struct Memory {
    pub(super) attempt: Standing,
    /// Whether the desktop was seen in the state that the action goes through.
    pub(super) passed: bool,
    /// Since when attempts are refused or lost, and how many in a row.
    pub(super) refused: Option<(Instant, u32)>,
    /// How it ended, or why it failed: reported until the server has it.
    pub(super) ended: Option<Result<(), String>>,
    /// Nothing is done before then.
    pub(super) not_before: Option<Instant>,
    /// Whether it was said that the bound of actions that destroy holds it back.
    pub(super) is_held_back: bool,
    pub(super) trace: Trace,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Unknown,
    /// This attempt is noted perhaps.
    NotBegun(u32),
    Refused,
    Begun(Instant),
}

impl Memory {
    /// Of an action that is seen for the first time.
    pub(super) fn new() -> Self {
        Self {
            attempt: Standing::Unknown,
            passed: false,
            refused: None,
            ended: None,
            not_before: None,
            is_held_back: false,
            trace: Trace::new(),
        }
    }

    /// The last attempt, now.
    pub(super) fn last_attempt(&self) -> Attempt {
        match self.attempt {
            Standing::Unknown => Attempt::Unknown,
            Standing::NotBegun(attempt) => Attempt::NotBegun { attempt },
            Standing::Refused => Attempt::Refused,
            Standing::Begun(at) => Attempt::Begun {
                for_: at.elapsed(),
                passed: self.passed,
            },
        }
    }
}

/// The moment of this process's clock at which an attempt began.
pub(super) fn begun_at(at: Option<Timestamp>) -> Instant {
    let now = Instant::now();
    let at = at.map(SystemTime::from);
    let ago = at.and_then(|at| SystemTime::now().duration_since(at).ok());
    now.checked_sub(ago.unwrap_or_default()).unwrap_or(now)
}
