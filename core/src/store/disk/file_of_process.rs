//! Files of the process that opened them, which a forked child shares and must leave alone.

use std::fs::File;
use std::io;
use std::ops::Bound;
use std::process;
use std::sync::Arc;

use redb::backends::FileBackend;
use redb::{BackendError, StorageBackend};

use crate::error::Result;

use crate::store::disk::watch::{Change, FileWatch};
use crate::store::failure::from_database;

/// The process that opened a file, or started threads.
#[derive(Debug)]
pub(crate) struct OwnProcess(u32);

impl OwnProcess {
    pub(crate) fn new() -> Self {
        Self(Self::current())
    }

    /// Whether the calling process is a forked child of it.
    pub(crate) fn was_forked(&self) -> bool {
        Self::current() != self.0
    }

    /// WebAssembly without a system has no processes.
    fn current() -> u32 {
        if cfg!(all(target_arch = "wasm32", target_os = "unknown")) {
            0
        } else {
            process::id()
        }
    }

    /// One that is the parent of the calling process.
    #[cfg(test)]
    pub(crate) fn parent() -> Self {
        Self(Self::current() + 1)
    }

    /// Refuses a forked child.
    pub(in crate::store) fn check(&self) -> io::Result<()> {
        if !self.was_forked() {
            return Ok(());
        }
        Err(io::Error::other(
            "this process is a fork of the one that opened the file; open a store after the fork",
        ))
    }
}

/// redb's backend of a file, for the process that opened it. A forked child shares the file and its lock, and would write in
/// between: it is refused, even to close it.
#[derive(Debug)]
pub(in crate::store) struct FileOfProcess {
    file: FileBackend,
    process: OwnProcess,
    /// The watch of a store's file; `None` for a segment.
    pub(in crate::store) watch: Option<Arc<FileWatch>>,
}

impl FileOfProcess {
    /// The calling process.
    pub(in crate::store) fn new(file: File) -> Result<Self> {
        Ok(Self {
            file: FileBackend::new(file).map_err(from_database)?,
            process: OwnProcess::new(),
            watch: None,
        })
    }

    fn file(&self) -> io::Result<&FileBackend> {
        self.process.check()?;
        Ok(&self.file)
    }

    /// Begins to watch a file that was locked, or that has no locks.
    fn begin_watch(&self, locked: Result<bool, BackendError>) -> Result<bool, BackendError> {
        if let Some(watch) = self.watch.as_ref().filter(|_| !matches!(locked, Ok(false))) {
            watch.begin()?;
        }
        locked
    }

    fn make(
        &self,
        change: Change<'_>,
        make: impl FnOnce(&FileBackend) -> io::Result<()>,
    ) -> io::Result<()> {
        let file = self.file()?;
        match &self.watch {
            Some(watch) => watch.make(change, || make(file)),
            None => make(file),
        }
    }
}

impl StorageBackend for FileOfProcess {
    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.begin_watch(self.file.try_lock_range(start, end))
    }

    fn try_lock_shared_range(
        &self,
        start: Bound<u64>,
        end: Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.begin_watch(self.file.try_lock_shared_range(start, end))
    }

    fn len(&self) -> io::Result<u64> {
        self.file()?.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        if let Some(watch) = &self.watch {
            watch.refuse_if_changed()?;
        }
        self.file()?.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.make(Change::Length(len), |file| file.set_len(len))
    }

    fn sync_data(&self) -> io::Result<()> {
        let synced = self.file()?.sync_data();
        if let Some(watch) = &self.watch {
            watch.synced(&synced);
        }
        synced
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.make(Change::Bytes(offset, data), |file| file.write(offset, data))
    }

    fn close(&self) -> io::Result<()> {
        // The parent has the same lock.
        self.file().map_or(Ok(()), FileBackend::close)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn forked_child_is_refused_and_leaves_file_and_lock_alone() {
        let path = std::env::temp_dir().join(format!("deskfleet-fork-{}", process::id()));
        let file = |process| FileOfProcess {
            file: FileBackend::new(File::create(&path).unwrap()).unwrap(),
            process,
            watch: None,
        };
        let (here, child) = (file(OwnProcess::new()), file(OwnProcess::parent()));
        assert!(here.write(0, b"1234").is_ok());
        let refused = [
            child.len().map(drop),
            child.read(0, &mut [0]),
            child.set_len(0),
            child.sync_data(),
            child.write(0, b"x"),
        ];
        for refused in refused {
            assert!(refused.unwrap_err().to_string().contains("fork"));
        }
        let all = || (Bound::Unbounded, Bound::Unbounded);
        assert!(child.try_lock_range(all().0, all().1).unwrap());
        child.close().unwrap();
        let held = here.try_lock_range(all().0, all().1).unwrap();
        assert!(!held, "the lock is still held");
        assert_eq!(fs::read(&path).unwrap(), b"1234");
        fs::remove_file(&path).unwrap();
    }
}
