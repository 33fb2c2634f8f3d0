//! Records on their way into the queue: blocks already, with what is to be remembered of each.

use crate::limits::{BLOCK_BYTES_MAX, BLOCK_TEXT_BYTES_MAX};
use crate::model::RecordRef;
use crate::timestamp::Timestamp;

use super::codec::BlockEncoder;
use super::contents::Contents;

/// Accepted records, in their order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Arrivals {
    blocks: Vec<(Vec<u8>, Contents)>,
    open: BlockEncoder,
    contents: Contents,
    records: u64,
}

impl Arrivals {
    /// Adds a record, with the times the engine gives it.
    pub(crate) fn push(
        &mut self,
        record: &RecordRef<'_>,
        received_at: Timestamp,
        filed_at: Timestamp,
    ) {
        self.open.push(record, received_at, filed_at);
        let names = (record.instance_id(), record.username());
        self.contents.add(record.stream(), names, filed_at);
        self.records += 1;
        let full =
            self.open.bytes() >= BLOCK_BYTES_MAX || self.open.text_bytes() >= BLOCK_TEXT_BYTES_MAX;
        if full {
            self.close_block();
        }
    }

    /// How many.
    pub(crate) fn records(&self) -> u64 {
        self.records
    }

    fn close_block(&mut self) {
        let mut contents = std::mem::take(&mut self.contents);
        contents.close();
        self.blocks.push((self.open.finish(), contents));
    }

    /// The blocks.
    pub(super) fn into_blocks(mut self) -> Vec<(Vec<u8>, Contents)> {
        if self.open.records() > 0 {
            self.close_block();
        }
        self.blocks
    }
}
