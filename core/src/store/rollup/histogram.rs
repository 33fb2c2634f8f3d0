//! Histograms for quantiles: the number of values in each of a fixed set of buckets.
//!
//! The buckets are those of a log-linear histogram: values below 64 have one each, and each octave above has 32 of the same width. A
//! bucket stands for its middle, which is at most 1/64 off any value in it. Bucket numbers are integers computed from integers, so the
//! same values make the same bytes on every platform, and merging is exact.

use std::cmp::Ordering;

use crate::error::Result;
use crate::store::codec::{Decoder, Encoder, damaged};

/// Buckets of an octave.
const LINEAR_BITS: u32 = 5;
/// The last bucket, that of 2^40.
const LAST: i32 = ((42 - LINEAR_BITS.cast_signed()) << LINEAR_BITS) - 1;

/// Counts by bucket, in the order of the values; negative values have negative buckets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Histogram(Vec<(i32, u64)>);

/// The bucket of a value.
fn bucket(value: i64) -> i32 {
    let size = value.unsigned_abs();
    let shift = (u64::BITS - size.leading_zeros()).saturating_sub(LINEAR_BITS + 1);
    let number = (u64::from(shift) << LINEAR_BITS) + (size >> shift);
    let number = i32::try_from(number).unwrap_or(LAST).min(LAST);
    if value < 0 { -number } else { number }
}

/// The middle of a bucket.
fn middle(bucket: i32) -> i64 {
    let number = i64::from(bucket.unsigned_abs());
    let shift = ((number >> LINEAR_BITS) - 1).max(0);
    let first = (number - (shift << LINEAR_BITS)) << shift;
    let middle = first + ((1 << shift) - 1) / 2;
    if bucket < 0 { -middle } else { middle }
}

impl Histogram {
    /// Adds a value.
    pub(crate) fn add(&mut self, value: i64) {
        self.add_to(bucket(value), 1);
    }

    fn add_to(&mut self, bucket: i32, count: u64) {
        match self.0.binary_search_by_key(&bucket, |(bucket, _)| *bucket) {
            Ok(place) => {
                if let Some((_, old)) = self.0.get_mut(place) {
                    *old = old.saturating_add(count);
                }
            }
            Err(place) => self.0.insert(place, (bucket, count)),
        }
    }

    /// Adds all of `other`.
    pub(crate) fn merge(&mut self, other: &Self) {
        if self.0.is_empty() {
            self.0.clone_from(&other.0);
            return;
        }
        let mut merged = Vec::with_capacity(self.0.len() + other.0.len());
        let (mut ours, mut theirs) = (self.0.as_slice(), other.0.as_slice());
        while let ([our, our_rest @ ..], [their, their_rest @ ..]) = (ours, theirs) {
            match our.0.cmp(&their.0) {
                Ordering::Less => {
                    merged.push(*our);
                    ours = our_rest;
                }
                Ordering::Greater => {
                    merged.push(*their);
                    theirs = their_rest;
                }
                Ordering::Equal => {
                    merged.push((our.0, our.1.saturating_add(their.1)));
                    (ours, theirs) = (our_rest, their_rest);
                }
            }
        }
        merged.extend_from_slice(ours);
        merged.extend_from_slice(theirs);
        self.0 = merged;
    }

    /// The value of the nearest rank: the smallest that at least `percent` of the values do not exceed, at most 1/64 off; `None` without
    /// values.
    pub(crate) fn quantile(&self, percent: u64) -> Option<i64> {
        let total = self
            .0
            .iter()
            .fold(0_u64, |sum, (_, count)| sum.saturating_add(*count));
        nearest_rank(self.0.iter().copied(), total, percent)
    }

    /// The number of the first bucket, then for each its distance from the one before and its count.
    pub(super) fn encode(&self, encoder: &mut Encoder) {
        encoder.count(self.0.len());
        let mut last = 0;
        for (bucket, count) in &self.0 {
            encoder.signed(i64::from(bucket - last));
            encoder.varint(*count);
            last = *bucket;
        }
    }

    pub(super) fn decode(decoder: &mut Decoder<'_>) -> Result<Self> {
        let count = decoder.count()?;
        let mut buckets = Vec::with_capacity(count);
        each_bucket(decoder, count, |bucket, count| {
            buckets.push((bucket, count));
        })?;
        Ok(Self(buckets))
    }
}

/// Reads `count` buckets, in their order.
fn each_bucket(
    decoder: &mut Decoder<'_>,
    count: usize,
    mut visit: impl FnMut(i32, u64),
) -> Result<()> {
    let mut last = None;
    for _ in 0..count {
        let distance = i32::try_from(decoder.signed()?).map_err(|_| damaged())?;
        let bucket = match last {
            None => distance,
            Some(last) if distance > 0 => distance.checked_add(last).ok_or_else(damaged)?,
            Some(_) => return Err(damaged()),
        };
        if bucket.unsigned_abs() > LAST.unsigned_abs() {
            return Err(damaged());
        }
        visit(bucket, decoder.varint()?);
        last = Some(bucket);
    }
    Ok(())
}

/// Histograms added up to read quantiles from, whatever their number.
#[derive(Debug, Default)]
pub(crate) struct Quantiles {
    /// By bucket number, from `-LAST` on; empty until something is added.
    counts: Vec<u64>,
    total: u64,
}

impl Quantiles {
    /// Clears the sums and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.counts.fill(0);
        self.total = 0;
    }

    /// Adds an encoded histogram, without memory of its own.
    pub(super) fn add_encoded(&mut self, decoder: &mut Decoder<'_>) -> Result<()> {
        if self.counts.is_empty() {
            let buckets = usize::try_from(2 * LAST + 1).unwrap_or_default();
            self.counts.resize(buckets, 0);
        }
        let count = decoder.count()?;
        each_bucket(decoder, count, |bucket, count| self.add_to(bucket, count))
    }

    fn add_to(&mut self, bucket: i32, count: u64) {
        let place = usize::try_from(bucket + LAST).ok();
        if let Some(sum) = place.and_then(|place| self.counts.get_mut(place)) {
            *sum = sum.saturating_add(count);
            self.total = self.total.saturating_add(count);
        }
    }

    /// As [`Histogram::quantile`].
    pub(crate) fn quantile(&self, percent: u64) -> Option<i64> {
        let counts = (-LAST..).zip(self.counts.iter().copied());
        nearest_rank(counts, self.total, percent)
    }
}

fn nearest_rank(counts: impl Iterator<Item = (i32, u64)>, total: u64, percent: u64) -> Option<i64> {
    let rank = u128::from(total) * u128::from(percent);
    let rank = u64::try_from(rank.div_ceil(100)).unwrap_or(u64::MAX).max(1);
    let mut seen = 0_u64;
    for (bucket, count) in counts {
        seen = seen.saturating_add(count);
        if seen >= rank {
            return Some(middle(bucket));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn middle_of_a_bucket_is_within_a_64th_of_its_values() {
        let mut value = 0_i64;
        let mut last = 0;
        while value < 1 << 40 {
            for value in [value, -value] {
                let off = (middle(bucket(value)) - value).unsigned_abs();
                assert!(off * 64 <= value.unsigned_abs(), "{value}");
            }
            assert!(bucket(value) >= last, "{value}");
            last = bucket(value);
            value += 1 + value / 500;
        }
        assert_eq!(bucket(1 << 40), LAST - 31);
        assert_eq!(bucket(i64::MAX), LAST);
        assert_eq!(bucket(i64::MIN), -LAST);
    }

    #[test]
    fn merged_histogram_equals_that_of_all_values_and_survives_encoding() {
        let (mut one, mut other, mut all) = Default::default();
        let add = |histogram: &mut Histogram, value| histogram.add(value);
        for value in -300..700 {
            let value = value * 37;
            add(if value % 3 == 0 { &mut one } else { &mut other }, value);
            add(&mut all, value);
        }
        one.merge(&other);
        assert_eq!(one, all);
        let mut encoder = Encoder::default();
        all.encode(&mut encoder);
        let bytes = encoder.finish();
        let mut decoder = Decoder::new(&bytes);
        assert_eq!(Histogram::decode(&mut decoder).unwrap(), all);
        decoder.finish().unwrap();
    }

    #[test]
    fn quantile_is_the_nearest_rank() {
        let mut quantiles = Quantiles::default();
        assert_eq!(quantiles.quantile(50), None);
        let mut histogram = Histogram::default();
        (1..=60).for_each(|value| histogram.add(value));
        let mut encoder = Encoder::default();
        histogram.encode(&mut encoder);
        let bytes = encoder.finish();
        quantiles.add_encoded(&mut Decoder::new(&bytes)).unwrap();
        for (percent, value) in [(0, 1), (50, 30), (51, 31), (95, 57), (100, 60)] {
            assert_eq!(quantiles.quantile(percent), Some(value), "{percent}");
            assert_eq!(histogram.quantile(percent), Some(value), "{percent}");
        }
    }

    #[test]
    fn bucket_out_of_bounds_is_damaged() {
        for bucket in [i32::MIN, i32::MIN + 1, -LAST - 1, LAST + 1, i32::MAX] {
            let mut encoder = Encoder::default();
            encoder.count(1);
            encoder.signed(bucket.into());
            encoder.varint(1);
            let bytes = encoder.finish();
            assert!(
                Histogram::decode(&mut Decoder::new(&bytes)).is_err(),
                "{bucket}"
            );
        }
    }
}
