//! Lists of workspaces, and single ones.

mod filter;

use crate::domain::paging::{self, List, bad_token};
use crate::error::Result;
use crate::model::{Workspace, WorkspaceView};
use crate::store::fleet::workspaces::{EntryRef, Transition};
use crate::store::fleet::{holds, pending, workspaces};
use crate::store::table::Step;

use super::Reader;

pub(super) use filter::is_folded;
pub(crate) use filter::{Matcher, Wanted};
pub use filter::{Term, WorkspaceFilter};

/// A list to page through.
#[derive(Debug, Clone)]
pub(crate) enum Listing {
    All,
    OnHold,
    Filtered(Box<Matcher>),
}

impl Listing {
    /// The workspaces of one user.
    pub(crate) fn of_user(username: &str) -> Self {
        Self::Filtered(Box::new(Matcher::new(&WorkspaceFilter {
            username: Some(username.into()),
            ..WorkspaceFilter::default()
        })))
    }

    fn list(&self) -> List {
        match self {
            Self::All => List::All,
            Self::OnHold => List::OnHold,
            Self::Filtered(_) => List::Filtered,
        }
    }

    /// The workspace after which `token` continues the list.
    pub(crate) fn after(&self, token: &str) -> Result<String> {
        paging::workspace_of(self.list(), token).ok_or_else(bad_token)
    }

    /// The token that continues the list after `id`.
    pub(crate) fn token(&self, id: &str) -> String {
        paging::after_workspace(self.list(), id)
    }
}

/// Where a page ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PageEnd {
    /// With the list.
    Over,
    /// Behind this workspace, as the page is full and there are more.
    More(String),
    /// After this workspace, as `show` broke.
    Stopped(String),
}

/// Shows up to `limit` workspaces after `after` to `show`, in the order of their ids, until `show` breaks.
pub(crate) fn page(
    reader: &Reader,
    listing: &Listing,
    limit: usize,
    after: Option<&str>,
    show: &mut dyn FnMut(&EntryRef<'_>) -> Step,
) -> Result<PageEnd> {
    let mut shown = 0;
    let mut last = after.unwrap_or_default().to_owned();
    let mut end = PageEnd::Over;
    let mut visit = |entry: EntryRef<'_>| {
        let wanted = |entry: &EntryRef<'_>| match listing {
            Listing::All | Listing::OnHold => true,
            Listing::Filtered(matcher) => matcher.accepts(entry),
        };
        let Some(entry) = reader.listed(entry).filter(wanted) else {
            return Ok(Step::Continue(()));
        };
        if shown == limit {
            end = PageEnd::More(std::mem::take(&mut last));
            return Ok(Step::Break(()));
        }
        shown += 1;
        let stop = show(&entry).is_break();
        if stop {
            end = PageEnd::Stopped(entry.id().to_owned());
            return Ok(Step::Break(()));
        }
        if shown == limit {
            entry.id().clone_into(&mut last);
        }
        Ok(Step::Continue(()))
    };
    let read = &reader.snapshot;
    let mut visit_id = |id: &str| {
        let step = workspaces::with(read, id, &mut visit)?;
        Ok(step.unwrap_or(Step::Continue(())))
    };
    match listing {
        Listing::OnHold => holds::scan_after(read, after, visit_id)?,
        Listing::Filtered(matcher) if matcher.ids().is_some() => {
            let ids = matcher.ids().unwrap_or_default();
            for id in ids
                .iter()
                .filter(|id| after.is_none_or(|after| id.as_str() > after))
            {
                if visit_id(id)?.is_break() {
                    break;
                }
            }
        }
        Listing::Filtered(matcher) if matcher.user().is_some() => {
            let user = matcher.user().unwrap_or_default();
            workspaces::scan_of_user(read, user, after, &mut visit_id)?;
        }
        Listing::All | Listing::Filtered(_) => workspaces::scan_after(read, after, &mut visit)?,
    }
    Ok(end)
}

/// One workspace with its running action and its hold.
pub(crate) fn one(reader: &Reader, id: &str) -> Result<Option<WorkspaceView>> {
    let found = workspaces::with(&reader.snapshot, id, |entry| {
        Ok(reader.listed(entry).map(|entry| {
            let running = entry.transition.map(Transition::into_owned);
            (running, entry.into_entry().workspace)
        }))
    })?;
    let Some((running, workspace)) = found.flatten() else {
        return Ok(None);
    };
    let transition = running.map(|running| pending::shown(&reader.snapshot, id, running));
    let transition = transition.transpose()?;
    Ok(Some(WorkspaceView {
        workspace,
        transition,
        litigation_hold: holds::get(&reader.snapshot, id)?,
    }))
}

/// The listed workspaces of a user, in the order of their ids, and whether one of them is held.
pub(super) fn of_user(reader: &Reader, user: &str) -> Result<(Vec<Workspace>, bool)> {
    let (mut owned, mut held) = (Vec::new(), false);
    for id in workspaces::of_user(&reader.snapshot, user)? {
        workspaces::with(&reader.snapshot, &id, |entry| {
            if let Some(entry) = reader.listed(entry) {
                held |= entry.held;
                owned.push(entry.into_entry().workspace);
            }
            Ok(())
        })?;
    }
    Ok((owned, held))
}
