//! A store on a disk whose syncs take longer by a fixed time.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use deskfleet::backends::{FileBackend, SegmentFolder, StorageBackend};

/// A file. It is not locked: its folder is new, and only one process knows it.
#[derive(Debug)]
pub(super) struct SlowFile {
    file: FileBackend,
    sync_delay: Duration,
}

impl SlowFile {
    /// Opens the file at `path`, or creates it.
    pub(super) fn open(path: &Path, sync_delay: Duration) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = FileBackend::new(options.open(path)?).map_err(io::Error::other)?;
        Ok(Self { file, sync_delay })
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

/// The segments of a queue. The few syncs of the folder itself are left out.
#[derive(Debug)]
pub(super) struct SlowFolder {
    pub(super) path: PathBuf,
    pub(super) sync_delay: Duration,
}

impl SlowFolder {
    fn segment(&self, number: u32) -> PathBuf {
        self.path.join(number.to_string())
    }
}

impl SegmentFolder for SlowFolder {
    fn create(&self) -> io::Result<()> {
        fs::create_dir_all(&self.path)
    }

    fn list(&self) -> io::Result<Option<Vec<u32>>> {
        if !self.path.exists() {
            return Ok(None);
        }
        let mut numbers = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            let name = entry?.file_name();
            numbers.extend(name.to_str().and_then(|name| name.parse::<u32>().ok()));
        }
        Ok(Some(numbers))
    }

    fn open(&self, number: u32) -> io::Result<Box<dyn StorageBackend>> {
        let file = SlowFile::open(&self.segment(number), self.sync_delay)?;
        Ok(Box::new(file))
    }

    fn remove(&self, number: u32) -> io::Result<()> {
        fs::remove_file(self.segment(number))
    }

    fn remove_folder(&self) -> io::Result<()> {
        fs::remove_dir(&self.path)
    }

    fn check(&self, _number: u32) -> io::Result<()> {
        fs::metadata(&self.path).map(drop)
    }
}
