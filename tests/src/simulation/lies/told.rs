//! The lies that are told.

use deskfleet::{AuditResult, WorkspaceView};

use super::kept::{about_retention, about_right_times, about_sweeps};
use super::{Falsehood, Lie};
use crate::simulation::fact::{Ending, Intent, Observer, Reading};
use crate::simulation::observers::{
    Answers, AuditRows, Holds, Keys, Lifecycle, OneRowPerAction, Pages, QueueCount, Records,
    Recovery, Secrets, Whole,
};

pub(super) fn lie(
    about: &'static str,
    observer: fn() -> Box<dyn Observer>,
    falsehood: Falsehood,
) -> Lie {
    Lie {
        about,
        observer,
        falsehood,
    }
}

fn desk(
    reading: &mut Reading,
    which: impl Fn(&WorkspaceView) -> bool,
) -> Option<&mut WorkspaceView> {
    reading.desks.values_mut().find(|view| which(view))
}

/// Every lie.
pub fn lies() -> Vec<Lie> {
    [
        about_records(),
        about_the_queue(),
        about_actions(),
        about_the_audit(),
        about_holds(),
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

fn about_records() -> Vec<Lie> {
    let records = || -> Box<dyn Observer> { Box::new(Records::default()) };
    vec![
        lie(
            "a record is lost",
            records,
            Falsehood::Reading(|reading| {
                let held = reading.records.values_mut().find(|held| !held.is_empty());
                held.and_then(Vec::pop);
            }),
        ),
        lie(
            "a record is there twice",
            records,
            Falsehood::Reading(|reading| {
                if let Some(held) = reading.records.values_mut().find(|held| !held.is_empty()) {
                    held.extend(held.last().cloned());
                }
            }),
        ),
        lie(
            "a record moved to another instance",
            records,
            Falsehood::Reading(|reading| {
                let mut lists = reading.records.values_mut().filter(|held| !held.is_empty());
                if let (Some(from), Some(to)) = (lists.next(), lists.next()) {
                    to.splice(0..0, from.pop());
                }
            }),
        ),
        lie(
            "what was not stored was acknowledged",
            records,
            Falsehood::Answer(|intent, ending, _| {
                let refused = matches!(ending, Ending::Refused(_) | Ending::Unknown);
                if matches!(intent, Intent::Telemetry(_)) && refused {
                    *ending = Ending::Done;
                }
            }),
        ),
        lie(
            "what was stored was refused",
            records,
            Falsehood::Answer(|intent, ending, _| {
                if matches!(intent, Intent::Telemetry(_)) {
                    *ending = Ending::Refused("QueueFull".to_owned());
                }
            }),
        ),
    ]
}

fn about_the_queue() -> Vec<Lie> {
    let queue = || -> Box<dyn Observer> { Box::new(QueueCount::default()) };
    vec![
        lie(
            "the queue counts one too many",
            queue,
            Falsehood::Reading(|reading| {
                reading.queued += 1;
            }),
        ),
        lie(
            "queue/count answers another number",
            queue,
            Falsehood::Answer(|intent, _, answer| {
                if *intent == Intent::QueueCount {
                    "123456".clone_into(&mut answer.body);
                }
            }),
        ),
    ]
}

fn about_actions() -> Vec<Lie> {
    let lifecycle = || -> Box<dyn Observer> { Box::new(Lifecycle::default()) };
    let one_row = || -> Box<dyn Observer> { Box::new(OneRowPerAction::default()) };
    vec![
        lie(
            "the outbox lost an action",
            lifecycle,
            Falsehood::Reading(|reading| {
                reading.pending.pop();
            }),
        ),
        lie(
            "a workspace is not in its action's state",
            lifecycle,
            Falsehood::Reading(|reading| {
                if let Some(view) = desk(reading, |view| view.transition.is_some()) {
                    view.workspace.state = Some("AVAILABLE".to_owned());
                }
            }),
        ),
        lie(
            "an action went from a state it may not",
            lifecycle,
            Falsehood::Reading(|reading| {
                for row in &mut reading.audit {
                    if row.result != AuditResult::Refused {
                        row.previous_state = Some("SUSPENDED".to_owned());
                    }
                }
            }),
        ),
        lie(
            "an action has two rows",
            one_row,
            Falsehood::Reading(|reading| {
                let row = reading
                    .audit
                    .iter()
                    .find(|row| row.requester.starts_with("call-"));
                reading.audit.extend(row.cloned());
            }),
        ),
        lie(
            "an action has no row",
            one_row,
            Falsehood::Reading(|reading| {
                reading
                    .audit
                    .retain(|row| !row.requester.starts_with("call-"));
            }),
        ),
        lie(
            "a row says another code",
            one_row,
            Falsehood::Reading(|reading| {
                for row in &mut reading.audit {
                    row.detail = Some("Internal".to_owned());
                }
            }),
        ),
    ]
}

fn about_the_audit() -> Vec<Lie> {
    let rows = || -> Box<dyn Observer> { Box::new(AuditRows::default()) };
    vec![
        lie(
            "a row of the audit is gone",
            rows,
            Falsehood::Reading(|reading| {
                if reading.audit.len() > 8 {
                    reading.audit.remove(0);
                }
            }),
        ),
        lie(
            "a row of the audit changed",
            rows,
            Falsehood::Reading(|reading| {
                let rows = reading.audit.len();
                if let Some(first) = reading.audit.first_mut() {
                    first.requester = format!("{rows}");
                }
            }),
        ),
        lie(
            "a number of the audit was given out twice",
            rows,
            Falsehood::Reading(|reading| {
                reading.audit.extend(reading.audit.last().cloned());
            }),
        ),
    ]
}

fn about_holds() -> Vec<Lie> {
    let holds = || -> Box<dyn Observer> { Box::new(Holds::default()) };
    vec![
        lie(
            "a hold is gone",
            holds,
            Falsehood::Reading(|reading| {
                if let Some(view) = desk(reading, |view| view.litigation_hold.is_some()) {
                    view.litigation_hold = None;
                }
            }),
        ),
        lie(
            "the list of holds is empty",
            holds,
            Falsehood::Reading(|reading| reading.held.clear()),
        ),
        lie(
            "an action is accepted under hold",
            holds,
            Falsehood::Answer(|intent, ending, _| {
                let held = *ending == Ending::Refused("LitigationHold".to_owned());
                if matches!(intent, Intent::Act { .. } | Intent::Remove(_)) && held {
                    *ending = Ending::Done;
                }
            }),
        ),
    ]
}

fn about_keys() -> Vec<Lie> {
    let keys = || -> Box<dyn Observer> { Box::new(Keys::default()) };
    vec![
        lie(
            "a revoked key opens",
            keys,
            Falsehood::Answer(|intent, _, answer| {
                if matches!(intent, Intent::UseKey(_)) && answer.status == 401 {
                    answer.status = 200;
                }
            }),
        ),
        lie(
            "a good key does not open",
            keys,
            Falsehood::Answer(|intent, _, answer| {
                if matches!(intent, Intent::UseKey(_)) {
                    answer.status = 401;
                }
            }),
        ),
        lie(
            "a key is gone",
            keys,
            Falsehood::Reading(|reading| {
                reading.keys.pop_last();
            }),
        ),
        lie(
            "a revocation is taken back",
            keys,
            Falsehood::Reading(|reading| {
                reading
                    .keys
                    .values_mut()
                    .for_each(|revoked| *revoked = false);
            }),
        ),
        lie(
            "a key is told again",
            || Box::new(Secrets::default()),
            Falsehood::Secret("200"),
        ),
    ]
}

fn about_the_file() -> Vec<Lie> {
    vec![
        lie(
            "a page of the file is damaged",
            || Box::new(Whole),
            Falsehood::Reading(|reading| {
                reading.check.problems.push("a page is damaged".to_owned());
            }),
        ),
        lie(
            "the queue's blocks hold another number",
            || Box::new(Whole),
            Falsehood::Reading(|reading| reading.check.queued_records += 1),
        ),
    ]
}

fn about_pages() -> Vec<Lie> {
    vec![
        lie(
            "a walk misses a workspace",
            || Box::new(Pages::default()),
            Falsehood::Answer(|_, _, answer| answer.body = answer.body.replace("ws-2s", "ws-2x")),
        ),
        lie(
            "a page is larger than asked for",
            || Box::new(Pages::default()),
            Falsehood::Answer(|_, _, answer| {
                answer.body = answer
                    .body
                    .replace("\"workSpaces\":[", "\"workSpaces\":[{},{},{},");
            }),
        ),
    ]
}

fn about_answers() -> Vec<Lie> {
    let answers = || -> Box<dyn Observer> { Box::new(Answers) };
    vec![
        lie(
            "a full disk does not say when",
            answers,
            Falsehood::Answer(|_, _, answer| {
                answer.retry_after = false;
            }),
        ),
        lie(
            "a problem has no body",
            answers,
            Falsehood::Answer(|_, _, answer| {
                answer.body = String::new();
            }),
        ),
        lie(
            "an answer of 500",
            answers,
            Falsehood::Answer(|_, _, answer| answer.status = 500),
        ),
        lie(
            "writes stay refused",
            || Box::new(Recovery),
            Falsehood::Refusing(2),
        ),
    ]
}
