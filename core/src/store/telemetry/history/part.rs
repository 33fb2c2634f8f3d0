//! A part: the first and the last filed time in it, then a chunk.

use crate::error::Result;
use crate::limits::{CHUNK_BYTES_MAX, CHUNK_RECORDS_MAX};
use crate::store::codec::{Decoder, Encoder};
use crate::store::telemetry::chunk::{self, ChunkWriter};
use crate::store::telemetry::rows::{HistoryOrder, Rows};
use crate::timestamp::Timestamp;

use super::key::part_number;

/// A part as it is stored, its records not read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoredPart<'v> {
    pub(crate) key: &'v [u8],
    /// The earliest filed time in it.
    pub(crate) first: Timestamp,
    /// The latest.
    pub(crate) last: Timestamp,
    chunk: &'v [u8],
}

/// What precedes the chunk.
const TIMES_BYTES: usize = 16;

impl<'v> StoredPart<'v> {
    pub(crate) fn read(key: &'v [u8], value: &'v [u8]) -> Result<Self> {
        let mut decoder = Decoder::new(value);
        let mut time = || -> Result<Timestamp> {
            Ok(Timestamp::from_ticks(i64::from_le_bytes(decoder.array()?)))
        };
        let (first, last) = (time()?, time()?);
        Ok(Self {
            key,
            first,
            last,
            chunk: decoder.remaining(),
        })
    }

    /// Its number in its bucket.
    pub(crate) fn number(&self) -> Result<u32> {
        part_number(self.key)
    }

    /// How many records it holds.
    pub(crate) fn records(&self) -> Result<usize> {
        chunk::count(self.chunk)
    }

    /// The order of each record, sorted.
    pub(crate) fn orders(&self) -> Result<Vec<HistoryOrder>> {
        chunk::orders(self.chunk)
    }

    /// The times that its records carry, `None` for those that carry none.
    pub(crate) fn sent_times(&self) -> Result<Vec<Option<Timestamp>>> {
        chunk::sent_times(self.chunk)
    }

    /// The names of instances and of users in its records, each once.
    pub(crate) fn names(&self) -> Result<[Vec<&'v str>; 2]> {
        chunk::names(self.chunk)
    }

    /// Adds its records to `rows`.
    pub(crate) fn add_to(&self, rows: &mut Rows) -> Result<()> {
        chunk::decode_into(self.chunk, rows)
    }

    pub(super) fn head(&self) -> Result<PartHead> {
        Ok(PartHead {
            key: self.key.to_vec(),
            number: self.number()?,
            records: self.records()?,
            bytes: TIMES_BYTES + self.chunk.len(),
            first: self.first,
            last: self.last,
        })
    }

    pub(super) fn value(&self) -> PartValue {
        PartValue(self.chunk.to_vec())
    }
}

/// The records of a part that filing may merge with others.
#[derive(Debug)]
pub(in crate::store::telemetry) struct PartValue(Vec<u8>);

impl PartValue {
    /// Adds them to `rows`.
    pub(in crate::store::telemetry) fn add_to(&self, rows: &mut Rows) -> Result<()> {
        chunk::decode_into(&self.0, rows)
    }
}

/// What the key and the first bytes of a part say.
#[derive(Debug, Clone)]
pub(in crate::store::telemetry) struct PartHead {
    pub(in crate::store::telemetry) key: Vec<u8>,
    pub(in crate::store::telemetry) number: u32,
    pub(in crate::store::telemetry) records: usize,
    bytes: usize,
    first: Timestamp,
    last: Timestamp,
}

impl PartHead {
    /// Whether it may hold something filed within `span`, if one is given.
    pub(super) fn meets(&self, span: Option<(Timestamp, Timestamp)>) -> bool {
        span.is_none_or(|(from, to)| self.first <= to && self.last >= from)
    }

    /// Whether filing may merge the part with `records` new ones: it has room, and no more of them. One that ends at its bytes
    /// is a little shorter than it may be.
    pub(in crate::store::telemetry) fn may_take(&self, records: usize) -> bool {
        let has_room = self.records < CHUNK_RECORDS_MAX && self.bytes < CHUNK_BYTES_MAX / 4 * 3;
        has_room && self.records <= records
    }
}

/// Writes parts, one after the other in the same memory.
#[derive(Debug, Default)]
pub(in crate::store::telemetry) struct PartWriter(ChunkWriter);

impl PartWriter {
    /// A part of as many of the `rows` in `order` as one takes, and the rest of these.
    pub(in crate::store::telemetry) fn write<'o>(
        &mut self,
        rows: &Rows,
        order: &'o [u32],
    ) -> (Vec<u8>, &'o [u32]) {
        let mut count = chunk::fitting(rows, order);
        loop {
            let (part, rest) = order.split_at_checked(count).unwrap_or((order, &[]));
            let value = self.write_all(rows, part);
            if value.len() <= CHUNK_BYTES_MAX || count <= 1 {
                return (value, rest);
            }
            // A few less than would fit if all were equally long; again, if those are longer than the others.
            count = (count * CHUNK_BYTES_MAX / value.len() * 63 / 64).clamp(1, count - 1);
        }
    }

    fn write_all(&mut self, rows: &Rows, order: &[u32]) -> Vec<u8> {
        let time = |row: Option<&u32>| {
            row.map_or([0; 8], |row| {
                rows.filed_at(*row as usize).ticks().to_le_bytes()
            })
        };
        let mut out = Encoder::with_capacity(512 + 24 * order.len());
        out.raw(&time(order.first()));
        out.raw(&time(order.last()));
        self.0.write(&mut out, rows, order);
        out.finish()
    }
}
