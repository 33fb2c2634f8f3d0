//! Questions about the fleet, from Rust.

use crate::engine::Engine;
#[cfg(doc)]
use crate::error::ErrorKind;
use crate::error::Result;
use crate::model::Rows;
use crate::view::query::workspaces::{self, WorkspaceRow, WorkspaceRowsQuery};

/// Questions about the fleet.
impl Engine {
    /// One page of workspaces as rows, filtered and sorted.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] on a sort by an unknown column or by more than three, and on a token of another question or another
    /// sort; [`ErrorKind::StorageUnavailable`] when the store cannot be read.
    pub fn query_workspaces(&self, query: &WorkspaceRowsQuery) -> Result<Rows<WorkspaceRow>> {
        workspaces::workspaces(&self.core().reader()?, query)
    }
}
