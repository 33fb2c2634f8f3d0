//! Detects writes of other programs to the open file of a store.

use std::fs::{File, Metadata};
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use redb::StorageBackend as _;
use redb::backends::FileBackend;

use crate::locks::lock;

/// Bytes at the front of the file, which every commit changes.
const HEADER_BYTES: usize = 320;

/// The state of the file as this process left it.
#[derive(Debug)]
pub(in crate::store) struct FileWatch {
    file: File,
    /// The same file, which others read at the same time.
    bytes: FileBackend,
    /// Whether another program wrote to it. This never resets, because pages in memory no longer fit those of the file.
    changed: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Writes of this process that have begun and not ended.
    under_way: usize,
    /// The state at the last sync; `None` after a later write.
    stamp: Option<Stamp>,
    /// `None` if unknown: nothing was written, or the write failed.
    length: Option<u64>,
    header: Option<Vec<u8>>,
}

/// The file's metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    fn from_metadata(about: &Metadata) -> Self {
        Self {
            length: about.len(),
            modified: about.modified().ok(),
        }
    }
}

/// A change that this process makes.
#[derive(Debug, Clone, Copy)]
pub(in crate::store) enum Change<'c> {
    Bytes(u64, &'c [u8]),
    Length(u64),
}

impl FileWatch {
    pub(in crate::store) fn new(file: File, bytes: File) -> io::Result<Self> {
        Ok(Self {
            file,
            bytes: FileBackend::new(bytes).map_err(io::Error::other)?,
            changed: AtomicBool::new(false),
            state: Mutex::default(),
        })
    }

    /// Records the state of the file, once it is locked.
    pub(in crate::store) fn begin(&self) -> io::Result<()> {
        let mut state = lock(&self.state);
        let stamp = Stamp::from_metadata(&self.file.metadata()?);
        state.stamp = Some(stamp);
        state.length = Some(stamp.length);
        state.header = self.header().ok();
        Ok(())
    }

    fn header(&self) -> io::Result<Vec<u8>> {
        let mut header = vec![0; HEADER_BYTES];
        self.bytes.read(0, &mut header)?;
        Ok(header)
    }

    /// Refuses all work on a file that another program wrote to.
    pub(in crate::store) fn refuse_if_changed(&self) -> io::Result<()> {
        if self.changed.load(Ordering::Acquire) {
            let message =
                "another program wrote into the open file; it is neither read nor written any more";
            return Err(io::Error::other(message));
        }
        Ok(())
    }

    /// Runs `make`, a change by this process.
    pub(in crate::store) fn make<T>(
        &self,
        change: Change<'_>,
        make: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        {
            let mut state = lock(&self.state);
            // Under the lock, so that no check takes this write for a foreign one.
            self.refuse_if_changed()?;
            state.under_way += 1;
            state.stamp = None;
        }
        let made = make();
        let mut state = lock(&self.state);
        state.under_way -= 1;
        match change {
            Change::Length(length) => state.length = made.is_ok().then_some(length),
            Change::Bytes(offset, bytes) => {
                let end = offset + bytes.len() as u64;
                state.length = state
                    .length
                    .filter(|_| made.is_ok())
                    .map(|length| length.max(end));
                if offset < HEADER_BYTES as u64 {
                    // redb writes it as a whole.
                    let header = bytes.get(..HEADER_BYTES);
                    let header = header.filter(|_| made.is_ok() && offset == 0);
                    state.header = header.map(<[u8]>::to_vec);
                }
            }
        }
        made
    }

    /// After a sync: all writes of this process are on the disk, or it is unknown which of them the system has dropped.
    pub(in crate::store) fn synced(&self, synced: &io::Result<()>) {
        let mut state = lock(&self.state);
        if synced.is_err() {
            (state.stamp, state.length, state.header) = (None, None, None);
        } else if state.under_way == 0 {
            state.stamp = self
                .file
                .metadata()
                .ok()
                .map(|about| Stamp::from_metadata(&about));
        }
    }

    /// Whether another program wrote to the file, by its length, its time of last change and, with `reads`, its header. `look`
    /// returns its metadata; without it no foreign write is found.
    pub(in crate::store) fn finds_change(
        &self,
        reads: bool,
        look: impl FnOnce() -> Option<Metadata>,
    ) -> bool {
        if self.changed.load(Ordering::Acquire) {
            return true;
        }
        // This process writes nothing in the meantime.
        let state = lock(&self.state);
        if state.under_way > 0 {
            return false;
        }
        let Some(found) = look().map(|about| Stamp::from_metadata(&about)) else {
            return false;
        };
        let other = state.stamp.is_some_and(|stamp| stamp != found)
            || state.length.is_some_and(|length| length != found.length)
            || reads && self.has_other_header(&state);
        if other {
            self.changed.store(true, Ordering::Release);
        }
        other
    }

    fn has_other_header(&self, state: &State) -> bool {
        let Some(known) = &state.header else {
            return false;
        };
        match self.header() {
            Ok(header) => header != *known,
            Err(error) => error.kind() == io::ErrorKind::UnexpectedEof,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write as _;

    use super::*;

    #[test]
    fn what_a_failed_sync_left_in_the_file_was_not_written_by_another_program() {
        let name = format!("deskfleet-watch-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let open = || {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false);
            options.open(&path).unwrap()
        };
        let found = || path.metadata().ok();
        for fails in [true, false] {
            open().write_all(&[1; 2 * HEADER_BYTES]).unwrap();
            let watch = FileWatch::new(open(), open()).unwrap();
            watch.begin().unwrap();
            let header = [2; HEADER_BYTES];
            let write = || open().write_all(&header);
            watch.make(Change::Bytes(0, &header), write).unwrap();
            assert!(!watch.finds_change(true, found));
            // The system may have dropped writes.
            open().write_all(&[1; HEADER_BYTES]).unwrap();
            if fails {
                watch.synced(&Err(io::Error::other("EIO")));
            }
            assert_eq!(watch.finds_change(true, found), !fails);
        }
        std::fs::remove_file(&path).unwrap();
    }
}
