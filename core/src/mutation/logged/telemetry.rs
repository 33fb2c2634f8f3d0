//! The bytes of telemetry: the blocks of the queue, as they are.

use crate::error::Result;
use crate::mutation::Telemetry;
use crate::store::codec::{Decoder, Encoder};
use crate::store::telemetry::arrivals::Arrivals;

use super::{Logged, Tag};

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
