//! The records of one request.

use std::collections::VecDeque;
use std::path::PathBuf;

use super::{BATCH_BYTES, BATCH_RECORDS, segment};
use crate::log_line;

/// The oldest records of a spool, and where they are.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// One record each.
    lines: Vec<String>,
    bytes: usize,
    files: Vec<PathBuf>,
    /// How many of the lines were in memory.
    unwritten: usize,
    /// Lines that a crash has cut off.
    damaged: usize,
}

impl Batch {
    /// The records, oldest first.
    pub(crate) fn lines(&self) -> &[String] {
        &self.lines
    }

    /// Whether there is nothing to send and nothing to remove.
    pub(crate) fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.files.is_empty()
    }

    /// Lines that were damaged by a crash.
    pub(crate) fn damaged(&self) -> usize {
        self.damaged
    }

    pub(super) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    pub(super) fn unwritten(&self) -> usize {
        self.unwritten
    }

    /// Adds the records of a file, if they fit; returns whether they do.
    pub(super) fn add_file(&mut self, file: PathBuf) -> bool {
        match segment::read(&file) {
            Ok((lines, damaged)) => {
                let bytes: usize = lines.iter().map(String::len).sum();
                if !self.has_room(lines.len(), bytes) {
                    return false;
                }
                self.bytes += bytes;
                self.damaged += damaged;
                self.lines.extend(lines);
                self.files.push(file);
            }
            // It stays, and the others go on.
            Err(error) => log_line::say(&format!("cannot read {}: {error}", file.display())),
        }
        true
    }

    /// Adds the lines of memory that fit.
    pub(super) fn add_lines(&mut self, lines: &VecDeque<String>) {
        for line in lines {
            if !self.has_room(1, line.len()) {
                break;
            }
            self.bytes += line.len();
            self.lines.push(line.clone());
            self.unwritten += 1;
        }
    }

    /// The first ones always fit.
    fn has_room(&self, records: usize, bytes: usize) -> bool {
        let bytes = u64::try_from(self.bytes + bytes).unwrap_or(u64::MAX);
        self.lines.is_empty()
            || (self.lines.len() + records <= BATCH_RECORDS && bytes <= BATCH_BYTES)
    }
}
