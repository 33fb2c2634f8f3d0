//! Reading as much of a day as is wanted.

use std::ops::Bound;

use crate::error::Result;
use crate::model::Stream;
use crate::store::table::{Read, Step, Table, after_prefix};
use crate::store::telemetry::rows::Bucket;

use super::key::{bucket_prefix, day_prefix};
use super::part::StoredPart;

/// Visits the parts of one day of a stream, of one instance or of every one, until `visit` breaks.
pub(crate) fn visit_day(
    read: &impl Read,
    stream: Stream,
    day: u32,
    instance: Option<&str>,
    visit: &mut dyn FnMut(StoredPart<'_>) -> Result<Step>,
) -> Result<()> {
    let bucket = |instance| Bucket {
        stream,
        day,
        instance,
    };
    let start = match instance {
        Some(instance) => bucket_prefix(bucket(instance)),
        None => day_prefix(stream, day),
    };
    let end = after_prefix(&start);
    let end = end.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
    read.scan(
        Table::History,
        (Bound::Included(&*start), end),
        |key, value| visit(StoredPart::read(key, value)?),
    )
}
