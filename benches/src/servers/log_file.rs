//! The two files that a log can be written to.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

/// Bytes of a segment of the preallocated log.
const SEGMENT_BYTES: usize = 4 << 20;
/// Its segments, which are written in turn.
const SEGMENTS: usize = 4;

/// Makes batches durable, each with one write and one `fdatasync`.
pub(super) trait LogFile: Send + 'static {
    /// Returns when `batch` is on the disk.
    fn append(&mut self, batch: &[u8]);
}

/// One file that grows, so that each sync has metadata to write as well.
pub(super) struct Growing {
    file: File,
    sync_delay: Duration,
}

impl Growing {
    pub(super) fn create(folder: &Path, sync_delay: Duration) -> Self {
        let file = File::create(folder.join("server.log")).expect("a log file");
        Self { file, sync_delay }
    }
}

impl LogFile for Growing {
    fn append(&mut self, batch: &[u8]) {
        self.file.write_all(batch).expect("the log is written");
        sync(&self.file, self.sync_delay);
    }
}

/// Segments that are written with zeros in advance and overwritten in place, so that a sync has only data to write. The
/// oldest is taken again when the others are full: nothing reads this log, so no segment is ever in use.
pub(super) struct Preallocated {
    segments: Vec<File>,
    current: usize,
    filled: usize,
    sync_delay: Duration,
}

impl Preallocated {
    pub(super) fn create(folder: &Path, sync_delay: Duration) -> Self {
        let segments = (0..SEGMENTS).map(|number| {
            let path = folder.join(format!("segment-{number}"));
            let mut segment = File::create(path).expect("a segment");
            segment
                .write_all(&vec![0; SEGMENT_BYTES])
                .expect("a segment is written");
            segment.sync_all().expect("a segment is synced");
            segment
        });
        Self {
            segments: segments.collect(),
            current: 0,
            filled: 0,
            sync_delay,
        }
    }
}

impl LogFile for Preallocated {
    fn append(&mut self, batch: &[u8]) {
        assert!(batch.len() <= SEGMENT_BYTES, "a batch fits in a segment");
        if self.filled + batch.len() > SEGMENT_BYTES {
            self.current = (self.current + 1) % SEGMENTS;
            self.filled = 0;
        }
        let segment = self.segments.get(self.current).expect("a segment");
        segment
            .write_all_at(batch, self.filled as u64)
            .expect("the log is written");
        sync(segment, self.sync_delay);
        self.filled += batch.len();
    }
}

fn sync(file: &File, delay: Duration) {
    file.sync_data().expect("the log is synced");
    super::wait(delay);
}
