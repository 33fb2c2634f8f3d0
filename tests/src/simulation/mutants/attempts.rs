//! Mutants of the attempts of providers.

use deskfleet::{AuditResult, EventType};

use super::all::mutant;
use super::{FactChange, Mutant};
use crate::simulation::fact::{Ending, Intent, Observer};
use crate::simulation::observers::Attempts;
use crate::simulation::providers::PROVIDER;

pub(super) fn about_attempts() -> Vec<Mutant> {
    [about_answers(), about_readings()].concat()
}

fn attempts() -> Box<dyn Observer> {
    Box::new(Attempts::default())
}

fn about_answers() -> Vec<Mutant> {
    vec![
        mutant(
            "a second process begins an attempt",
            attempts,
            FactChange::Answer(|intent, ending, _| {
                let refused = *ending == Ending::Refused("InvalidResourceState".to_owned());
                if matches!(intent, Intent::Dispatch { .. }) && refused {
                    *ending = Ending::Done;
                }
            }),
        ),
        mutant(
            "an attempt begins at a cancelled action",
            attempts,
            FactChange::Answer(|intent, ending, _| {
                let cancelled = *ending == Ending::Refused("Cancelled".to_owned());
                if matches!(intent, Intent::Dispatch { .. }) && cancelled {
                    *ending = Ending::Done;
                }
            }),
        ),
        mutant(
            "a late note is accepted",
            attempts,
            FactChange::Answer(|intent, ending, _| {
                if matches!(intent, Intent::Note { .. }) {
                    *ending = Ending::Done;
                }
            }),
        ),
    ]
}

fn about_readings() -> Vec<Mutant> {
    vec![
        mutant(
            "an attempt is lost",
            attempts,
            FactChange::Reading(|reading| {
                for action in &mut reading.pending {
                    action.attempts = action.attempts.saturating_sub(1);
                }
            }),
        ),
        mutant(
            "a note is lost",
            attempts,
            FactChange::Reading(|reading| {
                for action in &mut reading.pending {
                    action.note = None;
                }
            }),
        ),
        mutant(
            "an attempt has two events",
            attempts,
            FactChange::Reading(|reading| {
                let is_attempt = |kind| kind == EventType::ActionDispatched;
                let found = reading.events.iter().find(|event| is_attempt(event.kind));
                reading.events.extend(found.cloned());
            }),
        ),
        mutant(
            "an attempt has no event",
            attempts,
            FactChange::Reading(|reading| {
                let kept = |kind| kind != EventType::ActionDispatched;
                reading.events.retain(|event| kept(event.kind));
            }),
        ),
        mutant(
            "the audit of a dispatched action does not name the provider",
            attempts,
            FactChange::Reading(|reading| {
                for row in &mut reading.audit {
                    let ended = row.result != AuditResult::Accepted;
                    row.detail
                        .take_if(|detail| ended && detail.contains(PROVIDER));
                }
            }),
        ),
    ]
}
