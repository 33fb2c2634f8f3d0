//! Splits JSON that arrives in pieces into its records.
//!
//! A text is any sequence of objects with white space or commas between them: NDJSON, arrays, pretty-printed values one after
//! another, and pages, which are objects with a list of records. This reads only brackets and strings; another reader takes the
//! values of a record.
//!
//! A broken record costs only itself. It is given up where a line ends inside a string, where an object follows a comma or a line begins
//! with a bracket in a place that can hold no value, and where the record grows too long with a line inside that may begin the next one.
//! The splitter starts again at the next record.

mod brackets;
mod broken;
mod state;
mod text;

use crate::model::Rejection;

use super::tokens::plain_length;

use brackets::Brackets;
use state::{InString, Line, Mode, Unfinished};
use text::{Name, Piece, begins_value, is_mark, line_length};

/// Why a text is no record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NoRecord {
    pub(crate) reason: Rejection,
    /// A sentence for the sender.
    pub(crate) message: String,
}

impl NoRecord {
    fn json(message: String) -> Self {
        Self {
            reason: Rejection::Json,
            message,
        }
    }
}

/// A function that gets a record with its number, or the reason why it is none. A broken record is passed as far as it goes, and
/// its reader refuses it.
type ReadRecord<'r> = dyn FnMut(u64, Result<&[u8], NoRecord>) + 'r;

/// Splits a text into records. It keeps one unfinished record at most.
#[derive(Debug)]
pub(crate) struct Values {
    mode: Mode,
    /// The longest record that is kept, in bytes.
    record_max: usize,
    /// The names of the members of a page that hold its records, in any case; none where pages are records like any other.
    lists: &'static [&'static str],
    /// The open brackets, first those around the records, then those of the record.
    open: Brackets,
    /// The number of brackets around the records.
    outer: usize,
    string: InString,
    /// The last byte that is neither white space nor inside a string.
    last: u8,
    /// The name of the current member, if it may be that of a list.
    name: Option<Name>,
    /// Whether the last name was that of a list.
    is_list: bool,
    line: Line,
    record: Unfinished,
    /// Records that were elements of a list.
    elements: u64,
    /// Whether there was anything but white space.
    has_begun: bool,
    /// How often the current text has been read before.
    rereads: u8,
}

impl Values {
    pub(crate) fn new(record_max: usize, lists: &'static [&'static str]) -> Self {
        Self {
            mode: Mode::Between,
            record_max,
            lists,
            open: Brackets::default(),
            outer: 0,
            string: InString::No,
            last: 0,
            name: None,
            is_list: false,
            line: Line {
                number: 1,
                indent: 0,
                is_blank: true,
                has_records: false,
            },
            record: Unfinished::default(),
            elements: 0,
            has_begun: false,
            rereads: 0,
        }
    }

    /// Takes the next piece. `read` gets each record that ends: in a list with its place, from 1 over all lists, else with the line on which
    /// it begins. A record that is too long is an error, which is its message.
    pub(crate) fn push(&mut self, piece: &[u8], read: &mut ReadRecord<'_>) {
        let mut text = Piece {
            bytes: piece,
            start: 0,
            at: 0,
            end: piece.len(),
        };
        while let Some(byte) = text.peek() {
            text.end = piece.len();
            if self.is_kept() && !self.record.too_long {
                let room = self.record_max.saturating_sub(self.record.kept.len());
                text.end = text.start.saturating_add(room).min(text.end);
                if text.at >= text.end {
                    self.overflow(&mut text, read);
                    continue;
                }
            }
            if self.string != InString::No {
                self.string(&mut text, read);
            } else if !self.white_space(&mut text, byte, read) {
                self.token(&mut text, byte, read);
            }
        }
        if self.is_kept() {
            self.keep(text.record());
        }
    }

    /// Whether what is read belongs to a record.
    fn is_kept(&self) -> bool {
        matches!(self.mode, Mode::Record | Mode::Scalar | Mode::Junk)
    }

    /// Takes white space outside of strings.
    fn white_space(&mut self, text: &mut Piece<'_>, byte: u8, read: &mut ReadRecord<'_>) -> bool {
        match byte {
            b'\n' => {
                if matches!(self.mode, Mode::Scalar | Mode::Junk) {
                    self.end_record(text.record(), read);
                }
                self.line.number += 1;
                self.line.indent = 0;
                self.line.is_blank = true;
                self.line.has_records = false;
            }
            b' ' | b'\t' | b'\r' => self.line.indent += usize::from(self.line.is_blank),
            _ if is_mark(byte) && (self.line.is_blank || self.mode == Mode::Between) => {}
            _ => return false,
        }
        text.at += 1;
        true
    }

    /// Takes a byte that is neither white space nor in a string, and perhaps some after it.
    fn token(&mut self, text: &mut Piece<'_>, byte: u8, read: &mut ReadRecord<'_>) {
        let begins_line = std::mem::replace(&mut self.line.is_blank, false);
        let is_misplaced = self.is_misplaced(byte, begins_line);
        match self.mode {
            Mode::Between => {
                self.has_begun = true;
                text.start = text.at;
                text.at += usize::from(self.between(byte, begins_line, read));
            }
            Mode::Record if is_misplaced => {
                self.line.is_blank = begins_line;
                self.break_record(text.record(), None, read);
                text.start = text.at;
                if let (Mode::Lost(indent_max), false) = (&mut self.mode, begins_line) {
                    *indent_max = usize::MAX;
                    self.line.is_blank = true;
                    self.line.has_records = true;
                }
            }
            // The record is unfinished, but its list has ended.
            Mode::Record if byte == b']' && self.is_own_member() && self.is_in_list() => {
                self.end_record(text.record(), read);
            }
            Mode::Record => self.record(text, byte, read),
            Mode::Scalar => match byte {
                b',' | b']' => self.end_record(text.record(), read),
                b'{' | b'[' | b':' => {
                    self.mode = Mode::Junk;
                    self.last = byte;
                }
                _ => {
                    if byte == b'"' {
                        self.string = InString::Yes;
                    }
                    text.at += 1;
                }
            },
            Mode::Junk if byte == b'{' && self.last == b',' => {
                self.end_record(text.record(), read);
            }
            Mode::Junk => {
                self.last = byte;
                text.at += 1;
                text.at += self.inert(text.remaining());
            }
            Mode::Page | Mode::Member if is_misplaced => {
                self.line.is_blank = true;
                self.break_page(read);
            }
            Mode::Page | Mode::Member => self.page(text, byte),
            Mode::Lost(indent_max) => {
                let begins = begins_value(byte) || (byte == b']' && self.outer > 0);
                if begins_line && byte == b',' {
                    self.line.is_blank = true;
                    text.at += 1;
                } else if begins_line && begins && self.line.indent <= indent_max {
                    self.line.is_blank = true;
                    self.mode = Mode::Between;
                    if byte == b'[' {
                        self.leave_lists();
                    }
                } else {
                    text.at += line_length(text.remaining());
                }
            }
        }
    }

    /// Takes a byte of a record.
    fn record(&mut self, text: &mut Piece<'_>, byte: u8, read: &mut ReadRecord<'_>) {
        if self.ends_before(text, byte) {
            let string_start = Some(self.record.string_start);
            return self.break_record(b"", string_start, read);
        }
        if byte == b'"' {
            self.record.string_start = self.record.kept.len() + text.record().len();
        }
        if self.begins_list(byte) && self.is_own_member() {
            self.begin_page();
            text.start = text.at;
            text.at += 1;
            return self.begin_list(byte);
        }
        text.at += 1;
        self.inside(byte);
        if self.open.depth == self.outer {
            self.end_record(text.record(), read);
        } else if self.string == InString::No {
            text.at += self.inert(text.remaining());
        }
    }

    /// Takes a byte of a page beside its list.
    fn page(&mut self, text: &mut Piece<'_>, byte: u8) {
        text.start = text.at;
        text.at += 1;
        if self.mode == Mode::Page && byte == b'}' {
            self.open.pop();
            self.outer = self.open.depth;
            self.end_value(byte);
        } else if self.mode == Mode::Page && self.begins_list(byte) {
            self.begin_list(byte);
        } else {
            self.inside(byte);
            self.mode = if self.open.depth > self.outer {
                Mode::Member
            } else {
                Mode::Page
            };
        }
    }

    /// Ends the text, and with it an unfinished record or list.
    ///
    /// # Errors
    /// A list that does not end: the number of its last record, and a sentence for the sender.
    pub(crate) fn finish(&mut self, read: &mut ReadRecord<'_>) -> Result<(), (u64, String)> {
        while self.mode == Mode::Record {
            // The list has ended and the record has not.
            let has_end = self.string == InString::No && self.last == b']';
            self.break_record(b"", has_end.then_some(0), read);
        }
        if matches!(self.mode, Mode::Scalar | Mode::Junk) {
            self.end_record(b"", read);
        }
        if self.outer > 0 {
            let message = format!("The body ends too early, {}.", self.position());
            return Err((self.elements.max(1), message));
        }
        Ok(())
    }

    /// Whether there was anything but white space.
    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// The memory that is taken, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.record.kept.capacity()
    }

    /// The position in the lists, for a message.
    fn position(&self) -> String {
        match self.elements {
            0 => "before the first element of the array".to_owned(),
            elements => format!("after element {elements} of the array"),
        }
    }

    /// Takes the rest of a string, or what the piece has of it.
    fn string(&mut self, text: &mut Piece<'_>, read: &mut ReadRecord<'_>) {
        let rest = text.remaining();
        let is_escaped = self.string == InString::Escaped;
        let length = if is_escaped { 0 } else { plain_length(rest) };
        let (plain, rest) = rest.split_at_checked(length).unwrap_or((rest, b""));
        text.at += length;
        self.extend_name(plain);
        let Some(byte) = rest.first() else {
            return;
        };
        match byte {
            b'\n' => return self.break_line(text, read),
            _ if is_escaped => {
                self.string = InString::Yes;
                self.extend_name(&[*byte]);
            }
            b'"' => {
                self.string = InString::No;
                self.last = b'"';
                if let Some(name) = self.name.take() {
                    self.is_list = name.is_one_of(self.lists);
                }
            }
            _ => {
                if *byte == b'\\' {
                    self.string = InString::Escaped;
                }
                self.extend_name(&[*byte]);
            }
        }
        text.at += 1;
    }

    fn extend_name(&mut self, bytes: &[u8]) {
        if let Some(name) = &mut self.name {
            name.extend(bytes);
        }
    }

    /// Takes a byte between records; returns `false` if it must be read again in the new state.
    fn between(&mut self, byte: u8, begins_line: bool, read: &mut ReadRecord<'_>) -> bool {
        let in_list = self.outer > 0;
        match byte {
            b',' => self.last = byte,
            b'{' => self.begin_record(Mode::Record),
            b'[' => {
                if in_list && begins_line && !matches!(self.last, b'[' | b',') {
                    let message = format!("The array has no end, {}.", self.position());
                    read(self.elements, Err(NoRecord::json(message)));
                    self.leave_lists();
                }
                self.begin_list(byte);
            }
            b']' if in_list => {
                self.open.pop();
                self.outer = self.open.depth;
                self.end_value(byte);
            }
            _ => {
                let mode = if in_list { Mode::Scalar } else { Mode::Junk };
                self.begin_record(mode);
                return false;
            }
        }
        true
    }

    /// Begins a list of records, or one record in place of a list.
    fn begin_list(&mut self, byte: u8) {
        if byte == b'{' {
            return self.begin_record(Mode::Record);
        }
        self.open.push(false);
        self.outer = self.open.depth;
        self.line.has_records = true;
        self.last = byte;
        self.mode = Mode::Between;
    }

    /// Whether the record itself is the innermost bracket.
    fn is_own_member(&self) -> bool {
        self.open.depth == self.outer + 1
    }

    /// Whether the record is in an array.
    fn is_in_list(&self) -> bool {
        self.outer > 0 && !self.open.ends_in_object(self.outer)
    }

    /// Turns the current record into a page: a list begins in it.
    fn begin_page(&mut self) {
        // The page was counted as an element.
        self.elements -= u64::from(self.outer > 0);
        // Pages do not nest, so a page around it is unfinished.
        if self.open.has_object(self.outer) {
            self.leave_lists();
            self.open.push(true);
        }
        self.outer = self.open.depth;
        self.record.kept = Vec::new();
        self.record.too_long = false;
    }

    fn begin_record(&mut self, mode: Mode) {
        let number = if self.outer > 0 {
            self.elements += 1;
            self.elements
        } else {
            self.line.number
        };
        self.mode = mode;
        self.record.number = number;
        self.record.indent = self.line.indent;
        self.record.rereads = self.rereads;
        self.record.shares_line = self.outer > 0 && self.line.has_records;
        self.is_list = false;
        if mode == Mode::Record {
            self.open.push(true);
            self.last = b'{';
        }
    }

    /// Takes a byte of a record, or of a page beside its list.
    fn inside(&mut self, byte: u8) {
        match byte {
            b'"' => {
                self.string = InString::Yes;
                let is_member =
                    self.mode == Mode::Page || (self.mode == Mode::Record && self.is_own_member());
                if is_member && matches!(self.last, b'{' | b',') && !self.lists.is_empty() {
                    self.is_list = false;
                    self.name = Some(Name::default());
                }
            }
            b'{' | b'[' => self.open.push(byte == b'{'),
            b'}' | b']' if self.open.depth > self.outer => self.open.pop(),
            _ => {}
        }
        self.last = byte;
    }

    /// Passes over bytes that are neither brackets, quotes nor white space; returns how many there are.
    fn inert(&mut self, rest: &[u8]) -> usize {
        let end = rest.iter().position(|byte| {
            matches!(
                byte,
                b'"' | b',' | b':' | b'{' | b'}' | b'[' | b']' | ..=b' '
            )
        });
        let inert = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        self.last = inert.last().copied().unwrap_or(self.last);
        inert.len()
    }

    /// Whether a value may come next in the record or page.
    fn allows_value(&self) -> bool {
        match self.last {
            b':' | b'[' => true,
            b',' => !self.open.ends_in_object(self.open.depth),
            _ => false,
        }
    }

    /// Whether the list of a page begins, if the page itself is the innermost bracket.
    fn begins_list(&self, byte: u8) -> bool {
        self.is_list && self.last == b':' && begins_value(byte)
    }

    fn keep(&mut self, part: &[u8]) {
        if !self.record.too_long {
            self.record.kept.extend_from_slice(part);
        }
    }

    /// The record ends with `part`.
    fn end_record(&mut self, part: &[u8], read: &mut ReadRecord<'_>) {
        let is_whole = self.record.kept.is_empty() && !self.record.too_long;
        if !is_whole {
            self.keep(part);
        }
        let text = if is_whole { part } else { &self.record.kept };
        let text = if self.record.too_long {
            Err(self.too_long())
        } else {
            Ok(text.trim_ascii_end())
        };
        read(self.record.number, text);
        self.record.kept.clear();
        self.record.too_long = false;
        self.open.depth = self.outer;
        self.end_value(b'}');
    }

    /// Ends a record or list with `byte`.
    fn end_value(&mut self, byte: u8) {
        self.line.has_records = true;
        self.last = byte;
        self.mode = if self.open.ends_in_object(self.outer) {
            Mode::Page
        } else {
            Mode::Between
        };
    }

    fn too_long(&self) -> NoRecord {
        NoRecord {
            reason: Rejection::TooLong,
            message: format!("The record is longer than {} bytes.", self.record_max),
        }
    }

    fn leave_string(&mut self) {
        self.string = InString::No;
        self.name = None;
    }

    /// Ends all lists and pages around the records.
    fn leave_lists(&mut self) {
        self.open = Brackets::default();
        self.outer = 0;
    }
}

#[cfg(test)]
mod tests;
