//! The keys of rollups, where a file was written with another folding: rows of names that are one now are added up.

use crate::error::Result;
use crate::model::identity::folded;
use crate::store::table::{ALL_KEYS, Read as _, Step, Table, Tables};
use crate::store::telemetry::key_name;

use super::daily;
use super::day::DayRollup;
use super::latest::{self, Latest, LatestRef};

/// Moves the rows whose key is not that of their name.
pub(crate) fn fold_again(tables: &Tables<'_>) -> Result<()> {
    let mut instances = Vec::new();
    latest::scan(tables, ALL_KEYS, &mut |key, row| {
        if latest::key(row.name) != key {
            instances.push((key.to_vec(), latest::key(row.name)));
        }
        Ok(Step::Continue(()))
    })?;
    for (old, new) in instances {
        let Some(row) = Latest::get(tables, &old)? else {
            continue;
        };
        tables.remove(Table::Latest, &old)?;
        match Latest::get(tables, &new)? {
            None => tables.put(Table::Latest, &new, &row.encode())?,
            Some(mut other) => {
                let (day, rollup) = other.merge(row);
                tables.put(Table::Latest, &new, &other.encode())?;
                add_day(tables, &new, day, &rollup)?;
            }
        }
    }
    let mut days = Vec::new();
    tables.scan(Table::Daily, ALL_KEYS, |key, _| {
        let (day, instance) = daily::place(key)?;
        // The key of a name that is too long is a digest, which stays as it is.
        if let Ok(name) = std::str::from_utf8(instance) {
            let new = key_name(&folded(name));
            if new != instance {
                days.push((key.to_vec(), new, day));
            }
        }
        Ok(Step::Continue(()))
    })?;
    for (old, new, day) in days {
        if let Some(rollup) = daily::get(tables, &old)? {
            tables.remove(Table::Daily, &old)?;
            add_day(tables, &new, day, &rollup)?;
        }
    }
    Ok(())
}

/// Adds a day to that of an instance, wherever it is.
fn add_day(tables: &Tables<'_>, instance: &[u8], day: u32, rollup: &DayRollup) -> Result<()> {
    let newest = tables.get(Table::Latest, instance, |row| Ok(LatestRef::read(row)?.day))?;
    if newest == Some(day)
        && let Some(mut latest) = Latest::get(tables, instance)?
    {
        latest.rollup.merge(rollup);
        return tables.put(Table::Latest, instance, &latest.encode());
    }
    let key = daily::key(day, instance);
    let mut known = daily::get(tables, &key)?.unwrap_or_default();
    known.merge(rollup);
    if known == DayRollup::default() {
        return Ok(());
    }
    tables.put(Table::Daily, &key, &daily::encode(&known))
}
