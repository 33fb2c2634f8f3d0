//! The records of an import whose text arrives in pieces: its format, and the values of its records.

mod csv;
mod fields;
mod format;
mod names;

use std::collections::VecDeque;

use crate::domain::{bulk, validation};
use crate::limits::{BULK_UPSERT_CHUNK, IMPORT_WARNINGS_MAX};
use crate::model::{
    ComputeType, LineWarning, NameMapping, Protocol, RunningMode, State, Vocabulary, WorkspacePatch,
};
use crate::nearest::nearest;

use super::body::LineErrors;
use super::values::{NoRecord, Values};

use csv::CsvRows;
pub(crate) use format::{Declared, not_text};
use names::{LineNames, Names};

/// The members of an object that can hold a list of records.
const LISTS: &[&str] = &["workSpaces", "rows", "items", "value"];

/// Why a text cannot be read any further; a sentence for the sender.
type Unreadable = String;

/// The records that were read and not taken yet.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    /// Bytes of texts at which a part ends early; `None`: unbounded.
    part_bytes_max: Option<usize>,
    /// Readable records, each with its line.
    pub(crate) records: VecDeque<(u64, WorkspacePatch)>,
    pub(crate) errors: LineErrors,
    pub(crate) warnings: Vec<LineWarning>,
    /// The names of members and columns.
    names: Names,
    /// The unknown values with a warning, with the names of their fields.
    unknown: Vec<String>,
    /// The memory of the texts of the records, roughly.
    text_bytes: usize,
    /// Whether a record was readable.
    has_record: bool,
}

/// Splits a text into records and reads them.
#[derive(Debug)]
pub(crate) struct ImportReader {
    format: Format,
    declared: Declared,
    /// The longest record that is kept, in bytes.
    record_max: usize,
}

#[derive(Debug)]
enum Format {
    /// The first bytes, before the format is known.
    Unknown(Vec<u8>),
    Json(Box<Values>),
    Csv(Box<CsvRows>),
}

impl ImportReader {
    pub(crate) fn new(declared: Declared, record_max: usize) -> Self {
        Self {
            format: Format::Unknown(Vec::new()),
            declared,
            record_max,
        }
    }

    /// Reads the next piece.
    pub(crate) fn push(&mut self, piece: &[u8], into: &mut Gathered) -> Result<(), Unreadable> {
        let Format::Unknown(first) = &mut self.format else {
            return self.read(piece, into);
        };
        if first.is_empty() && self.begin(piece, false)? {
            return self.read(format::without_mark(piece), into);
        }
        let Format::Unknown(first) = &mut self.format else {
            return Ok(());
        };
        first.extend_from_slice(piece);
        let first = std::mem::take(first);
        if self.begin(&first, false)? {
            return self.read(format::without_mark(&first), into);
        }
        self.format = Format::Unknown(first);
        Ok(())
    }

    /// Ends the text.
    pub(crate) fn finish(&mut self, into: &mut Gathered) -> Result<(), Unreadable> {
        if let Format::Unknown(first) = &mut self.format {
            let first = std::mem::take(first);
            self.begin(&first, true)?;
            self.read(format::without_mark(&first), into)?;
        }
        match &mut self.format {
            Format::Unknown(_) => Ok(()),
            Format::Json(values) => {
                let end = values.finish(&mut |line, text| into.read_json(line, text));
                end.map_err(|(_, message)| message)?;
                if self.declared == Declared::Json {
                    into.check_document(values.has_begun())?;
                }
                Ok(())
            }
            Format::Csv(rows) => rows.finish(into),
        }
    }

    /// The memory that the unfinished record takes, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        match &self.format {
            Format::Unknown(first) => first.capacity(),
            Format::Json(values) => values.bytes(),
            Format::Csv(rows) => rows.bytes(),
        }
    }

    /// Selects the format by the first bytes, once they suffice; `is_whole`: they are the whole text.
    fn begin(&mut self, first: &[u8], is_whole: bool) -> Result<bool, Unreadable> {
        let record_max = self.record_max;
        self.format = match format::is_csv(first, self.declared, is_whole)? {
            None => return Ok(false),
            Some(true) => Format::Csv(Box::new(CsvRows::new(record_max))),
            Some(false) => Format::Json(Box::new(Values::new(record_max, LISTS))),
        };
        Ok(true)
    }

    fn read(&mut self, piece: &[u8], into: &mut Gathered) -> Result<(), Unreadable> {
        match &mut self.format {
            Format::Unknown(_) => Ok(()),
            Format::Json(values) => {
                values.push(piece, &mut |line, text| into.read_json(line, text));
                Ok(())
            }
            Format::Csv(rows) => rows.push(piece, into),
        }
    }
}

impl Gathered {
    /// No records yet; a part ends at this number of bytes of texts.
    pub(crate) fn in_parts(part_bytes_max: Option<usize>) -> Self {
        Self {
            part_bytes_max,
            ..Self::default()
        }
    }

    /// The memory that is taken, in bytes, roughly.
    pub(crate) fn bytes(&self) -> usize {
        let records = self.records.capacity() * size_of::<(u64, WorkspacePatch)>();
        records + self.text_bytes + self.errors.bytes() + self.names.bytes()
    }

    /// Whether the records fill a part, which is committed at once.
    pub(crate) fn has_part(&self) -> bool {
        bulk::fills_part(self.records.len(), self.text_bytes, self.part_bytes_max)
    }

    /// Takes the records of the next part, or all if they do not fill one.
    pub(crate) fn take_part(&mut self) -> Vec<(u64, WorkspacePatch)> {
        let sizes = self.records.iter().map(|(_, patch)| text_bytes(patch));
        self.take(bulk::part_length(sizes, self.part_bytes_max))
    }

    /// Takes the remaining records once the text has ended: all, or only whole parts of a text that could not be read to its end.
    /// If the bytes of a part are bounded, it takes the first of these parts.
    pub(crate) fn take_rest(&mut self, is_whole: bool) -> Vec<(u64, WorkspacePatch)> {
        let rest = self.records.len();
        match (self.part_bytes_max, is_whole) {
            (None, true) => self.take(rest),
            (None, false) => self.take(rest - rest % BULK_UPSERT_CHUNK),
            (Some(_), _) if self.has_rest(is_whole) => self.take_part(),
            (Some(_), _) => Vec::new(),
        }
    }

    /// Whether [`Self::take_rest`] would take more.
    pub(crate) fn has_rest(&self, is_whole: bool) -> bool {
        if is_whole {
            !self.records.is_empty()
        } else {
            self.has_part()
        }
    }

    /// Takes the first `count` records.
    fn take(&mut self, count: usize) -> Vec<(u64, WorkspacePatch)> {
        let taken: Vec<_> = if count < self.records.len() {
            self.records.drain(..count).collect()
        } else {
            Vec::from(std::mem::take(&mut self.records))
        };
        for (_, patch) in &taken {
            self.text_bytes = self.text_bytes.saturating_sub(text_bytes(patch));
        }
        taken
    }

    /// Refuses a JSON document that is empty, or in which there is no record but broken ones.
    fn check_document(&self, has_begun: bool) -> Result<(), Unreadable> {
        let [first, ..] = self.errors.first() else {
            let message = "The body is empty: it must be a workspace, an array of them, or an object with such an array.";
            return has_begun.then_some(()).ok_or_else(|| message.to_owned());
        };
        if self.has_record {
            return Ok(());
        }
        let (line, message) = (first.line, &first.message);
        Err(format!(
            "The body has no workspace that can be read. Record {line}: {message}"
        ))
    }

    /// Reads a record of JSON.
    fn read_json(&mut self, line: u64, text: Result<&[u8], NoRecord>) {
        let text = match text {
            Ok(text) => text,
            Err(none) => return self.errors.add(line, Some(1), none.message),
        };
        match fields::read_json(text, &mut self.names_of(line)) {
            Ok(fields) => match fields.missing_id() {
                None => self.add(line, 1, fields.finish()),
                Some(message) => self.errors.add(line, Some(1), format!("$: {message}")),
            },
            Err(error) => {
                let parts = &error.0;
                let message = format!("{}: {}.{}", parts.path, parts.found, parts.hint);
                self.errors.add(line, Some(parts.at.max(1) as u64), message);
            }
        }
    }

    /// Adds a record that was read, unless a value of it is not valid; `column` is where it begins.
    pub(crate) fn add(&mut self, line: u64, column: u64, patch: WorkspacePatch) {
        match validation::workspace(&patch.values()) {
            Ok(()) => {
                self.warn_unknown_value::<State>(line, "state", patch.state.value());
                let mode = patch.running_mode.value();
                self.warn_unknown_value::<RunningMode>(line, "runningMode", mode);
                let compute_type = patch.compute_type_name.value();
                self.warn_unknown_value::<ComputeType>(line, "computeTypeName", compute_type);
                self.warn_unknown_value::<Protocol>(line, "protocol", patch.protocol.value());
                self.warn_rounded_account(line, patch.account.value());
                self.text_bytes += text_bytes(&patch);
                self.has_record = true;
                self.records.push_back((line, patch));
            }
            Err(violation) => self.errors.add(line, Some(column), violation.message),
        }
    }

    /// The names so far, for reading line `line`.
    fn names_of(&mut self, line: u64) -> LineNames<'_> {
        LineNames {
            names: &mut self.names,
            warnings: &mut self.warnings,
            line,
        }
    }

    /// The meanings of the names so far.
    pub(crate) fn mapping(&self) -> Vec<NameMapping> {
        self.names.mapping()
    }

    /// Warns once of each unknown value of a field, which is kept.
    fn warn_unknown_value<T: Vocabulary>(
        &mut self,
        line: u64,
        field: &str,
        value: Option<&String>,
    ) {
        let Some(value) = value.filter(|value| T::named(value).is_none()) else {
            return;
        };
        self.warn_of_value(line, field, value, || {
            let meant = nearest(value, T::names());
            let hint = meant.map_or_else(
                || "it is kept as it is".to_owned(),
                |meant| format!("did you mean {meant}?"),
            );
            format!("unknown {field} {}; {hint}", names::shown(value))
        });
    }

    /// Warns once of each account that a spreadsheet has rounded, which is kept.
    fn warn_rounded_account(&mut self, line: u64, value: Option<&String>) {
        let Some(value) = value.filter(|value| is_rounded(value)) else {
            return;
        };
        self.warn_of_value(line, "account", value, || {
            format!(
                "account {value} is a number that a spreadsheet has rounded: format that column as text, and export it again with all its digits"
            )
        });
    }

    fn warn_of_value(
        &mut self,
        line: u64,
        field: &str,
        value: &str,
        message: impl FnOnce() -> String,
    ) {
        if self.warnings.len() == IMPORT_WARNINGS_MAX {
            return;
        }
        let of = format!("{field} {value}");
        if !self.unknown.contains(&of) {
            self.unknown.push(of);
            add_warning(&mut self.warnings, line, message());
        }
    }
}

/// Adds a warning, unless there are too many.
fn add_warning(warnings: &mut Vec<LineWarning>, line: u64, message: String) {
    if warnings.len() < IMPORT_WARNINGS_MAX {
        warnings.push(LineWarning { line, message });
    }
}

/// Whether a text is a number with an exponent, such as `1.1E+11`.
fn is_rounded(text: &str) -> bool {
    let Some((mantissa, exponent)) = text.split_once(['E', 'e']) else {
        return false;
    };
    let digits = |text: &str, others: &[char]| {
        !text.is_empty()
            && text
                .chars()
                .all(|char| char.is_ascii_digit() || others.contains(&char))
    };
    digits(mantissa, &['.', ',']) && digits(exponent.trim_start_matches('+'), &[])
}

/// The memory that the texts of a record take, in bytes.
fn text_bytes(patch: &WorkspacePatch) -> usize {
    bulk::text_bytes(&patch.values())
}

#[cfg(test)]
mod tests;
