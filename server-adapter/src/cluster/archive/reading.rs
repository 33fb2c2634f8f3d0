//! Reading an archive: a log that ends where the archive does, or at a time.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use deskfleet::Timestamp;
use deskfleet::cluster::{
    Appended, Chain, EntryId, Log, LogBounds, LogEntry, LogError, LogErrorKind, NodeReport,
};

use super::file::{ArchiveError, FileReader};
use super::folder::files;
use crate::locks::lock;

/// The entries of an archive as a log that takes no more. Clones share the place where they read.
#[derive(Clone)]
pub struct ArchiveLog(Arc<Inner>);

struct Inner {
    files: BTreeMap<u64, PathBuf>,
    /// The position of the first entry.
    first: u64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The last entry to read; 0 before [`ArchiveLog::verify`].
    last: u64,
    reader: Option<Entries>,
    /// The entry that was read last: an engine reads the one that it has applied last once more.
    read: Option<LogEntry>,
}

impl ArchiveLog {
    /// Opens the archive in a folder.
    ///
    /// # Errors
    /// Where it has no file.
    pub fn open(folder: &Path) -> Result<Self, ArchiveError> {
        let files = files(folder)?;
        let Some((&first, _)) = files.first_key_value() else {
            let folder = folder.display();
            return Err(ArchiveError::new(format!("{folder} has no archive")));
        };
        Ok(Self(Arc::new(Inner {
            files,
            first,
            state: Mutex::default(),
        })))
    }

    /// The id of the first entry of the log, which names the fleet, as the file of the entry `position` has it.
    ///
    /// # Errors
    /// Where no file has that entry, or that one cannot be read.
    pub fn fleet(&self, position: u64) -> Result<EntryId, ArchiveError> {
        let (first, path) = self.0.file_with(position)?;
        let file = FileReader::open(path, first)?;
        Ok(file.ok_or_else(|| no_header(path))?.header.fleet)
    }

    /// The position of the first entry.
    #[must_use]
    pub fn first(&self) -> u64 {
        self.0.first
    }

    /// Verifies the archive from the entry `from` on, and ends the log with the last entry up to which all were appended at `until` or before. Returns
    /// the position of that entry; 0 where `from` was appended later.
    ///
    /// # Errors
    /// Where the archive does not have that entry, is damaged after it, or lacks an entry.
    pub fn verify(&self, from: u64, until: Option<Timestamp>) -> Result<u64, ArchiveError> {
        let mut entries = self.0.entries_from(from)?;
        let mut last = 0;
        let mut has_any = false;
        while let Some(entry) = entries.next()? {
            has_any = true;
            if until.is_some_and(|until| entry.at > until) {
                break;
            }
            last = entry.position;
        }
        if !has_any {
            let end = entries.next.saturating_sub(1);
            let message = format!("the archive ends with entry {end}, before entry {from}");
            return Err(ArchiveError::new(message));
        }
        lock(&self.0.state).last = last;
        Ok(last)
    }
}

impl Inner {
    /// The file that has an entry, if any has, and the position of its first.
    fn file_with(&self, position: u64) -> Result<(u64, &Path), ArchiveError> {
        let mut before = self.files.range(..=position);
        let Some((first, path)) = before.next_back() else {
            let message = format!(
                "the archive begins with entry {}, after entry {position}",
                self.first
            );
            return Err(ArchiveError::new(message));
        };
        Ok((*first, path))
    }

    fn entries_from(&self, from: u64) -> Result<Entries, ArchiveError> {
        let (first, _) = self.file_with(from)?;
        Ok(Entries {
            files: self
                .files
                .range(first..)
                .map(|(first, path)| (*first, path.clone()))
                .collect(),
            fleet: None,
            file: None,
            next: first,
            chain: None,
            from,
        })
    }
}

/// The entries from one on, over all files.
struct Entries {
    /// Those that are not begun.
    files: BTreeMap<u64, PathBuf>,
    /// That of the first file.
    fleet: Option<EntryId>,
    file: Option<FileReader>,
    /// The next position, and the chain before it.
    next: u64,
    chain: Option<Chain>,
    /// The first position that is returned.
    from: u64,
}

impl Entries {
    fn next(&mut self) -> Result<Option<LogEntry>, ArchiveError> {
        loop {
            if self.file.is_none() && !self.open_next()? {
                return Ok(None);
            }
            let Some(file) = &mut self.file else {
                return Ok(None);
            };
            if let Some(entry) = file.next()? {
                self.next = entry.position.saturating_add(1);
                self.chain = entry.chain;
                if entry.position >= self.from {
                    return Ok(Some(entry));
                }
            } else if file.is_torn && !self.files.is_empty() {
                return Err(file.damage("the file ends within an entry, and is not the last one"));
            } else {
                self.file = None;
            }
        }
    }

    /// Opens the next file, which must go on where the one before ended.
    fn open_next(&mut self) -> Result<bool, ArchiveError> {
        let Some((first, path)) = self.files.pop_first() else {
            return Ok(false);
        };
        if first > self.next {
            let message = format!(
                "the archive lacks entries {} to {}: {} begins after them. Take a backup that has them, which is one at entry {first} or later",
                self.next,
                first - 1,
                path.display()
            );
            return Err(ArchiveError::new(message));
        }
        let Some(file) = FileReader::open(&path, first)? else {
            if self.files.is_empty() && self.fleet.is_some() {
                return Ok(false);
            }
            return Err(no_header(&path));
        };
        let header = file.header;
        let goes_on = self.chain.is_none_or(|chain| chain == header.before);
        let is_of_fleet = header.fleet == *self.fleet.get_or_insert(header.fleet);
        if first < self.next || !is_of_fleet || !goes_on {
            return Err(file.damage("it is not of the same log as the files before it"));
        }
        self.file = Some(file);
        Ok(true)
    }
}

fn no_header(path: &Path) -> ArchiveError {
    let path = path.display();
    ArchiveError::new(format!(
        "{path} is damaged at byte 0: it has no header, as its first write was cut off"
    ))
}

fn refused<T>() -> Result<T, LogError> {
    let message = "this log is an archive, which is only read";
    Err(LogError::new(LogErrorKind::Unsafe, message))
}

impl Log for ArchiveLog {
    fn append(&self, _: EntryId, _: &[u8]) -> Result<Appended, LogError> {
        refused()
    }

    fn read(&self, from: u64, bytes_max: usize, _: Duration) -> Result<Vec<LogEntry>, LogError> {
        let failed =
            |error: ArchiveError| LogError::new(LogErrorKind::Unavailable, error.to_string());
        let mut state = lock(&self.0.state);
        let again = state.read.as_ref().filter(|entry| entry.position == from);
        if let Some(again) = again {
            return Ok(vec![again.clone()]);
        }
        let is_next = |entries: &Entries| entries.next == from;
        let mut reader = match state.reader.take().filter(is_next) {
            Some(reader) => reader,
            None => self.0.entries_from(from).map_err(failed)?,
        };
        let (mut entries, mut bytes) = (Vec::new(), 0);
        while (entries.is_empty() || bytes < bytes_max) && reader.next <= state.last {
            let Some(entry) = reader.next().map_err(failed)? else {
                break;
            };
            bytes += entry.body.len();
            entries.push(entry);
        }
        state.reader = Some(reader);
        state.read = entries.last().cloned().or_else(|| state.read.take());
        Ok(entries)
    }

    fn bounds(&self, _: u64) -> Result<LogBounds, LogError> {
        Ok(LogBounds {
            first: self.first(),
            last: lock(&self.0.state).last,
            takeover: None,
        })
    }

    fn trim(&self, _: u64) -> Result<(), LogError> {
        refused()
    }

    fn report(&self, _: &str, _: &str) -> Result<(), LogError> {
        refused()
    }

    fn reports(&self) -> Result<Vec<NodeReport>, LogError> {
        Ok(Vec::new())
    }

    fn forget(&self, _: &str) -> Result<(), LogError> {
        refused()
    }
}

impl fmt::Debug for ArchiveLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArchiveLog").finish_non_exhaustive()
    }
}
