//! Giving a log back the entries that it lost.
//!
//! A standby of the log that takes over may lack what the server before it acknowledged, and the nodes that applied it have the only copies. Each of
//! them appends what it has after the end of the log, as it was. Until all have done so, or for ten seconds, nothing new is appended: it would take
//! the place of what another node has still to give back.

use std::collections::VecDeque;
use std::time::Duration;

use crate::error::{EngineError, Result};
use crate::limits::{LOG_RECENT_BYTES, TAKEOVER_SECONDS};
use crate::locks::lock;
use crate::log::{LogBounds, LogEntry, LogError, LogErrorKind};
use crate::store::cluster::{Applied, Hash};
use crate::timestamp::Timestamp;

use super::Cluster;
use super::reports::Report;

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

    /// Adds the entry that was applied last, in place of those from its position on: it may have been applied before.
    pub(super) fn push(&mut self, recent: Recent) {
        let position = recent.entry.position;
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

    /// The chain before the entry of a position.
    fn chain_before(&self, position: u64) -> Option<Hash> {
        let preceding = self.preceding.filter(|(known, _)| *known == position);
        let before = preceding.map(|(_, before)| before);
        before.or_else(|| Some(self.get(position)?.before))
    }
}

/// A takeover of the log that this node waits after.
#[derive(Debug, Clone, Copy)]
pub(super) struct Takeover {
    number: u64,
    /// The end of the log, which moves as entries are given back.
    last: u64,
    since: Timestamp,
}

impl Cluster {
    /// Gives the log back the entries after its end that this node has. Returns what the log has then.
    pub(super) fn restore(&self, mut bounds: LogBounds, now: Timestamp) -> Result<LogBounds> {
        let began = bounds.last;
        let mut restored = 0;
        let recent = |position| lock(&self.recent).get(position).cloned();
        while let Some(lost) = recent(bounds.last + 1) {
            if restored == 0 && !self.ends_before(&lost, bounds)? {
                break;
            }
            let done = self.log.restore(&lost.before, &lost.entry);
            if done.map_err(|error| self.failed(error))? {
                restored += 1;
                bounds.last = lost.entry.position;
                continue;
            }
            // Another node may be giving it back.
            let later = self.log.bounds(bounds.last);
            let later = later.map_err(|error| self.failed(error))?;
            if later.last <= bounds.last {
                break;
            }
            bounds = later;
        }
        if restored > 0 {
            self.note_restored(restored, began, now);
        }
        Ok(bounds)
    }

    /// Whether the log ends with the entry that this node applied before `lost`. An empty log is another one, not one that lost its end.
    fn ends_before(&self, lost: &Recent, bounds: LogBounds) -> Result<bool> {
        if bounds.last == 0 || bounds.first > bounds.last {
            return Ok(false);
        }
        let read = self.log.read(bounds.last, 1, Duration::ZERO);
        let entries = read.map_err(|error| self.failed(error))?;
        let mut entries = entries.iter();
        let Some(last) = entries.find(|entry| entry.position == bounds.last) else {
            return Ok(false);
        };
        let before = lock(&self.recent).chain_before(bounds.last);
        let chain = before.map(|before| last.chain_after(&before));
        Ok(last.chain.or(chain) == Some(lost.before))
    }

    /// Whether the other nodes have time left to give back what they have.
    pub(super) fn others_may_restore(&self, number: u64, last: u64, now: Timestamp) -> bool {
        let mut takeover = lock(&self.takeover);
        let same = takeover.filter(|known| (known.number, known.last) == (number, last));
        // The time begins again where the clock was set back.
        let same = same.filter(|known| known.since <= now);
        let since = same.map_or(now, |known| known.since);
        *takeover = Some(Takeover {
            number,
            last,
            since,
        });
        now < since.plus_seconds(TAKEOVER_SECONDS)
    }

    /// Whether each node reported that it has given back what it has.
    pub(super) fn all_restored(&self, number: u64) -> bool {
        let reports = self.log.reports().unwrap_or_default();
        let mut reports = reports.iter().map(|of| Report::parse(&of.report));
        reports.all(|report| report.takeover == number)
    }

    /// The error of a log that another server took over.
    pub(super) fn taken_over(&self) -> EngineError {
        let message = format!(
            "another server took it over, which may lack its last entries: until each node has given back what it has, {TAKEOVER_SECONDS} s at \
             most, nothing is written"
        );
        self.failed(LogError::new(LogErrorKind::Unavailable, message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::EntryId;

    fn recent(position: u64, bytes: usize) -> Recent {
        let entry = LogEntry {
            position,
            at: Timestamp::from_ticks(0),
            id: EntryId([0; 16]),
            body: vec![0; bytes],
            chain: None,
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
        assert_eq!(entries.get(3).unwrap().entry.position, 3);
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
