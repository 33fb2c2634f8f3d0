//! Sets of the five-minute slots of a day.

use std::ops::Range;

use crate::error::Result;
use crate::store::codec::{Decoder, Encoder, damaged};
use crate::timestamp::TICKS_PER_SECOND;

/// Minutes of a slot.
pub(crate) const SLOT_MINUTES: u32 = 5;
/// Ticks of a slot.
pub(super) const SLOT_TICKS: i64 = SLOT_MINUTES as i64 * 60 * TICKS_PER_SECOND;
const SLOTS: usize = 24 * 60 / SLOT_MINUTES as usize;
/// Slots of an hour.
pub(super) const HOUR: usize = SLOTS / 24;
const WORD: usize = u64::BITS as usize;
const WORDS: usize = SLOTS.div_ceil(WORD);
/// More runs than these take more bytes than a bitmap.
const RUNS_MAX: usize = SLOTS / 16;
/// Marks a bitmap, in place of the number of runs.
const ALL_BITS: u8 = u8::MAX;

/// Five-minute slots of a day (UTC), a bit each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Slots([u64; WORDS]);

impl Slots {
    /// Slots of a day.
    pub(crate) const COUNT: usize = SLOTS;

    pub(crate) fn insert(&mut self, slot: usize) {
        if let Some(word) = self.0.get_mut(slot / WORD) {
            *word |= 1 << (slot % WORD);
        }
    }

    pub(crate) fn insert_all(&mut self, slots: Range<usize>) {
        slots.for_each(|slot| self.insert(slot));
    }

    pub(crate) fn contains(&self, slot: usize) -> bool {
        let word = self.0.get(slot / WORD);
        word.is_some_and(|word| word >> (slot % WORD) & 1 == 1)
    }

    /// The slots in the set, in order.
    pub(crate) fn slots(&self) -> impl Iterator<Item = usize> + '_ {
        self.runs().flat_map(|(first, count)| first..first + count)
    }

    /// The first slot from `slot` on that is in it, or that is not; [`SLOTS`] when there is none.
    fn next(&self, slot: usize, is_in: bool) -> usize {
        let first = slot / WORD;
        let mut mask = u64::MAX << (slot % WORD);
        for (place, word) in self.0.iter().enumerate().skip(first) {
            let word = if is_in { *word } else { !*word } & mask;
            if word != 0 {
                return SLOTS.min(place * WORD + word.trailing_zeros() as usize);
            }
            mask = u64::MAX;
        }
        SLOTS
    }

    /// The union of both sets.
    pub(crate) fn union(&self, other: &Self) -> Self {
        self.join_words(other, |a, b| a | b)
    }

    /// The intersection of both sets.
    pub(crate) fn intersection(&self, other: &Self) -> Self {
        self.join_words(other, |a, b| a & b)
    }

    /// Combines both sets by `join`, 64 slots at a time.
    pub(crate) fn join_words(&self, other: &Self, join: impl Fn(u64, u64) -> u64) -> Self {
        let mut joined = *self;
        for (word, other) in joined.0.iter_mut().zip(other.0) {
            *word = join(*word, other);
        }
        joined
    }

    /// The number of slots in the set.
    pub(crate) fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Whether any slot of an hour of the day is in it.
    pub(crate) fn any_in_hour(&self, hour: usize) -> bool {
        self.next(hour * HOUR, true) < (hour + 1) * HOUR
    }

    /// The runs of consecutive slots: the first slot of each, and its length.
    pub(crate) fn runs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let mut end = 0;
        std::iter::from_fn(move || {
            let first = self.next(end, true);
            end = self.next(first, false);
            (end > first).then_some((first, end - first))
        })
    }

    /// The runs: how far each begins after the one before, and its length less 1. Where they are many, all bits.
    pub(super) fn encode(&self, encoder: &mut Encoder) {
        let runs = self.runs().count();
        if runs > RUNS_MAX {
            encoder.u8(ALL_BITS);
            self.0
                .iter()
                .for_each(|word| encoder.raw(&word.to_le_bytes()));
            return;
        }
        encoder.count(runs);
        let mut end = 0;
        for (first, length) in self.runs() {
            encoder.count(first - end);
            encoder.count(length - 1);
            end = first + length;
        }
    }

    pub(super) fn decode(decoder: &mut Decoder<'_>) -> Result<Self> {
        let runs = decoder.u8()?;
        if runs == ALL_BITS {
            let mut slots = Self::default();
            for word in &mut slots.0 {
                *word = u64::from_le_bytes(decoder.array()?);
            }
            let beyond = slots
                .0
                .last()
                .is_some_and(|last| last >> (SLOTS % WORD) != 0);
            return if beyond { Err(damaged()) } else { Ok(slots) };
        }
        let mut slots = Self::default();
        let mut end = 0;
        for _ in 0..runs {
            let mut number = || usize::try_from(decoder.varint()?).map_err(|_| damaged());
            let (gap, more) = (number()?, number()?);
            let fits = gap <= SLOTS && more < SLOTS && end + gap + more < SLOTS;
            if !fits {
                return Err(damaged());
            }
            (end + gap..=end + gap + more).for_each(|slot| slots.insert(slot));
            end += gap + more + 1;
        }
        Ok(slots)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_survive_encoding_and_take_few_bytes() {
        let sets: [(&[(usize, usize)], usize); 5] = [
            (&[], 1),
            (&[(0, 288)], 4),
            (&[(100, 101), (287, 288)], 6),
            (&[(0, 1), (2, 3)], 5),
            (&[(8, 20), (96, 200)], 5),
        ];
        for (ranges, bytes) in sets {
            let mut slots = Slots::default();
            for (first, end) in ranges {
                (*first..*end).for_each(|slot| slots.insert(slot));
            }
            assert_eq!(encoded(&slots).len(), bytes, "{ranges:?}");
        }
        let mut every_second = Slots::default();
        (0..288)
            .step_by(2)
            .for_each(|slot| every_second.insert(slot));
        assert_eq!(encoded(&every_second).len(), 41);
        assert_eq!(every_second.len(), 144);
    }

    fn encoded(slots: &Slots) -> Vec<u8> {
        let mut encoder = Encoder::default();
        slots.encode(&mut encoder);
        let bytes = encoder.finish();
        let mut decoder = Decoder::new(&bytes);
        assert_eq!(Slots::decode(&mut decoder).unwrap(), *slots);
        decoder.finish().unwrap();
        bytes
    }
}
