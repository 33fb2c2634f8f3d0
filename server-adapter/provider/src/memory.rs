//! What a process knows of the actions in the outbox. It is lost with the process: the outbox has to do without it.

use std::time::{Duration, Instant};

use super::fleet::REFUSED;
use super::step::{Attempt, Seen};
use super::trace::Trace;

/// What this process knows of an action.
#[derive(Debug)]
pub(super) struct Memory {
    pub(super) attempt: Standing,
    /// The last attempt that is noted, as far as this process knows.
    pub(super) attempts: u32,
    /// Accepted starts of a desktop that was stopped.
    pub(super) starts: u32,
    /// Whether the desktop was seen in the state that the action goes through.
    pub(super) passed: bool,
    pub(super) refusals: Option<Refusals>,
    /// How often the cloud refused it for want of permission, while it took others.
    pub(super) denied: u32,
    /// Why it is unknown whether the last attempt was carried out.
    pub(super) lost_to: Option<String>,
    /// How it ends once the desktop has its running mode again, by a description that is not older than this.
    pub(super) ends: Option<(Result<(), String>, Instant)>,
    /// How it ended, or why it failed: reported until the server has it.
    pub(super) ended: Option<Result<(), String>>,
    /// Nothing is done before then.
    pub(super) not_before: Option<Instant>,
    /// Why it is not begun, as was said last.
    pub(super) message: Option<NotBegun>,
    /// Since when this process knows of it, or that the answer to an attempt was lost. Not when the server says that the attempt began: the
    /// clocks may differ.
    pub(super) known_since: Instant,
    pub(super) was_shown: bool,
    pub(super) gone_since: Option<Instant>,
    pub(super) trace: Trace,
}

/// Why an action is not begun although nobody else does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotBegun {
    /// As many as may be have begun.
    HeldBack,
    /// The cloud does not show the desktop.
    Elsewhere,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Unknown,
    /// This attempt is noted perhaps.
    NotBegun(u32),
    /// This one was.
    Refused(u32),
    /// This one was, then.
    Begun(u32, Instant),
}

/// Attempts in a row that were refused or lost.
#[derive(Debug, Clone, Copy)]
pub(super) struct Refusals {
    pub(super) since: Instant,
    pub(super) last: Instant,
    pub(super) count: u32,
}

impl Memory {
    /// Of an action that is seen for the first time.
    pub(super) fn new() -> Self {
        Self {
            attempt: Standing::Unknown,
            attempts: 0,
            starts: 0,
            passed: false,
            refusals: None,
            denied: 0,
            lost_to: None,
            ends: None,
            ended: None,
            not_before: None,
            message: None,
            known_since: Instant::now(),
            was_shown: false,
            gone_since: None,
            trace: Trace::new(),
        }
    }

    /// Takes note of what the outbox says, which may be older than what this process did: a node that is behind answered. Returns whether the
    /// last attempt is noted as under way.
    pub(super) fn read(&mut self, attempts: u32, note: Option<&str>) -> bool {
        let own = match self.attempt {
            Standing::Unknown => u32::MAX,
            Standing::NotBegun(number) | Standing::Refused(number) | Standing::Begun(number, _) => {
                number
            }
        };
        if attempts > own {
            // Another process of this name has begun a later one.
            self.lost();
        }
        self.attempts = self.attempts.max(attempts);
        let note = note.filter(|_| attempts == self.attempts);
        let is_noted = note.is_some_and(|note| note != REFUSED);
        if self.attempt == Standing::Unknown && note.is_some() {
            self.attempt = if is_noted {
                Standing::Begun(attempts, Instant::now())
            } else {
                Standing::Refused(attempts)
            };
        }
        is_noted
    }

    /// Takes note of a description, which was asked for at that time.
    pub(super) fn saw(&mut self, seen: Seen<'_>, at: Instant) {
        match seen {
            Seen::Desktop(_) => (self.was_shown, self.gone_since) = (true, None),
            Seen::Gone => _ = self.gone_since.get_or_insert(at),
            Seen::Nothing => {}
        }
    }

    /// Whether that is to be said: it was not the last that was.
    pub(super) fn says(&mut self, why: NotBegun) -> bool {
        self.message.replace(why) != Some(why)
    }

    /// The answer to the last attempt was lost, or another process made it.
    pub(super) fn lost(&mut self) {
        (self.attempt, self.known_since) = (Standing::Unknown, Instant::now());
    }

    /// Counts an attempt that was refused or lost; returns for how long they have been, and how many.
    pub(super) fn refused(&mut self, longest: Duration) -> (Duration, u32) {
        let now = Instant::now();
        // After a long time in which nothing was tried it is not the same trouble.
        let before = self.refusals.filter(|of| now - of.last < longest);
        let refusals = Refusals {
            since: before.map_or(now, |of| of.since),
            last: now,
            count: before.map_or(0, |of| of.count).saturating_add(1),
        };
        self.refusals = Some(refusals);
        (now - refusals.since, refusals.count)
    }

    /// The last attempt, at that time.
    pub(super) fn last_attempt(&self, at: Instant) -> Attempt {
        match self.attempt {
            Standing::Unknown => Attempt::Unknown,
            Standing::NotBegun(attempt) => Attempt::NotBegun { attempt },
            Standing::Refused(_) => Attempt::Refused,
            Standing::Begun(_, since) => Attempt::Begun {
                for_: at.saturating_duration_since(since),
                passed: self.passed,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempt_of_another_process_of_the_name_takes_the_place_of_what_is_known_of_an_earlier_one() {
        for standing in [Standing::Refused(1), Standing::Begun(1, Instant::now())] {
            let mut memory = Memory::new();
            (memory.attempt, memory.attempts) = (standing, 1);
            assert!(!memory.read(1, None));
            assert_eq!(memory.attempt, standing);
            assert!(!memory.read(2, None));
            assert_eq!((memory.attempt, memory.attempts), (Standing::Unknown, 2));
            assert!(memory.read(2, Some("request-1")));
            assert!(matches!(memory.attempt, Standing::Begun(2, _)));
            assert!(!memory.read(3, Some(REFUSED)));
            assert_eq!(memory.attempt, Standing::Refused(3));
        }
        let mut memory = Memory::new();
        memory.attempt = Standing::NotBegun(2);
        memory.read(2, None);
        assert_eq!(memory.attempt, Standing::NotBegun(2));
        memory.read(3, None);
        assert_eq!(memory.attempt, Standing::Unknown);
    }

    #[test]
    fn outbox_that_is_behind_takes_nothing_back() {
        let mut memory = Memory::new();
        memory.attempts = 2;
        assert!(!memory.read(0, None));
        assert!(!memory.read(1, Some("request-1")));
        assert_eq!((memory.attempt, memory.attempts), (Standing::Unknown, 2));
        memory.attempt = Standing::Refused(2);
        memory.read(1, Some("request-1"));
        assert_eq!(memory.attempt, Standing::Refused(2));
    }

    #[test]
    fn refusals_are_counted_from_the_first_of_those_that_follow_each_other() {
        let mut memory = Memory::new();
        assert_eq!(memory.refused(Duration::from_secs(600)).1, 1);
        assert_eq!(memory.refused(Duration::from_secs(600)).1, 2);
        assert_eq!(memory.refused(Duration::ZERO).1, 1);
    }
}
