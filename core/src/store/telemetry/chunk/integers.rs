//! A column of integers: what all of them have in common is written once, the rest as bits.
//!
//! All arithmetic is modulo 2^64, so every integer comes back as it was, however far apart they lie.

use crate::error::Result;
use crate::store::codec::{Decoder, Encoder, damaged, unzigzag, zigzag};

use super::bits;

/// The form of a column in which every integer is the first.
const SAME: u8 = 0xff;
/// Set when all steps are multiples of a divisor, which follows.
const DIVIDED: u8 = 0x10;

/// What the numbers written are, and how they bear a sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Form {
    /// The integers, above the least.
    AboveLeast = 0,
    /// The integers, around the middle one.
    AroundMiddle = 1,
    /// The steps from each to the next, around the middle step.
    Steps = 2,
}

impl Form {
    const ALL: [Self; 3] = [Self::AboveLeast, Self::AroundMiddle, Self::Steps];
}

/// Shorter columns are not tried around their middle integer: it is found at a cost, and saves them next to nothing.
const MIDDLE_MIN: usize = 32;

/// Writes columns, one after the other in the same memory.
#[derive(Debug, Default)]
pub(super) struct IntegerWriter {
    /// How far each integer but the first is from the first.
    units: Vec<i64>,
    /// The steps from each of them to the next.
    steps: Vec<i64>,
    sorted: Vec<i64>,
    /// The numbers of the form that takes the fewest bits, and of the one that is tried.
    numbers: Vec<u64>,
    tried: Vec<u64>,
}

impl IntegerWriter {
    /// Appends `values`; the reader knows how many they are.
    pub(super) fn write(&mut self, out: &mut Encoder, values: &[i64]) {
        let Some((first, rest)) = values.split_first() else {
            return;
        };
        if rest.iter().all(|value| value == first) {
            write_alike(out, *first, values.len());
            return;
        }
        let divisor = self.take_units(*first, rest);
        let (form, from) = self.best();
        let divided = if divisor == 1 { 0 } else { DIVIDED };
        out.u8(form as u8 | divided);
        out.signed(*first);
        if divisor != 1 {
            out.signed(divisor);
        }
        out.signed(from);
        bits::write(out, &self.numbers);
    }

    /// Takes how far each of `rest` is from `first`, in units of their greatest common divisor, which it returns.
    fn take_units(&mut self, first: i64, rest: &[i64]) -> i64 {
        self.units.clear();
        let units = rest.iter().map(|value| value.wrapping_sub(first));
        self.units.extend(units);
        let mut divisor = 0_u64;
        for unit in &self.units {
            divisor = common_divisor(divisor, unit.unsigned_abs());
            if divisor == 1 {
                break;
            }
        }
        // One of 2^63 does not fit, and saves nothing.
        let divisor = i64::try_from(divisor).unwrap_or(1);
        if divisor > 1 {
            for unit in &mut self.units {
                *unit = unit.wrapping_div(divisor);
            }
        }
        divisor
    }

    /// Leaves the numbers that take the fewest bits in `numbers`; returns their form and what they are counted from.
    fn best(&mut self) -> (Form, i64) {
        self.steps.clear();
        let before = std::iter::once(&0).chain(&self.units);
        let steps = self.units.iter().zip(before);
        self.steps
            .extend(steps.map(|(unit, before)| unit.wrapping_sub(*before)));
        let from = middle(&mut self.sorted, &self.steps);
        around(&mut self.numbers, &self.steps, from);
        let mut best = (Form::Steps, from);
        let mut fewest = bits::cost(&self.numbers);
        let is_long = self.units.len() >= MIDDLE_MIN;
        let others = [
            Some(Form::AboveLeast),
            is_long.then_some(Form::AroundMiddle),
        ];
        for form in others.into_iter().flatten() {
            let from = if form == Form::AboveLeast {
                let least = self.units.iter().copied().min().unwrap_or_default();
                let above = |unit: &i64| unit.wrapping_sub(least).cast_unsigned();
                self.tried.clear();
                self.tried.extend(self.units.iter().map(above));
                least
            } else {
                let middle = middle(&mut self.sorted, &self.units);
                around(&mut self.tried, &self.units, middle);
                middle
            };
            let taken = bits::cost(&self.tried);
            if taken < fewest {
                (best, fewest) = ((form, from), taken);
                std::mem::swap(&mut self.numbers, &mut self.tried);
            }
        }
        best
    }
}

/// Appends `count` times `value`, at least once.
pub(super) fn write_alike(out: &mut Encoder, value: i64, count: usize) {
    if count > 1 {
        out.u8(SAME);
    }
    out.signed(value);
}

/// Puts into `numbers` how far `values` are from one in their middle.
fn around(numbers: &mut Vec<u64>, values: &[i64], middle: i64) {
    numbers.clear();
    let values = values.iter();
    numbers.extend(values.map(|value| zigzag(value.wrapping_sub(middle))));
}

/// The median: a gap or a restart does not move it.
fn middle(sorted: &mut Vec<i64>, values: &[i64]) -> i64 {
    sorted.clear();
    sorted.extend_from_slice(values);
    let half = values.len() / 2;
    if values.is_empty() {
        return 0;
    }
    *sorted.select_nth_unstable(half).1
}

fn common_divisor(mut a: u64, mut b: u64) -> u64 {
    while let Some(rest) = b.checked_rem(a) {
        (a, b) = (rest, a);
    }
    b
}

/// Takes `count` integers that an [`IntegerWriter`] wrote. The caller bounds `count`: a column of one integer, however often, is short.
pub(super) fn read(decoder: &mut Decoder<'_>, count: usize) -> Result<Vec<i64>> {
    let Some(rest) = count.checked_sub(1) else {
        return Ok(Vec::new());
    };
    if rest == 0 {
        return Ok(vec![decoder.signed()?]);
    }
    let form = decoder.u8()?;
    let first = decoder.signed()?;
    if form == SAME {
        return Ok(vec![first; count]);
    }
    let divisor = if form & DIVIDED == 0 {
        1
    } else {
        decoder.signed()?
    };
    let form = Form::ALL
        .get(usize::from(form & !DIVIDED))
        .ok_or_else(damaged)?;
    let from = decoder.signed()?;
    let mut values = Vec::with_capacity(count);
    values.push(first);
    bits::read(decoder, rest, &mut values)?;
    let value = |unit: i64| first.wrapping_add(unit.wrapping_mul(divisor));
    let numbers = values.iter_mut().skip(1);
    let mut unit = 0_i64;
    match form {
        Form::AboveLeast => {
            numbers.for_each(|number| *number = value(from.wrapping_add(*number)));
        }
        Form::AroundMiddle => numbers.for_each(|number| {
            *number = value(from.wrapping_add(unzigzag(number.cast_unsigned())));
        }),
        Form::Steps => numbers.for_each(|number| {
            let step = from.wrapping_add(unzigzag(number.cast_unsigned()));
            unit = unit.wrapping_add(step);
            *number = value(unit);
        }),
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(values: &[i64]) -> Vec<u8> {
        let mut out = Encoder::default();
        IntegerWriter::default().write(&mut out, values);
        let bytes = out.finish();
        let mut decoder = Decoder::new(&bytes);
        assert_eq!(read(&mut decoder, values.len()).unwrap(), values);
        decoder.finish().unwrap();
        bytes
    }

    #[test]
    fn integers_of_the_whole_range_roundtrip() {
        let ends = [i64::MAX, i64::MIN, 0, -1, 1, i64::MIN + 1];
        for length in 0..=ends.len() {
            written(&ends[..length]);
        }
        written(&[0, i64::MIN]);
        written(&[i64::MIN, 0, i64::MIN, 0]);
        written(&[i64::MAX, i64::MIN, i64::MAX, i64::MIN]);
    }

    #[test]
    fn regular_integers_take_few_bytes() {
        let line: Vec<_> = (0..300).map(|i| 7 + 3 * i).collect();
        assert!(written(&line).len() <= 12);
        assert_eq!(written(&[1 << 40; 300]).len(), 7);
        let pages: Vec<_> = (0..300).map(|i| (i * 7919 % 16) * 4096).collect();
        assert!(written(&pages).len() <= 300 * 5 / 8 + 16);
        let gap: Vec<_> = (0..300)
            .map(|i| i + if i > 99 { 1 << 50 } else { 0 })
            .collect();
        assert!(written(&gap).len() <= 40);
    }
}
