//! A disk that records its operations.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::disk::Operation;
use crate::files::{Contents, FileId, FileOf, Files, FolderOf, Part, Tree, set_length};

/// One operation of a disk. Names are durable at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Io {
    /// Bytes written at an offset.
    Write(FileId, u64, Arc<[u8]>),
    /// A new length.
    SetLen(FileId, u64),
    /// Everything before it in this file is on the disk when this returns.
    Sync(FileId),
    /// Some of what is before it in this file may be on the disk, and no later sync stores the rest.
    FailedSync(FileId),
    /// The folder is made.
    Create,
    /// A segment is made.
    Make(u32),
    /// A segment is removed.
    Remove(u32),
    /// The folder is removed.
    RemoveFolder,
}

/// What is called before an operation.
type Call = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct State {
    files: Tree<Vec<u8>>,
    log: Vec<Io>,
    /// The kind of operation that fails, after `n` more of it; and whether all later ones fail as well.
    fault: Option<(Operation, u64, bool)>,
    /// The only part that fails, if there is one.
    failing: Option<Part>,
    failed: u64,
    /// What is called before the sync of this part that has `n` more before it.
    before_sync: Option<(Part, u64, Call)>,
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State")
            .field("operations", &self.log.len())
            .finish_non_exhaustive()
    }
}

impl State {
    fn fails(&mut self, part: Part, operation: Operation) -> bool {
        if self.failing.is_some_and(|failing| failing != part) {
            return false;
        }
        let Some((kind, left, lasts)) = &mut self.fault else {
            return false;
        };
        if *kind != operation {
            return false;
        }
        let fails = *left == 0;
        *left = left.saturating_sub(1);
        if fails {
            self.failed += 1;
            if !*lasts {
                self.fault = None;
            }
        }
        fails
    }
}

fn failure() -> io::Error {
    io::Error::other("the disk fails, as the test wants it")
}

/// The disk. Clones are handles to the same bytes and the same log.
#[derive(Debug, Clone, Default)]
pub struct Recorder(Arc<Mutex<State>>);

impl Recorder {
    /// A disk with this content.
    pub fn holding(contents: impl Into<Contents>) -> Self {
        let recorder = Self::default();
        recorder.state().files = Tree::holding(contents.into(), |bytes| bytes);
        recorder
    }

    /// How many operations were recorded.
    pub fn len(&self) -> usize {
        self.state().log.len()
    }

    /// Whether no operation was recorded.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All recorded operations.
    pub fn log(&self) -> Vec<Io> {
        self.state().log.clone()
    }

    /// From now on the operation after `left` more of its kind fails, and all later ones if it `lasts`. A write that
    /// fails is recorded, because some of it may be stored.
    pub fn fail(&self, operation: Operation, left: u64, lasts: bool) {
        let mut state = self.state();
        state.fault = Some((operation, left, lasts));
        state.failing = None;
    }

    /// The same for the operations of a part alone.
    pub fn fail_part(&self, part: Part, operation: Operation, left: u64, lasts: bool) {
        let mut state = self.state();
        state.fault = Some((operation, left, lasts));
        state.failing = Some(part);
    }

    /// Calls `call` before the sync of this part that has `n` more before it, while that sync is pending.
    pub fn before_sync(&self, part: Part, left: u64, call: impl FnOnce() + Send + 'static) {
        self.state().before_sync = Some((part, left, Box::new(call)));
    }

    /// How many syncs of this part were made.
    pub fn syncs(&self, part: Part) -> usize {
        let of_part = |io: &&Io| matches!(io, Io::Sync(file) if file.part() == part);
        self.state().log.iter().filter(of_part).count()
    }

    /// Drops the call of [`Self::before_sync`]; returns whether it was still to come.
    pub fn forget_call(&self) -> bool {
        self.state().before_sync.take().is_some()
    }

    /// Repairs the disk; returns how many operations failed.
    pub fn repair(&self) -> u64 {
        let mut state = self.state();
        state.fault = None;
        state.failed
    }

    /// The content of all files.
    pub fn contents(&self) -> Contents {
        self.state().files.contents(|_, bytes| bytes.clone())
    }

    /// A backend of this disk, to open an engine on.
    pub fn backend(&self) -> FileOf<Self> {
        Files::backend(self)
    }

    /// The folder beside it.
    pub fn folder(&self) -> FolderOf<Self> {
        Files::folder(self)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The call that is due before the next sync of this part.
    fn due(&self, part: Part) -> Option<Call> {
        let mut state = self.state();
        let (of, left, _) = state.before_sync.as_mut()?;
        if *of != part {
            return None;
        }
        if *left > 0 {
            *left -= 1;
            return None;
        }
        state.before_sync.take().map(|(_, _, call)| call)
    }
}

impl Files for Recorder {
    fn len(&self, file: FileId) -> io::Result<u64> {
        Ok(self.state().files.file(file).len() as u64)
    }

    fn read(&self, file: FileId, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let mut state = self.state();
        let start = usize::try_from(offset).map_err(io::Error::other)?;
        let source = state.files.file(file).get(start..start + out.len());
        out.copy_from_slice(source.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, file: FileId, len: u64) -> io::Result<()> {
        let state = &mut *self.state();
        if state.fails(file.part(), Operation::SetLen) {
            return Err(failure());
        }
        let length = usize::try_from(len).map_err(io::Error::other)?;
        set_length(state.files.file(file), length);
        state.log.push(Io::SetLen(file, len));
        Ok(())
    }

    fn sync(&self, file: FileId) -> io::Result<()> {
        if let Some(call) = self.due(file.part()) {
            call();
        }
        let mut state = self.state();
        if state.fails(file.part(), Operation::Sync) {
            state.log.push(Io::FailedSync(file));
            return Err(failure());
        }
        state.log.push(Io::Sync(file));
        Ok(())
    }

    fn write(&self, file: FileId, offset: u64, data: &[u8]) -> io::Result<()> {
        let state = &mut *self.state();
        if state.fails(file.part(), Operation::Write) {
            state.log.push(Io::Write(file, offset, data.into()));
            return Err(failure());
        }
        let start = usize::try_from(offset).map_err(io::Error::other)?;
        let target = state.files.file(file).get_mut(start..start + data.len());
        target
            .ok_or(io::ErrorKind::UnexpectedEof)?
            .copy_from_slice(data);
        state.log.push(Io::Write(file, offset, data.into()));
        Ok(())
    }

    fn create(&self) -> io::Result<()> {
        let state = &mut *self.state();
        if state.fails(Part::Queue, Operation::Create) {
            return Err(failure());
        }
        if state.files.list().is_none() {
            state.files.create();
            state.log.push(Io::Create);
        }
        Ok(())
    }

    fn list(&self) -> io::Result<Option<Vec<u32>>> {
        Ok(self.state().files.list())
    }

    fn open_segment(&self, number: u32) -> io::Result<FileId> {
        let state = &mut *self.state();
        if state.fails(Part::Queue, Operation::Open) {
            return Err(failure());
        }
        let is_new = state.files.segment(number).is_none();
        let id = state.files.open(number)?;
        if is_new {
            state.log.push(Io::Make(number));
        }
        Ok(id)
    }

    fn remove(&self, number: u32) -> io::Result<()> {
        let state = &mut *self.state();
        if state.fails(Part::Queue, Operation::Remove) {
            return Err(failure());
        }
        state.files.remove(number)?;
        state.log.push(Io::Remove(number));
        Ok(())
    }

    fn remove_folder(&self) -> io::Result<()> {
        let state = &mut *self.state();
        if state.fails(Part::Queue, Operation::Remove) {
            return Err(failure());
        }
        state.files.remove_folder()?;
        state.log.push(Io::RemoveFolder);
        Ok(())
    }
}
