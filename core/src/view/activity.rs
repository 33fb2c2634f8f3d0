//! The activities of users in the last 24 hours.

use crate::error::Result;
use crate::limits::ACTIVITY_WINDOW_SECONDS;
use crate::model::{Received, user_key};
use crate::store::fleet::workspaces;
use crate::store::table::Step;
use crate::store::telemetry::Packed;
use crate::store::telemetry::newest::NewestFirst;
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

/// An activity in its stored form, with the workspace it belongs to.
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
    /// The instance and the user of the record before, and the workspace it belongs to.
    known: Option<(String, String, Option<Owner>)>,
}

/// A workspace that records belong to.
#[derive(Debug)]
struct Owner {
    workspace_id: String,
    computer_name: Option<String>,
}

impl Last24Hours {
    pub(crate) fn until(now: Timestamp) -> Self {
        let start = now.plus_seconds(-ACTIVITY_WINDOW_SECONDS);
        Self {
            records: NewestFirst::new((start, now)),
            known: None,
        }
    }

    /// Whether [`Self::load_next`] is needed before the next record.
    pub(crate) fn needs_look(&self) -> bool {
        self.records.needs_look()
    }

    /// Reads the next records. `open` returns a reader that has the queue of activities.
    pub(crate) fn load_next(&mut self, open: impl Fn() -> Result<Reader>) -> Result<()> {
        self.records.load_next(|| {
            let reader = open()?;
            Ok((reader.snapshot, reader.blocks))
        })
    }

    /// The next record; `None` at the end and before [`Self::load_next`].
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
        let (_, _, owner) = self.known.insert(known);
        let owner = owner.as_ref();
        Ok(Some(ActivityRef {
            record,
            workspace_id: owner.map(|owner| owner.workspace_id.as_str()),
            computer_name: owner.and_then(|owner| owner.computer_name.as_deref()),
        }))
    }
}

/// The listed workspace that a record of this instance and user belongs to: the one that the instance names by id or by computer,
/// else the only one of the user.
fn owner(reader: &Reader, (instance, username): (&str, &str)) -> Result<Option<Owner>> {
    let read = &reader.snapshot;
    if let Some(owner) = owner_of_instance(reader, instance)? {
        return Ok(Some(owner));
    }
    let user = user_key(username);
    only_listed(reader, |visit| {
        workspaces::scan_of_user(read, &user, None, visit)
    })
}

/// The listed workspace that an instance names by id, or by a computer that no other has.
fn owner_of_instance(reader: &Reader, instance: &str) -> Result<Option<Owner>> {
    if instance.is_empty() {
        return Ok(None);
    }
    if let Some(owner) = listed(reader, instance)? {
        return Ok(Some(owner));
    }
    only_listed(reader, |visit| {
        workspaces::scan_of_computer(&reader.snapshot, instance, visit)
    })
}

/// The id of the listed workspace that an instance names by id, or by a computer that no other has.
pub(super) fn workspace_of(reader: &Reader, instance: &str) -> Result<Option<String>> {
    let owner = owner_of_instance(reader, instance)?;
    Ok(owner.map(|owner| owner.workspace_id))
}

/// The workspace of that id, if it is listed.
fn listed(reader: &Reader, id: &str) -> Result<Option<Owner>> {
    let found = workspaces::with_entry(&reader.snapshot, id, |entry| {
        Ok(reader.listed(entry).map(|entry| Owner {
            workspace_id: entry.id().to_owned(),
            computer_name: entry.computer_name().map(str::to_owned),
        }))
    })?;
    Ok(found.flatten())
}

/// The only listed one of the workspaces that `scan` visits; `None` if several are listed.
fn only_listed(
    reader: &Reader,
    scan: impl FnOnce(&mut dyn FnMut(&str) -> Result<Step>) -> Result<()>,
) -> Result<Option<Owner>> {
    let mut found = Vec::new();
    scan(&mut |id| {
        found.extend(listed(reader, id)?);
        Ok(if found.len() > 1 {
            Step::Break(())
        } else {
            Step::Continue(())
        })
    })?;
    Ok(found.pop().filter(|_| found.is_empty()))
}
