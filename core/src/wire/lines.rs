//! The lines of a text that arrives in pieces.

/// Gets a line with its number, or what is wrong with it.
type ReadLine<'r> = dyn FnMut(u64, Result<&[u8], String>) + 'r;

/// Splits a text into lines, cut anywhere on its way in. A line that is too long is not kept.
#[derive(Debug)]
pub(crate) struct Lines {
    /// Lines that have ended.
    ended: u64,
    /// The part of the next line that has arrived.
    begun: Vec<u8>,
    /// Whether that has too many bytes already; they are not kept.
    begun_too_long: bool,
    /// The longest line that is kept, in bytes.
    line_max: usize,
}

impl Lines {
    pub(crate) fn new(line_max: usize) -> Self {
        Self {
            ended: 0,
            begun: Vec::new(),
            begun_too_long: false,
            line_max,
        }
    }

    /// Takes the next piece. `read` gets each line that ends, with its number from 1; a line that is too long is an error, which
    /// is its message. Blank lines are skipped.
    pub(crate) fn push(&mut self, mut piece: &[u8], read: &mut ReadLine<'_>) {
        while let Some(end) = piece.iter().position(|byte| *byte == b'\n') {
            let (line, rest) = piece.split_at(end);
            self.end_line(line, read);
            piece = rest.get(1..).unwrap_or_default();
        }
        self.keep(piece);
    }

    /// The text ends, and with it the last line.
    pub(crate) fn finish(&mut self, read: &mut ReadLine<'_>) {
        self.end_line(b"", read);
    }

    /// The memory that is taken, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.begun.capacity()
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
    fn end_line(&mut self, text: &[u8], read: &mut ReadLine<'_>) {
        self.ended += 1;
        let whole = self.begun.is_empty() && !self.begun_too_long && text.len() <= self.line_max;
        if !whole {
            self.keep(text);
        }
        if std::mem::take(&mut self.begun_too_long) {
            let message = format!("The line is longer than {} bytes.", self.line_max);
            return read(self.ended, Err(message));
        }
        let line = if whole { text } else { &self.begun };
        if !line.trim_ascii().is_empty() {
            read(self.ended, Ok(line));
        }
        self.begun.clear();
    }
}
