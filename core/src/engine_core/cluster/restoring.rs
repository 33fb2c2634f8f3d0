//! Restoring the entries that a log lost.
//!
//! A standby of the log that takes over may lack what the server before it acknowledged, and the nodes that applied it have the only copies. Each of
//! them appends what it has after the end of the log, as it was. Until all have done so, or for ten seconds, nothing new is appended: it would take
//! the place of what another node has still to restore.

use std::collections::{BTreeSet, VecDeque};

use crate::error::{EngineError, Result};
use crate::limits::{LOG_RECENT_BYTES, TAKEOVER_SECONDS};
use crate::locks::lock;
use crate::log::{LogBounds, LogEntry, LogError, LogErrorKind};
use crate::store::cluster::{Applied, Hash};
use crate::timestamp::Timestamp;

use super::Cluster;
use super::report::Report;

/// Seconds between two looks at the log of a node that waits: pauses of two seconds, and what the calls take.
const SEEN_SECONDS: i64 = 5;
/// What an entry takes in memory beside its body.
const ENTRY_BYTES: usize = size_of::<Recent>();

/// The newest entries that this node applied, without a gap.
#[derive(Debug, Default)]
pub(super) struct RecentEntries {
    /// The position before the first of them, and the chain before that.
    preceding: Option<(u64, Hash)>,
    entries: VecDeque<Recent>,
    bytes: usize,
}

/// An entry, with the chain before it.
#[derive(Debug, Clone)]
pub(super) struct Recent {
    before: Hash,
    entry: LogEntry,
}

impl Recent {
    /// `entry` has its own chain.
    pub(super) fn new(before: Hash, entry: LogEntry) -> Self {
        Self { before, entry }
    }

    fn bytes(&self) -> usize {
        ENTRY_BYTES + self.entry.body.len()
    }
}

impl RecentEntries {
    /// Those of a node that begins after `applied`.
    pub(super) fn after(applied: Option<&Applied>) -> Self {
        Self {
            preceding: applied.map(|applied| (applied.position, applied.before)),
            ..Self::default()
        }
    }

    /// Adds the entry that was applied last. It may have been applied before, if the file has lost it since; another one takes the place of those
    /// from its position on.
    pub(super) fn push(&mut self, recent: Recent) {
        let position = recent.entry.position;
        let is_known = |known: &Recent| known.entry.chain == recent.entry.chain;
        if self.get(position).is_some_and(is_known) {
            return;
        }
        let is_later = |of: &Recent| of.entry.position >= position;
        while self.entries.back().is_some_and(is_later)
            && let Some(later) = self.entries.pop_back()
        {
            self.bytes -= later.bytes();
        }
        if self.last() != position.checked_sub(1) {
            *self = Self::default();
        }
        self.bytes += recent.bytes();
        self.entries.push_back(recent);
        while self.bytes > LOG_RECENT_BYTES
            && self.entries.len() > 1
            && let Some(oldest) = self.entries.pop_front()
        {
            self.bytes -= oldest.bytes();
            self.preceding = Some((oldest.entry.position, oldest.before));
        }
    }

    fn last(&self) -> Option<u64> {
        let last = self.entries.back().map(|recent| recent.entry.position);
        last.or_else(|| self.preceding.map(|(position, _)| position))
    }

    fn get(&self, position: u64) -> Option<&Recent> {
        let first = self.entries.front()?.entry.position;
        let index = position.checked_sub(first)?;
        self.entries.get(usize::try_from(index).ok()?)
    }

    /// Whether the entry of a position, with these chains before and with it, is the one that was applied; true of one that is not kept.
    pub(super) fn has_applied(&self, position: u64, before: &Hash, chain: &Hash) -> bool {
        let applied = self.get(position).and_then(|recent| recent.entry.chain);
        self.chain_before(position).is_none_or(|of| of == *before)
            && applied.is_none_or(|of| of == *chain)
    }

    /// The chain before the entry of a position.
    fn chain_before(&self, position: u64) -> Option<Hash> {
        let preceding = self.preceding.filter(|(known, _)| *known == position);
        let before = preceding.map(|(_, before)| before);
        before.or_else(|| Some(self.get(position)?.before))
    }
}

/// A takeover of the log, as long as nothing is appended because of it.
#[derive(Debug, Clone)]
pub(super) struct Takeover {
    number: u64,
    /// The nodes that were on the list before it.
    nodes: BTreeSet<String>,
    /// Those that have not reported that they restored what they have.
    missing: BTreeSet<String>,
    /// Whether this node restored what it has.
    has_restored: bool,
    /// The end of the log, which moves as entries are restored, and since when it has not moved.
    last: u64,
    since: Timestamp,
    /// When the log said so last, and whether it has responded since.
    seen: Timestamp,
    is_seen: bool,
}

impl Cluster {
    /// Appends what the log has lost of the entries that this node has. Returns what the log holds then.
    pub(super) fn restore(&self, bounds: LogBounds, now: Timestamp) -> Result<LogBounds> {
        let mut restored = Vec::new();
        let bounds = self.restore_after(bounds, &mut restored);
        if let Some(last) = restored.last() {
            self.note_restored(restored.len(), *last, now);
        }
        bounds
    }

    /// Adds the positions of the entries to `done` that it restores.
    fn restore_after(&self, mut bounds: LogBounds, done: &mut Vec<u64>) -> Result<LogBounds> {
        let recent = |position| lock(&self.recent).get(position).cloned();
        let mut is_same = false;
        while let Some(lost) = recent(bounds.last + 1) {
            if !is_same && !self.ends_before(&lost, bounds)? {
                break;
            }
            let restored = self.log.restore(&lost.before, &lost.entry);
            // Whether it was restored shows when the log is verified again.
            let kind = LogErrorKind::Unavailable;
            is_same = restored.map_err(|error| self.failed(LogError { kind, ..error }))?;
            if is_same {
                bounds.last = lost.entry.position;
                done.push(bounds.last);
                continue;
            }
            // Another node may have restored it.
            let later = self.log.bounds(bounds.last);
            let later = later.map_err(|error| self.failed(error))?;
            if later.last <= bounds.last {
                break;
            }
            bounds = later;
        }
        Ok(bounds)
    }

    /// Whether the log ends with the entry that this node applied before `lost`. An empty log is another one, not one that lost its end.
    fn ends_before(&self, lost: &Recent, bounds: LogBounds) -> Result<bool> {
        if bounds.last == 0 || bounds.first > bounds.last {
            return Ok(false);
        }
        let last = self.entry_at(bounds.last);
        let Some(last) = last.map_err(|error| self.failed(error))? else {
            return Ok(false);
        };
        let before = lock(&self.recent).chain_before(bounds.last);
        let chain = before.map(|before| last.chain_after(&before));
        Ok(last.chain.or(chain) == Some(lost.before))
    }

    /// Notes a takeover, or that there is none. Returns its number while the nodes have time left to restore what they have.
    pub(super) fn note_takeover(&self, bounds: LogBounds, now: Timestamp) -> Option<u64> {
        let mut noted = lock(&self.takeover);
        let Some(number) = bounds.takeover else {
            *noted = None;
            return None;
        };
        let known = noted.take().filter(|known| known.number == number);
        let known = known.unwrap_or_else(|| Takeover {
            number,
            nodes: self.listed_nodes(),
            missing: BTreeSet::new(),
            has_restored: false,
            last: bounds.last,
            since: now,
            seen: now,
            is_seen: true,
        });
        // The time begins again where this node, and perhaps others, could not use the log, and where a clock was set.
        let is_near = known.seen <= now && now <= known.seen.plus_seconds(SEEN_SECONDS);
        let is_counting = known.last == bounds.last && is_near;
        let since = if is_counting { known.since } else { now };
        *noted = Some(Takeover {
            last: bounds.last,
            since,
            seen: now,
            is_seen: true,
            ..known
        });
        (now < since.plus_seconds(TAKEOVER_SECONDS)).then_some(number)
    }

    /// This node has restored what it has.
    pub(super) fn note_all_restored(&self) {
        if let Some(takeover) = lock(&self.takeover).as_mut() {
            takeover.has_restored = true;
        }
    }

    /// The number of the takeover after which this node restored what it has; 0 where there is none.
    pub(super) fn restored_after(&self) -> u64 {
        let takeover = lock(&self.takeover);
        let restored = takeover.as_ref().filter(|takeover| takeover.has_restored);
        restored.map_or(0, |takeover| takeover.number)
    }

    /// Whether each node has reported that it restored what it has after this takeover. One that has halted does not.
    pub(super) fn have_all_restored(&self, number: u64) -> Result<bool> {
        let reports = self.log.reports().map_err(|error| self.failed(error))?;
        let mut noted = lock(&self.takeover);
        let Some(takeover) = noted.as_mut() else {
            return Ok(false);
        };
        takeover.missing = takeover.nodes.clone();
        for reported in reports {
            let report = Report::parse(&reported.report);
            if report.takeover == number || report.halted.is_some() {
                takeover.missing.remove(&reported.node);
            } else {
                takeover.missing.insert(reported.node);
            }
        }
        Ok(takeover.missing.is_empty())
    }

    /// Waits for a node no longer that is off the list.
    pub(super) fn await_no_more(&self, node: &str) {
        if let Some(takeover) = lock(&self.takeover).as_mut() {
            takeover.nodes.remove(node);
        }
    }

    /// Whether nothing is appended after a takeover, as the log said when it was asked last.
    pub(crate) fn is_taken_over(&self) -> bool {
        // Each request asks, so the reason of a halt is cloned only where there is a takeover.
        let is_seen = |takeover: &Takeover| takeover.is_seen;
        let is_taken_over = lock(&self.takeover).as_ref().is_some_and(is_seen);
        is_taken_over && self.halted().is_none()
    }

    /// The log does not respond.
    pub(super) fn lose_sight_of_takeover(&self) {
        if let Some(takeover) = lock(&self.takeover).as_mut() {
            takeover.is_seen = false;
        }
    }

    /// Why nothing is appended after a takeover, for the operator.
    pub(in crate::engine_core) fn awaited(&self) -> Option<String> {
        if !self.is_taken_over() {
            return None;
        }
        let missing = lock(&self.takeover).as_ref()?.missing.clone();
        let missing = Vec::from_iter(missing).join(", ");
        let missing = if missing.is_empty() {
            missing
        } else {
            format!(" (not yet: {missing})")
        };
        Some(format!(
            "another server took over the log, and may lack its last entries: writes are refused until the nodes have restored those{missing}, or for \
             {TAKEOVER_SECONDS} s after the last one was restored"
        ))
    }

    /// The error of a log that another server took over.
    pub(super) fn taken_over(&self) -> EngineError {
        let message = self.awaited().unwrap_or_default();
        self.failed(LogError::new(LogErrorKind::Unavailable, message))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU8, Ordering};

    use super::*;
    use crate::log::EntryId;

    /// Each has another chain.
    fn recent(position: u64, bytes: usize) -> Recent {
        static COUNT: AtomicU8 = AtomicU8::new(0);
        let entry = LogEntry {
            position,
            at: Timestamp::from_ticks(0),
            id: EntryId([0; 16]),
            body: vec![0; bytes],
            chain: Some([COUNT.fetch_add(1, Ordering::Relaxed); 16]),
        };
        Recent::new(Hash::default(), entry)
    }

    fn positions(entries: &RecentEntries) -> Vec<u64> {
        let entries = entries.entries.iter();
        entries.map(|recent| recent.entry.position).collect()
    }

    #[test]
    fn recent_entries_have_no_gap_and_no_position_twice() {
        let mut entries = RecentEntries::default();
        for (position, expected) in [
            (7, vec![7]),
            (8, vec![7, 8]),
            (9, vec![7, 8, 9]),
            (8, vec![7, 8]),
            (7, vec![7]),
            (8, vec![7, 8]),
            (10, vec![10]),
            (3, vec![3]),
        ] {
            entries.push(recent(position, 1));
            assert_eq!(positions(&entries), expected);
            assert_eq!(entries.bytes, expected.len() * (ENTRY_BYTES + 1));
        }
        assert!(entries.get(2).is_none() && entries.get(4).is_none());
        let third = entries.get(3).unwrap().clone();
        entries.push(recent(4, 1));
        entries.push(third);
        assert_eq!(positions(&entries), [3, 4], "the same entry again");
    }

    #[test]
    fn recent_entries_are_bounded_by_their_bytes_and_the_last_is_kept() {
        let mut entries = RecentEntries::default();
        for position in 1..=5 {
            entries.push(recent(position, LOG_RECENT_BYTES / 4));
        }
        assert_eq!(positions(&entries), [3, 4, 5]);
        entries.push(recent(6, LOG_RECENT_BYTES));
        assert_eq!(positions(&entries), [6]);
    }
}
