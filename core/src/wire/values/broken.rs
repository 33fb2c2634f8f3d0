//! Records and pages that break off: how the splitter detects them, and where it starts again.

use super::state::Mode;
use super::text::{Piece, next_on_line, next_record};
use super::{NoRecord, ReadRecord, Values};

/// How often a text is read again at most, because it was taken for the inside of a record that breaks off. From then on, no line that may begin
/// a record is taken for the inside of another.
const REREADS_MAX: u8 = 4;

impl Values {
    /// Whether a record or page cannot continue with `byte`, which may begin the next record.
    pub(super) fn is_misplaced(&self, byte: u8, begins_line: bool) -> bool {
        let record = &self.record;
        // Such a record ends before it takes more lines as its inside.
        let is_strict = self.mode == Mode::Record
            && (record.too_long || record.rereads >= REREADS_MAX)
            && self.line.indent <= record.indent
            && !self.begins_list(byte);
        match (begins_line, byte) {
            (true, b'{' | b'[') => is_strict || !self.allows_value(),
            (false, b'{') => self.last == b',' && !self.allows_value(),
            _ => false,
        }
    }

    /// Whether the record, which has `byte` after a string, lost a quote before another record on its line.
    pub(super) fn ends_before(&mut self, text: &mut Piece<'_>, byte: u8) -> bool {
        let goes_on = matches!(byte, b',' | b':' | b'}' | b']');
        let record = &self.record;
        if self.last != b'"' || goes_on || !record.shares_line || record.too_long {
            return false;
        }
        self.keep(text.record());
        text.start = text.at;
        let string = self.record.kept.get(self.record.string_start..);
        string.is_some_and(|string| next_on_line(string).is_some())
    }

    /// The offset in the kept text at which the next record may begin: with a line, or from `on_line` also on a line with others.
    fn next_start(&self, on_line: Option<usize>) -> Option<usize> {
        let record = &self.record;
        if record.rereads >= REREADS_MAX {
            return None;
        }
        let on_line = on_line.filter(|_| record.shares_line).and_then(|start| {
            let length = next_on_line(record.kept.get(start..)?)?;
            Some(start + length)
        });
        let next = next_record(&record.kept, record.indent);
        next.into_iter().chain(on_line).min()
    }

    /// The record is longer than it may be: another may have begun in it, or it is no longer kept.
    pub(super) fn overflow(&mut self, text: &mut Piece<'_>, read: &mut ReadRecord<'_>) {
        self.keep(text.record());
        text.start = text.at;
        if self.mode == Mode::Record && self.next_start(None).is_some() {
            return self.break_record(b"", None, read);
        }
        self.record.too_long = true;
        self.record.kept = Vec::new();
    }

    /// A line ends inside a string.
    pub(super) fn break_line(&mut self, text: &mut Piece<'_>, read: &mut ReadRecord<'_>) {
        match self.mode {
            Mode::Record => {
                self.break_record(text.record(), None, read);
                text.start = text.at;
            }
            Mode::Page | Mode::Member => self.break_page(read),
            // A scalar ends with its line, in a string or not.
            Mode::Between | Mode::Scalar | Mode::Junk | Mode::Lost(_) => self.leave_string(),
        }
    }

    /// The page cannot continue like this.
    pub(super) fn break_page(&mut self, read: &mut ReadRecord<'_>) {
        let message = format!("The object with the array has no end, {}.", self.position());
        read(self.elements, Err(NoRecord::json(message)));
        self.leave_string();
        self.leave_lists();
        self.mode = Mode::Lost(usize::MAX);
    }

    /// The record does not go on after `part`. The text that was taken for its inside, and may begin records, is read again: lines, and
    /// from `on_line` also the rest of its line.
    pub(super) fn break_record(
        &mut self,
        part: &[u8],
        on_line: Option<usize>,
        read: &mut ReadRecord<'_>,
    ) {
        self.keep(part);
        self.leave_string();
        let next = self.next_start(on_line);
        let record = std::mem::take(&mut self.record);
        let text = &record.kept;
        let (broken, rest) = text.split_at(next.unwrap_or(text.len()));
        let begins_line = broken.ends_with(b"\n");
        // A short rest, no longer than the finished part, can be read again at any time.
        let rereads = record.rereads + u8::from(rest.len() > broken.len());
        let broken = broken.trim_ascii_end();
        // The inside of a record of several lines is indented more than the record.
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
            let lines = rest.split(|byte| *byte == b'\n').skip(1).count();
            self.line.number -= lines as u64;
            self.line.indent = 0;
            self.line.is_blank = true;
            self.line.has_records = !begins_line;
            let rereads = std::mem::replace(&mut self.rereads, rereads);
            self.push(rest, read);
            self.rereads = rereads;
        }
    }
}
