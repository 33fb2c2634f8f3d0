//! The reference's workspaces and their audit.

use std::collections::BTreeMap;

use deskfleet::{Action, AuditAction, AuditResult, ErrorKind, Timestamp, Workspace};

use super::audit::Row;
use super::op::NewDesk;
use super::rules::{Asked, Entry, Running, table};

/// All workspaces, and the audit of what was done.
#[derive(Debug, Default, Clone)]
pub(crate) struct Fleet {
    pub(crate) desks: BTreeMap<String, Entry>,
    pub(crate) audit: Vec<Row>,
    /// The actions that the host ends.
    pub(super) hosted: &'static [Action],
    /// Forgotten workspaces, by name; the engine may still hold them.
    pub(super) forgotten: BTreeMap<String, Entry>,
    /// The minute of the last call that changed nothing, and the rows of such calls in it.
    repeats: (i64, Vec<usize>),
}

const TICKS_PER_SECOND: i64 = 10_000_000;

impl Fleet {
    /// Restarts actions accepted by a clock that was ahead, ends those that are due, and forgets workspaces TERMINATED
    /// for seven days.
    pub(crate) fn settle(&mut self, now: Timestamp) {
        for entry in self.desks.values_mut() {
            if let Some(running) = &mut entry.running
                && running.requested > now
            {
                let (_, _, _, seconds) = table(running.action);
                running.requested = now;
                running.due = running.due.map(|_| now.plus_seconds(seconds));
                entry.since = now;
            }
        }
        let is_due = |entry: &Entry| {
            let running = entry.running.as_ref();
            running.is_some_and(|running| running.due.is_some_and(|due| due <= now))
        };
        let due = self.desks.iter().filter(|(_, entry)| is_due(entry));
        let due: Vec<_> = due.map(|(id, _)| id.clone()).collect();
        for id in due {
            self.complete(&id, None);
        }
        let forgotten = &mut self.forgotten;
        self.desks.retain(|id, entry| {
            let listed = entry.is_listed(now);
            if !listed {
                forgotten.insert(id.clone(), entry.clone());
            }
            listed
        });
    }

    /// Recalls what the engine has not removed yet, after the clock was set back: the contract leaves open when it
    /// does.
    pub(crate) fn set_back(&mut self, now: Timestamp, holds: impl Fn(&str) -> bool) {
        let forgotten = std::mem::take(&mut self.forgotten);
        let (back, gone) = forgotten
            .into_iter()
            .partition::<BTreeMap<_, _>, _>(|(id, entry)| entry.is_listed(now) && holds(id));
        self.desks.extend(back);
        self.forgotten = gone;
    }

    /// Whether the contract leaves open since when the state counts.
    pub(crate) fn unclear(&self, new: NewDesk) -> bool {
        let state = new.state.value();
        let known = self.desks.get(new.desk.value());
        known.is_some_and(|entry| entry.running.is_none() && entry.state() == state)
            && matches!(state, Some("REBOOTING" | "TERMINATED"))
    }

    pub(super) fn cancel(&mut self, running: &Running) {
        let row = &mut self.audit[running.row];
        row.result = AuditResult::Cancelled;
        row.new = None;
        row.completed = None;
        row.detail = Some(running.detail(None));
    }

    /// Completes a running action, at its due time or on the host's request.
    pub(crate) fn complete(&mut self, id: &str, at: Option<Timestamp>) {
        let entry = self.desks.get_mut(id).expect("a workspace");
        let running = entry.running.take().expect("a running action");
        let (_, _, then, _) = table(running.action);
        let at = at.or(running.due).expect("a time");
        entry.workspace.state = Some(then.into());
        entry.since = at;
        if running.kind.is_some() {
            entry.workspace.compute_type_name = running.kind.as_deref().map(Into::into);
        }
        let row = &mut self.audit[running.row];
        row.result = AuditResult::Completed;
        row.new = Some(Some(then.to_owned()));
        row.completed = Some(Some(at));
        row.detail = Some(running.detail(None));
    }

    pub(crate) fn fail(&mut self, id: &str, now: Timestamp, state: &str, detail: Option<&str>) {
        let entry = self.desks.get_mut(id).expect("a workspace");
        let running = entry.running.take().expect("a running action");
        entry.workspace.state = Some(state.into());
        entry.since = now;
        let row = &mut self.audit[running.row];
        row.result = AuditResult::Failed;
        row.new = Some(Some(state.to_owned()));
        row.completed = Some(Some(now));
        row.detail = Some(running.detail(detail));
    }

    pub(crate) fn act(&mut self, asked: &Asked<'_>, now: Timestamp) -> Result<(), ErrorKind> {
        let audited = AuditAction::Lifecycle(asked.action);
        let named = asked.desk.map(str::to_owned);
        let unknown_kind = !matches!(asked.kind, Some(kind) if kind != "Huge");
        if asked.action == Action::ChangeComputeType && unknown_kind {
            self.add_row(Row {
                workspace: Some(named),
                ..Row::refused(now, audited, ErrorKind::InvalidParameter)
            });
            return Err(ErrorKind::InvalidParameter);
        }
        let id = match self.find(asked) {
            Ok(id) => id,
            Err(kind) => {
                self.add_row(Row {
                    workspace: Some(named),
                    ..Row::refused(now, audited, kind)
                });
                return Err(kind);
            }
        };
        let entry = &self.desks[&id];
        let whose = (
            entry.workspace.username.clone(),
            entry.workspace.computer_name.clone(),
        );
        let before = entry.workspace.state.as_deref().map(str::to_owned);
        let row = |row: Row| Row {
            workspace: Some(Some(id.clone())),
            whose: Some(whose.clone()),
            previous: Some(before.clone()),
            ..row
        };
        match entry.judge(asked, now) {
            Err(kind) => {
                self.add_row(row(Row::refused(now, audited, kind)));
                Err(kind)
            }
            Ok(false) => {
                let unchanged = Row::open(now, audited, AuditResult::NoChange);
                self.add_row(row(Row {
                    new: Some(before.clone()),
                    completed: Some(Some(now)),
                    detail: Some(None),
                    ..unchanged
                }));
                Ok(())
            }
            Ok(true) => {
                let (_, via, ..) = table(asked.action);
                let accepted = Row::open(now, audited, AuditResult::Accepted);
                let new = Some(Some(via.to_owned()));
                let accepted = row(Row {
                    new,
                    completed: Some(None),
                    detail: Some(None),
                    ..accepted
                });
                self.start(&id, asked, now, accepted);
                Ok(())
            }
        }
    }

    fn start(&mut self, id: &str, asked: &Asked<'_>, now: Timestamp, row: Row) {
        let (_, via, _, seconds) = table(asked.action);
        let number = self.audit.len();
        self.audit.push(row);
        let changes = asked.action == Action::ChangeComputeType;
        let kind = asked.kind.filter(|_| changes).map(str::to_owned);
        let running = Running {
            action: asked.action,
            row: number,
            requested: now,
            due: (!self.hosted.contains(&asked.action)).then(|| now.plus_seconds(seconds)),
            kind,
            dispatched: None,
        };
        let entry = self.desks.get_mut(id).expect("a workspace");
        entry.workspace.state = Some(via.into());
        entry.since = now;
        if let Some(old) = entry.running.replace(running) {
            self.cancel(&old);
        }
    }

    /// The workspace that is meant.
    fn find(&self, asked: &Asked<'_>) -> Result<String, ErrorKind> {
        match (asked.desk, asked.person) {
            (Some(id), person) => {
                let entry = self.desks.get(id).ok_or(ErrorKind::WorkSpaceNotFound)?;
                let owns = person.is_none_or(|person| entry.owned_by(person));
                if owns {
                    Ok(id.to_owned())
                } else {
                    Err(ErrorKind::WorkSpaceNotFound)
                }
            }
            (None, None) => Err(ErrorKind::WorkSpaceNotFound),
            (None, Some(person)) => {
                let live =
                    |entry: &Entry| entry.owned_by(person) && entry.state() != Some("TERMINATED");
                let mut live = self.desks.iter().filter(|(_, entry)| live(entry));
                match (live.next(), live.next()) {
                    (None, _) => Err(ErrorKind::WorkSpaceNotFound),
                    (Some((id, _)), None) => Ok(id.clone()),
                    (Some(_), Some(_)) => Err(ErrorKind::AmbiguousWorkSpace),
                }
            }
        }
    }

    pub(crate) fn remove(&mut self, id: &str, now: Timestamp) -> Result<(), ErrorKind> {
        let refusal = match self.desks.get(id) {
            None => Some(ErrorKind::WorkSpaceNotFound),
            Some(entry) if entry.held => Some(ErrorKind::LitigationHold),
            Some(entry) if entry.running.is_some() => Some(ErrorKind::OperationInProgress),
            Some(_) => None,
        };
        self.changed(id, now, AuditAction::RemoveWorkspace, refusal)?;
        self.desks.remove(id);
        Ok(())
    }

    pub(crate) fn hold(&mut self, id: &str, now: Timestamp) -> Result<(), ErrorKind> {
        let refusal = if self.desks.contains_key(id) {
            None
        } else {
            Some(ErrorKind::WorkSpaceNotFound)
        };
        self.changed(id, now, AuditAction::PlaceHold, refusal)?;
        self.desks.get_mut(id).expect("a workspace").held = true;
        Ok(())
    }

    pub(crate) fn release(&mut self, id: &str, now: Timestamp) -> Result<(), ErrorKind> {
        let refusal = match self.desks.get(id) {
            None => Some(ErrorKind::WorkSpaceNotFound),
            Some(entry) if !entry.held => Some(ErrorKind::NotFound),
            Some(_) => None,
        };
        self.changed(id, now, AuditAction::ReleaseHold, refusal)?;
        self.desks.get_mut(id).expect("a workspace").held = false;
        Ok(())
    }

    /// Writes the row of a change that is complete at once, or refused.
    pub(super) fn changed(
        &mut self,
        id: &str,
        now: Timestamp,
        action: AuditAction,
        refusal: Option<ErrorKind>,
    ) -> Result<(), ErrorKind> {
        let workspace = Some(Some(id.to_owned()));
        let Some(kind) = refusal else {
            let row = Row::open(now, action, AuditResult::Completed);
            self.audit.push(Row { workspace, ..row });
            return Ok(());
        };
        let known = self.desks.get(id).map(|entry| &entry.workspace);
        let field =
            |field: fn(&Workspace) -> Option<&str>| known.and_then(field).map(str::to_owned);
        self.add_row(Row {
            workspace,
            whose: Some((
                field(|known| known.username.as_deref()),
                field(|known| known.computer_name.as_deref()),
            )),
            previous: Some(field(|known| known.state.as_deref())),
            ..Row::refused(now, action, kind)
        });
        Err(kind)
    }

    /// Adds the row of a call that changed nothing, or counts it in an equal one of the same minute.
    pub(super) fn add_row(&mut self, row: Row) {
        let minute = row.time.ticks().div_euclid(60 * TICKS_PER_SECOND);
        if self.repeats.0 != minute {
            self.repeats = (minute, Vec::new());
        }
        let equal = |known: &&usize| self.audit[**known].repeats(&row);
        if let Some(known) = self.repeats.1.iter().find(equal) {
            self.audit[*known].calls += 1;
        } else {
            self.repeats.1.push(self.audit.len());
            self.audit.push(row);
        }
    }
}
