//! The lease of this process. While another process of the same name has it, this one begins nothing, and takes over once that one is gone.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use deskfleet_client::backoff::{pause, random};

use super::fleet::{Fleet, Refusal};
use super::log_line::say;
use super::status::Status;

/// The longest time in which a stop is not looked at.
const LOOK: Duration = Duration::from_millis(200);
/// Attempts to extend a lease while it lasts.
const ATTEMPTS: u32 = 3;

/// A lease to take.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    pub(super) fleet: Fleet,
    /// Name of the provider.
    pub(super) name: String,
    /// How long the lease lasts unless it is extended.
    pub(super) time: Duration,
}

/// A lease that is extended until its end.
#[derive(Debug)]
pub(super) struct Lease {
    is_over: Arc<AtomicBool>,
    /// Returns whether another process took the lease.
    thread: JoinHandle<bool>,
}

impl Wanted {
    fn take(&self) -> Result<(), Refusal> {
        self.fleet.take_lease(&self.name, self.time)
    }

    /// Waits until this process has the lease; `None` at a stop.
    ///
    /// # Errors
    ///
    /// What the server refuses, such as the key.
    pub(super) fn wait(&self, status: &Status, stop: &AtomicBool) -> Result<Option<()>, String> {
        let mut failures = 0;
        loop {
            let before_next = match self.take() {
                Ok(()) => break,
                Err(refusal) if refusal.is_not_found() => {
                    say(&format!(
                        "no lease, so run one process of {} alone: {refusal}",
                        self.name
                    ));
                    break;
                }
                Err(refusal) if refusal.is_of_state() => {
                    status.fleet_found();
                    if !status.set_standby(true) {
                        say(&format!(
                            "deskfleet-provider: standing by, to take over {}: {refusal}",
                            self.name
                        ));
                    }
                    failures = 0;
                    self.time / ATTEMPTS
                }
                Err(Refusal::Unreachable(why)) => {
                    status.fleet_lost(&Refusal::Unreachable(why));
                    failures += 1;
                    pause(failures, None, random())
                }
                Err(refusal) => return Err(refusal.about_the_key()),
            };
            if !sleep(before_next, stop) {
                return Ok(None);
            }
        }
        status.set_standby(false);
        Ok(Some(()))
    }

    /// Extends the lease until its end. Sets `stop` where another process has taken it.
    pub(super) fn keep(self, stop: &Arc<AtomicBool>) -> io::Result<Lease> {
        let is_over = Arc::<AtomicBool>::default();
        let (over, stop) = (Arc::clone(&is_over), Arc::clone(stop));
        let thread = Builder::new().name("deskfleet-lease".into());
        let thread = thread.spawn(move || {
            let mut can_be_asked = true;
            while sleep(self.time / ATTEMPTS, &over) {
                match self.take() {
                    Err(refusal) if refusal.is_of_state() => {
                        stop.store(true, Ordering::Relaxed);
                        return true;
                    }
                    // The server refuses the attempts of this process from the moment at which another one has the lease.
                    taken => can_be_asked = !matches!(taken, Err(Refusal::Unreachable(_))),
                }
            }
            if can_be_asked {
                // If it fails, the lease ends by itself.
                let _ = self.fleet.take_lease(&self.name, Duration::ZERO);
            }
            false
        })?;
        Ok(Lease { is_over, thread })
    }
}

impl Lease {
    /// Gives the lease back, so that another process need not wait for its end. Returns whether another one took it before.
    pub(super) fn give_back(self) -> bool {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().unwrap_or(false)
    }
}

/// Returns `false` where `stop` was set meanwhile.
fn sleep(time: Duration, stop: &AtomicBool) -> bool {
    let until = Instant::now() + time;
    loop {
        if stop.load(Ordering::Relaxed) {
            return false;
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        std::thread::sleep(left.min(LOOK));
    }
}
