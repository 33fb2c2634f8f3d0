//! How many instances sent something lately.

use crate::error::Result;
use crate::locks::lock;
use crate::timestamp::Timestamp;

use super::Store;
use super::rollup::latest;

impl Store {
    /// How many instances sent something after each of `times`, of what is filed. The first call reads all rows of `latest`; from then on
    /// each commit keeps the answer true.
    pub(crate) fn seen_after<const N: usize>(&self, times: [Timestamp; N]) -> Result<[u64; N]> {
        let bounds = times.map(Timestamp::ordered_ticks);
        // Of those who ask at the same time one reads.
        let _one_at_a_time = lock(&self.reading_seen);
        loop {
            if let Some(counts) = lock(&self.seen).later_than(bounds) {
                return Ok(counts);
            }
            let snapshot = {
                // Between two commits: each one that the snapshot lacks adds what it changes.
                let _no_commit = lock(&self.writing);
                let snapshot = self.snapshot()?;
                lock(&self.seen).begin();
                snapshot
            };
            let read = latest::all_seen(&snapshot);
            let mut seen = lock(&self.seen);
            match read {
                // It is done once more where the file was opened again meanwhile.
                Ok(times) => seen.fill(times),
                Err(error) => {
                    seen.forget();
                    return Err(error);
                }
            }
        }
    }
}
