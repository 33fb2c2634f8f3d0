//! Telemetry in the order of its receipt: blocks of the queue stay in its table for a while once they are filed.

use std::ops::Bound;

use crate::error::Result;
use crate::limits::WORK_ROWS_MAX;
use crate::model::Received;
use crate::store::meta::{self, Kept};
use crate::store::table::{Read, Step, Table, Tables, row_number};
use crate::timestamp::Timestamp;

use super::pending_block::PendingBlock;
use super::rows::Rows;
use super::{block, pending_block};

/// Kept blocks that one round of upkeep looks at.
const BLOCKS_MAX: usize = 64 * WORK_ROWS_MAX;

/// Blocks to keep: their numbers and bytes.
pub(crate) type KeptBlocks = Vec<(u64, Vec<u8>)>;

/// A change of what is kept.
#[derive(Debug, Clone)]
pub(crate) enum Keeping {
    /// The store begins to keep what is filed, or to keep it again from a number on.
    Begin(Kept),
    /// The store keeps nothing any longer.
    End,
    /// Blocks that are about to be filed are put into the table.
    Blocks(KeptBlocks),
    /// Blocks with numbers less than `below` are not kept any longer, if what is kept still has this id.
    Drop { id: u64, below: u64 },
}

impl Keeping {
    pub(crate) fn apply(self, tables: &Tables<'_>) -> Result<()> {
        match self {
            Self::Begin(kept) => meta::set_kept(tables, Some(kept)),
            Self::End => meta::set_kept(tables, None),
            Self::Blocks(blocks) => {
                // Those that another thread filed meanwhile are not wanted any more.
                let filed = meta::filed(tables)?.below;
                for (number, block) in blocks.iter().filter(|(number, _)| *number >= filed) {
                    tables.put(Table::Queue, &number.to_be_bytes(), block)?;
                }
                Ok(())
            }
            Self::Drop { id, below } => match meta::kept(tables)?.filter(|kept| kept.id == id) {
                // A removal may have dropped more since the number was found.
                Some(kept) => {
                    let from = kept.from.max(below);
                    meta::set_kept(tables, Some(Kept { from, ..kept }))
                }
                None => Ok(()),
            },
        }
    }
}

/// Records that all blocks below `until` that were filed are kept, if the store keeps any.
pub(super) fn set_kept_until(tables: &Tables<'_>, until: u64) -> Result<()> {
    let kept = meta::kept(tables)?;
    kept.map_or(Ok(()), |kept| {
        meta::set_kept(tables, Some(Kept { until, ..kept }))
    })
}

/// Keeps no filed block any longer: a reader that has not come to the first that is not filed learns that it missed some.
pub(crate) fn forget_kept(tables: &Tables<'_>) -> Result<()> {
    let Some(kept) = meta::kept(tables)? else {
        return Ok(());
    };
    let filed = meta::filed(tables)?.below;
    let (from, until) = (kept.from.max(filed), kept.until.max(filed));
    meta::set_kept(
        tables,
        Some(Kept {
            from,
            until,
            ..kept
        }),
    )
}

/// Records in the order of their receipt.
#[derive(Debug, Default)]
pub(crate) struct InOrder {
    pub(crate) records: Vec<Received>,
    /// The number after the last block that was read.
    pub(crate) next: u64,
    /// Whether a kept block among them cannot be read.
    pub(crate) has_damage: bool,
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
    let enough = enough.max(1);
    let mut rows = Rows::default();
    let mut found = InOrder {
        next: from,
        ..InOrder::default()
    };
    each_filed(read, from, |number, block| {
        if found.records.len() >= enough {
            return Ok(Step::Break(()));
        }
        if block::decode_into(block, &mut rows).is_err() {
            rows.clear();
            found.has_damage = true;
        }
        found.add(number, &mut rows)?;
        Ok(Step::Continue(()))
    })?;
    let filed = meta::filed(read)?.below;
    for pending in pending.iter().filter(|pending| pending.number >= filed) {
        if found.records.len() >= enough {
            break;
        }
        match pending.add_whole_to(read, &mut rows) {
            Ok(()) => found.add(pending.number, &mut rows)?,
            // The next filing sets it aside.
            Err(error) if found.records.is_empty() => return Err(error),
            Err(_) => break,
        }
    }
    Ok(found)
}

/// The blocks in segments up to `last`, which a pass files, in parts of about `part_bytes`.
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

/// Returns the number after the last kept block that was received before `time`, and looks at up to [`BLOCKS_MAX`] from the oldest. A block
/// that is damaged, or dated after `now` by a clock that was ahead, counts as old as the next block that is neither.
pub(crate) fn received_before(
    read: &impl Read,
    kept: Kept,
    time: Timestamp,
    now: Timestamp,
) -> Result<u64> {
    let mut end = kept.from;
    let mut looked = 0;
    each_filed(read, kept.from, |number, block| {
        // A damaged one is as old as the next one.
        let received = block::received_at(block).unwrap_or(Timestamp::MAX);
        looked += 1;
        if received < time {
            end = number.saturating_add(1);
        } else if received <= now {
            return Ok(Step::Break(()));
        }
        Ok(if looked < BLOCKS_MAX {
            Step::Continue(())
        } else {
            Step::Break(())
        })
    })?;
    Ok(end)
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
