//! CSV that arrives in pieces (RFC 4180): the first line names the fields, and an empty cell leaves its field unchanged.
//!
//! It is read as spreadsheets and PowerShell write it: the separator is a comma, a semicolon or a tab; lines such as `sep=;` and `#TYPE …`
//! come before the names; cells have blanks around them; some lines are empty but for their separators; and files that were put together
//! repeat the line of names.

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

use crate::limits::CSV_CELLS_MAX;

use super::fields::RecordFields;
use super::names::{LineNames, Meaning, may_be_id, meaning, plain, shown};
use super::{Gathered, Unreadable};

/// Room for the cells of a line, to begin with.
const ROOM: usize = 1024;
/// The separators that are tried, the first of those that are equally frequent.
const SEPARATORS: [u8; 3] = *b",;\t";

/// Reads the lines of a CSV.
#[derive(Debug)]
pub(super) struct CsvRows {
    /// What has arrived of the first line; `None` once it has ended.
    head: Option<Head>,
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
    /// The columns, once the first line has been read.
    columns: Option<Vec<Column>>,
    /// The number of the line that is read.
    line: u64,
    /// Line ends inside of the record that has begun.
    inside: u64,
    /// Whether the last byte that was read is a line end.
    at_line_end: bool,
    /// Whether a record has begun.
    begun: bool,
}

/// A column, as the first line names it.
#[derive(Debug)]
struct Column {
    name: String,
    meaning: Meaning,
}

/// The line that shows which separator the text has.
#[derive(Debug, Default)]
struct Head {
    text: Vec<u8>,
    in_quote: bool,
    /// How often each of [`SEPARATORS`] is there outside of quotes.
    counts: [usize; SEPARATORS.len()],
    /// What a line `sep=` names.
    separator: Option<u8>,
}

impl Head {
    /// Takes a byte; returns whether it ends a line.
    fn push(&mut self, byte: u8) -> bool {
        if matches!(byte, b'\r' | b'\n') && !self.in_quote {
            return true;
        }
        self.text.push(byte);
        if byte == b'"' && self.text.first() != Some(&b'#') {
            self.in_quote = !self.in_quote;
        }
        let separators = SEPARATORS.iter().zip(&mut self.counts);
        for (_, count) in separators.filter(|(separator, _)| !self.in_quote && **separator == byte)
        {
            *count += 1;
        }
        false
    }

    /// Whether the line says how to read the text and names no fields. It is forgotten then.
    fn take_preamble(&mut self) -> bool {
        let text = String::from_utf8_lossy(&self.text);
        let text = text.trim();
        let is_preamble = is_preamble(text.trim_matches('"'));
        if is_preamble || text.is_empty() {
            let separator = text.trim_matches('"').as_bytes().get(SEP.len()).copied();
            let separator = separator.filter(|_| is_preamble && !text.starts_with('#'));
            *self = Self {
                // A tab at the end of the line was trimmed.
                separator: separator.or(self.separator),
                ..Self::default()
            };
            return true;
        }
        false
    }

    fn separator(&self) -> u8 {
        let all = SEPARATORS.iter().zip(&self.counts).rev();
        let most = all.max_by_key(|(_, count)| **count);
        let most = most.map_or(b',', |(separator, _)| *separator);
        self.separator.unwrap_or(most)
    }
}

const SEP: &str = "sep=";

/// Whether a line is one that spreadsheets (`sep=;`) or PowerShell (`#TYPE …`) write before the names.
fn is_preamble(line: &str) -> bool {
    let begins = |with: &str| {
        let begin = line.get(..with.len());
        begin.is_some_and(|begin| begin.eq_ignore_ascii_case(with))
    };
    begins("#TYPE") || begins(SEP) && line.len() <= SEP.len() + 1
}

impl CsvRows {
    pub(super) fn new(record_max: usize) -> Self {
        Self {
            head: Some(Head::default()),
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
        while let (Some(head), Some((byte, rest))) = (&mut self.head, piece.split_first()) {
            let is_end = head.push(*byte);
            if is_end && head.take_preamble() {
                self.line += u64::from(*byte == b'\n');
            } else if is_end || head.text.len() > self.record_max {
                self.end_head(into)?;
                if is_end {
                    self.read_all(&[*byte], into)?;
                }
            }
            piece = rest;
        }
        self.read_all(piece, into)
    }

    /// The first line has ended: it is read with the separator that it shows.
    fn end_head(&mut self, into: &mut Gathered) -> Result<(), Unreadable> {
        let Some(head) = self.head.take() else {
            return Ok(());
        };
        self.reader = ReaderBuilder::new().delimiter(head.separator()).build();
        self.read_all(&head.text, into)
    }

    fn read_all(&mut self, mut piece: &[u8], into: &mut Gathered) -> Result<(), Unreadable> {
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
        if let Some(head) = &mut self.head
            && !head.take_preamble()
        {
            self.end_head(into)?;
        }
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
        let head = self.head.as_ref().map_or(0, |head| head.text.capacity());
        let columns = self.columns.iter().flatten();
        let columns = columns.map(|column| size_of::<Column>() + column.name.capacity());
        let ends = self.ends.capacity() * size_of::<usize>();
        self.cells.capacity() + ends + head + columns.sum::<usize>()
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
        let cells = ends.iter().map(|end| {
            let cell = bytes.get(start..*end).unwrap_or_default();
            start = *end;
            let cell = std::str::from_utf8(cell);
            cell.map(trimmed)
                .map_err(|_| "The cell is not UTF-8: save the file as UTF-8.".to_owned())
        });
        let cells: Vec<Result<&str, String>> = cells.collect();
        match &self.columns {
            None if too_long => return Err(message),
            None => self.columns = Some(columns(self.line, cells, into)?),
            Some(_) if too_long => into.errors.add(self.line, Some(1), message),
            Some(_) if is_blank(&cells) => {}
            Some(columns) if is_header(columns, &cells) => {
                match self::columns(self.line, cells, into) {
                    Ok(columns) => self.columns = Some(columns),
                    Err(message) => into.errors.add(self.line, Some(1), message),
                }
            }
            Some(columns) => row(self.line, columns, cells, into),
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

/// A cell without blanks around it, unless it is one that only quotes make a cell: such a text is kept as it is. A byte order mark may be inside
/// of files that were put together.
fn trimmed(cell: &str) -> &str {
    if cell.contains([',', '"', '\r', '\n']) {
        return cell;
    }
    cell.trim_matches(|char: char| char.is_whitespace() || char == '\u{feff}')
}

/// Whether a line says nothing: it has separators alone, or is one that belongs before the names.
fn is_blank(cells: &[Result<&str, String>]) -> bool {
    let mut texts = cells.iter().map(|cell| cell.as_deref());
    texts.clone().all(|text| text == Ok(""))
        || texts.next().is_some_and(|text| text.is_ok_and(is_preamble))
}

/// Whether a line names the fields again: it has the name of the id's column, or in that column a name that is known and somewhere one that
/// means the id.
fn is_header(columns: &[Column], cells: &[Result<&str, String>]) -> bool {
    let is_id = |cell: &str| meaning(cell) == Meaning::Field(0);
    let texts = || cells.iter().filter_map(|cell| cell.as_deref().ok());
    let mut ids = columns.iter().zip(cells).filter_map(|(column, cell)| {
        let is_id = column.meaning == Meaning::Field(0);
        is_id.then_some((&column.name, cell.as_deref().unwrap_or_default()))
    });
    ids.any(|(name, id)| {
        let is_known = !id.is_empty() && meaning(id) != Meaning::Unknown;
        is_known && texts().any(is_id) || texts().any(|cell| cell.eq_ignore_ascii_case(name))
    })
}

/// The columns that a line names.
fn columns(
    line: u64,
    names: Vec<Result<&str, String>>,
    into: &mut Gathered,
) -> Result<Vec<Column>, Unreadable> {
    let mut columns: Vec<Column> = Vec::new();
    for name in names {
        let name = name?;
        let meaning = into.names_of(line).meaning("column", name);
        let mut before = columns.iter();
        if matches!(meaning, Meaning::Field(_))
            && before.any(|column| column.name.eq_ignore_ascii_case(name))
        {
            return Err(format!("Line {line} of the CSV names {name} twice."));
        }
        let name = name.to_owned();
        columns.push(Column { name, meaning });
    }
    let has_id = |column: &Column| column.meaning == Meaning::Field(0);
    if columns.iter().any(has_id) {
        return Ok(columns);
    }
    let names = columns
        .iter()
        .filter(|column| column.meaning == Meaning::Unknown);
    let mut names = names.map(|column| column.name.as_str());
    let found = names.find(|name| may_be_id(name));
    let meant = found.map(|found| format!(" Is it {found}?"));
    Err(format!(
        "The first line of the CSV must name the fields, and among them workSpId or WorkspaceId.{}",
        meant.unwrap_or_default()
    ))
}

/// Reads a line.
fn row(line: u64, columns: &[Column], cells: Vec<Result<&str, String>>, into: &mut Gathered) {
    let count = cells.len();
    // Columns without a name may lack their cells, and empty cells may be there without a column.
    let unnamed = columns.iter().skip(count).all(|of| of.name.is_empty());
    let extra = cells.iter().skip(columns.len());
    if !unnamed || extra.clone().any(|cell| cell.as_deref() != Ok("")) {
        let columns = columns.len();
        let message = format!("The line has {count} cells, the first line {columns}.");
        let last = count.min(columns).max(1) as u64;
        return into.errors.add(line, Some(last), message);
    }
    if let Some(id) = sums(columns, &cells) {
        let message = format!("the line of {} sums up others, and is skipped", shown(id));
        return into.warn_of_value(line, "sums", id, || message);
    }
    let mut names = into.names_of(line);
    let mut fields = RecordFields::default();
    for ((number, column), cell) in (1..).zip(columns).zip(cells) {
        let read = cell.and_then(|cell| {
            let read = read_cell(column, cell, &mut fields, &mut names);
            read.map_err(|message| format!("{message}."))
        });
        if let Err(message) = read {
            return into.errors.add(line, Some(number), message);
        }
    }
    into.add(line, 1, fields.finish());
}

/// What reports call a line that sums up the others, in the form of [`plain`].
const SUMS: [&str; 6] = [
    "average",
    "grandtotal",
    "subtotal",
    "sum",
    "total",
    "totals",
];

/// The cell of the id in a line that sums up others, as the last one of a report: a word for sums, with numbers in columns that are no fields and
/// nothing else. Of a desktop with that id the line says nothing.
fn sums<'c>(columns: &[Column], cells: &[Result<&'c str, String>]) -> Option<&'c str> {
    let mut id = None;
    let mut has_number = false;
    for (column, cell) in columns.iter().zip(cells) {
        match (column.meaning, *cell.as_ref().ok()?) {
            (_, "") => {}
            (Meaning::Field(0), text) => id = Some(text),
            (Meaning::Ignored | Meaning::Unknown, text) if is_number(text) => has_number = true,
            _ => return None,
        }
    }
    id.filter(|id| has_number && SUMS.contains(&plain(id.trim_end_matches(':')).as_str()))
}

/// Whether a cell is a number as spreadsheets format them.
fn is_number(text: &str) -> bool {
    let is_part = |char: char| char.is_ascii_digit() || ".,' +-%$€\u{a0}".contains(char);
    text.contains(|char: char| char.is_ascii_digit()) && text.chars().all(is_part)
}

/// Reads a cell; an error is a sentence without its full stop.
fn read_cell(
    column: &Column,
    cell: &str,
    fields: &mut RecordFields,
    names: &mut LineNames<'_>,
) -> Result<(), String> {
    let Column { name, meaning } = column;
    if cell.is_empty() {
        return Ok(());
    }
    let cell = Some(without_apostrophe(cell));
    fields.take(*meaning, name, cell, names)
}

/// A cell without the apostrophe that an export has put before what a spreadsheet would compute.
fn without_apostrophe(cell: &str) -> &str {
    let text = cell.strip_prefix('\'');
    text.filter(|text| text.starts_with(['=', '+', '-', '@']))
        .unwrap_or(cell)
}
