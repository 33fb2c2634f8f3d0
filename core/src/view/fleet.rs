//! The fleet, counted.

use crate::domain::retention::unlisted_at;
use crate::domain::transition::{Standing, standing};
use crate::error::Result;
use crate::model::FleetCounts;
use crate::store::fleet::workspaces::{self, EntryRef};
use crate::store::table::Step;
use crate::timestamp::Timestamp;

use super::Reader;

/// The counts as of now, and until when they hold if nothing is written; reads every workspace.
pub(crate) fn counts(reader: &Reader) -> Result<(FleetCounts, Timestamp)> {
    let mut counts = FleetCounts::default();
    let mut until = Timestamp::MAX;
    workspaces::scan_after(&reader.snapshot, None, &mut |entry| {
        until = until.min(changes_at(reader, &entry));
        if let Some(entry) = reader.listed(entry) {
            counts.add(entry.state(), entry.held);
            let [.., protocol, _, _] = entry.values;
            counts.add_properties([
                entry.running_mode(),
                entry.compute_type(),
                entry.region(),
                protocol,
            ]);
            if let Some(running) = entry.transition {
                counts.add_action(running.requested_at);
            }
        }
        Ok(Step::Continue(()))
    })?;
    Ok((counts, until))
}

/// When time alone changes the counts of a workspace.
fn changes_at(reader: &Reader, entry: &EntryRef<'_>) -> Timestamp {
    let later = |time: Timestamp| {
        if time > reader.now {
            time
        } else {
            Timestamp::MAX
        }
    };
    let Some(running) = entry.transition else {
        let unlisted = unlisted_at(entry.state(), entry.state_since, entry.held);
        return unlisted.map_or(Timestamp::MAX, later);
    };
    match standing(running.requested_at, running.due_at, reader.now) {
        Standing::Running => running.due_at.map_or(Timestamp::MAX, later),
        // Such an action restarts at each read until its restart is stored, and an ended one is about to be written.
        Standing::Begun { .. } | Standing::Ended { .. } => reader.now,
    }
}
