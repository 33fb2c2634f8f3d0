//! Records by the bucket they belong to, and which of them repeat another.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use crate::limits::REPETITIONS_COMPARED_MAX;
use crate::model::Stream;
use crate::timestamp::Timestamp;

use super::rows::{ContentDigest, Rows};

/// The rows of each bucket, as they were read; the buckets by stream, day and name.
pub(super) fn buckets(rows: &Rows) -> Vec<Vec<u32>> {
    let bucket = |row: usize| {
        (
            rows.stream(row),
            rows.filed_at(row).day(),
            rows.instance(row),
        )
    };
    let keyed = |row: u32| (bucket(row as usize), row);
    let mut keyed: Vec<_> = rows.all().into_iter().map(keyed).collect();
    keyed.sort_unstable();
    let same = keyed.chunk_by(|(a, _), (b, _)| a == b);
    let rows_of = |same: &[(_, u32)]| same.iter().map(|(_, row)| *row).collect();
    let mut buckets: Vec<Vec<u32>> = same.map(rows_of).collect();
    let name = |bucket: &[u32]| bucket.first().map(|row| bucket_of(rows, *row));
    buckets.sort_unstable_by(|a, b| name(a).cmp(&name(b)));
    buckets
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
