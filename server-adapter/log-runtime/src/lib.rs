//! What the adapters of logs have in common: a thread for the requests to the servers, and how a URL is refused.

use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::Duration;
use std::{fmt, fs};

use bytes::Bytes;
use deskfleet::cluster::{
    Appended, Chain, EntryId, Log, LogBounds, LogEntry, LogError, LogErrorKind, NodeReport,
};
use tokio::runtime::{Builder, Runtime};

/// The longest name of a fleet, in bytes.
pub const FLEET_BYTES_MAX: usize = 64;

/// A client of the servers that keep a log; [`ServedLog`] makes a [`Log`] of it. The methods are those of [`Log`].
pub trait LogClient: Send + Sync + 'static {
    /// The name of the fleet.
    fn fleet(&self) -> &str;

    /// See [`Log::append`].
    fn append(
        &self,
        id: EntryId,
        body: Bytes,
    ) -> impl Future<Output = Result<Appended, LogError>> + Send;

    /// See [`Log::body_max`].
    fn body_max(&self) -> usize;

    /// See [`Log::read`].
    fn read(
        &self,
        from: u64,
        bytes_max: usize,
        patience: Duration,
    ) -> impl Future<Output = Result<Vec<LogEntry>, LogError>> + Send;

    /// See [`Log::bounds`].
    fn bounds(&self, seen: u64) -> impl Future<Output = Result<LogBounds, LogError>> + Send;

    /// See [`Log::trim`].
    fn trim(&self, below: u64) -> impl Future<Output = Result<(), LogError>> + Send;

    /// See [`Log::report`].
    fn report(
        &self,
        node: String,
        report: String,
    ) -> impl Future<Output = Result<(), LogError>> + Send;

    /// See [`Log::reports`].
    fn reports(&self) -> impl Future<Output = Result<Vec<NodeReport>, LogError>> + Send;

    /// See [`Log::forget`].
    fn forget(&self, node: String) -> impl Future<Output = Result<(), LogError>> + Send;

    /// See [`Log::restore`].
    fn restore(
        &self,
        before: Chain,
        entry: LogEntry,
    ) -> impl Future<Output = Result<bool, LogError>> + Send;

    /// See [`Log::resume`].
    fn resume(&self, takeover: u64) -> impl Future<Output = Result<(), LogError>> + Send;

    /// See [`Log::warnings`].
    fn warnings(&self) -> Vec<String>;
}

/// A log on servers. Its requests run on a thread of its own, so it can be used from a thread of any runtime.
pub struct ServedLog<C> {
    thread: LogThread,
    client: Arc<C>,
}

impl<C: LogClient> ServedLog<C> {
    /// Starts the thread, and runs `connect` on it.
    ///
    /// # Errors
    /// Those of `connect`; [`LogErrorKind::Unavailable`] when the operating system gives no thread.
    pub fn open(
        connect: impl Future<Output = Result<Arc<C>, LogError>> + Send + 'static,
    ) -> Result<Self, LogError> {
        let thread = LogThread::start()?;
        let client = thread.run(connect)?;
        Ok(Self { thread, client })
    }

    /// The client.
    #[must_use]
    pub fn client(&self) -> &C {
        &self.client
    }

    /// Runs a request to its end.
    fn run<T: Send + 'static, F: Future<Output = Result<T, LogError>> + Send + 'static>(
        &self,
        request: impl FnOnce(Arc<C>) -> F,
    ) -> Result<T, LogError> {
        self.thread.run(request(Arc::clone(&self.client)))
    }
}

impl<C: LogClient> fmt::Debug for ServedLog<C> {
    /// Without the address, which may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServedLog")
            .field("fleet", &self.client.fleet())
            .finish_non_exhaustive()
    }
}

impl<C: LogClient> Log for ServedLog<C> {
    fn append(&self, id: EntryId, body: &[u8]) -> Result<Appended, LogError> {
        let body = Bytes::copy_from_slice(body);
        self.run(|client| async move { client.append(id, body).await })
    }

    fn body_max(&self) -> usize {
        self.client.body_max()
    }

    fn read(
        &self,
        from: u64,
        bytes_max: usize,
        patience: Duration,
    ) -> Result<Vec<LogEntry>, LogError> {
        self.run(|client| async move { client.read(from, bytes_max, patience).await })
    }

    fn bounds(&self, seen: u64) -> Result<LogBounds, LogError> {
        self.run(|client| async move { client.bounds(seen).await })
    }

    fn trim(&self, below: u64) -> Result<(), LogError> {
        self.run(|client| async move { client.trim(below).await })
    }

    fn report(&self, node: &str, report: &str) -> Result<(), LogError> {
        let (node, report) = (node.to_owned(), report.to_owned());
        self.run(|client| async move { client.report(node, report).await })
    }

    fn reports(&self) -> Result<Vec<NodeReport>, LogError> {
        self.run(|client| async move { client.reports().await })
    }

    fn forget(&self, node: &str) -> Result<(), LogError> {
        let node = node.to_owned();
        self.run(|client| async move { client.forget(node).await })
    }

    fn restore(&self, before: &Chain, entry: &LogEntry) -> Result<bool, LogError> {
        let (before, entry) = (*before, entry.clone());
        self.run(move |client| async move { client.restore(before, entry).await })
    }

    fn resume(&self, takeover: u64) -> Result<(), LogError> {
        self.run(move |client| async move { client.resume(takeover).await })
    }

    fn warnings(&self) -> Vec<String> {
        self.client.warnings()
    }
}

/// A runtime with one thread; `None` only while it is dropped.
struct LogThread(Option<Runtime>);

impl LogThread {
    fn start() -> Result<Self, LogError> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("deskfleet-log")
            .enable_all()
            .build()
            .map_err(|error| LogError::new(LogErrorKind::Unavailable, error.to_string()))?;
        Ok(Self(Some(runtime)))
    }

    /// Blocks until the task has ended, also where the caller is a thread of another runtime.
    fn run<T: Send + 'static>(
        &self,
        task: impl Future<Output = Result<T, LogError>> + Send + 'static,
    ) -> Result<T, LogError> {
        let (sender, receiver) = mpsc::sync_channel(1);
        if let Some(runtime) = &self.0 {
            runtime.spawn(async move {
                // Fails only where the caller is gone.
                let _ = sender.send(task.await);
            });
        }
        let ended = || LogError::new(LogErrorKind::Unknown, "the thread of the log ended");
        receiver.recv().unwrap_or_else(|_| Err(ended()))
    }
}

impl Drop for LogThread {
    /// Waits for nothing: a request may wait for servers that do not respond.
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// The refusal of a URL, or of what is given beside it.
#[must_use]
pub fn unusable(message: impl fmt::Display) -> LogError {
    let message = format!("the URL of the log is not usable: {message}");
    LogError::new(LogErrorKind::Unsafe, message)
}

/// Reads a file that is given beside a URL.
///
/// # Errors
/// [`LogErrorKind::Unsafe`] where that fails.
pub fn read_file(path: &Path) -> Result<String, LogError> {
    fs::read_to_string(path)
        .map_err(|error| unusable(format!("cannot read {}: {error}", path.display())))
}
