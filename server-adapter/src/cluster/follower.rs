//! The thread that applies what other nodes append to the log.

use std::error::Error;
use std::io;
use std::iter::successors;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::park_timeout;
use std::time::{Duration, Instant, SystemTime};

use deskfleet::cluster::LogError;
use deskfleet::{Engine, EngineError, error_chain};

use super::fleet_status::FleetStatus;
use crate::log::LogQueue;
use crate::metrics::Metrics;
use crate::server::background::Background;

/// The time for which a call waits for entries: well below a second without a response, after which writes are refused.
const PATIENCE: Duration = Duration::from_millis(250);
/// How often the log is asked how the other nodes are.
const OTHERS_EVERY: Duration = Duration::from_secs(10);
/// Pause after an error, doubled after each further one, up to the second.
const PAUSES: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(2));

/// Calls [`Engine::follow`] in a loop. Logs when the log is lost and when it is found again; `metrics` and `/readyz` show how far the node is.
///
/// # Errors
///
/// When the operating system gives no thread.
pub(crate) fn start(engine: Engine, metrics: Metrics) -> io::Result<Background> {
    let at = engine
        .applied_at()
        .map_or_else(SystemTime::now, SystemTime::from);
    metrics.node_begun(engine.position().unwrap_or_default(), at);
    Background::start("deskfleet-follower", move |is_stopping| {
        follow(&engine, &metrics, is_stopping);
    })
}

/// How this node follows the log, as the last line about it says.
#[derive(PartialEq, Eq)]
enum Progress {
    Follows,
    Lost,
    TakenOver,
    Behind,
    Halted,
}

fn say(line: &str) {
    LogQueue::stderr().line(&format!("deskfleet: {line}"));
}

impl Progress {
    /// The log could be followed up to `position`.
    fn log_success(&mut self, engine: &Engine, position: u64) {
        match self {
            Self::Follows | Self::Halted => return,
            Self::Lost | Self::TakenOver => say(&format!(
                "the log of the fleet is there again; this node goes on after entry {position}"
            )),
            Self::Behind => say(&format!(
                "this node applies the log of the fleet again, up to entry {position} now"
            )),
        }
        if *self == Self::TakenOver
            && let Some(restored) = restored(engine)
        {
            say(&restored);
        }
        *self = Self::Follows;
    }

    /// It could not be followed.
    fn log_failure(&mut self, engine: &Engine, reason: &str, is_of_log: bool) {
        let now = if !is_of_log {
            Self::Behind
        } else if *self == Self::TakenOver || engine.log_is_taken_over() {
            Self::TakenOver
        } else {
            Self::Lost
        };
        if *self == now {
            return;
        }
        let what = if is_of_log {
            "the log of the fleet is lost, writes are refused until it is back"
        } else {
            "this node cannot apply the log of the fleet, and falls behind"
        };
        say(&format!("{what}: {reason}"));
        *self = now;
    }

    /// It cannot be followed until an operator acts.
    fn log_halt(&mut self, reason: &str) {
        if *self != Self::Halted {
            say(&format!(
                "THIS NODE APPLIES NOTHING MORE and refuses writes; it serves what it has: {reason}"
            ));
        }
        *self = Self::Halted;
    }
}

fn follow(engine: &Engine, metrics: &Metrics, is_stopping: &dyn Fn() -> bool) {
    let mut pause = PAUSES.0;
    let mut progress = Progress::Follows;
    let mut asked_at: Option<Instant> = None;
    // The first call does not wait: until it returns the server is not ready.
    let mut patience = Duration::ZERO;
    while !is_stopping() {
        let round = catch_unwind(AssertUnwindSafe(|| engine.follow(patience)));
        let mut is_of_log = false;
        let reason = match round {
            Ok(Ok(_)) => {
                let position = engine.position().unwrap_or_default();
                metrics.followed(position, engine.log_last().unwrap_or_default());
                progress.log_success(engine, position);
                (pause, patience) = (PAUSES.0, PATIENCE);
                if asked_at.is_none_or(|at| at.elapsed() > OTHERS_EVERY) {
                    asked_at = Some(Instant::now());
                    // Without any report the log could not be asked, and nothing is known to be over.
                    if let Ok(Some(fleet)) = FleetStatus::read(engine)
                        && !fleet.status.nodes.is_empty()
                    {
                        metrics.set_other_nodes(fleet.conditions());
                    }
                }
                continue;
            }
            Ok(Err(error)) => {
                is_of_log = has_failed_in_log(&error);
                error_chain(&error)
            }
            // The panic hook has logged where.
            Err(_) => "a bug in the engine".to_owned(),
        };
        metrics.follow_failed(is_of_log);
        if engine.halted().is_some() {
            metrics.node_halted();
            progress.log_halt(&reason);
            // Each round reports the reason to the other nodes.
            park_timeout(PAUSES.1);
            continue;
        }
        progress.log_failure(engine, &reason, is_of_log);
        park_timeout(pause);
        pause = (pause * 2).min(PAUSES.1);
    }
}

/// What this node restored of the log.
fn restored(engine: &Engine) -> Option<String> {
    let mut conditions = engine.conditions().into_iter();
    let restored = conditions.find(|condition| condition.code == "LogRestored");
    restored.map(|condition| condition.text)
}

/// Whether the log is what failed, and not what this node does with its entries.
fn has_failed_in_log(error: &EngineError) -> bool {
    let mut causes = successors(error.source(), |&cause| cause.source());
    causes.any(<dyn Error>::is::<LogError>)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failure_of_the_store_is_none_of_the_log() {
        let builder = Engine::builder().clock(SystemTime::now).seed(1);
        let missing = builder.open("/missing/folder/store");
        let error = missing.unwrap_err();
        assert!(error.source().is_some(), "{error}");
        assert!(!has_failed_in_log(&error));
    }
}
