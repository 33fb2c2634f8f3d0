//! Reading at the present moment.

use crate::error::Result;
use crate::locks::lock;
use crate::model::Rows;
use crate::store::telemetry::queue::Wanted;
use crate::view::Reader;
use crate::view::query::workspaces::{self, WorkspaceRow, WorkspaceRowsQuery};

use super::EngineCore;

impl EngineCore {
    /// Reads tables as of now.
    pub(crate) fn reader(&self) -> Result<Reader> {
        self.settle();
        Reader::new(&self.store, self.now())
    }

    /// Reads tables as of now, all of which is durable: for a host that acts on what it reads.
    pub(crate) fn durable_reader(&self) -> Result<Reader> {
        self.store.confirm()?;
        self.reader()
    }

    /// Reads tables and telemetry as of now.
    pub(crate) fn telemetry_reader(&self, wanted: Wanted<'_>) -> Result<Reader> {
        self.settle();
        Reader::with_queue(&self.store, self.now(), wanted)
    }

    /// Reads rollups as of now. A short queue is filed first, so that the rows have all that was accepted until now; a longer one is left
    /// to upkeep.
    pub(crate) fn rollup_reader(&self) -> Result<Reader> {
        let unfiled = self.file_short_queue();
        let mut reader = self.reader()?;
        reader.unfiled = unfiled;
        Ok(reader)
    }

    /// A page of the workspaces as rows; sorted ones one page at a time.
    pub(crate) fn workspace_rows(
        &self,
        query: &WorkspaceRowsQuery,
        texts_max: usize,
    ) -> Result<Rows<WorkspaceRow>> {
        // Before the lock: what is filed here notifies the observer, which may ask as well.
        let reader = self.rollup_reader()?;
        let is_sorted = query.paging.sort.is_some();
        let _one_at_a_time = is_sorted.then(|| lock(&self.sorting));
        workspaces::workspaces(&reader, query, texts_max)
    }
}
