//! When each instance sent something last, in memory: the times of the rows of `latest`, which each commit keeps true. A question
//! counts them; reading all rows again after each filing would take tens of milliseconds for a large fleet.

use std::cmp::Ordering;

/// Times that are not in order yet, up to which nothing is sorted, however few instances there are; or that commits leave while the rows
/// are read.
const CHANGES_KEPT: usize = 1024;
const CHANGES_WHILE_READ_MAX: usize = 1 << 20;

/// What a transaction changes; times as [`Timestamp::ordered_ticks`](crate::timestamp::Timestamp::ordered_ticks).
#[derive(Debug, Default)]
pub(super) struct SeenChanges {
    removed: Vec<u64>,
    added: Vec<u64>,
}

impl SeenChanges {
    /// A row has the time `after` where it had `before`; `None` where there is no row.
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
    /// What was committed since.
    changes: SeenChanges,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nobody asked yet, or the file was opened again.
    #[default]
    Unknown,
    /// The rows are being read, as of some commit; what is committed after it is in the changes.
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

    /// Takes over the times of the rows that were read, in any order, unless they were forgotten meanwhile.
    pub(super) fn fill(&mut self, times: Vec<u64>) {
        if self.state == State::Reading {
            self.state = State::Known;
            self.changes.added.extend(times);
            self.put_in_order();
        }
    }

    /// Forgets all: what is in the file is not known any more.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Adds what was committed.
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

    /// How many are later than each of `bounds`; `None` where the rows must be read first.
    pub(super) fn later_than<const N: usize>(&mut self, bounds: [u64; N]) -> Option<[u64; N]> {
        if self.state != State::Known {
            return None;
        }
        self.put_in_order();
        let times = &self.times;
        let later = |bound| times.len() - times.partition_point(|time| *time <= bound);
        Some(bounds.map(|bound| later(bound) as u64))
    }

    /// One pass over all times: cheaper than to find the place of each change.
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
