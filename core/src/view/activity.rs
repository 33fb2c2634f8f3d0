//! What users did in the last 24 hours.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::limits::ACTIVITY_WINDOW_SECONDS;
use crate::model::{Received, Stream, history_order, without_repetitions};
use crate::store::telemetry::history;
use crate::store::telemetry::queue::Wanted;
use crate::store::telemetry::rows::Rows;
use crate::store::workspaces;

use super::Reader;

/// An activity with the workspace it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct ActivityView {
    /// The activity as posted.
    pub received: Received,
    /// The workspace, where the record names one.
    pub workspace_id: Option<String>,
    /// Its computer.
    pub computer_name: Option<String>,
}

/// The activities filed in (now − 24 h, now], newest first. Wants the queue of [`Stream::Activity`].
pub(crate) fn last_24_hours(reader: &Reader) -> Result<Vec<ActivityView>> {
    let start = reader.now.plus_seconds(-ACTIVITY_WINDOW_SECONDS);
    let within = |received: &Received| received.filed_at > start && received.filed_at <= reader.now;
    let mut records = Vec::new();
    for day in start.day()..=reader.now.day() {
        records.extend(history::day(&reader.snapshot, Stream::Activity, day)?);
    }
    let mut rows = Rows::default();
    reader.add_queued(Wanted::Stream(Stream::Activity), &mut rows)?;
    for row in 0..rows.len() {
        records.push(rows.received(row)?);
    }
    // In the order of arrival still, so that of a repetition the first is kept, wherever that stands.
    let mut records = without_repetitions(&[], records);
    records.retain(within);
    records.sort_by_key(history_order);
    let mut owners = BTreeMap::new();
    let mut views = Vec::with_capacity(records.len());
    for received in records.into_iter().rev() {
        let record = &received.record;
        let names = (
            record.instance_id().to_owned(),
            record.username().to_owned(),
        );
        let (workspace_id, computer_name) = if let Some(owner) = owners.get(&names) {
            Clone::clone(owner)
        } else {
            let owner =
                match workspaces::of_record(&reader.snapshot, record, |entry| reader.lists(entry))?
                {
                    Some(entry) => (Some(entry.workspace.id), entry.workspace.computer_name),
                    None => (None, None),
                };
            owners.insert(names, owner.clone());
            owner
        };
        views.push(ActivityView {
            received,
            workspace_id,
            computer_name,
        });
    }
    Ok(views)
}
