//! The state of the splitter at its position.

/// The current line.
#[derive(Debug)]
pub(super) struct Line {
    /// Its number, from 1.
    pub(super) number: u64,
    /// Bytes of white space that begin it.
    pub(super) indent: usize,
    /// Whether it has nothing but white space so far.
    pub(super) is_blank: bool,
    /// Whether a list began in it, or a record ended.
    pub(super) has_records: bool,
}

/// Whether the splitter is in a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InString {
    No,
    Yes,
    /// After a backslash.
    Escaped,
}

/// The unfinished record.
#[derive(Debug, Default)]
pub(super) struct Unfinished {
    /// Its line, or its place in the lists.
    pub(super) number: u64,
    /// The white space that begins its line.
    pub(super) indent: usize,
    /// Its part in earlier pieces.
    pub(super) kept: Vec<u8>,
    /// Whether it is longer than it may be; it is not kept then.
    pub(super) too_long: bool,
    /// How often the text in which it begins had been read before.
    pub(super) rereads: u8,
    /// Whether it is an element of a list that has others, or its bracket, on the same line.
    pub(super) shares_line: bool,
    /// Where its last string begins in it.
    pub(super) string_start: usize,
}

/// The position of the splitter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
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
