//! The bytes of a text: a piece of it, a name in it, and where its lines begin.

/// A longer name of a member names no list.
const NAME_MAX: usize = 16;

/// A piece of the text.
pub(super) struct Piece<'p> {
    pub(super) bytes: &'p [u8],
    /// Where the record begins in it.
    pub(super) start: usize,
    /// How much of it was taken.
    pub(super) at: usize,
    /// How much of it may be taken next.
    pub(super) end: usize,
}

impl<'p> Piece<'p> {
    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    pub(super) fn remaining(&self) -> &'p [u8] {
        self.bytes.get(self.at..self.end).unwrap_or_default()
    }

    /// What was taken of the record.
    pub(super) fn record(&self) -> &'p [u8] {
        self.bytes.get(self.start..self.at).unwrap_or_default()
    }
}

/// The first bytes of a name.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Name {
    bytes: [u8; NAME_MAX],
    length: usize,
}

impl Name {
    pub(super) fn extend(&mut self, bytes: &[u8]) {
        for byte in bytes.iter().take(NAME_MAX + 1) {
            if let Some(place) = self.bytes.get_mut(self.length) {
                *place = *byte;
            }
            self.length = self.length.saturating_add(1);
        }
    }

    pub(super) fn is_one_of(&self, names: &[&str]) -> bool {
        let name = self.bytes.get(..self.length);
        name.is_some_and(|name| {
            let same = |known: &&str| known.as_bytes().eq_ignore_ascii_case(name);
            names.iter().any(same)
        })
    }
}

/// Whether a byte begins an object or an array.
pub(super) fn begins_value(byte: u8) -> bool {
    matches!(byte, b'{' | b'[')
}

/// Whether a byte is one of a byte order mark, or the record separator of RFC 7464, which may be before a record.
pub(super) fn is_mark(byte: u8) -> bool {
    matches!(byte, 0xef | 0xbb | 0xbf | 0x1e)
}

pub(super) fn line_length(rest: &[u8]) -> usize {
    let end = rest.iter().position(|byte| *byte == b'\n');
    end.unwrap_or(rest.len())
}

/// The start of the first line, after the first one, that may begin a record: with a bracket, after at most `indent_max` bytes of
/// white space.
pub(super) fn next_record(text: &[u8], indent_max: usize) -> Option<usize> {
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

/// The start of the first object that follows another object and a comma on one line.
pub(super) fn next_on_line(text: &[u8]) -> Option<usize> {
    let mut last = [0; 2];
    for (place, byte) in text.iter().enumerate() {
        match (last, byte) {
            ([b'}', b','], b'{') => return Some(place),
            (_, b' ' | b'\t') => {}
            ([_, second], _) => last = [second, *byte],
        }
    }
    None
}
