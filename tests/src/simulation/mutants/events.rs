//! Mutants of the event log.

use deskfleet::EventType;

use super::all::mutant;
use super::{FactChange, Mutant};
use crate::simulation::fact::{Observer, Reading};
use crate::simulation::observers::EventLog;

/// Removes the last event of an action.
fn lose(reading: &mut Reading, kind: EventType) {
    let found = reading.events.iter().rposition(|event| event.kind == kind);
    // Those after it take its number, so that there is no gap.
    if let Some(place) = found {
        reading.events.remove(place);
        for event in reading.events.iter_mut().skip(place) {
            event.id -= 1;
        }
    }
}

pub(super) fn about_events() -> Vec<Mutant> {
    let events = || -> Box<dyn Observer> { Box::new(EventLog::default()) };
    vec![
        mutant(
            "an event is missing",
            events,
            FactChange::Reading(|reading| {
                if reading.events.len() > 8 {
                    reading.events.remove(4);
                }
            }),
        ),
        mutant(
            "an event changed",
            events,
            FactChange::Reading(|reading| {
                let now = reading.now;
                if let Some(first) = reading.events.first_mut() {
                    first.at = now;
                }
            }),
        ),
        mutant(
            "the last events are gone again",
            events,
            FactChange::Reading(|reading| {
                let count = reading.events.len();
                if count > 8 && count.is_multiple_of(2) {
                    reading.events.truncate(count - 3);
                }
            }),
        ),
        mutant(
            "an accepted action has no event",
            events,
            FactChange::Reading(|reading| lose(reading, EventType::ActionAccepted)),
        ),
        mutant(
            "a cancelled action has no event",
            events,
            FactChange::Reading(|reading| lose(reading, EventType::ActionFailed)),
        ),
    ]
}
