//! Operations of the disks, which Linux counts in `/sys/block`. Other systems have no such folder, and then there is no figure.

use std::fs;
use std::path::Path;

/// Reads and writes of all disks since the machine was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DiskOperations {
    reads: u64,
    writes: u64,
}

impl DiskOperations {
    /// The counts of now; `None` where the system has none.
    pub(super) fn read() -> Option<Self> {
        let mut found = None;
        for disk in fs::read_dir("/sys/block").ok()?.flatten() {
            // Of loop devices, mappings and arrays the operations are counted at the disk below.
            if !disk.path().join("device").exists() {
                continue;
            }
            if let Some((reads, writes)) = counts(&disk.path().join("stat")) {
                let sum = found.get_or_insert(Self {
                    reads: 0,
                    writes: 0,
                });
                sum.reads += reads;
                sum.writes += writes;
            }
        }
        found
    }

    /// Reads and writes after `before`; zero if a disk was taken away.
    pub(super) fn since(self, before: Self) -> (u64, u64) {
        (
            self.reads.saturating_sub(before.reads),
            self.writes.saturating_sub(before.writes),
        )
    }
}

/// The first and the fifth number of a file `stat`.
fn counts(file: &Path) -> Option<(u64, u64)> {
    let text = fs::read_to_string(file).ok()?;
    let mut numbers = text.split_ascii_whitespace().map(str::parse);
    let reads = numbers.next()?.ok()?;
    let writes = numbers.nth(3)?.ok()?;
    Some((reads, writes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_are_the_first_and_fifth_number() {
        let folder = tempfile::TempDir::new().unwrap();
        let file = folder.path().join("stat");
        fs::write(&file, "   1200    3  4 5   3400  6 7 8 9\n").unwrap();
        assert_eq!(counts(&file), Some((1200, 3400)));
        fs::write(&file, "1 2 3").unwrap();
        assert_eq!(counts(&file), None);
    }
}
