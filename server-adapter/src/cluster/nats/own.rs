//! What this node appended, until it reads it back: all of an entry is known here but its time, which the servers announce.

use std::collections::VecDeque;

use bytes::Bytes;
use deskfleet::{EntryId, LogEntry};

/// The entries of one commit or two; each has up to a megabyte.
const APPENDED_MAX: usize = 4;
/// Announcements come about when an append is answered; those of others come in between.
const ANNOUNCED_MAX: usize = 64;

/// The oldest first.
#[derive(Debug, Default)]
pub(super) struct Own {
    /// What is being appended.
    appending: Vec<EntryId>,
    appended: VecDeque<(u64, EntryId, Bytes)>,
    /// Without their bodies.
    announced: VecDeque<LogEntry>,
}

impl Own {
    pub(super) fn appending(&mut self, id: EntryId) {
        self.appending.push(id);
    }

    /// `position` is `None` where it may not have been appended.
    pub(super) fn appended(&mut self, position: Option<u64>, id: EntryId, body: Bytes) {
        self.appending.retain(|appending| *appending != id);
        if let Some(position) = position {
            keep(&mut self.appended, (position, id, body), APPENDED_MAX);
        }
    }

    /// Returns whether it is being appended here.
    pub(super) fn announced(&mut self, entry: LogEntry) -> bool {
        let is_own = self.appending.contains(&entry.id);
        keep(&mut self.announced, entry, ANNOUNCED_MAX);
        is_own
    }

    /// The entry of a position, if it was appended here and announced; only once.
    pub(super) fn take(&mut self, position: u64) -> Option<LogEntry> {
        let index = self.appended.iter().position(|(at, ..)| *at == position)?;
        let (_, id, body) = self.appended.remove(index)?;
        let is_own = |entry: &&LogEntry| entry.position == position && entry.id == id;
        let announced = self.announced.iter().rev().find(is_own)?;
        Some(LogEntry {
            body: body.into(),
            ..announced.clone()
        })
    }
}

fn keep<T>(all: &mut VecDeque<T>, one: T, max: usize) {
    if all.len() >= max {
        all.pop_front();
    }
    all.push_back(one);
}

#[cfg(test)]
mod tests {
    use deskfleet::Timestamp;

    use super::*;

    fn announced(position: u64, id: u8, at: i64) -> LogEntry {
        LogEntry {
            position,
            at: Timestamp::from_ticks(at),
            id: EntryId([id; 16]),
            body: Vec::new(),
            chain: None,
        }
    }

    #[test]
    fn own_entry_has_its_body_and_the_announced_time() {
        let mut own = Own::default();
        own.announced(announced(6, 1, 600));
        own.announced(announced(7, 2, 700));
        own.appended(Some(7), EntryId([2; 16]), Bytes::from_static(b"body"));
        let expected = LogEntry {
            body: b"body".to_vec(),
            ..announced(7, 2, 700)
        };
        assert_eq!(own.take(6), None, "another node's");
        assert_eq!(own.take(7), Some(expected));
        assert_eq!(own.take(7), None);
    }

    #[test]
    fn entry_that_was_announced_as_another_or_not_at_all_is_not_known() {
        let mut own = Own::default();
        own.announced(announced(7, 1, 700));
        for position in [7, 8] {
            own.appended(Some(position), EntryId([2; 16]), Bytes::new());
            assert_eq!(own.take(position), None);
        }
    }
}
