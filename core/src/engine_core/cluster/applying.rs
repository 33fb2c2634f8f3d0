//! Applying the log: each entry once, in order, in the same transaction as the position.

use std::sync::MutexGuard;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::config::Config;
use crate::error::{EngineError, ErrorKind, Result};
use crate::limits::LOG_READ_BYTES;
use crate::locks::{lock, write};
use crate::log::{EntryId, LogEntry};
use crate::model::WriteClass;
use crate::mutation::configure::take_over;
use crate::mutation::logged::entry::EntryReader;
use crate::mutation::logged::{AnyMutation, Tag};
use crate::mutation::{Context, Outcome};
use crate::store::cluster::{self as stored, Applied, Hash};
use crate::store::meta;
use crate::timestamp::Timestamp;

use super::super::EngineCore;
use super::super::write::Write;
use super::Cluster;
use super::restoring::Recent;

/// The state of the thread that applies the log.
pub(super) struct Applier {
    pub(super) applied: Option<Applied>,
    /// With the settings that all nodes share.
    config: Config,
}

/// An entry that can be applied.
struct Ready {
    /// As the log has it, with its chain.
    entry: LogEntry,
    /// The position of the node after it.
    applied: Applied,
    tags: Vec<Tag>,
    rules: u16,
    /// The class of its first mutation that is refused for lack of space.
    class: WriteClass,
    body: EntryBody,
}

/// The mutations of an entry.
enum EntryBody {
    /// Mutations of another node, or of this one if no caller waits for them any more.
    Decoded(Vec<Box<dyn AnyMutation>>),
    Own(Vec<Write>),
}

impl Ready {
    fn is_essential(&self) -> bool {
        self.class == WriteClass::Essential
    }

    /// Whether earlier records must be filed first, because the entry removes some from history.
    fn needs_filing(&self) -> bool {
        let removes = |tag: &Tag| matches!(tag, Tag::DropDerived | Tag::RemoveTelemetry);
        self.tags.iter().any(removes)
    }

    /// Whether it changes state that this node keeps in memory, and so has a transaction of its own.
    fn is_reloaded(&self) -> bool {
        let reloaded = |tag: &Tag| matches!(tag, Tag::Configure | Tag::Sweep);
        self.tags.iter().any(reloaded)
    }
}

impl Applier {
    pub(super) fn new(applied: Option<Applied>, config: Config) -> Self {
        Self { applied, config }
    }

    fn position(&self) -> u64 {
        self.applied.map_or(0, |applied| applied.position)
    }
}

/// The position of a node after an entry. The time always advances, whatever the clock of the log does.
fn after(applied: Option<&Applied>, entry: &LogEntry) -> Applied {
    let before = applied.map_or_else(Hash::default, |applied| applied.chain);
    let at = applied.map_or(entry.at, |applied| {
        let next = Timestamp::from_ticks(applied.at.ticks().saturating_add(1));
        next.max(entry.at)
    });
    Applied {
        fleet: applied.map_or(entry.id.0, |applied| applied.fleet),
        position: entry.position,
        at,
        before,
        chain: entry.chain_after(&before),
    }
}

/// Whether the log has this entry, and all before it, as they were applied here.
pub(super) fn is_same(applied: &Applied, entry: &LogEntry) -> bool {
    entry.position == applied.position
        && entry.chain_after(&applied.before) == applied.chain
        && entry.chain.is_none_or(|chain| chain == applied.chain)
}

impl EngineCore {
    /// Applies the log up to a position.
    pub(super) fn apply_through(&self, cluster: &Cluster, position: u64) -> Result<()> {
        while cluster.position() < position {
            cluster.check_running()?;
            let verified = self.verify(cluster)?;
            let from = cluster.position() + 1;
            let read = cluster.log.read(from, LOG_READ_BYTES, Duration::ZERO);
            let entries = read.map_err(|error| cluster.read_failed(error))?;
            if entries.is_empty() && cluster.position() < position {
                let message =
                    format!("the log has no entry {from}, though it acknowledged {position}");
                return Err(EngineError::new(ErrorKind::StorageUnavailable, message));
            }
            self.apply_entries(cluster, verified, entries)?;
        }
        Ok(())
    }

    /// Applies the first entry, which says by which rules the fleet writes.
    pub(super) fn apply_first(&self, cluster: &Cluster) -> Result<()> {
        if cluster.position() > 0 {
            return Ok(());
        }
        self.apply_through(cluster, 1)
    }

    /// Applies entries that are in memory already, up to the first gap: entries of other nodes may be between them.
    pub(super) fn apply_known(
        &self,
        cluster: &Cluster,
        verified: u64,
        mut known: Vec<LogEntry>,
    ) -> Result<()> {
        let next = cluster.position() + 1;
        let following = (next..).zip(&known);
        let count = following.take_while(|(next, entry)| entry.position == *next);
        known.truncate(count.count());
        if known.is_empty() {
            return Ok(());
        }
        self.apply_entries(cluster, verified, known).map(drop)
    }

    /// Applies consecutive entries, except those that are applied already. Applies none where the log has failed since it was `verified`, before
    /// they were read: it may have lost them, and this node has said that it gave back all it has. Without space for one it applies none after it,
    /// because all nodes apply them in one order. It then only looks up which keys the later ones revoke.
    pub(super) fn apply_entries(
        &self,
        cluster: &Cluster,
        verified: u64,
        entries: Vec<LogEntry>,
    ) -> Result<bool> {
        let applied = self.apply_in_order(cluster, verified, entries);
        if applied.as_ref().is_err_and(EngineError::is_for_space) {
            // A look-up that fails is repeated at the next attempt. The error of the application is the one to return.
            let _ = cluster.look_ahead();
        }
        applied
    }

    fn apply_in_order(
        &self,
        cluster: &Cluster,
        verified: u64,
        entries: Vec<LogEntry>,
    ) -> Result<bool> {
        let mut applier = lock(&cluster.applier);
        cluster.check_running()?;
        if cluster.verified() != Some(verified) {
            return Ok(false);
        }
        let mut run: Vec<Ready> = Vec::new();
        for entry in entries {
            let last = run.last().map(|ready| ready.applied).or(applier.applied);
            let ready = match ready(cluster, last.as_ref(), entry) {
                Ok(Some(ready)) => ready,
                Ok(None) => continue,
                Err(error) => {
                    self.apply_run(cluster, &mut applier, run)?;
                    return Err(error);
                }
            };
            if ready.needs_filing() {
                self.apply_run(cluster, &mut applier, std::mem::take(&mut run))?;
                // Filing is essential here, as the removal is, and files everything: all nodes then remove the same from history.
                self.file_all(&|| true, Some(&|_, _, _| false))?;
            }
            // Writes that may take the reserve share no transaction with others.
            let differs = |before: &Ready| before.is_essential() != ready.is_essential();
            if run.last().is_some_and(differs) {
                self.apply_run(cluster, &mut applier, std::mem::take(&mut run))?;
            }
            let is_reloaded = ready.is_reloaded();
            run.push(ready);
            if is_reloaded {
                self.apply_run(cluster, &mut applier, std::mem::take(&mut run))?;
                self.reload(cluster, &mut applier)?;
            }
        }
        self.apply_run(cluster, &mut applier, run)?;
        Ok(true)
    }

    /// One transaction.
    fn apply_run(
        &self,
        cluster: &Cluster,
        applier: &mut MutexGuard<'_, Applier>,
        run: Vec<Ready>,
    ) -> Result<()> {
        let Some(last) = run.last().map(|ready| ready.applied) else {
            return Ok(());
        };
        let class = first_class(run.iter().map(|ready| ready.class));
        let (before, config) = (applier.applied, &applier.config);
        let known = before.map_or(0, |_| cluster.fleet_rules());
        let rules = run.iter().map(|ready| ready.rules).fold(known, u16::max);
        let written = self.store.write(class, |tables| {
            // If the file was opened again, lazy commits are lost.
            if stored::applied(tables)? != before {
                return Err(reverted());
            }
            let (mut outcomes, mut recent) = (Vec::new(), Vec::new());
            for ready in run {
                let mut context = Context::new(tables, config, ready.applied.at);
                match ready.body {
                    EntryBody::Decoded(mutations) => {
                        for mutation in mutations {
                            // Only the node that submitted it needs the refusal.
                            let _ = mutation.apply_any(&mut context)?;
                        }
                    }
                    EntryBody::Own(writes) => {
                        let writes = writes.into_iter();
                        let all: Result<Vec<Outcome>> =
                            writes.map(|write| (write.apply)(&mut context)).collect();
                        outcomes.push((ready.entry.id, all?));
                    }
                }
                recent.push(Recent::new(ready.applied.before, ready.entry));
            }
            stored::set_applied(tables, &last)?;
            if stored::rules(tables)? != Some(rules) {
                stored::set_rules(tables, rules)?;
            }
            Ok((outcomes, recent))
        });
        let (outcomes, recent) = match written {
            Ok(written) => written,
            Err(failure) => {
                self.store.note_damage(&failure.error);
                self.reload(cluster, applier)?;
                return Err(failure.error);
            }
        };
        applier.applied = Some(last);
        cluster.fleet_rules.store(rules, Ordering::Release);
        let mut kept = lock(&cluster.recent);
        for recent in recent {
            kept.push(recent);
        }
        drop(kept);
        cluster.fleet.get_or_init(|| EntryId(last.fleet));
        let at = last.at.ticks();
        cluster.applied_at.store(at, Ordering::Release);
        cluster.applied.store(last.position, Ordering::Release);
        let mut own = lock(&cluster.own);
        for (id, outcomes) in outcomes {
            if let Some(own) = own.get_mut(&id) {
                own.outcomes = Some(outcomes);
            }
        }
        drop(own);
        cluster.waiters.wake_through(last.position);
        self.wake_for_events();
        Ok(())
    }

    /// Goes back to the position in the file if the file lost unsynced entries: a failure, also of a read, opened it again.
    pub(super) fn align(&self, cluster: &Cluster) -> Result<()> {
        let mut applier = lock(&cluster.applier);
        let applied = stored::applied(&self.store.snapshot()?)?;
        if applied != applier.applied {
            self.reload(cluster, &mut applier)?;
        }
        Ok(())
    }

    /// Reads from the file what this node keeps in memory.
    fn reload(&self, cluster: &Cluster, applier: &mut Applier) -> Result<()> {
        let snapshot = self.store.snapshot()?;
        applier.applied = stored::applied(&snapshot)?;
        cluster.applied.store(applier.position(), Ordering::Release);
        if let Some(swept) = meta::swept(&snapshot)? {
            self.swept_at.store(swept.ticks(), Ordering::Release);
        }
        if let Some(rules) = stored::rules(&snapshot)? {
            cluster.fleet_rules.store(rules, Ordering::Release);
        }
        if let Some(lines) = stored::fleet_configuration(&snapshot)? {
            take_over(&mut applier.config, &lines);
            take_over(&mut write(&cluster.config), &lines);
        }
        Ok(())
    }
}

/// The class of the first write that is refused for lack of space.
fn first_class(classes: impl Iterator<Item = WriteClass>) -> WriteClass {
    classes.min().unwrap_or(WriteClass::Essential)
}

/// The error of a transaction before which the file lost unsynced entries; they are applied again.
fn reverted() -> EngineError {
    let message = "the file was opened again without what was not synced yet; the log is applied again from there";
    EngineError::new(ErrorKind::StorageUnavailable, message)
}

/// The decoded entry after `last`, or why this node stops at it; `None` if it is applied already.
fn ready(cluster: &Cluster, last: Option<&Applied>, mut entry: LogEntry) -> Result<Option<Ready>> {
    let position = last.map_or(0, |last| last.position);
    let is_other = last.is_some_and(|last| entry.position == position && !is_same(last, &entry));
    if entry.position <= position && !is_other {
        return Ok(None);
    }
    if entry.position > position + 1 {
        let next = position + 1;
        let message = format!("the log answered entry {} for {next}", entry.position);
        return Err(EngineError::new(ErrorKind::StorageUnavailable, message));
    }
    let applied = after(last, &entry);
    if is_other || entry.chain.is_some_and(|chain| chain != applied.chain) {
        return Err(cluster.lost_entries(position));
    }
    entry.chain = Some(applied.chain);
    let stops = |error| cluster.stops_before(entry.position, &error);
    let mut reader = EntryReader::new(&entry.body, cluster.rules).map_err(stops)?;
    let rules = reader.rules();
    let mut own = lock(&cluster.own);
    let writes = own
        .get_mut(&entry.id)
        .map(|own| std::mem::take(&mut own.writes));
    drop(own);
    // The outcomes of an entry whose first attempt failed have no caller any more.
    if let Some(writes) = writes.filter(|writes| !writes.is_empty()) {
        let tags = writes.iter().filter_map(|write| write.logged.as_ref());
        let tags = tags.map(|(tag, _)| *tag).collect();
        let class = first_class(writes.iter().map(|write| write.class));
        return Ok(Some(Ready {
            entry,
            applied,
            rules,
            tags,
            class,
            body: EntryBody::Own(writes),
        }));
    }
    let (mut tags, mut mutations) = (Vec::new(), Vec::new());
    let decoded = reader.try_for_each(|mutation| {
        let mutation = mutation?;
        tags.push(mutation.tag);
        mutations.push(mutation.decode_any()?);
        Ok(())
    });
    decoded.map_err(stops)?;
    let class = first_class(mutations.iter().map(|mutation| mutation.class_any()));
    Ok(Some(Ready {
        entry,
        applied,
        rules,
        tags,
        class,
        body: EntryBody::Decoded(mutations),
    }))
}
