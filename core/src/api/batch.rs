//! A telemetry batch whose text arrives in pieces: its records are read as they arrive, and only the encoded ones are kept.

use crate::config::Limits;
use crate::domain::filing::Dating;
use crate::domain::query::Query;
use crate::engine_core::{EngineCore, IncomingBatch, Outcomes};
use crate::error::Result;
use crate::limits::BATCH_LINE_MORE;
use crate::model::{RecordRef, Rejection, Stream};
use crate::mutation::Outcome;
use crate::wire::body::{self, LineErrors, LineWarnings};
use crate::wire::import::not_text;
use crate::wire::reply;
use crate::wire::values::{NoRecord, Values};

use super::{Completion, Handled};

/// The most first bytes that show a text to be in no format that is read.
const FIRST_BYTES: usize = 3;

const LATE: &str =
    "received more than an hour after the time in the record: it stands at its own time";
const AHEAD: &str = "the time in the record is more than 5 minutes ahead of the clock of the server: it stands at the time of receipt";

/// The stream of records without the name of their stream.
///
/// # Errors
/// The parameter names no stream.
pub(super) fn bare_stream(query: Query<'_>) -> Result<Option<Stream>> {
    query.one_of("stream", &Stream::ALL, Stream::name)
}

/// The records of a batch, in pieces that are cut anywhere. Nothing is accepted before [`Self::finish`].
#[derive(Debug)]
pub(super) struct BatchReader {
    values: Values,
    /// The first bytes of the text, up to three.
    first: Vec<u8>,
    batch: Batch,
}

#[derive(Debug)]
struct Batch {
    bare: Option<Stream>,
    incoming: IncomingBatch,
    errors: LineErrors,
    /// The refused records by reason, in the order of [`Rejection::ALL`].
    rejected: [u64; Rejection::ALL.len()],
    warnings: LineWarnings,
}

impl BatchReader {
    pub(super) fn new(limits: &Limits, bare: Option<Stream>) -> Self {
        let record_max = limits.record_body_bytes.max(limits.processes_body_bytes);
        Self {
            values: Values::new(record_max.saturating_add(BATCH_LINE_MORE), &[]),
            first: Vec::new(),
            batch: Batch {
                bare,
                incoming: IncomingBatch::default(),
                errors: LineErrors::default(),
                rejected: Default::default(),
                warnings: LineWarnings::default(),
            },
        }
    }

    pub(super) fn push(&mut self, core: &EngineCore, piece: &[u8]) {
        let missing = FIRST_BYTES - self.first.len();
        self.first.extend(piece.iter().take(missing));
        let batch = &mut self.batch;
        self.values
            .push(piece, &mut |line, text| batch.read(core, line, text));
    }

    /// Submits the records; the response comes once they are durable.
    pub(super) fn finish(mut self, core: &EngineCore) -> Handled {
        let mut batch = self.batch;
        let before = batch.errors.count();
        let end = self
            .values
            .finish(&mut |line, text| batch.read(core, line, text));
        // The error of an incomplete record says it already.
        if let (Err((line, message)), true) = (end, batch.errors.count() == before) {
            batch.refuse(line, (Rejection::Json, message));
        }
        let Batch {
            incoming,
            errors,
            rejected,
            warnings,
            ..
        } = batch;
        let count = incoming.records();
        if count == 0 && errors.count() > 0 {
            count_rejected(core, rejected);
            let message = match (not_text(&self.first), errors.count()) {
                (Some(message), _) => message.to_owned(),
                (None, 1) => "Nothing was accepted: the one record was refused.".to_owned(),
                (None, count) => format!("Nothing was accepted: all {count} records were refused."),
            };
            return Err(errors.into_problem(&message).into());
        }
        let accepted = core.accept_all(incoming);
        let claim = accepted.inspect_err(|error| core.count_unaccepted(error, count))?;
        let respond = move |core: &EngineCore, outcome: Outcome| {
            outcome.inspect_err(|error| core.count_unaccepted(error, count))?;
            count_rejected(core, rejected);
            let body = reply::accepted(count, &errors, &warnings);
            Ok(reply::ok(reply::JSON, body))
        };
        Ok(Completion::from_outcome(Outcomes::one(claim), respond))
    }

    /// The memory that the batch takes, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let batch = &self.batch;
        batch.incoming.bytes() + batch.errors.bytes() + batch.warnings.bytes() + self.values.bytes()
    }
}

impl Batch {
    fn read(&mut self, core: &EngineCore, line: u64, text: Result<&[u8], NoRecord>) {
        let text = match text {
            Ok(text) => text,
            Err(NoRecord { reason, message }) => return self.refuse(line, (reason, message)),
        };
        let mut record = RecordRef::empty(Stream::Stats);
        match body::batch_record((line, text), self.bare, &mut record, &mut self.warnings) {
            Ok(()) => match core.push(&mut self.incoming, &record) {
                Dating::Current => {}
                Dating::Late => self.warnings.warn(line, LATE),
                Dating::Ahead => self.warnings.warn(line, AHEAD),
            },
            Err(refusal) => self.refuse(line, refusal),
        }
    }

    fn refuse(&mut self, line: u64, (reason, message): (Rejection, String)) {
        if let Some(count) = self.rejected.get_mut(reason as usize) {
            *count += 1;
        }
        self.errors.add(line, None, message);
    }
}

/// Counts the refused records in the response to a batch.
fn count_rejected(core: &EngineCore, rejected: [u64; Rejection::ALL.len()]) {
    for (reason, records) in Rejection::ALL.into_iter().zip(rejected) {
        core.count_rejected(reason, records);
    }
}
