//! Upkeep: ending what is due, and removing what is too old. Each step is bounded, so that none holds the writer long.

use crate::domain::retention::{days_before, first_day_kept, is_kept_by_sent_time, is_listed};
use crate::error::Result;
use crate::limits::MAINTENANCE_ROWS_MAX;
use crate::model::{Stream, user_key};
use crate::store::held::HeldNames;
use crate::store::rollup::building::Built;
use crate::store::table::Step;
use crate::store::telemetry::sealing::Sealing;
use crate::store::telemetry::users::{self, UserLatest};
use crate::store::telemetry::work::Work;
use crate::store::telemetry::{filing, history};
use crate::store::{audit, events, meta, pending, workspaces};
use crate::timestamp::Timestamp;

use super::{Context, Mutation, Outcome};

/// One step of upkeep.
#[derive(Debug, Clone)]
pub(crate) enum Maintenance {
    /// Ends what is due on these workspaces.
    Settle(Vec<String>),
    /// Notes that a sweep of this time begins.
    Sweep(Timestamp),
    /// Removes these workspaces, where they are TERMINATED for long enough by that time.
    DropTerminated(Vec<String>, Timestamp),
    /// Removes history of a stream that is old by that time, behind the key a step before answered.
    DropHistory(Stream, Timestamp, Option<Vec<u8>>),
    /// Removes blocks that are filed from the table of the queue.
    RemoveFiled,
    /// Writes a step of sealing.
    Seal(Box<Sealing>),
    /// Writes a step of building the rollups of an older file.
    RollUp(Box<Built>),
    /// Removes audit rows that are old by that time, behind the number a step before answered.
    DropAudit(Timestamp, Option<u64>),
    /// Removes rollups of days that are old by that time, behind the key a step before answered.
    DropDaily(Timestamp, Option<Vec<u8>>),
    /// Removes rollups of hours that are old by that time.
    DropHourly(Timestamp),
    /// Removes the newest values of instances that sent nothing since long before that time, behind the key a step before answered.
    DropLatest(Timestamp, Option<Vec<u8>>),
    /// Removes events with numbers below this.
    DropEvents(u64),
    /// Forgets what is too old by that time of each user, behind the key a step before answered.
    ForgetUsers(Timestamp, Option<Vec<u8>>),
}

impl Mutation for Maintenance {
    /// The next step of its kind, if there is more to do.
    type Output = Option<Self>;
    const RELIEVES: bool = true;

    fn apply(self, context: &mut Context<'_, '_>) -> Result<Outcome<Option<Self>>> {
        let next = match self {
            Self::Settle(ids) => {
                for id in ids {
                    context.settled(&id)?;
                }
                None
            }
            Self::Sweep(time) => {
                meta::set_swept(context.tables, time)?;
                None
            }
            Self::DropTerminated(ids, now) => {
                context.drop_terminated(&ids, now)?;
                None
            }
            Self::DropHistory(stream, now, after) => context
                .drop_history(stream, now, after.as_deref())?
                .map(|last| Self::DropHistory(stream, now, Some(last))),
            Self::RemoveFiled => {
                let more = filing::remove_filed(context.tables)?;
                more.then_some(Self::RemoveFiled)
            }
            Self::Seal(sealing) => {
                sealing.apply(context.tables)?;
                None
            }
            Self::RollUp(built) => {
                built.apply(context.tables)?;
                None
            }
            Self::DropAudit(now, after) => context
                .drop_audit(now, after)?
                .map(|last| Self::DropAudit(now, Some(last))),
            Self::DropDaily(now, after) => context
                .drop_daily(now, after.as_deref())?
                .map(|last| Self::DropDaily(now, Some(last))),
            Self::DropHourly(now) => context.drop_hourly(now)?.then_some(Self::DropHourly(now)),
            Self::DropLatest(now, after) => context
                .drop_latest(now, after.as_deref())?
                .map(|last| Self::DropLatest(now, Some(last))),
            Self::DropEvents(below) => {
                let more = events::remove_below(context.tables, below)?;
                more.then_some(Self::DropEvents(below))
            }
            Self::ForgetUsers(now, after) => context
                .forget_users(now, after.as_deref())?
                .map(|last| Self::ForgetUsers(now, Some(last))),
        };
        Ok(Ok(next))
    }
}

impl Context<'_, '_> {
    fn drop_terminated(&mut self, ids: &[String], now: Timestamp) -> Result<()> {
        for id in ids {
            // Ends what is due first, so that the audit has it.
            self.settled(id)?;
            if let Some(entry) = workspaces::get(self.tables, id)?
                && !is_listed(
                    entry.workspace.state.as_deref(),
                    entry.state_since,
                    entry.held,
                    now,
                )
            {
                workspaces::remove(self.tables, &entry)?;
                self.workspace_removed(&entry.workspace, None)?;
            }
        }
        Ok(())
    }

    fn drop_history(
        &mut self,
        stream: Stream,
        now: Timestamp,
        after: Option<&[u8]>,
    ) -> Result<Option<Vec<u8>>> {
        let first_kept = first_day_kept(now, self.config.retention_days.of(stream));
        let clock = now.max(self.now);
        let held = HeldNames::read(self.tables)?;
        let (mut last, mut old) = (None, Vec::new());
        let max = Work::REMOVED_MAX;
        let more =
            history::scan_before(self.tables, stream, first_kept, after, max, &mut |part| {
                last = Some(part.key.to_vec());
                let [instances, users] = part.names()?;
                let is_held = instances.iter().any(|name| held.has_instance(name))
                    || users.iter().any(|name| held.has_user(name));
                let mut sent = part.sent_times()?.into_iter().flatten();
                if !is_held && !sent.any(|sent| is_kept_by_sent_time(sent, first_kept, clock)) {
                    old.push(part.key.to_vec());
                }
                Ok(())
            })?;
        for key in old {
            history::remove_part(self.tables, &key)?;
        }
        Ok(last.filter(|_| more))
    }

    fn drop_audit(&mut self, now: Timestamp, after: Option<u64>) -> Result<Option<u64>> {
        let oldest_kept = days_before(now, self.config.retention_days.audit);
        let held = HeldNames::read(self.tables)?;
        let mut old = Vec::new();
        audit::scan_after(self.tables, after, &mut |row| {
            // Written while the clock was ahead: it must not hide the old ones behind it.
            if row.time > now {
                return Ok(Step::Continue(()));
            }
            if row.time >= oldest_kept || old.len() == MAINTENANCE_ROWS_MAX {
                return Ok(Step::Break(()));
            }
            let instances = [&row.workspace_id, &row.computer_name];
            let is_held = instances
                .into_iter()
                .flatten()
                .any(|name| held.has_instance(name))
                || row.username.is_some_and(|name| held.has_user(&name));
            old.push((row.id, is_held));
            Ok(Step::Continue(()))
        })?;
        let more = old.len() == MAINTENANCE_ROWS_MAX;
        let last = old.last().map(|(id, _)| *id);
        for (id, is_held) in old {
            // The row of an action that still runs is completed when that ends.
            if !is_held && pending::get(self.tables, id)?.is_none() {
                audit::remove(self.tables, id)?;
            }
        }
        Ok(last.filter(|_| more))
    }

    fn forget_users(&mut self, now: Timestamp, after: Option<&[u8]>) -> Result<Option<Vec<u8>>> {
        let mut known = Vec::new();
        users::scan_after(self.tables, after, |key, latest| {
            known.push((key.to_vec(), latest));
            Ok(if known.len() < MAINTENANCE_ROWS_MAX {
                Step::Continue(())
            } else {
                Step::Break(())
            })
        })?;
        let more = known.len() == MAINTENANCE_ROWS_MAX;
        let last = known.last().map(|(key, _)| key.clone());
        let held = HeldNames::read(self.tables)?;
        for (_, latest) in known {
            self.forget_user(latest, &held, now)?;
        }
        Ok(last.filter(|_| more))
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
        let days = self.config.retention_days;
        for slot in [&mut latest.stats, &mut latest.startup, &mut latest.activity] {
            slot.take_if(|received| {
                let first_kept = first_day_kept(now, days.of(received.record.stream()));
                let kept = |sent| is_kept_by_sent_time(sent, first_kept, clock);
                received.filed_at.day() < first_kept
                    && !received.record.sent_time().is_some_and(kept)
                    && !held.has_instance(received.record.instance_id())
            });
        }
        let longest = Stream::ALL.into_iter().map(|stream| days.of(stream)).max();
        let unseen = latest.last_seen.day() < first_day_kept(now, longest.unwrap_or(0));
        let empty = latest.stats.is_none() && latest.startup.is_none() && latest.activity.is_none();
        if empty && unseen {
            users::remove(self.tables, &user)
        } else if latest == before {
            Ok(())
        } else {
            users::put(self.tables, &user, &latest)
        }
    }
}
