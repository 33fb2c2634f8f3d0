//! Waiting for threads that end.

use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};

use crate::log::LogQueue;

/// How long a thread that was asked to end is waited for. One that waits for a log that does not respond may take any time; it is left to
/// the end of the process.
const WAIT_MAX: Duration = Duration::from_secs(5);
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Waits until a thread that was asked to end has ended, up to 5 s; then logs that it is left running.
pub(crate) fn wait_for_end(thread: JoinHandle<()>) {
    let begun = Instant::now();
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
    // A panic of the thread was already reported by the panic hook.
    let _ = thread.join();
}
