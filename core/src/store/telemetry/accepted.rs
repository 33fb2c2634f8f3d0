//! Telemetry in the order of its receipt: blocks of the queue stay in its table for a while once they are filed.

use std::ops::Bound;

use crate::error::Result;
use crate::model::Received;
use crate::store::meta::{self, Kept};
use crate::store::table::{Read, Step, Table, Tables, row_number};
use crate::timestamp::Timestamp;

use super::pending_block::PendingBlock;
use super::rows::Rows;
use super::{block, pending_block};

/// Blocks to keep: their numbers and bytes.
pub(crate) type KeptBlocks = Vec<(u64, Vec<u8>)>;

/// Records in the order of their receipt.
#[derive(Debug, Default)]
pub(crate) struct InOrder {
    pub(crate) records: Vec<Received>,
    /// The number after the last block that was read.
    pub(crate) next: u64,
}

impl InOrder {
    fn add(&mut self, number: u64, rows: &mut Rows) -> Result<()> {
        for row in 0..rows.len() {
            self.records.push(rows.received(row)?);
        }
        rows.clear();
        self.next = number.saturating_add(1);
        Ok(())
    }
}

/// Reads whole blocks from the number `from` on until there are `enough` records; `pending` are those that are not filed in `read`.
pub(crate) fn read_in_order(
    read: &impl Read,
    pending: &[PendingBlock],
    from: u64,
    enough: usize,
) -> Result<InOrder> {
    let mut rows = Rows::default();
    let mut found = InOrder {
        next: from,
        ..InOrder::default()
    };
    each_filed(read, from, |number, block| {
        if found.records.len() >= enough {
            return Ok(Step::Break(()));
        }
        // A damaged one was set aside when the others were filed.
        if block::decode_into(block, &mut rows).is_err() {
            rows.clear();
        }
        found.add(number, &mut rows)?;
        Ok(Step::Continue(()))
    })?;
    for pending in pending.iter().filter(|pending| pending.number >= from) {
        if found.records.len() >= enough {
            break;
        }
        pending.add_whole_to(read, &mut rows)?;
        found.add(pending.number, &mut rows)?;
    }
    Ok(found)
}

/// The blocks in segments up to `last`, which a pass files: for [`keep`], in parts of about `part_bytes`.
pub(crate) fn to_keep(
    read: &impl Read,
    pending: &[PendingBlock],
    last: u64,
    part_bytes: usize,
) -> Result<Vec<KeptBlocks>> {
    let in_segments = |pending: &&PendingBlock| pending.is_in_segment() && pending.number <= last;
    let pending: Vec<_> = pending.iter().filter(in_segments).cloned().collect();
    let (mut parts, mut bytes) = (Vec::<KeptBlocks>::new(), part_bytes);
    // Damaged ones are set aside.
    pending_block::each_whole(read, &pending, |key, block| {
        if bytes >= part_bytes {
            parts.push(Vec::new());
            bytes = 0;
        }
        bytes += block.len();
        if let Some(part) = parts.last_mut() {
            part.push((row_number(key)?, block.to_vec()));
        }
        Ok(())
    })?;
    Ok(parts)
}

/// Puts blocks into the table that are about to be filed.
pub(crate) fn keep(tables: &Tables<'_>, blocks: &KeptBlocks) -> Result<()> {
    // Those that another thread filed meanwhile are not wanted any more.
    let filed = meta::filed(tables)?.below;
    for (number, block) in blocks.iter().filter(|(number, _)| *number >= filed) {
        tables.put(Table::Queue, &number.to_be_bytes(), block)?;
    }
    Ok(())
}

/// The number after the last of the oldest kept blocks that were received before `time`.
pub(crate) fn received_before(read: &impl Read, kept: Kept, time: Timestamp) -> Result<u64> {
    let mut rows = Rows::default();
    let mut end = kept.from;
    each_filed(read, kept.from, |number, block| {
        rows.clear();
        let is_readable = block::decode_into(block, &mut rows).is_ok() && rows.len() > 0;
        if is_readable && rows.received_at(0) >= time {
            return Ok(Step::Break(()));
        }
        end = number.saturating_add(1);
        Ok(Step::Continue(()))
    })?;
    Ok(end)
}

/// Whether the last filed block is there, where it should be kept.
pub(crate) fn is_there(read: &impl Read, kept: Kept) -> Result<bool> {
    let filed = meta::filed(read)?.below;
    let last = filed.checked_sub(1).filter(|last| *last >= kept.from);
    last.map_or(Ok(true), |last| {
        read.contains(Table::Queue, &last.to_be_bytes())
    })
}

/// Visits the filed blocks from the number `from` on, until `visit` breaks.
fn each_filed(
    read: &impl Read,
    from: u64,
    mut visit: impl FnMut(u64, &[u8]) -> Result<Step>,
) -> Result<()> {
    let (from, filed) = (from.to_be_bytes(), meta::filed(read)?.below.to_be_bytes());
    if from >= filed {
        return Ok(());
    }
    let range = (
        Bound::Included(from.as_slice()),
        Bound::Excluded(filed.as_slice()),
    );
    read.scan(Table::Queue, range, |key, block| {
        visit(row_number(key)?, block)
    })
}
