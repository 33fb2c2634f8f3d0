//! Questions about the fleet, from Rust.

use crate::api;
use crate::engine::Engine;
#[cfg(doc)]
use crate::error::ErrorKind;
use crate::error::Result;
use crate::model::{Rows, Stream};
use crate::store::telemetry::queue::Wanted;
use crate::view::query::advice::{self, AdviceQuery, AdviceRow};
use crate::view::query::fleet::FleetSummary;
use crate::view::query::heatmap::{self, HeatmapCell, HeatmapQuery};
use crate::view::query::holds::{self, HoldRow, HoldsQuery};
use crate::view::query::preview::{self, PreviewQuery, PreviewRow};
use crate::view::query::processes::{self, ProcessRow, ProcessesQuery};
use crate::view::query::series::{self, Series, SeriesQuery};
use crate::view::query::startup::{self, StartupQuery, StartupReport};
use crate::view::query::timeline::{self, TimelineQuery, TimelineRow};
use crate::view::query::top::{self, TopQuery, TopRow};
use crate::view::query::workspaces::{WorkspaceRow, WorkspaceRowsQuery};

/// Questions about the fleet.
impl Engine {
    /// The answer to a question in JSON, as the endpoint below `/query/` of that name returns it; the host needs no key. `query` is what follows the
    /// `?`, percent-encoded, and `body` is empty but for `preview`. The other methods return values.
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
    /// [`ErrorKind::InvalidParameter`] on an unknown question and on a wrong parameter, which it names; [`ErrorKind::StorageUnavailable`] when the
    /// store cannot be read.
    pub fn ask(&self, question: &str, query: &str, body: &[u8]) -> Result<Vec<u8>> {
        api::query::ask(self.core(), question, query, body)
    }

    /// One page of workspaces as rows, filtered and sorted.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] on a sort by an unknown column or by more than three, and on a token of another question or another
    /// sort; [`ErrorKind::StorageUnavailable`] when the store cannot be read.
    pub fn query_workspaces(&self, query: &WorkspaceRowsQuery) -> Result<Rows<WorkspaceRow>> {
        self.core().workspace_rows(query, usize::MAX)
    }

    /// One page of the litigation holds, filtered and sorted.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] on a sort by an unknown column or by more than three, and on a token of another question or another
    /// sort; [`ErrorKind::StorageUnavailable`] when the store cannot be read.
    pub fn query_holds(&self, query: &HoldsQuery) -> Result<Rows<HoldRow>> {
        holds::holds(&self.core().reader()?, query)
    }

    /// The desktops with the worst values of a metric.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] on a statistic that the metric does not have, on a range that is empty, and on a token of another
    /// question; [`ErrorKind::StorageUnavailable`] when the store cannot be read.
    pub fn query_top(&self, query: &TopQuery) -> Result<Rows<TopRow>> {
        top::top(&self.core().rollup_reader()?, query)
    }

    /// What to do about each desktop, by its telemetry; a page ends early where many days were examined.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] on a range that is empty and on a token of another question; [`ErrorKind::StorageUnavailable`] when the store
    /// cannot be read.
    pub fn query_advice(&self, query: &AdviceQuery) -> Result<Rows<AdviceRow>> {
        let core = self.core();
        advice::advice(&core.rollup_reader()?, &core.config.cost, query)
    }

    /// What runs on the desktops, by the name of the process.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] on a range that is empty, on a sort by an unknown column or by more than three, and on a token of another
    /// question or another sort; [`ErrorKind::StorageUnavailable`] when the store cannot be read.
    pub fn query_processes(&self, query: &ProcessesQuery) -> Result<Rows<ProcessRow>> {
        let wanted = processes::wanted(query.instance_id.as_deref());
        processes::processes(&self.core().telemetry_reader(wanted)?, query)
    }

    /// The story of one desktop, newest first; a page ends early where many rows of the audit were examined.
    ///
    /// # Errors
    /// [`ErrorKind::WorkSpaceNotFound`] where nothing is known of the workspace; [`ErrorKind::InvalidParameter`] on a range that is empty and on a
    /// token of another question; [`ErrorKind::StorageUnavailable`] when the store cannot be read.
    pub fn query_timeline(&self, query: &TimelineQuery) -> Result<Rows<TimelineRow>> {
        let core = self.core();
        timeline::timeline(&core.reader()?, query, |wanted| {
            core.telemetry_reader(wanted)
        })
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

    /// What an action would do now to each of up to 1000 workspaces, by the rules of [`Self::act`]. Nothing is written, and no audit row is.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] on more ids, and on a compute type that does not exist; [`ErrorKind::StorageUnavailable`] when the store
    /// cannot be read.
    pub fn preview(&self, query: &PreviewQuery) -> Result<Rows<PreviewRow>> {
        preview::preview(&self.core().reader()?, query)
    }

    /// What metrics were over time, of one instance or of the fleet. Of an instance also what is not filed yet; of the fleet in whole hours.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] on a metric that is not known of it, and on a range that is empty;
    /// [`ErrorKind::StorageUnavailable`] when the store cannot be read.
    pub fn query_series(&self, query: &SeriesQuery) -> Result<Series> {
        let core = self.core();
        let reader = match &query.instance_id {
            Some(instance) => core.telemetry_reader(Wanted::Instance(Stream::Stats, instance))?,
            None => core.rollup_reader()?,
        };
        series::series(&reader, query)
    }

    /// How long startups took, of what is filed, in whole hours.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] on a range that is empty; [`ErrorKind::StorageUnavailable`] when the store cannot be read.
    pub fn query_startup(&self, query: &StartupQuery) -> Result<StartupReport> {
        startup::startups(&self.core().rollup_reader()?, query)
    }

    /// When the fleet is used, of what is filed, by hour of the week: 168 rows, Monday first.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] on a range that is empty, and on an offset of more than 14 hours; [`ErrorKind::StorageUnavailable`] when the
    /// store cannot be read.
    pub fn query_heatmap(&self, query: &HeatmapQuery) -> Result<Rows<HeatmapCell>> {
        heatmap::heatmap(&self.core().rollup_reader()?, query)
    }
}

#[cfg(test)]
mod tests;
