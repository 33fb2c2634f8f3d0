//! The current cost of a sync on this disk.

use std::fmt;
use std::fs::File;
use std::io::{Seek, Write};
use std::path::Path;
use std::time::Instant;

use crate::figures::median;

/// Blocks of 4 KiB, each with its `fdatasync`: the median in microseconds.
///
/// The two differ, on some disks by a factor of ten: a file that grew has metadata to sync as well. A log grows with
/// each batch; a database overwrites its pages.
#[derive(Debug, Clone, Copy)]
pub struct SyncMicros {
    /// At the end of a growing file.
    pub appended: f64,
    /// Over blocks that were written before.
    pub overwritten: f64,
}

impl SyncMicros {
    /// Measures it in `folder`.
    ///
    /// # Panics
    /// When the disk cannot be written.
    #[must_use]
    pub fn measure(folder: &Path) -> Self {
        let mut file = tempfile::tempfile_in(folder).expect("a file");
        let appended = blocks(&mut file);
        file.rewind().expect("the file's start");
        let overwritten = blocks(&mut file);
        Self {
            appended,
            overwritten,
        }
    }

    /// The medians of several measurements.
    #[must_use]
    pub fn median(measured: &[Self]) -> Self {
        Self {
            appended: median(measured.iter().map(|sync| sync.appended)),
            overwritten: median(measured.iter().map(|sync| sync.overwritten)),
        }
    }
}

impl fmt::Display for SyncMicros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (appended, overwritten) = (self.appended, self.overwritten);
        write!(
            f,
            "fdatasync of 4 KiB appended {appended:.0} µs, overwritten {overwritten:.0} µs (medians)"
        )
    }
}

fn blocks(file: &mut File) -> f64 {
    let times = (0..101).map(|_| {
        let start = Instant::now();
        file.write_all(&[7; 4096]).expect("a block is written");
        file.sync_data().expect("a block is synced");
        start.elapsed().as_secs_f64() * 1e6
    });
    median(times)
}
