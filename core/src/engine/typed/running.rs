//! Running an engine.

use std::path::Path;

use redb::StorageBackend;

use crate::config::Config;
use crate::engine::Engine;
use crate::error::{EngineError, ErrorKind, Result};
use crate::store::checking;
use crate::store::verify::CheckReport;
use crate::timestamp::Timestamp;

/// Running.
impl Engine {
    /// The configuration it was opened with.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.core().config
    }

    /// The time of the injected clock.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.core().now()
    }

    /// Commits all pending writes, unless a commit is in progress; returns their number. For
    /// [`CommitDriver::Host`](crate::CommitDriver::Host): once per turn of the event loop.
    #[expect(
        clippy::must_use_candidate,
        reason = "the count is for a host that wants it"
    )]
    pub fn commit_pending(&self) -> usize {
        self.core().lead()
    }

    /// Files all queued telemetry into history; returns the number of records.
    ///
    /// # Errors
    /// [`ErrorKind::StorageUnavailable`], [`ErrorKind::LowDisk`].
    pub fn file_pending(&self) -> Result<u64> {
        self.core().file_pending(&|| true)
    }

    /// Ends due actions, files telemetry, merges some history of finished days, and once an hour removes what is too old. Call it
    /// every second or so; reads are right without it.
    ///
    /// A wrong clock must not empty the store. When the clock is more than a day ahead of the last removal, the next removal
    /// waits until the clock has run for an hour, and each removal proceeds by at most one day. A host that calls this only now
    /// and then, and knows its clock to be right, calls [`Self::apply_retention`] instead.
    ///
    /// It files when a full pass is queued (131 072 records), or [`Limits::queue_high_water`](crate::Limits::queue_high_water), or half of
    /// [`Limits::queue_records`](crate::Limits::queue_records), and else
    /// every ten seconds of the clock. Where a thread commits, the thread that called this last is unparked once that many are queued: a
    /// loop that waits by `std::thread::park_timeout` goes on at once. [`Self::file_pending`] files at once.
    ///
    /// # Errors
    /// [`ErrorKind::StorageUnavailable`], [`ErrorKind::LowDisk`]. The steps before the error stay done.
    pub fn maintain(&self) -> Result<()> {
        self.maintain_while(|| true)
    }

    /// As [`Self::maintain`], but stops when `go_on` returns false, which is called before each short step. A later call does the
    /// rest. It is for a host that ends while there is much to do.
    ///
    /// # Errors
    /// As [`Self::maintain`].
    pub fn maintain_while(&self, go_on: impl Fn() -> bool) -> Result<()> {
        self.core().maintain(&go_on)
    }

    /// Removes what is too old, now, by the clock as it is.
    ///
    /// # Errors
    /// [`ErrorKind::StorageUnavailable`], [`ErrorKind::LowDisk`]. The steps before the error stay done.
    pub fn apply_retention(&self) -> Result<()> {
        self.core().sweep(self.now(), &|| true)
    }

    /// Checks the whole file: its pages, its values, and that its tables agree; what is broken is in the report. Nothing else
    /// runs in the meantime.
    ///
    /// # Errors
    /// [`ErrorKind::StorageUnavailable`].
    pub fn check(&self) -> Result<CheckReport> {
        self.core().settle();
        self.core().store.check()
    }

    /// Checks the file at `path` as [`Self::check`] does, a damaged one as far as it can be read. Not a byte of it is changed.
    ///
    /// # Errors
    /// [`ErrorKind::AlreadyOpen`] when an engine has it open, [`ErrorKind::ForeignFile`] and [`ErrorKind::NewerFormat`] when
    /// it is not ours or too new, [`ErrorKind::StorageUnavailable`] when there is none or it cannot be read.
    pub fn check_file(path: impl AsRef<Path>) -> Result<CheckReport> {
        checking::file(path.as_ref())
    }

    /// Writes a consistent copy into a new file, while the engine serves requests. Damaged blocks of the queue are left out, and
    /// [`Event::Damaged`](crate::Event::Damaged) reports them.
    ///
    /// # Errors
    /// [`ErrorKind::StorageUnavailable`] when the file exists or cannot be written; no partial file is left.
    pub fn backup(&self, destination: impl AsRef<Path>) -> Result<()> {
        self.core().settle();
        let now = self.now();
        let left_out = self.core().store.copy_to(destination.as_ref(), now)?;
        self.core().report_left_out(left_out);
        Ok(())
    }

    /// Writes a consistent copy into a backend that holds nothing yet, as [`Self::backup`] does.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] when it holds something, which stays as it is; [`ErrorKind::StorageUnavailable`] when it
    /// cannot be written.
    pub fn backup_to(&self, backend: impl StorageBackend) -> Result<()> {
        let length = backend.len().map_err(|error| {
            let message = "the backend for the copy does not tell its length";
            EngineError::caused(ErrorKind::StorageUnavailable, message, error)
        })?;
        if length > 0 {
            let message = "a copy needs a backend that holds nothing yet";
            return Err(EngineError::invalid("backend", message));
        }
        self.core().settle();
        let now = self.now();
        let left_out = self
            .core()
            .store
            .copy_into(("the destination", backend), now)?;
        self.core().report_left_out(left_out);
        Ok(())
    }

    /// Gives free pages back to the file system; returns whether the file changed.
    ///
    /// # Errors
    /// [`ErrorKind::StorageUnavailable`] while the store is read or written.
    pub fn compact(&self) -> Result<bool> {
        self.core().store.compact()
    }

    /// Commits all pending writes and closes the file; later calls return 503. It blocks: an async task calls it in
    /// `spawn_blocking` of tokio or the like. The last clone does this when it is dropped, but cannot return an error.
    ///
    /// # Errors
    /// [`ErrorKind::StorageUnavailable`] when something could not be written.
    pub fn close(&self) -> Result<()> {
        self.running.stop();
        self.core().close()
    }

    /// Makes sure that the store can be read as a whole and takes writes.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupted`] when a part of it is known to be damaged; requests that do not read that part are served.
    /// [`ErrorKind::StorageUnavailable`] when it cannot be read or its file was removed or replaced, [`ErrorKind::LowDisk`] when
    /// less is free than [`Limits::free_bytes_min`](crate::Limits::free_bytes_min).
    /// [`ErrorKind::StorageUnavailable`] too where it is open for reading only.
    pub fn ready(&self) -> Result<()> {
        self.core().ready()
    }

    /// Whether the store can be read and takes writes.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.ready().is_ok()
    }
}
