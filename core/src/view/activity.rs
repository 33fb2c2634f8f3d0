//! What users did in the last 24 hours.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::error::Result;
use crate::limits::ACTIVITY_WINDOW_SECONDS;
use crate::model::{Received, Stream};
use crate::store::telemetry::history;
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
    let stream = Stream::Activity;
    let start = reader.now.plus_seconds(-ACTIVITY_WINDOW_SECONDS);
    let mut rows = Rows::default();
    reader.add_queued(&mut rows, |rows, row| rows.stream(row) == stream)?;
    let fresh = history::fresh(&reader.snapshot, &mut rows)?;
    let filed = rows.len();
    for day in start.day()..=reader.now.day() {
        history::add_day(
            &reader.snapshot,
            stream,
            day,
            (start, reader.now),
            &mut rows,
        )?;
    }
    let mut order = rows.all();
    order.drain(..filed);
    order.extend(fresh);
    order.retain(|row| {
        let filed_at = rows.filed_at(*row as usize);
        filed_at > start && filed_at <= reader.now
    });
    order.sort_by_key(|row| rows.order(*row as usize));
    let mut owners: BTreeMap<(&str, &str), Owner> = BTreeMap::new();
    let mut views = Vec::with_capacity(order.len());
    for row in order.into_iter().rev().map(|row| row as usize) {
        let names = (rows.instance_id(row), rows.username(row));
        let (workspace_id, computer_name) = match owners.entry(names) {
            Entry::Occupied(known) => known.get().clone(),
            Entry::Vacant(unknown) => unknown.insert(owner(reader, names)?).clone(),
        };
        views.push(ActivityView {
            received: rows.received(row)?,
            workspace_id,
            computer_name,
        });
    }
    Ok(views)
}

/// A workspace, if there is one, and its computer.
type Owner = (Option<String>, Option<String>);

/// The listed workspace of these names.
fn owner(reader: &Reader, names: (&str, &str)) -> Result<Owner> {
    let found = workspaces::of_names(&reader.snapshot, names, |entry| {
        let computer = || entry.computer_name().map(str::to_owned);
        let listed = reader.lists(&entry);
        listed.then(|| (entry.id().to_owned(), computer()))
    })?;
    Ok(found.map_or((None, None), |(id, computer)| (Some(id), computer)))
}
