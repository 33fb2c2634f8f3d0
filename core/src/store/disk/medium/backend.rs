//! The host's backend, with the header written last and its panics caught.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::ops::Bound;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard};

use redb::{BackendError, StorageBackend};

use crate::error::Result;
use crate::locks::lock;
use crate::store::failure::{already_open, unavailable};

/// Bytes of the header at the front of a redb file, which redb always writes as a whole.
pub(super) const HEADER_BYTES: usize = 320;
/// The byte of the header with the current commit slot and the phases of its commit.
const FLAGS_AT: usize = 9;
const SECOND_SLOT: u8 = 1;
const TWO_PHASES: u8 = 4;

/// The host's backend.
///
/// A commit takes effect with the header. redb writes the header anywhere among the pages of a commit; this holds it back and
/// writes it right before the sync. So a page that cannot be written, as on a full disk, certainly has no effect.
pub(super) struct Backend {
    host: Box<dyn StorageBackend>,
    /// Whether the host's backend has locks.
    pub(super) is_locked: bool,
    written: Mutex<Written>,
}

/// The writes since the last successful sync.
///
/// When a sync fails, systems drop what they could not write, serve reads from memory for a while, and report success for the
/// next sync. So writes in doubt after a failed sync are written again before anything is built on them.
#[derive(Default)]
struct Written {
    /// The writes to the host's backend, by offset: the length and the number of the write. A repeated write replaces the one
    /// before, so that a failing disk takes no more memory.
    ranges: BTreeMap<u64, (usize, u64)>,
    /// The number of the next write.
    next: u64,
    /// The header that is held until the next sync.
    header: Option<Vec<u8>>,
    /// The flags of the last header written to the host's backend.
    flags: Option<u8>,
    /// Whether a header that may name a new commit was written since [`Backend::begin`].
    named: bool,
}

impl Written {
    /// Records a write.
    fn record_write(&mut self, offset: u64, length: usize) {
        let (known, number) = self.ranges.entry(offset).or_default();
        (*known, *number) = ((*known).max(length), self.next);
        self.next += 1;
    }

    /// Whether this header may show a reader after a crash a newer commit than the header before.
    fn names_a_commit(&self, header: &[u8]) -> bool {
        let flags = header.get(FLAGS_AT).copied();
        let same_slot = flags.zip(self.flags).is_some_and(|(new, old)| {
            // Without two phases the newer slot counts, whichever the flag names.
            new & old & TWO_PHASES != 0 && (new ^ old) & SECOND_SLOT == 0
        });
        !same_slot
    }
}

/// A panic of the host's backend is a failure of the medium. If it went through redb, redb would seem damaged.
pub(in crate::store) fn caught<T>(call: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| {
        let text = panic_text(&*panic);
        Err(io::Error::other(format!("the backend panicked: {text}")))
    })
}

/// The message of a panic.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("a panic without words")
}

impl Backend {
    /// Takes the lock of the host's backend, where it has one: with `read_only` the one that readers share.
    pub(super) fn new(host: impl StorageBackend, read_only: bool) -> Result<Self> {
        let locked = caught(|| {
            let (start, end) = (Bound::Unbounded, Bound::Unbounded);
            let locked = if read_only {
                host.try_lock_shared_range(start, end)
            } else {
                host.try_lock_range(start, end)
            };
            match locked {
                Ok(locked) => Ok(Some(locked)),
                Err(BackendError::Unsupported) => Ok(None),
                Err(error) => Err(io::Error::other(error)),
            }
        });
        let locked = locked.map_err(unavailable)?;
        if locked == Some(false) {
            return Err(already_open());
        }
        Ok(Self {
            host: Box::new(host),
            is_locked: locked.is_some(),
            written: Mutex::default(),
        })
    }

    fn written(&self) -> MutexGuard<'_, Written> {
        lock(&self.written)
    }

    /// Starts a commit.
    pub(super) fn begin(&self) {
        self.written().named = false;
    }

    /// Whether the last commit may take effect although it failed.
    pub(super) fn is_in_doubt(&self) -> bool {
        self.written().named
    }

    /// Drops a held header: nothing that it names was acknowledged.
    pub(super) fn forget_header(&self) {
        self.written().header = None;
    }

    /// The unsynced writes: offset and length.
    pub(super) fn unsynced(&self) -> Vec<(u64, usize)> {
        let written = self.written();
        let ranges = written.ranges.iter();
        ranges
            .map(|(offset, (length, _))| (*offset, *length))
            .collect()
    }

    pub(super) fn len(&self) -> io::Result<u64> {
        caught(|| self.host.len())
    }

    pub(super) fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        caught(|| self.host.read(offset, out))?;
        if let Ok(offset) = usize::try_from(offset)
            && offset < HEADER_BYTES
            && let Some(header) = &self.written().header
            && let Some(waiting) = header.get(offset..)
        {
            let length = waiting.len().min(out.len());
            if let (Some(to), Some(from)) = (out.get_mut(..length), waiting.get(..length)) {
                to.copy_from_slice(from);
            }
        }
        Ok(())
    }

    pub(super) fn set_len(&self, len: u64) -> io::Result<()> {
        caught(|| self.host.set_len(len))
    }

    pub(super) fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut written = self.written();
        if offset == 0 && data.len() == HEADER_BYTES {
            written.header = Some(data.to_vec());
            return Ok(());
        }
        // It is recorded first: a failing write may have written a part.
        written.record_write(offset, data.len());
        drop(written);
        caught(|| self.host.write(offset, data))
    }

    pub(super) fn sync(&self) -> io::Result<()> {
        self.write_header()?;
        let covered = self.written().next;
        caught(|| self.host.sync_data())?;
        let later = |_: &u64, (_, number): &mut (usize, u64)| *number >= covered;
        self.written().ranges.retain(later);
        Ok(())
    }

    fn write_header(&self) -> io::Result<()> {
        let mut written = self.written();
        let Some(header) = written.header.take() else {
            return Ok(());
        };
        written.named |= written.names_a_commit(&header);
        written.flags = header.get(FLAGS_AT).copied();
        written.record_write(0, header.len());
        drop(written);
        caught(|| self.host.write(0, &header))
    }

    /// Gives the host's backend and its lock back.
    pub(super) fn close(&self) -> io::Result<()> {
        let written = self.write_header();
        let closed = caught(|| self.host.close());
        written.and(closed)
    }
}

impl fmt::Debug for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.host.fmt(f)
    }
}
