//! The thread that keeps an engine tidy while nobody asks it anything.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle, park_timeout};
use std::time::Duration;

use deskfleet::{Engine, error_chain};

use super::ending::wait_for_end;
use crate::log::LogQueue;
use crate::metrics::Metrics;

/// Calls [`Engine::maintain`] in a loop on a thread of its own, until it is dropped.
///
/// An error is logged at most once a minute.
#[derive(Debug)]
pub struct Maintenance {
    stopping: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Maintenance {
    /// Starts the thread; the first round begins after `pause`. Rounds are counted in `metrics`.
    ///
    /// # Errors
    ///
    /// When the operating system gives no thread.
    pub fn start(engine: Engine, pause: Duration, metrics: Metrics) -> std::io::Result<Self> {
        let stopping = Arc::new(AtomicBool::new(false));
        let go_on = {
            let stopping = Arc::clone(&stopping);
            move || !stopping.load(Ordering::Acquire)
        };
        let thread = Builder::new()
            .name("deskfleet-maintenance".into())
            .spawn(move || {
                loop {
                    // Woken by `stop`, or early for no reason, which does no harm.
                    park_timeout(pause);
                    if !go_on() {
                        return;
                    }
                    let round = catch_unwind(AssertUnwindSafe(|| engine.maintain_while(&go_on)));
                    let said = match round {
                        Ok(Ok(())) => {
                            metrics.maintained(engine.now());
                            continue;
                        }
                        Ok(Err(error)) => error_chain(&error),
                        // The panic hook said where; without filing the queue would fill up.
                        Err(_) => "a bug in the engine; it goes on with the next round".to_owned(),
                    };
                    metrics.maintenance_failed();
                    let said = format!("deskfleet: maintenance failed: {said}");
                    LogQueue::stderr().line_about("maintenance", &said);
                }
            })?;
        Ok(Self {
            stopping,
            thread: Some(thread),
        })
    }

    /// Has a round that is under way end after its current step, and begins no other. Does not wait.
    pub fn stop(&mut self) {
        self.stopping.store(true, Ordering::Release);
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
    }
}

impl Drop for Maintenance {
    /// Waits for the step that is under way, up to 5 s: a log that does not respond may hold it up for any time.
    fn drop(&mut self) {
        self.stop();
        if let Some(thread) = self.thread.take() {
            wait_for_end(thread);
        }
    }
}
