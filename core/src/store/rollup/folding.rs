//! Rebuilding the keys of rollups, for a file that was written with another folding: rows whose names are now equal are added up.

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
        latest::remove(tables, &old)?;
        match Latest::get(tables, &new)? {
            None => latest::put(tables, &new, &row.encode())?,
            Some(mut other) => {
                let (day, rollup) = other.merge(row);
                latest::put(tables, &new, &other.encode())?;
                add_day(tables, &new, day, &rollup)?;
            }
        }
    }
    let mut days = Vec::new();
    tables.scan(Table::Daily, ALL_KEYS, |key, _| {
        let (day, instance) = daily::read_key(key)?;
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
        return latest::put(tables, instance, &latest.encode());
    }
    let key = daily::key(day, instance);
    let mut known = daily::get(tables, &key)?.unwrap_or_default();
    known.merge(rollup);
    if known == DayRollup::default() {
        return Ok(());
    }
    tables.put(Table::Daily, &key, &daily::encode(&known))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::model::WriteClass;
    use crate::store::{Store, StoreOptions};
    use crate::timestamp::Timestamp;

    fn time_at(seconds: i64) -> Timestamp {
        Timestamp::from_unix_seconds(seconds)
    }

    /// The number of rows after each of some times, in memory and in the file.
    fn seen(store: &Store) -> [[u64; 3]; 2] {
        let times = [time_at(0), time_at(150), time_at(250)];
        let all = latest::all_seen(&store.snapshot().unwrap()).unwrap();
        let later = |time: Timestamp| {
            let later = all.iter().filter(|seen| **seen > time.ordered_ticks());
            later.count() as u64
        };
        [store.seen_after(times).unwrap(), times.map(later)]
    }

    #[test]
    fn times_of_rows_that_are_folded_into_one_are_that_of_the_newest() {
        let options = StoreOptions::from_config(&Config::default(), time_at(0));
        let store = Store::open_in_memory(options).unwrap();
        let put = |names: &[(&str, &str, i64)]| {
            let written = store.write(WriteClass::Fleet, |tables| {
                names.iter().try_for_each(|(key, name, seconds)| {
                    let mut row = Latest::new(name, 1);
                    row.note_time(time_at(*seconds));
                    latest::put(tables, key.as_bytes(), &row.encode())
                })
            });
            written.unwrap();
        };
        put(&[("other", "Other", 100)]);
        assert_eq!(seen(&store), [[1, 0, 0]; 2]);
        // Of another folding, which kept the case.
        put(&[
            ("PC-1", "PC-1", 200),
            ("pc-1", "pc-1", 300),
            ("Pc-1", "Pc-1", 100),
            ("PC-2", "PC-2", 200),
        ]);
        assert_eq!(seen(&store), [[5, 3, 1]; 2]);
        store
            .write(WriteClass::Fleet, |tables| fold_again(tables))
            .unwrap();
        assert_eq!(seen(&store), [[3, 2, 1]; 2]);
        let failed = store.write(WriteClass::Fleet, |tables| {
            latest::remove(tables, b"pc-1")?;
            Err::<(), _>(crate::store::codec::damaged())
        });
        assert!(failed.is_err());
        assert_eq!(seen(&store), [[3, 2, 1]; 2]);
        store
            .write(WriteClass::Fleet, |tables| latest::remove(tables, b"pc-1"))
            .unwrap();
        assert_eq!(seen(&store), [[2, 1, 0]; 2]);
    }
}
