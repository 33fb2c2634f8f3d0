//! The engine on a custom storage backend: anything that can read, write and sync byte ranges.
//!
//! `cargo run --example custom_backend -p deskfleet`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::io;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use deskfleet::backends::{BackendError, MemoryBackend, StorageBackend};
use deskfleet::{ActivityRecord, Engine, Record};

/// Counts the syncs that the engine requests.
#[derive(Debug)]
struct CountingBackend {
    inner: MemoryBackend,
    syncs: Arc<AtomicU64>,
}

impl StorageBackend for CountingBackend {
    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.inner.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.inner.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.syncs.fetch_add(1, Ordering::Relaxed);
        self.inner.sync_data()
    }

    // Without these three, which a wrapper forwards, nothing keeps a second engine from writing to the same storage.
    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.inner.try_lock_range(start, end)
    }

    fn try_lock_shared_range(
        &self,
        start: Bound<u64>,
        end: Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.inner.try_lock_shared_range(start, end)
    }

    fn close(&self) -> io::Result<()> {
        self.inner.close()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.inner.write(offset, data)
    }
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let syncs = Arc::new(AtomicU64::new(0));
    let engine = Engine::builder().open_backend(CountingBackend {
        inner: MemoryBackend::new(),
        syncs: Arc::clone(&syncs),
    })?;
    let logon = Record::from(ActivityRecord {
        activity: "Logon".into(),
        username: "jdoe".into(),
        ..ActivityRecord::default()
    });

    let opened = syncs.load(Ordering::Relaxed);
    for _ in 0..100 {
        engine.record(logon.clone())?;
    }
    let one_by_one = syncs.load(Ordering::Relaxed) - opened;
    engine.record_all(&vec![logon; 100])?;
    let together = syncs.load(Ordering::Relaxed) - opened - one_by_one;

    println!("100 records one by one: {one_by_one} syncs; 100 at once: {together}");
    assert!(one_by_one >= 100, "each record waited for its own sync");
    assert!(together < one_by_one, "one commit holds them all");
    Ok(())
}
