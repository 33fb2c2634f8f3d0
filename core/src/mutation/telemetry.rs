//! Accepting telemetry into the queue.

use crate::error::Result;
use crate::store::telemetry::arrivals::Arrivals;
use crate::store::telemetry::queue;

use super::{Context, Outcome};

impl Context<'_, '_> {
    /// Puts records into the queue. That there is room was made sure of when they were accepted.
    pub(crate) fn accept_telemetry(&mut self, arrivals: Arrivals) -> Result<Outcome> {
        queue::append(self.tables, arrivals)?;
        Ok(Ok(()))
    }
}
