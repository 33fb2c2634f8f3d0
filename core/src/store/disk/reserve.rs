//! A file beside the store whose space is given up for writes that must succeed on a full disk.

use std::fs;
use std::io::{self, Write as _};
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use redb::{BackendError, StorageBackend};

use crate::error::is_disk_full;
use crate::limits::RESERVE_BYTES;
use crate::random::SplitMix;

use crate::store::disk::file::{for_owner, sync_folder_of};
use crate::store::disk::file_of_process::OwnProcess;

/// The suffix of the file, after the name of the store.
const SUFFIX: &str = "-reserve";

/// The file that keeps space.
#[derive(Debug)]
pub(in crate::store) struct Reserve {
    path: PathBuf,
    /// A forked child must not remove the reserve of its parent.
    process: OwnProcess,
    /// Whether the file exists.
    kept: AtomicBool,
    /// Whether the current write may take its space.
    usable: AtomicBool,
}

impl Reserve {
    /// The reserve of the existing store at `path`.
    pub(in crate::store) fn beside(path: &Path) -> io::Result<Self> {
        let mut path = fs::canonicalize(path)?.into_os_string();
        path.push(SUFFIX);
        let path = PathBuf::from(path);
        let found = fs::metadata(&path);
        Ok(Self {
            kept: AtomicBool::new(found.is_ok_and(|found| found.len() == RESERVE_BYTES)),
            path,
            process: OwnProcess::new(),
            usable: AtomicBool::new(false),
        })
    }

    pub(in crate::store) fn is_kept(&self) -> bool {
        self.kept.load(Ordering::Acquire)
    }

    /// While the result lives, writes may take its space.
    pub(in crate::store) fn usable(&self) -> Usable<'_> {
        self.usable.store(true, Ordering::Release);
        Usable(self)
    }

    /// Creates the file. Its bytes are written because a file system stores no holes, and random because some store no
    /// repetitions.
    pub(in crate::store) fn make(&self) -> io::Result<()> {
        self.process.check()?;
        let made = self.write();
        if made.is_err() {
            // A part of the reserve is of no use.
            let _ = fs::remove_file(&self.path);
        }
        self.kept.store(made.is_ok(), Ordering::Release);
        made
    }

    fn write(&self) -> io::Result<()> {
        let mut options = for_owner();
        let mut file = options
            .write(true)
            .create(true)
            .truncate(true)
            .open(&self.path)?;
        let random = SplitMix::new(RESERVE_BYTES);
        let mut piece = vec![0; 64 * 1024];
        for _ in 0..RESERVE_BYTES / piece.len() as u64 {
            random.fill(&mut piece);
            file.write_all(&piece)?;
        }
        file.sync_all()?;
        sync_folder_of(&self.path)
    }

    /// Removes the file if its space may be taken; returns whether there is more space now.
    fn give_up(&self) -> bool {
        let may = self.usable.load(Ordering::Acquire) && self.process.check().is_ok();
        if !may || !self.kept.swap(false, Ordering::AcqRel) {
            return false;
        }
        let removed = fs::remove_file(&self.path);
        // Some file systems free the space only after this sync.
        removed.and_then(|()| sync_folder_of(&self.path)).is_ok()
    }
}

/// While this lives, writes may take the space of the reserve.
#[derive(Debug)]
pub(in crate::store) struct Usable<'r>(&'r Reserve);

impl Drop for Usable<'_> {
    fn drop(&mut self) {
        self.0.usable.store(false, Ordering::Release);
    }
}

/// The file of a store, with its reserve.
#[derive(Debug)]
pub(in crate::store) struct WithReserve<B> {
    pub(in crate::store) file: B,
    pub(in crate::store) reserve: Arc<Reserve>,
}

impl<B> WithReserve<B> {
    /// Runs `work`, and again if the disk was full and the reserve was given up for it.
    fn with_room(&self, work: impl Fn(&B) -> io::Result<()>) -> io::Result<()> {
        match work(&self.file) {
            Err(error) if is_disk_full(&error) && self.reserve.give_up() => work(&self.file),
            done => done,
        }
    }
}

impl<B: StorageBackend> StorageBackend for WithReserve<B> {
    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.try_lock_range(start, end)
    }

    fn try_lock_shared_range(
        &self,
        start: Bound<u64>,
        end: Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.file.try_lock_shared_range(start, end)
    }

    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.with_room(|file| file.set_len(len))
    }

    fn sync_data(&self) -> io::Result<()> {
        let synced = self.file.sync_data();
        if synced.as_ref().is_err_and(is_disk_full) {
            // The system has dropped what it could not write, so a second sync proves nothing: this sync fails, and the next
            // write has space.
            self.reserve.give_up();
        }
        synced
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.with_room(|file| file.write(offset, data))
    }

    fn close(&self) -> io::Result<()> {
        self.file.close()
    }
}

#[cfg(test)]
mod tests {
    use redb::backends::InMemoryBackend;

    use super::*;

    /// A disk that is full as long as the reserve is there.
    #[derive(Debug)]
    struct FullDisk(InMemoryBackend, PathBuf);

    impl FullDisk {
        fn check(&self) -> io::Result<()> {
            if self.1.exists() {
                return Err(io::ErrorKind::StorageFull.into());
            }
            Ok(())
        }
    }

    impl StorageBackend for FullDisk {
        fn len(&self) -> io::Result<u64> {
            self.0.len()
        }

        fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
            self.0.read(offset, out)
        }

        fn set_len(&self, len: u64) -> io::Result<()> {
            self.check()?;
            self.0.set_len(len)
        }

        fn sync_data(&self) -> io::Result<()> {
            self.check()
        }

        fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
            self.check()?;
            self.0.write(offset, data)
        }
    }

    #[test]
    fn reserve_is_given_up_only_while_it_is_usable_and_only_for_space() {
        let store = std::env::temp_dir().join(format!("deskfleet-reserve-{}", std::process::id()));
        fs::write(&store, b"").unwrap();
        let reserve = Arc::new(Reserve::beside(&store).unwrap());
        let path = reserve.path.clone();
        let disk = WithReserve {
            file: FullDisk(InMemoryBackend::new(), path.clone()),
            reserve: Arc::clone(&reserve),
        };
        assert!(!reserve.is_kept());
        disk.set_len(4).unwrap();
        reserve.make().unwrap();
        // Reading past the end fails for another reason.
        disk.read(100, &mut [0]).unwrap_err();
        assert!(reserve.is_kept());
        let operations: [&dyn Fn() -> io::Result<()>; 2] =
            [&|| disk.set_len(8), &|| disk.write(0, b"1234")];
        for operation in operations {
            reserve.make().unwrap();
            assert_eq!(fs::metadata(&path).unwrap().len(), RESERVE_BYTES);
            assert!(Reserve::beside(&store).unwrap().is_kept());
            let refused = operation().unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::StorageFull);
            assert!(reserve.is_kept() && path.exists());
            let usable = reserve.usable();
            operation().unwrap();
            drop(usable);
            assert!(!reserve.is_kept() && !path.exists());
        }
        reserve.make().unwrap();
        disk.sync_data().unwrap_err();
        assert!(path.exists());
        let _usable = reserve.usable();
        disk.sync_data().unwrap_err();
        assert!(!path.exists());
        disk.sync_data().unwrap();
        fs::remove_file(&store).unwrap();
    }
}
