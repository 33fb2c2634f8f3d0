//! A node that has no space for an entry of the log still refuses the keys that later entries revoke.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::error::Result;
use crate::limits::LOG_READ_BYTES;
use crate::locks::lock;
use crate::mutation::RevokeKey;
use crate::mutation::logged::entry::EntryReader;
use crate::mutation::logged::{Tag, decode};

use super::Cluster;

/// The keys that entries revoke which this node has not applied.
#[derive(Debug, Default)]
pub(super) struct LookAhead {
    /// The position of the last entry that was read ahead.
    through: AtomicU64,
    revoked: Mutex<BTreeSet<u64>>,
}

impl LookAhead {
    /// Reads from there on again if the log ends earlier than it was read.
    pub(super) fn end_at(&self, last: u64) {
        self.through.fetch_min(last, Ordering::AcqRel);
    }
}

impl Cluster {
    /// Whether an entry that is not applied revokes the key of that number.
    pub(crate) fn is_revoked_ahead(&self, key: u64) -> bool {
        let ahead = &self.look_ahead;
        ahead.through.load(Ordering::Acquire) > self.position()
            && lock(&ahead.revoked).contains(&key)
    }

    /// Reads the next entries after those that were read ahead or applied.
    pub(super) fn look_ahead(&self) -> Result<()> {
        let LookAhead { through, revoked } = &self.look_ahead;
        let (applied, looked) = (self.position(), through.load(Ordering::Acquire));
        if looked <= applied {
            lock(revoked).clear();
        }
        let from = applied.max(looked) + 1;
        let read = self.log.read(from, LOG_READ_BYTES, Duration::ZERO);
        for entry in read.map_err(|error| self.read_failed(error))? {
            for logged in EntryReader::new(&entry.body, self.rules)? {
                let logged = logged?;
                if logged.tag == Tag::RevokeKey {
                    let revoke: RevokeKey = decode(logged.tag, logged.bytes)?;
                    lock(revoked).insert(revoke.id);
                }
            }
            through.store(entry.position, Ordering::Release);
        }
        Ok(())
    }
}
