//! A disk in memory that can be told to fail, and that outlives the engine that writes to it.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use deskfleet::StorageBackend;

/// When the disk fails. A count of 0 means the very next operation of that kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fault {
    /// It works.
    #[default]
    None,
    /// The write after this many more writes fails, and every operation from there on.
    Write(u64),
    /// The sync after this many more syncs fails, and every operation from there on.
    Sync(u64),
    /// Every write, sync and change of length fails; reads go on.
    Writes,
}

#[derive(Debug, Default)]
struct State {
    bytes: Vec<u8>,
    durable: Vec<u8>,
    keeps_durable: bool,
    fault: Fault,
    broken: bool,
    syncs: u64,
}

/// The disk. Clones are handles to the same bytes.
#[derive(Debug, Clone, Default)]
pub struct Disk(Arc<Mutex<State>>);

impl Disk {
    /// An empty disk that works.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty disk that remembers what was synced last, for [`Self::lose_unsynced`].
    pub fn crashing() -> Self {
        let disk = Self::default();
        disk.state().keeps_durable = true;
        disk
    }

    /// Sets when the disk fails next; [`Fault::None`] repairs it.
    pub fn fail(&self, fault: Fault) {
        let mut state = self.state();
        state.fault = fault;
        state.broken = false;
    }

    /// Forgets every write after the last sync, as a power cut does.
    pub fn lose_unsynced(&self) {
        let state = &mut *self.state();
        assert!(state.keeps_durable, "made by Disk::crashing");
        state.bytes.clone_from(&state.durable);
    }

    /// How often the disk was synced.
    pub fn syncs(&self) -> u64 {
        self.state().syncs
    }

    /// A backend of this disk, to open an engine on.
    pub fn backend(&self) -> DiskBackend {
        DiskBackend(self.clone())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn pass_write(&mut self) -> io::Result<()> {
        if let Fault::Write(left) = &mut self.fault {
            self.broken |= counted_down(left);
        }
        self.work()
    }

    fn pass_sync(&mut self) -> io::Result<()> {
        if let Fault::Sync(left) = &mut self.fault {
            self.broken |= counted_down(left);
        }
        self.work()
    }

    fn work(&self) -> io::Result<()> {
        if self.broken {
            return Err(io::Error::other("the disk fails, as the test wants it"));
        }
        Ok(())
    }
}

/// Whether the operation at hand is the one to fail.
fn counted_down(left: &mut u64) -> bool {
    let now = *left == 0;
    *left = left.saturating_sub(1);
    now
}

/// A redb backend on a [`Disk`].
#[derive(Debug)]
pub struct DiskBackend(Disk);

impl StorageBackend for DiskBackend {
    fn len(&self) -> io::Result<u64> {
        let state = self.0.state();
        state.work()?;
        Ok(state.bytes.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let state = self.0.state();
        state.work()?;
        let start = usize::try_from(offset).map_err(io::Error::other)?;
        let source = state
            .bytes
            .get(start..start + out.len())
            .ok_or(io::ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(source);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut state = self.0.state();
        state.work()?;
        if state.fault == Fault::Writes {
            return Err(io::Error::other("the disk takes no writes"));
        }
        state
            .bytes
            .resize(usize::try_from(len).map_err(io::Error::other)?, 0);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let state = &mut *self.0.state();
        if state.fault == Fault::Writes {
            return Err(io::Error::other("the disk takes no writes"));
        }
        state.pass_sync()?;
        state.syncs += 1;
        if state.keeps_durable {
            state.durable.clone_from(&state.bytes);
        }
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut state = self.0.state();
        if state.fault == Fault::Writes {
            return Err(io::Error::other("the disk takes no writes"));
        }
        state.pass_write()?;
        let start = usize::try_from(offset).map_err(io::Error::other)?;
        let target = state
            .bytes
            .get_mut(start..start + data.len())
            .ok_or(io::ErrorKind::UnexpectedEof)?;
        target.copy_from_slice(data);
        Ok(())
    }
}
