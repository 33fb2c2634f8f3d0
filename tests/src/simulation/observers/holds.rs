//! Litigation holds.

use std::collections::BTreeMap;

use deskfleet::{Action, AuditResult};

use crate::demand;
use crate::simulation::fact::{Ending, Fact, Intent, Observer, Reading, Verdict};

/// A workspace on hold is not rebuilt, restored, terminated or removed, nor does a provider begin that. Its hold stays until it is released, and no
/// other workspace has one.
#[derive(Debug, Default)]
pub struct Holds {
    /// What is certain; absent while a call is indeterminate.
    held: BTreeMap<&'static str, bool>,
    /// Terminations accepted under hold, by requester: they must have changed nothing.
    without_effect: Vec<String>,
}

impl Holds {
    fn answered(&mut self, intent: &Intent, ending: &Ending) -> Verdict {
        match (intent, ending) {
            (Intent::Hold(desk), Ending::Done) => {
                self.held.insert(desk, true);
            }
            (Intent::Release(desk), Ending::Done) => {
                self.held.insert(desk, false);
            }
            (Intent::Hold(desk) | Intent::Release(desk), Ending::Unknown) => {
                self.held.remove(desk);
            }
            (Intent::Remove(desk), Ending::Done) => {
                demand!(!self.is_held(desk), "{desk} was removed under hold");
            }
            (
                Intent::Act {
                    action: action @ (Action::Rebuild | Action::Restore),
                    desk,
                    ..
                },
                Ending::Done,
            ) => demand!(!self.is_held(desk), "{action:?} of {desk} under hold"),
            (
                Intent::Dispatch {
                    action: action @ (Action::Rebuild | Action::Restore | Action::Terminate),
                    desk,
                    ..
                },
                Ending::Done,
            ) => demand!(
                !self.is_held(desk),
                "{action:?} of {desk} is begun under hold"
            ),
            (
                Intent::Act {
                    action: Action::Terminate,
                    desk,
                    requester,
                },
                Ending::Done,
            ) if self.is_held(desk) => self.without_effect.push(requester.clone()),
            _ => {}
        }
        Ok(())
    }

    fn is_held(&self, desk: &str) -> bool {
        self.held.get(desk) == Some(&true)
    }

    fn read(&mut self, reading: &Reading) -> Verdict {
        for (desk, held) in &self.held {
            let found = reading.desks.get(desk);
            let found = found.is_some_and(|found| found.litigation_hold.is_some());
            demand!(found == *held, "{desk} is held: {found}, expected {held}");
            let listed = reading.held.iter().any(|id| id == desk);
            demand!(
                listed == *held,
                "{desk} is listed as held: {listed}, expected {held}"
            );
        }
        for requester in &self.without_effect {
            let row = reading.audit.iter().find(|row| row.requester == *requester);
            // A row of a clock that was set back far enough is removed at once.
            let idle = row.is_none_or(|row| row.result == AuditResult::NoChange);
            demand!(idle, "a termination under hold had an effect: {row:?}");
        }
        self.without_effect.clear();
        for (desk, view) in &reading.desks {
            self.held.insert(desk, view.litigation_hold.is_some());
        }
        Ok(())
    }
}

impl Observer for Holds {
    fn promise(&self) -> &'static str {
        "a hold blocks destructive actions until it is released"
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
