//! Which queued records of a window repeat one that is filed or was queued before.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::model::Stream;
use crate::sorting::sorted_by_key;
use crate::store::codec::Encoder;
use crate::store::table::Read;
use crate::store::telemetry::history;
use crate::store::telemetry::packed::pack;
use crate::store::telemetry::pending_block::PendingBlock;
use crate::store::telemetry::rows::{Bucket, Rows};
use crate::timestamp::Timestamp;

use super::window::Window;

/// Drops the queued records that repeat another, as [`Received::repeats`](crate::model::Received::repeats) has it. Reads the
/// queue once, and of history the parts that hold what those records could repeat.
pub(super) fn drop_repeated(
    read: &impl Read,
    (stream, blocks): (Stream, &[PendingBlock]),
    window: &mut Window,
    rows: &mut Rows,
) -> Result<()> {
    let mut search = Search::new(window)?;
    if search.order.is_empty() {
        return Ok(());
    }
    let mut place = 0;
    for block in blocks {
        read_queued(read, block, rows)?;
        for row in rows_of(rows, stream) {
            place += 1;
            search.drop_repetitions_of(rows, row, place)?;
        }
    }
    let buckets = std::mem::take(&mut search.buckets);
    for (bucket, (from, to)) in buckets {
        history::scan_bucket(read, bucket, &mut |part| {
            if part.first > to || part.last < from {
                return Ok(());
            }
            rows.clear();
            part.add_to(rows)?;
            (0..rows.len()).try_for_each(|row| search.drop_repetitions_of(rows, row, 0))
        })?;
    }
    let dropped = search.dropped;
    window.remove(&dropped);
    Ok(())
}

/// Puts the records of a queue block into `rows`, in place of what is there.
pub(super) fn read_queued(read: &impl Read, block: &PendingBlock, rows: &mut Rows) -> Result<()> {
    rows.clear();
    block.add_to(read, rows)
}

/// The rows of `stream`.
pub(super) fn rows_of(rows: &Rows, stream: Stream) -> impl Iterator<Item = usize> {
    (0..rows.len()).filter(move |row| rows.stream(*row) == stream)
}

/// A queued record by which it is found: its day, the time it carries, its place in the window.
type Place = (u32, Timestamp, usize);

struct Search<'w> {
    window: &'w Window,
    /// The queued records that carry a time; those of one day and time by their content.
    order: Vec<Place>,
    /// Where in history the same records can be, and the filed times there.
    buckets: BTreeMap<Bucket<'w>, (Timestamp, Timestamp)>,
    dropped: Vec<bool>,
    scratch: Encoder,
}

impl<'w> Search<'w> {
    fn new(window: &'w Window) -> Result<Self> {
        let mut search = Self {
            window,
            order: Vec::new(),
            buckets: BTreeMap::new(),
            dropped: vec![false; window.len()],
            scratch: Encoder::default(),
        };
        for place in 0..window.len() {
            let Some((entry, packed)) = window.entry(place) else {
                continue;
            };
            if entry.queued == 0 {
                continue;
            }
            let origin = packed.origin()?;
            let (Some(sent), filed_at) = (origin.sent, packed.filed_at) else {
                continue;
            };
            search.order.push((filed_at.day(), sent, place));
            // A record that is filed at another time than the one it carries can be anywhere on its day.
            let span = if sent == filed_at {
                (filed_at, filed_at)
            } else {
                (Timestamp::MIN, Timestamp::MAX)
            };
            let bucket = Bucket {
                stream: packed.stream,
                day: filed_at.day(),
                instance: origin.instance,
            };
            let known = search.buckets.entry(bucket).or_insert(span);
            *known = (known.0.min(span.0), known.1.max(span.1));
        }
        let content = |place: usize| window.entry(place).map(|(_, packed)| packed.bytes);
        let found = &search.order;
        let order = sorted_by_key(found.len(), |row| {
            let (day, sent, place) = found.get(row)?;
            Some((*day, *sent, content(*place)))
        });
        let order = order.into_iter().filter_map(|row| found.get(row as usize));
        search.order = order.copied().collect();
        Ok(search)
    }

    /// Drops what repeats a row that is filed, or is at `queued` in the queue.
    fn drop_repetitions_of(&mut self, rows: &Rows, row: usize, queued: u32) -> Result<()> {
        let Some(sent) = rows.sent(row) else {
            return Ok(());
        };
        let key = (rows.filed_at(row).day(), sent);
        let first = self
            .order
            .partition_point(|(day, sent, _)| (*day, *sent) < key);
        let found = self.order.get(first);
        if found.is_none_or(|(day, sent, _)| (*day, *sent) != key) {
            return Ok(());
        }
        self.scratch.clear();
        pack(rows, row, &mut self.scratch)?;
        let content = self.scratch.bytes();
        let at = |place: usize| self.window.entry(place);
        let first = self.order.partition_point(|(day, sent, place)| {
            let bytes = at(*place).map_or(&[][..], |(_, packed)| packed.bytes);
            (*day, *sent, bytes) < (key.0, key.1, content)
        });
        for (day, sent, place) in self.order.iter().skip(first) {
            let Some((entry, packed)) = at(*place) else {
                break;
            };
            if (*day, *sent, packed.bytes) != (key.0, key.1, content) {
                break;
            }
            if entry.queued > queued
                && let Some(dropped) = self.dropped.get_mut(*place)
            {
                *dropped = true;
            }
        }
        Ok(())
    }
}
