//! The place of a block in a segment, and its checksum.

use std::fmt;
use std::sync::Arc;

use crate::error::{EngineError, ErrorKind, Result};
use crate::store::failure::unavailable;

use super::frame::checksum;
use super::{Available, Segment};

/// The place of a block. While this lives, its segment is not overwritten.
#[derive(Debug, Clone)]
pub(crate) struct SegmentPlace {
    _available: Available,
    segment: Arc<Segment>,
    offset: u64,
    length: usize,
    /// The checksum of the acknowledged bytes; `None` for bytes that were damaged when they were found.
    checksum: Option<u64>,
}

impl SegmentPlace {
    /// The place of `block`, at this offset.
    pub(super) fn new(
        available: Available,
        segment: &Arc<Segment>,
        offset: u64,
        block: &[u8],
    ) -> Self {
        Self {
            _available: available,
            segment: Arc::clone(segment),
            offset,
            length: block.len(),
            checksum: Some(checksum(0, block)),
        }
    }

    /// The place of damaged bytes, where a block should be.
    pub(super) fn damaged(
        available: Available,
        segment: &Arc<Segment>,
        offset: u64,
        length: usize,
    ) -> Self {
        Self {
            _available: available,
            segment: Arc::clone(segment),
            offset,
            length,
            checksum: None,
        }
    }

    /// The bytes of the block. If they differ from the acknowledged ones, they are read once more, because that may pass.
    pub(crate) fn read(&self) -> Result<Vec<u8>> {
        if let Ok(block) = self.read_unchecked()
            && self.is_whole(&block)
        {
            return Ok(block);
        }
        let block = self.read_unchecked()?;
        if self.is_whole(&block) {
            return Ok(block);
        }
        // The error is not final: filing sets the block aside.
        let message = format!(
            "a block of the queue is damaged, in {self}; it is set aside with the next filing, then try again"
        );
        Err(EngineError::new(ErrorKind::StorageUnavailable, message))
    }

    /// The bytes as they are.
    pub(crate) fn read_unchecked(&self) -> Result<Vec<u8>> {
        let mut block = vec![0; self.length];
        let read = self.segment.file.read(self.offset, &mut block);
        read.map_err(unavailable)?;
        Ok(block)
    }

    /// Whether these are the bytes that were acknowledged.
    pub(crate) fn is_whole(&self, block: &[u8]) -> bool {
        self.checksum == Some(checksum(0, block))
    }
}

impl fmt::Display for SegmentPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, offset) = (self.segment.number, self.offset);
        write!(f, "segment {number}, byte {offset}")
    }
}
