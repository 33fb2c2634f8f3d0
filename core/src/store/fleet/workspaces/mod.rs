//! The workspaces and the two ways to find them by name.
//!
//! `workspaces`: key `workSpId`; value as in [`Entry`]. `workspaces_by_user` and `workspaces_by_computer`: key length-prefixed
//! compare name, then `workSpId`; empty value. `meta`: the same after `ids/`, by the compared form of an id that has another form.

mod entry;

use std::collections::BTreeSet;
use std::ops::Bound;

use crate::error::Result;
use crate::model::identity::{folded, id_key, user_key};

use crate::store::codec::{Decoder, Encoder, damaged};
use crate::store::meta;
use crate::store::table::{ALL_KEYS, KeyRange, Read, Step, Table, Tables, after_key, after_prefix};

pub(crate) use entry::{Entry, EntryRef, Transition};

/// The workspace of that id.
pub(crate) fn get(read: &impl Read, id: &str) -> Result<Option<Entry>> {
    read.get(Table::Workspaces, id.as_bytes(), |value| {
        Ok(EntryRef::decode(id.as_bytes(), value)?.into_entry())
    })
}

/// Calls `read_entry` with the stored form of the workspace with that id.
pub(crate) fn with_entry<R>(
    read: &impl Read,
    id: &str,
    read_entry: impl FnOnce(EntryRef<'_>) -> Result<R>,
) -> Result<Option<R>> {
    read.get(Table::Workspaces, id.as_bytes(), |value| {
        read_entry(EntryRef::decode(id.as_bytes(), value)?)
    })
}

/// Stores or replaces a workspace and updates the indexes.
pub(crate) fn put(tables: &Tables<'_>, entry: &Entry) -> Result<()> {
    tables.fleet_written.set(true);
    if entry.held {
        tables.effects.held.take();
    }
    let id = entry.workspace.id.as_str();
    let old = get(tables, id)?;
    let old_keys = old.as_ref().map(index_keys).unwrap_or_default();
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
    tables.fleet_written.set(true);
    for (table, key) in INDEXES.into_iter().zip(index_keys(entry)) {
        if let Some(key) = key {
            tables.remove(table, &key)?;
        }
    }
    tables.remove(Table::Workspaces, entry.workspace.id.as_bytes())?;
    Ok(())
}

/// Rebuilds the indexes.
pub(in crate::store) fn index_again(tables: &Tables<'_>) -> Result<()> {
    for table in INDEXES {
        tables.clear(table, index_range(table))?;
    }
    scan_after(tables, None, &mut |entry| {
        for (table, key) in INDEXES.into_iter().zip(index_keys(&entry.into_entry())) {
            if let Some(key) = key {
                tables.put(table, &key, &[])?;
            }
        }
        Ok(Step::Continue(()))
    })
}

const INDEXES: [Table; 3] = [
    Table::WorkspacesByUser,
    Table::WorkspacesByComputer,
    Table::Meta,
];

/// The prefix of the keys of the index by ids.
const BY_ID: &[u8] = b"ids/";

/// The keys of an index.
fn index_range(table: Table) -> KeyRange<'static> {
    if table == Table::Meta {
        (Bound::Included(BY_ID), Bound::Excluded(b"ids0"))
    } else {
        ALL_KEYS
    }
}

/// The keys of the entry in [`INDEXES`].
fn index_keys(entry: &Entry) -> [Option<Vec<u8>>; 3] {
    let workspace = &entry.workspace;
    let key = |name: &str| {
        let mut key = index_prefix(name);
        key.extend_from_slice(workspace.id.as_bytes());
        key
    };
    let user = workspace.username.as_deref().map(user_key);
    let computer = workspace.computer_name.as_deref().map(folded);
    let id = id_key(&workspace.id);
    let id = (id != workspace.id).then(|| [BY_ID, &key(&id)].concat());
    [user.as_deref().map(key), computer.as_deref().map(key), id]
}

/// The length comes first, so that no name is a prefix of another.
fn index_prefix(name: &str) -> Vec<u8> {
    let mut encoder = Encoder::default();
    encoder.text(name);
    encoder.finish()
}

/// The ids of the other workspaces whose id has the same compared form as `id`.
pub(crate) fn other_spellings(read: &impl Read, id: &str) -> Result<Vec<String>> {
    let form = id_key(id);
    let mut ids = Vec::new();
    if read.contains(Table::Workspaces, form.as_bytes())? {
        ids.push(form.clone().into_owned());
    }
    let prefix = [BY_ID, &index_prefix(&form)].concat();
    scan_index(read, Table::Meta, &prefix, None, &mut |id| {
        ids.push(id.to_owned());
        Ok(Step::Continue(()))
    })?;
    ids.retain(|other| other != id);
    Ok(ids)
}

/// The ids of the workspaces whose user compares as `user_key`, in order.
pub(crate) fn of_user(read: &impl Read, user_key: &str) -> Result<Vec<String>> {
    ids_at(read, Table::WorkspacesByUser, user_key)
}

/// The ids of the workspaces whose computer has that name, in any case.
pub(crate) fn of_computer(read: &impl Read, name: &str) -> Result<Vec<String>> {
    ids_at(read, Table::WorkspacesByComputer, &folded(name))
}

/// The folded names of computers that several workspaces have.
pub(crate) fn shared_computers(read: &impl Read) -> Result<BTreeSet<String>> {
    let mut shared = BTreeSet::new();
    let mut last = Vec::new();
    read.scan(Table::WorkspacesByComputer, ALL_KEYS, |key, _| {
        let name = Decoder::new(key).text()?;
        if last == name.as_bytes() {
            shared.insert(name.to_owned());
        } else {
            last.clear();
            last.extend_from_slice(name.as_bytes());
        }
        Ok(Step::Continue(()))
    })?;
    Ok(shared)
}

/// Whether several workspaces have a computer of that name, in any case.
pub(crate) fn is_shared_computer(read: &impl Read, name: &str) -> Result<bool> {
    let mut count = 0;
    scan_of_computer(read, name, &mut |_| {
        count += 1;
        Ok(if count < 2 {
            Step::Continue(())
        } else {
            Step::Break(())
        })
    })?;
    Ok(count > 1)
}

fn ids_at(read: &impl Read, table: Table, name: &str) -> Result<Vec<String>> {
    let mut ids = Vec::new();
    scan_index(read, table, &index_prefix(name), None, &mut |id| {
        ids.push(id.to_owned());
        Ok(Step::Continue(()))
    })?;
    Ok(ids)
}

/// Visits the ids of the workspaces whose computer has that name, in any case, in order.
pub(crate) fn scan_of_computer(
    read: &impl Read,
    name: &str,
    visit: &mut dyn FnMut(&str) -> Result<Step>,
) -> Result<()> {
    let prefix = index_prefix(&folded(name));
    scan_index(read, Table::WorkspacesByComputer, &prefix, None, visit)
}

/// Visits the ids of the workspaces whose user compares as `user_key`, those after `after`, in order.
pub(crate) fn scan_of_user(
    read: &impl Read,
    user_key: &str,
    after: Option<&str>,
    visit: &mut dyn FnMut(&str) -> Result<Step>,
) -> Result<()> {
    let prefix = index_prefix(user_key);
    scan_index(read, Table::WorkspacesByUser, &prefix, after, visit)
}

fn scan_index(
    read: &impl Read,
    table: Table,
    prefix: &[u8],
    after: Option<&str>,
    visit: &mut dyn FnMut(&str) -> Result<Step>,
) -> Result<()> {
    let end = after_prefix(prefix);
    let last = after.map(|id| [prefix, id.as_bytes()].concat());
    let start = last
        .as_deref()
        .map_or(Bound::Included(prefix), Bound::Excluded);
    let end = end.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
    read.scan(table, (start, end), |key, _| {
        let id = key.get(prefix.len()..).ok_or_else(damaged)?;
        visit(std::str::from_utf8(id).map_err(|_| damaged())?)
    })
}

/// Visits the workspaces after `after` in the order of their ids.
pub(crate) fn scan_after(
    read: &impl Read,
    after: Option<&str>,
    visit: &mut dyn FnMut(EntryRef<'_>) -> Result<Step>,
) -> Result<()> {
    read.scan(Table::Workspaces, after_key(after), |id, value| {
        visit(EntryRef::decode(id, value)?)
    })
}

/// Checks that every workspace can be read and is in both indexes, and that these have nothing else. For indexes with another
/// folding, which are rebuilt when the file is opened for writing, it only checks the length.
pub(crate) fn verify(read: &impl Read, mut broken: impl FnMut(String)) -> Result<u64> {
    let folded = meta::is_folded(read)?;
    let (mut workspaces, mut expected) = (0, [0_u64; 3]);
    read.scan(Table::Workspaces, ALL_KEYS, |id, value| {
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
                    if folded && !read.contains(table, &key)? {
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
        read.scan(table, index_range(table), |_, _| {
            found += 1;
            Ok(Step::Continue(()))
        })?;
        // The index by ids is newer than the others.
        if found != expected && (folded || table != Table::Meta) {
            broken(format!(
                "{table:?}: {found} entries for {expected} workspaces"
            ));
        }
    }
    Ok(workspaces)
}
