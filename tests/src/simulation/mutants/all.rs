//! The mutants.

use deskfleet::{AuditResult, WorkspaceView};

use super::attempts::about_attempts;
use super::events::about_events;
use super::retention::{about_retention, about_right_times, about_sweeps};
use super::{FactChange, Mutant};
use crate::simulation::fact::{Ending, Intent, Observer, Reading};
use crate::simulation::observers::{
    Answers, AuditRows, Holds, InOrder, Keys, Lifecycle, OneRowPerAction, Pages, QueueCount,
    Records, Recovery, Secrets, Whole,
};

pub(super) fn mutant(
    about: &'static str,
    observer: fn() -> Box<dyn Observer>,
    change: FactChange,
) -> Mutant {
    Mutant {
        about,
        observer,
        change,
    }
}

fn desk(
    reading: &mut Reading,
    which: impl Fn(&WorkspaceView) -> bool,
) -> Option<&mut WorkspaceView> {
    reading.desks.values_mut().find(|view| which(view))
}

/// Every mutant.
pub fn mutants() -> Vec<Mutant> {
    [
        about_records(),
        about_the_queue(),
        about_the_order_of_receipt(),
        about_actions(),
        about_the_audit(),
        about_events(),
        about_holds(),
        about_attempts(),
        about_keys(),
        about_the_file(),
        about_pages(),
        about_answers(),
        about_retention(),
        about_right_times(),
        about_sweeps(),
    ]
    .concat()
}

fn about_records() -> Vec<Mutant> {
    let records = || -> Box<dyn Observer> { Box::new(Records::default()) };
    vec![
        mutant(
            "a record is lost",
            records,
            FactChange::Reading(|reading| {
                let held = reading.records.values_mut().find(|held| !held.is_empty());
                held.and_then(Vec::pop);
            }),
        ),
        mutant(
            "a record is duplicated",
            records,
            FactChange::Reading(|reading| {
                if let Some(held) = reading.records.values_mut().find(|held| !held.is_empty()) {
                    held.extend(held.last().cloned());
                }
            }),
        ),
        mutant(
            "a record moved to another instance",
            records,
            FactChange::Reading(|reading| {
                let mut lists = reading.records.values_mut().filter(|held| !held.is_empty());
                if let (Some(from), Some(to)) = (lists.next(), lists.next()) {
                    to.splice(0..0, from.pop());
                }
            }),
        ),
        mutant(
            "a refused record is acknowledged",
            records,
            FactChange::Answer(|intent, ending, _| {
                let refused = matches!(ending, Ending::Refused(_) | Ending::Unknown);
                if matches!(intent, Intent::Telemetry(_)) && refused {
                    *ending = Ending::Done;
                }
            }),
        ),
        mutant(
            "a stored record is refused",
            records,
            FactChange::Answer(|intent, ending, _| {
                if matches!(intent, Intent::Telemetry(_)) {
                    *ending = Ending::Refused("QueueFull".to_owned());
                }
            }),
        ),
    ]
}

fn about_the_queue() -> Vec<Mutant> {
    let queue = || -> Box<dyn Observer> { Box::new(QueueCount::default()) };
    vec![
        mutant(
            "the queue counts one too many",
            queue,
            FactChange::Reading(|reading| {
                reading.queued += 1;
            }),
        ),
        mutant(
            "queue/count returns another number",
            queue,
            FactChange::Answer(|intent, _, answer| {
                if *intent == Intent::QueueCount {
                    "123456".clone_into(&mut answer.body);
                }
            }),
        ),
    ]
}

fn about_the_order_of_receipt() -> Vec<Mutant> {
    let in_order = || -> Box<dyn Observer> { Box::new(InOrder::default()) };
    vec![
        mutant(
            "a record does not come in the order of receipt",
            in_order,
            FactChange::Accepted(|numbers| numbers.truncate(numbers.len() / 2)),
        ),
        mutant(
            "a record comes again and again in the order of receipt",
            in_order,
            FactChange::Accepted(|numbers| {
                let first = numbers.first().copied();
                numbers.extend(first.into_iter().flat_map(|first| [first; 8]));
            }),
        ),
    ]
}

fn about_actions() -> Vec<Mutant> {
    let lifecycle = || -> Box<dyn Observer> { Box::new(Lifecycle::default()) };
    let one_row = || -> Box<dyn Observer> { Box::new(OneRowPerAction::default()) };
    vec![
        mutant(
            "an action is missing from the outbox",
            lifecycle,
            FactChange::Reading(|reading| {
                reading.pending.pop();
            }),
        ),
        mutant(
            "a workspace is not in the state of its action",
            lifecycle,
            FactChange::Reading(|reading| {
                if let Some(view) = desk(reading, |view| view.transition.is_some()) {
                    view.workspace.state = Some("AVAILABLE".into());
                }
            }),
        ),
        mutant(
            "an action is accepted in a state that forbids it",
            lifecycle,
            FactChange::Reading(|reading| {
                for row in &mut reading.audit {
                    if row.result != AuditResult::Refused {
                        row.previous_state = Some("SUSPENDED".to_owned());
                    }
                }
            }),
        ),
        mutant(
            "an action has two rows",
            one_row,
            FactChange::Reading(|reading| {
                let row = reading
                    .audit
                    .iter()
                    .find(|row| row.requester.starts_with("call-"));
                reading.audit.extend(row.cloned());
            }),
        ),
        mutant(
            "an action has no row",
            one_row,
            FactChange::Reading(|reading| {
                reading
                    .audit
                    .retain(|row| !row.requester.starts_with("call-"));
            }),
        ),
        mutant(
            "a row has another code",
            one_row,
            FactChange::Reading(|reading| {
                for row in &mut reading.audit {
                    row.detail = Some("Internal".to_owned());
                }
            }),
        ),
    ]
}

fn about_the_audit() -> Vec<Mutant> {
    let rows = || -> Box<dyn Observer> { Box::new(AuditRows::default()) };
    vec![
        mutant(
            "an audit row is missing",
            rows,
            FactChange::Reading(|reading| {
                if reading.audit.len() > 8 {
                    reading.audit.remove(0);
                }
            }),
        ),
        mutant(
            "an audit row changed",
            rows,
            FactChange::Reading(|reading| {
                let rows = reading.audit.len();
                if let Some(first) = reading.audit.first_mut() {
                    first.requester = format!("{rows}");
                }
            }),
        ),
        mutant(
            "an audit number is used twice",
            rows,
            FactChange::Reading(|reading| {
                reading.audit.extend(reading.audit.last().cloned());
            }),
        ),
    ]
}

fn about_holds() -> Vec<Mutant> {
    let holds = || -> Box<dyn Observer> { Box::new(Holds::default()) };
    vec![
        mutant(
            "a hold is missing",
            holds,
            FactChange::Reading(|reading| {
                if let Some(view) = desk(reading, |view| view.litigation_hold.is_some()) {
                    view.litigation_hold = None;
                }
            }),
        ),
        mutant(
            "the list of holds is empty",
            holds,
            FactChange::Reading(|reading| reading.held.clear()),
        ),
        mutant(
            "an action is accepted under hold",
            holds,
            FactChange::Answer(|intent, ending, _| {
                let held = *ending == Ending::Refused("LitigationHold".to_owned());
                if matches!(intent, Intent::Act { .. } | Intent::Remove(_)) && held {
                    *ending = Ending::Done;
                }
            }),
        ),
        mutant(
            "an attempt begins under hold",
            holds,
            FactChange::Answer(|intent, ending, _| {
                let held = *ending == Ending::Refused("LitigationHold".to_owned());
                if matches!(intent, Intent::Dispatch { .. }) && held {
                    *ending = Ending::Done;
                }
            }),
        ),
    ]
}

fn about_keys() -> Vec<Mutant> {
    let keys = || -> Box<dyn Observer> { Box::new(Keys::default()) };
    vec![
        mutant(
            "a revoked key is accepted",
            keys,
            FactChange::Answer(|intent, _, answer| {
                if matches!(intent, Intent::UseKey(_)) && answer.status == 401 {
                    answer.status = 200;
                }
            }),
        ),
        mutant(
            "a valid key is refused",
            keys,
            FactChange::Answer(|intent, _, answer| {
                if matches!(intent, Intent::UseKey(_)) {
                    answer.status = 401;
                }
            }),
        ),
        mutant(
            "a key is missing",
            keys,
            FactChange::Reading(|reading| {
                reading.keys.pop_last();
            }),
        ),
        mutant(
            "a revocation is lost",
            keys,
            FactChange::Reading(|reading| {
                reading
                    .keys
                    .values_mut()
                    .for_each(|revoked| *revoked = false);
            }),
        ),
        mutant(
            "a key is shown again",
            || Box::new(Secrets::default()),
            FactChange::Secret("200"),
        ),
    ]
}

fn about_the_file() -> Vec<Mutant> {
    vec![
        mutant(
            "a page of the file is damaged",
            || Box::new(Whole),
            FactChange::Reading(|reading| {
                reading.check.problems.push("a page is damaged".to_owned());
            }),
        ),
        mutant(
            "the queue's blocks hold another number of records",
            || Box::new(Whole),
            FactChange::Reading(|reading| reading.check.queued_records += 1),
        ),
    ]
}

fn about_pages() -> Vec<Mutant> {
    vec![
        mutant(
            "a page walk misses a workspace",
            || Box::new(Pages::default()),
            FactChange::Answer(|_, _, answer| answer.body = answer.body.replace("ws-2s", "ws-2x")),
        ),
        mutant(
            "a page is larger than its limit",
            || Box::new(Pages::default()),
            FactChange::Answer(|_, _, answer| {
                answer.body = answer
                    .body
                    .replace("\"workSpaces\":[", "\"workSpaces\":[{},{},{},");
            }),
        ),
    ]
}

fn about_answers() -> Vec<Mutant> {
    let answers = || -> Box<dyn Observer> { Box::new(Answers) };
    vec![
        mutant(
            "a 503 has no Retry-After",
            answers,
            FactChange::Answer(|_, _, answer| {
                answer.retry_after = false;
            }),
        ),
        mutant(
            "a problem has no body",
            answers,
            FactChange::Answer(|_, _, answer| {
                answer.body = String::new();
            }),
        ),
        mutant(
            "a call returns 500",
            answers,
            FactChange::Answer(|_, _, answer| answer.status = 500),
        ),
        mutant(
            "writes on a repaired disk are refused",
            || Box::new(Recovery),
            FactChange::Refusing(2),
        ),
    ]
}
