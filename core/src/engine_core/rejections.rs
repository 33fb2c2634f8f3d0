//! How much telemetry was refused.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{EngineError, ErrorKind};
use crate::model::Rejection;

use super::EngineCore;

/// The refused records since the engine was opened, by reason.
#[derive(Debug, Default)]
pub(super) struct Rejections([AtomicU64; Rejection::ALL.len()]);

impl EngineCore {
    /// Counts records that were refused.
    pub(crate) fn count_rejected(&self, reason: Rejection, records: u64) {
        if let Some(count) = self.rejections.0.get(reason as usize) {
            count.fetch_add(records, Ordering::Relaxed);
        }
    }

    /// Counts records that were refused with `error`. It does not count those that may be stored nevertheless.
    pub(crate) fn count_unaccepted(&self, error: &EngineError, records: u64) {
        let kind = error.kind();
        if kind == ErrorKind::QueueFull {
            self.count_rejected(Rejection::QueueFull, records);
        } else if matches!(kind, ErrorKind::LowDisk | ErrorKind::StorageUnavailable) {
            self.count_rejected(Rejection::Storage, records);
        }
    }

    /// The refused records since the engine was opened, for each reason.
    pub(crate) fn rejected(&self) -> [(Rejection, u64); Rejection::ALL.len()] {
        Rejection::ALL.map(|reason| {
            let count = self.rejections.0.get(reason as usize);
            (
                reason,
                count.map_or(0, |count| count.load(Ordering::Relaxed)),
            )
        })
    }
}
