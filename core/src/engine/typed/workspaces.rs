//! Workspaces and holds, from Rust.

use crate::domain::validation;
use crate::engine::Engine;
#[cfg(doc)]
use crate::error::ErrorKind;
use crate::error::Result;
use crate::limits::BULK_UPSERT_CHUNK;
use crate::model::{Workspace, WorkspaceView};
use crate::mutation::{Caller, Mutation};
use crate::store::table::Step;
use crate::view::workspaces::{self, Listing, Matcher, PageEnd, WorkspaceFilter};

/// One page of workspaces, in the order of their ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspacePage {
    /// The workspaces, each as it stands now.
    pub workspaces: Vec<Workspace>,
    /// The token of the next page, if there is one.
    pub next_token: Option<String>,
}

/// Workspaces.
impl Engine {
    /// One workspace with its running action and its hold.
    ///
    /// # Errors
    /// [`ErrorKind::StorageUnavailable`] when the store cannot be read.
    pub fn workspace(&self, id: &str) -> Result<Option<WorkspaceView>> {
        workspaces::one(&self.machine().reader()?, id)
    }

    /// One page of all workspaces; `next_token` is that of the page before.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] on a token of another list.
    pub fn workspaces(&self, limit: u32, next_token: Option<&str>) -> Result<WorkspacePage> {
        self.page(&Listing::All, limit, next_token)
    }

    /// One page of the workspaces on litigation hold.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] on a token of another list.
    pub fn workspaces_on_hold(
        &self,
        limit: u32,
        next_token: Option<&str>,
    ) -> Result<WorkspacePage> {
        self.page(&Listing::OnHold, limit, next_token)
    }

    /// One page of the workspaces that a filter accepts.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] on a token of another list.
    pub fn find_workspaces(
        &self,
        filter: &WorkspaceFilter,
        limit: u32,
        next_token: Option<&str>,
    ) -> Result<WorkspacePage> {
        self.page(
            &Listing::Filtered(Box::new(Matcher::new(filter))),
            limit,
            next_token,
        )
    }

    fn page(&self, listing: &Listing, limit: u32, token: Option<&str>) -> Result<WorkspacePage> {
        let limit = usize::try_from(limit.max(1)).unwrap_or(usize::MAX);
        let after = token.map(|token| listing.after(token)).transpose()?;
        let mut found = Vec::new();
        let reader = self.machine().reader()?;
        let end = workspaces::page(&reader, listing, limit, after.as_deref(), |entry| {
            found.push(entry.into_entry().workspace);
            Step::Continue(())
        })?;
        Ok(WorkspacePage {
            workspaces: found,
            next_token: match end {
                PageEnd::More(id) => Some(listing.token(&id)),
                PageEnd::Over | PageEnd::Stopped(_) => None,
            },
        })
    }

    /// Creates or replaces a workspace. Known values are stored in upper case. A state other than that of a running
    /// action cancels the action.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] when a value is empty or too long.
    pub fn put_workspace(&self, mut workspace: Workspace) -> Result<()> {
        validation::workspace(&mut workspace)?;
        self.done(Mutation::PutWorkspace(Box::new(workspace)))
    }

    /// Creates or replaces workspaces, all or nothing in each 1000; answers how many.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] when a value is empty or too long; nothing is stored then. [`ErrorKind::Indeterminate`]
    /// also when some of the thousands are stored and others could not be.
    pub fn put_workspaces(&self, mut workspaces: Vec<Workspace>) -> Result<u64> {
        for workspace in &mut workspaces {
            validation::workspace(workspace)?;
        }
        let count = workspaces.len() as u64;
        let machine = self.machine();
        let chunks = workspaces.chunks(BULK_UPSERT_CHUNK);
        let tickets: Vec<_> = chunks
            .map(|chunk| machine.submit(Mutation::PutWorkspaces(chunk.to_vec())))
            .collect();
        let mut part = false;
        for mut ticket in tickets {
            machine.wait(&mut ticket).map_err(
                |error| {
                    if part { error.after_a_part() } else { error }
                },
            )?;
            part = true;
        }
        Ok(count)
    }

    /// Removes a workspace's record; the desktop itself is not touched.
    ///
    /// # Errors
    /// [`ErrorKind::WorkSpaceNotFound`], [`ErrorKind::LitigationHold`], [`ErrorKind::OperationInProgress`].
    pub fn remove_workspace(&self, id: &str) -> Result<()> {
        self.done(Mutation::RemoveWorkspace {
            id: Some(id.to_owned()),
            by: Caller::HOST,
        })
    }

    /// Places a litigation hold, over one that is there. Matter and reason have 1 to 256 code points.
    ///
    /// # Errors
    /// [`ErrorKind::WorkSpaceNotFound`], [`ErrorKind::InvalidParameter`].
    pub fn place_hold(&self, id: &str, matter: &str, reason: Option<&str>) -> Result<()> {
        validation::short_text("matter", matter)?;
        reason.map_or(Ok(()), |reason| validation::short_text("reason", reason))?;
        self.done(Mutation::PlaceHold {
            id: id.to_owned(),
            matter: matter.to_owned(),
            reason: reason.map(str::to_owned),
            by: Caller::HOST,
        })
    }

    /// Releases a litigation hold.
    ///
    /// # Errors
    /// [`ErrorKind::WorkSpaceNotFound`]; [`ErrorKind::NotFound`] where there is none.
    pub fn release_hold(&self, id: &str) -> Result<()> {
        self.done(Mutation::ReleaseHold {
            id: id.to_owned(),
            by: Caller::HOST,
        })
    }
}
