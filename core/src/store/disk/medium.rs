//! The medium of redb: the host's backend, which stays open when the database is opened again, with a gate for writes while a
//! file is inspected.

mod backend;

use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use redb::StorageBackend;

use crate::error::{EngineError, ErrorKind, Result};
use crate::locks::lock;

use crate::store::failure::unavailable;

use backend::{Backend, HEADER_BYTES};

pub(in crate::store) use backend::caught;
pub(crate) use backend::panic_text;

/// The first bytes of every redb file.
const REDB_MAGIC: &[u8] = b"redb\x1A\x0A\xA9\x0D\x0A";

const PAGE_BYTES: u64 = 4096;
/// The longest file that redb may have only begun.
const UNFINISHED_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Whether the magic is missing or incomplete.
fn is_begun(magic: &[u8; REDB_MAGIC.len()]) -> bool {
    let written = magic
        .iter()
        .zip(REDB_MAGIC)
        .take_while(|(found, wanted)| found == wanted);
    let written = written.count();
    magic.iter().skip(written).all(|byte| *byte == 0)
}

/// A write held at the gate.
enum GatedChange {
    Write(u64, Vec<u8>),
    SetLen(u64),
    Sync,
}

/// The host's backend, shared by the databases opened on it one after another.
///
/// redb repairs an unclean file while it opens it, before anyone can look at the format version inside. So the writes of an
/// opening stay at a gate. They reach the medium once the version is known to be ours, and never otherwise. After an I/O error
/// they stay there until the next write, so that reads work on a medium that takes no writes.
#[derive(Clone)]
pub(in crate::store) struct Medium {
    backend: Arc<Backend>,
    gate: Arc<Gate>,
    /// Whether the backend failed since the database on it was opened: redb refuses all work from then on.
    failed: Arc<AtomicBool>,
}

/// The writes at the gate. `closed` is read first, so that an open gate costs no lock.
#[derive(Default)]
struct Gate {
    closed: AtomicBool,
    held: Mutex<Vec<GatedChange>>,
}

impl Gate {
    fn held(&self) -> MutexGuard<'_, Vec<GatedChange>> {
        lock(&self.held)
    }

    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }
}

impl Medium {
    /// Takes the backend and its lock, if it has one; with `read_only` the one that readers share.
    pub(in crate::store) fn new(backend: impl StorageBackend, read_only: bool) -> Result<Self> {
        Ok(Self {
            backend: Arc::new(Backend::new(backend, read_only)?),
            gate: Arc::default(),
            failed: Arc::default(),
        })
    }

    /// Whether its lock keeps other engines out.
    pub(in crate::store) fn is_locked(&self) -> bool {
        self.backend.is_locked
    }

    /// Whether the database on it must be opened again.
    pub(in crate::store) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    fn noted<T>(&self, result: io::Result<T>) -> io::Result<T> {
        if result.is_err() {
            self.failed.store(true, Ordering::Release);
        }
        result
    }

    /// Whether there is no store yet: nothing was written, or a crash cut off the first writes of redb, before anything was
    /// acknowledged. Refuses what is not a redb file.
    pub(in crate::store) fn is_new(&self) -> Result<bool> {
        let len = self.backend.len().map_err(unavailable)?;
        if len == 0 {
            return Ok(true);
        }
        let mut magic = [0; REDB_MAGIC.len()];
        if len >= magic.len() as u64 {
            self.backend.read(0, &mut magic).map_err(unavailable)?;
        }
        if magic == REDB_MAGIC {
            return Ok(false);
        }
        if (PAGE_BYTES..=UNFINISHED_BYTES_MAX).contains(&len)
            && is_begun(&magic)
            && self.is_blank(len)?
        {
            return Ok(true);
        }
        Err(EngineError::new(
            ErrorKind::ForeignFile,
            "the file is not a deskfleet store; it was left untouched: name another path, or move the file away",
        ))
    }

    /// Whether there is nothing after the header.
    fn is_blank(&self, len: u64) -> Result<bool> {
        let rest = usize::try_from(len.saturating_sub(HEADER_BYTES as u64)).unwrap_or(0);
        let mut rest = vec![0; rest];
        self.backend
            .read(HEADER_BYTES as u64, &mut rest)
            .map_err(unavailable)?;
        Ok(rest.iter().all(|byte| *byte == 0))
    }

    /// Empties the medium, as a write at the gate.
    pub(in crate::store) fn clear(&self) -> Result<()> {
        if self.len().map_err(unavailable)? == 0 {
            return Ok(());
        }
        self.set_len(0).map_err(unavailable)
    }

    /// Starts the commit that [`Self::is_in_doubt`] reports on.
    pub(in crate::store) fn begin(&self) {
        self.backend.begin();
    }

    /// Whether the last commit may take effect although it failed: its header was written to the backend, and a crash or the next
    /// opening may find it.
    pub(in crate::store) fn is_in_doubt(&self) -> bool {
        self.backend.is_in_doubt()
    }

    /// Closes the gate for writes.
    pub(in crate::store) fn close_gate(&self) {
        self.failed.store(false, Ordering::Release);
        self.backend.forget_header();
        self.gate.held().clear();
        self.gate.closed.store(true, Ordering::Release);
    }

    /// Puts unsynced writes before those at the gate, as they read now: later writes then build on data that is written again.
    pub(in crate::store) fn hold_unsynced(&self) -> Result<()> {
        let len = self.backend.len().map_err(unavailable)?;
        let mut again = Vec::new();
        for (offset, length) in &self.backend.unsynced() {
            let mut data = vec![0; overlap(*offset, *length, 0, len).len()];
            if !data.is_empty() {
                self.backend.read(*offset, &mut data).map_err(unavailable)?;
                again.push(GatedChange::Write(*offset, data));
            }
        }
        if !again.is_empty() {
            again.push(GatedChange::Sync);
            self.gate.held().splice(..0, again);
        }
        Ok(())
    }

    /// Opens the gate: writes the held writes in order, then lets later ones through. If the medium refuses one, the gate stays
    /// closed and keeps all of them, because writing them again is harmless.
    pub(in crate::store) fn open_gate(&self) -> Result<()> {
        let mut waiting = self.gate.held();
        for held in waiting.iter() {
            match held {
                GatedChange::Write(offset, data) => self.backend.write(*offset, data),
                GatedChange::SetLen(len) => self.backend.set_len(*len),
                GatedChange::Sync => self.backend.sync(),
            }
            .map_err(unavailable)?;
        }
        waiting.clear();
        self.gate.closed.store(false, Ordering::Release);
        Ok(())
    }

    /// Holds a change if the gate is closed; returns whether it did.
    fn waits(&self, change: impl FnOnce() -> GatedChange) -> bool {
        if !self.gate.is_closed() {
            return false;
        }
        let mut waiting = self.gate.held();
        // The gate may have been opened meanwhile, and then nothing would write a held change.
        let closed = self.gate.is_closed();
        if closed {
            waiting.push(change());
        }
        closed
    }

    /// Whether writes are held.
    pub(in crate::store) fn is_gated(&self) -> bool {
        self.gate.is_closed()
    }

    /// Gives the backend and its lock back.
    pub(in crate::store) fn release(&self) -> io::Result<()> {
        self.backend.close()
    }

    /// Reads through the held writes.
    fn read_gated(&self, held: &[GatedChange], offset: u64, out: &mut [u8]) -> io::Result<()> {
        let end = offset.saturating_add(out.len() as u64);
        if end > gated_len(self.backend.len()?, held) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let kept = held
            .iter()
            .fold(self.backend.len()?, |kept, change| match change {
                GatedChange::SetLen(len) => kept.min(*len),
                GatedChange::Write(..) | GatedChange::Sync => kept,
            });
        out.fill(0);
        let stored = overlap(offset, out.len(), 0, kept);
        if let Some(part) = out.get_mut(stored.clone())
            && !part.is_empty()
        {
            self.backend.read(offset + stored.start as u64, part)?;
        }
        for change in held {
            match change {
                GatedChange::Write(at, data) => {
                    let range = overlap(offset, out.len(), *at, at + data.len() as u64);
                    let from = usize::try_from((offset + range.start as u64).saturating_sub(*at));
                    let source = from
                        .ok()
                        .and_then(|from| data.get(from..from + range.len()));
                    if let (Some(part), Some(source)) = (out.get_mut(range), source) {
                        part.copy_from_slice(source);
                    }
                }
                GatedChange::SetLen(len) => {
                    let cut = overlap(offset, out.len(), *len, u64::MAX);
                    if let Some(part) = out.get_mut(cut) {
                        part.fill(0);
                    }
                }
                GatedChange::Sync => {}
            }
        }
        Ok(())
    }
}

fn gated_len(stored: u64, held: &[GatedChange]) -> u64 {
    held.iter().fold(stored, |len, change| match change {
        GatedChange::SetLen(len) => *len,
        GatedChange::Write(..) | GatedChange::Sync => len,
    })
}

/// The part of a buffer at `offset` that lies in `start..end`, as indexes into the buffer; empty when there is none.
fn overlap(offset: u64, length: usize, start: u64, end: u64) -> std::ops::Range<usize> {
    let clip =
        |at: u64| usize::try_from(at.saturating_sub(offset)).map_or(length, |at| at.min(length));
    let (from, to) = (clip(start), clip(end));
    from..to.max(from)
}

impl StorageBackend for Medium {
    fn len(&self) -> io::Result<u64> {
        let stored = self.noted(self.backend.len())?;
        if self.gate.is_closed() {
            return Ok(gated_len(stored, &self.gate.held()));
        }
        Ok(stored)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.noted(if self.gate.is_closed() {
            self.read_gated(&self.gate.held(), offset, out)
        } else {
            self.backend.read(offset, out)
        })
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        if self.waits(|| GatedChange::SetLen(len)) {
            return Ok(());
        }
        self.noted(self.backend.set_len(len))
    }

    fn sync_data(&self) -> io::Result<()> {
        if self.waits(|| GatedChange::Sync) {
            return Ok(());
        }
        self.noted(self.backend.sync())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        if self.waits(|| GatedChange::Write(offset, data.to_vec())) {
            return Ok(());
        }
        self.noted(self.backend.write(offset, data))
    }

    // `close` stays the default: the backend outlives the database, which may be opened on it again.
}

impl fmt::Debug for Medium {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Medium").field(&self.backend).finish()
    }
}

#[cfg(test)]
mod tests {
    use redb::backends::InMemoryBackend;

    use super::*;

    fn medium(content: &[u8]) -> Medium {
        let backend = InMemoryBackend::new();
        backend.set_len(content.len() as u64).unwrap();
        backend.write(0, content).unwrap();
        Medium::new(backend, false).unwrap()
    }

    fn content(medium: &Medium) -> Vec<u8> {
        let mut out = vec![0; usize::try_from(medium.len().unwrap()).unwrap()];
        medium.read(0, &mut out).unwrap();
        out
    }

    #[test]
    fn gated_writes_are_seen_but_reach_the_medium_only_through_the_gate() {
        let medium = medium(b"0123456789");
        medium.close_gate();
        medium.write(2, b"ab").unwrap();
        medium.set_len(5).unwrap();
        medium.set_len(12).unwrap();
        medium.write(10, b"yz").unwrap();
        medium.sync_data().unwrap();
        let seen = b"01ab4\0\0\0\0\0yz".to_vec();
        assert_eq!(content(&medium), seen);
        assert_eq!(medium.backend.len().unwrap(), 10);
        assert!(medium.read(11, &mut [0; 2]).is_err());
        medium.open_gate().unwrap();
        assert_eq!(content(&medium), seen);
        assert_eq!(medium.backend.len().unwrap(), 12);
    }

    #[test]
    fn writes_behind_a_gate_that_never_opens_never_happened() {
        let medium = medium(b"0123");
        medium.close_gate();
        medium.write(0, b"zzzz").unwrap();
        medium.set_len(0).unwrap();
        let mut out = [0; 4];
        medium.backend.read(0, &mut out).unwrap();
        assert_eq!(&out, b"0123");
    }
}
