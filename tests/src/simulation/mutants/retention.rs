//! Mutants of retention: under wrong clocks, and under holds.

use std::collections::BTreeSet;

use deskfleet::{Received, Stream, Timestamp};

use super::all::mutant;
use super::{FactChange, Mutant};
use crate::simulation::fact::{Observer, Reading, Upkeep};
use crate::simulation::fleet::same_name;
use crate::simulation::observers::{AuditRows, Records, RightTimes, Sweeping};

const DAY: i64 = 86_400;

/// The users, or the ids and computer names, of the workspaces on hold.
fn held(reading: &Reading, users: bool) -> BTreeSet<String> {
    let views = reading.desks.iter();
    let views = views.filter(|(_, view)| view.litigation_hold.is_some());
    let names = views.flat_map(|(id, view)| {
        let workspace = &view.workspace;
        let names = if users {
            [workspace.username.as_deref(), None]
        } else {
            [Some(*id), workspace.computer_name.as_deref()]
        };
        names.into_iter().flatten()
    });
    names.map(|name| same_name(name).to_owned()).collect()
}

/// Removes the records older than any retention that have one of these names.
fn remove_old(reading: &mut Reading, held: &BTreeSet<String>, name: fn(&Received) -> &str) {
    let oldest = reading.now.plus_seconds(-92 * DAY);
    for records in reading.records.values_mut() {
        records.retain(|received| {
            received.filed_at > oldest || !held.contains(same_name(name(received)))
        });
    }
}

/// Whether a record is filed under its own day.
fn is_in_its_day(received: &Received) -> bool {
    let sent = received.record.sent_time();
    sent.is_some_and(|sent| sent.day() == received.filed_at.day())
}

pub(super) fn about_retention() -> Vec<Mutant> {
    let records = || -> Box<dyn Observer> { Box::new(Records::default()) };
    vec![
        mutant(
            "records of a user of a held workspace are removed",
            records,
            FactChange::Reading(|reading| {
                let users = held(reading, true);
                remove_old(reading, &users, |received| received.record.username());
            }),
        ),
        mutant(
            "records of a held computer are removed",
            records,
            FactChange::Reading(|reading| {
                let instances = held(reading, false);
                remove_old(reading, &instances, |received| {
                    received.record.instance_id()
                });
            }),
        ),
        mutant(
            "a record filed too early is removed before its sent time is old",
            records,
            FactChange::Reading(|reading| {
                let (now, recent) = (reading.now, reading.now.plus_seconds(-29 * DAY));
                let is_recent = |sent: Timestamp| sent > recent && sent < now;
                for records in reading.records.values_mut() {
                    records.retain(|received| {
                        received.filed_at > now.plus_seconds(-32 * DAY)
                            || received.record.stream() != Stream::Stats
                            || !received.record.sent_time().is_some_and(is_recent)
                    });
                }
            }),
        ),
        mutant(
            "audit rows that name a held workspace are removed",
            || Box::new(AuditRows::default()),
            FactChange::Reading(|reading| {
                let instances = held(reading, false);
                let oldest = reading.now.plus_seconds(-366 * DAY);
                reading.audit.retain(|row| {
                    let id = row.workspace_id.as_deref().unwrap_or_default();
                    row.time > oldest || !instances.contains(same_name(id))
                });
            }),
        ),
    ]
}

pub(super) fn about_right_times() -> Vec<Mutant> {
    let dated = || -> Box<dyn Observer> { Box::new(RightTimes::default()) };
    vec![
        mutant(
            "a record with a correct time is filed under the day of its receipt",
            dated,
            FactChange::Reading(|reading| {
                for received in reading.records.values_mut().flatten() {
                    received.filed_at = received.received_at;
                }
            }),
        ),
        mutant(
            "a retry of a record with a correct time is filed under another day",
            dated,
            FactChange::Reading(|reading| {
                for records in reading.records.values_mut() {
                    let last = records.iter().rfind(|received| is_in_its_day(received));
                    records.extend(last.cloned().map(|received| Received {
                        filed_at: received.filed_at.plus_seconds(-60 * DAY),
                        ..received
                    }));
                }
            }),
        ),
        mutant(
            "a record with a correct time is removed early",
            dated,
            FactChange::Reading(|reading| {
                for records in reading.records.values_mut() {
                    records.retain(|received| !is_in_its_day(received));
                }
            }),
        ),
    ]
}

pub(super) fn about_sweeps() -> Vec<Mutant> {
    let sweeping = || -> Box<dyn Observer> { Box::new(Sweeping::default()) };
    vec![
        mutant(
            "retention follows a jump of the clock at once",
            sweeping,
            FactChange::Swept(|how, now, swept| match how {
                Upkeep::Maintained(_) => swept.max(now),
                Upkeep::Opened | Upkeep::Applied(_) => swept,
            }),
        ),
        mutant(
            "retention follows a clock that is behind at once",
            sweeping,
            FactChange::Swept(|how, now, swept| match how {
                Upkeep::Maintained(_) => swept.min(now),
                Upkeep::Opened | Upkeep::Applied(_) => swept,
            }),
        ),
        mutant(
            "a reopened store forgets the last sweep",
            sweeping,
            FactChange::Swept(|how, now, swept| match how {
                Upkeep::Opened => now,
                Upkeep::Maintained(_) | Upkeep::Applied(_) => swept,
            }),
        ),
    ]
}
