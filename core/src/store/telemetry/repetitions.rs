//! Finding new records that repeat another.

use std::collections::btree_map::{BTreeMap, Entry};

use crate::limits::REPETITIONS_COMPARED_MAX;
use crate::sorting::sort_by_key;
use crate::timestamp::Timestamp;

use super::rows::{ContentDigest, Rows};

/// This number of process items counts as one more compared record.
const ITEMS_PER_COMPARED: usize = 16;

/// New records of one bucket, to find those that repeat another: an earlier one of them, or one that is filed.
///
/// A repetition carries the same sent time, so contents are compared only where sent times are equal, and then by their digests:
/// the cost is that of one digest a record, however many carry the same time.
#[derive(Debug, Default)]
pub(crate) struct Repetitions {
    /// By the sent time.
    new: BTreeMap<Timestamp, SameTime>,
    repeated: Vec<u32>,
}

/// New records that carry one sent time.
#[derive(Debug, Default)]
struct SameTime {
    /// The first row, as long as nothing carries the same time.
    alone: Option<u32>,
    /// By content, the first record that has it.
    contents: BTreeMap<ContentDigest, u32>,
    /// The number of filed records compared with these.
    compared: usize,
}

impl SameTime {
    /// Adds a record; returns whether it repeats one that was added before.
    fn add(&mut self, content: ContentDigest, number: u32) -> bool {
        *self.contents.entry(content).or_insert(number) != number
    }

    fn digest_alone(&mut self, rows: &Rows) {
        if let Some(row) = self.alone.take() {
            self.add(rows.digest(row as usize), row);
        }
    }
}

impl Repetitions {
    /// Of the rows in `order`, in which they arrived.
    pub(super) fn among(rows: &Rows, order: &[u32]) -> Self {
        let mut found = Self::default();
        for row in order {
            let Some(sent) = rows.sent(*row as usize) else {
                continue;
            };
            match found.new.entry(sent) {
                Entry::Vacant(vacant) => {
                    vacant.insert(SameTime::default()).alone = Some(*row);
                }
                Entry::Occupied(same) => {
                    let same = same.into_mut();
                    same.digest_alone(rows);
                    if same.add(rows.digest(*row as usize), *row) {
                        found.repeated.push(*row);
                    }
                }
            }
        }
        found
    }

    /// Adds a record, by a number of its own; returns whether it repeats one that was added before.
    pub(crate) fn add(&mut self, sent: Timestamp, content: ContentDigest, number: u32) -> bool {
        self.new.entry(sent).or_default().add(content, number)
    }

    /// Whether something new may repeat a filed record with this sent time.
    pub(super) fn may_repeat(&self, sent: Timestamp) -> bool {
        let same = self.new.get(&sent);
        same.is_some_and(|same| same.compared < REPETITIONS_COMPARED_MAX)
    }

    /// Marks the records that repeat the filed record in row `filed`.
    pub(super) fn compare(&mut self, rows: &Rows, filed: usize) {
        let sent = rows.sent(filed).filter(|sent| self.may_repeat(*sent));
        let Some(same) = sent.and_then(|sent| self.new.get_mut(&sent)) else {
            return;
        };
        same.digest_alone(rows);
        // Comparing a report costs as much as its process items.
        same.compared += 1 + rows.items(filed) / ITEMS_PER_COMPARED;
        let repeated = same.contents.remove(&rows.digest(filed));
        self.repeated.extend(repeated);
    }

    /// The records that repeat an earlier one, in order.
    pub(crate) fn into_repeated(mut self) -> Vec<u32> {
        sort_by_key(&mut self.repeated, |row| row);
        self.repeated
    }
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
    fn repetition_is_found_only_among_the_compared_records() {
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
