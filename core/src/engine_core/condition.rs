//! Whether the medium takes writes: how much of it is free, and whether the file is still where it was opened.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{EngineError, ErrorKind, Result};
use crate::limits::RESERVE_BYTES;
use crate::locks::lock;
use crate::model::{AuditAction, WriteClass};
use crate::mutation::{AuditAccess, Outcome};
use crate::observer::Event;
use crate::store::telemetry::arrivals::Arrivals;
use crate::store::telemetry::segments::READY_BYTES;

use super::EngineCore;
use super::write::Write;

/// What was last reported to the host of the file.
#[derive(Debug, Default)]
pub(super) struct Reported {
    /// Whether the file was displaced.
    displaced: AtomicBool,
    /// The damage.
    damage: Mutex<Option<String>>,
    /// Whether the reserve was missing.
    no_reserve: AtomicBool,
}

/// Sets what was reported last; returns whether it changed.
fn has_changed(reported: &AtomicBool, now: bool) -> bool {
    reported.swap(now, Ordering::AcqRel) != now
}

/// The space that writes of one commit may take.
pub(super) struct SpaceLeft {
    /// [`u64::MAX`] if the host does not know it.
    bytes: u64,
    min: u64,
}

impl SpaceLeft {
    /// Takes the space for a write of `bytes` bytes; refuses it where it would leave less free than its class does.
    pub(super) fn take(&mut self, class: WriteClass, bytes: u64) -> Result<()> {
        let left = class.free_bytes(self.min);
        let needed = left.saturating_add(bytes);
        if left > 0 && self.bytes < needed {
            let message = class.refusal(self.bytes, needed);
            return Err(EngineError::new(ErrorKind::LowDisk, message));
        }
        self.bytes = self.bytes.saturating_sub(bytes);
        Ok(())
    }

    /// The first arrivals for which there is space, and why the others are refused.
    pub(super) fn for_arrivals(
        &mut self,
        mut arrivals: Vec<Arrivals>,
    ) -> (Vec<Arrivals>, Option<EngineError>) {
        let mut refusal = None;
        let fitting = arrivals.iter().take_while(|arrivals| {
            refusal = self
                .take(WriteClass::Telemetry, arrivals.bytes() as u64)
                .err();
            refusal.is_none()
        });
        let fitting = fitting.count();
        arrivals.truncate(fitting);
        (arrivals, refusal)
    }

    /// Judges each write by its own class. Returns the writes for which there is space, why the others are refused, and the class
    /// of the transaction: the first class among them that is refused as space shrinks. An error if all are refused.
    pub(super) fn for_writes(
        &mut self,
        writes: Vec<Write>,
    ) -> Result<(WriteClass, Vec<Result<Write>>)> {
        let (mut class, mut refusal) = (WriteClass::Essential, None);
        let count = writes.len();
        let mut refused = 0;
        let judge = |write: Write| match self.take(write.class, write.bytes as u64) {
            Ok(()) => {
                class = class.min(write.class);
                Ok(write)
            }
            Err(error) => {
                refused += 1;
                refusal = Some(error.clone());
                Err(error)
            }
        };
        let judged = writes.into_iter().map(judge).collect();
        match refusal {
            Some(refusal) if refused == count => Err(refusal),
            _ => Ok((class, judged)),
        }
    }
}

impl EngineCore {
    /// Notifies the host, never while this thread commits or files, because the host may call the engine. Panics of the observer
    /// are caught.
    pub(crate) fn observe(&self, event: &Event<'_>) {
        if let Event::CommitFailed { error } | Event::Internal { error } = event {
            self.store.note_damage(error);
        }
        if let Some(observer) = &self.injected.observer
            && !self.defer(event)
        {
            // The panic hook has reported the panic.
            let _ = catch_unwind(AssertUnwindSafe(|| observer.event(event)));
        }
    }

    /// The space that is free now.
    pub(super) fn space_left(&self) -> SpaceLeft {
        let free = self.injected.free_space.as_ref().and_then(|free| free());
        SpaceLeft {
            bytes: free.unwrap_or(u64::MAX),
            min: self.config.limits.free_bytes_min,
        }
    }

    /// What is refused for want of space, if anything is.
    pub(super) fn refused_for_space(&self) -> Option<String> {
        let SpaceLeft { bytes, min } = self.space_left();
        WriteClass::refused_with(bytes, min)
    }

    /// Creates a missing reserve if there is space for it beside filing. Without reports of free space all writes may take
    /// everything, and there is no reserve.
    pub(super) fn keep_reserve(&self) -> Result<()> {
        if self.store.has_reserve() || self.injected.free_space.is_none() {
            return Ok(());
        }
        self.space_left().take(WriteClass::Filing, RESERVE_BYTES)?;
        self.store.make_reserve()
    }

    /// Whether the segments of the queue fit the table when the store is closed; some blocks take twice their bytes there.
    pub(super) fn has_space_for_queue(&self) -> bool {
        let bytes = self.store.queue().bytes().saturating_mul(2);
        bytes == 0 || self.space_left().take(WriteClass::Filing, bytes).is_ok()
    }

    /// Whether the disk has too little space for telemetry and for segments that are kept ready for it.
    pub(super) fn is_short_of_space(&self) -> bool {
        let taken = self.space_left().take(WriteClass::Telemetry, READY_BYTES);
        taken.is_err()
    }

    /// Whether the disk has enough space also after such segments are made: else upkeep would write and remove them in turn.
    pub(super) fn has_space_for_segments(&self) -> bool {
        let bytes = READY_BYTES.saturating_mul(2);
        self.space_left().take(WriteClass::Telemetry, bytes).is_ok()
    }

    /// [`Self::keep_reserve`] for upkeep, which reports when the reserve is used and when it is back.
    pub(super) fn keep_reserve_reported(&self) {
        let kept = self.keep_reserve();
        if has_changed(&self.reported.no_reserve, kept.is_err()) {
            match &kept {
                Err(error) => self.observe(&Event::ReserveMissing { error }),
                Ok(()) => self.observe(&Event::ReserveMade),
            }
        }
    }

    /// Writes the audit row of data that is handed out. On a full disk, and on a read-only store, the data is handed out without
    /// a row; on a full disk the host is notified.
    pub(crate) fn audit_access(&self, row: AuditAccess) -> Result<()> {
        if self.store.is_read_only() {
            return Ok(());
        }
        let action = row.action;
        let outcome = self.run(row);
        self.audited(action, outcome)
    }

    /// Returns whether the data may be handed out after this outcome of its row.
    pub(crate) fn audited(&self, action: AuditAction, outcome: Outcome) -> Result<()> {
        match outcome {
            Err(error) if error.is_for_space() => {
                let action = action.as_str();
                self.observe(&Event::Unaudited { action });
                Ok(())
            }
            written => written,
        }
    }

    /// Makes sure that the file is where it was opened; reports to the host when that changes.
    pub(super) fn check_file(&self) -> Result<()> {
        let checked = self.store.check_file(true);
        if has_changed(&self.reported.displaced, checked.is_err()) {
            match &checked {
                Err(error) => self.observe(&Event::FileDisplaced { error }),
                Ok(()) => self.observe(&Event::FileReturned),
            }
        }
        checked
    }

    /// Reports to the host what is damaged, once.
    pub(super) fn report_damage(&self) {
        let found = self.store.damage().err();
        let message = found.as_ref().map(EngineError::to_string);
        let is_new = {
            let mut reported = lock(&self.reported.damage);
            let is_new = *reported != message;
            *reported = message;
            is_new
        };
        if let Some(error) = found.filter(|_| is_new) {
            self.observe(&Event::Damaged { error: &error });
        }
    }

    /// Reports to the host that a copy of the store lacks blocks of the queue.
    pub(crate) fn report_left_out(&self, blocks: usize) {
        if blocks > 0 {
            let message =
                format!("the backup lacks blocks of the queue that are damaged: {blocks}");
            let error = &EngineError::new(ErrorKind::Corrupted, message);
            self.observe(&Event::Damaged { error });
        }
    }
}
