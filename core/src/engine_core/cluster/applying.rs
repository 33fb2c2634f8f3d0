//! Applying the log: each entry once, in order, in the same transaction as the position.

use std::sync::MutexGuard;
use std::sync::atomic::Ordering;
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::config::Config;
use crate::error::{EngineError, ErrorKind, Result};
use crate::limits::LOG_READ_BYTES;
use crate::locks::{lock, write};
use crate::log::LogEntry;
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

/// What applies the log.
pub(super) struct Applier {
    pub(super) applied: Option<Applied>,
    /// With the settings that all nodes share.
    config: Config,
}

/// An entry that can be applied.
struct Ready {
    entry: LogEntry,
    tags: Vec<Tag>,
    work: Work,
}

/// The mutations of an entry.
enum Work {
    /// Of another node, or of this one where nobody waits for them any more.
    Decoded(Vec<Box<dyn AnyMutation>>),
    Own(Vec<Write>),
}

impl Ready {
    /// Whether the records that came before it have to be in history: it removes some from there.
    fn needs_filing(&self) -> bool {
        self.tags.contains(&Tag::DropDerived)
    }

    /// Whether it changes what this node keeps in memory, and so is applied alone.
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

/// Where a node stands after an entry. The time never goes back and never stands still, whatever the clock of the log does.
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
        chain: chained(&before, entry),
    }
}

pub(super) fn chained(before: &Hash, entry: &LogEntry) -> Hash {
    let hash = Sha256::new()
        .chain_update(before)
        .chain_update(entry.position.to_le_bytes())
        .chain_update(entry.id.0)
        .chain_update(&entry.body)
        .finalize();
    let mut chain = Hash::default();
    chain
        .iter_mut()
        .zip(hash)
        .for_each(|(byte, hashed)| *byte = hashed);
    chain
}

impl EngineCore {
    /// Applies the log up to a position.
    pub(super) fn apply_through(&self, cluster: &Cluster, position: u64) -> Result<()> {
        while cluster.position() < position {
            cluster.check_running()?;
            self.verify(cluster)?;
            let from = cluster.position() + 1;
            let read = cluster.log.read(from, LOG_READ_BYTES, Duration::ZERO);
            let entries = read.map_err(|error| cluster.read_failed(error))?;
            if entries.is_empty() && cluster.position() < position {
                let said =
                    format!("the log has no entry {from}, though it acknowledged {position}");
                return Err(EngineError::new(ErrorKind::StorageUnavailable, said));
            }
            self.apply_entries(cluster, entries)?;
        }
        Ok(())
    }

    /// Applies entries that need not be read, as far as they follow what is applied: those of others may stand between.
    pub(super) fn apply_known(&self, cluster: &Cluster, mut known: Vec<LogEntry>) -> Result<()> {
        let next = cluster.position() + 1;
        let following = (next..).zip(&known);
        let count = following.take_while(|(next, entry)| entry.position == *next);
        known.truncate(count.count());
        if known.is_empty() {
            return Ok(());
        }
        self.apply_entries(cluster, known)
    }

    /// Applies entries that follow each other, those that are not applied yet.
    pub(super) fn apply_entries(&self, cluster: &Cluster, entries: Vec<LogEntry>) -> Result<()> {
        let mut applier = lock(&cluster.applier);
        cluster.check_running()?;
        let mut run = Vec::new();
        let mut next = applier.position() + 1;
        for entry in entries {
            if entry.position < next {
                continue;
            }
            if entry.position > next {
                let said = format!("the log answered entry {} for {next}", entry.position);
                return Err(EngineError::new(ErrorKind::StorageUnavailable, said));
            }
            next += 1;
            let ready = match ready(cluster, entry) {
                Ok(ready) => ready,
                Err(error) => {
                    self.apply_run(cluster, &mut applier, run)?;
                    return Err(error);
                }
            };
            if ready.needs_filing() {
                self.apply_run(cluster, &mut applier, std::mem::take(&mut run))?;
                self.file_all(&|| true)?;
            }
            let is_reloaded = ready.is_reloaded();
            run.push(ready);
            if is_reloaded {
                self.apply_run(cluster, &mut applier, std::mem::take(&mut run))?;
                self.reload(cluster, &mut applier)?;
            }
        }
        self.apply_run(cluster, &mut applier, run)
    }

    /// One transaction.
    fn apply_run(
        &self,
        cluster: &Cluster,
        applier: &mut MutexGuard<'_, Applier>,
        run: Vec<Ready>,
    ) -> Result<()> {
        let Some(last) = run.last().map(|ready| ready.entry.position) else {
            return Ok(());
        };
        let (position, config) = (applier.position(), &applier.config);
        let written = self.store.write(|tables| {
            // What was committed lazily is gone where the file had to be opened again.
            let mut applied = stored::applied(tables)?;
            if applied.map_or(0, |applied| applied.position) != position {
                return Err(reverted());
            }
            let mut outcomes = Vec::new();
            for Ready { entry, work, .. } in run {
                let now = after(applied.as_ref(), &entry);
                let mut context = Context::new(tables, config, now.at);
                match work {
                    Work::Decoded(mutations) => {
                        for mutation in mutations {
                            // A refusal is for the node that asked.
                            let _ = mutation.apply_any(&mut context)?;
                        }
                    }
                    Work::Own(writes) => {
                        let writes = writes.into_iter();
                        let all: Result<Vec<Outcome>> =
                            writes.map(|write| (write.apply)(&mut context)).collect();
                        outcomes.push((entry.id, all?));
                    }
                }
                applied = Some(now);
            }
            if let Some(applied) = &applied {
                stored::set_applied(tables, applied)?;
            }
            Ok((applied, outcomes))
        });
        let (applied, outcomes) = match written {
            Ok(written) => written,
            Err(failure) => {
                self.reload(cluster, applier)?;
                return Err(failure.error);
            }
        };
        applier.applied = applied;
        let at = applied.map_or(i64::MIN, |applied| applied.at.ticks());
        cluster.applied_at.store(at, Ordering::Release);
        cluster.applied.store(last, Ordering::Release);
        let mut own = lock(&cluster.own);
        for (id, outcomes) in outcomes {
            if let Some(own) = own.get_mut(&id) {
                own.outcomes = Some(outcomes);
            }
        }
        drop(own);
        cluster.waiters.wake_through(last);
        self.wake_for_events();
        Ok(())
    }

    /// Goes back to what the file holds, where it lost what was not synced: it was opened again after a failure, be it under a read.
    pub(super) fn align(&self, cluster: &Cluster) -> Result<()> {
        let mut applier = lock(&cluster.applier);
        let applied = stored::applied(&self.store.snapshot()?)?;
        if applied != applier.applied {
            self.reload(cluster, &mut applier)?;
        }
        Ok(())
    }

    /// Takes over what the file holds of what is kept in memory.
    fn reload(&self, cluster: &Cluster, applier: &mut Applier) -> Result<()> {
        let snapshot = self.store.snapshot()?;
        applier.applied = stored::applied(&snapshot)?;
        cluster.applied.store(applier.position(), Ordering::Release);
        if let Some(swept) = meta::swept(&snapshot)? {
            self.swept_at.store(swept.ticks(), Ordering::Release);
        }
        if let Some(lines) = stored::fleet_configuration(&snapshot)? {
            take_over(&mut applier.config, &lines);
            take_over(&mut write(&cluster.config), &lines);
        }
        Ok(())
    }
}

/// The error of a transaction before which the file lost what was not synced; it is applied again.
fn reverted() -> EngineError {
    let said = "the file was opened again without what was not synced yet; the log is applied again from there";
    EngineError::new(ErrorKind::StorageUnavailable, said)
}

/// The entry with its mutations, or why this node stops at it.
fn ready(cluster: &Cluster, entry: LogEntry) -> Result<Ready> {
    let mut own = lock(&cluster.own);
    let writes = own
        .get_mut(&entry.id)
        .map(|own| std::mem::take(&mut own.writes));
    drop(own);
    // Those of an entry that could not be written when it was tried first are gone.
    if let Some(writes) = writes.filter(|writes| !writes.is_empty()) {
        let tags = writes.iter().filter_map(|write| write.logged.as_ref());
        let tags = tags.map(|(tag, _)| *tag).collect();
        let work = Work::Own(writes);
        return Ok(Ready { entry, tags, work });
    }
    let (mut tags, mut mutations) = (Vec::new(), Vec::new());
    let decoded = EntryReader::new(&entry.body).and_then(|mut reader| {
        reader.try_for_each(|mutation| {
            let mutation = mutation?;
            tags.push(mutation.tag);
            mutations.push(mutation.decode_any()?);
            Ok(())
        })
    });
    decoded.map_err(|error| {
        let said = format!(
            "this node stops before entry {} of the log: {error}",
            entry.position
        );
        cluster.halt(error.kind(), said)
    })?;
    let work = Work::Decoded(mutations);
    Ok(Ready { entry, tags, work })
}
