//! What a removal leaves out of filing.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::error::Result;
use crate::model::Stream;
use crate::model::identity::folded;
use crate::store::held_names::HeldNames;
use crate::store::table::Read;

use super::history;
use super::rows::Rows;

/// Returns whether a record of the queue is not filed but removed, by the names on hold.
pub(crate) type Omit<'o> = &'o dyn Fn(&HeldNames, &Rows, usize) -> bool;

/// What a pass leaves out, by the names that were on hold when it began.
pub(crate) struct Removal<'o> {
    pub(crate) omit: Omit<'o>,
    pub(crate) held: Arc<HeldNames>,
}

impl Removal<'_> {
    pub(super) fn has(&self, rows: &Rows, row: usize) -> bool {
        (self.omit)(&self.held, rows, row)
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
