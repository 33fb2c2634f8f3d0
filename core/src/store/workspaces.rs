//! The workspaces and the two ways to find them by name.
//!
//! `workspaces`: key `workSpId`; value below. `workspaces_by_user` and `workspaces_by_computer`: key length-prefixed
//! compare name, then `workSpId`; empty value.
//!
//! Value: flags (1 transition, 2 held); time since the state holds; nine optional texts in the order of the interface;
//! then, with flag 1, the transition.

use std::ops::Bound;

use crate::error::Result;
use crate::model::{Action, Record, State, Workspace, user_key};
use crate::timestamp::Timestamp;

use super::codec::{Decoder, Encoder, damaged};
use super::table::{Read, Step, Table, Tables, after_prefix, within_prefix};

const TRANSITION: u8 = 1;
const HELD: u8 = 2;

/// An accepted action that has not ended, as stored with its workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Transition {
    /// Number of the action and of its audit row.
    pub(crate) id: u64,
    pub(crate) action: Action,
    pub(crate) requested_at: Timestamp,
    /// `None`: only the host ends it.
    pub(crate) due_at: Option<Timestamp>,
    /// The state it ends in.
    pub(crate) outcome: State,
    /// The new compute type it ends with.
    pub(crate) compute_type: Option<String>,
}

/// A workspace as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) workspace: Workspace,
    /// Since when `workspace.state` holds.
    pub(crate) state_since: Timestamp,
    pub(crate) held: bool,
    pub(crate) transition: Option<Transition>,
}

/// A workspace as it lies in the file; nothing is copied.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EntryRef<'a> {
    /// In the order of [`Workspace::FIELDS`].
    pub(crate) values: [Option<&'a str>; Workspace::FIELDS.len()],
    pub(crate) state_since: Timestamp,
    pub(crate) held: bool,
    pub(crate) transition: Option<TransitionRef<'a>>,
}

/// A transition as it lies in the file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TransitionRef<'a> {
    pub(crate) id: u64,
    pub(crate) action: Action,
    pub(crate) requested_at: Timestamp,
    pub(crate) due_at: Option<Timestamp>,
    pub(crate) outcome: State,
    pub(crate) compute_type: Option<&'a str>,
}

impl TransitionRef<'_> {
    pub(crate) fn into_transition(self) -> Transition {
        Transition {
            id: self.id,
            action: self.action,
            requested_at: self.requested_at,
            due_at: self.due_at,
            outcome: self.outcome,
            compute_type: self.compute_type.map(str::to_owned),
        }
    }
}

impl<'a> EntryRef<'a> {
    /// Reads the value stored at the key `id`.
    pub(crate) fn decode(id: &'a [u8], value: &'a [u8]) -> Result<Self> {
        let mut decoder = Decoder::new(value);
        let flags = decoder.u8()?;
        let state_since = decoder.time()?;
        let mut values = [None; Workspace::FIELDS.len()];
        let (first, rest) = values.split_first_mut().ok_or_else(damaged)?;
        *first = Some(std::str::from_utf8(id).map_err(|_| damaged())?);
        for field in rest {
            *field = decoder.option_text()?;
        }
        let transition = if flags & TRANSITION == 0 {
            None
        } else {
            Some(decode_transition(&mut decoder)?)
        };
        decoder.end()?;
        Ok(Self {
            values,
            state_since,
            held: flags & HELD != 0,
            transition,
        })
    }

    /// The entry as it stands at `now`: a transition that is due by then has ended.
    pub(crate) fn as_of(mut self, now: Timestamp) -> Self {
        if let Some(transition) = self.transition
            && let Some(due_at) = transition.due_at.filter(|due_at| *due_at <= now)
        {
            let [.., compute_type, _, _, state] = &mut self.values;
            *state = Some(transition.outcome.as_str());
            *compute_type = transition.compute_type.or(*compute_type);
            self.state_since = due_at;
            self.transition = None;
        }
        self
    }

    /// `workSpId`.
    pub(crate) fn id(&self) -> &'a str {
        let [id, ..] = self.values;
        id.unwrap_or_default()
    }

    /// `state`.
    pub(crate) fn state(&self) -> Option<&'a str> {
        let [.., state] = self.values;
        state
    }

    pub(crate) fn into_entry(self) -> Entry {
        let mut workspace = Workspace::default();
        let [id, rest @ ..] = self.values;
        id.unwrap_or_default().clone_into(&mut workspace.id);
        for (field, value) in workspace.optional_mut().into_iter().zip(rest) {
            *field = value.map(str::to_owned);
        }
        Entry {
            workspace,
            state_since: self.state_since,
            held: self.held,
            transition: self.transition.map(TransitionRef::into_transition),
        }
    }
}

fn decode_transition<'a>(decoder: &mut Decoder<'a>) -> Result<TransitionRef<'a>> {
    Ok(TransitionRef {
        id: decoder.varint()?,
        action: pick(Action::ALL, decoder.u8()?)?,
        requested_at: decoder.time()?,
        due_at: decoder.option_time()?,
        outcome: pick(State::ALL, decoder.u8()?)?,
        compute_type: decoder.option_text()?,
    })
}

fn pick<T: Copy>(all: &[T], number: u8) -> Result<T> {
    all.get(usize::from(number)).copied().ok_or_else(damaged)
}

fn number_of<T: PartialEq>(all: &[T], value: &T) -> u8 {
    let position = all.iter().position(|each| each == value);
    position
        .and_then(|at| u8::try_from(at).ok())
        .unwrap_or(u8::MAX)
}

impl Entry {
    /// When the running action was due, if that was by `now`.
    pub(crate) fn due_by(&self, now: Timestamp) -> Option<Timestamp> {
        self.transition
            .as_ref()?
            .due_at
            .filter(|due_at| *due_at <= now)
    }

    fn encode(&self) -> Vec<u8> {
        let mut encoder = Encoder::default();
        let mut flags = 0;
        if self.transition.is_some() {
            flags |= TRANSITION;
        }
        if self.held {
            flags |= HELD;
        }
        encoder.u8(flags);
        encoder.time(self.state_since);
        for value in self.workspace.values().into_iter().skip(1) {
            encoder.option_text(value);
        }
        if let Some(transition) = &self.transition {
            encoder.varint(transition.id);
            encoder.u8(number_of(Action::ALL, &transition.action));
            encoder.time(transition.requested_at);
            encoder.option_time(transition.due_at);
            encoder.u8(number_of(State::ALL, &transition.outcome));
            encoder.option_text(transition.compute_type.as_deref());
        }
        encoder.finish()
    }
}

/// The workspace of that id.
pub(crate) fn get(read: &impl Read, id: &str) -> Result<Option<Entry>> {
    read.get(Table::Workspaces, id.as_bytes(), |value| {
        Ok(EntryRef::decode(id.as_bytes(), value)?.into_entry())
    })
}

/// Calls `read_entry` with the workspace of that id as it lies in the file.
pub(crate) fn with<R>(
    read: &impl Read,
    id: &str,
    read_entry: impl FnOnce(EntryRef<'_>) -> Result<R>,
) -> Result<Option<R>> {
    read.get(Table::Workspaces, id.as_bytes(), |value| {
        read_entry(EntryRef::decode(id.as_bytes(), value)?)
    })
}

/// The workspace a record belongs to: the one its instance names by id or by computer, else the only one of its user.
pub(crate) fn of_record(read: &impl Read, record: &Record) -> Result<Option<Entry>> {
    let instance = record.instance_id();
    if !instance.is_empty() {
        if let Some(entry) = get(read, instance)? {
            return Ok(Some(entry));
        }
        if let [id] = of_computer(read, instance)?.as_slice() {
            return get(read, id);
        }
    }
    match of_user(read, &user_key(record.username()))?.as_slice() {
        [id] => get(read, id),
        _ => Ok(None),
    }
}

/// Stores a workspace over what is there and keeps the indexes true.
pub(crate) fn put(tables: &Tables<'_>, entry: &Entry) -> Result<()> {
    let id = entry.workspace.id.as_str();
    let old = get(tables, id)?;
    let old_keys = old.as_ref().map_or([None, None], index_keys);
    for ((table, old), new) in INDEXES.into_iter().zip(old_keys).zip(index_keys(entry)) {
        if old == new {
            continue;
        }
        if let Some(old) = old {
            tables.remove(table, &old)?;
        }
        if let Some(new) = new {
            tables.put(table, &new, &[])?;
        }
    }
    tables.put(Table::Workspaces, id.as_bytes(), &entry.encode())
}

/// Removes a workspace and its index entries.
pub(crate) fn remove(tables: &Tables<'_>, entry: &Entry) -> Result<()> {
    for (table, key) in INDEXES.into_iter().zip(index_keys(entry)) {
        if let Some(key) = key {
            tables.remove(table, &key)?;
        }
    }
    tables.remove(Table::Workspaces, entry.workspace.id.as_bytes())?;
    Ok(())
}

const INDEXES: [Table; 2] = [Table::WorkspacesByUser, Table::WorkspacesByComputer];

/// The keys of the entry in [`INDEXES`].
fn index_keys(entry: &Entry) -> [Option<Vec<u8>>; 2] {
    let workspace = &entry.workspace;
    let key = |name: String| {
        let mut key = index_prefix(&name);
        key.extend_from_slice(workspace.id.as_bytes());
        key
    };
    let user = workspace.username.as_deref().map(user_key);
    let computer = workspace.computer_name.as_deref().map(str::to_lowercase);
    [user.map(key), computer.map(key)]
}

/// The length stands first, so that no name is a prefix of another.
fn index_prefix(name: &str) -> Vec<u8> {
    let mut encoder = Encoder::default();
    encoder.text(name);
    encoder.finish()
}

/// The ids of the workspaces whose user compares as `user_key`, in order.
pub(crate) fn of_user(read: &impl Read, user_key: &str) -> Result<Vec<String>> {
    ids_at(read, Table::WorkspacesByUser, user_key)
}

/// The ids of the workspaces whose computer has that name, in any case.
pub(crate) fn of_computer(read: &impl Read, name: &str) -> Result<Vec<String>> {
    ids_at(read, Table::WorkspacesByComputer, &name.to_lowercase())
}

fn ids_at(read: &impl Read, table: Table, name: &str) -> Result<Vec<String>> {
    let prefix = index_prefix(name);
    let end = after_prefix(&prefix);
    let mut ids = Vec::new();
    read.scan(table, within_prefix(&prefix, &end), |key, _| {
        let id = key.get(prefix.len()..).ok_or_else(damaged)?;
        ids.push(std::str::from_utf8(id).map_err(|_| damaged())?.to_owned());
        Ok(Step::Continue(()))
    })?;
    Ok(ids)
}

/// Visits the workspaces behind `after` in the order of their ids.
pub(crate) fn scan_after(
    read: &impl Read,
    after: Option<&str>,
    mut visit: impl FnMut(EntryRef<'_>) -> Result<Step>,
) -> Result<()> {
    let start = after.map_or(Bound::Unbounded, |id| Bound::Excluded(id.as_bytes()));
    read.scan(Table::Workspaces, (start, Bound::Unbounded), |id, value| {
        visit(EntryRef::decode(id, value)?)
    })
}

/// Checks that every workspace can be read and stands in both indexes, and that these hold nothing else.
pub(crate) fn verify(read: &impl Read, mut broken: impl FnMut(String)) -> Result<u64> {
    let (mut workspaces, mut expected) = (0, [0_u64; 2]);
    read.scan(Table::Workspaces, super::table::ALL_KEYS, |id, value| {
        workspaces += 1;
        match EntryRef::decode(id, value).map(EntryRef::into_entry) {
            Ok(entry) => {
                let keys = INDEXES
                    .into_iter()
                    .zip(index_keys(&entry))
                    .zip(&mut expected);
                for ((table, key), expected) in keys {
                    let Some(key) = key else { continue };
                    *expected += 1;
                    if !read.contains(table, &key)? {
                        broken(format!(
                            "workspace {}: missing from {table:?}",
                            entry.workspace.id
                        ));
                    }
                }
                let hold = read.contains(Table::Holds, id)?;
                if hold != entry.held {
                    broken(format!(
                        "workspace {}: hold and workspace disagree",
                        entry.workspace.id
                    ));
                }
            }
            Err(error) => broken(format!(
                "workspace {}: {error}",
                String::from_utf8_lossy(id)
            )),
        }
        Ok(Step::Continue(()))
    })?;
    for (table, expected) in INDEXES.into_iter().zip(expected) {
        let mut found = 0;
        read.scan(table, super::table::ALL_KEYS, |_, _| {
            found += 1;
            Ok(Step::Continue(()))
        })?;
        if found != expected {
            broken(format!(
                "{table:?}: {found} entries for {expected} workspaces"
            ));
        }
    }
    Ok(workspaces)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_survives() {
        let entry = Entry {
            workspace: Workspace {
                id: "ws-1".into(),
                username: Some(String::new()),
                state: Some("UPDATING".into()),
                ..Workspace::default()
            },
            state_since: Timestamp::MIN,
            held: true,
            transition: Some(Transition {
                id: u64::MAX,
                action: Action::ChangeComputeType,
                requested_at: Timestamp::MAX,
                due_at: None,
                outcome: State::Error,
                compute_type: Some("POWER".into()),
            }),
        };
        let bytes = entry.encode();
        assert_eq!(
            EntryRef::decode(b"ws-1", &bytes).unwrap().into_entry(),
            entry
        );
        for length in 0..bytes.len() {
            assert!(EntryRef::decode(b"ws-1", &bytes[..length]).is_err());
        }
    }
}
