//! Telemetry, from Rust.

use crate::engine::typed::all_pages;
use crate::engine::{Engine, WriteFuture};
#[cfg(doc)]
use crate::error::ErrorKind;
use crate::error::Result;
use crate::model::{Received, Record, RemovedTelemetry, Stream, TelemetrySelection, user_key};
use crate::mutation::Caller;
use crate::store::telemetry::queue::Wanted;
use crate::view::activity::{ActivityView, Last24Hours};
use crate::view::history::{self, HistoryPage, HistoryQuery};
use crate::view::user::{self, UserView};

/// Telemetry.
impl Engine {
    /// Accepts one record; durable when this returns `Ok`.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] on a text that is too long or a number that is not finite,
    /// [`ErrorKind::QueueFull`], [`ErrorKind::StorageUnavailable`], [`ErrorKind::Indeterminate`], [`ErrorKind::LowDisk`].
    ///
    /// ```
    /// use deskfleet::{Engine, StatsRecord};
    ///
    /// let engine = Engine::in_memory()?;
    /// engine.record(StatsRecord { username: "jdoe".into(), processor_in_use: Some(12), ..StatsRecord::default() })?;
    /// assert_eq!(engine.queue_count(), 1);
    /// # Ok::<(), deskfleet::EngineError>(())
    /// ```
    pub fn record(&self, record: impl Into<Record>) -> Result<()> {
        let mut batch = self.batch();
        batch.push(&record.into())?;
        self.record_pushed(batch)
    }

    /// The same as a future that any executor can drive. The record is submitted at once, in this call; dropping the future
    /// does not take it back.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] at once; the future resolves to all others.
    pub fn record_async(&self, record: impl Into<Record>) -> Result<WriteFuture> {
        let mut batch = self.batch();
        batch.push(&record.into())?;
        Ok(self.record_pushed_async(batch))
    }

    /// Accepts records in one transaction: all of them, or none.
    ///
    /// # Errors
    /// Those of [`Self::record`].
    pub fn record_all(&self, records: &[Record]) -> Result<()> {
        let mut batch = self.batch();
        for record in records {
            batch.push(record)?;
        }
        self.record_pushed(batch)
    }

    /// Telemetry records that are durable and not yet filed into history.
    #[must_use]
    pub fn queue_count(&self) -> u64 {
        self.core().queued()
    }

    /// Removes telemetry now: from the queue, from history, and from what was derived from it alone. It keeps what may belong to
    /// a workspace on litigation hold. Rollups of days are of all streams, and those of hours of all instances: they stay if only
    /// some of these are selected. Records accepted meanwhile may be removed as well. It works on a full disk, and is safe to
    /// repeat after a failure.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] where nothing is selected, [`ErrorKind::LitigationHold`] where the instance is on hold,
    /// [`ErrorKind::StorageUnavailable`], [`ErrorKind::Indeterminate`].
    pub fn remove_telemetry(&self, selection: &TelemetrySelection) -> Result<RemovedTelemetry> {
        self.core().remove_telemetry(selection, Caller::HOST)
    }

    /// What is known of a user; `None` when neither a workspace nor telemetry knows one.
    ///
    /// # Errors
    /// [`ErrorKind::StorageUnavailable`] when the store cannot be read.
    pub fn user(&self, username: &str) -> Result<Option<UserView>> {
        let user = user_key(username);
        user::one(
            &self.core().telemetry_reader(Wanted::User(&user))?,
            username,
        )
    }

    /// What users did in the last 24 hours, newest first.
    ///
    /// # Errors
    /// [`ErrorKind::StorageUnavailable`] when the store cannot be read.
    pub fn activity_24_hours(&self) -> Result<Vec<ActivityView>> {
        let wanted = Wanted::Stream(Stream::Activity);
        let core = self.core();
        let mut reader = core.reader()?;
        let now = reader.now;
        let mut activities = Last24Hours::until(now);
        let mut views = Vec::new();
        while activities.needs_look() {
            activities.load_next(|| core.telemetry_reader(wanted))?;
            while let Some(activity) = activities.take_next(&reader)? {
                views.push(activity.view()?);
            }
            reader = core.reader()?;
            reader.now = now;
        }
        Ok(views)
    }

    /// One page of the history of an instance, oldest first.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] on a token of another list, [`ErrorKind::StorageUnavailable`] when the store cannot be
    /// read.
    pub fn history(&self, query: &HistoryQuery) -> Result<HistoryPage> {
        let wanted = Wanted::Instance(query.stream, &query.instance_id);
        history::page(&self.core().telemetry_reader(wanted)?, query)
    }

    /// The whole history that a query names, from its page on, oldest first, read page by page. Ends after the first error.
    pub fn all_history(
        &self,
        mut query: HistoryQuery,
    ) -> impl Iterator<Item = Result<Received>> + use<> {
        let engine = self.clone();
        all_pages(query.next_token.take(), move |next_token| {
            query.next_token = next_token;
            let page = engine.history(&query)?;
            Ok((page.records, page.next_token))
        })
    }
}

#[cfg(test)]
mod tests;
