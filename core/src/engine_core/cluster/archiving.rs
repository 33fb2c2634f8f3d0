//! The entries that a host archives: those that this node applied, as the log has them.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::error::{EngineError, ErrorKind, Result};
use crate::limits::LOG_ARCHIVED_BYTES;
use crate::locks::lock;
use crate::log::{AppliedEntries, Chain, EntryId, LogEntry, LogError, LogErrorKind};
use crate::store::cluster as stored;

use super::super::EngineCore;
use super::Cluster;

impl Cluster {
    /// The position at the last sync of the file.
    pub(super) fn durable(&self) -> u64 {
        self.durable.load(Ordering::Acquire)
    }

    /// Sets the position up to which the host has archived the log: what comes after it is not trimmed.
    pub(crate) fn set_archived(&self, position: u64) {
        self.archived.store(position, Ordering::Release);
    }
}

impl EngineCore {
    /// The entries after a position, as far as they are durable here; `None` before the first entry.
    pub(crate) fn entries_after(
        &self,
        position: u64,
        chain: Chain,
    ) -> Result<Option<AppliedEntries>> {
        let Some(cluster) = self.cluster() else {
            return Ok(None);
        };
        cluster.check_running()?;
        // Damage of the own store says nothing about the entries.
        let applied = self.store.snapshot();
        let applied = applied.and_then(|snapshot| stored::applied(&snapshot));
        let store_unread = |error| unread("the store of this node cannot be read", error);
        let Some(applied) = applied.map_err(store_unread)? else {
            return Ok(None);
        };
        let mut found = AppliedEntries {
            fleet: EntryId(applied.fleet),
            position,
            chain,
            entries: Vec::new(),
            durable: cluster.durable(),
        };
        if position >= found.durable {
            return Ok(Some(found));
        }
        let read = cluster
            .log
            .read(position + 1, LOG_ARCHIVED_BYTES, Duration::ZERO);
        match read {
            Ok(entries) => {
                found.entries = checked(cluster, position, chain, found.durable, entries)?;
            }
            Err(error) if error.kind == LogErrorKind::Trimmed => {
                let first = first_kept(cluster, applied.position).map_err(log_unread)?;
                let begin = first.unwrap_or((applied.position, applied.chain));
                (found.position, found.chain) = begin;
            }
            // Unlike a failed read of the follower it raises no doubt: nothing of it is applied.
            Err(error) => return Err(log_unread(error)),
        }
        Ok(Some(found))
    }
}

fn unread(message: &str, cause: impl std::error::Error + Send + Sync + 'static) -> EngineError {
    EngineError::caused(ErrorKind::StorageUnavailable, message, cause)
}

fn log_unread(error: LogError) -> EngineError {
    unread("the log that the nodes share cannot be read", error)
}

/// The position and the chain of the first entry that the log has, up to the one that is applied; `None` where the log keeps no chain.
fn first_kept(cluster: &Cluster, applied: u64) -> Result<Option<(u64, Chain)>, LogError> {
    let first = cluster.log.bounds(applied)?.first;
    let entry = cluster.entry_at(first)?.filter(|_| first <= applied);
    Ok(entry.and_then(|entry| Some((first, entry.chain?))))
}

/// The entries after `position` up to `durable`, each with its chain, if they follow it and are those that were applied.
fn checked(
    cluster: &Cluster,
    position: u64,
    mut chain: Chain,
    durable: u64,
    mut entries: Vec<LogEntry>,
) -> Result<Vec<LogEntry>> {
    // JetStream returns the entry at `position` too.
    entries.retain(|entry| (position + 1..=durable).contains(&entry.position));
    for (expected, entry) in (position + 1..).zip(&mut entries) {
        let before = chain;
        chain = entry.chain_after(&before);
        let is_known = entry.chain.is_none_or(|known| known == chain);
        // Not locked over all entries: commits push theirs.
        let is_applied = lock(&cluster.recent).has_applied(expected, &before, &chain);
        if entry.position != expected || !is_known || !is_applied {
            let message = format!(
                "entry {expected} of the log does not follow the one before it: the log, or what precedes the entry, is not what this node applied"
            );
            return Err(EngineError::new(ErrorKind::Corrupted, message));
        }
        entry.chain = Some(chain);
    }
    Ok(entries)
}
