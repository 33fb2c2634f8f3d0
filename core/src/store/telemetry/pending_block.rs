//! Reading blocks of the queue: whole, or reported as damaged.

use std::fmt;
use std::sync::Arc;

use crate::error::{EngineError, ErrorKind, Result};
use crate::limits::{FILE_ITEMS_MAX, FILE_RECORDS_MAX, FILE_TEXT_BYTES_MAX};
use crate::model::Stream;
use crate::store::disk::damage::Damaged;
use crate::store::meta::{self, PassPlace};
use crate::store::table::{Read, Table};
use crate::store::telemetry::segments::SegmentPlace;
use crate::timestamp::Timestamp;

use super::block;
use super::history::bucket_prefix;
use super::rows::Rows;

/// Where a block is.
#[derive(Debug, Clone)]
pub(super) enum Place {
    Table,
    Segment(SegmentPlace),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Table => f.write_str("the table of the queue"),
            Self::Segment(place) => place.fmt(f),
        }
    }
}

/// A block of the queue, which is not moved or overwritten while this lives.
#[derive(Debug, Clone)]
pub(crate) struct PendingBlock {
    pub(crate) number: u64,
    pub(super) place: Place,
    /// Its count of records and the receipt of the first, if it was ever readable.
    pub(super) records: u64,
    pub(super) received_at: Option<Timestamp>,
    /// The filed part of it, if a pass has begun with it.
    pub(super) pass: Option<Arc<PassPlace>>,
    /// As [`Self::newest`], in the order of [`Stream::ALL`].
    pub(super) newest: [Option<Timestamp>; Stream::ALL.len()],
}

impl PendingBlock {
    /// The newest filed time of `stream` in it, if it may hold records of the query.
    pub(crate) fn newest(&self, stream: Stream) -> Option<Timestamp> {
        *self.newest.get(usize::from(stream.number() - 1))?
    }

    /// Whether it is in a segment.
    pub(crate) fn is_in_segment(&self) -> bool {
        matches!(self.place, Place::Segment(_))
    }

    /// Adds its records that are not filed in `read` to `rows`; `read` is the snapshot that was given to [`unfiled`].
    pub(crate) fn add_to(&self, read: &impl Read, rows: &mut Rows) -> Result<()> {
        self.read_bytes(read, |block| decode(block, self.pass.as_deref(), rows))?;
        Ok(())
    }

    /// Adds all its records to `rows`, those that are filed already as well.
    pub(super) fn add_whole_to(&self, read: &impl Read, rows: &mut Rows) -> Result<()> {
        self.read_bytes(read, |block| decode(block, None, rows))?;
        Ok(())
    }

    /// Calls `visit` with its bytes. For a segment these are certainly the acknowledged ones.
    fn read_bytes<R>(
        &self,
        read: &impl Read,
        visit: impl FnOnce(&[u8]) -> Result<R>,
    ) -> Result<Option<R>> {
        match &self.place {
            Place::Table => read.get(Table::Queue, &self.number.to_be_bytes(), visit),
            Place::Segment(place) => visit(&place.read()?).map(Some),
        }
    }

    /// The bytes to keep after reading it failed with `error`. Returns an error if they cannot be read at all, which may pass, or
    /// are whole now.
    fn damaged(&self, read: &impl Read, error: EngineError) -> Result<Damaged> {
        let bytes = match &self.place {
            Place::Table => {
                let key = self.number.to_be_bytes();
                let bytes = read.get(Table::Queue, &key, |block| Ok(block.to_vec()))?;
                bytes.unwrap_or_default()
            }
            Place::Segment(place) => {
                let bytes = place.read_unchecked()?;
                if place.is_whole(&bytes) && error.kind() != ErrorKind::Corrupted {
                    return Err(error);
                }
                bytes
            }
        };
        Ok(Damaged {
            number: self.number,
            is_in_table: !self.is_in_segment(),
            place: self.place.to_string(),
            records: self.records,
            received_at: self.received_at,
            bytes,
        })
    }
}

/// Adds those records of a block to `rows` that are not filed by a pass that has come to `place`.
pub(super) fn decode(block: &[u8], place: Option<&PassPlace>, rows: &mut Rows) -> Result<()> {
    let first = rows.len();
    block::decode_into(block, rows)?;
    if let Some(place) = place {
        rows.drop_where(first, |rows, row| {
            bucket_prefix(rows.bucket(row)) <= place.bucket
        });
    }
    Ok(())
}

/// The `blocks` that are not filed in `read`, a snapshot that was taken after the index was read.
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

/// Calls `put` with the key in the table and the bytes of each of `blocks` that is whole; returns the others.
pub(crate) fn each_whole(
    read: &impl Read,
    blocks: &[PendingBlock],
    mut put: impl FnMut(&[u8], &[u8]) -> Result<()>,
) -> Result<Vec<Damaged>> {
    let (mut damaged, mut rows) = (Vec::new(), Rows::default());
    for pending in blocks {
        let bytes = pending.read_bytes(read, |block| {
            if !pending.is_in_segment() {
                rows.clear();
                block::decode_into(block, &mut rows)?;
            }
            Ok(block.to_vec())
        });
        match bytes {
            Ok(None) => {}
            Ok(Some(bytes)) => put(&pending.number.to_be_bytes(), &bytes)?,
            Err(error) => damaged.push(pending.damaged(read, error)?),
        }
    }
    Ok(damaged)
}

/// What [`oldest`] read.
#[derive(Debug, Default)]
pub(super) struct Oldest {
    /// The number of the last block; `None` where there is none.
    pub(super) last: Option<u64>,
    /// The unreadable blocks, of which nothing was added.
    pub(super) damaged: Vec<Damaged>,
}

/// Adds the records of the oldest of `blocks` to `rows`: those of a pass that has begun, or else no more than fit the bounds of a pass
/// unless the first alone does not.
pub(super) fn oldest(read: &impl Read, blocks: &[PendingBlock], rows: &mut Rows) -> Result<Oldest> {
    let begun = blocks.first().and_then(|block| block.pass.as_deref());
    let mut oldest = Oldest::default();
    let (mut records, mut text_bytes) = (0, 0);
    for pending in blocks {
        if begun.is_some_and(|pass| pending.number > pass.last_block) {
            break;
        }
        let mark = rows.mark();
        let fits = pending.read_bytes(read, |block| {
            let counts = block::counts(block)?;
            records += counts.records;
            text_bytes += counts.text_bytes;
            let fits = begun.is_some()
                || oldest.last.is_none()
                || records <= FILE_RECORDS_MAX
                    && text_bytes <= FILE_TEXT_BYTES_MAX
                    && rows.all_items() < FILE_ITEMS_MAX;
            if fits {
                decode(block, pending.pass.as_deref(), rows)?;
            }
            Ok(fits)
        });
        match fits {
            Ok(Some(false)) => break,
            Ok(Some(true) | None) => {}
            Err(error) => {
                // The rows that were decoded before the damage.
                rows.truncate(mark);
                oldest.damaged.push(pending.damaged(read, error)?);
            }
        }
        oldest.last = Some(pending.number);
    }
    oldest.last = begun.map(|pass| pass.last_block).or(oldest.last);
    Ok(oldest)
}
