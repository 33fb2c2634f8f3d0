//! An import of workspaces whose text arrives in pieces: read as it arrives, committed by the 1000, or only checked.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::task::{Poll, Waker, ready};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response};

use crate::domain::query::Query;
use crate::engine_core::{EngineCore, PendingWrite};
use crate::error::{EngineError, ErrorKind, Result};
use crate::limits::BULK_UPSERT_CHUNK;
use crate::model::identity::id_key;
use crate::model::{AuditResult, ImportReport, WorkspacePatch};
use crate::mutation::{
    Caller, ImportCounts, ImportWorkspaces, Imported, Outcome, is_spelled_as, merge_record,
};
use crate::view::workspaces;
use crate::wire::accept;
use crate::wire::import::{Declared, Gathered, ImportReader};
use crate::wire::problem::{Code, Problem};
use crate::wire::reply;

use super::Failure;

/// The records of an import, in pieces that are cut anywhere. One part is committed at a time while the next one gathers. The
/// memory is bounded if the caller awaits [`Self::poll_ready`] after each piece.
#[derive(Debug)]
pub(crate) struct Import {
    reader: ImportReader,
    gathered: Gathered,
    /// The part that is being committed.
    in_flight: Option<PendingWrite<Imported>>,
    /// The counts as of the last commit, without unreadable records.
    counts: ImportCounts,
    /// The audit row, once there is one.
    row: Option<u64>,
    /// Why nothing more is read.
    failure: Option<ImportFailure>,
    /// Whether the last part was submitted.
    ended: bool,
    /// Whether the records are only checked, and nothing is written.
    is_dry_run: bool,
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
            is_dry_run: false,
            by,
        }
    }

    /// The same, but nothing is written.
    pub(crate) fn dry_run(self) -> Self {
        Self {
            is_dry_run: true,
            ..self
        }
    }

    /// An import of a request's body.
    pub(super) fn of_body(
        core: &EngineCore,
        headers: &HeaderMap,
        query: Query<'_>,
        by: Caller,
    ) -> Self {
        let essence = accept::essence(headers).unwrap_or_default();
        let declared = match essence.as_str() {
            "text/csv" => Declared::Csv,
            "application/x-ndjson" | "application/ndjson" | "application/jsonl" => Declared::Lines,
            _ if accept::is_json(headers) => Declared::Json,
            _ => Declared::Nothing,
        };
        let import = Self::new(core, declared, by);
        match dry_run(query) {
            Ok(is_dry_run) => Self {
                is_dry_run,
                ..import
            },
            Err(error) => Self {
                failure: Some(ImportFailure::Engine(error)),
                ..import
            },
        }
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

    /// Stops reading; `message` is a sentence for the sender.
    pub(super) fn broken(&mut self, message: &str) {
        if self.failure.is_none() {
            self.failure = Some(ImportFailure::Unreadable(message.to_owned()));
        }
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Whether a part of it is durable, or will be.
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

    /// Submits a part if one has gathered. Ready when no further whole part is left.
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

    /// Ends the text. If it cannot be read to its end, only whole parts are written.
    pub(super) fn finish(mut self, core: &EngineCore) -> Result<Self, Failure> {
        self.end_text(core);
        if let (Some(failure), false) = (&self.failure, self.has_begun()) {
            return Err(failure.clone().into());
        }
        Ok(self)
    }

    /// Ends the text: submits the gathered records, now or once the part before is durable.
    pub(crate) fn end_text(&mut self, core: &EngineCore) {
        if self.failure.is_none() {
            let read = self.reader.finish(&mut self.gathered);
            self.failure = read.err().map(ImportFailure::Unreadable);
        }
        self.submit_end(core);
    }

    /// Ready when all parts are committed.
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

    /// The counts so far.
    pub(crate) fn report(&self) -> ImportReport {
        ImportReport {
            upserted: self.upserted(),
            rejected: self.gathered.errors.count(),
            committed: self.committed(),
            errors: self.gathered.errors.first().to_vec(),
            warnings: self.gathered.warnings.clone(),
            mapping: self.is_dry_run.then(|| self.gathered.mapping()),
        }
    }

    /// The report, at the end.
    pub(crate) fn outcome(&self) -> Result<ImportReport> {
        match self.failure.clone() {
            None => Ok(self.report()),
            Some(failure) => Err(failure.into_error(&self.committed_sentence())),
        }
    }

    /// The response, at the end.
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
                let error = failure.into_error(&self.committed_sentence());
                Problem::detailed(Code::InvalidBody, error.context())
            }
            ImportFailure::Engine(error) => Failure::Engine(error)
                .into_problem(core)
                .after(&self.committed_sentence()),
        };
        super::problem(core, &problem, traceparent)
    }

    /// The number of workspaces that are created or updated; in a dry run those that would be.
    fn upserted(&self) -> u64 {
        self.counts.created + self.counts.updated
    }

    fn committed(&self) -> u64 {
        if self.is_dry_run { 0 } else { self.upserted() }
    }

    /// A sentence about the parts committed before a failure; empty if there are none.
    fn committed_sentence(&self) -> String {
        match self.committed() {
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

    /// Submits the rest at once, unless a part is still being committed, so that a host commits a whole body once.
    fn submit_end(&mut self, core: &EngineCore) {
        // A part of a dry run needs no commit.
        while !self.ended && self.in_flight.is_none() {
            self.submit_rest(core);
        }
    }

    fn submit_rest(&mut self, core: &EngineCore) {
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

    /// Counts what a part would do, and what would be refused.
    fn check(&mut self, core: &EngineCore, records: Vec<(u64, WorkspacePatch)>) -> Result<()> {
        let reader = core.reader()?;
        // The new ids of this part: later records see them.
        let mut new_ids = BTreeMap::new();
        for (line, patch) in records {
            let id = patch.id.value().cloned().unwrap_or_default();
            let old = workspaces::entry(&reader, &id)?;
            let is_new = old.is_none();
            let checked = match merge_record(&reader.snapshot, old.as_ref(), patch)? {
                Ok(_) if is_new => add_new_id(&mut new_ids, id),
                checked => checked.map(drop),
            };
            match checked {
                Ok(()) if is_new => self.counts.created += 1,
                Ok(()) => self.counts.updated += 1,
                Err(error) => self.refuse(line, &error),
            }
        }
        Ok(())
    }

    fn refuse(&mut self, line: u64, error: &EngineError) {
        let message = format!("{}: {error}", error.kind().code());
        self.gathered.errors.add(line, Some(1), message);
    }

    fn submit(
        &mut self,
        core: &EngineCore,
        records: Vec<(u64, WorkspacePatch)>,
        ends: Option<AuditResult>,
    ) {
        if self.is_dry_run {
            // A failure to read the text stays: it is why only whole parts are checked.
            if let Err(error) = self.check(core, records) {
                self.failure = Some(ImportFailure::Engine(error));
            }
            return;
        }
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
                    self.refuse(line, &error);
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

/// Whether the query asks for a dry run. Only here an empty value differs from an absent one: otherwise `?dryRun` would write.
fn dry_run(query: Query<'_>) -> Result<bool> {
    if query
        .get_or_empty("dryRun")
        .is_some_and(|text| text.is_empty())
    {
        let message = "The value is empty: send dryRun=true, or leave it out.";
        return Err(EngineError::invalid("dryRun", message));
    }
    query.flag("dryRun")
}

/// Adds a new id; refuses it if an earlier one of the part is another spelling of it.
fn add_new_id(new_ids: &mut BTreeMap<String, String>, id: String) -> Result<()> {
    let form = id_key(&id).into_owned();
    match new_ids.entry(form) {
        Entry::Occupied(other) if *other.get() != id => Err(is_spelled_as(&id, other.get())),
        Entry::Occupied(_) => Ok(()),
        Entry::Vacant(entry) => {
            entry.insert(id);
            Ok(())
        }
    }
}

impl ImportFailure {
    fn into_error(self, committed: &str) -> EngineError {
        match self {
            Self::Unreadable(message) => {
                EngineError::new(ErrorKind::InvalidParameter, format!("{message}{committed}"))
            }
            Self::Engine(error) => error.followed_by(committed),
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
