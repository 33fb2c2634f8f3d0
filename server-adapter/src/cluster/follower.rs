//! The thread that applies what other nodes append to the log.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle, park_timeout};
use std::time::Duration;

use deskfleet::{Engine, error_chain};

use crate::log::LogQueue;
use crate::metrics::Metrics;
use crate::server::ending::wait_for_end;

/// How long a call waits for entries.
const PATIENCE: Duration = Duration::from_millis(500);
/// Pause after an error, doubled after each further one, up to the second.
const PAUSES: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(2));

/// Calls [`Engine::follow`] in a loop on a thread of its own, until it is dropped. Logs when the log is lost and when it is found again.
#[derive(Debug)]
pub struct Follower {
    stopping: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Follower {
    /// Starts the thread. How far it is can be seen in `metrics` and at `/readyz`.
    ///
    /// # Errors
    ///
    /// When the operating system gives no thread.
    pub fn start(engine: Engine, metrics: Metrics) -> std::io::Result<Self> {
        let stopping = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stopping);
        metrics.node_begun(engine.position().unwrap_or_default());
        let thread = Builder::new()
            .name("deskfleet-follower".into())
            .spawn(move || follow(&engine, &metrics, &stopped))?;
        Ok(Self {
            stopping,
            thread: Some(thread),
        })
    }

    /// Has the loop end after its current round. Does not wait.
    pub fn stop(&mut self) {
        self.stopping.store(true, Ordering::Release);
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
    }
}

impl Drop for Follower {
    /// Waits for the round that is under way, up to 5 s: a log that does not respond may hold it up for any time.
    fn drop(&mut self) {
        self.stop();
        if let Some(thread) = self.thread.take() {
            wait_for_end(thread);
        }
    }
}

fn follow(engine: &Engine, metrics: &Metrics, stopping: &AtomicBool) {
    let say = |line: &str| LogQueue::stderr().line(line);
    let mut pause = PAUSES.0;
    let (mut is_lost, mut has_halted) = (false, false);
    // The first call does not wait: until it returns the server is not ready.
    let mut patience = Duration::ZERO;
    while !stopping.load(Ordering::Acquire) {
        let round = catch_unwind(AssertUnwindSafe(|| engine.follow(patience)));
        let said = match round {
            Ok(Ok(_)) => {
                let position = engine.position().unwrap_or_default();
                metrics.followed(position, engine.log_last().unwrap_or_default());
                if is_lost {
                    say(&format!(
                        "deskfleet: the log of the fleet is there again; this node goes on after entry {position}"
                    ));
                }
                (pause, is_lost, patience) = (PAUSES.0, false, PATIENCE);
                continue;
            }
            Ok(Err(error)) => error_chain(&error),
            // The panic hook said where.
            Err(_) => "a bug in the engine".to_owned(),
        };
        metrics.follow_failed();
        if engine.halted().is_some() {
            if !has_halted {
                say(&format!(
                    "deskfleet: THIS NODE APPLIES NOTHING MORE and refuses writes; it serves what it has: {said}"
                ));
            }
            has_halted = true;
            // Each round reports to the other nodes why.
            park_timeout(PAUSES.1);
            continue;
        }
        if !is_lost {
            say(&format!(
                "deskfleet: the log of the fleet is lost, writes are refused until it is back: {said}"
            ));
        }
        is_lost = true;
        park_timeout(pause);
        pause = (pause * 2).min(PAUSES.1);
    }
}
