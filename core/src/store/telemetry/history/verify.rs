//! Checking the parts.

use crate::error::Result;
use crate::store::table::{ALL_KEYS, Read, Step, Table};
use crate::store::telemetry::rows::Rows;

use super::key::{bucket_prefix, part_name};
use super::part::StoredPart;

/// Checks every part and counts the records.
pub(crate) fn verify(read: &impl Read, mut broken: impl FnMut(String)) -> Result<u64> {
    let mut records = 0;
    let mut rows = Rows::default();
    read.scan(Table::History, ALL_KEYS, |key, value| {
        rows.clear();
        match is_in_place(key, value, &mut rows) {
            Ok(in_place) => {
                records += rows.len() as u64;
                if !in_place {
                    broken(format!("{}: records out of place", part_name(key)));
                }
            }
            Err(error) => broken(format!("{}: {error}", part_name(key))),
        }
        Ok(Step::Continue(()))
    })?;
    Ok(records)
}

/// Reads a part into `rows`; returns whether its records are in order and where its key and its head say.
fn is_in_place(key: &[u8], value: &[u8], rows: &mut Rows) -> Result<bool> {
    let part = StoredPart::read(key, value)?;
    part.add_to(rows)?;
    let all = rows.all();
    let filed = |row: Option<&u32>| row.map(|row| rows.filed_at(*row as usize));
    let is_placed = |row: &u32| key.starts_with(&bucket_prefix(rows.bucket(*row as usize)));
    Ok(all.is_sorted_by_key(|row| rows.order(*row as usize))
        && (filed(all.first()), filed(all.last())) == (Some(part.first), Some(part.last))
        && all.iter().all(is_placed))
}
