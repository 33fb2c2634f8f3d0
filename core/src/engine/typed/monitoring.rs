//! Monitoring, from Rust.

use crate::api;
use crate::engine::Engine;
use crate::error::Result;
use crate::model::{Action, Condition, FleetCounts, StoreStatus};

/// Monitoring.
impl Engine {
    /// Counts of the workspaces and running actions as of now. If a workspace was written or an action ended since the last call,
    /// it reads every workspace, which takes 30 ms for 100 000; else it reads nothing.
    ///
    /// ```
    /// use deskfleet::{Engine, State, Workspace};
    ///
    /// let engine = Engine::in_memory()?;
    /// engine.put_workspace(Workspace { id: "ws-1".into(), state: Some(State::Available.into()), ..Workspace::default() })?;
    /// let counts = engine.fleet_counts()?;
    /// assert_eq!((counts.in_state(State::Available), counts.workspaces(), counts.held), (1, 1, 0));
    /// # Ok::<(), deskfleet::EngineError>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::StorageUnavailable`](crate::ErrorKind::StorageUnavailable) when the store cannot be read.
    pub fn fleet_counts(&self) -> Result<FleetCounts> {
        self.core().fleet_counts()
    }

    /// The fleet and the store in the Prometheus exposition format, as `GET /query/metrics` returns them: aggregates alone. Takes as long as
    /// [`Self::fleet_counts`]; what cannot be read is left out.
    ///
    /// ```
    /// let engine = deskfleet::Engine::in_memory()?;
    /// assert!(engine.metrics().contains("\ndeskfleet_workspaces_held 0\n"));
    /// # Ok::<(), deskfleet::EngineError>(())
    /// ```
    #[must_use]
    pub fn metrics(&self) -> String {
        api::query::metrics::text(self.core())
    }

    /// Everything that is wrong now, the worst first: with the fleet, the store, and what [`EngineBuilder::conditions`] returns. Reads every workspace.
    ///
    /// ```
    /// use deskfleet::{Engine, State, Workspace};
    ///
    /// let engine = Engine::in_memory()?;
    /// engine.put_workspace(Workspace { id: "ws-1".into(), state: Some(State::Unhealthy.into()), ..Workspace::default() })?;
    /// let conditions = engine.conditions();
    /// assert_eq!((conditions[0].code.as_str(), conditions[0].count), ("DesktopsUnhealthy", Some(1)));
    /// # Ok::<(), deskfleet::EngineError>(())
    /// ```
    ///
    /// [`EngineBuilder::conditions`]: crate::EngineBuilder::conditions
    #[must_use]
    pub fn conditions(&self) -> Vec<Condition> {
        self.core().conditions()
    }

    /// The conditions that upkeep saw last, without their subjects, and since when it has seen each; none where [`Alerts::every`] is 0. Reads no
    /// workspace.
    ///
    /// # Errors
    /// Those of a read.
    ///
    /// [`Alerts::every`]: crate::Alerts::every
    pub fn noted_conditions(&self) -> Result<Vec<Condition>> {
        self.core().noted_conditions()
    }

    /// Those of [`Self::conditions`] that make the store unready, see [`Self::ready`]. Reads no workspace. No text names a path.
    ///
    /// ```
    /// let engine = deskfleet::Engine::in_memory()?;
    /// assert!(engine.unready().is_empty());
    /// engine.close()?;
    /// assert_eq!(engine.unready()[0].code, "StorageUnavailable");
    /// # Ok::<(), deskfleet::EngineError>(())
    /// ```
    #[must_use]
    pub fn unready(&self) -> Vec<Condition> {
        self.core().unready()
    }

    /// The actions that are simulated: the clock ends them, and nothing happens to a desktop.
    pub fn simulated_actions(&self) -> impl Iterator<Item = Action> {
        self.core().actions().simulated()
    }

    /// How much is stored, how much of it is not filed yet, and how far retention has come.
    ///
    /// # Errors
    /// [`ErrorKind::StorageUnavailable`](crate::ErrorKind::StorageUnavailable) when the medium does not report its length.
    pub fn store_status(&self) -> Result<StoreStatus> {
        self.core().store_status()
    }
}
