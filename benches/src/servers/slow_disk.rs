//! A store on a disk whose syncs take longer.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::time::Duration;

use deskfleet::backends::{FileBackend, StorageBackend};

/// A file whose syncs take longer by a fixed time. It is not locked: its folder is new, and only one process knows it.
#[derive(Debug)]
pub(super) struct SlowFile {
    file: FileBackend,
    sync_delay: Duration,
}

impl SlowFile {
    /// Opens the file at `path`, or creates it.
    pub(super) fn open(path: &Path, sync_delay: Duration) -> Self {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .expect("a file");
        Self {
            file: FileBackend::new(file).expect("a file"),
            sync_delay,
        }
    }
}

impl StorageBackend for SlowFile {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read(offset, out)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.file.set_len(length)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.file.sync_data()?;
        super::wait(self.sync_delay);
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.file.write(offset, data)
    }
}
