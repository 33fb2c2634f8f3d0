//! The block: how telemetry records are written in the queue, as they come. See `core/docs/format.md`.
//!
//! The records of one commit are much alike, though of different desktops: what a field has in common with the same
//! field of the previous record is not written again.

mod decode;
mod encode;
#[cfg(test)]
mod tests;

pub(super) use decode::{counts, decode_into};
pub(super) use encode::BlockEncoder;

use crate::model::{FieldSpec, Stream};

const VERSION: u8 = 1;
/// Offset of the count of records and the bytes of texts in a block: after the version.
const COUNTS_AT: usize = 1;

// The first byte of a record: the number of its stream, and:
/// The record is filed at its time of receipt, not at the time it carries.
const FILED_AT_RECEIPT: u8 = 0x80;
/// Its presence is that of the previous record of the same stream.
const SAME_PRESENCE: u8 = 0x40;

/// Of two bits of presence, besides those that rows have: the last value of this field in the block again.
const AGAIN: u64 = 3;

/// What integers are written in where they are whole numbers of it.
#[derive(Debug, Clone, Copy)]
struct Units {
    small: i64,
    large: i64,
}

/// Of 64-bit integers: pages of memory and clusters of a volume; the sizes of those.
const BYTES: Units = Units {
    small: 4096,
    large: 1 << 30,
};
/// Of times, in ticks: milliseconds and seconds.
const TICKS: Units = Units {
    small: 10_000,
    large: 10_000_000,
};
// The lowest bits of an integer that has units:
const IN_SMALL: u64 = 0b1;
const IN_LARGE: u64 = 0b10;
/// Precedes an integer too large for those two bits beside it.
const WIDE: u64 = u64::MAX;
/// Numbers of up to two decimals are written in hundredths, or in whole.
const HUNDREDTHS: i32 = 100;
/// Integers of which a double holds each one.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// The kinds of tables a block holds records of: the four streams, and process items.
const KINDS: usize = Stream::ALL.len() + 1;
const PROCESS_ITEM: usize = KINDS - 1;
/// As many fields as 64 bits of presence have room for.
const FIELDS_MAX: usize = 32;

#[expect(
    clippy::cast_precision_loss,
    reason = "only integers that a double holds exactly are written"
)]
fn of_hundredths(hundredths: i64) -> f64 {
    hundredths as f64 / f64::from(HUNDREDTHS)
}

fn kind_of(stream: Stream) -> usize {
    usize::from(stream.number() - 1)
}

fn presence_bytes(specs: &[FieldSpec]) -> usize {
    (2 * specs.len()).div_ceil(8)
}

/// What was last written of the fields of one kind.
#[derive(Debug, Clone, Copy)]
struct Last {
    /// Of the last record, if there was one.
    presence: Option<u64>,
    /// A bit for each field that had a value.
    had_value: u32,
    /// The values: integers, ticks, the bits of floats, the numbers of texts.
    values: [u64; FIELDS_MAX],
}

impl Last {
    const NOTHING: Self = Self {
        presence: None,
        had_value: 0,
        values: [0; FIELDS_MAX],
    };

    fn get(&self, index: usize) -> Option<u64> {
        let had = self.had_value >> index & 1 == 1;
        self.values.get(index).copied().filter(|_| had)
    }

    fn set(&mut self, index: usize, value: u64) {
        if let Some(place) = self.values.get_mut(index) {
            *place = value;
            self.had_value |= 1 << index;
        }
    }
}
