//! Visiting parts by the times that they span.

use crate::error::Result;
use crate::model::Stream;
use crate::store::table::{Read, Step};
use crate::store::telemetry::chunk;
use crate::store::telemetry::rows::Rows;
use crate::timestamp::Timestamp;

use super::{bucket_prefix, day_prefix, scan_prefix, split_part};

/// A part that was not read yet.
#[derive(Debug, Clone, Copy)]
pub(in crate::store::telemetry) struct Span<'v> {
    /// The earliest filed time in it.
    pub(in crate::store::telemetry) first: Timestamp,
    /// The latest.
    pub(in crate::store::telemetry) last: Timestamp,
    chunk: &'v [u8],
}

impl Span<'_> {
    /// How many records it holds.
    pub(in crate::store::telemetry) fn records(&self) -> Result<usize> {
        chunk::count(self.chunk)
    }

    /// Whether any of its records was filed from `from` to `to`, both inclusive.
    pub(in crate::store::telemetry) fn any_filed(
        &self,
        from: Timestamp,
        to: Timestamp,
    ) -> Result<bool> {
        let within = |time: Timestamp| time >= from && time <= to;
        if self.first > to || self.last < from || within(self.first) || within(self.last) {
            return Ok(self.first <= to && self.last >= from);
        }
        // It spans all of that time. With two records that says all, else their times do.
        if self.records()? <= 2 {
            return Ok(false);
        }
        let mut orders = chunk::orders(self.chunk)?.into_iter();
        Ok(orders.any(|(filed_at, _)| within(filed_at)))
    }

    /// Puts its records into `rows`, in place of what is there.
    pub(in crate::store::telemetry) fn read(&self, rows: &mut Rows) -> Result<()> {
        rows.clear();
        chunk::decode_into(self.chunk, rows)
    }
}

/// Visits the parts of one day of a stream, of every instance.
pub(in crate::store::telemetry) fn scan_day(
    read: &impl Read,
    (stream, day): (Stream, u32),
    visit: impl FnMut(Span<'_>) -> Result<()>,
) -> Result<()> {
    scan(read, &day_prefix(stream, day), visit)
}

/// Visits the parts of one instance on one day.
pub(in crate::store::telemetry) fn scan_bucket(
    read: &impl Read,
    (stream, day): (Stream, u32),
    instance: &str,
    visit: impl FnMut(Span<'_>) -> Result<()>,
) -> Result<()> {
    scan(read, &bucket_prefix(stream, day, instance), visit)
}

fn scan(
    read: &impl Read,
    prefix: &[u8],
    mut visit: impl FnMut(Span<'_>) -> Result<()>,
) -> Result<()> {
    scan_prefix(read, prefix, |_, value| {
        let (first, last, chunk) = split_part(value)?;
        visit(Span { first, last, chunk })?;
        Ok(Step::Continue(()))
    })
}
