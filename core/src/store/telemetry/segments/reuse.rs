//! Segments before and after they hold blocks: made ready, used again, removed.

use std::io;
use std::sync::Arc;

use redb::StorageBackend;

use crate::error::Result;

use super::frame::SECTOR;
use super::{SEGMENT_BYTES, Sealed, SegmentLog, State};

/// Segments that upkeep keeps ready, written with zeros.
const READY: usize = 2;
/// The bytes of these.
pub(crate) const READY_BYTES: u64 = READY as u64 * SEGMENT_BYTES;
/// Segments that are kept for reuse.
const SPARE_MAX: usize = 8;

impl SegmentLog {
    /// Writes zeros into new segments until some are ready: the first sync of a place that was never written takes twice as long.
    pub(in crate::store) fn make_ready(&self) -> Result<()> {
        let (log, ready) = {
            let state = self.state();
            (state.id, state.id.map_or(READY, |_| state.spare.len()))
        };
        for _ in ready..READY {
            let segment = Arc::new(self.new_file()?);
            let filled = fill(&*segment.file, self.segment_bytes);
            self.keep_if(filled, &segment)?;
            let mut state = self.state();
            if state.id != log {
                // The log ended meanwhile, and left the folder where it found this segment in it.
                drop(state);
                let _ = self.folder.remove(segment.number);
                let _ = self.folder.remove_folder();
                return Ok(());
            }
            state.spare.push(segment);
        }
        Ok(())
    }

    /// No item below this number is needed any more: it is in the tables, and durably so.
    pub(in crate::store) fn set_needed(&self, first: u64) {
        self.state().needed = first;
    }

    /// Makes segments of which no item is needed ready to be used again. Each loses its header first: a crash in the middle of
    /// what is written next would leave it with the header of one and frames of the other.
    pub(in crate::store) fn recycle(&self) {
        self.recycle_until(SPARE_MAX);
    }

    /// Removes all segments of which no item is needed, for a disk that is short of space.
    pub(in crate::store) fn remove_filed(&self) {
        let mut state = self.state();
        if state.acknowledged <= state.needed
            && let Some(current) = state.current.take()
        {
            state.seal(current.segment, false);
        }
        let spare = std::mem::take(&mut state.spare);
        drop(state);
        for segment in spare {
            let _ = self.folder.remove(segment.number);
        }
        self.recycle_until(0);
    }

    fn recycle_until(&self, spare_max: usize) {
        loop {
            let mut state = self.state();
            let needed = state.needed;
            let is_done = |oldest: &Sealed| oldest.end <= needed;
            let Some(oldest) = state.sealed.front().filter(|oldest| is_done(oldest)) else {
                return;
            };
            let useless = oldest.given_up || state.spare.len() >= spare_max;
            let Some(Sealed { segment, .. }) = state.sealed.pop_front() else {
                return;
            };
            drop(state);
            if !useless && erase_header(&*segment.file).is_ok() {
                self.state().spare.push(segment);
            } else {
                // One that stays is of no use when the log is opened, and removed when it ends.
                let _ = self.folder.remove(segment.number);
            }
        }
    }

    /// Ends the log, of which nothing is of use any more, and removes the folder.
    pub(in crate::store) fn discard(&self) {
        *self.state() = State::default();
        // What stays is of no use when the log is opened.
        let _ = self
            .remove_files()
            .and_then(|()| self.folder.remove_folder());
    }

    pub(super) fn remove_files(&self) -> io::Result<()> {
        for number in self.folder.list()?.unwrap_or_default() {
            self.folder.remove(number)?;
        }
        Ok(())
    }
}

fn erase_header(file: &dyn StorageBackend) -> io::Result<()> {
    file.write(0, &[0; SECTOR])?;
    file.sync_data()
}

fn fill(file: &dyn StorageBackend, bytes: u64) -> io::Result<()> {
    let zeros = vec![0; 64 * 1024];
    file.set_len(bytes)?;
    let mut offset = 0;
    while offset < bytes {
        let length =
            usize::try_from(bytes - offset).map_or(zeros.len(), |left| left.min(zeros.len()));
        file.write(offset, zeros.get(..length).unwrap_or_default())?;
        offset += length as u64;
    }
    file.sync_data()
}
