//! A telemetry batch whose text arrives in pieces: its lines are read as they come, and only what they become is kept.

use crate::config::Limits;
use crate::engine_core::{EngineCore, Outcomes};
use crate::limits::BATCH_LINE_MORE;
use crate::model::{RecordRef, Stream};
use crate::store::telemetry::arrivals::Arrivals;
use crate::wire::body::{self, LineErrors};
use crate::wire::lines::Lines;
use crate::wire::reply;

use super::{Completion, Handled};

/// The lines of a batch, cut anywhere on their way in. Nothing is accepted before [`Self::finish`].
#[derive(Debug)]
pub(super) struct BatchLines {
    lines: Lines,
    batch: Batch,
}

#[derive(Debug, Default)]
struct Batch {
    arrivals: Arrivals,
    errors: LineErrors,
}

impl BatchLines {
    pub(super) fn new(limits: &Limits) -> Self {
        let record_max = limits.record_body_bytes.max(limits.processes_body_bytes);
        Self {
            lines: Lines::new(record_max.saturating_add(BATCH_LINE_MORE)),
            batch: Batch::default(),
        }
    }

    pub(super) fn push(&mut self, core: &EngineCore, piece: &[u8]) {
        let batch = &mut self.batch;
        self.lines
            .push(piece, &mut |line, text| batch.read(core, line, text));
    }

    /// The response comes once what was read is durable.
    pub(super) fn finish(mut self, core: &EngineCore) -> Handled {
        let mut batch = self.batch;
        self.lines
            .finish(&mut |line, text| batch.read(core, line, text));
        let (count, errors) = (batch.arrivals.records(), batch.errors);
        let ticket = core.accept_all(batch.arrivals)?;
        Ok(Completion::after(Outcomes::one(ticket), move || {
            let body = reply::accepted(count, &errors);
            Ok(reply::ok(reply::JSON, body))
        }))
    }

    /// The memory that the batch takes, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.batch.arrivals.bytes() + self.batch.errors.bytes() + self.lines.bytes()
    }
}

impl Batch {
    fn read(&mut self, core: &EngineCore, line: u64, text: Result<&[u8], String>) {
        let mut record = RecordRef::empty(Stream::Stats);
        let read = text.and_then(|text| body::batch_line(text, &mut record));
        match read {
            Ok(()) => _ = core.push(&mut self.arrivals, &record),
            Err(message) => self.errors.add(line, None, message),
        }
    }
}
