//! Removing rollups that are too old. What names a held workspace or its user is kept, as its records are.

use crate::domain::retention::first_day_kept;
use crate::error::Result;
use crate::limits::{MAINTENANCE_ROWS_MAX, ROLLUP_USERS_MAX};
use crate::store::held::HeldNames;
use crate::store::rollup::{DayRef, daily, hourly, latest};
use crate::store::table::{Step, Table, after_key};
use crate::timestamp::Timestamp;

use super::Context;

impl Context<'_, '_> {
    fn first_rollup_kept(&self, now: Timestamp) -> u32 {
        first_day_kept(now, self.config.retention_days.rollups)
    }

    /// Removes days after the key `after`; returns the last key, if there is more to do.
    pub(super) fn drop_daily(
        &mut self,
        now: Timestamp,
        after: Option<&[u8]>,
    ) -> Result<Option<Vec<u8>>> {
        let first_kept = self.first_rollup_kept(now);
        let held = HeldNames::read(self.tables)?;
        let mut step = Dropping::default();
        daily::scan_before(self.tables, first_kept, after, |key, instance, day| {
            let is_old = !is_held(&held, &String::from_utf8_lossy(instance), &day)?;
            Ok(step.note(key, is_old))
        })?;
        self.remove_all(Table::Daily, &step.old)?;
        Ok(step.goes_on_after())
    }

    /// Removes hours; returns whether there is more to do.
    pub(super) fn drop_hourly(&mut self, now: Timestamp) -> Result<bool> {
        let old = hourly::keys_before(
            self.tables,
            self.first_rollup_kept(now),
            MAINTENANCE_ROWS_MAX,
        )?;
        self.remove_all(Table::Hourly, &old)?;
        Ok(old.len() == MAINTENANCE_ROWS_MAX)
    }

    /// Removes what is known of instances after the key `after` that sent nothing for long; returns the last key, if there is more to
    /// do.
    pub(super) fn drop_latest(
        &mut self,
        now: Timestamp,
        after: Option<&[u8]>,
    ) -> Result<Option<Vec<u8>>> {
        let first_kept = self.first_rollup_kept(now);
        let held = HeldNames::read(self.tables)?;
        let mut step = Dropping::default();
        latest::scan(self.tables, after_key(after), &mut |key, row| {
            let unseen = row.day.max(row.seen.day()) < first_kept;
            // By this row the days of a held user are found, also where others used the desktop later.
            let is_old = unseen && !held.has_users() && !is_held(&held, row.name, &row.rollup)?;
            Ok(step.note(key, is_old))
        })?;
        let mut old = step.old.iter();
        old.try_for_each(|key| latest::remove(self.tables, key))?;
        Ok(step.goes_on_after())
    }

    fn remove_all(&self, table: Table, keys: &[Vec<u8>]) -> Result<()> {
        keys.iter()
            .try_for_each(|key| self.tables.remove(table, key).map(drop))
    }
}

/// Whether the day may name a held workspace or its user; one that names as many users as it can may have had any other.
fn is_held(held: &HeldNames, instance: &str, day: &DayRef<'_>) -> Result<bool> {
    let (_, users) = day.people()?;
    let may_be_any = users.len() >= ROLLUP_USERS_MAX && held.has_users();
    Ok(may_be_any || held.has_instance(instance) || users.iter().any(|user| held.has_user(user)))
}

/// The rows that a step examined.
#[derive(Default)]
struct Dropping {
    old: Vec<Vec<u8>>,
    examined: usize,
    last: Vec<u8>,
}

impl Dropping {
    /// Notes a row; breaks where that is enough for a step.
    fn note(&mut self, key: &[u8], is_old: bool) -> Step {
        if is_old {
            self.old.push(key.to_vec());
        }
        key.clone_into(&mut self.last);
        self.examined += 1;
        if self.is_full() {
            Step::Break(())
        } else {
            Step::Continue(())
        }
    }

    fn is_full(&self) -> bool {
        self.examined == MAINTENANCE_ROWS_MAX
    }

    /// The last key, if there may be more after it.
    fn goes_on_after(self) -> Option<Vec<u8>> {
        self.is_full().then_some(self.last)
    }
}
