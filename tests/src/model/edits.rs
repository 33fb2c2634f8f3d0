//! What the reference makes of puts and imports.

use deskfleet::{
    AuditAction, AuditResult, ErrorKind, Nullable, State, Timestamp, Workspace, WorkspacePatch,
};

use super::audit::Row;
use super::fleet::Fleet;
use super::op::NewDesk;
use super::rules::Entry;
use super::{World, same, workspace};

/// How workspaces are stored.
pub(super) enum How {
    One,
    Override,
    Many,
    Import,
}

/// The change that sets what the workspace has.
fn patch(workspace: &Workspace) -> WorkspacePatch {
    fn set<T: Clone + Into<String>>(value: Option<&T>) -> Nullable<String> {
        value.map_or(Nullable::Absent, |value| {
            Nullable::Value(value.clone().into())
        })
    }
    WorkspacePatch {
        id: Nullable::Value(workspace.id.clone()),
        computer_name: set(workspace.computer_name.as_ref()),
        running_mode: set(workspace.running_mode.as_ref()),
        compute_type_name: set(workspace.compute_type_name.as_ref()),
        username: set(workspace.username.as_ref()),
        state: set(workspace.state.as_ref()),
        ..WorkspacePatch::default()
    }
}

impl World {
    /// Stores one or several workspaces; not where the contract leaves open what a repeated put means.
    pub(super) fn put(&mut self, new: &[NewDesk], how: &How) {
        let same_desk = |left: &NewDesk, right: &NewDesk| left.desk.value() == right.desk.value();
        let twice = new
            .iter()
            .enumerate()
            .any(|(index, left)| new[..index].iter().any(|right| same_desk(left, right)));
        if twice || new.iter().any(|new| self.fleet.unclear(*new)) {
            return;
        }
        let mut all: Vec<_> = new.iter().copied().map(workspace).collect();
        let (engine, fleet, now) = (&self.engine, &mut self.fleet, self.now);
        match how {
            How::One | How::Override => {
                let one = all.remove(0);
                let cancels = matches!(how, How::Override);
                let expected = fleet.put(one.clone(), cancels, now);
                let found = if cancels {
                    engine.override_workspace(one)
                } else {
                    engine.put_workspace(one)
                };
                same(found, expected);
            }
            How::Many => {
                let count = all.len() as u64;
                let expected = fleet.put_all(all.clone(), now);
                let found = same(engine.put_workspaces(all), expected);
                assert!(found.is_none_or(|found| found == count));
            }
            How::Import => {
                let patches = all.iter().map(patch);
                let report = engine.import_workspaces(patches).expect("a good disk");
                let rejected = report.errors.len() as u64;
                let applied = fleet.import(all, now);
                assert_eq!((report.upserted, report.rejected), (applied, rejected));
            }
        }
    }
}

/// A record to store, and whether what it leaves out is null; else that stays as it is.
#[derive(Debug, Clone)]
pub(crate) struct Edit {
    pub(crate) workspace: Workspace,
    pub(crate) replaces: bool,
}

impl Edit {
    /// What is stored over `old`. A replacement without a state leaves that of a running action alone.
    fn over(&self, old: Option<&Entry>) -> Workspace {
        let mut new = self.workspace.clone();
        let Some(old) = old else { return new };
        let kept = &old.workspace;
        if new.state.is_none() && (!self.replaces || old.running.is_some()) {
            new.state.clone_from(&kept.state);
        }
        if !self.replaces {
            new.username = new.username.or_else(|| kept.username.clone());
            new.computer_name = new.computer_name.or_else(|| kept.computer_name.clone());
            new.running_mode = new.running_mode.or_else(|| kept.running_mode.clone());
            new.compute_type_name = new
                .compute_type_name
                .or_else(|| kept.compute_type_name.clone());
        }
        new
    }
}

/// Why `new` may not be stored over `old`.
fn refusal(old: &Entry, new: &Workspace, cancels: bool) -> Option<ErrorKind> {
    let same_name = |field: fn(&Workspace) -> Option<&str>| {
        let [old, new] = [&old.workspace, new].map(|of| field(of).map(str::to_lowercase));
        old == new
    };
    let other_state = old.workspace.state != new.state;
    if old.running.is_some() && other_state && !cancels {
        return Some(ErrorKind::OperationInProgress);
    }
    let same_identity = same_name(|of| of.username.as_deref())
        && same_name(|of| of.computer_name.as_deref())
        && same_name(|of| of.directory_id.as_deref());
    let terminates = other_state && new.state == Some(State::Terminated.into());
    (old.held && (!same_identity || terminates)).then_some(ErrorKind::LitigationHold)
}

impl Fleet {
    /// Puts one record, with its audit row; `cancels`: also over the state of a running action.
    pub(crate) fn put(
        &mut self,
        workspace: Workspace,
        cancels: bool,
        now: Timestamp,
    ) -> Result<(), ErrorKind> {
        let edit = Edit {
            workspace,
            replaces: true,
        };
        let id = edit.workspace.id.clone();
        let old = self.desks.get(&id);
        let new = edit.over(old);
        let refused = old.and_then(|old| refusal(old, &new, cancels));
        if old.is_some_and(|old| old.workspace == new) {
            let row = Row::open(now, AuditAction::UpdateWorkspace, AuditResult::NoChange);
            let (whose, state) = (whose(&new), new.state.clone().map(String::from));
            self.add_row(Row {
                workspace: Some(Some(id)),
                whose: Some(whose),
                previous: Some(state),
                detail: Some(None),
                ..row
            });
        } else {
            self.changed(&id, now, AuditAction::UpdateWorkspace, refused)?;
        }
        self.store(new, now);
        Ok(())
    }

    /// Stores all records or, where one may not be stored, none.
    pub(crate) fn put_all(&mut self, all: Vec<Workspace>, now: Timestamp) -> Result<(), ErrorKind> {
        let edits = all.into_iter().map(|workspace| Edit {
            workspace,
            replaces: true,
        });
        let edits: Vec<_> = edits.collect();
        for edit in &edits {
            let old = self.desks.get(&edit.workspace.id);
            if let Some(kind) = old.and_then(|old| refusal(old, &edit.over(Some(old)), false)) {
                return Err(kind);
            }
        }
        for edit in edits {
            self.edit(&edit, now);
        }
        Ok(())
    }

    /// Imports the records; returns how many were applied.
    pub(crate) fn import(&mut self, all: Vec<Workspace>, now: Timestamp) -> u64 {
        let mut counts = [0_u64; 3];
        for workspace in all {
            let edit = Edit {
                workspace,
                replaces: false,
            };
            let old = self.desks.get(&edit.workspace.id);
            let refused =
                old.is_some_and(|old| refusal(old, &edit.over(Some(old)), false).is_some());
            let count = if refused {
                2
            } else {
                usize::from(old.is_some())
            };
            counts[count] += 1;
            if !refused {
                self.edit(&edit, now);
            }
        }
        let [created, updated, rejected] = counts;
        let detail = format!("{created} created, {updated} updated, {rejected} rejected");
        let row = Row::open(now, AuditAction::ImportWorkspaces, AuditResult::Completed);
        self.audit.push(Row {
            workspace: Some(None),
            detail: Some(Some(detail)),
            ..row
        });
        created + updated
    }

    /// Stores a record of many, with an audit row where that changes the state or the identity of a known workspace.
    fn edit(&mut self, edit: &Edit, now: Timestamp) {
        let old = self.desks.get(&edit.workspace.id);
        let new = edit.over(old);
        if let Some(old) = old.map(|old| &old.workspace)
            && (old.state != new.state || identity(old) != identity(&new))
        {
            let row = Row::open(now, AuditAction::UpdateWorkspace, AuditResult::Completed);
            let row = Row {
                workspace: Some(Some(new.id.clone())),
                whose: Some(whose(old)),
                previous: Some(old.state.clone().map(String::from)),
                new: Some(new.state.clone().map(String::from)),
                ..row
            };
            self.audit.push(row);
        }
        self.store(new, now);
    }

    /// Another state than that of a running action cancels the action.
    fn store(&mut self, workspace: Workspace, now: Timestamp) {
        let id = workspace.id.clone();
        self.forgotten.remove(&id);
        let mut entry = Entry {
            workspace,
            since: now,
            running: None,
            held: false,
        };
        if let Some(old) = self.desks.remove(&id) {
            entry.held = old.held;
            if entry.workspace.state == old.workspace.state {
                entry.since = old.since;
                entry.running = old.running;
            } else if let Some(running) = old.running {
                self.cancel(&running);
            }
        }
        self.desks.insert(id, entry);
    }
}

/// User and computer.
fn whose(workspace: &Workspace) -> (Option<String>, Option<String>) {
    (workspace.username.clone(), workspace.computer_name.clone())
}

/// What says whose a workspace is.
fn identity(of: &Workspace) -> [&Option<String>; 3] {
    [&of.username, &of.computer_name, &of.directory_id]
}
