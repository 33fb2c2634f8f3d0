//! Splits JSON that arrives in pieces into its records.
//!
//! A text is any sequence of objects with white space or commas between them: NDJSON, arrays, pretty-printed values one after another,
//! and pages, which are objects with a list of records. Only brackets and strings are looked at; what a record says is read elsewhere.
//!
//! A broken record costs only itself. It is given up where a line ends inside a string, or where a line begins with a bracket in a place
//! that can hold no value, and the splitter starts again at the next line that begins a record.

use super::tokens::plain_length;

/// Gets a record with its number, or what is wrong with it. A broken record is passed as far as it goes, for its reader to refuse.
type ReadRecord<'r> = dyn FnMut(u64, Result<&[u8], String>) + 'r;

/// A longer name of a member names no list.
const NAME_MAX: usize = 16;
/// How often a text is read again at most, because it was taken for the inside of a record that breaks off.
const REREADS_MAX: u8 = 4;

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
    in_string: bool,
    is_escaped: bool,
    /// The last byte that is neither white space nor inside a string.
    last: u8,
    /// The name of the member that is read, where it may be that of a list.
    name: Option<Name>,
    /// Whether the last name was that of a list.
    is_list: bool,
    /// The number of the line, from 1.
    line: u64,
    /// Bytes of white space that begin the line.
    indent: usize,
    /// Whether the line has nothing but white space so far.
    at_line_start: bool,
    record: Unfinished,
    /// Records that were elements of a list.
    elements: u64,
    /// Whether there was anything but white space.
    has_begun: bool,
    /// How often the text that is read has been read before.
    rereads: u8,
}

/// The record that has begun.
#[derive(Debug, Default)]
struct Unfinished {
    /// Its line, or its place in the lists.
    number: u64,
    /// The white space that begins its line.
    indent: usize,
    /// What has arrived of it in earlier pieces.
    kept: Vec<u8>,
    /// Whether it is longer than it may be; it is not kept then.
    too_long: bool,
    /// How often the text in which it begins had been read before.
    rereads: u8,
}

/// Where the splitter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Between records.
    Between,
    /// In an object that is a record, or a page whose list has not begun.
    Record,
    /// In an element of a list that is not an object.
    Scalar,
    /// In text that is not JSON; it goes to the end of the line.
    Junk,
    /// In a page, beside its list.
    Page,
    /// In another member of a page.
    Member,
    /// After a broken record, before a line that begins one with at most this much white space.
    Lost(usize),
}

/// Open brackets, each an object or an array. Beyond 128 all count as arrays: a reader refuses such a record.
#[derive(Debug, Clone, Copy, Default)]
struct Brackets {
    objects: u128,
    depth: usize,
}

impl Brackets {
    fn push(&mut self, is_object: bool) {
        if let Some(bit) = Self::bit(self.depth) {
            self.objects = self.objects & !bit | if is_object { bit } else { 0 };
        }
        self.depth += 1;
    }

    fn pop(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Whether bracket `index`, from 0, is open and that of an object.
    fn is_object(self, index: usize) -> bool {
        index < self.depth && Self::bit(index).is_some_and(|bit| self.objects & bit != 0)
    }

    /// Whether the innermost of the first `depth` is that of an object.
    fn ends_in_object(self, depth: usize) -> bool {
        depth > 0 && self.is_object(depth - 1)
    }

    fn has_object(self, depth: usize) -> bool {
        (0..depth.min(128)).any(|index| self.is_object(index))
    }

    fn bit(index: usize) -> Option<u128> {
        1_u128.checked_shl(u32::try_from(index).ok()?)
    }
}

/// The first bytes of a name.
#[derive(Debug, Clone, Copy, Default)]
struct Name {
    bytes: [u8; NAME_MAX],
    length: usize,
}

impl Name {
    fn extend(&mut self, bytes: &[u8]) {
        for byte in bytes.iter().take(NAME_MAX + 1) {
            if let Some(place) = self.bytes.get_mut(self.length) {
                *place = *byte;
            }
            self.length = self.length.saturating_add(1);
        }
    }

    fn is_one_of(&self, names: &[&str]) -> bool {
        let name = self.bytes.get(..self.length);
        name.is_some_and(|name| {
            let same = |known: &&str| known.as_bytes().eq_ignore_ascii_case(name);
            names.iter().any(same)
        })
    }
}

impl Values {
    pub(crate) fn new(record_max: usize, lists: &'static [&'static str]) -> Self {
        Self {
            mode: Mode::Between,
            record_max,
            lists,
            open: Brackets::default(),
            outer: 0,
            in_string: false,
            is_escaped: false,
            last: 0,
            name: None,
            is_list: false,
            line: 1,
            indent: 0,
            at_line_start: true,
            record: Unfinished::default(),
            elements: 0,
            has_begun: false,
            rereads: 0,
        }
    }

    /// Takes the next piece. `read` gets each record that ends: in a list with its place, from 1 over all lists, else with the line on which
    /// it begins. A record that is too long is an error, which is its message.
    pub(crate) fn push(&mut self, piece: &[u8], read: &mut ReadRecord<'_>) {
        // Where the record begins in the piece.
        let mut start = 0;
        let mut at = 0;
        while let Some(byte) = piece.get(at).copied() {
            if self.in_string {
                at = self.string(piece, at);
                if self.in_string && piece.get(at) == Some(&b'\n') {
                    match self.mode {
                        Mode::Record => {
                            self.break_record(piece.get(start..at).unwrap_or_default(), read);
                            start = at;
                        }
                        Mode::Page | Mode::Member => self.break_page(read),
                        // A scalar ends with its line, in a string or not.
                        Mode::Between | Mode::Scalar | Mode::Junk | Mode::Lost(_) => {
                            self.leave_string();
                        }
                    }
                }
                continue;
            }
            match byte {
                b'\n' => {
                    if matches!(self.mode, Mode::Scalar | Mode::Junk) {
                        self.end_record(piece.get(start..at).unwrap_or_default(), read);
                    }
                    self.line += 1;
                    self.indent = 0;
                    self.at_line_start = true;
                    at += 1;
                    continue;
                }
                b' ' | b'\t' | b'\r' => {
                    self.indent += usize::from(self.at_line_start);
                    at += 1;
                    continue;
                }
                _ => {}
            }
            let begins_line = std::mem::replace(&mut self.at_line_start, false);
            if is_mark(byte) && (begins_line || self.mode == Mode::Between) {
                self.at_line_start = begins_line;
                at += 1;
                continue;
            }
            match self.mode {
                Mode::Between => {
                    self.has_begun = true;
                    start = at;
                    at += usize::from(self.between(byte, begins_line, read));
                }
                Mode::Record if begins_line && begins_value(byte) && !self.allows_value() => {
                    self.at_line_start = true;
                    self.break_record(piece.get(start..at).unwrap_or_default(), read);
                    start = at;
                }
                Mode::Record => {
                    let ends_list = byte == b']'
                        && self.open.depth == self.outer + 1
                        && self.outer > 0
                        && !self.open.ends_in_object(self.outer);
                    if ends_list {
                        // The record has no end, but its list has.
                        self.end_record(piece.get(start..at).unwrap_or_default(), read);
                        continue;
                    }
                    at += 1;
                    if self.is_list && self.last == b':' && begins_value(byte) && self.is_page() {
                        self.begin_page();
                        self.begin_list(byte);
                        start = at - 1;
                        continue;
                    }
                    self.inside(byte);
                    if self.open.depth == self.outer {
                        self.end_record(piece.get(start..at).unwrap_or_default(), read);
                    } else if !self.in_string {
                        at += self.inert(piece.get(at..).unwrap_or_default());
                    }
                }
                Mode::Scalar => match byte {
                    b',' | b']' => {
                        self.end_record(piece.get(start..at).unwrap_or_default(), read);
                    }
                    b'{' | b'[' | b':' => self.mode = Mode::Junk,
                    _ => {
                        self.in_string = byte == b'"';
                        at += 1;
                    }
                },
                Mode::Junk => at += line_length(piece.get(at..).unwrap_or_default()),
                Mode::Page | Mode::Member
                    if begins_line && begins_value(byte) && !self.allows_value() =>
                {
                    self.at_line_start = true;
                    self.break_page(read);
                }
                Mode::Page if byte == b'}' => {
                    at += 1;
                    self.open.pop();
                    self.outer = self.open.depth;
                    self.end_value(byte);
                }
                Mode::Page if self.is_list && self.last == b':' && begins_value(byte) => {
                    at += 1;
                    self.begin_list(byte);
                    start = at - 1;
                }
                Mode::Page | Mode::Member => {
                    at += 1;
                    self.inside(byte);
                    self.mode = match self.open.depth > self.outer {
                        true => Mode::Member,
                        false => Mode::Page,
                    };
                }
                Mode::Lost(indent_max) => {
                    let begins = begins_value(byte) || (byte == b']' && self.outer > 0);
                    if begins_line && byte == b',' {
                        self.at_line_start = true;
                        at += 1;
                    } else if begins_line && begins && self.indent <= indent_max {
                        self.at_line_start = true;
                        self.mode = Mode::Between;
                        if byte == b'[' {
                            self.leave_lists();
                        }
                    } else {
                        at += line_length(piece.get(at..).unwrap_or_default());
                    }
                }
            }
        }
        if matches!(self.mode, Mode::Record | Mode::Scalar | Mode::Junk) {
            self.keep(piece.get(start..).unwrap_or_default());
        }
    }

    /// The text ends, and with it what has begun.
    ///
    /// # Errors
    /// A list that does not end: the number of its last record, and a sentence for the sender.
    pub(crate) fn finish(&mut self, read: &mut ReadRecord<'_>) -> Result<(), (u64, String)> {
        while self.mode == Mode::Record {
            self.break_record(b"", read);
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

    /// Where the text is in its lists, for a message.
    fn position(&self) -> String {
        match self.elements {
            0 => "before the first element of the array".to_owned(),
            elements => format!("after element {elements} of the array"),
        }
    }

    /// Scans a string on from `at`. Returns where the scan stops: after the string, at a line end, or at the end of the piece.
    fn string(&mut self, piece: &[u8], at: usize) -> usize {
        let rest = piece.get(at..).unwrap_or_default();
        let length = if self.is_escaped {
            0
        } else {
            plain_length(rest)
        };
        let (plain, rest) = rest.split_at_checked(length).unwrap_or((rest, b""));
        let at = at + length;
        if let Some(name) = &mut self.name {
            name.extend(plain);
            name.extend(
                rest.get(..1)
                    .filter(|next| *next != b"\"")
                    .unwrap_or_default(),
            );
        }
        match rest.first() {
            None | Some(b'\n') => at,
            Some(_) if std::mem::take(&mut self.is_escaped) => at + 1,
            Some(b'"') => {
                self.in_string = false;
                self.last = b'"';
                if let Some(name) = self.name.take() {
                    self.is_list = name.is_one_of(self.lists);
                }
                at + 1
            }
            Some(byte) => {
                self.is_escaped = *byte == b'\\';
                at + 1
            }
        }
    }

    /// Takes a byte between records; returns `false` where it is to be looked at again.
    fn between(&mut self, byte: u8, begins_line: bool, read: &mut ReadRecord<'_>) -> bool {
        let in_list = self.outer > 0;
        match byte {
            b',' => self.last = byte,
            b'{' => self.begin_record(Mode::Record),
            b'[' => {
                if in_list && begins_line && !matches!(self.last, b'[' | b',') {
                    let message = format!("The array has no end, {}.", self.position());
                    read(self.elements, Err(message));
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
        self.last = byte;
        self.mode = Mode::Between;
    }

    /// Whether the record, in which a list begins, is the object that has the list.
    fn is_page(&self) -> bool {
        self.open.depth == self.outer + 1
    }

    /// What has begun as a record is a page: a list begins in it.
    fn begin_page(&mut self) {
        // It was counted as an element.
        self.elements -= u64::from(self.outer > 0);
        // A page is in no other page, so one around it has no end.
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
            self.line
        };
        self.mode = mode;
        self.record.number = number;
        self.record.indent = self.indent;
        self.record.rereads = self.rereads;
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
                self.in_string = true;
                let is_member =
                    self.mode == Mode::Page || (self.mode == Mode::Record && self.is_page());
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

    fn keep(&mut self, part: &[u8]) {
        let record = &mut self.record;
        if record.too_long || record.kept.len() + part.len() > self.record_max {
            record.too_long = true;
            record.kept = Vec::new();
        } else {
            record.kept.extend_from_slice(part);
        }
    }

    /// The record ends with `part`.
    fn end_record(&mut self, part: &[u8], read: &mut ReadRecord<'_>) {
        let is_whole =
            self.record.kept.is_empty() && !self.record.too_long && part.len() <= self.record_max;
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

    /// A record or list has ended with `byte`.
    fn end_value(&mut self, byte: u8) {
        self.last = byte;
        self.mode = if self.open.ends_in_object(self.outer) {
            Mode::Page
        } else {
            Mode::Between
        };
    }

    fn too_long(&self) -> String {
        format!("The record is longer than {} bytes.", self.record_max)
    }

    fn leave_string(&mut self) {
        self.in_string = false;
        self.is_escaped = false;
        self.name = None;
    }

    /// All lists and pages around the records count as ended.
    fn leave_lists(&mut self) {
        self.open = Brackets::default();
        self.outer = 0;
    }

    /// The page does not go on as one does.
    fn break_page(&mut self, read: &mut ReadRecord<'_>) {
        let message = format!("The object with the array has no end, {}.", self.position());
        read(self.elements, Err(message));
        self.leave_string();
        self.leave_lists();
        self.mode = Mode::Lost(usize::MAX);
    }

    /// The record does not go on after `part`. The lines that were taken for its inside, and may begin records, are read again.
    fn break_record(&mut self, part: &[u8], read: &mut ReadRecord<'_>) {
        self.keep(part);
        self.leave_string();
        let text = std::mem::take(&mut self.record.kept);
        let record = std::mem::take(&mut self.record);
        let next = match record.rereads {
            REREADS_MAX.. => None,
            _ => next_record(&text, record.indent),
        };
        let (broken, rest) = text.split_at(next.unwrap_or(text.len()));
        let broken = broken.trim_ascii_end();
        // What is inside of a record that takes several lines is indented more than the record.
        let is_one_line = !record.too_long && !broken.contains(&b'\n');
        let text = if record.too_long {
            Err(self.too_long())
        } else {
            Ok(broken)
        };
        read(record.number, text);
        if self.open.ends_in_object(self.outer) {
            self.leave_lists();
        }
        self.open.depth = self.outer;
        self.mode = Mode::Lost(if is_one_line {
            usize::MAX
        } else {
            record.indent
        });
        if next.is_some() {
            let lines = rest.iter().filter(|byte| **byte == b'\n').count();
            self.line -= lines as u64;
            self.indent = 0;
            self.at_line_start = true;
            let rereads = std::mem::replace(&mut self.rereads, record.rereads + 1);
            self.push(rest, read);
            self.rereads = rereads;
        }
    }
}

/// Whether a byte begins an object or an array.
fn begins_value(byte: u8) -> bool {
    matches!(byte, b'{' | b'[')
}

/// Whether a byte is one of a byte order mark, or the record separator of RFC 7464, which may be before a record.
fn is_mark(byte: u8) -> bool {
    matches!(byte, 0xef | 0xbb | 0xbf | 0x1e)
}

fn line_length(rest: &[u8]) -> usize {
    let end = rest.iter().position(|byte| *byte == b'\n');
    end.unwrap_or(rest.len())
}

/// Where the first line after the first one begins that may begin a record: with a bracket, after `indent_max` bytes of white space at most.
fn next_record(text: &[u8], indent_max: usize) -> Option<usize> {
    let mut start = 0;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let inside = line.trim_ascii_start();
        let begins = inside.first().is_some_and(|byte| begins_value(*byte));
        if start > 0 && begins && line.len() - inside.len() <= indent_max {
            return Some(start);
        }
        start += line.len();
    }
    None
}

#[cfg(test)]
mod tests;
