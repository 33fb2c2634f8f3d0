//! When each instance last sent a record, in memory: the times of the rows of `latest`, which each commit updates. A question
//! counts them; reading all rows again after each filing would take tens of milliseconds for a large fleet.

use std::cmp::Ordering;

/// The number of unsorted times up to which nothing is sorted, or that commits add while the rows are read.
const CHANGES_KEPT: usize = 1024;
const CHANGES_WHILE_READ_MAX: usize = 1 << 20;

/// The changes of a transaction; times as [`Timestamp::ordered_ticks`](crate::timestamp::Timestamp::ordered_ticks).
#[derive(Debug, Default)]
pub(super) struct SeenChanges {
    removed: Vec<u64>,
    added: Vec<u64>,
}

impl SeenChanges {
    /// A row has the time `after` and had `before`; `None` without a row.
    pub(super) fn record_change(&mut self, before: Option<u64>, after: Option<u64>) {
        if before != after {
            self.removed.extend(before);
            self.added.extend(after);
        }
    }

    fn append(&mut self, mut other: Self) {
        self.removed.append(&mut other.removed);
        self.added.append(&mut other.added);
    }

    fn len(&self) -> usize {
        self.removed.len() + self.added.len()
    }
}

/// The times of all rows.
#[derive(Debug, Default)]
pub(super) struct SeenTimes {
    state: State,
    /// In order.
    times: Vec<u64>,
    /// The changes committed since.
    changes: SeenChanges,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The times were never read, or the file was opened again.
    #[default]
    Unknown,
    /// The rows are being read, as of some commit; the changes have later commits.
    Reading,
    Known,
}

impl SeenTimes {
    /// The rows are about to be read as of now.
    pub(super) fn begin(&mut self) {
        *self = Self {
            state: State::Reading,
            ..Self::default()
        };
    }

    /// Sets the times that were read from the rows, in any order, unless they were dropped meanwhile.
    pub(super) fn fill(&mut self, times: Vec<u64>) {
        if self.state == State::Reading {
            self.state = State::Known;
            self.changes.added.extend(times);
            self.put_in_order();
        }
    }

    /// Drops all times: the contents of the file are not known any more.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Adds the changes of a commit.
    pub(super) fn commit(&mut self, changes: SeenChanges) {
        if self.state == State::Unknown {
            return;
        }
        self.changes.append(changes);
        if self.state == State::Reading {
            if self.changes.len() > CHANGES_WHILE_READ_MAX {
                self.forget();
            }
        } else if self.changes.len() > CHANGES_KEPT.max(self.times.len()) {
            self.put_in_order();
        }
    }

    /// The number of times later than each of `bounds`; `None` if the rows must be read first.
    pub(super) fn later_than<const N: usize>(&mut self, bounds: [u64; N]) -> Option<[u64; N]> {
        if self.state != State::Known {
            return None;
        }
        self.put_in_order();
        let times = &self.times;
        let later = |bound| times.len() - times.partition_point(|time| *time <= bound);
        Some(bounds.map(|bound| later(bound) as u64))
    }

    /// One pass over all times is cheaper than a search for each change.
    fn put_in_order(&mut self) {
        let SeenChanges {
            mut removed,
            mut added,
        } = std::mem::take(&mut self.changes);
        if removed.is_empty() && added.is_empty() {
            return;
        }
        removed.sort_unstable();
        added.sort_unstable();
        let mut merged = Vec::with_capacity(self.times.len() + added.len());
        let (mut times, mut added) = (self.times.iter().peekable(), added.iter().peekable());
        let mut removed = removed.iter().peekable();
        loop {
            let is_old = match (times.peek(), added.peek()) {
                (Some(time), Some(new)) => time.cmp(new) != Ordering::Greater,
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (None, None) => break,
            };
            let next = if is_old { times.next() } else { added.next() };
            if let Some(time) = next
                && removed.next_if_eq(&time).is_none()
            {
                merged.push(*time);
            }
        }
        self.times = merged;
    }
}
