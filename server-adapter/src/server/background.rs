//! A thread that works until it is stopped.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{Builder, JoinHandle, sleep};
use std::time::{Duration, Instant};

use crate::log::LogQueue;

/// The time to wait for the end of the thread. A thread that waits for a log which does not respond may take any time; it ends
/// with the process.
const WAIT_MAX: Duration = Duration::from_secs(5);
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// A thread that works until this is dropped.
#[derive(Debug)]
pub(crate) struct Background {
    stopping: Arc<AtomicBool>,
    /// When it was asked to stop: several that are asked at once are waited for together.
    asked_at: OnceLock<Instant>,
    thread: Option<JoinHandle<()>>,
}

impl Background {
    /// Starts the thread. `work` gets a function and returns soon after that returns `true`; a parked thread is woken then.
    ///
    /// # Errors
    ///
    /// When the operating system gives no thread.
    pub(crate) fn start(
        name: &str,
        work: impl FnOnce(&dyn Fn() -> bool) + Send + 'static,
    ) -> io::Result<Self> {
        let stopping = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stopping);
        let thread = Builder::new().name(name.to_owned());
        let thread = thread.spawn(move || work(&|| stopped.load(Ordering::Acquire)))?;
        Ok(Self {
            stopping,
            asked_at: OnceLock::new(),
            thread: Some(thread),
        })
    }

    /// Makes the work end after its current step. Does not wait.
    pub(crate) fn stop(&self) {
        self.asked_at.get_or_init(Instant::now);
        self.stopping.store(true, Ordering::Release);
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
    }
}

impl Drop for Background {
    /// Waits for the current step, up to 5 s after it was asked to stop; then logs that the thread is left running.
    fn drop(&mut self) {
        self.stop();
        let Some(thread) = self.thread.take() else {
            return;
        };
        let begun = self.asked_at.get_or_init(Instant::now);
        while !thread.is_finished() {
            if begun.elapsed() > WAIT_MAX {
                let name = thread.thread().name().unwrap_or_default();
                let seconds = WAIT_MAX.as_secs();
                LogQueue::stderr().line(&format!(
                    "deskfleet: the thread {name} is still busy after {seconds} s and is not waited for; nothing that was acknowledged is lost"
                ));
                return;
            }
            sleep(POLL_INTERVAL);
        }
        // The panic hook has reported a panic of the thread.
        let _ = thread.join();
    }
}
