//! The log of the queue: blocks in segments beside the store, one write and one sync for each commit.
//!
//! A segment is overwritten in place once none of its items is needed, so that a sync changes no metadata of the file system. The
//! header of a file says what it is, never its name.

mod frame;
mod host;
mod place;
mod recovery;
mod reuse;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};

use redb::StorageBackend;

use crate::error::{EngineError, ErrorKind, Result};
use crate::locks::lock;

use crate::store::disk::backends::SegmentFolder;
use crate::store::failure::{indeterminate, is_full, unavailable};
use frame::{ALIGN, Header, write_frame};
use host::Host;
pub(crate) use place::SegmentPlace;
pub(in crate::store) use recovery::LogMark;
use recovery::of_folder;
pub(crate) use reuse::READY_BYTES;

/// The length of a segment, in bytes, unless one commit alone is longer.
const SEGMENT_BYTES: u64 = 4 * 1024 * 1024;

/// A file of the folder.
#[derive(Debug)]
pub(crate) struct Segment {
    /// Its number in the folder.
    number: u32,
    file: Box<dyn StorageBackend>,
}

/// Proof that a queue can be in segments. On WebAssembly there is none, so that the compiler leaves all of it out of the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Available(
    #[cfg(all(target_arch = "wasm32", target_os = "unknown"))] std::convert::Infallible,
);

impl Available {
    #[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
    pub(crate) const HERE: Option<Self> = None;
    #[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
    pub(crate) const HERE: Option<Self> = Some(Self());
}

/// The log and the state of its folder.
#[derive(Debug)]
pub(crate) struct SegmentLog {
    available: Available,
    folder: Box<dyn SegmentFolder>,
    segment_bytes: u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The id of the log; `None` until it is begun.
    id: Option<u64>,
    /// The last id that the store was to record; it may not have it while the log is not begun.
    marked: Option<u64>,
    /// The number of the next file in the folder.
    next_file: u32,
    /// All blocks below this number are acknowledged.
    acknowledged: u64,
    /// No item below this number is needed: it is in the tables.
    needed: u64,
    /// Oldest first.
    sealed: VecDeque<Sealed>,
    /// The segment that takes the next frame; an append takes it out meanwhile.
    current: Option<Current>,
    /// Segments ready for use, without a header. A reader may still hold one.
    spare: Vec<Arc<Segment>>,
    /// The bytes of a frame, kept for the next.
    buffer: Vec<u8>,
}

/// A segment that takes no more frames.
#[derive(Debug)]
struct Sealed {
    segment: Arc<Segment>,
    /// The offset after its last acknowledged block.
    end: u64,
    /// A write or a sync of it failed: it is not used again.
    given_up: bool,
}

#[derive(Debug)]
struct Current {
    segment: Arc<Segment>,
    header: Header,
    /// Where the next frame begins.
    offset: u64,
}

impl State {
    /// Ends the segment: it takes no more frames.
    fn seal(&mut self, segment: Arc<Segment>, given_up: bool) {
        let end = self.acknowledged;
        self.sealed.push_back(Sealed {
            segment,
            end,
            given_up,
        });
    }
}

impl SegmentLog {
    pub(crate) fn new(folder: Box<dyn SegmentFolder>) -> Result<Self> {
        let Some(available) = Available::HERE else {
            let message = "in WebAssembly the queue is in the table: open the backend alone";
            return Err(EngineError::new(ErrorKind::Configuration, message));
        };
        Ok(Self {
            available,
            folder: Box::new(Host(folder)),
            segment_bytes: SEGMENT_BYTES,
            state: Mutex::default(),
        })
    }

    /// The log, and the proof.
    pub(in crate::store) fn with_proof(&self) -> (Available, &Self) {
        (self.available, self)
    }

    /// The same with segments of another length, in bytes.
    pub(crate) fn with_segment_bytes(mut self, bytes: u32) -> Self {
        self.segment_bytes = u64::from(bytes).next_multiple_of(ALIGN);
        self
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Its id, once blocks can be appended.
    pub(in crate::store) fn id(&self) -> Option<u64> {
        self.state().id
    }

    /// Whether blocks can be appended.
    pub(in crate::store) fn has_begun(&self) -> bool {
        self.id().is_some()
    }

    /// The id of a log that has to be ended: one that was begun, or that the store may say it has.
    pub(in crate::store) fn id_to_end(&self) -> Option<u64> {
        let state = self.state();
        state.id.or(state.marked)
    }

    /// Creates the folder for a new log with this id; older contents are of no use.
    pub(in crate::store) fn prepare_folder(&self, id: u64) -> Result<()> {
        self.folder.create().map_err(|error| {
            let message = "the folder of the queue cannot be made beside the store: let this user write there, or keep the queue in the \
                        file with `queue_storage = \"table\"`";
            EngineError::caused(ErrorKind::StorageUnavailable, message, error)
        })?;
        // Files of the last log are removed, and so are not ready for this one.
        self.state().spare.clear();
        self.remove_files().map_err(unavailable)?;
        // This is set only now: remains of the last log are recognised by its id.
        self.state().marked = Some(id);
        Ok(())
    }

    /// Allows appends from now on. The first block has this number or a higher one.
    pub(in crate::store) fn begin(&self, id: u64, next_block: u64) {
        let mut state = self.state();
        state.id = Some(id);
        state.acknowledged = next_block;
    }

    /// Makes sure that the segment that takes the next frame is where it was opened.
    pub(in crate::store) fn check_folder(&self) -> Result<()> {
        // A filed segment is taken out of the state before it is removed, so this segment stays while the lock is held.
        let state = self.state();
        let checked = match &state.current {
            Some(current) => self.folder.check(current.segment.number),
            None if state.id.is_some() => match self.folder.list() {
                Ok(None) => Err(io::ErrorKind::NotFound.into()),
                listed => listed.map(drop),
            },
            None => Ok(()),
        };
        drop(state);
        checked.map_err(|error| {
            let message = "a segment of the queue, or its folder, was removed or renamed; what is posted now would be lost: put it \
                        back, or stop (which saves what is queued) and start again";
            EngineError::caused(ErrorKind::StorageUnavailable, message, error)
        })
    }

    /// Makes `blocks` durable, numbered from `first`; returns their places. After an error none of them counts, unless it is
    /// [`ErrorKind::Indeterminate`]; these numbers are not used again. Only one caller at a time.
    pub(in crate::store) fn append(
        &self,
        first: u64,
        blocks: &[&[u8]],
    ) -> Result<Vec<SegmentPlace>> {
        let length: usize = blocks.iter().map(|block| block.len() + 4).sum();
        if u32::try_from(length).is_err() {
            let message = "a batch of telemetry is too long to be stored at once; send it in parts";
            return Err(EngineError::new(ErrorKind::InvalidParameter, message));
        }
        let needed = (length + frame::FRAME_HEAD_BYTES) as u64;
        let (current, mut bytes) = {
            let mut state = self.state();
            (state.current.take(), std::mem::take(&mut state.buffer))
        };
        bytes.clear();
        let appended = self.write(current, needed, (first, blocks), &mut bytes);
        let mut state = self.state();
        if bytes.capacity() <= 1024 * 1024 {
            state.buffer = bytes;
        }
        let (current, places) = appended?;
        state.acknowledged = first + blocks.len() as u64;
        state.current = Some(current);
        Ok(places)
    }

    fn write(
        &self,
        current: Option<Current>,
        needed: u64,
        (first, blocks): (u64, &[&[u8]]),
        bytes: &mut Vec<u8>,
    ) -> Result<(Current, Vec<SegmentPlace>)> {
        let fits = |current: &Current| current.offset + needed <= current.header.bytes;
        let mut current = match current {
            Some(current) if fits(&current) => current,
            full => {
                if let Some(full) = full {
                    self.state().seal(full.segment, false);
                }
                self.next_segment(first, needed)?
            }
        };
        if current.offset == 0 {
            current.header.write(bytes);
        }
        let places = write_frame(bytes, current.header.tag(), first, blocks);
        let file = &current.segment.file;
        let written = file.write(current.offset, bytes).map_err(|error| {
            // After any other error all of it may be stored.
            let full = is_full(&error);
            let error = unavailable(error);
            if full { error } else { indeterminate(error) }
        });
        let synced = written.and_then(|()| {
            let synced = file.sync_data().map_err(unavailable);
            synced.map_err(indeterminate)
        });
        if let Err(error) = synced {
            // A removed segment adds nothing to the state, which else would grow while the disk keeps failing.
            if current.offset > 0 || self.folder.remove(current.segment.number).is_err() {
                self.state().seal(current.segment, true);
            }
            return Err(error);
        }
        let place = |place: Range<usize>| {
            let offset = current.offset + place.start as u64;
            let block = bytes.get(place).unwrap_or_default();
            SegmentPlace::new(self.available, &current.segment, offset, block)
        };
        let places = places.into_iter().map(place).collect();
        current.offset += bytes.len() as u64;
        Ok((current, places))
    }

    /// A segment for a first frame of `needed` bytes, with blocks from the number `first`: a ready one, else a new one.
    fn next_segment(&self, first: u64, needed: u64) -> Result<Current> {
        let mut state = self.state();
        let Some(log) = state.id else {
            let message = "the log of the queue was not begun";
            return Err(EngineError::new(ErrorKind::Internal, message));
        };
        // Segments are longer for a long queue, because each is an open file.
        let longer = 1 + state.sealed.len() as u64 / 16;
        let wanted = (self.segment_bytes * longer).max(ALIGN + needed.next_multiple_of(ALIGN));
        let header = Header {
            log,
            segment: first,
            acknowledged: state.acknowledged,
            bytes: wanted,
        };
        let unread = |segment: &Arc<Segment>| Arc::strong_count(segment) == 1;
        let mut spare = None;
        while let Some(at) = state.spare.iter().position(unread) {
            let segment = state.spare.remove(at);
            if self.folder.check(segment.number).is_ok() {
                spare = Some(segment);
                break;
            }
        }
        drop(state);
        let segment = match spare {
            Some(segment) => segment,
            None => Arc::new(self.new_file()?),
        };
        let sized = segment.file.len().and_then(|bytes| {
            if bytes == wanted {
                return Ok(());
            }
            segment.file.set_len(wanted)?;
            // The header says how long the file is.
            segment.file.sync_data()
        });
        self.keep_if(sized, &segment)?;
        Ok(Current {
            segment,
            header,
            offset: 0,
        })
    }

    /// Removes a segment that could not be prepared, so that a failing disk is not filled with them.
    fn keep_if(&self, made: io::Result<()>, segment: &Segment) -> Result<()> {
        if made.is_err() {
            // If the removal fails, the file is of no use and is removed when the log ends.
            let _ = self.folder.remove(segment.number);
        }
        made.map_err(unavailable)
    }

    fn new_file(&self) -> Result<Segment> {
        let number = {
            let mut state = self.state();
            let number = state.next_file;
            state.next_file = number.saturating_add(1);
            number
        };
        self.open(number)
    }

    fn open(&self, number: u32) -> Result<Segment> {
        let file = self.folder.open(number).map_err(of_folder)?;
        Ok(Segment { number, file })
    }
}
