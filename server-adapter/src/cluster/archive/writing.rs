//! Appending to an archive.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use deskfleet::Timestamp;
use deskfleet::cluster::{AppliedEntries, Chain, EntryId};

use super::file::{ArchiveError, FileReader, Header, write_entry};
use super::folder::{files, path_of};
use crate::folders::sync_folder_of;

/// The name of the file that keeps a second process from writing.
const LOCK: &str = "archive.lock";
/// The length at which a file is followed by a new one, and the seconds between its first entry and the first of the next.
const FILE_BYTES_MAX: u64 = 64 << 20;
const FILE_SECONDS_MAX: i64 = 24 * 60 * 60;

/// An archive that this process appends to. After an error it is opened again, which cuts off what was half written.
#[derive(Debug)]
pub(super) struct ArchiveWriter {
    folder: PathBuf,
    /// Locked as long as this lives.
    _lock: File,
    /// Of the entries that the archive has; `None` before the first.
    fleet: Option<EntryId>,
    /// The last position, and its chain.
    pub(super) position: u64,
    pub(super) chain: Chain,
    file: Option<LastFile>,
}

/// The file that is appended to. It is open only while something is written, so one that is removed or replaced is noticed.
#[derive(Debug)]
struct LastFile {
    path: PathBuf,
    bytes: u64,
    /// When its first entry was appended to the log; `None` of a file without one.
    begun_at: Option<Timestamp>,
}

impl LastFile {
    /// Whether an entry of that time begins a new file.
    fn is_full(&self, bytes: usize, at: Timestamp) -> bool {
        let until = self.begun_at.map(|at| at.plus_seconds(FILE_SECONDS_MAX));
        self.bytes + bytes as u64 >= FILE_BYTES_MAX || until.is_some_and(|until| at >= until)
    }
}

/// The options of files that are for their owner alone.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn lock(folder: &Path) -> Result<File, ArchiveError> {
    let path = folder.join(LOCK);
    let failed = |error: io::Error| ArchiveError::of_path("lock", &path, &error);
    let mut options = private();
    let file = options.write(true).create(true).truncate(false);
    let file = file.open(&path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::Error(error)) => Err(failed(error)),
        Err(TryLockError::WouldBlock) => Err(ArchiveError::locked(folder)),
    }
}

impl ArchiveWriter {
    /// Opens the archive in a folder. Verifies its last file, cuts off an entry whose write was cut off, and makes the rest durable: a process that was
    /// killed may not have synced it.
    pub(super) fn open(folder: &Path) -> Result<Self, ArchiveError> {
        let mut archive = Self {
            _lock: lock(folder)?,
            folder: folder.to_owned(),
            fleet: None,
            position: 0,
            chain: Chain::default(),
            file: None,
        };
        let mut files = files(folder)?;
        while let Some((first, path)) = files.pop_last() {
            let opened = FileReader::open(&path, first);
            if let Some(last) = opened.map_err(ArchiveError::for_writer)? {
                archive.go_on_with(path, last)?;
                break;
            }
            let removed = fs::remove_file(&path);
            removed.map_err(|error| ArchiveError::of_path("remove", &path, &error))?;
        }
        Ok(archive)
    }

    fn go_on_with(&mut self, path: PathBuf, mut last: FileReader) -> Result<(), ArchiveError> {
        let mut begun_at = None;
        while let Some(entry) = last.next().map_err(ArchiveError::for_writer)? {
            begun_at = begun_at.or(Some(entry.at));
        }
        let file = OpenOptions::new().write(true).open(&path);
        let synced = file.and_then(|file| {
            if last.is_torn {
                file.set_len(last.offset)?;
            }
            file.sync_all()?;
            sync_folder_of(&path)
        });
        synced.map_err(|error| ArchiveError::of_path("sync", &path, &error))?;
        self.fleet = Some(last.header.fleet);
        self.position = last.next.saturating_sub(1);
        self.chain = last.chain;
        self.file = Some(LastFile {
            path,
            bytes: last.offset,
            begun_at,
        });
        Ok(())
    }

    /// Refuses entries of another fleet than those that the archive has.
    pub(super) fn require(&self, fleet: EntryId) -> Result<(), ArchiveError> {
        if self.fleet.is_none_or(|own| own == fleet) {
            return Ok(());
        }
        let folder = self.folder.display();
        Err(ArchiveError::new(format!(
            "{folder} has the archive of another fleet: name another folder, which is empty"
        )))
    }

    /// Appends what a node has applied, and makes it durable. Returns the entries that the archive lacks before it.
    pub(super) fn append(
        &mut self,
        applied: &AppliedEntries,
    ) -> Result<Option<(u64, u64)>, ArchiveError> {
        self.require(applied.fleet)?;
        let mut gap = None;
        if applied.position != self.position {
            gap = Some((self.position + 1, applied.position));
            (self.position, self.chain) = (applied.position, applied.chain);
            self.file = None;
        }
        self.fleet = Some(applied.fleet);
        let mut bytes = Vec::new();
        for entry in &applied.entries {
            let is_full = |file: &LastFile| file.is_full(bytes.len(), entry.at);
            if self.file.as_ref().is_none_or(is_full) {
                self.write(&mut bytes)?;
                let header = Header {
                    fleet: applied.fleet,
                    first: entry.position,
                    before: self.chain,
                };
                header.write(&mut bytes);
                self.file = Some(LastFile {
                    path: path_of(&self.folder, entry.position),
                    bytes: 0,
                    begun_at: Some(entry.at),
                });
            }
            write_entry(&mut bytes, entry);
            self.position = entry.position;
            self.chain = entry.chain.unwrap_or_default();
        }
        self.write(&mut bytes)?;
        Ok(gap)
    }

    /// Appends the bytes to the last file, and makes them durable.
    fn write(&mut self, bytes: &mut Vec<u8>) -> Result<(), ArchiveError> {
        let Some(last) = self.file.as_mut().filter(|_| !bytes.is_empty()) else {
            return Ok(());
        };
        let failed = |error: io::Error| ArchiveError::of_path("write to", &last.path, &error);
        let is_new = last.bytes == 0;
        let mut options = private();
        options.append(true).create_new(is_new);
        let mut file = options.open(&last.path).map_err(failed)?;
        if file.metadata().map_err(failed)?.len() != last.bytes {
            let other = "its length is not what was written: something else writes to it";
            return Err(failed(io::Error::other(other)));
        }
        let written = file.write_all(bytes).and_then(|()| file.sync_data());
        let named = |()| {
            if is_new {
                sync_folder_of(&last.path)
            } else {
                Ok(())
            }
        };
        if let Err(error) = written.and_then(named) {
            // What may not be on the disk must not be read back from memory as if it were. The first error is the one to report.
            let _ = file.set_len(last.bytes).and_then(|()| file.sync_all());
            return Err(failed(error));
        }
        last.bytes += bytes.len() as u64;
        bytes.clear();
        Ok(())
    }
}
