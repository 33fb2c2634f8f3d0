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
use crate::server::background::Background;

/// How long a request waits, and how long none waits after that was too short or the log could not be asked: reads then have what this
/// node has applied.
const PATIENCE: Duration = Duration::from_secs(1);

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
    pub(crate) fn start(self: &Arc<Self>, engine: Engine) -> io::Result<Background> {
        let reads = Arc::clone(self);
        Background::start("deskfleet-latest", move |is_stopping| {
            let _ = reads.thread.set(current());
            while !is_stopping() {
                reads.ask(&engine);
            }
        })
    }

    /// Asks for those who wait; a request that arrives meanwhile is of the next round, as this one may have seen the log before it.
    fn ask(&self, engine: &Engine) {
        let waiting = mem::take(&mut *lock(&self.waiting));
        if waiting.is_empty() {
            return park();
        }
        let caught_up = catch_unwind(AssertUnwindSafe(|| engine.catch_up()));
        if !matches!(caught_up, Ok(Ok(()))) {
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
        if lock(&self.failed_at).is_some_and(|at| at.elapsed() < PATIENCE) {
            return;
        }
        let (request, reached) = oneshot::channel();
        lock(&self.waiting).push(request);
        thread.unpark();
        if timeout(PATIENCE, reached).await.is_err() {
            self.note_failure();
        }
    }

    fn note_failure(&self) {
        *lock(&self.failed_at) = Some(Instant::now());
    }
}
