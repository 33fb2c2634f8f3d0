//! A disk in memory that fails on request, and that outlives the engine that writes to it.

use std::collections::BTreeSet;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use deskfleet::StorageBackend;

/// The operations of a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Reading.
    Read,
    /// Writing.
    Write,
    /// Changing the length.
    SetLen,
    /// Syncing.
    Sync,
}

impl Operation {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::SetLen, Self::Sync];
}

/// The size of a block of the file system, in bytes.
const BLOCK: usize = 4096;

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
    /// Of the operations of this kind, only the one after `n` more fails.
    Once(Operation, u64),
    /// The same, and all of this kind after it; other kinds work.
    From(Operation, u64),
    /// There is room for `n` more blocks; a write that needs another one fails.
    Full(u64),
}

#[derive(Debug, Default)]
struct State {
    bytes: Vec<u8>,
    durable: Vec<u8>,
    keeps_durable: bool,
    /// The content as of the last sync, if it is kept.
    dirty: Vec<Range<usize>>,
    /// Blocks that were ever written.
    blocks: BTreeSet<usize>,
    fault: Fault,
    broken: bool,
    /// Operations that failed.
    failed: u64,
    syncs: u64,
    /// Bytes written.
    written: usize,
}

/// The disk. Clones are handles to the same bytes.
#[derive(Debug, Clone, Default)]
pub struct Disk(Arc<Mutex<State>>);

impl Disk {
    /// An empty disk that works.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty disk that remembers what was synced, for [`Self::lose_unsynced`]. A failed sync drops the writes that
    /// it should have made durable: they can still be read, as from the cache of a system, and no later sync makes them
    /// durable.
    pub fn crashing() -> Self {
        let disk = Self::default();
        disk.state().keeps_durable = true;
        disk
    }

    /// A disk with this content.
    pub fn holding(bytes: Vec<u8>) -> Self {
        let disk = Self::default();
        disk.state().bytes = bytes;
        disk
    }

    /// Its content.
    pub fn bytes(&self) -> Vec<u8> {
        self.state().bytes.clone()
    }

    /// Sets when the disk fails next; [`Fault::None`] repairs it.
    pub fn fail(&self, fault: Fault) {
        let mut state = self.state();
        state.fault = fault;
        state.broken = false;
    }

    /// Drops every write after the last sync, as a power cut does.
    pub fn lose_unsynced(&self) {
        let state = &mut *self.state();
        assert!(state.keeps_durable, "made by Disk::crashing");
        state.bytes.clone_from(&state.durable);
    }

    /// What a power cut would leave of it now.
    pub fn durable(&self) -> Vec<u8> {
        let state = self.state();
        assert!(state.keeps_durable, "made by Disk::crashing");
        state.durable.clone()
    }

    /// The number of failed operations.
    pub fn failed(&self) -> u64 {
        self.state().failed
    }

    /// The number of syncs.
    pub fn syncs(&self) -> u64 {
        self.state().syncs
    }

    /// The number of bytes written.
    pub fn written(&self) -> usize {
        self.state().written
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
    /// Lets an operation through, or fails it.
    fn pass(&mut self, operation: Operation) -> io::Result<()> {
        let fails = match &mut self.fault {
            Fault::Write(left) if operation == Operation::Write => {
                self.broken |= counted_down(left);
                self.broken
            }
            Fault::Sync(left) if operation == Operation::Sync => {
                self.broken |= counted_down(left);
                self.broken
            }
            Fault::Writes => operation != Operation::Read,
            Fault::Once(kind, left) if *kind == operation => {
                let now = counted_down(left);
                if now {
                    self.fault = Fault::None;
                }
                now
            }
            // Once the count is down to zero, all later operations fail as well.
            Fault::From(kind, left) if *kind == operation => counted_down(left),
            Fault::None | Fault::Full(_) => false,
            Fault::Write(_) | Fault::Sync(_) | Fault::Once(..) | Fault::From(..) => self.broken,
        };
        if fails {
            self.failed += 1;
            return Err(io::Error::other("the disk fails, as the test wants it"));
        }
        Ok(())
    }

    /// Allocates blocks for what is written, while there are any.
    fn allocate(&mut self, range: &Range<usize>) -> io::Result<()> {
        for block in range.start / BLOCK..range.end.div_ceil(BLOCK) {
            if self.blocks.contains(&block) {
                continue;
            }
            if let Fault::Full(left) = &mut self.fault {
                if *left == 0 {
                    self.failed += 1;
                    return Err(io::ErrorKind::StorageFull.into());
                }
                *left -= 1;
            }
            self.blocks.insert(block);
        }
        Ok(())
    }

    fn make_durable(&mut self) {
        self.durable.resize(self.bytes.len(), 0);
        for range in self.dirty.drain(..) {
            let range = range.start..range.end.min(self.bytes.len());
            if let (Some(to), Some(from)) =
                (self.durable.get_mut(range.clone()), self.bytes.get(range))
            {
                to.copy_from_slice(from);
            }
        }
    }
}

/// Whether this operation is the one to fail.
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
        if state.broken {
            return Err(io::Error::other("the disk fails, as the test wants it"));
        }
        Ok(state.bytes.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let mut state = self.0.state();
        state.pass(Operation::Read)?;
        let start = usize::try_from(offset).map_err(io::Error::other)?;
        let source = state
            .bytes
            .get(start..start + out.len())
            .ok_or(io::ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(source);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let state = &mut *self.0.state();
        state.pass(Operation::SetLen)?;
        let length = usize::try_from(len).map_err(io::Error::other)?;
        state.bytes.resize(length, 0);
        state.blocks.split_off(&length.div_ceil(BLOCK));
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let state = &mut *self.0.state();
        if let Err(error) = state.pass(Operation::Sync) {
            state.dirty.clear();
            return Err(error);
        }
        state.syncs += 1;
        if state.keeps_durable {
            state.make_durable();
        }
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let state = &mut *self.0.state();
        state.pass(Operation::Write)?;
        let start = usize::try_from(offset).map_err(io::Error::other)?;
        let range = start..start + data.len();
        state.allocate(&range)?;
        let target = state.bytes.get_mut(range.clone());
        target
            .ok_or(io::ErrorKind::UnexpectedEof)?
            .copy_from_slice(data);
        if state.keeps_durable {
            state.dirty.push(range);
        }
        state.written += data.len();
        Ok(())
    }
}
