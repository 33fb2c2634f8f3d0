//! The lease of this process. While another process of the same name has it, this one begins nothing, and takes over once that one is gone.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, SystemTime};

use deskfleet::Timestamp;
use deskfleet_client::backoff::{pause, random};

use super::fleet::{Fleet, Refusal};
use super::log_line::say;
use super::sleep::sleep;
use super::status::Status;

/// Attempts to extend a lease while it lasts, of which each takes at most its part of that time.
pub(super) const ATTEMPTS: u32 = 3;

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
    /// Returns the time of the server.
    fn take(&self) -> Result<Timestamp, Refusal> {
        self.fleet.take_lease(&self.name, self.time)
    }

    /// Waits until this process has the lease, and returns the time of the server then; `None` at a stop.
    ///
    /// # Errors
    ///
    /// What the server refuses at the first request, such as the key.
    pub(super) fn wait(
        &self,
        status: &Status,
        stop: &AtomicBool,
    ) -> Result<Option<Timestamp>, String> {
        let (mut failures, mut was_lost) = (0, false);
        let taken_at = loop {
            let asked = if was_lost {
                // The process that has the lease could not extend it either, and comes first.
                self.fleet.pending().map(|_| None)
            } else {
                self.take().map(Some)
            };
            let is_standby = status.is_standby();
            let before_next = match asked {
                Ok(Some(taken_at)) => break taken_at,
                Ok(None) => {
                    was_lost = false;
                    self.time
                }
                Err(refusal) if refusal.is_of_state() => {
                    status.fleet_found();
                    if !is_standby {
                        status.set_standby(true);
                        say(&format!(
                            "deskfleet-provider: standing by, to take over {}: {refusal}",
                            self.name
                        ));
                    }
                    failures = 0;
                    self.time / ATTEMPTS
                }
                Err(refusal) if refusal.is_not_found() && !is_standby => {
                    say(&format!(
                        "no lease, so run one process of {} alone: {refusal}",
                        self.name
                    ));
                    break SystemTime::now().into();
                }
                // A key may be replaced, and a server go back to a version without leases, while this process stands by.
                Err(refusal @ Refusal::Problem { .. }) if !is_standby => {
                    return Err(refusal.about_the_key());
                }
                Err(refusal) => {
                    was_lost = true;
                    status.fleet_lost(&refusal);
                    failures += 1;
                    pause(failures, None, random())
                }
            };
            if !sleep(before_next, stop) {
                return Ok(None);
            }
        };
        status.fleet_found();
        status.set_standby(false);
        Ok(Some(taken_at))
    }

    /// Extends the lease until its end. Sets `stop` where another process has taken it.
    pub(super) fn keep(self, status: &Arc<Status>, stop: &Arc<AtomicBool>) -> io::Result<Lease> {
        let is_over = Arc::<AtomicBool>::default();
        let (over, stop) = (Arc::clone(&is_over), Arc::clone(stop));
        let status = Arc::clone(status);
        let thread = Builder::new().name("deskfleet-lease".into());
        let thread = thread.spawn(move || {
            let mut can_be_asked = true;
            while sleep(self.time / ATTEMPTS, &over) {
                match self.take() {
                    Err(refusal) if refusal.is_of_state() => {
                        status.set_standby(true);
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
