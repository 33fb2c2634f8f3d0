//! The records that a removal leaves out of filing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::error::Result;
use crate::model::Stream;
use crate::model::identity::folded;
use crate::store::fleet::held_names::HeldNames;
use crate::store::table::Read;

use super::history;
use super::rows::Rows;

/// A function that returns whether a record of the queue is removed instead of filed, given the names on hold.
pub(crate) type Omit<'o> = &'o dyn Fn(&HeldNames, &Rows, usize) -> bool;

/// The records that a pass leaves out, by the names on hold when it began.
pub(crate) struct Removal<'o> {
    pub(crate) omit: Omit<'o>,
    pub(crate) held: Arc<HeldNames>,
}

impl Removal<'_> {
    /// Drops the rows that are left out.
    pub(super) fn drop_from(&self, rows: &mut Rows) -> Omitted {
        let mut omitted = Omitted::default();
        rows.drop_where(0, |rows, row| {
            let is_omitted = (self.omit)(&self.held, rows, row);
            if is_omitted {
                let bucket = history::bucket_prefix(rows.bucket(row));
                *omitted.0.entry(bucket).or_default() += 1;
            }
            is_omitted
        });
        omitted
    }
}

/// The number of records that a pass leaves out of each bucket.
#[derive(Debug, Default)]
pub(super) struct Omitted(BTreeMap<Vec<u8>, u64>);

impl Omitted {
    /// Those of all buckets.
    pub(super) fn all(&self) -> u64 {
        self.0.values().sum()
    }

    /// The number in the buckets that are filed when the pass has reached `bucket`.
    pub(super) fn until(&self, bucket: &[u8]) -> u64 {
        let filed = self
            .0
            .iter()
            .take_while(|(omitted, _)| &***omitted <= bucket);
        filed.map(|(_, count)| count).sum()
    }
}

/// The names under which history has records of an instance in a stream, the given one included: rollups have one row for all of them. One
/// that is too long to be in a key as it is, is found by the same name alone.
pub(crate) fn spellings(
    read: &impl Read,
    stream: Stream,
    instance: &str,
) -> Result<BTreeSet<String>> {
    let (wanted, mut names) = (folded(instance), BTreeSet::from([instance.to_owned()]));
    let mut last: Option<Vec<u8>> = None;
    while let Some(bucket) =
        history::next_bucket(read, stream, (0, u32::MAX), None, last.as_deref())?
    {
        let name = history::bucket_name(&bucket);
        names.extend(
            name.filter(|name| folded(name) == wanted)
                .map(str::to_owned),
        );
        last = Some(bucket);
    }
    Ok(names)
}
