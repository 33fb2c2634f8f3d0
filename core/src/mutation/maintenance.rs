//! Upkeep: ending what is due, and removing what is too old. Each step is bounded, so that none holds the writer long.

use crate::domain::retention::{days_before, is_listed};
use crate::error::Result;
use crate::limits::MAINTENANCE_ROWS_MAX;
use crate::store::held::HeldNames;
use crate::store::rollup::building::Built;
use crate::store::table::Step;
use crate::store::telemetry::filing;
use crate::store::telemetry::sealing::Sealing;
use crate::store::{audit, events, meta, pending, workspaces};
use crate::timestamp::Timestamp;

use super::retention::{Derived, Span};
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
    /// Removes what is old by that time of what has these keys.
    DropDerived(Derived, Timestamp, Span),
    /// Removes blocks that are filed from the table of the queue.
    RemoveFiled,
    /// Writes a step of sealing.
    Seal(Box<Sealing>),
    /// Writes a step of building the rollups of an older file.
    RollUp(Box<Built>),
    /// Removes audit rows that are old by that time, behind the number a step before answered.
    DropAudit(Timestamp, Option<u64>),
    /// Removes events with numbers below this.
    DropEvents(u64),
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
            Self::DropDerived(of, now, span) => {
                context.drop_derived(of, now, span)?;
                None
            }
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
            Self::DropEvents(below) => {
                let more = events::remove_below(context.tables, below)?;
                more.then_some(Self::DropEvents(below))
            }
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
}
