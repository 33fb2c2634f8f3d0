//! A disk that records its operations.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use deskfleet::StorageBackend;

use crate::disk::Operation;

/// One operation of a disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Io {
    /// Bytes written at an offset.
    Write(u64, Arc<[u8]>),
    /// A new length.
    SetLen(u64),
    /// Everything before it is on the disk when this returns.
    Sync,
    /// Some of what is before it may be on the disk, and no later sync stores the rest.
    FailedSync,
}

#[derive(Debug, Default)]
struct State {
    bytes: Vec<u8>,
    log: Vec<Io>,
    /// The kind of operation that fails, after `n` more of it; and whether all later ones fail as well.
    fault: Option<(Operation, u64, bool)>,
    failed: u64,
}

impl State {
    fn fails(&mut self, operation: Operation) -> bool {
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
    pub fn holding(bytes: Vec<u8>) -> Self {
        let recorder = Self::default();
        recorder.state().bytes = bytes;
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
        self.state().fault = Some((operation, left, lasts));
    }

    /// Repairs the disk; returns how many operations failed.
    pub fn repair(&self) -> u64 {
        let mut state = self.state();
        state.fault = None;
        state.failed
    }

    /// A backend of this disk, to open an engine on.
    pub fn backend(&self) -> RecorderBackend {
        RecorderBackend(self.clone())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A redb backend on a [`Recorder`].
#[derive(Debug)]
pub struct RecorderBackend(Recorder);

impl StorageBackend for RecorderBackend {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.state().bytes.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let state = self.0.state();
        let start = usize::try_from(offset).map_err(io::Error::other)?;
        let source = state.bytes.get(start..start + out.len());
        out.copy_from_slice(source.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let state = &mut *self.0.state();
        if state.fails(Operation::SetLen) {
            return Err(failure());
        }
        let length = usize::try_from(len).map_err(io::Error::other)?;
        state.bytes.resize(length, 0);
        state.log.push(Io::SetLen(len));
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut state = self.0.state();
        if state.fails(Operation::Sync) {
            state.log.push(Io::FailedSync);
            return Err(failure());
        }
        state.log.push(Io::Sync);
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let state = &mut *self.0.state();
        if state.fails(Operation::Write) {
            state.log.push(Io::Write(offset, data.into()));
            return Err(failure());
        }
        let start = usize::try_from(offset).map_err(io::Error::other)?;
        let target = state.bytes.get_mut(start..start + data.len());
        target
            .ok_or(io::ErrorKind::UnexpectedEof)?
            .copy_from_slice(data);
        state.log.push(Io::Write(offset, data.into()));
        Ok(())
    }
}
