//! Pending records: in files of a folder, oldest first, within a bound.
//!
//! A file is a segment of at most [`BATCH_RECORDS`] lines and is removed as a whole, after the server has all of them. It is written and
//! synced before the next measurement, so a crash at any moment costs at most the record that was being written. While the disk is full,
//! records wait in memory.

mod batch;
mod segment;

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

pub(crate) use self::batch::Batch;
use self::segment::Segment;
use super::log_line;
use super::permissions::{make_private, make_readable};

/// Records of one request, and of a segment: the server names each error of as many.
pub(crate) const BATCH_RECORDS: usize = 100;
/// Bytes of a segment after which it takes no more records, and of a request after which no segment is added.
const BATCH_BYTES: u64 = 512 << 10;
/// Bytes of records in memory while the disk is full.
const UNWRITTEN_BYTES_MAX: usize = 1 << 20;
/// Bytes of the file of refused records, and of the one before it.
const REFUSED_BYTES_MAX: u64 = 256 << 10;
const LOCK: &str = "lock";
const EXTENSION: &str = "spool";
const REFUSED: &str = "refused.ndjson";
const REFUSED_BEFORE: &str = "refused.1.ndjson";

/// The pending records.
#[derive(Debug)]
pub(crate) struct Spool {
    /// Absent where all records are in memory.
    folder: Option<PathBuf>,
    bytes_max: u64,
    /// The segment that takes records, and the number of the next one.
    current: Option<Segment>,
    next_number: u32,
    /// Lines that could not be written, oldest first.
    unwritten: VecDeque<String>,
    unwritten_bytes: usize,
    is_failing: bool,
    /// Held as long as this spool is used.
    _lock: Option<File>,
}

impl Spool {
    /// Opens the spool in `folder`, which is made if it does not exist.
    ///
    /// # Errors
    /// One sentence, where the folder cannot be used or another agent uses it.
    pub(crate) fn open(folder: &Path, bytes_max: u64) -> io::Result<Self> {
        let place = folder.display();
        let unusable = |error: io::Error| {
            let message = format!(
                "cannot use the folder {place} as spool: {error}; name one that can be written with --spool"
            );
            io::Error::new(error.kind(), message)
        };
        fs::create_dir_all(folder).map_err(unusable)?;
        make_private(folder).map_err(unusable)?;
        let lock = File::create(folder.join(LOCK)).map_err(unusable)?;
        lock.try_lock().map_err(|_| {
            io::Error::other(format!(
                "another deskfleet-agent uses the spool {place}: stop it, or name another folder with --spool"
            ))
        })?;
        Ok(Self {
            folder: Some(folder.to_owned()),
            _lock: Some(lock),
            ..Self::in_memory(bytes_max)
        })
    }

    /// A spool without a folder.
    pub(crate) fn in_memory(bytes_max: u64) -> Self {
        Self {
            folder: None,
            bytes_max,
            current: None,
            next_number: 0,
            unwritten: VecDeque::new(),
            unwritten_bytes: 0,
            is_failing: false,
            _lock: None,
        }
    }

    /// Adds a record. It is on disk afterwards, or in memory if the disk takes nothing.
    pub(crate) fn push(&mut self, line: String) {
        self.unwritten_bytes += line.len();
        self.unwritten.push_back(line);
        let Some(folder) = self.folder.clone() else {
            let bytes_max = usize::try_from(self.bytes_max).unwrap_or(usize::MAX);
            return self.drop_unwritten(bytes_max);
        };
        let written = self.write_all(&folder);
        if let Err(error) = &written
            && !self.is_failing
        {
            log_line::say(&format!(
                "cannot write to the spool {}: {error}; records wait in memory, up to {UNWRITTEN_BYTES_MAX} bytes: free space on this disk",
                folder.display()
            ));
        } else if written.is_ok() && self.is_failing {
            log_line::say("the spool can be written again");
        }
        self.is_failing = written.is_err();
        self.drop_unwritten(UNWRITTEN_BYTES_MAX);
    }

    /// Writes all lines of memory into segments.
    fn write_all(&mut self, folder: &Path) -> io::Result<()> {
        while let Some(line) = self.unwritten.front() {
            let added = u64::try_from(line.len()).unwrap_or(u64::MAX);
            drop_oldest(folder, self.bytes_max.saturating_sub(added))?;
            let segment = match self.current.take() {
                Some(current) if !current.is_full() && current.exists() => current,
                _ => {
                    self.next_number += 1;
                    Segment::create(folder, self.next_number)?
                }
            };
            // A segment that failed takes no more: what it ends with is unknown.
            self.current = Some(segment.append(line)?);
            self.unwritten_bytes -= line.len();
            self.unwritten.pop_front();
        }
        Ok(())
    }

    /// Forgets the oldest lines of memory above a bound.
    fn drop_unwritten(&mut self, bytes_max: usize) {
        let mut dropped = 0;
        while self.unwritten_bytes > bytes_max
            && let Some(line) = self.unwritten.pop_front()
        {
            self.unwritten_bytes -= line.len();
            dropped += 1;
        }
        if dropped > 0 {
            log_line::say(&format!(
                "dropped the oldest {}: no more can wait in memory",
                log_line::records(dropped)
            ));
        }
    }

    /// The oldest records, as many as go into one request.
    pub(crate) fn oldest(&self) -> Batch {
        let mut batch = Batch::default();
        for file in self.files() {
            if !batch.add_file(file) {
                return batch;
            }
        }
        batch.add_lines(&self.unwritten);
        batch
    }

    /// Removes records that were sent, and those that cannot be.
    pub(crate) fn remove(&mut self, batch: &Batch) {
        for file in batch.files() {
            if self.current.as_ref().is_some_and(|of| of.path() == file) {
                self.current = None;
            }
            // One that stays is sent again, which the server ignores.
            if let Err(error) = fs::remove_file(file) {
                log_line::say(&format!("cannot remove {}: {error}", file.display()));
            }
        }
        for line in self
            .unwritten
            .drain(..batch.unwritten().min(self.unwritten.len()))
        {
            self.unwritten_bytes -= line.len();
        }
    }

    /// The segments, oldest first.
    fn files(&self) -> Vec<PathBuf> {
        let folder = self.folder.as_deref();
        folder
            .and_then(|folder| segments(folder).ok())
            .unwrap_or_default()
    }

    /// Whether nothing is pending.
    pub(crate) fn is_empty(&self) -> bool {
        self.unwritten.is_empty() && self.files().is_empty()
    }

    /// The number of pending records. It reads the files.
    pub(crate) fn count(&self) -> usize {
        let files = self.files();
        let in_files: usize = files.iter().map(|file| segment::count(file)).sum();
        in_files + self.unwritten.len()
    }

    /// Keeps a record that the server refuses, for a person to look at. Returns its file.
    pub(crate) fn set_aside(&self, line: &str, message: &str) -> Option<PathBuf> {
        let folder = self.folder.as_ref()?;
        let file = folder.join(REFUSED);
        if fs::metadata(&file).is_ok_and(|file| file.len() > REFUSED_BYTES_MAX) {
            // If that fails the file grows until it succeeds.
            let _ = fs::rename(&file, folder.join(REFUSED_BEFORE));
        }
        let message = serde_json::Value::from(message);
        let text = format!("{{\"message\":{message},\"record\":{line}}}\n");
        let opened = File::options().create(true).append(true).open(&file);
        let written = opened.and_then(|mut file| io::Write::write_all(&mut file, text.as_bytes()));
        written.is_ok().then_some(file)
    }
}

/// Puts records into the spool of another process, as a segment of their own that appears as a whole.
///
/// # Errors
/// One sentence with what to do.
pub(crate) fn put(folder: &Path, lines: &[String]) -> io::Result<()> {
    let failed = |error: io::Error| {
        let place = folder.display();
        let message = format!(
            "cannot write to the spool {place}: {error}; start the agent first, name its folder with --spool, and run this as its user or as root"
        );
        io::Error::new(error.kind(), message)
    };
    fs::metadata(folder).map_err(failed)?;
    let (path, bytes) = segment::whole(folder, lines);
    let hidden = path.with_extension("part");
    let written = fs::write(&hidden, bytes)
        .and_then(|()| make_readable(&hidden))
        .and_then(|()| File::options().append(true).open(&hidden)?.sync_all())
        .and_then(|()| fs::rename(&hidden, path));
    if written.is_err() {
        let _ = fs::remove_file(&hidden);
    }
    written.map_err(failed)
}

/// The segments of a folder, oldest first.
fn segments(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == EXTENSION)
        {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Removes the oldest segments while all of them have more than `bytes_max`.
fn drop_oldest(folder: &Path, bytes_max: u64) -> io::Result<()> {
    let files = segments(folder)?;
    let length = |file: &PathBuf| fs::metadata(file).map_or(0, |file| file.len());
    let mut bytes: u64 = files.iter().map(length).sum();
    for file in &files {
        if bytes <= bytes_max {
            break;
        }
        bytes -= length(file).min(bytes);
        let count = segment::count(file);
        fs::remove_file(file)?;
        log_line::say(&format!(
            "the spool is full: dropped the oldest {}; let the agent reach the server, or raise spool_bytes",
            log_line::records(count)
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
