//! Accepting telemetry into the queue.

use crate::domain::filing::filed_at;
use crate::error::{EngineError, ErrorKind};
use crate::model::{Received, Record};

use super::{Context, Done, Outcome};

impl Context<'_, '_> {
    /// Puts records into the queue: all of them, or none when they do not fit.
    pub(super) fn accept_telemetry(&mut self, records: Vec<Record>) -> Outcome {
        let count = records.len() as u64;
        if self.tables.queued() + count > self.config.limits.queue_records {
            return Err(EngineError::new(
                ErrorKind::QueueFull,
                "The telemetry queue is full; send the record again later.",
            ));
        }
        let (now, retention) = (self.now, self.config.retention_days);
        self.tables.accept(records.into_iter().map(|record| {
            let days = retention.of(record.stream());
            Received {
                filed_at: filed_at(record.sent_time(), now, days),
                received_at: now,
                record,
            }
        }));
        Ok(Done::Nothing)
    }
}
