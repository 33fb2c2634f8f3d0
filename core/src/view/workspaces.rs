//! Lists of workspaces, and single ones.

use crate::domain::paging::{self, List};
use crate::error::{EngineError, Result};
use crate::model::identity::folded;
use crate::model::{PendingAction, Workspace, WorkspaceView, user_key};
use crate::store::table::Step;
use crate::store::workspaces::{EntryRef, TransitionRef};
use crate::store::{holds, workspaces};

use super::Reader;

/// Which workspaces of a list are wanted; equality without case, and on what holds at the time of the call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkspaceFilter {
    /// State.
    pub state: Option<String>,
    /// User; `DOMAIN\` and `@domain` are ignored.
    pub username: Option<String>,
    /// Cloud region.
    pub region: Option<String>,
    /// Directory.
    pub directory_id: Option<String>,
    /// Running mode.
    pub running_mode: Option<String>,
    /// Compute type.
    pub compute_type_name: Option<String>,
    /// A part of the id, the computer name or the username.
    pub q: Option<String>,
}

impl WorkspaceFilter {
    fn accepts(&self, entry: &EntryRef<'_>) -> bool {
        let [
            id,
            computer,
            _,
            region,
            directory,
            mode,
            compute_type,
            _,
            username,
            state,
        ] = entry.values;
        let equal = |wanted: &Option<String>, value: Option<&str>| {
            wanted
                .as_deref()
                .is_none_or(|wanted| value.is_some_and(|value| folded(value) == folded(wanted)))
        };
        let same_user = self
            .username
            .as_deref()
            .is_none_or(|wanted| username.map(user_key) == Some(user_key(wanted)));
        let found = self.q.as_deref().map(folded).is_none_or(|part| {
            [id, computer, username]
                .into_iter()
                .flatten()
                .any(|value| folded(value).contains(&*part))
        });
        same_user
            && found
            && equal(&self.state, state)
            && equal(&self.region, region)
            && equal(&self.directory_id, directory)
            && equal(&self.running_mode, mode)
            && equal(&self.compute_type_name, compute_type)
    }
}

/// A list to page through.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Listing<'f> {
    All,
    OnHold,
    Filtered(&'f WorkspaceFilter),
}

impl Listing<'_> {
    fn list(self) -> List {
        match self {
            Self::All => List::All,
            Self::OnHold => List::OnHold,
            Self::Filtered(_) => List::Filtered,
        }
    }
}

/// Shows up to `limit` workspaces behind `token` to `show`, in the order of their ids; answers the token of the next
/// page, if there is one.
pub(crate) fn page(
    reader: &Reader,
    listing: Listing<'_>,
    limit: usize,
    token: Option<&str>,
    mut show: impl FnMut(&EntryRef<'_>),
) -> Result<Option<String>> {
    let list = listing.list();
    let after = match token {
        Some(token) => Some(paging::workspace_of(list, token).ok_or_else(bad_token)?),
        None => None,
    };
    let mut shown = 0;
    let mut last = String::new();
    let mut more = false;
    let mut visit = |entry: EntryRef<'_>| {
        let entry = entry.as_of(reader.now);
        let wanted = reader.lists(&entry)
            && match listing {
                Listing::All | Listing::OnHold => true,
                Listing::Filtered(filter) => filter.accepts(&entry),
            };
        if !wanted {
            return Ok(Step::Continue(()));
        }
        if shown == limit {
            more = true;
            return Ok(Step::Break(()));
        }
        shown += 1;
        if shown == limit {
            entry.id().clone_into(&mut last);
        }
        show(&entry);
        Ok(Step::Continue(()))
    };
    let (read, after) = (&reader.snapshot, after.as_deref());
    match listing {
        Listing::All | Listing::Filtered(_) => workspaces::scan_after(read, after, visit)?,
        Listing::OnHold => holds::scan_after(read, after, |id| {
            let step = workspaces::with(read, id, &mut visit)?;
            Ok(step.unwrap_or(Step::Continue(())))
        })?,
    }
    Ok(more.then(|| paging::after_workspace(list, &last)))
}

/// The refusal of a token that is not one of the list's.
pub(crate) fn bad_token() -> EngineError {
    EngineError::invalid("nextToken", "The value is not a token of this endpoint.")
}

/// One workspace with its running action and its hold.
pub(crate) fn one(reader: &Reader, id: &str) -> Result<Option<WorkspaceView>> {
    let found = workspaces::with(&reader.snapshot, id, |entry| {
        let entry = entry.as_of(reader.now);
        let listed = reader.lists(&entry);
        Ok(listed.then(|| {
            (
                entry.transition.map(|running| pending(id, running)),
                entry.into_entry().workspace,
            )
        }))
    })?;
    let Some((transition, workspace)) = found.flatten() else {
        return Ok(None);
    };
    Ok(Some(WorkspaceView {
        workspace,
        transition,
        litigation_hold: holds::get(&reader.snapshot, id)?,
    }))
}

/// A running action as the outbox shows it.
pub(super) fn pending(id: &str, running: TransitionRef<'_>) -> PendingAction {
    PendingAction {
        id: running.id,
        action: running.action,
        workspace_id: id.to_owned(),
        requested_at: running.requested_at,
        due_at: running.due_at,
        compute_type: running.compute_type.map(str::to_owned),
    }
}

/// The listed workspaces of a user, in the order of their ids, and whether one of them is held.
pub(super) fn of_user(reader: &Reader, user: &str) -> Result<(Vec<Workspace>, bool)> {
    let (mut owned, mut held) = (Vec::new(), false);
    for id in workspaces::of_user(&reader.snapshot, user)? {
        workspaces::with(&reader.snapshot, &id, |entry| {
            let entry = entry.as_of(reader.now);
            if reader.lists(&entry) {
                held |= entry.held;
                owned.push(entry.into_entry().workspace);
            }
            Ok(())
        })?;
    }
    Ok((owned, held))
}
