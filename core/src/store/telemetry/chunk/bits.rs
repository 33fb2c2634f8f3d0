//! Whole numbers as bits: Rice codes in groups, each with its own parameter.
//!
//! Bits fill a byte from its lowest. A number `z` is its high part `z >> shift` as that many 0 bits and a 1, then its `shift`
//! low bits.

use crate::error::Result;
use crate::store::codec::{Decoder, Encoder};

/// Numbers that share a parameter: few, because a desktop is busy for some samples and idle for others.
const GROUP: usize = 32;
/// Bits of the parameter of a group.
const SHIFT_BITS: u32 = 6;
/// The parameter of a group in which all numbers are 0 and none is written.
const ALL_ZERO: u32 = 63;
/// High parts from here on are not counted out: this many 0 bits, then [`SHIFT_BITS`] of length less 1, then the number.
const HIGH_MAX: u32 = 20;
/// Bits that a number that is written whole takes beside itself.
const WHOLE_BITS: u64 = 26;
/// Bits that can be read at once.
const PEEKED: u32 = 57;

/// Bits that [`write`] takes, but for the length of numbers written whole.
pub(super) fn cost(numbers: &[u64]) -> u64 {
    let groups = numbers.chunks(GROUP);
    groups
        .map(|group| u64::from(SHIFT_BITS) + best_shift(group).1)
        .sum()
}

/// Appends `numbers`, filled up to a whole byte.
pub(super) fn write(out: &mut Encoder, numbers: &[u64]) {
    let mut bits = BitWriter {
        out,
        pending: 0,
        count: 0,
    };
    for group in numbers.chunks(GROUP) {
        let (shift, _) = best_shift(group);
        bits.put(u64::from(shift), SHIFT_BITS);
        if shift == ALL_ZERO {
            continue;
        }
        for number in group {
            bits.rice(*number, shift);
        }
    }
    bits.finish();
}

/// Takes `count` numbers that [`write`] wrote; appends their bits to `numbers`.
pub(super) fn read(decoder: &mut Decoder<'_>, count: usize, numbers: &mut Vec<i64>) -> Result<()> {
    let mut bits = BitReader::new(decoder.remaining());
    let mut left = count;
    while left > 0 {
        let group = GROUP.min(left);
        left -= group;
        let shift = bits.take(SHIFT_BITS);
        let shift = u32::try_from(shift).unwrap_or(ALL_ZERO);
        if shift == ALL_ZERO {
            numbers.resize(numbers.len() + group, 0);
        } else {
            numbers.extend((0..group).map(|_| bits.rice(shift).cast_signed()));
        }
    }
    decoder.raw(bits.bytes())?;
    Ok(())
}

/// The parameter that makes the group shortest, and the bits it takes then.
fn best_shift(group: &[u64]) -> (u32, u64) {
    let sum = group
        .iter()
        .fold(0_u64, |sum, number| sum.saturating_add(*number));
    if sum == 0 {
        return (ALL_ZERO, 0);
    }
    let length = group.len() as u64;
    let bits = |shift: u32| {
        let highs = group.iter().map(|number| (number >> shift).min(WHOLE_BITS));
        highs.sum::<u64>() + length * u64::from(shift + 1)
    };
    // The best for an exponential distribution; a few large numbers among small ones make it start too high.
    let mut best = (sum / length)
        .checked_ilog2()
        .unwrap_or(0)
        .min(ALL_ZERO - 1);
    let mut fewest = bits(best);
    while let Some(lower) = best.checked_sub(1) {
        let taken = bits(lower);
        if taken >= fewest {
            break;
        }
        (best, fewest) = (lower, taken);
    }
    (best, fewest)
}

struct BitWriter<'o> {
    out: &'o mut Encoder,
    /// Bits not yet in `out`, fewer than 32.
    pending: u64,
    count: u32,
}

impl BitWriter<'_> {
    /// Appends the lowest `count` bits of `value`, at most 64; the bits above them must be 0.
    fn put(&mut self, value: u64, count: u32) {
        if count > 32 {
            self.put(value & u64::from(u32::MAX), 32);
            self.put(value >> 32, count - 32);
            return;
        }
        self.pending |= value << self.count;
        self.count += count;
        if self.count >= 32 {
            let [a, b, c, d, ..] = self.pending.to_le_bytes();
            self.out.raw(&[a, b, c, d]);
            self.pending >>= 32;
            self.count -= 32;
        }
    }

    fn rice(&mut self, number: u64, shift: u32) {
        let high = number >> shift;
        if high < u64::from(HIGH_MAX) {
            let high = u32::try_from(high).unwrap_or_default();
            self.put(1 << high, high + 1);
            self.put(number ^ (number >> shift << shift), shift);
        } else {
            let length = u64::BITS - number.leading_zeros();
            self.put(0, HIGH_MAX);
            self.put(u64::from(length - 1), SHIFT_BITS);
            self.put(number, length);
        }
    }

    fn finish(self) {
        let bytes = usize::try_from(self.count.div_ceil(8)).unwrap_or_default();
        let pending = self.pending.to_le_bytes();
        self.out.raw(pending.get(..bytes).unwrap_or_default());
    }
}

/// After the last byte it reads zeros; the caller compares [`Self::bytes`] with how many there were.
struct BitReader<'a> {
    bytes: &'a [u8],
    /// Bits read.
    at: usize,
}

impl<'a> BitReader<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// At least the next 57 bits.
    fn peek(&self) -> u64 {
        let rest = self.bytes.get(self.at / 8..).unwrap_or_default();
        let word = match rest.first_chunk() {
            Some(word) => u64::from_le_bytes(*word),
            None => last_word(rest),
        };
        word >> (self.at % 8)
    }

    /// The next `count` bits, at most 64.
    fn take(&mut self, count: u32) -> u64 {
        if count > 32 {
            let low = self.take(32);
            return low | self.take(count - 32) << 32;
        }
        let value = self.peek() & ((1 << count) - 1);
        self.skip(count);
        value
    }

    fn rice(&mut self, shift: u32) -> u64 {
        let word = self.peek();
        let high = word.trailing_zeros();
        if high >= HIGH_MAX {
            self.skip(HIGH_MAX);
            let length = self.take(SHIFT_BITS);
            return self.take(u32::try_from(length).unwrap_or_default() + 1);
        }
        self.skip(high + 1);
        let low = if high + 1 + shift <= PEEKED {
            self.skip(shift);
            word >> (high + 1) & ((1 << shift) - 1)
        } else {
            self.take(shift)
        };
        u64::from(high) << shift | low
    }

    fn skip(&mut self, count: u32) {
        self.at += usize::try_from(count).unwrap_or_default();
    }

    /// Bytes read, the last one in part.
    fn bytes(&self) -> usize {
        self.at.div_ceil(8)
    }
}

/// The last bytes, fewer than 8.
fn last_word(rest: &[u8]) -> u64 {
    let mut word = [0; 8];
    for (byte, stored) in word.iter_mut().zip(rest) {
        *byte = *stored;
    }
    u64::from_le_bytes(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_width_roundtrip() {
        let widths = (0..64).flat_map(|shift| [1 << shift, (1 << shift) - 1, u64::MAX >> shift]);
        let numbers: Vec<_> = widths.collect();
        let small = [vec![0; 40], vec![3; 7], vec![0, u64::MAX]].concat();
        for numbers in [numbers, small, Vec::new(), vec![0]] {
            let mut out = Encoder::default();
            write(&mut out, &numbers);
            let bytes = out.finish();
            let mut decoder = Decoder::new(&bytes);
            let mut found = Vec::new();
            read(&mut decoder, numbers.len(), &mut found).unwrap();
            assert!(
                found
                    .into_iter()
                    .map(i64::cast_unsigned)
                    .eq(numbers.iter().copied())
            );
            decoder.finish().unwrap();
            let fewer = bytes.len().saturating_sub(1);
            let mut cut = Decoder::new(&bytes[..fewer]);
            let cut = read(&mut cut, numbers.len(), &mut Vec::new());
            assert!(cut.is_err() || numbers.is_empty(), "{numbers:?}");
        }
    }

    #[test]
    fn zeros_take_six_bits_a_group() {
        let mut out = Encoder::default();
        write(&mut out, &[0; 320]);
        assert_eq!(out.finish().len(), 8);
    }
}
