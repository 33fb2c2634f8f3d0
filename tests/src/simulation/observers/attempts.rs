//! Attempts of providers.

use std::collections::{BTreeMap, BTreeSet};

use deskfleet::{EventType, PendingAction};

use crate::demand;
use crate::events::member;
use crate::simulation::fact::{Ending, Fact, Intent, Observer, Reading, Verdict};
use crate::simulation::providers::PROVIDER;

/// One process begins each attempt at an action, after the attempt before it and while the action runs. The outbox has the last
/// attempt and what was noted of it, each attempt has one event, and the audit of an action that ended names the provider.
#[derive(Debug, Default)]
pub struct Attempts {
    actions: BTreeMap<u64, Known>,
}

/// What is known of an action that was dispatched.
#[derive(Debug, Default)]
struct Known {
    /// The last attempt that is certain.
    last: u32,
    /// The process that began it, unless several may have.
    by: Option<u32>,
    note: Option<String>,
    /// What may have been stored, or not, since everything was last read: attempts with their processes, and notes.
    maybe_begun: BTreeSet<(u32, u32)>,
    maybe_noted: BTreeSet<(u32, String)>,
    has_ended: bool,
}

impl Known {
    fn may_have_begun(&self, attempt: u32) -> bool {
        let mut maybe = self.maybe_begun.iter();
        attempt <= self.last || maybe.any(|(number, _)| *number == attempt)
    }

    fn begun(&mut self, attempt: u32, process: u32) -> Verdict {
        demand!(!self.has_ended, "begun after its end: {self:?}");
        demand!(attempt >= self.last, "begun before {self:?}");
        if attempt == self.last {
            let one = self.by.is_none_or(|by| by == process);
            demand!(one, "begun by {process} and in {self:?}");
        } else {
            let follows = self.may_have_begun(attempt - 1);
            demand!(follows, "attempt {attempt} follows none: {self:?}");
            (self.last, self.note) = (attempt, None);
        }
        self.by = Some(process);
        Ok(())
    }

    fn noted(&mut self, attempt: u32, note: &str) -> Verdict {
        let is_last = attempt == self.last && !self.has_ended;
        demand!(is_last, "{note} of attempt {attempt} is in {self:?}");
        self.note = Some(note.to_owned());
        Ok(())
    }

    /// Compares with the outbox, which settles what was in doubt.
    fn read(&mut self, found: &PendingAction) -> Verdict {
        demand!(!self.has_ended, "{found:?} runs again: {self:?}");
        let attempts = found.attempts;
        let right = attempts >= self.last && self.may_have_begun(attempts);
        demand!(right, "{found:?}, expected {self:?}");
        let is_dispatched = attempts > 0;
        let named = found.provider.as_deref() == is_dispatched.then_some(PROVIDER)
            && found.last_attempt_at.is_some() == is_dispatched;
        demand!(named, "{found:?}");
        if attempts > self.last {
            let maybe = self.maybe_begun.iter();
            let mut by = maybe.filter(|(number, _)| *number == attempts);
            let (first, second) = (by.next(), by.next());
            self.by = first.filter(|_| second.is_none()).map(|(_, by)| *by);
            (self.last, self.note) = (attempts, None);
        }
        let note = found.note.clone();
        let mut maybe = self.maybe_noted.iter();
        let is_maybe =
            maybe.any(|(number, text)| *number == attempts && note.as_ref() == Some(text));
        demand!(
            note == self.note || is_maybe,
            "{found:?}, expected {self:?}"
        );
        self.note = note;
        self.maybe_begun.clear();
        self.maybe_noted.clear();
        Ok(())
    }
}

impl Attempts {
    fn answered(&mut self, intent: &Intent, ending: &Ending) -> Verdict {
        match (intent, ending) {
            (
                Intent::Dispatch {
                    id,
                    attempt,
                    process,
                    ..
                },
                ending,
            ) => {
                let known = self.actions.entry(*id).or_default();
                match ending {
                    Ending::Done => return known.begun(*attempt, *process),
                    Ending::Unknown => drop(known.maybe_begun.insert((*attempt, *process))),
                    Ending::Refused(_) => {}
                }
            }
            (Intent::Note { id, attempt, note }, ending) => {
                let known = self.actions.entry(*id).or_default();
                match ending {
                    Ending::Done => return known.noted(*attempt, note),
                    Ending::Unknown => drop(known.maybe_noted.insert((*attempt, note.clone()))),
                    Ending::Refused(_) => {}
                }
            }
            (Intent::End(id, _), Ending::Done) => {
                if let Some(known) = self.actions.get_mut(id) {
                    known.has_ended = true;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn read(&mut self, reading: &Reading) -> Verdict {
        for found in &reading.pending {
            if found.due_at.is_some() {
                // The clock ends it, and begins it again when it is set back before an end that no write has stored.
                demand!(found.attempts == 0, "the clock ends {found:?}");
                continue;
            }
            self.actions.entry(found.id).or_default().read(found)?;
        }
        let dispatched = |kind: &EventType| *kind == EventType::ActionDispatched;
        let events = reading
            .events
            .iter()
            .filter(|event| dispatched(&event.kind));
        let mut begun = BTreeSet::new();
        for event in events {
            let of = member(event, "actionId").zip(member(event, "attempt"));
            demand!(begun.insert(of), "a second event of an attempt: {event:?}");
        }
        let has_all_events = reading.events.first().is_some_and(|first| first.id == 1);
        for (id, known) in &mut self.actions {
            let attempts = 1..=u64::from(known.last);
            let lost = attempts.filter(|attempt| !begun.contains(&Some((*id, *attempt))));
            let lost: Vec<_> = lost.collect();
            let complete = lost.is_empty() || !has_all_events;
            demand!(complete, "no event of {id}: {lost:?}, {known:?}");
            if reading.pending.iter().any(|running| running.id == *id) {
                continue;
            }
            known.has_ended = true;
            // A row of a clock that was set back far enough is removed at once.
            let row = reading.audit.iter().find(|row| row.id == *id);
            let detail = row.map(|row| row.detail.as_deref().unwrap_or_default());
            let named = detail.is_none_or(|detail| known.last == 0 || detail.contains(PROVIDER));
            demand!(named, "{row:?} of {known:?}");
        }
        Ok(())
    }
}

impl Observer for Attempts {
    fn promise(&self) -> &'static str {
        "one process begins an attempt, and only of a running action"
    }

    fn see(&mut self, fact: &Fact<'_>) -> Verdict {
        match fact {
            Fact::Answered(_, intent, ending, _) => self.answered(intent, ending),
            Fact::Lost(_, intent) => self.answered(intent, &Ending::Unknown),
            Fact::Read(reading) => self.read(reading),
            _ => Ok(()),
        }
    }
}
