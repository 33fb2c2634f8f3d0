//! A telemetry batch whose text arrives in pieces: its lines are read as they come, and only what they become is kept.

use crate::engine_core::{EngineCore, Outcomes};
use crate::limits::{BATCH_LINE_MORE, Limits};
use crate::model::{RecordRef, Stream};
use crate::store::telemetry::arrivals::Arrivals;
use crate::wire::body::{self, LineErrors};
use crate::wire::reply;

use super::{Completion, Handled};

/// The lines of a batch, cut anywhere on their way in. Nothing is accepted before [`Self::finish`].
#[derive(Debug)]
pub(super) struct BatchLines {
    arrivals: Arrivals,
    errors: LineErrors,
    /// Lines that have ended.
    ended: u64,
    /// What has come of the next one.
    begun: Vec<u8>,
    /// Whether that has too many bytes already; they are not kept.
    begun_too_long: bool,
    line_max: usize,
}

impl BatchLines {
    pub(super) fn new(limits: &Limits) -> Self {
        let record_max = limits.record_body_bytes.max(limits.processes_body_bytes);
        Self {
            arrivals: Arrivals::default(),
            errors: LineErrors::default(),
            ended: 0,
            begun: Vec::new(),
            begun_too_long: false,
            line_max: record_max.saturating_add(BATCH_LINE_MORE),
        }
    }

    pub(super) fn push(&mut self, core: &EngineCore, mut piece: &[u8]) {
        while let Some(end) = piece.iter().position(|byte| *byte == b'\n') {
            let (line, rest) = piece.split_at(end);
            self.end_line(core, line);
            piece = rest.get(1..).unwrap_or_default();
        }
        self.keep(piece);
    }

    /// The response comes once what was read is durable.
    pub(super) fn finish(mut self, core: &EngineCore) -> Handled {
        self.end_line(core, b"");
        let (count, errors) = (self.arrivals.records(), self.errors);
        let ticket = core.accept_all(self.arrivals)?;
        Ok(Completion::after(Outcomes::one(ticket), move || {
            let body = reply::lines("accepted", count, &errors);
            Ok(reply::ok(reply::JSON, body))
        }))
    }

    /// The memory that the batch takes, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.arrivals.bytes() + self.errors.bytes() + self.begun.capacity()
    }

    fn keep(&mut self, text: &[u8]) {
        if self.begun_too_long || self.begun.len() + text.len() > self.line_max {
            self.begun_too_long = true;
            self.begun = Vec::new();
        } else {
            self.begun.extend_from_slice(text);
        }
    }

    /// The line that has begun ends with `text`.
    fn end_line(&mut self, core: &EngineCore, text: &[u8]) {
        self.ended += 1;
        if self.begun.is_empty() && !self.begun_too_long && text.len() <= self.line_max {
            return self.read(core, text);
        }
        self.keep(text);
        if self.begun_too_long {
            self.begun_too_long = false;
            let said = format!("The line is longer than {} bytes.", self.line_max);
            return self.errors.add(self.ended, said);
        }
        let mut line = std::mem::take(&mut self.begun);
        self.read(core, &line);
        line.clear();
        self.begun = line;
    }

    fn read(&mut self, core: &EngineCore, line: &[u8]) {
        if body::is_blank(line) {
            return;
        }
        let mut record = RecordRef::empty(Stream::Stats);
        match body::batch_line(line, &mut record) {
            Ok(()) => core.push(&mut self.arrivals, &record),
            Err(message) => self.errors.add(self.ended, message),
        }
    }
}
