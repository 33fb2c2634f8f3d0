//! Upkeep: ending due actions, and removing what is too old. Each step is bounded, so that it blocks the writer only briefly.

use crate::domain::keys as rules;
use crate::domain::retention::{days_before, is_listed};
use crate::error::Result;
use crate::limits::MAINTENANCE_ROWS_MAX;
use crate::model::{AuditAction, AuditResult, Condition, WriteClass};
use crate::store::fleet::{audit, events, held, keys, noted, pending, workspaces};
use crate::store::meta;
use crate::store::table::Step;
use crate::store::telemetry::accepted::Keeping;
use crate::store::telemetry::sealing::Sealing;
use crate::store::telemetry::segments::Available;
use crate::store::telemetry::{queue, recent};
use crate::timestamp::Timestamp;

use super::retention::{Derived, Removing, Span};
use super::{Caller, Context, Mutation, Outcome};

/// One step of upkeep.
#[derive(Debug, Clone)]
pub(crate) enum Maintenance {
    /// Ends due actions on these workspaces.
    Settle(Vec<String>),
    /// Goes on with the batch of actions of that number.
    AdvanceActionBatch(u64),
    /// Stores that a sweep of this time begins.
    Sweep(Timestamp),
    /// Removes those of these workspaces that have been TERMINATED for long enough at that time.
    DropTerminated(Timestamp, Vec<String>),
    /// Removes derived telemetry that has these keys and is too old at that time.
    DropDerived(Derived, Timestamp, Span),
    /// Changes what is kept in the table of the queue once it is filed.
    Keep(Available, Keeping),
    /// Removes blocks that are filed and not kept from the table of the queue, and recent activities that are too old.
    RemoveFiled,
    /// Writes a step of sealing.
    Seal(Box<Sealing>),
    /// Removes audit rows that are old by that time, after the number that the step before returned. The first step also removes the keys that
    /// ended as long ago.
    DropAudit(Timestamp, Option<u64>),
    /// Removes events with numbers below this.
    DropEvents(u64),
    /// Writes the row of a start on a copy, and clears the mark of a copy. A node continues with the log of the copy.
    NoteCopy,
    /// Stores the conditions that last, with an event for each that was raised or cleared. Each node has its own, and no events of them.
    NoteConditions(Vec<Condition>),
}

impl Mutation for Maintenance {
    /// The next step of its kind, if there is more to do.
    type Output = Option<Self>;

    fn class(&self) -> WriteClass {
        match self {
            Self::Settle(_) | Self::AdvanceActionBatch(_) | Self::NoteCopy => WriteClass::Fleet,
            Self::Keep(_, Keeping::Blocks(_)) | Self::Seal(_) => WriteClass::Filing,
            Self::Sweep(_)
            | Self::DropTerminated(..)
            | Self::DropDerived(..)
            | Self::Keep(..)
            | Self::RemoveFiled
            | Self::DropAudit(..)
            | Self::DropEvents(_)
            | Self::NoteConditions(_) => WriteClass::Essential,
        }
    }

    fn apply(self, context: &mut Context<'_, '_>) -> Result<Outcome<Option<Self>>> {
        let next = match self {
            Self::Settle(ids) => {
                for id in ids {
                    context.settled(&id)?;
                }
                None
            }
            Self::AdvanceActionBatch(id) => {
                context.advance_batch(id)?;
                None
            }
            Self::Sweep(time) => {
                meta::set_swept(context.tables, time)?;
                None
            }
            Self::DropTerminated(now, ids) => {
                context.drop_terminated(&ids, now)?;
                None
            }
            Self::DropDerived(of, now, span) => {
                context.drop_derived(of, Removing::Old(now), span)?;
                None
            }
            Self::Keep(_, keeping) => {
                keeping.apply(context.tables)?;
                None
            }
            Self::RemoveFiled => {
                let more = queue::remove_filed(context.tables)?;
                let more = recent::remove_left_out(context.tables)? || more;
                more.then_some(Self::RemoveFiled)
            }
            Self::Seal(sealing) => {
                sealing.apply(context.tables)?;
                None
            }
            Self::DropAudit(now, after) => {
                if after.is_none() {
                    context.drop_keys(now)?;
                }
                let last = context.drop_audit(now, after)?;
                last.map(|last| Self::DropAudit(now, Some(last)))
            }
            Self::NoteCopy => {
                context.note_copy()?;
                None
            }
            Self::NoteConditions(now) => {
                context.note_conditions(&now)?;
                None
            }
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
            // Due actions end first, so that the audit has their ends.
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

    fn note_conditions(&mut self, now: &[Condition]) -> Result<()> {
        // A value that is damaged is written anew.
        let known = noted::all(self.tables).unwrap_or_default();
        for condition in now {
            match known.iter().find(|known| known.code == condition.code) {
                Some(known) if known.severity == condition.severity => {}
                _ => self.condition_raised(condition)?,
            }
        }
        for over in &known {
            if !now.iter().any(|condition| condition.code == over.code) {
                self.condition_cleared(over)?;
            }
        }
        noted::put(self.tables, now)
    }

    fn note_copy(&mut self) -> Result<()> {
        let made_at = meta::copied(self.tables)?.filter(|_| !self.here);
        if let Some(made_at) = made_at {
            let mut row = self.row(AuditAction::StartOnCopy, &Caller::HOST, None);
            row.set_detail(&format!(
                "the copy was made at {made_at}: later revocations of keys and holds are missing"
            ));
            self.write_row(row, AuditResult::Completed)?;
        }
        meta::forget_copied(self.tables)
    }

    /// Removes keys that ended longer ago than the audit is kept. The newest stays, so that a store that had keys is not taken for a new one.
    fn drop_keys(&mut self, now: Timestamp) -> Result<()> {
        let oldest_kept = days_before(now, self.config.retention_days.audit);
        let mut keys = keys::infos(self.tables)?;
        keys.pop();
        let old = keys
            .iter()
            .filter(|key| rules::ended_before(key, oldest_kept));
        for key in old.take(MAINTENANCE_ROWS_MAX) {
            keys::remove(self.tables, key.id)?;
        }
        Ok(())
    }

    fn drop_audit(&mut self, now: Timestamp, after: Option<u64>) -> Result<Option<u64>> {
        let oldest_kept = days_before(now, self.config.retention_days.audit);
        let held = held::names(self.tables)?;
        let mut old = Vec::new();
        audit::scan_after(self.tables, after, &mut |row| {
            // A row written while the clock was ahead must not hide the old ones after it.
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
