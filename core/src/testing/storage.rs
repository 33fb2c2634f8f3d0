//! The storage of a double: memory that fails as the rules say, and that survives a power cut with what was synced.

use std::fmt;
use std::io;
use std::ops::{Bound, Range};
use std::sync::{Arc, Mutex};

use crate::locks::lock;
use crate::store::disk::backends::{BackendError, StorageBackend};

use super::pause::Pause;
use super::rule::{Rules, StorageFault};

/// The bytes, those that are durable, and the ranges in which the two may differ.
#[derive(Debug, Default)]
struct Medium {
    bytes: Vec<u8>,
    durable: Vec<u8>,
    unsynced: Vec<Range<usize>>,
    /// Raised by a power cut, so that an engine from before it reaches nothing.
    boot: u64,
}

impl Medium {
    fn sync(&mut self) {
        self.durable.resize(self.bytes.len(), 0);
        for range in self.unsynced.drain(..) {
            let range = range.start..range.end.min(self.bytes.len());
            if let (Some(to), Some(from)) =
                (self.durable.get_mut(range.clone()), self.bytes.get(range))
            {
                to.copy_from_slice(from);
            }
        }
    }

    fn write(&mut self, start: usize, data: &[u8]) -> io::Result<()> {
        let range = start..start.saturating_add(data.len());
        let target = self.bytes.get_mut(range.clone());
        target
            .ok_or(io::ErrorKind::UnexpectedEof)?
            .copy_from_slice(data);
        self.unsynced.push(range);
        Ok(())
    }
}

/// The medium of a double.
#[derive(Debug, Default)]
pub(super) struct DoubleStorage(Arc<Mutex<Medium>>);

impl DoubleStorage {
    /// Drops what was not synced, and cuts off the backends made before.
    pub(super) fn cut_power(&self) {
        let medium = &mut *lock(&self.0);
        medium.bytes.clone_from(&medium.durable);
        medium.unsynced.clear();
        medium.boot += 1;
    }

    /// Drops everything, and cuts off the backends made before.
    pub(super) fn erase(&self) {
        let mut medium = lock(&self.0);
        let boot = medium.boot + 1;
        *medium = Medium {
            boot,
            ..Medium::default()
        };
    }

    /// A backend to open an engine on.
    pub(super) fn backend(&self, rules: &Arc<Rules>, pause: &Arc<Pause>) -> Backend {
        Backend {
            boot: lock(&self.0).boot,
            medium: Arc::clone(&self.0),
            rules: Arc::clone(rules),
            pause: Arc::clone(pause),
        }
    }
}

/// The medium as one engine has it.
pub(super) struct Backend {
    medium: Arc<Mutex<Medium>>,
    boot: u64,
    rules: Arc<Rules>,
    pause: Arc<Pause>,
}

impl Backend {
    fn reach<T>(&self, run: impl FnOnce(&mut Medium) -> io::Result<T>) -> io::Result<T> {
        let mut medium = lock(&self.medium);
        if medium.boot != self.boot {
            return Err(io::Error::other("the power of this engine was cut"));
        }
        run(&mut medium)
    }
}

impl Rules {
    /// Whether the storage fails so now; counts it. Returns the latency in milliseconds.
    pub(super) fn storage_fails(&self, fault: StorageFault) -> Option<u64> {
        let rule = self.apply(|rule| rule.storage == Some(fault))?;
        Some(rule.latency.unwrap_or_default())
    }
}

fn position(offset: u64) -> io::Result<usize> {
    usize::try_from(offset).map_err(|_| io::ErrorKind::UnexpectedEof.into())
}

impl StorageBackend for Backend {
    /// The engine before has none any more: its power was cut.
    fn try_lock_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<bool, BackendError> {
        Ok(true)
    }

    fn try_lock_shared_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<bool, BackendError> {
        Ok(true)
    }

    fn len(&self) -> io::Result<u64> {
        self.reach(|medium| Ok(medium.bytes.len() as u64))
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let start = position(offset)?;
        self.reach(|medium| {
            let range = start..start.saturating_add(out.len());
            let source = medium.bytes.get(range);
            out.copy_from_slice(source.ok_or(io::ErrorKind::UnexpectedEof)?);
            Ok(())
        })
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        let length = usize::try_from(length).map_err(|_| io::ErrorKind::OutOfMemory)?;
        self.reach(|medium| {
            if length < medium.bytes.len() {
                // What is cut off is zero if the storage grows again before a sync.
                medium.unsynced.push(length..medium.bytes.len());
            }
            medium.bytes.resize(length, 0);
            Ok(())
        })
    }

    fn sync_data(&self) -> io::Result<()> {
        if let Some(milliseconds) = self.rules.storage_fails(StorageFault::Slow) {
            self.pause.wait(milliseconds);
        }
        let is_lost = self.rules.storage_fails(StorageFault::LostSync).is_some();
        self.reach(|medium| {
            if !is_lost {
                medium.sync();
            }
            Ok(())
        })
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let start = position(offset)?;
        let is_torn = self.rules.storage_fails(StorageFault::Torn).is_some();
        let (half, _) = data.split_at(if is_torn { data.len() / 2 } else { data.len() });
        self.reach(|medium| medium.write(start, half))?;
        if is_torn {
            return Err(io::Error::other("the write is torn, as a rule says"));
        }
        Ok(())
    }
}

impl fmt::Debug for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Backend")
            .field("boot", &self.boot)
            .finish_non_exhaustive()
    }
}
