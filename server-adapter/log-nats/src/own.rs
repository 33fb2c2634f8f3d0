//! What this node appended, until it reads it back: all of an entry is known here but its time, which the servers announce.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use deskfleet::cluster::{EntryId, LogEntry};

use crate::moment::Moment;

/// This long after it was sent an entry is read from the servers again: they may have lost it, and have another in its place. That takes
/// another leader, which is elected after four seconds at the earliest.
const KNOWN_FOR: Duration = Duration::from_secs(1);
/// The entries of one commit or two; each has up to a megabyte.
const APPENDED_MAX: usize = 4;
/// Announcements come about when an append is answered; those of others come in between.
const ANNOUNCED_MAX: usize = 64;

/// The oldest first.
#[derive(Debug, Default)]
pub(super) struct Own {
    /// What is being appended, since when.
    appending: Vec<(EntryId, Moment)>,
    appended: VecDeque<Appended>,
    /// Without their bodies.
    announced: VecDeque<LogEntry>,
}

#[derive(Debug)]
struct Appended {
    position: u64,
    id: EntryId,
    body: Bytes,
    sent: Moment,
}

impl Own {
    pub(super) fn appending(&mut self, id: EntryId) {
        self.appending.push((id, Moment::now()));
    }

    /// `position` is `None` where it is not known, or was appended more than once.
    pub(super) fn appended(&mut self, position: Option<u64>, id: EntryId, body: Bytes) {
        let sent = self.appending.iter().position(|(known, _)| *known == id);
        let sent = sent.map(|index| self.appending.swap_remove(index).1);
        if let (Some(position), Some(sent)) = (position, sent) {
            let appended = Appended {
                position,
                id,
                body,
                sent,
            };
            keep(&mut self.appended, appended, APPENDED_MAX);
        }
    }

    /// Returns whether it is being appended here.
    pub(super) fn announced(&mut self, entry: LogEntry) -> bool {
        let is_own = self.appending.iter().any(|(id, _)| *id == entry.id);
        keep(&mut self.announced, entry, ANNOUNCED_MAX);
        is_own
    }

    /// The servers returned the entries up to a position: a caller that reads one of them again wants to know what the log has now.
    pub(super) fn read_through(&mut self, position: u64) {
        self.appended
            .retain(|appended| appended.position > position);
    }

    /// The entry of a position, if it was appended here just now and announced; only once.
    pub(super) fn take(&mut self, position: u64, now: Moment) -> Option<LogEntry> {
        let mut appended = self.appended.iter();
        let index = appended.position(|appended| appended.position == position)?;
        let own = self.appended.remove(index)?;
        if now.since(own.sent) > KNOWN_FOR {
            return None;
        }
        let is_own = |entry: &&LogEntry| entry.position == position && entry.id == own.id;
        let announced = self.announced.iter().rev().find(is_own)?;
        Some(LogEntry {
            body: own.body.into(),
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

    fn append(own: &mut Own, position: Option<u64>, id: u8, body: &'static [u8]) {
        own.appending(EntryId([id; 16]));
        own.appended(position, EntryId([id; 16]), Bytes::from_static(body));
    }

    #[test]
    fn own_entry_has_its_body_and_the_announced_time() {
        let mut own = Own::default();
        own.announced(announced(6, 1, 600));
        own.announced(announced(7, 2, 700));
        append(&mut own, Some(7), 2, b"body");
        let expected = LogEntry {
            body: b"body".to_vec(),
            ..announced(7, 2, 700)
        };
        let now = Moment::now();
        assert_eq!(own.take(6, now), None, "another node's");
        assert_eq!(own.take(7, now), Some(expected));
        assert_eq!(own.take(7, now), None);
    }

    #[test]
    fn entry_that_was_announced_as_another_or_not_at_all_or_long_ago_is_not_known() {
        let mut own = Own::default();
        own.announced(announced(7, 1, 700));
        own.announced(announced(9, 2, 900));
        for (position, passed) in [(7, 0), (8, 0), (9, 2)] {
            append(&mut own, Some(position), 2, b"");
            let now = Moment::now().after_suspension(KNOWN_FOR * passed);
            assert_eq!(own.take(position, now), None);
        }
    }

    #[test]
    fn entry_that_the_servers_returned_is_asked_of_them_again() {
        let mut own = Own::default();
        for position in [7, 8] {
            own.announced(announced(position.into(), position, 700));
            append(&mut own, Some(position.into()), position, b"");
        }
        own.read_through(7);
        assert_eq!(own.take(7, Moment::now()), None);
        assert!(own.take(8, Moment::now()).is_some());
    }

    #[test]
    fn only_what_is_being_appended_here_is_known_as_own() {
        let mut own = Own::default();
        own.appending(EntryId([2; 16]));
        assert!(!own.announced(announced(6, 1, 600)));
        assert!(own.announced(announced(7, 2, 700)));
        own.appended(None, EntryId([2; 16]), Bytes::new());
        assert!(!own.announced(announced(7, 2, 700)));
        assert_eq!(own.take(7, Moment::now()), None);
    }
}
