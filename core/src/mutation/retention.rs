//! Removing derived telemetry that is too old or selected. It keeps what names a held workspace or its user.
//!
//! A step has a range of keys, and does not depend on the parts in which records are stored. So nodes that filed and sealed at
//! other moments remove the same records with it, once all earlier records are filed.

use crate::config::RetentionDays;
use crate::domain::retention::{first_day_kept, is_kept_by_sent_time};
use crate::error::Result;
use crate::limits::{MAINTENANCE_ROWS_MAX, ROLLUP_USERS_MAX};
use crate::model::{Received, RemovedTelemetry, Stream, TelemetrySelection, user_key};
use crate::store::fleet::held;
use crate::store::fleet::held_names::HeldNames;
use crate::store::rollup::latest::{self, LatestRef};
use crate::store::rollup::{DayRef, daily, hourly};
use crate::store::table::{KeyRange, Read, Step, Table, key_range};
use crate::store::telemetry::users::{self, UserLatest};
use crate::store::telemetry::work::Work;
use crate::store::telemetry::{history, recent};
use crate::timestamp::Timestamp;

use super::Context;
pub(crate) use selected::Removing;
use selected::scan;

/// The tables that filing derives from telemetry.
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

/// The range of keys of a step: an optional first key and an optional exclusive end. For history they are prefixes of the keys of
/// a bucket.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) from: Option<Vec<u8>>,
    pub(crate) before: Option<Vec<u8>>,
}

impl Derived {
    /// All tables, in the order of a sweep.
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

    /// Whether a removal of the selection affects this table. Rollups of days are of all streams together, those of hours of all
    /// instances.
    pub(crate) fn is_of(self, selection: &TelemetrySelection) -> bool {
        let is_of = |stream| selection.stream.is_none_or(|of| of == stream);
        match self {
            Self::History(stream) => is_of(stream),
            Self::Users => selection.stream != Some(Stream::Processes),
            Self::Hourly(stream) => is_of(stream) && selection.instance_id.is_none(),
            Self::Daily | Self::Latest => selection.stream.is_none(),
        }
    }

    /// The first day that is kept. Users are of all streams.
    fn first_day_kept(self, days: &RetentionDays, now: Timestamp) -> u32 {
        let days = match self {
            Self::History(stream) => days.for_stream(stream),
            Self::Users => {
                let all = Stream::ALL
                    .into_iter()
                    .map(|stream| days.for_stream(stream));
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

    /// The most that a step reads, beside the rest of the last bucket of history.
    pub(crate) const fn step_max(self) -> Work {
        match self {
            Self::History(_) => Work::REMOVED_MAX,
            Self::Users | Self::Daily | Self::Hourly(_) | Self::Latest => {
                Work::new(MAINTENANCE_ROWS_MAX, usize::MAX)
            }
        }
    }

    /// The part of a key that no step splits: all parts of a bucket are removed or none.
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
        (days, removing): (&RetentionDays, Removing<'_>),
        max: Work,
    ) -> Result<Self> {
        let mut span = Self { from, before: None };
        let keys = of.keys(removing.first_day_kept(of, days), span.clone());
        let (mut work, mut last) = (Work::default(), Vec::new());
        scan(read, of, &keys, removing.instance(), &mut |key, value| {
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
    /// Removes the old or selected rows of the `span`; returns the number of records of history.
    pub(super) fn drop_derived(
        &mut self,
        of: Derived,
        removing: Removing<'_>,
        span: Span,
    ) -> Result<RemovedTelemetry> {
        let first_kept = removing.first_day_kept(of, &self.config.retention_days);
        let keys = of.keys(first_kept, span);
        let held = held::names(self.tables)?;
        match of {
            Derived::History(_) => return self.drop_history(of, &keys, &held, removing),
            Derived::Users => self.forget_users(keys.range(), &held, removing),
            Derived::Daily => self.drop_daily(&keys, &held, removing),
            Derived::Hourly(_) => self.drop_hourly(keys.range()),
            Derived::Latest => self.drop_latest(&keys, first_kept, &held, removing),
        }?;
        Ok(RemovedTelemetry::default())
    }

    fn drop_history(
        &self,
        of: Derived,
        keys: &Span,
        held: &HeldNames,
        removing: Removing<'_>,
    ) -> Result<RemovedTelemetry> {
        let first_kept = removing.first_day_kept(of, &self.config.retention_days);
        let mut old: Vec<Vec<u8>> = Vec::new();
        let mut counts = RemovedTelemetry::default();
        let (mut bucket, mut first, mut is_kept, mut records) = (Vec::new(), 0, false, 0);
        scan(
            self.tables,
            of,
            keys,
            removing.instance(),
            &mut |key, value| {
                let part = history::StoredPart::read(key, value)?;
                let of = history::key_bucket(part.key);
                if bucket != of {
                    counts.add(std::mem::take(&mut records), is_kept);
                    of.clone_into(&mut bucket);
                    (first, is_kept) = (old.len(), false);
                }
                records += part.records()? as u64;
                if is_kept {
                    return Ok(Step::Continue(()));
                }
                let [instances, users] = part.names()?;
                is_kept = instances.iter().any(|name| held.has_instance(name))
                    || users.iter().any(|name| held.has_user(name));
                if let Removing::Old(now) = removing
                    && !is_kept
                {
                    let clock = now.max(self.now);
                    let mut sent = part.sent_times()?.into_iter().flatten();
                    is_kept = sent.any(|sent| is_kept_by_sent_time(sent, first_kept, clock));
                }
                if is_kept {
                    old.truncate(first);
                } else {
                    old.push(part.key.to_vec());
                }
                Ok(Step::Continue(()))
            },
        )?;
        counts.add(records, is_kept);
        if of == Derived::History(Stream::Activity)
            && let Some(last) = old.last()
        {
            recent::leave_out(self.tables, history::bucket_day(last)?)?;
        }
        self.remove_all(Table::History, &old)?;
        Ok(counts)
    }

    fn forget_users(
        &mut self,
        keys: KeyRange<'_>,
        held: &HeldNames,
        removing: Removing<'_>,
    ) -> Result<()> {
        let mut known = Vec::new();
        users::scan(self.tables, keys, |_, latest| {
            known.push(latest);
            Ok(Step::Continue(()))
        })?;
        let mut known = known.into_iter();
        known.try_for_each(|latest| self.forget_user(latest, held, removing))
    }

    fn forget_user(
        &mut self,
        mut latest: UserLatest,
        held: &HeldNames,
        removing: Removing<'_>,
    ) -> Result<()> {
        if held.has_user(&latest.username) {
            return Ok(());
        }
        let user = user_key(&latest.username).into_owned();
        let before = latest.clone();
        let days = &self.config.retention_days;
        let goes = |received: &Received| {
            let (record, filed_at) = (&received.record, received.filed_at);
            let now = match removing {
                Removing::Old(now) => now,
                Removing::Selected(selection) => {
                    return selection.has(record.stream(), record.instance_id(), filed_at);
                }
            };
            let first_kept = first_day_kept(now, days.for_stream(record.stream()));
            let clock = now.max(self.now);
            let kept = |sent| is_kept_by_sent_time(sent, first_kept, clock);
            filed_at.day() < first_kept && !record.sent_time().is_some_and(kept)
        };
        for slot in [&mut latest.stats, &mut latest.startup, &mut latest.activity] {
            slot.take_if(|received| {
                goes(received) && !held.has_instance(received.record.instance_id())
            });
        }
        let is_changed = latest != before;
        let empty = latest.stats.is_none() && latest.startup.is_none() && latest.activity.is_none();
        let unseen = match removing {
            Removing::Old(now) => latest.last_seen.day() < Derived::Users.first_day_kept(days, now),
            // The time of that record is not known any more.
            Removing::Selected(_) => is_changed,
        };
        if empty && unseen {
            users::remove(self.tables, &user)
        } else if is_changed {
            users::put(self.tables, &user, &latest)
        } else {
            Ok(())
        }
    }

    fn drop_daily(&self, keys: &Span, held: &HeldNames, removing: Removing<'_>) -> Result<()> {
        let mut old = Vec::new();
        let instance = removing.instance();
        scan(
            self.tables,
            Derived::Daily,
            keys,
            instance,
            &mut |key, value| {
                let (day, instance) = (daily::read_value(key, value)?, daily::read_key(key)?.1);
                if !is_held(held, &String::from_utf8_lossy(instance), &day)? {
                    old.push(key.to_vec());
                }
                Ok(Step::Continue(()))
            },
        )?;
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

    /// Removes what is known of instances that sent nothing for long, or are selected.
    fn drop_latest(
        &self,
        keys: &Span,
        first_kept: u32,
        held: &HeldNames,
        removing: Removing<'_>,
    ) -> Result<()> {
        let mut old = Vec::new();
        let instance = removing.instance();
        scan(
            self.tables,
            Derived::Latest,
            keys,
            instance,
            &mut |key, value| {
                let row = LatestRef::read(value)?;
                let is_unseen = row.day.max(row.seen.day()) < first_kept;
                let user = row.stats.as_ref().map(|newest| newest.username);
                if is_unseen
                    && !user.is_some_and(|user| held.has_user(user))
                    && !is_held(held, row.name, &row.rollup)?
                {
                    old.push(key.to_vec());
                }
                Ok(Step::Continue(()))
            },
        )?;
        // This row finds the days that are kept for a hold, also if other users came later.
        daily::without_days(self.tables, &mut old, first_kept)?;
        let mut old = old.iter();
        old.try_for_each(|key| latest::remove(self.tables, key))
    }

    fn remove_all(&self, table: Table, keys: &[Vec<u8>]) -> Result<()> {
        keys.iter()
            .try_for_each(|key| self.tables.remove(table, key).map(drop))
    }
}

/// Whether the day may name a held workspace or its user; one that names as many users as it can may have had any after the last
/// of them.
fn is_held(held: &HeldNames, instance: &str, day: &DayRef<'_>) -> Result<bool> {
    let (_, users) = day.people()?;
    let last = users.last().filter(|_| users.len() >= ROLLUP_USERS_MAX);
    let may_be_any = last.is_some_and(|last| held.has_user_after(last));
    Ok(may_be_any || held.has_instance(instance) || users.iter().any(|user| held.has_user(user)))
}

mod selected;
#[cfg(test)]
mod tests;
