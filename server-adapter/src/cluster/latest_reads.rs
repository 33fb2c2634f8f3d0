//! Reads that have what any node acknowledged before, for clients that name no position: the log is asked where it ends, once for all
//! requests that wait, and applied up to there.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::{Thread, current, park};
use std::time::{Duration, Instant};
use std::{io, mem};

use deskfleet::Engine;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::locks::lock;
use crate::metrics::Metrics;
use crate::server::background::Background;

/// How long a request waits. Where that was too short, or the log could not be asked, none waits until the log was asked in less time, or as much
/// time has passed: reads then have what this node has applied.
const PATIENCE: Duration = Duration::from_secs(1);
/// Between two questions while none waits.
const PAUSE: Duration = Duration::from_millis(100);

/// The requests that wait, and the thread that asks for them.
#[derive(Debug, Default)]
pub(crate) struct LatestReads {
    waiting: Mutex<Vec<oneshot::Sender<()>>>,
    failed_at: Mutex<Option<Instant>>,
    /// Empty where reads do not wait.
    thread: OnceLock<Thread>,
}

impl LatestReads {
    /// Starts the thread.
    ///
    /// # Errors
    ///
    /// When the operating system gives none.
    pub(crate) fn start(
        self: &Arc<Self>,
        engine: Engine,
        metrics: Metrics,
    ) -> io::Result<Background> {
        let reads = Arc::clone(self);
        Background::start("deskfleet-latest", move |is_stopping| {
            let _ = reads.thread.set(current());
            while !is_stopping() {
                reads.ask(&engine, &metrics);
            }
        })
    }

    /// Asks for those who wait; a request that arrives meanwhile is of the next round, as this one may have seen the log before it.
    fn ask(&self, engine: &Engine, metrics: &Metrics) {
        let waiting = mem::take(&mut *lock(&self.waiting));
        if waiting.is_empty() {
            return park();
        }
        let begun = Instant::now();
        let caught_up = catch_unwind(AssertUnwindSafe(|| engine.catch_up()));
        if matches!(caught_up, Ok(Ok(()))) {
            let position = engine.position().unwrap_or_default();
            metrics.followed(position, engine.log_last().unwrap_or_default());
            if begun.elapsed() < PATIENCE {
                *lock(&self.failed_at) = None;
            }
        } else {
            self.note_failure();
        }
        for request in waiting {
            // One that no longer waits has dropped its end.
            let _ = request.send(());
        }
    }

    /// Waits until this node has applied what the log has now.
    pub(crate) async fn reached(&self) {
        let Some(thread) = self.thread.get() else {
            return;
        };
        let (request, reached) = oneshot::channel();
        let since_failure = self.since_failure();
        if let Some(since) = since_failure {
            // None waits, but one of them shows when the log responds again.
            let mut waiting = lock(&self.waiting);
            if since < PAUSE || !waiting.is_empty() {
                return;
            }
            waiting.push(request);
        } else {
            lock(&self.waiting).push(request);
        }
        thread.unpark();
        if since_failure.is_none() && timeout(PATIENCE, reached).await.is_err() {
            self.note_failure();
        }
    }

    /// Whether reads have what this node has applied, which may be less than what others wrote.
    pub(crate) fn is_skipping(&self) -> bool {
        self.since_failure().is_some()
    }

    /// The time since the last failure, while none waits.
    fn since_failure(&self) -> Option<Duration> {
        let failed_at = *lock(&self.failed_at);
        let since = failed_at.map(|at| at.elapsed());
        since.filter(|since| *since < PATIENCE)
    }

    fn note_failure(&self) {
        *lock(&self.failed_at) = Some(Instant::now());
    }
}
