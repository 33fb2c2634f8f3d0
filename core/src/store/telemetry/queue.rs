//! The durable arrival queue: blocks of records in the order they were accepted.
//!
//! A block is in a segment beside the store, or in the table: key the block number, 8 bytes big-endian, value the block. Numbers
//! grow for as long as the store exists, those in the table are older than those in segments, and `meta` says the first that is
//! not filed. An index in memory says which blocks a query needs.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::Result;
use crate::limits::{FILE_ITEMS_MAX, FILE_RECORDS_MAX, FILE_TEXT_BYTES_MAX};
use crate::model::Stream;
use crate::store::meta::{self, Filed, PassPlace};
use crate::store::segments::SegmentPlace;
use crate::store::table::{ALL_KEYS, Read, Step, Table, Tables, row_number};
use crate::timestamp::Timestamp;

use super::arrivals::Arrivals;
use super::block;
use super::contents::{Contents, QueueChanges, instance_hash, user_hash};
use super::history::bucket_prefix;
use super::rows::Rows;

/// Which blocks are pending and what is in them; held in memory, rebuilt when the store is opened.
#[derive(Debug, Default)]
pub(crate) struct QueueIndex {
    /// Those below `filed` may still be here after a crash.
    blocks: BTreeMap<u64, Queued>,
    filed: Filed,
    records: u64,
    /// The bytes of the blocks.
    bytes: u64,
    /// The number of the next block; never used twice.
    next: u64,
}

#[derive(Debug)]
struct Queued {
    contents: Contents,
    place: Place,
}

/// Where a block is.
#[derive(Debug, Clone)]
enum Place {
    Table,
    Segment(SegmentPlace),
}

/// A block of the queue, which stays where it is as long as this lives.
#[derive(Debug, Clone)]
pub(crate) struct PendingBlock {
    pub(crate) number: u64,
    place: Place,
    /// What is filed of it, when a pass has come to it.
    pass: Option<Arc<PassPlace>>,
    /// As [`Self::newest`], in the order of [`Stream::ALL`].
    newest: [Option<Timestamp>; Stream::ALL.len()],
}

impl PendingBlock {
    /// The newest filed time of `stream` in it, if it may hold records of the query.
    pub(crate) fn newest(&self, stream: Stream) -> Option<Timestamp> {
        *self.newest.get(usize::from(stream.number() - 1))?
    }

    /// Adds those of its records to `rows` that are not filed in `read`, the snapshot that was given to [`unfiled`].
    pub(crate) fn add_to(&self, read: &impl Read, rows: &mut Rows) -> Result<()> {
        self.with(read, |block| decode(block, self.pass.as_deref(), rows))?;
        Ok(())
    }

    /// Calls `visit` with its bytes.
    fn with<R>(
        &self,
        read: &impl Read,
        visit: impl FnOnce(&[u8]) -> Result<R>,
    ) -> Result<Option<R>> {
        match &self.place {
            Place::Table => read.get(Table::Queue, &self.number.to_be_bytes(), visit),
            Place::Segment(place) => visit(&place.read()?).map(Some),
        }
    }
}

/// Adds those records of a block to `rows` that are not filed by a pass that has come to `place`.
fn decode(block: &[u8], place: Option<&PassPlace>, rows: &mut Rows) -> Result<()> {
    let first = rows.len();
    block::decode_into(block, rows)?;
    if let Some(place) = place {
        rows.drop_where(first, |rows, row| {
            bucket_prefix(rows.bucket(row)) <= place.bucket
        });
    }
    Ok(())
}

impl Filed {
    /// What is filed of the block of that number, if it is not filed as a whole.
    fn of(&self, number: u64) -> Option<&PassPlace> {
        let pass = self.pass.as_ref();
        pass.filter(|pass| number <= pass.last_block)
    }
}

/// Of `blocks`, those that are not filed in `read`, a snapshot that was taken after the index was read.
pub(crate) fn unfiled(
    read: &impl Read,
    mut blocks: Vec<PendingBlock>,
) -> Result<Vec<PendingBlock>> {
    let filed = meta::filed(read)?;
    blocks.retain(|block| block.number >= filed.below);
    if let Some(pass) = filed.pass.map(Arc::new) {
        for block in &mut blocks {
            block.pass = (block.number <= pass.last_block).then(|| Arc::clone(&pass));
        }
    }
    Ok(blocks)
}

/// A query of pending records.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Wanted<'a> {
    /// Records of one instance.
    Instance(Stream, &'a str),
    /// Records of one user, by [`user_key`].
    User(&'a str),
    /// Every record of a stream.
    Stream(Stream),
    /// Every record.
    All,
}

impl QueueIndex {
    /// Reads the table, and which blocks are filed, once the database was opened, or opened again.
    pub(crate) fn reload(&mut self, read: &impl Read) -> Result<()> {
        self.blocks
            .retain(|_, block| matches!(block.place, Place::Segment(_)));
        self.filed = meta::filed(read)?;
        let mut rows = Rows::default();
        read.scan(Table::Queue, ALL_KEYS, |key, block| {
            self.add_block(row_number(key)?, Place::Table, block, &mut rows)?;
            Ok(Step::Continue(()))
        })?;
        self.next = self.next.max(self.filed.below);
        self.count();
        Ok(())
    }

    /// Adds a block that a crash left in a segment.
    pub(crate) fn add_recovered(
        &mut self,
        number: u64,
        place: SegmentPlace,
        block: &[u8],
        rows: &mut Rows,
    ) -> Result<()> {
        self.add_block(number, Place::Segment(place), block, rows)
    }

    fn add_block(
        &mut self,
        number: u64,
        place: Place,
        block: &[u8],
        rows: &mut Rows,
    ) -> Result<()> {
        rows.clear();
        decode(block, self.filed.of(number), rows)?;
        let contents = Contents::of(rows, block);
        self.add(number, Queued { contents, place });
        Ok(())
    }

    fn count(&mut self) {
        let pending = || self.pending().map(|(_, block)| &block.contents);
        (self.records, self.bytes) = (
            pending().map(|contents| contents.records).sum(),
            pending().map(|contents| contents.block_bytes).sum(),
        );
    }

    fn pending(&self) -> impl Iterator<Item = (&u64, &Queued)> {
        self.blocks.range(self.filed.below..)
    }

    /// Pending records.
    pub(crate) fn records(&self) -> u64 {
        self.records
    }

    /// The bytes of the blocks they are in.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// When the first pending record was received.
    pub(crate) fn oldest(&self) -> Option<Timestamp> {
        let (_, first) = self.pending().next()?;
        first.contents.received_at
    }

    /// The blocks that may hold records of a query, oldest first, with the newest time of each stream that may be in them.
    pub(crate) fn blocks(&self, wanted: Wanted<'_>) -> Vec<PendingBlock> {
        let hashes = Stream::ALL.map(|stream| match wanted {
            Wanted::Instance(of, instance) if of == stream => Some(instance_hash(of, instance)),
            Wanted::User(user_key) => Some(user_hash(stream, user_key)),
            Wanted::Instance(..) | Wanted::Stream(_) | Wanted::All => None,
        });
        let newest = |contents: &Contents| {
            let mut newest = [None; Stream::ALL.len()];
            for ((stream, hash), newest) in Stream::ALL.into_iter().zip(hashes).zip(&mut newest) {
                *newest = contents.newest(stream).filter(|_| match (hash, wanted) {
                    (Some(hash), _) => contents.has_name(hash),
                    (None, Wanted::Stream(of)) => of == stream,
                    (None, _) => matches!(wanted, Wanted::All),
                });
            }
            newest
        };
        let wanted = |(number, block): (&u64, &Queued)| {
            let newest = newest(&block.contents);
            newest.iter().any(Option::is_some).then(|| PendingBlock {
                number: *number,
                newest,
                place: block.place.clone(),
                pass: None,
            })
        };
        self.pending().filter_map(wanted).collect()
    }

    /// The oldest blocks: as many as may fit a pass of filing, one at least, and those of a pass that has begun.
    pub(crate) fn oldest_blocks(&self, pass: Option<&PassPlace>) -> Vec<PendingBlock> {
        let mut records = 0;
        self.pending()
            .take_while(|(number, block)| {
                let first = records == 0;
                records += block.contents.records;
                let begun = pass.is_some_and(|pass| **number <= pass.last_block);
                first || begun || records <= FILE_RECORDS_MAX as u64
            })
            .map(|(number, block)| PendingBlock {
                number: *number,
                newest: [None; Stream::ALL.len()],
                place: block.place.clone(),
                pass: None,
            })
            .collect()
    }

    fn add(&mut self, number: u64, block: Queued) {
        self.records += block.contents.records;
        self.bytes += block.contents.block_bytes;
        self.blocks.insert(number, block);
        self.next = self.next.max(number.saturating_add(1));
    }

    /// Adds what was appended to the log: blocks from the number `first` on, and where they are.
    pub(crate) fn publish_appended(
        &mut self,
        first: u64,
        blocks: impl Iterator<Item = (SegmentPlace, Contents)>,
    ) {
        for (number, (place, contents)) in (first..).zip(blocks) {
            let place = Place::Segment(place);
            self.add(number, Queued { contents, place });
        }
    }

    /// Adds what a committed transaction did to the queue.
    pub(crate) fn publish(&mut self, changes: QueueChanges) {
        for (number, contents) in changes.added {
            let place = Place::Table;
            self.add(number, Queued { contents, place });
        }
        if let Some(first) = changes.filed_below {
            let rest = self.blocks.split_off(&first);
            let filed = std::mem::replace(&mut self.blocks, rest);
            for (_, block) in filed.range(self.filed.below..) {
                self.records -= block.contents.records;
                self.bytes -= block.contents.block_bytes;
            }
            self.filed = Filed {
                below: first,
                pass: None,
            };
        }
    }

    /// The number of the next block.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// All blocks are in the table now.
    pub(crate) fn moved_to_table(&mut self) {
        for block in self.blocks.values_mut() {
            block.place = Place::Table;
        }
    }

    /// No block is given a number below `next` any more.
    pub(crate) fn skip_to(&mut self, next: u64) {
        self.next = self.next.max(next);
    }
}

/// Writes `arrivals` after all pending blocks.
pub(crate) fn append(tables: &mut Tables<'_>, arrivals: Arrivals) -> Result<()> {
    for (block, contents) in arrivals.into_blocks() {
        let number = tables.effects.next_block;
        tables.put(Table::Queue, &number.to_be_bytes(), &block)?;
        tables.effects.next_block += 1;
        tables.effects.queue.added.push((number, contents));
    }
    Ok(())
}

/// Calls `put` with the key and the value in the table of each block that is in a segment and not filed.
pub(crate) fn each_in_segment(
    read: &impl Read,
    blocks: &[PendingBlock],
    mut put: impl FnMut(&[u8], &[u8]) -> Result<()>,
) -> Result<()> {
    let first = meta::filed(read)?.below;
    for block in blocks.iter().filter(|block| block.number >= first) {
        if let Place::Segment(place) = &block.place {
            put(&block.number.to_be_bytes(), &place.read()?)?;
        }
    }
    Ok(())
}

/// Adds the records of the oldest of `blocks` to `rows`: those of a pass that has begun, or else no more than fit the bounds of a pass
/// unless the first alone does not; returns the number of the last block.
pub(super) fn oldest(
    read: &impl Read,
    blocks: &[PendingBlock],
    rows: &mut Rows,
) -> Result<Option<u64>> {
    let begun = blocks.first().and_then(|block| block.pass.as_deref());
    let mut last = None;
    let (mut records, mut text_bytes) = (0, 0);
    for pending in blocks {
        let fits = pending.with(read, |block| {
            let counts = block::counts(block)?;
            records += counts.records;
            text_bytes += counts.text_bytes;
            let fits = match begun {
                Some(pass) => pending.number <= pass.last_block,
                None => {
                    records <= FILE_RECORDS_MAX
                        && text_bytes <= FILE_TEXT_BYTES_MAX
                        && rows.all_items() < FILE_ITEMS_MAX
                }
            };
            let fits = fits || last.is_none();
            if fits {
                decode(block, pending.pass.as_deref(), rows)?;
            }
            Ok(fits)
        })?;
        if fits == Some(false) {
            break;
        }
        last = Some(pending.number);
    }
    Ok(begun.map(|pass| pass.last_block).or(last))
}

/// Reads all blocks of the table; returns how many records are in them.
pub(crate) fn verify(read: &impl Read) -> Result<u64> {
    let mut index = QueueIndex::default();
    index.reload(read)?;
    Ok(index.records)
}
