//! The bytes of telemetry: the blocks of the queue, as they are.

use crate::error::Result;
use crate::limits::{BLOCK_BYTES_MAX, LOG_ENTRY_BYTES};
use crate::mutation::Telemetry;
use crate::store::codec::{Decoder, Encoder};
use crate::store::telemetry::arrivals::Arrivals;

use super::{Logged, Tag};

impl Telemetry {
    /// Accepted records, in mutations that do not fill an entry each. One record alone may.
    pub(crate) fn in_parts(mut arrivals: Arrivals) -> impl Iterator<Item = Self> {
        let parts = arrivals
            .take()
            .into_parts(LOG_ENTRY_BYTES - BLOCK_BYTES_MAX);
        parts.into_iter().map(Self::new)
    }
}

impl Logged for Telemetry {
    fn tag(&self) -> Option<Tag> {
        Some(Tag::Telemetry)
    }

    fn encode(&self, to: &mut Encoder) {
        let blocks = self.0.blocks();
        to.count(blocks.len());
        for block in blocks {
            to.count(block.len());
            to.raw(block);
        }
    }

    fn decode(_: Tag, from: &mut Decoder<'_>) -> Result<Self> {
        let count = from.count()?;
        let blocks = (0..count).map(|_| {
            let length = from.count()?;
            from.raw(length)
        });
        Arrivals::of_blocks(blocks).map(Self::new)
    }
}
