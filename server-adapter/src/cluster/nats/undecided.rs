//! What is known of entries that may have been appended.

use std::collections::VecDeque;

use deskfleet::EntryId;

/// Entries that may have been appended, of which it is known since where. The engine appends one again at once, and few at a time.
const UNDECIDED_MAX: usize = 256;

/// The entries that may have been appended, each with a position up to which the log does not have it; the oldest first.
#[derive(Debug, Default)]
pub(super) struct Undecided(VecDeque<(EntryId, u64)>);

impl Undecided {
    pub(super) fn take(&mut self, id: EntryId) -> Option<u64> {
        let index = self.0.iter().position(|(known, _)| *known == id)?;
        self.0
            .remove(index)
            .map(|(_, absent_through)| absent_through)
    }

    pub(super) fn put(&mut self, id: EntryId, absent_through: u64) {
        if self.0.len() >= UNDECIDED_MAX {
            self.0.pop_front();
        }
        self.0.push_back((id, absent_through));
    }
}
