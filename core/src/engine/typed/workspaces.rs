//! Workspaces and holds, from Rust.

use crate::domain::validation;
use crate::engine::Engine;
use crate::engine::typed::all_pages;
#[cfg(doc)]
use crate::error::ErrorKind;
use crate::error::Result;
use crate::limits::{PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX};
use crate::model::{Workspace, WorkspaceView};
use crate::mutation::{Caller, PlaceHold, PutWorkspace, ReleaseHold, RemoveWorkspace};
use crate::store::table::Step;
use crate::view::workspaces::{self, Listing, Matcher, WorkspaceFilter, Workspaces};

/// Which list of workspaces.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "there is one of them in a query")]
pub enum WorkspaceList {
    /// All that are listed.
    #[default]
    All,
    /// Those on litigation hold.
    OnHold,
    /// Those that a filter accepts.
    Matching(WorkspaceFilter),
}

/// Which page of which list of workspaces.
///
/// ```
/// use deskfleet::{Engine, WorkspaceFilter, WorkspaceList, WorkspaceQuery};
///
/// let engine = Engine::in_memory()?;
/// let filter = WorkspaceFilter { state: Some("AVAILABLE".into()), ..WorkspaceFilter::default() };
/// let list = WorkspaceList::Matching(filter);
/// let page = engine.workspaces(&WorkspaceQuery { list, limit: 500, ..WorkspaceQuery::default() })?;
/// assert!(page.workspaces.is_empty());
/// # Ok::<(), deskfleet::EngineError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceQuery {
    /// The list. Default all workspaces.
    pub list: WorkspaceList,
    /// Most workspaces on the page, at least 1. Default 50; unlike over HTTP there is no upper bound.
    pub limit: u32,
    /// The token of the page before. Default none: the first page.
    pub next_token: Option<String>,
}

impl Default for WorkspaceQuery {
    fn default() -> Self {
        Self {
            list: WorkspaceList::default(),
            limit: PAGE_ITEMS_DEFAULT.unsigned_abs(),
            next_token: None,
        }
    }
}

/// One page of workspaces, in the order of their ids.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
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
        workspaces::one(&self.core().reader()?, id)
    }

    /// One page of a list of workspaces, in the order of their ids.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] on a token of another list, [`ErrorKind::StorageUnavailable`] when the store cannot be
    /// read.
    pub fn workspaces(&self, query: &WorkspaceQuery) -> Result<WorkspacePage> {
        let listing = match &query.list {
            WorkspaceList::All => Listing::All,
            WorkspaceList::OnHold => Listing::OnHold,
            WorkspaceList::Matching(filter) => Listing::Filtered(Box::new(Matcher::new(filter))),
        };
        let token = query.next_token.as_deref();
        let mut workspaces = Vec::new();
        let end = Workspaces::page(listing, query.limit, token)?.step(
            &self.core().reader()?,
            &mut |entry| {
                workspaces.push(entry.into_entry().workspace);
                Step::Continue(())
            },
        )?;
        Ok(WorkspacePage {
            workspaces,
            next_token: end.token(),
        })
    }

    /// Every workspace of a list, read page by page of 500; each page is a snapshot of its own. Ends after the first error.
    pub fn all_workspaces(
        &self,
        list: WorkspaceList,
    ) -> impl Iterator<Item = Result<Workspace>> + use<> {
        let engine = self.clone();
        let mut query = WorkspaceQuery {
            list,
            limit: PAGE_ITEMS_MAX.unsigned_abs(),
            next_token: None,
        };
        all_pages(None, move |next_token| {
            query.next_token = next_token;
            let page = engine.workspaces(&query)?;
            Ok((page.workspaces, page.next_token))
        })
    }

    /// Creates or replaces a workspace. Known values are stored in upper case. A running action goes on: the record shows its
    /// state, or none.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] when a value is empty or too long, [`ErrorKind::OperationInProgress`] when an action is
    /// changing the state, [`ErrorKind::LitigationHold`] when a hold protects the identity or the state.
    pub fn put_workspace(&self, workspace: Workspace) -> Result<()> {
        self.put(workspace, false)
    }

    /// As [`Self::put_workspace`], but another state than that of a running action cancels the action.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`], [`ErrorKind::LitigationHold`].
    pub fn override_workspace(&self, workspace: Workspace) -> Result<()> {
        self.put(workspace, true)
    }

    fn put(&self, mut workspace: Workspace, cancels_action: bool) -> Result<()> {
        workspace.normalize();
        validation::workspace(&workspace.values())?;
        let stored = self.core().run(PutWorkspace {
            workspace,
            cancels_action,
            by: Caller::HOST,
        });
        stored.map(drop)
    }

    /// Creates or replaces workspaces as [`Self::put_workspace`] does, all or nothing in each 1000, on a node in fewer where their
    /// texts are longer than 768 KiB; returns their number. Only a change of the state or the user of a workspace makes an audit row.
    /// [`Self::import_workspaces`] changes single fields.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] when a value is empty or too long; nothing is stored then.
    /// [`ErrorKind::OperationInProgress`] and [`ErrorKind::LitigationHold`] when one of them may not be stored; nothing of its
    /// thousand is then. [`ErrorKind::Indeterminate`] also when some of the thousands are stored and others could not be.
    pub fn put_workspaces(&self, mut workspaces: Vec<Workspace>) -> Result<u64> {
        for workspace in &mut workspaces {
            workspace.normalize();
            validation::workspace(&workspace.values())?;
        }
        let count = workspaces.len() as u64;
        let core = self.core();
        core.submit_workspaces(workspaces).wait(core)?;
        Ok(count)
    }

    /// Removes a workspace's record; the desktop itself is not touched.
    ///
    /// # Errors
    /// [`ErrorKind::WorkSpaceNotFound`], [`ErrorKind::LitigationHold`], [`ErrorKind::OperationInProgress`].
    pub fn remove_workspace(&self, id: &str) -> Result<()> {
        let id = Some(id.to_owned());
        self.core().run(RemoveWorkspace {
            id,
            by: Caller::HOST,
        })
    }

    /// Places a litigation hold, or replaces the one that is there. Matter and reason have 1 to 256 code points.
    ///
    /// # Errors
    /// [`ErrorKind::WorkSpaceNotFound`], [`ErrorKind::InvalidParameter`].
    pub fn place_hold(&self, id: &str, matter: &str, reason: Option<&str>) -> Result<()> {
        validation::short_text("matter", matter)?;
        reason.map_or(Ok(()), |reason| validation::short_text("reason", reason))?;
        let (id, matter) = (id.to_owned(), matter.to_owned());
        let reason = reason.map(str::to_owned);
        let placed = self.core().run(PlaceHold {
            id,
            matter,
            reason,
            by: Caller::HOST,
        });
        placed.map(drop)
    }

    /// Releases a litigation hold.
    ///
    /// # Errors
    /// [`ErrorKind::WorkSpaceNotFound`]; [`ErrorKind::NotFound`] where there is none.
    pub fn release_hold(&self, id: &str) -> Result<()> {
        let id = id.to_owned();
        let released = self.core().run(ReleaseHold {
            id,
            by: Caller::HOST,
        });
        released.map(drop)
    }
}
