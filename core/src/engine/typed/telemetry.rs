//! Telemetry, from Rust.

use crate::engine::Engine;
#[cfg(doc)]
use crate::error::ErrorKind;
use crate::error::Result;
use crate::model::{Record, Stream, user_key};
use crate::store::telemetry::queue::Wanted;
use crate::timestamp::Timestamp;
use crate::view::activity::{ActivityView, Last24Hours};
use crate::view::history::{self, HistoryPage, HistoryQuery};
use crate::view::user::{self, UserView};

/// Telemetry.
impl Engine {
    /// Accepts one record; durable when this answers `Ok`.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] on a text that is too long or a number that is not finite,
    /// [`ErrorKind::QueueFull`], [`ErrorKind::StorageUnavailable`], [`ErrorKind::Indeterminate`], [`ErrorKind::LowDisk`].
    pub fn record(&self, record: &Record) -> Result<()> {
        self.record_all(std::slice::from_ref(record))
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
        self.record_batch(batch)
    }

    /// Telemetry records that are durable and not yet filed into history.
    #[must_use]
    pub fn queue_count(&self) -> u64 {
        self.machine().queued()
    }

    /// What is known of a user; `None` when neither a workspace nor telemetry knows one.
    ///
    /// # Errors
    /// [`ErrorKind::StorageUnavailable`] when the store cannot be read.
    pub fn user(&self, username: &str) -> Result<Option<UserView>> {
        let user = user_key(username);
        user::one(
            &self.machine().telemetry_reader(Wanted::User(&user))?,
            username,
        )
    }

    /// What users did in the last 24 hours, newest first.
    ///
    /// # Errors
    /// [`ErrorKind::StorageUnavailable`] when the store cannot be read.
    pub fn activity_24_hours(&self) -> Result<Vec<ActivityView>> {
        let wanted = Wanted::Stream(Stream::Activity);
        let machine = self.machine();
        let mut reader = machine.reader()?;
        let now = reader.now;
        let mut activities = Last24Hours::until(now, &machine.newest);
        let mut views = Vec::new();
        while activities.needs_look() {
            activities.look(|| machine.telemetry_reader(wanted))?;
            while let Some(activity) = activities.take_next(&reader)? {
                views.push(activity.view()?);
            }
            reader = machine.reader()?;
            reader.now = now;
        }
        Ok(views)
    }

    /// One page of the history of an instance, oldest first: filed times from `from`, inclusive, to `to`, exclusive.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] on a token of another list.
    pub fn history(
        &self,
        stream: Stream,
        instance_id: &str,
        from: Option<Timestamp>,
        to: Option<Timestamp>,
        limit: u32,
        next_token: Option<&str>,
    ) -> Result<HistoryPage> {
        let query = HistoryQuery {
            stream,
            instance_id: instance_id.to_owned(),
            from,
            to,
            limit: limit.max(1),
            next_token: next_token.map(str::to_owned),
        };
        let wanted = Wanted::Instance(stream, instance_id);
        history::page(&self.machine().telemetry_reader(wanted)?, &query)
    }
}
