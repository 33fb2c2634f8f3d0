//! Lists of workspaces, and single ones.

mod filter;

use crate::domain::paging::{self, List};
use crate::error::Result;
use crate::model::{Workspace, WorkspaceView};
use crate::store::fleet::workspaces::{Entry, EntryRef, Transition};
use crate::store::fleet::{holds, pending, workspaces};
use crate::store::table::Step;

use super::Reader;
use super::pages::PageEnd;

pub(crate) use filter::Matcher;
pub use filter::WorkspaceFilter;

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
}

/// A page of a list of workspaces, in the order of their ids.
#[derive(Debug)]
pub(crate) struct Workspaces {
    listing: Listing,
    /// The workspace that was shown last.
    after: Option<String>,
    left: usize,
}

impl Workspaces {
    /// All workspaces of a list after the id `after`.
    pub(crate) fn all(listing: Listing, after: Option<String>) -> Self {
        Self {
            listing,
            after,
            left: usize::MAX,
        }
    }

    /// The page that `token` begins.
    pub(crate) fn page(listing: Listing, limit: u32, token: Option<&str>) -> Result<Self> {
        Ok(Self {
            after: paging::position(listing.list(), token)?,
            listing,
            left: usize::try_from(limit.max(1)).unwrap_or(usize::MAX),
        })
    }

    /// Shows the next workspaces, until `show` breaks or the page ends.
    pub(crate) fn step(
        &mut self,
        reader: &Reader,
        show: &mut dyn FnMut(&EntryRef<'_>) -> Step,
    ) -> Result<PageEnd> {
        let Self {
            listing,
            after: last,
            left,
        } = self;
        let listing = &*listing;
        let (after, list) = (last.clone(), listing.list());
        let after = after.as_deref();
        let mut end = PageEnd::Over;
        let mut visit = |entry: EntryRef<'_>| {
            let wanted = |entry: &EntryRef<'_>| match listing {
                Listing::All | Listing::OnHold => true,
                Listing::Filtered(matcher) => matcher.accepts(entry),
            };
            let Some(entry) = reader.listed(entry).filter(wanted) else {
                return Ok(Step::Continue(()));
            };
            if *left == 0 {
                let last = last.take().unwrap_or_default();
                end = PageEnd::More(paging::token(list, &last));
                return Ok(Step::Break(()));
            }
            *left -= 1;
            let step = show(&entry);
            if step.is_break() {
                end = PageEnd::Stopped;
            }
            if step.is_break() || *left == 0 {
                *last = Some(entry.id().to_owned());
            }
            Ok(step)
        };
        let read = &reader.snapshot;
        let mut visit_id = |id: &str| {
            let step = workspaces::with_entry(read, id, &mut visit)?;
            Ok(step.unwrap_or(Step::Continue(())))
        };
        match listing {
            Listing::OnHold => holds::scan_after(read, after, visit_id)?,
            Listing::Filtered(matcher) if matcher.ids().is_some() => {
                let ids = matcher.ids().unwrap_or_default().iter();
                for id in ids.filter(|id| after.is_none_or(|after| id.as_str() > after)) {
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
}

/// One workspace with its running action and its hold.
pub(crate) fn one(reader: &Reader, id: &str) -> Result<Option<WorkspaceView>> {
    let found = workspaces::with_entry(&reader.snapshot, id, |entry| {
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

/// One workspace as it stands now.
pub(crate) fn entry(reader: &Reader, id: &str) -> Result<Option<Entry>> {
    let found = workspaces::with_entry(&reader.snapshot, id, |entry| {
        Ok(reader.listed(entry).map(EntryRef::into_entry))
    })?;
    Ok(found.flatten())
}

/// The listed workspaces of a user, in the order of their ids, and whether one of them is held.
pub(super) fn of_user(reader: &Reader, user: &str) -> Result<(Vec<Workspace>, bool)> {
    let (mut owned, mut held) = (Vec::new(), false);
    for id in workspaces::of_user(&reader.snapshot, user)? {
        workspaces::with_entry(&reader.snapshot, &id, |entry| {
            if let Some(entry) = reader.listed(entry) {
                held |= entry.held;
                owned.push(entry.into_entry().workspace);
            }
            Ok(())
        })?;
    }
    Ok((owned, held))
}
