//! Removing what is derived from telemetry and too old. What names a held workspace or its user is kept.
//!
//! A step has its own keys, and what it decides does not depend on the parts that hold them: nodes that filed and sealed at other moments remove the
//! same records with it, once all that was accepted before it is filed.

use crate::config::RetentionDays;
use crate::domain::retention::{first_day_kept, is_kept_by_sent_time};
use crate::error::Result;
use crate::limits::{MAINTENANCE_ROWS_MAX, ROLLUP_USERS_MAX};
use crate::model::{Stream, user_key};
use crate::store::held::HeldNames;
use crate::store::rollup::{DayRef, daily, hourly, latest};
use crate::store::table::{KeyRange, Read, Step, Table, key_range};
use crate::store::telemetry::history;
use crate::store::telemetry::users::{self, UserLatest};
use crate::store::telemetry::work::Work;
use crate::timestamp::Timestamp;

use super::Context;

/// What filing makes of telemetry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Derived {
    /// The records of a stream, by day and instance.
    History(Stream),
    /// The newest records of users.
    Users,
    /// Rollups of days.
    Daily,
    /// Rollups of the hours of a stream.
    Hourly(Stream),
    /// The newest values of instances.
    Latest,
}

/// The keys of a step: from the first, if one is given, to before the last, if one is given. Those of history are what the keys of a bucket
/// begin with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) from: Option<Vec<u8>>,
    pub(crate) before: Option<Vec<u8>>,
}

impl Derived {
    /// All of it, in the order in which it is swept.
    pub(crate) const ALL: [Self; 9] = [
        Self::History(Stream::Stats),
        Self::History(Stream::Activity),
        Self::History(Stream::Startup),
        Self::History(Stream::Processes),
        Self::Users,
        Self::Daily,
        Self::Hourly(Stream::Stats),
        Self::Hourly(Stream::Startup),
        Self::Latest,
    ];

    const fn table(self) -> Table {
        match self {
            Self::History(_) => Table::History,
            Self::Users => Table::Users,
            Self::Daily => Table::Daily,
            Self::Hourly(_) => Table::Hourly,
            Self::Latest => Table::Latest,
        }
    }

    /// The first day that is kept. Users are of all streams.
    fn first_day_kept(self, days: &RetentionDays, now: Timestamp) -> u32 {
        let days = match self {
            Self::History(stream) => days.of(stream),
            Self::Users => {
                let all = Stream::ALL.into_iter().map(|stream| days.of(stream));
                all.max().unwrap_or_default()
            }
            Self::Daily | Self::Hourly(_) | Self::Latest => days.rollups,
        };
        first_day_kept(now, days)
    }

    /// The keys of the `span` that may be too old.
    fn keys(self, first_kept: u32, span: Span) -> Span {
        let (from, before) = match self {
            Self::History(stream) => {
                let day = |day| Some(history::day_prefix(stream, day));
                (day(0), day(first_kept))
            }
            Self::Hourly(stream) => {
                let day = |day: u32| Some(hourly::hour_prefix(stream, day.saturating_mul(24)));
                (day(0), day(first_kept))
            }
            Self::Daily => (None, Some(first_kept.to_be_bytes().to_vec())),
            Self::Users | Self::Latest => (None, None),
        };
        let ends = before.into_iter().chain(span.before);
        Span {
            from: from.max(span.from),
            before: ends.min(),
        }
    }

    /// What a step goes through at most, and the last bucket of history.
    pub(crate) const fn step_max(self) -> Work {
        match self {
            Self::History(_) => Work::REMOVED_MAX,
            Self::Users | Self::Daily | Self::Hourly(_) | Self::Latest => {
                Work::new(MAINTENANCE_ROWS_MAX, usize::MAX)
            }
        }
    }

    /// What of a key no step divides: all parts of a bucket are removed or none.
    fn undivided(self, key: &[u8]) -> &[u8] {
        match self {
            Self::History(_) => history::key_bucket(key),
            Self::Users | Self::Daily | Self::Hourly(_) | Self::Latest => key,
        }
    }
}

impl Span {
    /// The next keys from `from` on, with no more rows than `max`, and the last bucket of history; prepared beside the writer.
    pub(crate) fn next(
        read: &impl Read,
        of: Derived,
        from: Option<Vec<u8>>,
        (days, now): (&RetentionDays, Timestamp),
        max: Work,
    ) -> Result<Self> {
        let mut span = Self { from, before: None };
        let keys = of.keys(of.first_day_kept(days, now), span.clone());
        let (mut work, mut last) = (Work::default(), Vec::new());
        read.scan(of.table(), keys.range(), |key, value| {
            let key = of.undivided(key);
            if last != key {
                if work.is_all(max) {
                    span.before = Some(key.to_vec());
                    return Ok(Step::Break(()));
                }
                key.clone_into(&mut last);
            }
            work.add(value.len());
            Ok(Step::Continue(()))
        })?;
        Ok(span)
    }

    fn range(&self) -> KeyRange<'_> {
        key_range(self.from.as_deref(), self.before.as_deref())
    }
}

impl Context<'_, '_> {
    /// Removes what of the `span` is too old by `now`.
    pub(super) fn drop_derived(&mut self, of: Derived, now: Timestamp, span: Span) -> Result<()> {
        let first_kept = of.first_day_kept(&self.config.retention_days, now);
        let keys = of.keys(first_kept, span);
        let held = HeldNames::read(self.tables)?;
        match of {
            Derived::History(_) => self.drop_history(keys.range(), first_kept, &held, now),
            Derived::Users => self.forget_users(keys.range(), &held, now),
            Derived::Daily => self.drop_daily(keys.range(), &held),
            Derived::Hourly(_) => self.drop_hourly(keys.range()),
            Derived::Latest => self.drop_latest(keys.range(), first_kept, &held),
        }
    }

    fn drop_history(
        &self,
        keys: KeyRange<'_>,
        first_kept: u32,
        held: &HeldNames,
        now: Timestamp,
    ) -> Result<()> {
        let clock = now.max(self.now);
        let mut old: Vec<Vec<u8>> = Vec::new();
        let (mut bucket, mut first, mut is_kept) = (Vec::new(), 0, false);
        history::scan_keys(self.tables, keys, &mut |part| {
            let of = history::key_bucket(part.key);
            if bucket != of {
                of.clone_into(&mut bucket);
                (first, is_kept) = (old.len(), false);
            }
            if is_kept {
                return Ok(());
            }
            let [instances, users] = part.names()?;
            let mut sent = part.sent_times()?.into_iter().flatten();
            is_kept = instances.iter().any(|name| held.has_instance(name))
                || users.iter().any(|name| held.has_user(name))
                || sent.any(|sent| is_kept_by_sent_time(sent, first_kept, clock));
            if is_kept {
                old.truncate(first);
            } else {
                old.push(part.key.to_vec());
            }
            Ok(())
        })?;
        self.remove_all(Table::History, &old)
    }

    fn forget_users(&mut self, keys: KeyRange<'_>, held: &HeldNames, now: Timestamp) -> Result<()> {
        let mut known = Vec::new();
        users::scan(self.tables, keys, |_, latest| {
            known.push(latest);
            Ok(Step::Continue(()))
        })?;
        let mut known = known.into_iter();
        known.try_for_each(|latest| self.forget_user(latest, held, now))
    }

    fn forget_user(
        &mut self,
        mut latest: UserLatest,
        held: &HeldNames,
        now: Timestamp,
    ) -> Result<()> {
        if held.has_user(&latest.username) {
            return Ok(());
        }
        let user = user_key(&latest.username).into_owned();
        let clock = now.max(self.now);
        let before = latest.clone();
        let days = &self.config.retention_days;
        for slot in [&mut latest.stats, &mut latest.startup, &mut latest.activity] {
            slot.take_if(|received| {
                let first_kept = first_day_kept(now, days.of(received.record.stream()));
                let kept = |sent| is_kept_by_sent_time(sent, first_kept, clock);
                received.filed_at.day() < first_kept
                    && !received.record.sent_time().is_some_and(kept)
                    && !held.has_instance(received.record.instance_id())
            });
        }
        let unseen = latest.last_seen.day() < Derived::Users.first_day_kept(days, now);
        let empty = latest.stats.is_none() && latest.startup.is_none() && latest.activity.is_none();
        if empty && unseen {
            users::remove(self.tables, &user)
        } else if latest == before {
            Ok(())
        } else {
            users::put(self.tables, &user, &latest)
        }
    }

    fn drop_daily(&self, keys: KeyRange<'_>, held: &HeldNames) -> Result<()> {
        let mut old = Vec::new();
        daily::scan(self.tables, keys, |key, instance, day| {
            if !is_held(held, &String::from_utf8_lossy(instance), &day)? {
                old.push(key.to_vec());
            }
            Ok(Step::Continue(()))
        })?;
        self.remove_all(Table::Daily, &old)
    }

    fn drop_hourly(&self, keys: KeyRange<'_>) -> Result<()> {
        let mut old = Vec::new();
        self.tables.scan(Table::Hourly, keys, |key, _| {
            old.push(key.to_vec());
            Ok(Step::Continue(()))
        })?;
        self.remove_all(Table::Hourly, &old)
    }

    /// Removes what is known of instances that sent nothing for long.
    fn drop_latest(&self, keys: KeyRange<'_>, first_kept: u32, held: &HeldNames) -> Result<()> {
        // By this row the days of a held user are found, also where others used the desktop later.
        if held.has_users() {
            return Ok(());
        }
        let mut old = Vec::new();
        latest::scan(self.tables, keys, &mut |key, row| {
            let is_unseen = row.day.max(row.seen.day()) < first_kept;
            if is_unseen && !is_held(held, row.name, &row.rollup)? {
                old.push(key.to_vec());
            }
            Ok(Step::Continue(()))
        })?;
        let mut old = old.iter();
        old.try_for_each(|key| latest::remove(self.tables, key))
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

#[cfg(test)]
mod tests;
