//! The block: how telemetry records are written in the queue, as they come. See `core/docs/format.md`.
//!
//! The records of one commit are much alike, though of different desktops: a field stores only its difference from the same field
//! of the previous record.

mod decode;
mod encode;
#[cfg(test)]
mod tests;

pub(super) use decode::{counts, decode_into, received_at};
pub(super) use encode::BlockEncoder;

use crate::model::{FIELDS_MAX, ProcessItem, Stream};

const VERSION: u8 = 1;
/// Offset of the count of records and the bytes of texts in a block: after the version.
const COUNTS_AT: usize = 1;

// The first byte of a record: the number of its stream, and:
/// The record is filed at its time of receipt, not at the time it carries.
const FILED_AT_RECEIPT: u8 = 0x80;
/// Its presence is that of the previous record of the same stream.
const SAME_PRESENCE: u8 = 0x40;

/// Presence of a field with the same value as before in this block. Rows do not have it.
const AGAIN: u64 = 3;

/// The units in which integers are written when they are multiples of one.
#[derive(Debug, Clone, Copy)]
struct Units {
    small: i64,
    large: i64,
}

/// For 64-bit integers: memory pages and volume clusters; memory and volume sizes.
const BYTES: Units = Units {
    small: 4096,
    large: 1 << 30,
};
/// For times, in ticks: milliseconds and seconds.
const TICKS: Units = Units {
    small: 10_000,
    large: 10_000_000,
};
// The lowest bits of an integer that has units:
const IN_SMALL: u64 = 0b1;
const IN_LARGE: u64 = 0b10;
/// Precedes an integer that does not fit beside those two bits.
const WIDE: u64 = u64::MAX;
/// Numbers of up to two decimals are written in hundredths, or in whole.
const HUNDREDTHS: i32 = 100;
/// Up to this, a double holds every integer.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// The kinds of tables a block holds records of: the four streams, and process items.
const KINDS: usize = Stream::ALL.len() + 1;
const PROCESS_ITEM: usize = KINDS - 1;
/// Bytes of presence, by kind. They belong to the version: a field for which they have no room takes another one.
const PRESENCE_BYTES: [usize; KINDS] = [6, 2, 3, 2, 2];

const _: () = {
    let (mut streams, mut bytes): (&[Stream], &[usize]) = (&Stream::ALL, &PRESENCE_BYTES);
    while let ([stream, other_streams @ ..], [first, others @ ..]) = (streams, bytes) {
        assert!(2 * stream.fields().len() <= 8 * *first);
        (streams, bytes) = (other_streams, others);
    }
    assert!(matches!(bytes, [last] if 2 * ProcessItem::FIELDS.len() <= 8 * *last));
};

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

fn presence_bytes(kind: usize) -> usize {
    PRESENCE_BYTES.get(kind).copied().unwrap_or_default()
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
