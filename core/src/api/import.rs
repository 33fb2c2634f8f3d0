//! An import of workspaces whose text arrives in pieces: read as it arrives, committed by the 1000.

use std::task::{Poll, Waker, ready};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response};

use crate::engine_core::{EngineCore, PendingWrite};
use crate::error::{EngineError, ErrorKind, Result};
use crate::limits::BULK_UPSERT_CHUNK;
use crate::model::{AuditResult, ImportReport, WorkspacePatch};
use crate::mutation::{Caller, ImportCounts, ImportWorkspaces, Imported, Outcome};
use crate::wire::accept;
use crate::wire::import::{Declared, Gathered, ImportReader};
use crate::wire::problem::{Code, Problem};
use crate::wire::reply;

use super::Failure;

/// The records of an import, cut anywhere on their way in. One part of them is being committed at a time, and the next one gathers
/// meanwhile: the memory is bounded where [`Self::poll_ready`] is awaited after each piece.
#[derive(Debug)]
pub(crate) struct Import {
    reader: ImportReader,
    gathered: Gathered,
    /// The part that is being committed.
    in_flight: Option<PendingWrite<Imported>>,
    /// What is durable, by the last commit; records that were not readable are counted elsewhere.
    counts: ImportCounts,
    /// The audit row, once there is one.
    row: Option<u64>,
    /// Why nothing more is read.
    failure: Option<ImportFailure>,
    /// Whether the last part was submitted.
    ended: bool,
    by: Caller,
}

#[derive(Debug, Clone)]
enum ImportFailure {
    /// The body cannot be read any further; a sentence for the sender.
    Unreadable(String),
    Engine(EngineError),
}

impl Import {
    pub(crate) fn new(core: &EngineCore, declared: Declared, by: Caller) -> Self {
        Self {
            reader: ImportReader::new(declared, core.config.limits.record_body_bytes),
            gathered: Gathered::in_parts(core.bulk_bytes_max()),
            in_flight: None,
            counts: ImportCounts::default(),
            row: None,
            failure: None,
            ended: false,
            by,
        }
    }

    /// An import of a request's body.
    pub(super) fn of_body(core: &EngineCore, headers: &HeaderMap, by: Caller) -> Self {
        let essence = accept::essence(headers).unwrap_or_default();
        let declared = match essence.as_str() {
            "text/csv" => Declared::Csv,
            "application/x-ndjson" | "application/ndjson" | "application/jsonl" => Declared::Lines,
            _ if accept::is_json(headers) => Declared::Json,
            _ => Declared::Nothing,
        };
        Self::new(core, declared, by)
    }

    /// Reads the next piece.
    pub(crate) fn push(&mut self, piece: &[u8]) {
        if self.failure.is_none() {
            let read = self.reader.push(piece, &mut self.gathered);
            self.failure = read.err().map(ImportFailure::Unreadable);
        }
    }

    /// Adds a record; `line` is its number.
    pub(crate) fn push_record(&mut self, line: u64, patch: WorkspacePatch) {
        self.gathered.add(line, 1, patch);
    }

    /// Nothing more is read; `message` is a sentence for the sender.
    pub(super) fn broken(&mut self, message: &str) {
        if self.failure.is_none() {
            self.failure = Some(ImportFailure::Unreadable(message.to_owned()));
        }
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Whether something of it is durable, or will be.
    pub(crate) fn has_begun(&self) -> bool {
        self.row.is_some() || self.in_flight.is_some()
    }

    /// The memory that is taken, in bytes, roughly.
    pub(super) fn bytes(&self) -> usize {
        let in_flight = self.in_flight.as_ref().map_or(0, |_| {
            BULK_UPSERT_CHUNK * size_of::<(u64, WorkspacePatch)>()
        });
        self.reader.bytes() + self.gathered.bytes() + in_flight
    }

    /// Submits a part if one has gathered. Ready when less than another one is left.
    pub(crate) fn poll_ready(&mut self, core: &EngineCore, waker: &Waker) -> Poll<()> {
        while self.has_part() {
            ready!(self.poll_landed(core, waker));
            self.submit_part(core);
        }
        Poll::Ready(())
    }

    /// As [`Self::poll_ready`], but blocks.
    pub(crate) fn wait_ready(&mut self, core: &EngineCore) {
        while self.has_part() {
            self.wait_landed(core);
            self.submit_part(core);
        }
    }

    fn has_part(&self) -> bool {
        self.gathered.has_part() && self.failure.is_none()
    }

    /// The text ends. Of one that cannot be read to its end, whole parts alone are written; nothing of a smaller one.
    pub(super) fn finish(mut self, core: &EngineCore) -> Result<Self, Failure> {
        self.end_text(core);
        if let (Some(failure), false) = (&self.failure, self.has_begun()) {
            return Err(failure.clone().into());
        }
        Ok(self)
    }

    /// The text ends: what has gathered is submitted, now or once the part before is durable.
    pub(crate) fn end_text(&mut self, core: &EngineCore) {
        if self.failure.is_none() {
            let read = self.reader.finish(&mut self.gathered);
            self.failure = read.err().map(ImportFailure::Unreadable);
        }
        self.submit_end(core);
    }

    /// Ready when all is over.
    pub(crate) fn poll_over(&mut self, core: &EngineCore, waker: &Waker) -> Poll<()> {
        while self.in_flight.is_some() {
            ready!(self.poll_landed(core, waker));
            self.submit_end(core);
        }
        Poll::Ready(())
    }

    /// As [`Self::poll_over`], but blocks.
    pub(crate) fn wait_over(&mut self, core: &EngineCore) {
        while self.in_flight.is_some() {
            self.wait_landed(core);
            self.submit_end(core);
        }
    }

    /// Whether a part is being committed.
    pub(crate) fn is_pending(&self) -> bool {
        self.in_flight.is_some()
    }

    /// What has been done so far.
    pub(crate) fn report(&self) -> ImportReport {
        let done = self.counts.created + self.counts.updated;
        ImportReport {
            upserted: done,
            rejected: self.gathered.errors.count(),
            committed: done,
            errors: self.gathered.errors.first().to_vec(),
            warnings: self.gathered.warnings.clone(),
        }
    }

    /// What has been done, once all is over.
    pub(crate) fn outcome(&self) -> Result<ImportReport> {
        match self.failure.clone() {
            None => Ok(self.report()),
            Some(failure) => Err(failure.into_error(&self.done())),
        }
    }

    /// The response, once all is over.
    pub(crate) fn respond(
        &self,
        core: &EngineCore,
        traceparent: Option<&HeaderValue>,
    ) -> Response<Bytes> {
        let Some(failure) = self.failure.clone() else {
            return reply::ok(reply::JSON, reply::view(&self.report()));
        };
        let problem = match failure {
            ImportFailure::Unreadable(_) => {
                let error = failure.into_error(&self.done());
                Problem::detailed(Code::InvalidBody, error.context())
            }
            ImportFailure::Engine(error) => Failure::Engine(error)
                .into_problem(core)
                .after(&self.done()),
        };
        super::problem(core, &problem, traceparent)
    }

    /// A sentence about what was done before a failure; none where that is nothing.
    fn done(&self) -> String {
        match self.counts.created + self.counts.updated {
            0 => String::new(),
            count => format!(" The first {count} workspaces are committed."),
        }
    }

    fn submit_part(&mut self, core: &EngineCore) {
        if self.has_part() {
            let records = self.gathered.take_part();
            self.submit(core, records, None);
        }
    }

    /// Submits the rest at once, so that a host that commits does so once for a whole body; unless a part is still being committed.
    fn submit_end(&mut self, core: &EngineCore) {
        if self.ended || self.in_flight.is_some() {
            return;
        }
        let is_whole = match &self.failure {
            None => true,
            Some(ImportFailure::Unreadable(_)) => false,
            Some(ImportFailure::Engine(_)) => {
                self.ended = true;
                return;
            }
        };
        let part = self.gathered.take_rest(is_whole);
        self.ended = !self.gathered.has_rest(is_whole);
        if is_whole || self.row.is_some() || !part.is_empty() {
            let ends = if is_whole {
                AuditResult::Completed
            } else {
                AuditResult::Failed
            };
            self.submit(core, part, self.ended.then_some(ends));
        }
    }

    fn submit(
        &mut self,
        core: &EngineCore,
        records: Vec<(u64, WorkspacePatch)>,
        ends: Option<AuditResult>,
    ) {
        let rejected = self.gathered.errors.count();
        self.in_flight = Some(core.submit(ImportWorkspaces {
            records,
            counts: ImportCounts {
                rejected,
                ..self.counts
            },
            row: self.row,
            ends,
            by: self.by.clone(),
        }));
    }

    fn poll_landed(&mut self, core: &EngineCore, waker: &Waker) -> Poll<()> {
        if let Some(pending) = &mut self.in_flight {
            let outcome = ready!(core.poll(&mut pending.claim, waker));
            self.land(outcome);
        }
        Poll::Ready(())
    }

    fn wait_landed(&mut self, core: &EngineCore) {
        if let Some(pending) = &mut self.in_flight {
            let outcome = core.wait(&mut pending.claim);
            self.land(outcome);
        }
    }

    fn land(&mut self, outcome: Outcome) {
        let Some(pending) = self.in_flight.take() else {
            return;
        };
        match outcome.and_then(|()| pending.output.take()) {
            Ok(imported) => {
                self.row = Some(imported.row);
                self.counts = imported.counts;
                for (line, error) in imported.refused {
                    let message = format!("{}: {error}", error.kind().code());
                    self.gathered.errors.add(line, Some(1), message);
                }
                if let Some(error) = imported.ended {
                    self.failure = Some(ImportFailure::Engine(error));
                }
            }
            Err(error) => {
                let is_part = self.row.is_some();
                let error = if is_part { error.after_a_part() } else { error };
                self.failure = Some(ImportFailure::Engine(error));
            }
        }
    }
}

impl ImportFailure {
    fn into_error(self, done: &str) -> EngineError {
        match self {
            Self::Unreadable(message) => {
                EngineError::new(ErrorKind::InvalidParameter, format!("{message}{done}"))
            }
            Self::Engine(error) => error.followed_by(done),
        }
    }
}

impl From<ImportFailure> for Failure {
    fn from(failure: ImportFailure) -> Self {
        match failure {
            ImportFailure::Unreadable(message) => {
                Self::Problem(Problem::detailed(Code::InvalidBody, message))
            }
            ImportFailure::Engine(error) => Self::Engine(error),
        }
    }
}
