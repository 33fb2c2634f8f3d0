//! A log in memory.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use crate::clock::Clock;
use crate::locks::{lock, wait_up_to};

use super::{
    Appended, Chain, EntryId, Log, LogBounds, LogEntry, LogError, LogErrorKind, NodeReport,
};

/// A log that the engines of one process share, for tests and examples. Clones are the same log. Nothing survives the process.
#[derive(Clone)]
pub struct MemoryLog(Arc<Shared>);

struct Shared {
    clock: Box<dyn Clock>,
    body_max: usize,
    state: Mutex<LogState>,
    appended: Condvar,
}

#[derive(Default)]
struct LogState {
    /// Below which entries were removed.
    first: u64,
    /// The chain of the last entry that was removed.
    removed: Chain,
    entries: Vec<LogEntry>,
    positions: BTreeMap<EntryId, u64>,
    reports: BTreeMap<String, NodeReport>,
    takeovers: u64,
    /// Whether nothing is appended since the last takeover.
    is_taken_over: bool,
}

impl LogState {
    fn last(&self) -> u64 {
        self.first + self.entries.len() as u64
    }

    fn chain(&self) -> Chain {
        let last = self.entries.last();
        last.and_then(|last| last.chain).unwrap_or(self.removed)
    }

    fn lose_after(&mut self, last: u64) {
        let kept = last.saturating_sub(self.first);
        self.entries
            .truncate(usize::try_from(kept).unwrap_or(usize::MAX));
        self.positions.retain(|_, position| *position <= last);
    }

    /// Appends an entry with a chain.
    fn push(&mut self, mut entry: LogEntry) -> Chain {
        let chain = entry.chain_after(&self.chain());
        entry.chain = Some(chain);
        self.positions.insert(entry.id, entry.position);
        self.entries.push(entry);
        chain
    }
}

impl MemoryLog {
    /// An empty log with a clock of its own.
    pub fn new(clock: impl Clock) -> Self {
        Self::bounded(clock, usize::MAX)
    }

    /// The same, whose entries have at most that many bytes, as those of NATS JetStream have.
    pub fn bounded(clock: impl Clock, body_max: usize) -> Self {
        Self(Arc::new(Shared {
            clock: Box::new(clock),
            body_max,
            state: Mutex::default(),
            appended: Condvar::new(),
        }))
    }

    /// Takes the entries after `last` away, as a log does that is not safe and loses what it acknowledged: for tests.
    pub fn lose_after(&self, last: u64) {
        lock(&self.0.state).lose_after(last);
    }

    /// The same, as a standby does that takes over and lags the server before it.
    pub fn take_over_after(&self, last: u64) {
        let mut state = lock(&self.0.state);
        state.lose_after(last);
        state.takeovers += 1;
        state.is_taken_over = true;
    }
}

impl Log for MemoryLog {
    fn append(&self, id: EntryId, body: &[u8]) -> Result<Appended, LogError> {
        if body.len() > self.0.body_max {
            let message = format!("an entry of {} bytes is too long", body.len());
            return Err(LogError::new(LogErrorKind::Unavailable, message));
        }
        let mut state = lock(&self.0.state);
        if let Some(position) = state.positions.get(&id) {
            return Ok(Appended {
                position: *position,
                at: None,
                chain: None,
            });
        }
        if state.is_taken_over {
            let message = "another server took over the log, which does not append yet";
            return Err(LogError::new(LogErrorKind::Unavailable, message));
        }
        let position = state.last() + 1;
        let at = self.0.clock.now();
        let chain = state.push(LogEntry {
            position,
            at,
            id,
            body: body.to_vec(),
            chain: None,
        });
        drop(state);
        self.0.appended.notify_all();
        Ok(Appended {
            position,
            at: Some(at),
            chain: Some(chain),
        })
    }

    fn body_max(&self) -> usize {
        self.0.body_max
    }

    fn read(
        &self,
        from: u64,
        bytes_max: usize,
        patience: Duration,
    ) -> Result<Vec<LogEntry>, LogError> {
        let state = lock(&self.0.state);
        let waits = |state: &mut LogState| state.last() < from;
        let state = wait_up_to(&self.0.appended, state, patience, waits);
        let Some(skipped) = from.checked_sub(state.first + 1) else {
            let message = format!("the entry {from} was removed from the log");
            return Err(LogError::new(LogErrorKind::Trimmed, message));
        };
        let mut bytes = 0;
        let entries = state.entries.iter();
        let entries = entries.skip(usize::try_from(skipped).unwrap_or(usize::MAX));
        let entries = entries.take_while(|entry| {
            let fits = bytes < bytes_max.max(1);
            bytes += entry.body.len().max(1);
            fits
        });
        Ok(entries.cloned().collect())
    }

    fn bounds(&self, _seen: u64) -> Result<LogBounds, LogError> {
        let state = lock(&self.0.state);
        Ok(LogBounds {
            first: state.first + 1,
            last: state.last(),
            takeover: state.is_taken_over.then_some(state.takeovers),
        })
    }

    fn trim(&self, below: u64) -> Result<(), LogError> {
        let mut state = lock(&self.0.state);
        let removed = below.min(state.last() + 1).saturating_sub(state.first + 1);
        let count = usize::try_from(removed).unwrap_or(usize::MAX);
        let removed_entries: Vec<_> = state.entries.drain(..count).collect();
        for entry in removed_entries {
            state.positions.remove(&entry.id);
            state.removed = entry.chain.unwrap_or_default();
        }
        state.first += removed;
        Ok(())
    }

    fn report(&self, node: &str, report: &str) -> Result<(), LogError> {
        let report = NodeReport {
            node: node.to_owned(),
            at: self.0.clock.now(),
            report: report.to_owned(),
        };
        lock(&self.0.state).reports.insert(node.to_owned(), report);
        Ok(())
    }

    fn reports(&self) -> Result<Vec<NodeReport>, LogError> {
        Ok(lock(&self.0.state).reports.values().cloned().collect())
    }

    fn forget(&self, node: &str) -> Result<(), LogError> {
        lock(&self.0.state).reports.remove(node);
        Ok(())
    }

    fn restore(&self, before: &Chain, entry: &LogEntry) -> Result<bool, LogError> {
        let mut state = lock(&self.0.state);
        if (state.last() + 1, state.chain()) != (entry.position, *before) {
            return Ok(false);
        }
        state.push(entry.clone());
        drop(state);
        self.0.appended.notify_all();
        Ok(true)
    }

    fn resume(&self, takeover: u64) -> Result<(), LogError> {
        let mut state = lock(&self.0.state);
        state.is_taken_over &= state.takeovers != takeover;
        Ok(())
    }
}

impl std::fmt::Debug for MemoryLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = lock(&self.0.state);
        f.debug_struct("MemoryLog")
            .field("last", &state.last())
            .finish_non_exhaustive()
    }
}
