//! Records in memory, whether they come from the queue or from history: a row of numbers each, and the texts they share. They are
//! read, compared, sorted and written again without becoming records of the interface.

mod adopt;
mod digest;
mod metrics;
mod processes;
mod records;

use crate::model::{FieldKind, Places, ProcessItem, Stream};
use crate::sorting::{sort_by_key, sorted_by_key};
use crate::timestamp::{TICKS_PER_SECOND, Timestamp};

use super::texts::Texts;

pub(crate) use digest::ContentDigest;

/// The order of a history: filed time, then time of receipt.
pub(crate) type HistoryOrder = (Timestamp, Timestamp);

// The presence of a field in a record.
pub(super) const ABSENT: u64 = 0;
pub(super) const NULL: u64 = 1;
pub(super) const VALUE: u64 = 2;

/// The number of the empty text, also that of a name that was not sent.
pub(crate) const NO_TEXT: u32 = Texts::EMPTY;

/// Where a record belongs in history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Bucket<'n> {
    pub(crate) stream: Stream,
    /// Of the filed time.
    pub(crate) day: u32,
    /// Empty where a record names none.
    pub(crate) instance: &'n str,
}

/// Records in the order they were read.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub(super) texts: Texts,
    records: Vec<Row>,
    values: Vec<u64>,
    items: Vec<Item>,
}

#[derive(Debug, Clone, Copy)]
struct Row {
    stream: Stream,
    received_at: Timestamp,
    filed_at: Timestamp,
    presence: u64,
    /// Where its values begin.
    at: usize,
}

const ITEM_FIELDS: usize = ProcessItem::FIELDS.len();

/// A process item.
#[derive(Debug, Clone, Copy, Default)]
struct Item {
    presence: u64,
    values: [u64; ITEM_FIELDS],
}

/// How many rows there are, to drop those that are added later.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    rows: usize,
    values: usize,
    items: usize,
    texts: usize,
}

/// The fields of a record or of a process item: two bits of presence each, and the bits of the value. Integers and ticks
/// are as they are, floats their bits, texts their number, process items [`items_bits`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Cells<'r> {
    pub(super) presence: u64,
    values: &'r [u64],
}

impl Cells<'_> {
    pub(super) fn mark(self, index: usize) -> u64 {
        self.presence >> (2 * index) & 3
    }

    pub(super) fn bits(self, index: usize) -> u64 {
        self.values.get(index).copied().unwrap_or_default()
    }

    fn value(self, index: usize) -> Option<u64> {
        (self.mark(index) == VALUE).then(|| self.bits(index))
    }
}

/// The bits of `count` items from the one numbered `first` on.
pub(super) fn items_bits(first: usize, count: usize) -> u64 {
    (first as u64) << 32 | count as u64
}

/// The numbers of items.
pub(super) fn items_of(bits: u64) -> std::ops::Range<usize> {
    let half = |bits: u64| usize::try_from(bits & u64::from(u32::MAX)).unwrap_or(usize::MAX);
    let first = half(bits >> 32);
    first..first + half(bits)
}

impl Rows {
    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    /// The numbers of all rows.
    pub(crate) fn all(&self) -> Vec<u32> {
        (0..u32::try_from(self.records.len()).unwrap_or(u32::MAX)).collect()
    }

    /// Sorts rows into the order of a history; equal ones stay as they are.
    pub(super) fn sort(&self, rows: &mut [u32]) {
        sort_by_key(rows, |row| self.order(row));
    }

    /// Adds a record.
    pub(super) fn push(
        &mut self,
        stream: Stream,
        (received_at, filed_at): (Timestamp, Timestamp),
        presence: u64,
        values: &[u64],
    ) {
        let at = self.values.len();
        self.values.extend_from_slice(values);
        self.records.push(Row {
            stream,
            received_at,
            filed_at,
            presence,
            at,
        });
    }

    /// Adds a record in which nothing was sent, for [`Self::set`].
    pub(super) fn push_empty(
        &mut self,
        stream: Stream,
        received_at: Timestamp,
        filed_at: Timestamp,
    ) {
        let at = self.values.len();
        self.values.resize(at + stream.fields().len(), 0);
        self.records.push(Row {
            stream,
            received_at,
            filed_at,
            presence: 0,
            at,
        });
    }

    /// Adds process items in which nothing was sent, for [`Self::set_item`] and [`Self::set_in_item`]; returns the number of the first.
    pub(super) fn push_items(&mut self, count: usize) -> usize {
        let first = self.items.len();
        self.items.resize(first + count, Item::default());
        first
    }

    pub(super) fn set(&mut self, row: usize, index: usize, mark: u64, bits: u64) {
        if let Some(row) = self.records.get_mut(row) {
            row.presence |= mark << (2 * index);
            if let Some(value) = self.values.get_mut(row.at + index) {
                *value = bits;
            }
        }
    }

    pub(super) fn set_item(&mut self, item: usize, presence: u64, values: [u64; ITEM_FIELDS]) {
        if let Some(item) = self.items.get_mut(item) {
            *item = Item { presence, values };
        }
    }

    pub(super) fn set_in_item(&mut self, item: usize, index: usize, mark: u64, bits: u64) {
        if let Some(item) = self.items.get_mut(item) {
            item.presence |= mark << (2 * index);
            if let Some(value) = item.values.get_mut(index) {
                *value = bits;
            }
        }
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark {
            rows: self.records.len(),
            values: self.values.len(),
            items: self.items.len(),
            texts: self.texts.len(),
        }
    }

    /// Drops all rows and texts and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.texts.clear();
        self.records.clear();
        self.values.clear();
        self.items.clear();
    }

    /// Drops what came after `mark`.
    pub(crate) fn truncate(&mut self, mark: Mark) {
        self.records.truncate(mark.rows);
        self.values.truncate(mark.values);
        self.items.truncate(mark.items);
        self.texts.truncate(mark.texts);
    }

    /// Drops the rows from `first` on for which `is_dropped` holds; their values stay for as long as those of the others.
    pub(super) fn drop_where(
        &mut self,
        first: usize,
        mut is_dropped: impl FnMut(&Self, usize) -> bool,
    ) {
        let kept = (first..self.len()).filter(|row| !is_dropped(self, *row));
        let kept: Vec<_> = kept
            .filter_map(|row| self.records.get(row).copied())
            .collect();
        self.records.truncate(first);
        self.records.extend(kept);
    }

    pub(super) fn cells(&self, row: usize) -> Cells<'_> {
        let row = self.records.get(row);
        let values =
            row.and_then(|row| self.values.get(row.at..row.at + row.stream.fields().len()));
        Cells {
            presence: row.map_or(0, |row| row.presence),
            values: values.unwrap_or_default(),
        }
    }

    /// The process items of all records.
    pub(super) fn all_items(&self) -> usize {
        self.items.len()
    }

    /// How many process items a record has.
    pub(crate) fn items(&self, row: usize) -> usize {
        if self.stream(row) != Stream::Processes {
            return 0;
        }
        let cells = self.cells(row);
        let fields = Stream::Processes.fields().iter().enumerate();
        let lists = fields.filter(|(_, spec)| spec.kind == FieldKind::Items);
        let counts = lists.filter_map(|(index, _)| cells.value(index));
        counts.map(|bits| items_of(bits).len()).sum()
    }

    pub(super) fn item(&self, item: usize) -> Cells<'_> {
        let item = self.items.get(item);
        Cells {
            presence: item.map_or(0, |item| item.presence),
            values: item.map_or(&[], |item| &item.values),
        }
    }

    pub(crate) fn stream(&self, row: usize) -> Stream {
        self.records
            .get(row)
            .map_or(Stream::Stats, |row| row.stream)
    }

    pub(crate) fn filed_at(&self, row: usize) -> Timestamp {
        self.order(row).0
    }

    pub(crate) fn received_at(&self, row: usize) -> Timestamp {
        self.order(row).1
    }

    pub(crate) fn order(&self, row: usize) -> HistoryOrder {
        let row = self.records.get(row);
        row.map_or((Timestamp::MIN, Timestamp::MIN), |row| {
            (row.filed_at, row.received_at)
        })
    }

    fn named(&self, row: usize, place: impl Fn(&'static Places) -> usize) -> Option<u64> {
        self.cells(row)
            .value(place(Places::of_stream(self.stream(row))))
    }

    /// The time the agent put into the record.
    pub(crate) fn sent(&self, row: usize) -> Option<Timestamp> {
        let ticks = self.named(row, |places| places.time)?;
        Some(Timestamp::from_ticks(ticks.cast_signed()))
    }

    /// Whether the record is filed at its receipt, as the clock which dated it was ahead.
    pub(crate) fn is_ahead(&self, row: usize) -> bool {
        let (filed_at, received_at) = self.order(row);
        // Nearly always it is filed at the time it carries.
        filed_at == received_at && self.sent(row) > Some(filed_at)
    }

    /// Seconds that the clock which dated the record was ahead, if it is filed at its receipt for that; else 0.
    pub(crate) fn seconds_ahead(&self, row: usize) -> u64 {
        let sent = self.sent(row).filter(|_| self.is_ahead(row));
        let ticks = sent.map_or(0, |sent| sent.ticks() - self.filed_at(row).ticks());
        ticks.div_euclid(TICKS_PER_SECOND).unsigned_abs()
    }

    /// The number of the instance's name.
    pub(super) fn instance(&self, row: usize) -> u32 {
        let bits = self.named(row, |places| places.instance);
        bits.map_or(NO_TEXT, Texts::number)
    }

    /// The number of the user's name.
    pub(crate) fn user(&self, row: usize) -> u32 {
        let bits = self.named(row, |places| places.username);
        bits.map_or(NO_TEXT, Texts::number)
    }

    /// The bucket of a record.
    pub(crate) fn bucket(&self, row: usize) -> Bucket<'_> {
        Bucket {
            stream: self.stream(row),
            day: self.filed_at(row).day(),
            instance: self.instance_id(row),
        }
    }

    /// The rows of each bucket, as they were read; the buckets in their order.
    pub(super) fn buckets(&self) -> Vec<Vec<u32>> {
        // A day has a number of 22 bits.
        let day = |row| u32::from(self.stream(row).number()) << 24 | self.filed_at(row).day();
        let days = groups(self.all(), day).into_iter();
        let mut buckets: Vec<_> = days
            .flat_map(|rows| groups(rows, |row| self.instance(row)))
            .collect();
        let bucket = |place: usize| {
            let first = buckets.get(place)?.first()?;
            Some(self.bucket(*first as usize))
        };
        let order = sorted_by_key(buckets.len(), bucket);
        let take = |place: u32| buckets.get_mut(place as usize).map(std::mem::take);
        order.into_iter().filter_map(take).collect()
    }

    pub(crate) fn instance_id(&self, row: usize) -> &str {
        self.texts.text(self.instance(row))
    }

    pub(crate) fn username(&self, row: usize) -> &str {
        self.texts.text(self.user(row))
    }
}

/// The rows of each key, in their order.
fn groups(rows: Vec<u32>, key: impl Fn(usize) -> u32) -> Vec<Vec<u32>> {
    // A number that holds both is sorted with few instructions, by code that is there for other numbers.
    let keyed = |row: u32| u64::from(key(row as usize)) << u32::BITS | u64::from(row);
    let mut keyed: Vec<u64> = rows.into_iter().map(keyed).collect();
    keyed.sort_unstable();
    let same = keyed.chunk_by(|a, b| a >> u32::BITS == b >> u32::BITS);
    #[expect(clippy::cast_possible_truncation, reason = "the lower half is the row")]
    same.map(|same| same.iter().map(|keyed| *keyed as u32).collect())
        .collect()
}

fn single(bits: u64) -> f32 {
    f32::from_bits(u32::try_from(bits).unwrap_or_default())
}
