//! Checking the rollups: every value can be read, and each day is in one table.

use crate::error::Result;
use crate::model::Stream;
use crate::store::table::{ALL_KEYS, Read, Step, Table};

use super::daily;
use super::hourly::{self, HourRollup};
use super::latest::{self, LatestRef};

/// Reads all rollups; reports what is wrong.
pub(crate) fn verify(read: &impl Read, broken: &mut Vec<String>) -> Result<()> {
    let text = |key: &[u8]| String::from_utf8_lossy(key).into_owned();
    latest::scan(read, ALL_KEYS, &mut |key, row| {
        row.rollup.into_rollup()?;
        if latest::key(row.name) != key {
            broken.push(format!(
                "latest values of {}: they are of {}",
                text(key),
                row.name
            ));
        }
        Ok(Step::Continue(()))
    })?;
    read.scan(Table::Daily, ALL_KEYS, |key, value| {
        daily::read_value(key, value)?.into_rollup()?;
        let (day, instance) = daily::read_key(key)?;
        let newest = read.get(Table::Latest, instance, |row| Ok(LatestRef::read(row)?.day))?;
        if newest.is_some_and(|newest| newest <= day) {
            let instance = text(instance);
            broken.push(format!(
                "rollup of {instance}: day {day} is not before its newest"
            ));
        }
        Ok(Step::Continue(()))
    })?;
    read.scan(Table::Hourly, ALL_KEYS, |key, value| {
        HourRollup::decode(value)?;
        let (stream, ..) = hourly::read_key(key)?;
        if !matches!(stream, Stream::Stats | Stream::Startup) {
            broken.push(format!("hourly rollup of {}: it has none", stream.name()));
        }
        Ok(Step::Continue(()))
    })
}
