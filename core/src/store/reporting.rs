//! Counting the instances that sent records lately.

use crate::error::Result;
use crate::locks::lock;
use crate::timestamp::Timestamp;

use super::Store;
use super::rollup::latest;

impl Store {
    /// The number of instances with filed records after each of `times`. The first call reads all rows of `latest`; after that
    /// each commit updates the times.
    pub(crate) fn seen_after<const N: usize>(&self, times: [Timestamp; N]) -> Result<[u64; N]> {
        let bounds = times.map(Timestamp::ordered_ticks);
        // One of several concurrent callers reads.
        let _one_at_a_time = lock(&self.reading_seen);
        loop {
            if let Some(counts) = lock(&self.seen).later_than(bounds) {
                return Ok(counts);
            }
            let snapshot = {
                // The snapshot is taken between two commits, so each later commit adds its changes.
                let _no_commit = lock(&self.writing);
                let snapshot = self.snapshot()?;
                lock(&self.seen).begin();
                snapshot
            };
            let read = latest::all_seen(&snapshot);
            let mut seen = lock(&self.seen);
            match read {
                // It is repeated if the file was opened again meanwhile.
                Ok(times) => seen.fill(times),
                Err(error) => {
                    seen.forget();
                    return Err(error);
                }
            }
        }
    }
}
