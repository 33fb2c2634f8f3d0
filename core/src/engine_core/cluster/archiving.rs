//! The entries that a host archives: those that this node applied, as the log has them.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::error::{EngineError, ErrorKind, Result};
use crate::limits::LOG_READ_BYTES;
use crate::locks::lock;
use crate::log::{AppliedEntries, Chain, EntryId, LogEntry, LogErrorKind};
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
        let Some(applied) = stored::applied(&self.store.snapshot()?)? else {
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
        match cluster
            .log
            .read(position + 1, LOG_READ_BYTES, Duration::ZERO)
        {
            Ok(entries) => {
                found.entries = checked(cluster, position, chain, found.durable, entries)?
            }
            Err(error) if error.kind == LogErrorKind::Trimmed => {
                (found.position, found.chain) = (applied.position, applied.chain);
            }
            // Unlike a failed read of the follower it raises no doubt: nothing of it is applied.
            Err(error) => {
                let message = "the log that the nodes share cannot be read";
                let kind = ErrorKind::StorageUnavailable;
                return Err(EngineError::caused(kind, message, error));
            }
        }
        Ok(Some(found))
    }
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
