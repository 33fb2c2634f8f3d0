//! A disk in memory that fails on request, and that outlives the engine that writes to it.

use std::collections::BTreeSet;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::files::{Contents, FileId, FileOf, Files, FolderOf, Part, Tree, set_length};

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
    /// Making the folder.
    Create,
    /// Listing the folder.
    List,
    /// Opening or making a segment.
    Open,
    /// Removing a segment or the folder.
    Remove,
}

impl Operation {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Read,
        Self::Write,
        Self::SetLen,
        Self::Sync,
        Self::Create,
        Self::List,
        Self::Open,
        Self::Remove,
    ];

    /// Whether it changes nothing.
    fn is_reading(self) -> bool {
        matches!(self, Self::Read | Self::List)
    }
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
    /// Every write, sync and change of length fails, nothing can be made or removed; reads go on.
    Writes,
    /// Of the operations of this kind, only the one after `n` more fails.
    Once(Operation, u64),
    /// The same, and all of this kind after it; other kinds work.
    From(Operation, u64),
    /// There is room for `n` more blocks; a write that needs another one fails.
    Full(u64),
}

/// A file of the disk.
#[derive(Debug, Default)]
struct File {
    bytes: Vec<u8>,
    /// The content as of the last sync, if it is kept.
    durable: Vec<u8>,
    /// Writes after it.
    dirty: Vec<Range<usize>>,
}

#[derive(Debug, Default)]
struct State {
    files: Tree<File>,
    keeps_durable: bool,
    /// Blocks that were ever written.
    blocks: BTreeSet<(FileId, usize)>,
    fault: Fault,
    /// The part that fails; both where there is none.
    failing: Option<Part>,
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
    pub fn holding(contents: impl Into<Contents>) -> Self {
        let disk = Self::default();
        disk.state().files = Tree::holding(contents.into(), |bytes| File {
            bytes,
            ..File::default()
        });
        disk
    }

    /// The same with this content, all of which is durable.
    pub fn crashing_with(contents: impl Into<Contents>) -> Self {
        let disk = Self::crashing();
        disk.state().files = Tree::holding(contents.into(), |bytes| File {
            durable: bytes.clone(),
            bytes,
            ..File::default()
        });
        disk
    }

    /// The content of the store.
    pub fn bytes(&self) -> Vec<u8> {
        self.state().files.file(FileId::STORE).bytes.clone()
    }

    /// The content of all files.
    pub fn contents(&self) -> Contents {
        self.state().files.contents(|_, file| file.bytes.clone())
    }

    /// Sets when the disk fails next; [`Fault::None`] repairs it.
    pub fn fail(&self, fault: Fault) {
        self.fail_in(None, fault);
    }

    /// The same for a part of it alone. The operations of the other part do not count.
    pub fn fail_part(&self, part: Part, fault: Fault) {
        self.fail_in(Some(part), fault);
    }

    fn fail_in(&self, part: Option<Part>, fault: Fault) {
        let mut state = self.state();
        state.fault = fault;
        state.failing = part;
        state.broken = false;
    }

    /// Drops every write after the last sync, as a power cut does.
    pub fn lose_unsynced(&self) {
        let state = &mut *self.state();
        assert!(state.keeps_durable, "made by Disk::crashing");
        for (_, file) in state.files.named() {
            file.bytes.clone_from(&file.durable);
            file.dirty.clear();
        }
    }

    /// What a power cut would leave of it now.
    pub fn durable(&self) -> Contents {
        let state = self.state();
        assert!(state.keeps_durable, "made by Disk::crashing");
        state.files.contents(|_, file| file.durable.clone())
    }

    /// Removes the folder with all that is in it, as someone does who takes it for something else.
    pub fn remove_queue(&self) {
        let files = &mut self.state().files;
        for number in files.list().into_iter().flatten() {
            files.remove(number).expect("it is there");
        }
        files.remove_folder().expect("a folder");
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
    pub fn backend(&self) -> FileOf<Self> {
        Files::backend(self)
    }

    /// The folder beside the store, to open an engine on.
    pub fn folder(&self) -> FolderOf<Self> {
        Files::folder(self)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Lets an operation through, or fails it.
    fn pass(&mut self, part: Part, operation: Operation) -> io::Result<()> {
        let fails = match &mut self.fault {
            _ if self.failing.is_some_and(|failing| failing != part) => false,
            Fault::Write(left) if operation == Operation::Write => {
                self.broken |= counted_down(left);
                self.broken
            }
            Fault::Sync(left) if operation == Operation::Sync => {
                self.broken |= counted_down(left);
                self.broken
            }
            Fault::Writes => !operation.is_reading(),
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
    fn allocate(&mut self, file: FileId, range: &Range<usize>) -> io::Result<()> {
        let spared = self.failing.is_some_and(|failing| failing != file.part());
        for block in range.start / BLOCK..range.end.div_ceil(BLOCK) {
            if self.blocks.contains(&(file, block)) {
                continue;
            }
            if let Fault::Full(left) = &mut self.fault
                && !spared
            {
                if *left == 0 {
                    self.failed += 1;
                    return Err(io::ErrorKind::StorageFull.into());
                }
                *left -= 1;
            }
            self.blocks.insert((file, block));
        }
        Ok(())
    }
}

impl File {
    fn make_durable(&mut self) {
        set_length(&mut self.durable, self.bytes.len());
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

impl Files for Disk {
    fn len(&self, file: FileId) -> io::Result<u64> {
        let mut state = self.state();
        if state.broken && state.failing.is_none_or(|failing| failing == file.part()) {
            return Err(io::Error::other("the disk fails, as the test wants it"));
        }
        Ok(state.files.file(file).bytes.len() as u64)
    }

    fn read(&self, file: FileId, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let mut state = self.state();
        state.pass(file.part(), Operation::Read)?;
        let start = usize::try_from(offset).map_err(io::Error::other)?;
        let bytes = &state.files.file(file).bytes;
        let source = bytes.get(start..start + out.len());
        out.copy_from_slice(source.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, file: FileId, len: u64) -> io::Result<()> {
        let state = &mut *self.state();
        state.pass(file.part(), Operation::SetLen)?;
        let length = usize::try_from(len).map_err(io::Error::other)?;
        set_length(&mut state.files.file(file).bytes, length);
        let kept = length.div_ceil(BLOCK);
        let cut_off = |(of, block): &(FileId, usize)| *of == file && *block >= kept;
        state.blocks.retain(|block| !cut_off(block));
        Ok(())
    }

    fn sync(&self, file: FileId) -> io::Result<()> {
        let state = &mut *self.state();
        if let Err(error) = state.pass(file.part(), Operation::Sync) {
            state.files.file(file).dirty.clear();
            return Err(error);
        }
        state.syncs += 1;
        if state.keeps_durable {
            state.files.file(file).make_durable();
        }
        Ok(())
    }

    fn write(&self, file: FileId, offset: u64, data: &[u8]) -> io::Result<()> {
        let state = &mut *self.state();
        state.pass(file.part(), Operation::Write)?;
        let start = usize::try_from(offset).map_err(io::Error::other)?;
        let range = start..start + data.len();
        state.allocate(file, &range)?;
        let written = state.files.file(file);
        let target = written.bytes.get_mut(range.clone());
        target
            .ok_or(io::ErrorKind::UnexpectedEof)?
            .copy_from_slice(data);
        if state.keeps_durable {
            written.dirty.push(range);
        }
        state.written += data.len();
        Ok(())
    }

    fn create(&self) -> io::Result<()> {
        let mut state = self.state();
        state.pass(Part::Queue, Operation::Create)?;
        state.files.create();
        Ok(())
    }

    fn list(&self) -> io::Result<Option<Vec<u32>>> {
        let mut state = self.state();
        state.pass(Part::Queue, Operation::List)?;
        Ok(state.files.list())
    }

    fn open_segment(&self, number: u32) -> io::Result<FileId> {
        let mut state = self.state();
        if !(state.fault == Fault::Writes && state.files.segment(number).is_some()) {
            state.pass(Part::Queue, Operation::Open)?;
        }
        state.files.open(number)
    }

    fn remove(&self, number: u32) -> io::Result<()> {
        let mut state = self.state();
        state.pass(Part::Queue, Operation::Remove)?;
        state.files.remove(number)
    }

    fn remove_folder(&self) -> io::Result<()> {
        let mut state = self.state();
        state.pass(Part::Queue, Operation::Remove)?;
        state.files.remove_folder()
    }
}
