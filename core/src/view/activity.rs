//! What users did in the last 24 hours.

use std::sync::Arc;

use crate::error::Result;
use crate::limits::ACTIVITY_WINDOW_SECONDS;
use crate::model::{Received, Stream};
use crate::store::telemetry::Packed;
use crate::store::telemetry::newest::{NewestFirst, SharedWindows};
use crate::store::workspaces;
use crate::timestamp::Timestamp;

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

/// An activity as it lies in memory, with the workspace it belongs to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ActivityRef<'a> {
    pub(crate) record: Packed<'a>,
    pub(crate) workspace_id: Option<&'a str>,
    pub(crate) computer_name: Option<&'a str>,
}

impl ActivityRef<'_> {
    pub(crate) fn view(&self) -> Result<ActivityView> {
        Ok(ActivityView {
            received: self.record.received()?,
            workspace_id: self.workspace_id.map(str::to_owned),
            computer_name: self.computer_name.map(str::to_owned),
        })
    }
}

/// The activities filed in (now − 24 h, now], newest first. Holds no snapshot: each step is given one.
#[derive(Debug)]
pub(crate) struct Last24Hours {
    records: NewestFirst,
    /// The names in the record before, and whose they are.
    known: Option<(String, String, Owner)>,
}

/// A workspace, if there is one, and its computer.
type Owner = (Option<String>, Option<String>);

impl Last24Hours {
    pub(crate) fn until(now: Timestamp, shared: &Arc<SharedWindows>) -> Self {
        let start = now.plus_seconds(-ACTIVITY_WINDOW_SECONDS);
        Self {
            records: NewestFirst::new(Stream::Activity, (start, now), shared),
            known: None,
        }
    }

    /// Whether [`Self::look`] is needed before the next record.
    pub(crate) fn needs_look(&self) -> bool {
        self.records.needs_look()
    }

    /// Looks for the next records. `open` gives a reader that has the queue of [`Stream::Activity`].
    pub(crate) fn look(&mut self, open: impl Fn() -> Result<Reader>) -> Result<()> {
        self.records.look(|| {
            let reader = open()?;
            let blocks = reader.blocks.iter().map(|block| block.number);
            let blocks = blocks.collect();
            Ok((reader.snapshot, blocks))
        })
    }

    /// The next record; `None` at the end and where [`Self::look`] is needed first.
    pub(crate) fn take_next(&mut self, reader: &Reader) -> Result<Option<ActivityRef<'_>>> {
        let Some(record) = self.records.take_next() else {
            return Ok(None);
        };
        let names = record.origin()?;
        let names = (names.instance, names.username);
        // Desktops post several activities of one user in a row.
        let known = self.known.take();
        let known = known.filter(|(instance, username, _)| (&**instance, &**username) == names);
        let known = match known {
            Some(known) => known,
            None => (
                names.0.to_owned(),
                names.1.to_owned(),
                owner(reader, names)?,
            ),
        };
        let (_, _, (workspace_id, computer_name)) = self.known.insert(known);
        Ok(Some(ActivityRef {
            record,
            workspace_id: workspace_id.as_deref(),
            computer_name: computer_name.as_deref(),
        }))
    }
}

/// The listed workspace of these names.
fn owner(reader: &Reader, names: (&str, &str)) -> Result<Owner> {
    let found = workspaces::of_names(&reader.snapshot, names, |entry| {
        let computer = || entry.computer_name().map(str::to_owned);
        let listed = reader.lists(&entry);
        listed.then(|| (entry.id().to_owned(), computer()))
    })?;
    Ok(found.map_or((None, None), |(id, computer)| (Some(id), computer)))
}
