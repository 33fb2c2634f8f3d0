//! The thread that maintains an engine between requests.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::park_timeout;
use std::time::Duration;

use deskfleet::{Engine, error_chain};

use super::background::Background;
use crate::log::LogQueue;
use crate::metrics::Metrics;

/// Calls [`Engine::maintain_while`] in a loop, for the first time after `pause`. Counts the rounds in `metrics`, and logs an error at most once
/// a minute.
///
/// # Errors
///
/// When the operating system gives no thread.
pub(super) fn start(engine: Engine, pause: Duration, metrics: Metrics) -> io::Result<Background> {
    Background::start("deskfleet-maintenance", move |is_stopping| {
        loop {
            // Parking may end early, which is harmless.
            park_timeout(pause);
            if is_stopping() {
                return;
            }
            let go_on = || !is_stopping();
            // What the round does is right by this time, not by that of its end.
            let began = engine.now();
            let round = catch_unwind(AssertUnwindSafe(|| engine.maintain_while(go_on)));
            let reason = match round {
                Ok(Ok(())) => {
                    metrics.maintained(began);
                    continue;
                }
                Ok(Err(error)) => error_chain(&error),
                // The panic hook has logged where; without filing the queue would fill up.
                Err(_) => "a bug in the engine; it goes on with the next round".to_owned(),
            };
            metrics.maintenance_failed();
            let line = format!("deskfleet: maintenance failed: {reason}");
            LogQueue::stderr().line_about("maintenance", &line);
        }
    })
}
