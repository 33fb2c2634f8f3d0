//! Accepted records, encoded as blocks, with the index entry of each.

use crate::error::Result;
use crate::limits::{BLOCK_BYTES_MAX, BLOCK_TEXT_BYTES_MAX};
use crate::model::RecordRef;
use crate::timestamp::Timestamp;

use super::block::BlockEncoder;
use super::block::decode_into;
use super::contents::Contents;
use super::rows::Rows;

/// A block and its entry in the index of the queue.
pub(crate) type Block = (Vec<u8>, Contents);

/// Accepted records, in their order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Arrivals {
    blocks: Vec<Block>,
    /// The memory of these blocks.
    closed_bytes: usize,
    open: Option<Box<OpenBlock>>,
    records: u64,
}

/// The block that takes the next record.
#[derive(Debug, Clone, Default)]
struct OpenBlock {
    encoder: BlockEncoder,
    contents: Contents,
}

impl Arrivals {
    /// Adds a record, with the times the engine gives it.
    pub(crate) fn push(
        &mut self,
        record: &RecordRef<'_>,
        received_at: Timestamp,
        filed_at: Timestamp,
    ) {
        self.records += 1;
        let open = self.open.get_or_insert_default();
        open.encoder.push(record, received_at, filed_at);
        let names = (record.instance_id(), record.username());
        open.contents
            .add(record.stream(), names, (received_at, filed_at));
        let full = open.encoder.bytes() >= BLOCK_BYTES_MAX
            || open.encoder.text_bytes() >= BLOCK_TEXT_BYTES_MAX;
        if full {
            let closed = open.close();
            self.keep(closed);
        }
    }

    /// The number of records.
    pub(crate) fn records(&self) -> u64 {
        self.records
    }

    /// The memory it takes, in bytes: all blocks, and the texts and names that the open one is written with, without the few
    /// KiB that each takes.
    pub(crate) fn bytes(&self) -> usize {
        let open = self.open.as_ref();
        self.closed_bytes + open.map_or(0, |open| open.bytes())
    }

    fn keep(&mut self, closed: Block) {
        self.closed_bytes += closed.0.capacity() + closed.1.bytes();
        self.blocks.push(closed);
    }

    /// Takes all records so far; the next ones reuse the memory of the encoder.
    pub(crate) fn take(&mut self) -> Self {
        if let Some(open) = &mut self.open
            && open.encoder.records() > 0
        {
            let closed = open.close();
            self.keep(closed);
        }
        Self {
            blocks: std::mem::take(&mut self.blocks),
            closed_bytes: std::mem::take(&mut self.closed_bytes),
            open: None,
            records: std::mem::take(&mut self.records),
        }
    }

    /// The bytes of all blocks.
    pub(crate) fn blocks(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.blocks.iter().map(|(block, _)| block.as_slice())
    }

    /// The arrivals with these blocks.
    pub(crate) fn of_blocks<'b>(blocks: impl Iterator<Item = Result<&'b [u8]>>) -> Result<Self> {
        let (mut arrivals, mut rows) = (Self::default(), Rows::default());
        for block in blocks {
            let block = block?;
            rows.clear();
            decode_into(block, &mut rows)?;
            arrivals.records += rows.len() as u64;
            arrivals.keep((block.to_vec(), Contents::from_rows(&rows, block)));
        }
        Ok(arrivals)
    }

    /// Splits the blocks into parts of at most `bytes_max` bytes; a longer block is a part of its own.
    pub(crate) fn into_parts(self, bytes_max: usize) -> Vec<Self> {
        let (mut parts, mut bytes) = (Vec::<Self>::new(), 0);
        for block in self.blocks {
            bytes += block.0.len();
            if parts.is_empty() || bytes > bytes_max {
                parts.push(Self::default());
                bytes = block.0.len();
            }
            if let Some(part) = parts.last_mut() {
                part.records += block.1.records;
                part.keep(block);
            }
        }
        parts
    }

    /// The blocks.
    pub(in crate::store) fn into_blocks(mut self) -> Vec<Block> {
        self.take().blocks
    }
}

impl OpenBlock {
    fn bytes(&self) -> usize {
        self.encoder.bytes() + self.encoder.text_memory() + self.contents.bytes()
    }

    fn close(&mut self) -> Block {
        let block = self.encoder.finish();
        let contents = self.contents.take_whole(&block);
        (block, contents)
    }
}

#[cfg(test)]
mod tests {
    use crate::model::{ActivityRecord, Record, StatsRecord};

    use super::*;

    #[test]
    fn arrivals_of_blocks_hold_what_was_pushed() {
        let now = Timestamp::from_unix_seconds(1_790_000_000);
        let mut arrivals = Arrivals::default();
        for number in 0..2000 {
            let record = if number % 3 == 0 {
                Record::Activity(Box::new(ActivityRecord {
                    username: format!("DESK\\User{number}").into(),
                    ..ActivityRecord::default()
                }))
            } else {
                Record::Stats(Box::new(StatsRecord {
                    instance_id: format!("ws-{number}-{}", "x".repeat(60)).into(),
                    update_time: Some(now.plus_seconds(-number % 7)),
                    ..StatsRecord::default()
                }))
            };
            let received_at = now.plus_seconds(number);
            let filed_at = record.sent_time().unwrap_or(received_at);
            arrivals.push(&RecordRef::from_record(&record), received_at, filed_at);
        }
        let arrivals = arrivals.take();
        let again = Arrivals::of_blocks(arrivals.blocks().map(Ok)).unwrap();
        assert_eq!(again.records(), 2000);
        let [blocks, again] = [arrivals, again].map(Arrivals::into_blocks);
        assert!(blocks.len() > 1);
        assert!(format!("{again:?}") == format!("{blocks:?}"));
    }
}
