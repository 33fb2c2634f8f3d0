//! CSV that arrives in pieces (RFC 4180): the first line names the fields, and an empty cell leaves its field unchanged.

use std::borrow::Cow;

use csv_core::{ReadRecordResult, Reader};

use crate::limits::CSV_CELLS_MAX;
use crate::model::{FieldValue, Fields as _, WorkspacePatch};
use crate::nearest::nearest;

use super::{Gathered, Unreadable};

/// Room for the cells of a line, to begin with.
const ROOM: usize = 1024;

/// Reads the lines of a CSV.
#[derive(Debug)]
pub(super) struct CsvRows {
    reader: Reader,
    /// The cells of the line that has begun, one after the other, in room that grows to `record_max`.
    cells: Vec<u8>,
    cells_length: usize,
    /// Where each cell ends.
    ends: Vec<usize>,
    ends_length: usize,
    record_max: usize,
    /// Whether the line that has begun has more cells or bytes than a line may have.
    too_long: bool,
    /// The field of each column, once the first line has been read; `None` where there is no such field.
    columns: Option<Vec<Option<usize>>>,
    /// The number of the line that is read.
    line: u64,
    /// Line ends inside of the record that has begun.
    inside: u64,
    /// Whether the last byte that was read is a line end.
    at_line_end: bool,
    /// Whether a record has begun.
    begun: bool,
}

impl CsvRows {
    pub(super) fn new(record_max: usize) -> Self {
        Self {
            reader: Reader::new(),
            cells: vec![0; ROOM.min(record_max)],
            cells_length: 0,
            ends: vec![0; CSV_CELLS_MAX],
            ends_length: 0,
            record_max,
            too_long: false,
            columns: None,
            line: 1,
            inside: 0,
            at_line_end: false,
            begun: false,
        }
    }

    pub(super) fn push(&mut self, mut piece: &[u8], into: &mut Gathered) -> Result<(), Unreadable> {
        while let Some(byte) = piece.first() {
            if !self.begun && matches!(byte, b'\r' | b'\n') {
                self.line += u64::from(*byte == b'\n');
                piece = piece.get(1..).unwrap_or_default();
            } else {
                self.begun = true;
                piece = self.read(piece, into)?;
            }
        }
        Ok(())
    }

    pub(super) fn finish(&mut self, into: &mut Gathered) -> Result<(), Unreadable> {
        // The end of the text ends a record, also inside of a quote; a line end does not end it there.
        let mut line_end: &[u8] = b"\n";
        while self.begun && !line_end.is_empty() {
            line_end = self.read(line_end, into)?;
        }
        if self.begun {
            self.end_in_quote(into)?;
        }
        if self.columns.is_none() {
            return Err("The CSV is empty: its first line must name the fields.".to_owned());
        }
        Ok(())
    }

    pub(super) fn bytes(&self) -> usize {
        self.cells.capacity() + self.ends.capacity() * size_of::<usize>()
    }

    /// The text ends inside of a quote, which is an error of its record: what follows the quote may be many lines.
    fn end_in_quote(&mut self, into: &mut Gathered) -> Result<(), Unreadable> {
        let ends = self.ends.get(..self.ends_length).unwrap_or_default();
        let before = ends.last().and_then(|end| self.cells.get(..*end));
        let line = self.line + line_ends(before.unwrap_or_default());
        let place = if self.too_long {
            format!("A quote on line {line} or after it")
        } else {
            format!(
                "The quote that begins cell {} on line {line}",
                ends.len() + 1
            )
        };
        let message = format!("{place} has no end: the rest of the text was read as its cell.");
        self.begun = false;
        if self.columns.is_none() {
            return Err(message);
        }
        into.errors
            .add(self.line, Some(ends.len() as u64 + 1), message);
        Ok(())
    }

    /// Reads on in the record that has begun. Returns what is left of the piece.
    fn read<'p>(&mut self, piece: &'p [u8], into: &mut Gathered) -> Result<&'p [u8], Unreadable> {
        let cells = self.cells.get_mut(self.cells_length..).unwrap_or_default();
        let ends = self.ends.get_mut(self.ends_length..).unwrap_or_default();
        let (result, read, cells, ends) = self.reader.read_record(piece, cells, ends);
        self.cells_length += cells;
        self.ends_length += ends;
        let (read, rest) = piece.split_at_checked(read).unwrap_or((piece, b""));
        self.inside += line_ends(read);
        self.at_line_end = read.last() == Some(&b'\n');
        match result {
            ReadRecordResult::InputEmpty => {}
            ReadRecordResult::OutputFull if self.cells.len() < self.record_max => {
                let room = (2 * self.cells.len()).min(self.record_max);
                self.cells.resize(room, 0);
            }
            // The rest of the line is read over what there is.
            ReadRecordResult::OutputFull | ReadRecordResult::OutputEndsFull => {
                self.too_long = true;
                (self.cells_length, self.ends_length) = (0, 0);
            }
            ReadRecordResult::Record => self.end_record(into)?,
            ReadRecordResult::End => self.begun = false,
        }
        Ok(rest)
    }

    fn end_record(&mut self, into: &mut Gathered) -> Result<(), Unreadable> {
        let too_long = std::mem::take(&mut self.too_long);
        let bytes = self.cells.get(..self.cells_length).unwrap_or_default();
        let ends = self.ends.get(..self.ends_length).unwrap_or_default();
        let max = self.record_max;
        let mut message =
            format!("The line is longer than {max} bytes, or has more than {CSV_CELLS_MAX} cells.");
        // Only in quotes does a record have line ends before its own, and the first of them is in a quote on its first line.
        if self.inside > u64::from(self.at_line_end) {
            let line = self.line;
            let more = format!(" A quote that was opened on line {line} may be missing its end.");
            message.push_str(&more);
        }
        let mut start = 0;
        let mut cells = ends.iter().map(|end| {
            let cell = bytes.get(start..*end).unwrap_or_default();
            start = *end;
            std::str::from_utf8(cell).map_err(|_| "The cell is not UTF-8: save the file as UTF-8.")
        });
        match &self.columns {
            None if too_long => return Err(message),
            None => {
                let names: Result<Vec<_>, _> = cells.collect();
                self.columns = Some(columns(self.line, &names?, into)?);
            }
            Some(_) if too_long => into.errors.add(self.line, Some(1), message),
            Some(columns) => row(self.line, columns, ends.len(), &mut cells, into),
        }
        self.line += self.inside;
        (self.cells_length, self.ends_length, self.inside) = (0, 0, 0);
        self.begun = false;
        Ok(())
    }
}

fn line_ends(text: &[u8]) -> u64 {
    text.split(|byte| *byte == b'\n').skip(1).count() as u64
}

/// The fields that the first line names.
fn columns(
    line: u64,
    names: &[&str],
    into: &mut Gathered,
) -> Result<Vec<Option<usize>>, Unreadable> {
    let [id, ..] = WorkspacePatch::FIELDS else {
        return Ok(Vec::new());
    };
    let mut columns = Vec::new();
    for name in names.iter().map(|name| name.trim()) {
        let mut specs = WorkspacePatch::FIELDS.iter();
        let field = specs.position(|spec| spec.name.eq_ignore_ascii_case(name));
        if field.is_some() && columns.contains(&field) {
            return Err(format!("The first line of the CSV names {name} twice."));
        }
        if field.is_none() {
            into.warn_unknown(line, "column", name);
        }
        columns.push(field);
    }
    if columns.contains(&Some(0)) {
        return Ok(columns);
    }
    let found = names.iter().find(|name| nearest(name, [id.name]).is_some());
    let meant = match found {
        Some(found) => format!(" Is it {found}?"),
        None if names.iter().any(|name| name.contains([';', '\t'])) => {
            " Separate them by commas.".to_owned()
        }
        None => String::new(),
    };
    Err(format!(
        "The first line of the CSV must name the fields, and among them {}.{meant}",
        id.name
    ))
}

/// Reads a line of `count` cells.
fn row(
    line: u64,
    columns: &[Option<usize>],
    count: usize,
    cells: &mut dyn Iterator<Item = Result<&str, &'static str>>,
    into: &mut Gathered,
) {
    if count != columns.len() {
        let columns = columns.len();
        let message = format!("The line has {count} cells, the first line {columns}.");
        let last = count.min(columns).max(1) as u64;
        return into.errors.add(line, Some(last), message);
    }
    let mut patch = WorkspacePatch::default();
    for ((column, field), cell) in (1..).zip(columns).zip(cells) {
        match (field, cell) {
            (_, Err(message)) => return into.errors.add(line, Some(column), message.to_owned()),
            (None, _) | (_, Ok("")) => {}
            (Some(field), Ok(cell)) => {
                patch.set(*field, FieldValue::Text(Cow::Borrowed(cell)));
            }
        }
    }
    into.add(line, 1, patch);
}
