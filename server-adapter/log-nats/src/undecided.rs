//! What is known of entries that may have been appended.

use std::collections::VecDeque;
use std::time::Duration;

use deskfleet::cluster::EntryId;

use crate::moment::Moment;

/// Entries that may have been appended, of which it is known since where. The engine appends one again at once, and few at a time.
const UNDECIDED_MAX: usize = 256;

/// The first attempt to append an entry.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attempted {
    /// The log does not have the entry up to here.
    pub(super) absent_through: u64,
    at: Moment,
}

impl Attempted {
    /// An attempt that begins now, with a log that was seen up to there.
    pub(super) fn new(absent_through: u64) -> Self {
        Self {
            absent_through,
            at: Moment::now(),
        }
    }

    /// Whether the servers may not recognise the entry any more, which they do for `window`.
    pub(super) fn may_be_forgotten(&self, window: Duration) -> bool {
        // Half of it is for a response that is under way, and for what the clocks of the servers differ by.
        Moment::now().since(self.at) >= window / 2
    }
}

/// The entries that may have been appended; the oldest first.
#[derive(Debug, Default)]
pub(super) struct Undecided(VecDeque<(EntryId, Attempted)>);

impl Undecided {
    pub(super) fn take(&mut self, id: EntryId) -> Option<Attempted> {
        let index = self.0.iter().position(|(known, _)| *known == id)?;
        self.0.remove(index).map(|(_, attempted)| attempted)
    }

    pub(super) fn put(&mut self, id: EntryId, attempted: Attempted) {
        if self.0.len() >= UNDECIDED_MAX {
            self.0.pop_front();
        }
        self.0.push_back((id, attempted));
    }
}
