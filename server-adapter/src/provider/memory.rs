//! What a process knows of the actions in the outbox. It is lost with the process: the outbox has to do without it.

use std::time::Instant;

use super::step::{Attempt, Seen};
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
    /// Whether it was said that it is held back, and why.
    pub(super) is_held_back: bool,
    /// Since when this process knows of it, or that the answer to an attempt was lost. Not when the server says that the attempt began: the
    /// clocks may differ.
    pub(super) known_since: Instant,
    pub(super) was_shown: bool,
    pub(super) gone_since: Option<Instant>,
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
            known_since: Instant::now(),
            was_shown: false,
            gone_since: None,
            trace: Trace::new(),
        }
    }

    /// Takes note of a description.
    pub(super) fn saw(&mut self, seen: Seen<'_>) {
        match seen {
            Seen::Desktop(_) => (self.was_shown, self.gone_since) = (true, None),
            Seen::Gone => _ = self.gone_since.get_or_insert_with(Instant::now),
            Seen::Nothing => {}
        }
    }

    /// The answer to the last attempt was lost, or another process made it.
    pub(super) fn lost(&mut self) {
        (self.attempt, self.known_since) = (Standing::Unknown, Instant::now());
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
