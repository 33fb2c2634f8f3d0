//! Count, sum, least and greatest of values.

use crate::error::Result;
use crate::store::codec::{Decoder, Encoder, damaged};

/// Count, sum, least and greatest of values, all 0 where there are none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    pub(crate) count: u64,
    pub(crate) sum: i64,
    pub(crate) min: i64,
    pub(crate) max: i64,
}

impl Summary {
    /// Adds a value.
    pub(crate) fn add(&mut self, value: i64) {
        let first = self.count == 0;
        self.min = if first { value } else { self.min.min(value) };
        self.max = if first { value } else { self.max.max(value) };
        self.count = self.count.saturating_add(1);
        self.sum = self.sum.saturating_add(value);
    }

    /// Adds all of `other`.
    pub(crate) fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            *self = *other;
            return;
        }
        self.count = self.count.saturating_add(other.count);
        self.sum = self.sum.saturating_add(other.sum);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// The mean; `None` without values.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a mean is no more exact than a double"
    )]
    pub(crate) fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// The count, and where it is not 0 the least, how far the greatest is above it, and the sum.
    pub(super) fn encode(&self, encoder: &mut Encoder) {
        encoder.varint(self.count);
        if self.count > 0 {
            encoder.signed(self.min);
            encoder.varint(self.max.wrapping_sub(self.min).cast_unsigned());
            encoder.signed(self.sum);
        }
    }

    pub(super) fn decode(decoder: &mut Decoder<'_>) -> Result<Self> {
        let count = decoder.varint()?;
        if count == 0 {
            return Ok(Self::default());
        }
        let min = decoder.signed()?;
        let max = min.wrapping_add(decoder.varint()?.cast_signed());
        if max < min {
            return Err(damaged());
        }
        let sum = decoder.signed()?;
        Ok(Self {
            count,
            sum,
            min,
            max,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_whose_greatest_value_is_below_its_least_is_damaged() {
        let mut encoder = Encoder::default();
        encoder.varint(2);
        encoder.signed(i64::MAX);
        encoder.varint(1);
        encoder.signed(0);
        assert!(Summary::decode(&mut Decoder::new(&encoder.finish())).is_err());
    }
}
