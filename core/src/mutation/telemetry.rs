//! Accepting telemetry into the queue.

use crate::error::Result;
use crate::model::WriteClass;
use crate::store::telemetry::arrivals::Arrivals;
use crate::store::telemetry::queue;

use super::{Context, Mutation, Outcome};

/// Appends records to the queue, which had room for them when they were accepted.
#[derive(Debug)]
pub(crate) struct Telemetry(
    /// Bytes of whole blocks.
    pub(super) Box<Arrivals>,
);

impl Telemetry {
    pub(crate) fn new(mut arrivals: Arrivals) -> Self {
        Self(Box::new(arrivals.take()))
    }

    /// Accepted records, in mutations that do not fill an entry each. One record alone may.
    pub(crate) fn in_parts(mut arrivals: Arrivals) -> impl Iterator<Item = Self> {
        use crate::limits::{BLOCK_BYTES_MAX, LOG_ENTRY_BYTES};

        let parts = arrivals
            .take()
            .into_parts(LOG_ENTRY_BYTES - BLOCK_BYTES_MAX);
        parts.into_iter().map(Self::new)
    }
}

impl Mutation for Telemetry {
    type Output = ();

    fn class(&self) -> WriteClass {
        WriteClass::Telemetry
    }

    fn bytes(&self) -> usize {
        self.0.bytes()
    }

    fn apply(self, context: &mut Context<'_, '_>) -> Result<Outcome> {
        queue::append(context.tables, *self.0)?;
        Ok(Ok(()))
    }
}
