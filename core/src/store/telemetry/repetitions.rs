//! Records by the bucket they belong to, and which of them repeat another.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::limits::REPETITIONS_COMPARED_MAX;
use crate::model::Stream;
use crate::timestamp::Timestamp;

use super::rows::{ContentDigest, Rows};

/// Rows, those of one bucket together.
#[derive(Debug)]
pub(super) struct Buckets {
    /// Stream and day, the number of the instance, the row.
    keys: Vec<(u64, u32, u32)>,
    /// Of `keys`, the rows of each bucket; the buckets in the order of their keys in history.
    ranges: Vec<Range<usize>>,
}

fn place(rows: &Rows, row: usize) -> u64 {
    u64::from(rows.stream(row).number()) << 32 | u64::from(rows.filed_at(row).day())
}

impl Buckets {
    /// Of all `rows`.
    pub(super) fn of(rows: &Rows) -> Self {
        let key = |row: u32| (place(rows, row as usize), rows.instance(row as usize), row);
        let count = u32::try_from(rows.len()).unwrap_or(u32::MAX);
        let mut buckets = Self {
            keys: (0..count).map(key).collect(),
            ranges: Vec::new(),
        };
        while !buckets.try_group(rows) {}
        buckets
    }

    /// Groups the keys; answers whether that is all, which it is not when a name has more than one number: these are made
    /// one then.
    fn try_group(&mut self, rows: &Rows) -> bool {
        self.keys.sort_unstable();
        self.ranges.clear();
        let mut end = 0;
        for same in self.keys.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            self.ranges.push(end..end + same.len());
            end += same.len();
        }
        let keys = &mut self.keys;
        let name = |keys: &[(u64, u32, u32)], range: &Range<usize>| {
            let (place, instance, _) = keys.get(range.start).copied().unwrap_or_default();
            (place, instance)
        };
        self.ranges.sort_unstable_by(|a, b| {
            let ((place_a, a), (place_b, b)) = (name(keys, a), name(keys, b));
            let texts = || rows.texts.text(a).cmp(rows.texts.text(b));
            place_a.cmp(&place_b).then_with(texts)
        });
        let mut whole = true;
        for pair in self.ranges.windows(2) {
            let [before, range] = pair else { continue };
            let (first, second) = (name(keys, before), name(keys, range));
            if first.0 == second.0 && rows.texts.text(first.1) == rows.texts.text(second.1) {
                whole = false;
                for key in keys.get_mut(range.clone()).unwrap_or_default() {
                    key.1 = first.1;
                }
            }
        }
        whole
    }

    pub(super) fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Puts the rows of a bucket into `order`, as they were read.
    pub(super) fn take(&self, bucket: usize, order: &mut Vec<u32>) {
        let keys = self
            .ranges
            .get(bucket)
            .and_then(|range| self.keys.get(range.clone()));
        order.clear();
        order.extend(keys.unwrap_or_default().iter().map(|(_, _, row)| *row));
    }
}

/// So many process items of a report count as another record compared.
const ITEMS_PER_COMPARED: usize = 16;

/// Records of one bucket that carry a sent time, to find among them those that repeat an earlier record.
///
/// A repetition carries the same sent time, so contents are compared only where sent times meet, and then by their digests:
/// the cost is that of one digest a record, however many carry the same time.
#[derive(Debug, Default)]
pub(crate) struct Repetitions {
    /// Sent time and row of what is new, by time.
    new: Vec<(Timestamp, u32)>,
    /// Of the times at which records are known, what is new by its content.
    contents: BTreeMap<(Timestamp, ContentDigest), u32>,
    /// Records compared at each of those times.
    compared: BTreeMap<Timestamp, usize>,
    repeated: Vec<u32>,
}

impl Repetitions {
    /// Among the rows in `order`, in which they arrived.
    pub(super) fn among(rows: &Rows, order: &[u32]) -> Self {
        let timed = order
            .iter()
            .filter_map(|row| Some((rows.sent(*row as usize)?, *row)));
        let mut found = Self {
            new: timed.collect(),
            ..Self::default()
        };
        // In order already where each is later than those before.
        if !found.new.is_sorted_by(|a, b| a.0 < b.0) {
            found.new.sort_by_key(|(sent, _)| *sent);
            found.drop_among(rows);
        }
        found
    }

    /// Keeps the first of those that are alike.
    fn drop_among(&mut self, rows: &Rows) {
        let mut distinct = Vec::with_capacity(self.new.len());
        for same in self.new.chunk_by(|a, b| a.0 == b.0) {
            let mut known = BTreeSet::new();
            for (sent, row) in same {
                if same.len() == 1 || known.insert(rows.digest(*row as usize)) {
                    distinct.push((*sent, *row));
                } else {
                    self.repeated.push(*row);
                }
            }
        }
        self.new = distinct;
    }

    /// Adds a record, by a number of the caller's; returns whether it repeats one that was added before.
    pub(crate) fn add(&mut self, sent: Timestamp, content: ContentDigest, number: u32) -> bool {
        self.compared.entry(sent).or_default();
        match self.contents.entry((sent, content)) {
            Entry::Vacant(vacant) => {
                vacant.insert(number);
                false
            }
            Entry::Occupied(_) => true,
        }
    }

    /// Whether something new may repeat a known record with this sent time.
    pub(super) fn may_repeat(&self, sent: Timestamp) -> bool {
        self.compared.get(&sent).map_or_else(
            || {
                self.new
                    .binary_search_by_key(&sent, |(sent, _)| *sent)
                    .is_ok()
            },
            |compared| *compared < REPETITIONS_COMPARED_MAX,
        )
    }

    /// Notes what repeats the row `known`.
    pub(super) fn compare(&mut self, rows: &Rows, known: usize) {
        let Some(sent) = rows.sent(known).filter(|sent| self.may_repeat(*sent)) else {
            return;
        };
        let compared = match self.compared.entry(sent) {
            Entry::Occupied(compared) => compared.into_mut(),
            Entry::Vacant(first) => {
                let start = self.new.partition_point(|(time, _)| *time < sent);
                let same = self.new.iter().skip(start);
                for (_, row) in same.take_while(|(time, _)| *time == sent) {
                    let content = rows.digest(*row as usize);
                    self.contents.insert((sent, content), *row);
                }
                first.insert(0)
            }
        };
        // Comparing a report costs as much as its process items.
        *compared += 1 + rows.items(known) / ITEMS_PER_COMPARED;
        self.repeated
            .extend(self.contents.remove(&(sent, rows.digest(known))));
    }

    /// What repeats an earlier record, in order.
    pub(crate) fn into_repeated(mut self) -> Vec<u32> {
        self.repeated.sort_unstable();
        self.repeated
    }
}

/// The stream, day and instance of a row.
pub(super) fn bucket_of(rows: &Rows, row: u32) -> (Stream, u32, &str) {
    let row = row as usize;
    (
        rows.stream(row),
        rows.filed_at(row).day(),
        rows.instance_id(row),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Received, Record, StatsRecord};

    fn rows(numbers: impl Iterator<Item = i32>) -> Rows {
        let time = Timestamp::from_unix_seconds(1_790_000_000);
        let mut rows = Rows::default();
        for number in numbers {
            rows.add(&Received {
                record: Record::Stats(Box::new(StatsRecord {
                    id: Some(number),
                    update_time: Some(time),
                    ..StatsRecord::default()
                })),
                received_at: time,
                filed_at: time,
            });
        }
        rows
    }

    #[test]
    fn repetitions_among_rows_keep_the_first() {
        let rows = rows([1, 2, 1, 3, 2, 1].into_iter());
        let found = Repetitions::among(&rows, &rows.all());
        assert_eq!(found.into_repeated(), [2, 4, 5]);
    }

    #[test]
    fn repetition_is_found_among_the_records_compared_and_no_further() {
        let max = i32::try_from(REPETITIONS_COMPARED_MAX).unwrap();
        // The first row is new; the last but one known is compared, the last is not.
        for (new, repeated) in [(max - 1, vec![0]), (max, vec![])] {
            let rows = rows(std::iter::once(new).chain(0..=max));
            let mut found = Repetitions::among(&rows, &[0]);
            for known in 1..rows.len() {
                found.compare(&rows, known);
            }
            assert_eq!(found.into_repeated(), repeated, "{new}");
        }
    }
}
