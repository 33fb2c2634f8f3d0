//! Whether the medium takes writes: how much of it is free, and whether the file is still where it was opened.

use std::sync::atomic::Ordering;

use crate::error::{EngineError, ErrorKind, Result};
use crate::limits::FREE_BYTES_FLOOR;
use crate::observer::Event;

use super::EngineCore;

/// A medium with too little space.
pub(super) struct LowDisk {
    /// What is refused is refused with this.
    pub(super) error: EngineError,
    /// Whether not even that is written which gives space or takes rights back.
    pub(super) refuses_all: bool,
}

impl EngineCore {
    /// Whether there is too little space, where the host can tell.
    pub(super) fn low_disk(&self) -> Option<LowDisk> {
        let free = self.injected.free_space.as_ref()?()?;
        let min = self.config.limits.free_bytes_min;
        (free < min).then(|| LowDisk {
            error: EngineError::new(
                ErrorKind::LowDisk,
                format!("{free} bytes are free on the disk, fewer than the {min} that a write needs; free some space"),
            ),
            refuses_all: free < FREE_BYTES_FLOOR.min(min),
        })
    }

    /// Makes sure that the file is where it was opened; reports to the host when that changes.
    pub(super) fn check_place(&self) -> Result<()> {
        let placed = self.store.check_place();
        let displaced = placed.is_err();
        if self.displaced.swap(displaced, Ordering::AcqRel) != displaced {
            match &placed {
                Err(error) => self.observe(&Event::FileDisplaced { error }),
                Ok(()) => self.observe(&Event::FileReturned),
            }
        }
        placed
    }

    /// Whether the store can be read and takes writes.
    pub(crate) fn ready(&self) -> Result<()> {
        self.store.check_place()?;
        self.store.check_folder()?;
        if let Some(low) = self.low_disk() {
            return Err(low.error);
        }
        self.reader().map(drop)
    }
}
