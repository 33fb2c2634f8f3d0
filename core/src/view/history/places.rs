//! The positions of the records of a history, found by their times alone.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::RangeInclusive;

use crate::error::Result;
use crate::sorting::sorted_by_key;
use crate::store::telemetry::history::{self, StoredPart};
use crate::store::telemetry::repetitions::Repetitions;
use crate::store::telemetry::rows::{HistoryOrder, Rows};
use crate::timestamp::Timestamp;
use crate::view::Reader;

use super::HistoryQuery;

/// The order of a record in the history, and where it is stored. Among records of equal order, filed ones come first, then
/// pending ones as they arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::view) struct RecordPlace {
    pub(in crate::view) order: HistoryOrder,
    pub(in crate::view) source: Source,
    pub(in crate::view) row: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::view) enum Source {
    /// A part of history: its day and its number there.
    Part(u32, u32),
    /// A block of the queue.
    Block(u64),
}

impl RecordPlace {
    /// The first position that a record of this order can have.
    pub(in crate::view) fn first_of(order: HistoryOrder) -> Self {
        Self {
            order,
            source: Source::Part(0, 0),
            row: 0,
        }
    }
}

/// The first positions from `start` on, at most `count`, without pending records that repeat an earlier one.
pub(super) fn first_places(
    reader: &Reader,
    query: &HistoryQuery,
    start: RecordPlace,
    count: usize,
) -> Result<Vec<RecordPlace>> {
    let mut first = FirstPlaces::new((start, 0), query.to, count);
    let last_day = query.to.unwrap_or(Timestamp::MAX).day();
    let days = start.order.0.day()..=last_day;
    for place in pending(reader, query, &days)? {
        first.offer(place);
    }
    let mut day = *days.start();
    while let Some(found) = history::next_day(&reader.snapshot, query.stream, day, last_day)? {
        if !first.wants(Timestamp::from_day(found)) {
            break;
        }
        history::scan_bucket(&reader.snapshot, query.bucket(found), &mut |part| {
            first.offer_part(found, &part)
        })?;
        if found == last_day {
            break;
        }
        day = found + 1;
    }
    Ok(first.found())
}

/// The last positions of the range of `query`, at most `count`, in no order, without pending records that repeat an earlier one.
pub(super) fn last_places(
    reader: &Reader,
    query: &HistoryQuery,
    count: usize,
) -> Result<Vec<RecordPlace>> {
    let (from, to) = (query.from.unwrap_or(Timestamp::MIN), query.to);
    let last_day = query.to.unwrap_or(Timestamp::MAX).day();
    let mut places = BinaryHeap::new();
    let offer = |places: &mut BinaryHeap<Reverse<RecordPlace>>, place: RecordPlace| {
        let filed_at = place.order.0;
        if filed_at >= from && to.is_none_or(|to| filed_at < to) {
            places.push(Reverse(place));
            if places.len() > count {
                places.pop();
            }
        }
    };
    for place in pending(reader, query, &(from.day()..=last_day))? {
        offer(&mut places, place);
    }
    let mut newest = Some(last_day);
    while let Some(last) = newest
        && let Some(day) = history::last_day(&reader.snapshot, query.stream, from.day(), last)?
    {
        let is_full = |places: &BinaryHeap<Reverse<RecordPlace>>, end: Timestamp| {
            let first = places.peek().map(|Reverse(place)| place.order.0);
            places.len() == count && first.is_some_and(|first| first > end)
        };
        if is_full(&places, Timestamp::from_day(day.saturating_add(1))) {
            break;
        }
        history::scan_bucket(&reader.snapshot, query.bucket(day), &mut |part| {
            if is_full(&places, part.last) {
                return Ok(());
            }
            let source = Source::Part(day, part.number()?);
            for (row, order) in part.orders()?.into_iter().enumerate() {
                offer(&mut places, RecordPlace { order, source, row });
            }
            Ok(())
        })?;
        newest = day.checked_sub(1);
    }
    Ok(places.into_iter().map(|Reverse(place)| place).collect())
}

/// The smallest offered positions.
pub(in crate::view) struct FirstPlaces {
    start: RecordPlace,
    /// The number of first records with the order of `start` to skip.
    left_out: usize,
    /// Filed times end before it.
    end: Option<Timestamp>,
    count: usize,
    /// A heap with the last position first.
    places: BinaryHeap<RecordPlace>,
}

impl FirstPlaces {
    /// Keeps at most `count` positions from the given order on, after skipping the given number of records of that order.
    pub(in crate::view) fn new(
        (start, left_out): (RecordPlace, usize),
        end: Option<Timestamp>,
        count: usize,
    ) -> Self {
        Self {
            start,
            left_out,
            end,
            count,
            places: BinaryHeap::new(),
        }
    }

    /// Offers the records of a part of that day. The parts of a bucket are offered in their order.
    pub(in crate::view) fn offer_part(&mut self, day: u32, part: &StoredPart<'_>) -> Result<()> {
        if part.last < self.start.order.0 || !self.wants(part.first) {
            return Ok(());
        }
        let source = Source::Part(day, part.number()?);
        for (row, order) in part.orders()?.into_iter().enumerate() {
            if !self.wants(order.0) {
                break;
            }
            if self.left_out > 0 && order == self.start.order {
                self.left_out -= 1;
                continue;
            }
            self.offer(RecordPlace { order, source, row });
        }
        Ok(())
    }

    /// Offers a pending record of the bucket, once all its parts were offered.
    pub(in crate::view) fn offer_pending(&mut self, place: RecordPlace) {
        if self.left_out > 0 && place.order == self.start.order {
            self.left_out -= 1;
        } else {
            self.offer(place);
        }
    }

    /// The positions, sorted.
    pub(in crate::view) fn found(self) -> Vec<RecordPlace> {
        self.places.into_sorted_vec()
    }

    /// Whether a record filed at this time or later may be among them.
    fn wants(&self, filed_at: Timestamp) -> bool {
        let last = self.places.peek().map(|place| place.order.0);
        self.end.is_none_or(|end| filed_at < end)
            && (self.places.len() < self.count || last.is_some_and(|last| filed_at <= last))
    }

    fn offer(&mut self, place: RecordPlace) {
        if place >= self.start && self.wants(place.order.0) {
            self.places.push(place);
            if self.places.len() > self.count {
                self.places.pop();
            }
        }
    }
}

/// The pending records of the `days`, without those that repeat an earlier one, pending or filed.
pub(in crate::view) fn pending(
    reader: &Reader,
    query: &HistoryQuery,
    days: &RangeInclusive<u32>,
) -> Result<Vec<RecordPlace>> {
    let mut places = Vec::new();
    let mut repetitions: BTreeMap<u32, Repetitions> = BTreeMap::new();
    let mut rows = Rows::default();
    for block in &reader.blocks {
        rows.clear();
        block.add_to(&reader.snapshot, &mut rows)?;
        for row in 0..rows.len() {
            let order = rows.order(row);
            let day = order.0.day();
            if !query.is_of(&rows, row) || !days.contains(&day) {
                continue;
            }
            let number = u32::try_from(places.len()).unwrap_or(u32::MAX);
            let repeats = rows.sent(row).is_some_and(|sent| {
                let repetitions = repetitions.entry(day).or_default();
                repetitions.add(sent, rows.digest(row), number)
            });
            if !repeats {
                let source = Source::Block(block.number);
                places.push(RecordPlace { order, source, row });
            }
        }
    }
    let mut repeated = vec![false; places.len()];
    for (day, mut repetitions) in repetitions {
        rows.clear();
        history::compare_bucket(
            &reader.snapshot,
            query.bucket(day),
            &mut rows,
            &mut repetitions,
        )?;
        for number in repetitions.into_repeated() {
            if let Some(repeated) = repeated.get_mut(number as usize) {
                *repeated = true;
            }
        }
    }
    let mut repeated = repeated.into_iter();
    places.retain(|_| !repeated.next().unwrap_or_default());
    Ok(places)
}

/// Calls `visit` with the content of each position: its index in `places`, the rows of its part or block, and its row there.
pub(super) fn each_content(
    reader: &Reader,
    query: &HistoryQuery,
    places: &[RecordPlace],
    visit: &mut dyn FnMut(usize, &Rows, usize) -> Result<()>,
) -> Result<()> {
    let read = &reader.snapshot;
    let add = |source, rows: &mut Rows| match source {
        Source::Part(day, part) => history::add_bucket_part(read, query.bucket(day), part, rows),
        Source::Block(number) => {
            let blocks = &reader.blocks;
            let at = blocks.binary_search_by_key(&number, |block| block.number);
            let block = at.ok().and_then(|at| blocks.get(at));
            block.map_or(Ok(()), |block| block.add_to(read, rows))
        }
    };
    each_content_of(places, &add, visit)
}

/// The same where `add` adds the records of a part or block to rows.
pub(in crate::view) fn each_content_of(
    places: &[RecordPlace],
    add: &dyn Fn(Source, &mut Rows) -> Result<()>,
    visit: &mut dyn FnMut(usize, &Rows, usize) -> Result<()>,
) -> Result<()> {
    let source = |number: usize| places.get(number).map(|place| place.source);
    let mut rows = Rows::default();
    let mut last = None;
    for number in sorted_by_key(places.len(), source) {
        let number = number as usize;
        let Some(place) = places.get(number) else {
            continue;
        };
        if last.replace(place.source) != Some(place.source) {
            rows.clear();
            add(place.source, &mut rows)?;
        }
        visit(number, &rows, place.row)?;
    }
    Ok(())
}
