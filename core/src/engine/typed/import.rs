//! Importing workspaces, from Rust.

use std::fmt;
use std::sync::Arc;

use crate::api::Import;
use crate::engine::Engine;
use crate::engine_core::EngineCore;
#[cfg(doc)]
use crate::error::ErrorKind;
use crate::error::Result;
use crate::model::{ImportReport, WorkspacePatch};
use crate::mutation::Caller;
use crate::wire::import::Declared;

/// An import of workspaces whose text arrives in pieces, of any length: NDJSON, a JSON array, a saved page of `GetAllWorkSpaces`,
/// or CSV, as its first bytes say. Members and columns may have our names or those of Amazon WorkSpaces. The rules and the report are those of `POST /operator/workspaces`.
///
/// Each 1000 records are one commit; some thousand records are in memory. A dropped import stops, and what was committed stays.
///
/// ```
/// use deskfleet::Engine;
///
/// let engine = Engine::in_memory()?;
/// let mut import = engine.import();
/// for piece in ["workSpId,user", "name,state\nws-1,jdoe,AVAI", "LABLE\nws-2,,\n"] {
///     import.push(piece.as_bytes())?;
/// }
/// let report = import.finish()?;
/// assert_eq!((report.upserted, report.rejected), (2, 0));
/// assert_eq!(engine.workspace("ws-1")?.unwrap().workspace.username.as_deref(), Some("jdoe"));
/// # Ok::<(), deskfleet::EngineError>(())
/// ```
pub struct WorkspaceImport {
    core: Arc<EngineCore>,
    import: Import,
}

impl WorkspaceImport {
    /// Reads the next piece. Blocks while records are committed.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] when the text cannot be read any further, [`ErrorKind::StorageUnavailable`],
    /// [`ErrorKind::Indeterminate`], [`ErrorKind::LowDisk`]; the text says how many workspaces are committed. Later pushes are
    /// ignored.
    pub fn push(&mut self, piece: &[u8]) -> Result<()> {
        self.import.push(piece);
        self.import.wait_ready(&self.core);
        if self.import.has_failed() {
            return self.import.outcome().map(drop);
        }
        Ok(())
    }

    /// What has been done so far.
    #[must_use]
    pub fn report(&self) -> ImportReport {
        self.import.report()
    }

    /// Ends the text and blocks until all of it is committed.
    ///
    /// # Errors
    /// As [`Self::push`]. If the text cannot be read to its end, the blocks of 1000 before that are committed.
    pub fn finish(mut self) -> Result<ImportReport> {
        self.import.end_text(&self.core);
        self.import.wait_over(&self.core);
        self.import.outcome()
    }
}

impl fmt::Debug for WorkspaceImport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkspaceImport")
            .field("report", &self.report())
            .finish_non_exhaustive()
    }
}

/// Imports.
impl Engine {
    /// Begins an import.
    #[must_use]
    pub fn import(&self) -> WorkspaceImport {
        let core = Arc::clone(&self.running.core);
        WorkspaceImport {
            import: Import::new(&core, Declared::Nothing, Caller::HOST),
            core,
        }
    }

    /// Begins an import that writes nothing: its report says what an import of the same text would do now, and how its names are
    /// understood.
    #[must_use]
    pub fn preview_import(&self) -> WorkspaceImport {
        let WorkspaceImport { core, import } = self.import();
        let import = import.dry_run();
        WorkspaceImport { core, import }
    }

    /// Imports values: creates and changes workspaces, each record by itself, with a commit for each 1000. The report counts
    /// the records from 1 as lines.
    ///
    /// # Errors
    /// [`ErrorKind::StorageUnavailable`], [`ErrorKind::Indeterminate`], [`ErrorKind::LowDisk`]; the text says how many
    /// workspaces are committed.
    pub fn import_workspaces(
        &self,
        patches: impl IntoIterator<Item = WorkspacePatch>,
    ) -> Result<ImportReport> {
        let mut import = self.import();
        for (line, patch) in (1..).zip(patches) {
            import.import.push_record(line, patch);
            import.import.wait_ready(&import.core);
            if import.import.has_failed() {
                break;
            }
        }
        import.finish()
    }
}
