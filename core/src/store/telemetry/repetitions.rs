//! Records by the bucket they belong to, and which of them repeat another.

use std::ops::Range;

use crate::model::Stream;

use super::rows::Rows;

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

/// Takes from `order` what repeats one of the rows `known` or an earlier one of `order`. All are of one stream.
pub(super) fn drop_repetitions(rows: &Rows, known: Range<usize>, order: &mut Vec<u32>) {
    // Repetitions carry the same sent time, so only records of one sent time are compared.
    let known = known.filter_map(|row| u32::try_from(row).ok());
    let mut timed: Vec<_> = known
        .map(|row| (row, false))
        .chain(order.iter().map(|row| (*row, true)))
        .enumerate()
        .filter_map(|(at, (row, new))| Some((rows.sent(row as usize)?, at, row, new)))
        .collect();
    // In order already where each is later than those before.
    if !timed.is_sorted_by(|a, b| a.0 < b.0) {
        timed.sort_unstable();
    }
    let mut repetitions = Vec::new();
    for same in timed
        .chunk_by(|a, b| a.0 == b.0)
        .filter(|same| same.len() > 1)
    {
        for (at, (_, _, row, new)) in same.iter().enumerate() {
            let mut earlier = same.iter().take(at);
            if *new && earlier.any(|(_, _, other, _)| rows.repeats(*row as usize, *other as usize))
            {
                repetitions.push(*row);
            }
        }
    }
    if !repetitions.is_empty() {
        repetitions.sort_unstable();
        order.retain(|row| repetitions.binary_search(row).is_err());
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
