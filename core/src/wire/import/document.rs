//! A JSON document that arrives in pieces: the elements of its array, alone or as the member `workSpaces` of an object.

use super::{Gathered, Unreadable};

/// Cuts the elements out of the document. What is inside of an element is not looked at here.
#[derive(Debug)]
pub(super) struct Document {
    next: Next,
    /// The value that has begun.
    value: Option<Value>,
    /// What has arrived of it, if it is read.
    text: Vec<u8>,
    /// Whether that is longer than it may be; it is not kept then.
    too_long: bool,
    record_max: usize,
    /// Whether the array is a member of an object.
    is_member: bool,
    /// Whether the array has begun.
    has_list: bool,
    /// Elements that have ended.
    elements: u64,
}

/// What may come next, between values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Root,
    NameOrEnd,
    Name,
    /// Whether the member is the array.
    Colon(bool),
    MemberValue(bool),
    MemberEnd,
    ElementOrEnd,
    Element,
    ElementEnd,
    Nothing,
}

/// How far a value has been scanned.
#[derive(Debug, Default)]
struct Value {
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl Value {
    /// Scans on; returns where the value ends, if it does in `piece`.
    fn scan(&mut self, piece: &[u8]) -> Option<usize> {
        for (index, byte) in piece.iter().enumerate() {
            if self.escaped {
                self.escaped = false;
                continue;
            }
            match byte {
                b'\\' if self.in_string => self.escaped = true,
                b'"' => {
                    self.in_string = !self.in_string;
                    if !self.in_string && self.depth == 0 {
                        return Some(index + 1);
                    }
                }
                _ if self.in_string => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' | b',' | b' ' | b'\t' | b'\r' | b'\n' if self.depth == 0 => {
                    return Some(index);
                }
                b'}' | b']' => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return Some(index + 1);
                    }
                }
                _ => {}
            }
        }
        None
    }
}

impl Document {
    pub(super) fn new(record_max: usize) -> Self {
        Self {
            next: Next::Root,
            value: None,
            text: Vec::new(),
            too_long: false,
            record_max,
            is_member: false,
            has_list: false,
            elements: 0,
        }
    }

    pub(super) fn push(&mut self, mut piece: &[u8], into: &mut Gathered) -> Result<(), Unreadable> {
        while let Some(byte) = piece.first() {
            if let Some(value) = &mut self.value {
                let Some(end) = value.scan(piece) else {
                    self.keep(piece);
                    return Ok(());
                };
                let (text, rest) = piece.split_at(end);
                self.value = None;
                self.end_value(text, into);
                piece = rest;
            } else if byte.is_ascii_whitespace() || self.structure(*byte)? {
                piece = piece.get(1..).unwrap_or_default();
            } else {
                self.value = Some(Value::default());
            }
        }
        Ok(())
    }

    pub(super) fn finish(&self) -> Result<(), Unreadable> {
        if self.next != Next::Nothing {
            return Err(format!("The body ends too early, {}.", self.position()));
        }
        if !self.has_list {
            return Err("The object has no array workSpaces.".to_owned());
        }
        Ok(())
    }

    pub(super) fn bytes(&self) -> usize {
        self.text.capacity()
    }

    /// Takes a byte between values; returns `false` where it begins a value.
    fn structure(&mut self, byte: u8) -> Result<bool, Unreadable> {
        let begins = !matches!(byte, b',' | b':' | b'}' | b']');
        self.next = match (self.next, byte) {
            (Next::Root, b'{') => {
                self.is_member = true;
                Next::NameOrEnd
            }
            (Next::Root, b'[') => {
                self.has_list = true;
                Next::ElementOrEnd
            }
            (Next::MemberValue(true), b'[') if !self.has_list => {
                self.has_list = true;
                Next::ElementOrEnd
            }
            (Next::ElementOrEnd | Next::ElementEnd, b']') if self.is_member => Next::MemberEnd,
            (Next::ElementOrEnd | Next::ElementEnd, b']')
            | (Next::NameOrEnd | Next::MemberEnd, b'}') => Next::Nothing,
            (Next::ElementEnd, b',') => Next::Element,
            (Next::MemberEnd, b',') => Next::Name,
            (Next::Colon(is_list), b':') => Next::MemberValue(is_list),
            (Next::ElementOrEnd | Next::Element, _) if begins => {
                self.next = Next::Element;
                return Ok(false);
            }
            (Next::NameOrEnd | Next::Name, b'"') => {
                self.next = Next::Name;
                return Ok(false);
            }
            (Next::MemberValue(false), _) if begins => return Ok(false),
            (next, _) => {
                let expected = match next {
                    Next::Root | Next::MemberValue(_) if !begins => "a value",
                    Next::Root => "an array",
                    Next::MemberValue(_) => "one array workSpaces",
                    Next::NameOrEnd | Next::Name => "the name of a member",
                    Next::Colon(_) => "`:`",
                    Next::MemberEnd => "`,` or `}`",
                    Next::ElementOrEnd | Next::Element => "a value",
                    Next::ElementEnd => "`,` or `]`",
                    Next::Nothing => "the end of the body",
                };
                let found = char::from(byte).escape_default();
                let place = self.position();
                return Err(format!("Expected {expected}, found `{found}`, {place}."));
            }
        };
        Ok(true)
    }

    /// Where the document is, for a message.
    fn position(&self) -> String {
        match (self.has_list, self.elements) {
            (false, _) => "before the array".to_owned(),
            (true, 0) => "before the first element of the array".to_owned(),
            (true, elements) => format!("after element {elements} of the array"),
        }
    }

    fn keep(&mut self, text: &[u8]) {
        // A value that is skipped needs no memory.
        if matches!(self.next, Next::MemberValue(_)) {
            return;
        }
        if self.too_long || self.text.len() + text.len() > self.record_max {
            self.too_long = true;
            self.text = Vec::new();
        } else {
            self.text.extend_from_slice(text);
        }
    }

    /// The value that has begun ends with `text`.
    fn end_value(&mut self, text: &[u8], into: &mut Gathered) {
        let whole = self.text.is_empty() && !self.too_long && text.len() <= self.record_max;
        if !whole {
            self.keep(text);
        }
        let text = if whole { text } else { &self.text };
        if self.next == Next::Name {
            let is_list = text.eq_ignore_ascii_case(b"\"workSpaces\"");
            self.next = Next::Colon(is_list);
        } else if self.next == Next::Element {
            self.elements += 1;
            let read = if self.too_long {
                let max = self.record_max;
                Err(format!("The record is longer than {max} bytes."))
            } else {
                Ok(text)
            };
            into.read_json(self.elements, read);
            self.next = Next::ElementEnd;
        } else {
            self.next = Next::MemberEnd;
        }
        self.text.clear();
        self.too_long = false;
    }
}
