//! Checking the parts.

use crate::error::Result;
use crate::model::{Received, history_order};
use crate::store::table::{ALL_KEYS, Read, Step, Table};
use crate::store::telemetry::columns;
use crate::timestamp::Timestamp;

use super::{bucket_prefix, part_name, split_part};

/// Checks every part and counts the records.
pub(crate) fn verify(read: &impl Read, mut broken: impl FnMut(String)) -> Result<u64> {
    let mut records = 0;
    read.scan(Table::History, ALL_KEYS, |key, value| {
        let decoded = split_part(value).and_then(|(first, last, chunk)| {
            let records = columns::decode(chunk, Timestamp::MIN, Timestamp::MAX)?;
            Ok((first, last, records))
        });
        match decoded {
            Ok((first, last, decoded)) => {
                records += decoded.len() as u64;
                let sorted = decoded.is_sorted_by_key(history_order);
                let spanned = decoded.first().map(|r| r.filed_at) == Some(first)
                    && decoded.last().map(|r| r.filed_at) == Some(last);
                let placed = decoded
                    .iter()
                    .all(|record| key.starts_with(&prefix_of(record)));
                if !(sorted && spanned && placed) {
                    broken(format!("{}: records out of place", part_name(key)));
                }
            }
            Err(error) => broken(format!("{}: {error}", part_name(key))),
        }
        Ok(Step::Continue(()))
    })?;
    Ok(records)
}

fn prefix_of(received: &Received) -> Vec<u8> {
    let record = &received.record;
    bucket_prefix(
        record.stream(),
        received.filed_at.day(),
        record.instance_id(),
    )
}
