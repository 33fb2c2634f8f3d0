//! Backends for a store. A host wraps one of these, or implements [`StorageBackend`] itself, and passes it to
//! [`EngineBuilder::open_backend`](crate::EngineBuilder::open_backend).
//!
//! What the engine requires of a backend:
//! - Any thread calls it at any time. A call that fails may be repeated; it never panics.
//! - `read` returns what was last written there, also before it is synced, and zeros where `set_len` has made room.
//! - `sync_data` returns once everything before it is stored: it is what "durable" means. An error may leave any part of what was
//!   written since the sync before.
//! - After a crash each byte is the one of the last sync or one that was written after it, in any order.
//! - `try_lock_range` returns `Ok(false)` while another engine has the storage open, here or in another process, and holds the lock until
//!   `close`; `try_lock_shared_range` is that of engines that only read, which share it. A wrapper forwards both. Where it is not implemented nothing keeps two engines from writing over each other: then the host
//!   must open the storage once, and [`Event::NotLocked`](crate::Event::NotLocked) is reported.
//! - In a forked child each call fails: the parent goes on writing.

use std::fmt;
use std::io;
use std::ops::Bound;
use std::sync::RwLock;

pub use redb::backends::FileBackend;
pub use redb::{BackendError, StorageBackend};

use crate::locks::{read, write};

/// The folder beside a store that holds the segments of its queue, for
/// [`EngineBuilder::open_backend_with_queue`](crate::EngineBuilder::open_backend_with_queue). A segment is known by its number
/// there, and is read, written and synced as a [`StorageBackend`].
///
/// Any thread calls these at any time; a segment is written by one at a time. The lock of the store guards the folder as well.
pub trait SegmentFolder: fmt::Debug + Send + Sync + 'static {
    /// Creates the folder if it is missing; durable when this returns.
    ///
    /// # Errors
    /// The folder cannot be created.
    fn create(&self) -> io::Result<()>;

    /// The numbers of the segments in it; `None` without a folder.
    ///
    /// # Errors
    /// When it cannot be read.
    fn list(&self) -> io::Result<Option<Vec<u32>>>;

    /// Opens a segment, or creates it; its name is durable when this returns.
    ///
    /// # Errors
    /// When it cannot be opened or made.
    fn open(&self, number: u32) -> io::Result<Box<dyn StorageBackend>>;

    /// Removes a segment; durable when this returns. A segment that is still open stays readable.
    ///
    /// # Errors
    /// When it cannot be removed.
    fn remove(&self, number: u32) -> io::Result<()>;

    /// Removes the folder, which has no segment any more.
    ///
    /// # Errors
    /// When it cannot be removed.
    fn remove_folder(&self) -> io::Result<()>;

    /// Checks that an open segment is still in the folder under its number. It is called before each write: a write to a removed
    /// file is lost.
    ///
    /// # Errors
    /// The segment or the folder is missing.
    fn check(&self, number: u32) -> io::Result<()>;
}

/// Bytes that are allocated together.
const CHUNK_BYTES: usize = 16 * 1024;

/// A store in memory. Unwritten ranges take no memory: a new engine takes about 130 KiB, though its file is 1.1 MiB long.
#[derive(Default)]
pub struct MemoryBackend(RwLock<Memory>);

#[derive(Default)]
struct Memory {
    length: usize,
    /// `None` for a chunk of zeros.
    chunks: Vec<Option<Box<[u8]>>>,
}

impl MemoryBackend {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl Memory {
    /// Splits `bytes` bytes at `offset` at the ends of chunks, and calls `each` with each piece: the chunk, the range in it, and
    /// the range in the whole.
    fn pieces(
        &self,
        offset: u64,
        bytes: usize,
    ) -> io::Result<impl Iterator<Item = (usize, usize, std::ops::Range<usize>)> + use<>> {
        let start = usize::try_from(offset).ok();
        let end = start.and_then(|start| start.checked_add(bytes));
        let Some(start) = start.filter(|_| end.is_some_and(|end| end <= self.length)) else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        let mut done = 0;
        Ok(std::iter::from_fn(move || {
            let place = start + done;
            let piece = done..bytes.min(done + CHUNK_BYTES - place % CHUNK_BYTES);
            done = piece.end;
            (!piece.is_empty()).then_some((place / CHUNK_BYTES, place % CHUNK_BYTES, piece))
        }))
    }
}

impl StorageBackend for MemoryBackend {
    /// Its owner alone reaches it, so nobody else can open it.
    fn try_lock_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<bool, BackendError> {
        Ok(true)
    }

    fn try_lock_shared_range(
        &self,
        start: Bound<u64>,
        end: Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.try_lock_range(start, end)
    }

    fn len(&self) -> io::Result<u64> {
        let memory = read(&self.0);
        Ok(memory.length as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let memory = read(&self.0);
        for (chunk, at, piece) in memory.pieces(offset, out.len())? {
            let length = piece.len();
            let Some(out) = out.get_mut(piece) else { break };
            match memory.chunks.get(chunk).and_then(Option::as_deref) {
                Some(chunk) => out.copy_from_slice(chunk.get(at..at + length).unwrap_or_default()),
                None => out.fill(0),
            }
        }
        Ok(())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        let mut memory = write(&self.0);
        let length = usize::try_from(length).map_err(|_| io::ErrorKind::OutOfMemory)?;
        memory.length = length;
        memory
            .chunks
            .resize_with(length.div_ceil(CHUNK_BYTES), || None);
        // The bytes cut off are zero when the store grows again.
        if let Some(Some(last)) = memory.chunks.get_mut(length / CHUNK_BYTES) {
            last.get_mut(length % CHUNK_BYTES..)
                .unwrap_or_default()
                .fill(0);
        }
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut memory = write(&self.0);
        for (chunk, at, piece) in memory.pieces(offset, data.len())? {
            let data = data.get(piece).unwrap_or_default();
            let Some(chunk) = memory.chunks.get_mut(chunk) else {
                break;
            };
            let chunk = chunk.get_or_insert_with(|| vec![0; CHUNK_BYTES].into_boxed_slice());
            if let Some(place) = chunk.get_mut(at..at + data.len()) {
                place.copy_from_slice(data);
            }
        }
        Ok(())
    }
}

impl fmt::Debug for MemoryBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryBackend").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Clone)]
    enum Operation {
        SetLen(u64),
        Write(u64, Vec<u8>),
        Read(u64, usize),
    }

    fn operation() -> impl Strategy<Value = Operation> {
        let place = 0..100_000_u64;
        prop_oneof![
            place.clone().prop_map(Operation::SetLen),
            (place.clone(), prop::collection::vec(1..=u8::MAX, 0..40_000))
                .prop_map(|(at, data)| Operation::Write(at, data)),
            (place, 0..40_000_usize).prop_map(|(at, length)| Operation::Read(at, length)),
        ]
    }

    proptest! {
        #[test]
        fn memory_backend_behaves_as_redbs_own(operations in prop::collection::vec(operation(), 1..20)) {
            let (ours, redbs) = (MemoryBackend::new(), redb::backends::InMemoryBackend::new());
            for operation in operations {
                match operation {
                    Operation::SetLen(length) => {
                        ours.set_len(length).unwrap();
                        redbs.set_len(length).unwrap();
                    }
                    Operation::Write(at, data) => {
                        prop_assert_eq!(ours.write(at, &data).is_ok(), redbs.write(at, &data).is_ok());
                    }
                    Operation::Read(at, length) => {
                        let (mut left, mut right) = (vec![7; length], vec![7; length]);
                        let read = ours.read(at, &mut left).is_ok();
                        prop_assert_eq!(read, redbs.read(at, &mut right).is_ok());
                        prop_assert!(!read || left == right);
                    }
                }
                prop_assert_eq!(ours.len().unwrap(), redbs.len().unwrap());
            }
        }
    }
}
