//! The entries of the log that no durable transaction has yet. They are applied again when the file is opened again.

use std::collections::VecDeque;

use crate::error::{EngineError, ErrorKind, Result};

use super::codec::Decoder;

/// The first byte of a control item; that of a block is its version.
const CONTROL: u8 = 255;

/// The first item of a frame that has an entry. Other frames have one as long as the tables may lack an entry before them: it reveals that
/// the frame of that entry is damaged.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Control<'b> {
    /// How many entries the log had before this frame.
    before: u64,
    entry: Option<&'b [u8]>,
}

impl<'b> Control<'b> {
    /// `None` for any other item.
    pub(super) fn read(item: &'b [u8]) -> Option<Self> {
        let mut decoder = Decoder::new(item.strip_prefix(&[CONTROL])?);
        let before = u64::from_le_bytes(decoder.array().ok()?);
        let entry = Some(decoder.remaining()).filter(|entry| !entry.is_empty());
        Some(Self { before, entry })
    }

    fn bytes(&self) -> Vec<u8> {
        let entry = self.entry.unwrap_or_default();
        let before = self.before.to_le_bytes();
        [[CONTROL].as_slice(), &before, entry].concat()
    }
}

/// How much of the log the tables have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct LogPosition {
    /// The entries that are applied.
    pub(super) entries: u64,
    /// The number of the first item of the log that is still needed.
    pub(super) from: u64,
}

/// Entries in the order of the log: first those that are applied, without a sync, then those that are not applied yet.
#[derive(Debug, Default)]
pub(super) struct Journal {
    /// The number of each item in the log, and the entry.
    entries: VecDeque<(u64, Vec<u8>)>,
    /// How many entries the log had before these.
    before: u64,
    applied: usize,
    /// The bytes of the entries.
    bytes: usize,
    /// Whether an entry after these may be in the log although its sync failed.
    doubtful: bool,
}

impl Journal {
    /// The journal of a store whose tables have that many entries durably.
    pub(super) fn new(before: u64) -> Self {
        Self {
            before,
            ..Self::default()
        }
    }

    fn count(&self) -> u64 {
        self.before + self.entries.len() as u64
    }

    /// The control item of the next frame, with this entry if there is one; `None` if it needs none.
    pub(super) fn control(&self, entry: Option<&[u8]>) -> Option<Vec<u8>> {
        let before = self.count();
        (entry.is_some() || !self.entries.is_empty()).then(|| Control { before, entry }.bytes())
    }

    /// Adds an entry that was appended; returns its position among all entries of the log.
    pub(super) fn push(&mut self, number: u64, entry: Vec<u8>) -> u64 {
        self.bytes += entry.len();
        self.entries.push_back((number, entry));
        self.count() - 1
    }

    /// Adds what a crash left in the log. An error where entries before it are missing.
    pub(super) fn recover(&mut self, number: u64, control: &Control<'_>) -> Result<()> {
        if control.before > self.count() {
            let message = format!(
                "writes that were acknowledged are missing in the queue beside the store: one of its segments is damaged before item \
                 {number}; restore a backup, or make an empty folder in the place of that of the queue to go on without the changes of the \
                 last second and the telemetry that was not filed"
            );
            return Err(EngineError::new(ErrorKind::Corrupted, message));
        }
        if let Some(entry) = control.entry
            && control.before == self.count()
        {
            let _ = self.push(number, entry.to_vec());
        }
        Ok(())
    }

    /// How many entries of the log are applied.
    pub(super) fn applied_count(&self) -> u64 {
        self.before + self.applied as u64
    }

    /// How many entries through the one at `position` are not applied.
    pub(super) fn through(&self, position: u64) -> usize {
        let left = (position + 1).saturating_sub(self.applied_count());
        usize::try_from(left).unwrap_or(usize::MAX)
    }

    /// How many entries a durable write passes over that has none: those that are not applied, as their commit panicked, and a doubtful
    /// one. None of them was acknowledged.
    pub(super) fn unsettled(&self) -> usize {
        self.entries.len() - self.applied + usize::from(self.doubtful)
    }

    /// Records whether the entry that was appended last is in doubt. The next that is appended makes it void.
    pub(super) fn set_doubtful(&mut self, doubtful: bool) {
        self.doubtful = doubtful;
    }

    /// Records that the next `count` entries are applied, or passed over.
    pub(super) fn mark_applied(&mut self, count: usize) {
        let known = self.entries.len() - self.applied;
        self.applied += count.min(known);
        if count > known {
            self.before += 1;
            self.doubtful = false;
        }
    }

    /// Counts a doubtful entry as passed over if tables have `entries` of them: the transaction that did so failed, and took effect.
    pub(super) fn align(&mut self, entries: u64) {
        if entries > self.count() {
            self.before += entries - self.count();
            self.doubtful = false;
        }
    }

    /// Records that all entries are, or are about to be.
    pub(super) fn mark_all_applied(&mut self) {
        self.applied = self.entries.len();
    }

    /// Drops the applied entries: a transaction made them durable.
    pub(super) fn drop_durable(&mut self) {
        let durable = self.entries.drain(..self.applied);
        self.bytes -= durable.map(|(_, entry)| entry.len()).sum::<usize>();
        self.before += self.applied as u64;
        self.applied = 0;
    }

    /// The bytes of all entries.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The position of a transaction that applies `count` entries. `needed` is the first other item of the log that is needed.
    pub(super) fn position(&self, count: usize, needed: u64) -> LogPosition {
        let next = self.entries.get(self.applied + count);
        let next = next.map(|(number, _)| *number);
        LogPosition {
            entries: self.applied_count() + count as u64,
            from: next.map_or(needed, |next| next.min(needed)),
        }
    }

    /// The applied entries that tables lack which have `entries` of the log.
    pub(super) fn lacking(&self, entries: u64) -> impl Iterator<Item = &[u8]> {
        let known = usize::try_from(entries.saturating_sub(self.before)).unwrap_or(usize::MAX);
        let applied = self.entries.iter().take(self.applied);
        applied.skip(known).map(|(_, entry)| entry.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_items_read_as_written_and_blocks_are_none() {
        for entry in [None, Some(b"entry".as_slice())] {
            let control = Control { before: 7, entry };
            assert_eq!(Control::read(&control.bytes()), Some(control));
        }
        assert_eq!(Control::read(&[1, 0, 0, 0, 0, 0, 0, 0, 0]), None);
        assert_eq!(Control::read(&[]), None);
    }

    #[test]
    fn entry_that_is_missing_is_noticed_by_the_next_control_item() {
        let mut written = Journal::new(3);
        let items: Vec<_> = [Some(b"one".as_slice()), Some(b"two"), None]
            .into_iter()
            .zip(10..)
            .map(|(entry, number)| {
                let item = written.control(entry).unwrap();
                if let Some(entry) = entry {
                    written.push(number, entry.to_vec());
                }
                (number, item)
            })
            .collect();
        for lost in 0..=items.len() {
            let mut found = Journal::new(3);
            let left = items.iter().enumerate().filter(|(index, _)| *index != lost);
            let mut recovered =
                left.map(|(_, (number, item))| (*number, Control::read(item).unwrap()));
            let recovered: Result<()> =
                recovered.try_for_each(|(number, control)| found.recover(number, &control));
            assert_eq!(recovered.is_err(), lost < 2, "{lost}");
        }
        // What the tables have may be missing.
        let mut found = Journal::new(5);
        for (number, item) in &items {
            found
                .recover(*number, &Control::read(item).unwrap())
                .unwrap();
        }
        assert_eq!(found.bytes(), 0);
    }

    #[test]
    fn doubtful_entry_is_passed_over_by_a_durable_write_or_voided_by_the_next() {
        let mut journal = Journal::new(3);
        journal.push(10, vec![1]);
        journal.set_doubtful(true);
        assert_eq!(journal.unsettled(), 2);
        let passed_over = journal.position(2, 20);
        assert_eq!(
            passed_over,
            LogPosition {
                entries: 5,
                from: 20
            }
        );
        journal.mark_applied(2);
        journal.drop_durable();
        assert_eq!(
            (journal.unsettled(), journal.position(0, 20)),
            (0, passed_over)
        );
        journal.set_doubtful(true);
        journal.align(6);
        assert_eq!(journal.unsettled(), 0);
        assert_eq!(journal.push(30, vec![2]), 6);
        journal.set_doubtful(true);
        journal.set_doubtful(false);
        assert_eq!(journal.unsettled(), 1);
    }

    #[test]
    fn position_names_the_first_entry_that_is_not_applied() {
        let mut journal = Journal::new(0);
        for number in [4, 6, 9] {
            journal.push(number, vec![0]);
        }
        let at = |entries, from| LogPosition { entries, from };
        assert_eq!([0, 1, 2].map(|entry| journal.through(entry)), [1, 2, 3]);
        assert_eq!(journal.position(0, 5), at(0, 4));
        assert_eq!(journal.position(1, 5), at(1, 5));
        journal.mark_applied(2);
        assert_eq!(journal.position(0, 20), at(2, 9));
        assert_eq!(journal.position(1, 20), at(3, 20));
        assert_eq!(journal.lacking(1).count(), 1);
        journal.drop_durable();
        assert_eq!((journal.bytes(), journal.through(2)), (1, 1));
        assert_eq!(journal.position(0, 20), at(2, 9));
        assert_eq!(journal.lacking(0).count(), 0);
    }
}
