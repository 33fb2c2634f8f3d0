//! Questions about the fleet, from Rust.

use crate::api;
use crate::engine::Engine;
#[cfg(doc)]
use crate::error::ErrorKind;
use crate::error::Result;
use crate::view::query::fleet::FleetSummary;
use crate::view::query::{Fleet, FleetQuery};

/// Questions about the fleet.
impl Engine {
    /// The JSON of a question, as the endpoint of that name below `/query/` returns it; the host needs no key. `query` is what
    /// follows the `?`, percent-encoded, and `body` is empty but for `preview`. [`Self::query`] returns values.
    ///
    /// ```
    /// use deskfleet::Engine;
    ///
    /// let engine = Engine::in_memory()?;
    /// let answer = engine.ask("workspaces", "state=in.STOPPED,ERROR&fields=workSpId,state", b"")?;
    /// assert!(answer.starts_with(br#"{"rows":[],"nextToken":null"#));
    /// # Ok::<(), deskfleet::EngineError>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] on an unknown question and on a wrong parameter, which the error names;
    /// [`ErrorKind::StorageUnavailable`] when the store cannot be read.
    pub fn ask(&self, question: &str, query: &str, body: &[u8]) -> Result<Vec<u8>> {
        api::ask::ask(self.core(), question, query, body)
    }

    /// Returns the [`FleetQuery::Answer`] of a question, such as a page of rows of a
    /// [`WorkspaceRowsQuery`](crate::query::WorkspaceRowsQuery). It writes nothing, not even an audit row.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] on a value that the question does not have, such as a column or an empty range, and on a
    /// token of another question or sort; [`ErrorKind::WorkSpaceNotFound`] for the timeline of an unknown workspace;
    /// [`ErrorKind::StorageUnavailable`] when the store cannot be read.
    pub fn query<Q: FleetQuery>(&self, question: &Q) -> Result<Q::Answer> {
        question.answer(&Fleet::new(self.core(), usize::MAX))
    }

    /// The fleet in numbers.
    ///
    /// # Errors
    /// [`ErrorKind::StorageUnavailable`] when the store cannot be read.
    ///
    /// ```
    /// let engine = deskfleet::Engine::in_memory()?;
    /// assert_eq!(engine.query_fleet()?.work_spaces, 0);
    /// # Ok::<(), deskfleet::EngineError>(())
    /// ```
    pub fn query_fleet(&self) -> Result<FleetSummary> {
        self.core().question_of_fleet()
    }
}

#[cfg(test)]
mod tests;
