//! The thread that keeps an engine tidy while nobody asks it anything.

use std::io::Write as _;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use deskfleet::Engine;

/// Calls [`Engine::maintain`] in a loop on a thread of its own, until it is dropped.
///
/// An error is written to standard error once, not once a round, until a round succeeds again.
#[derive(Debug)]
pub struct Maintenance {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Maintenance {
    /// Starts the thread; the first round begins after `pause`.
    ///
    /// # Errors
    ///
    /// When the operating system gives no thread.
    pub fn start(engine: Engine, pause: Duration) -> std::io::Result<Self> {
        let (stop, stopped) = channel();
        let thread = Builder::new()
            .name("deskfleet-maintenance".into())
            .spawn(move || {
                let mut failing = false;
                while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                    failing = round(&engine, failing);
                }
            })?;
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

/// One round; answers whether it failed.
fn round(engine: &Engine, failed_before: bool) -> bool {
    match engine.maintain() {
        Ok(()) => false,
        Err(error) => {
            if !failed_before {
                let _ = writeln!(std::io::stderr(), "deskfleet: maintenance failed: {error}");
            }
            true
        }
    }
}

impl Drop for Maintenance {
    /// Waits for a round that is under way.
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was already reported by the panic hook.
            let _ = thread.join();
        }
    }
}
