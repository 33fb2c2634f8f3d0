//! The host's folder and its files, with their panics caught: a panic is a failure of the medium.

use std::io;

use redb::StorageBackend;

use crate::store::disk::backends::SegmentFolder;
use crate::store::disk::medium::caught;

/// The folder or file of the host.
#[derive(Debug)]
pub(super) struct Host<T: ?Sized>(pub(super) Box<T>);

impl SegmentFolder for Host<dyn SegmentFolder> {
    fn create(&self) -> io::Result<()> {
        caught(|| self.0.create())
    }

    fn list(&self) -> io::Result<Option<Vec<u32>>> {
        caught(|| self.0.list())
    }

    fn open(&self, number: u32) -> io::Result<Box<dyn StorageBackend>> {
        let file = caught(|| self.0.open(number))?;
        Ok(Box::new(Host(file)))
    }

    fn remove(&self, number: u32) -> io::Result<()> {
        caught(|| self.0.remove(number))
    }

    fn remove_folder(&self) -> io::Result<()> {
        caught(|| self.0.remove_folder())
    }

    fn check(&self, number: u32) -> io::Result<()> {
        caught(|| self.0.check(number))
    }
}

impl StorageBackend for Host<dyn StorageBackend> {
    fn len(&self) -> io::Result<u64> {
        caught(|| self.0.len())
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        caught(|| self.0.read(offset, out))
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        caught(|| self.0.set_len(length))
    }

    fn sync_data(&self) -> io::Result<()> {
        caught(|| self.0.sync_data())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        caught(|| self.0.write(offset, data))
    }
}
