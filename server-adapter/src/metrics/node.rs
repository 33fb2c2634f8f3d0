//! The progress of a node in its log, and its appends.

use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant, SystemTime};

use deskfleet::{Condition, Severity, Timestamp};

use crate::locks::lock;

use super::counter::{add, read};
use super::exposition::Exposition;
use super::histogram::Histogram;

/// A call that waits for entries returns at least this often: after a longer time the log or the node is stuck.
const ROUND_MAX: Duration = Duration::from_secs(2);
/// The silence of the log after which a node refuses writes, instead of holding each of them up until its call has failed.
const WRITES_WAIT_MAX: Duration = Duration::from_secs(1);
/// The same while it catches up: its calls return many entries.
const CATCHING_UP_MAX: Duration = Duration::from_secs(5);
/// The silence of the log after which a node is not ready.
const SILENCE_MAX: Duration = Duration::from_secs(2);
/// The lag above which a node is not ready although no call is without a response: it applies a long tail, or nobody follows the log.
const LAG_MAX: Duration = Duration::from_secs(10);

/// The counters of a node; a server without a log has none.
#[derive(Debug, Default)]
pub(super) struct NodeCounters {
    appends: Histogram,
    append_failures: AtomicU64,
    follow_failures: AtomicU64,
    /// `None` before the node is started.
    progress: Mutex<Option<Progress>>,
    /// The conditions of the other nodes, as the log had them when it was last asked.
    others: Mutex<Vec<Condition>>,
    /// The conditions of the archive of the log, where this node keeps one.
    archive: Mutex<Vec<Condition>>,
}

#[derive(Debug, Clone, Copy)]
struct Progress {
    position: u64,
    last: u64,
    /// Whether the log was ever read.
    is_reached: bool,
    /// When the node had all of the log last. Both clocks, because the first stands still while the machine sleeps; at the start the second is
    /// the time of its last entry.
    complete_at: (Instant, SystemTime),
    /// When the first call of the log was made to which, and since which, there was no response.
    silent_since: Option<Instant>,
    /// What failed when the log was tried last.
    failed: Option<Failed>,
    /// Whether the node applies nothing more: then the log is not what is wrong.
    is_halted: bool,
}

/// What failed where a node does not follow the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failed {
    /// A call of the log.
    Log,
    /// Applying what it has, for want of space for example.
    Node,
}

/// The progress of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Standing {
    /// The last entry that is applied.
    pub(crate) position: u64,
    /// The last entry that the node knows.
    pub(crate) last: u64,
    /// The age of the newest state that the node certainly has.
    pub(crate) lag: Duration,
    /// For how long the log has not responded to calls.
    pub(crate) silence: Duration,
    /// What failed when the log was tried last.
    pub(crate) failed: Option<Failed>,
    /// Whether the log was read since the start.
    pub(crate) is_reached: bool,
}

impl NodeCounters {
    /// Sets that the node is at `position`, whose entry was appended at `at`, and begins to follow the log.
    pub(super) fn begun(&self, position: u64, at: SystemTime) {
        *lock(&self.progress) = Some(Progress {
            position,
            last: position,
            is_reached: false,
            complete_at: (Instant::now(), at),
            silent_since: None,
            failed: None,
            is_halted: false,
        });
    }

    /// Records that a call of the log is made.
    pub(super) fn asked(&self) {
        if let Some(progress) = &mut *lock(&self.progress) {
            progress.silent_since.get_or_insert_with(Instant::now);
        }
    }

    /// Records that the log responded to a call.
    pub(super) fn heard(&self) {
        if let Some(progress) = &mut *lock(&self.progress) {
            progress.silent_since = None;
            progress.failed = None;
        }
    }

    /// Records a read of the log.
    pub(super) fn followed(&self, position: u64, last: u64) {
        let now = (Instant::now(), SystemTime::now());
        let mut progress = lock(&self.progress);
        let before = progress.map_or(now, |progress| progress.complete_at);
        *progress = Some(Progress {
            position,
            last,
            is_reached: true,
            // Until the tail is applied the node is as old as before it.
            complete_at: if position < last { before } else { now },
            silent_since: None,
            failed: None,
            is_halted: false,
        });
    }

    pub(super) fn follow_failed(&self, is_of_log: bool) {
        add(&self.follow_failures, 1);
        let failed = if is_of_log { Failed::Log } else { Failed::Node };
        if let Some(progress) = &mut *lock(&self.progress) {
            progress.failed = Some(failed);
        }
    }

    pub(super) fn halted(&self) {
        if let Some(progress) = &mut *lock(&self.progress) {
            progress.is_halted = true;
        }
    }

    pub(super) fn set_others(&self, conditions: Vec<Condition>) {
        *lock(&self.others) = conditions;
    }

    pub(super) fn set_archive(&self, conditions: Vec<Condition>) {
        *lock(&self.archive) = conditions;
    }

    /// What is wrong with the log and its archive, as this node sees it, and with the other nodes.
    pub(super) fn conditions(&self, now: Timestamp) -> Vec<Condition> {
        let mut all = lock(&self.others).clone();
        all.extend(lock(&self.archive).clone());
        all.extend(self.log_condition(now));
        all
    }

    /// Why the node is not ready, if the log is the reason.
    pub(super) fn log_condition(&self, now: Timestamp) -> Option<Condition> {
        let progress = (*lock(&self.progress)).filter(|progress| !progress.is_halted)?;
        let standing = progress.standing(Instant::now(), SystemTime::now());
        let (code, text) = standing.problem()?;
        Some(Condition::new(code, Severity::Critical, text, now))
    }

    fn tried(&self, is_done: bool) {
        if let Some(progress) = &mut *lock(&self.progress) {
            progress.failed = (!is_done).then_some(Failed::Log);
        }
    }

    pub(super) fn appended(&self, duration: Duration, is_done: bool) {
        self.appends.observe(duration);
        self.tried(is_done);
        if !is_done {
            add(&self.append_failures, 1);
        }
    }

    /// `None` in a server without a log.
    pub(super) fn standing(&self) -> Option<Standing> {
        let progress = (*lock(&self.progress))?;
        Some(progress.standing(Instant::now(), SystemTime::now()))
    }

    pub(super) fn write(&self, text: &mut Exposition) {
        let Some(standing) = self.standing() else {
            return;
        };
        text.gauge(
            "log_position",
            "Position of the last entry of the log that is applied here.",
            standing.position,
        );
        text.gauge(
            "log_last",
            "Position of the last entry of the log, asked once a second.",
            standing.last,
        );
        text.gauge(
            "log_lag_seconds",
            "Time since this node had all of the log; 0 while it has.",
            standing.lag.as_secs_f64(),
        );
        text.counter(
            "log_append_failures_total",
            "Appends to the log that failed.",
            read(&self.append_failures),
        );
        text.counter(
            "log_follow_failures_total",
            "Times the log could not be read or applied.",
            read(&self.follow_failures),
        );
        let name = text.family(
            "log_append_duration_seconds",
            "histogram",
            "Time of an append to the log.",
        );
        self.appends.write(text, &name, "");
    }
}

impl Standing {
    /// How far the node is behind: `2 entries and 40 ms behind the log`.
    pub(crate) fn behind(&self) -> String {
        let entries = self.last.saturating_sub(self.position);
        format!(
            "{entries} entries and {} ms behind the log",
            self.lag.as_millis()
        )
    }

    /// Whether the log is silent for so long that writes are refused. A node that catches up makes long calls.
    pub(crate) fn refuses_writes(&self) -> bool {
        let is_behind = self.position < self.last;
        self.silence
            > if is_behind {
                CATCHING_UP_MAX
            } else {
                WRITES_WAIT_MAX
            }
    }

    /// The code and the text of the reason for which the node is not ready, if there is one.
    fn problem(&self) -> Option<(&'static str, String)> {
        let unavailable = |text: &str| Some(("LogUnavailable", text.to_owned()));
        if !self.is_reached {
            unavailable("the log was not reached since the start; writes are refused")
        } else if self.failed == Some(Failed::Log) {
            unavailable(
                "the log could not be used when that was tried last; writes are refused until it is back",
            )
        } else if self.silence > SILENCE_MAX && self.refuses_writes() {
            let seconds = self.silence.as_secs();
            unavailable(&format!(
                "the log has not responded for {seconds} s; writes are refused"
            ))
        } else if self.lag > LAG_MAX && self.failed.is_some() {
            let seconds = self.lag.as_secs();
            let text = format!(
                "this node could not apply what the log has for {seconds} s, for want of space for example: the log of the server says why"
            );
            Some(("LogBehind", text))
        } else if self.lag > LAG_MAX && self.position >= self.last {
            let seconds = self.lag.as_secs();
            unavailable(&format!("the log was not read for {seconds} s"))
        } else if self.lag > LAG_MAX {
            let text = format!("this node is {}; it catches up by itself", self.behind());
            Some(("LogBehind", text))
        } else {
            None
        }
    }
}

impl Progress {
    fn standing(self, now: Instant, wall: SystemTime) -> Standing {
        let (complete_at, by_wall) = self.complete_at;
        let since = now.saturating_duration_since(complete_at);
        let since = since.max(wall.duration_since(by_wall).unwrap_or_default());
        let is_fresh = self.is_reached && self.position >= self.last && since <= ROUND_MAX;
        let silent = |at| now.saturating_duration_since(at);
        Standing {
            position: self.position,
            last: self.last,
            lag: if is_fresh { Duration::ZERO } else { since },
            silence: self.silent_since.map_or(Duration::ZERO, silent),
            failed: self.failed,
            is_reached: self.is_reached,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lag_is_the_time_since_the_node_had_all_of_the_log() {
        let (begun, by_wall) = (Instant::now(), SystemTime::now());
        let progress = Progress {
            position: 7,
            last: 7,
            is_reached: true,
            complete_at: (begun, by_wall),
            silent_since: None,
            failed: None,
            is_halted: false,
        };
        let lag = |progress: Progress, seconds, slept| {
            let [awake, all] = [seconds, seconds + slept].map(Duration::from_secs);
            progress
                .standing(begun + awake, by_wall + all)
                .lag
                .as_secs()
        };
        assert_eq!((lag(progress, 1, 0), lag(progress, 3, 0)), (0, 3));
        assert_eq!(lag(progress, 1, 3600), 3601, "the machine slept");
        let behind = Progress {
            last: 9,
            ..progress
        };
        assert_eq!(lag(behind, 1, 0), 1);
        // What it had at the start may be old, and it does not know how much it lacks.
        let unreached = Progress {
            is_reached: false,
            complete_at: (begun, by_wall - Duration::from_secs(7200)),
            ..progress
        };
        assert_eq!(lag(unreached, 1, 0), 7201);
    }

    #[test]
    fn node_is_as_old_as_before_until_the_tail_is_applied() {
        let counters = NodeCounters::default();
        let hour = Duration::from_secs(3600);
        counters.begun(3, SystemTime::now() - hour);
        for position in [3, 4] {
            counters.followed(position, 5);
            assert!(counters.standing().unwrap().lag >= hour, "{position}");
        }
        counters.followed(5, 5);
        assert_eq!(counters.standing().unwrap().lag, Duration::ZERO);
        // More arrives: it had all of it a moment ago.
        counters.followed(5, 8);
        assert!(counters.standing().unwrap().lag < hour);
    }

    #[test]
    fn log_is_silent_since_the_first_call_without_a_response() {
        let counters = NodeCounters::default();
        // Before it is a node.
        counters.asked();
        counters.begun(3, SystemTime::now());
        let since = || lock(&counters.progress).unwrap().silent_since;
        assert_eq!(since(), None);
        counters.asked();
        let first = since();
        counters.asked();
        counters.follow_failed(true);
        assert!(first.is_some() && since() == first);
        counters.heard();
        assert_eq!(since(), None);
        counters.asked();
        counters.followed(3, 3);
        assert_eq!(since(), None);
        let now = (Instant::now(), SystemTime::now());
        let silent = Progress {
            silent_since: Some(now.0),
            complete_at: now,
            ..lock(&counters.progress).unwrap()
        };
        let after = |progress: Progress, ms| {
            let later = Duration::from_millis(ms);
            progress.standing(now.0 + later, now.1 + later)
        };
        assert!(!after(silent, 1000).refuses_writes() && after(silent, 1001).refuses_writes());
        assert_eq!(after(silent, 2000).problem(), None);
        let (code, text) = after(silent, 2900).problem().unwrap();
        assert_eq!(code, "LogUnavailable");
        assert!(
            text.starts_with("the log has not responded for 2 s"),
            "{text}"
        );
        let behind = Progress { last: 9, ..silent };
        assert!(!after(behind, 2900).refuses_writes() && after(behind, 5001).refuses_writes());
        // Where nobody says that it asks the log.
        let unread = Progress {
            silent_since: None,
            ..silent
        };
        let (code, text) = after(unread, 11_000).problem().unwrap();
        assert_eq!(
            (code, &*text),
            ("LogUnavailable", "the log was not read for 11 s")
        );
        // As where the disk is full: nothing is wrong with the log.
        let stuck = Progress {
            failed: Some(Failed::Node),
            ..unread
        };
        let (code, text) = after(stuck, 11_000).problem().unwrap();
        assert_eq!(code, "LogBehind");
        assert!(
            text.starts_with("this node could not apply what the log has for 11 s"),
            "{text}"
        );
    }

    #[test]
    fn failed_call_of_the_log_is_known_until_one_succeeds() {
        let counters = NodeCounters::default();
        // Before it is a node.
        counters.appended(Duration::ZERO, false);
        counters.begun(3, SystemTime::now());
        let has_failed = || counters.standing().unwrap().failed == Some(Failed::Log);
        assert!(!has_failed());
        for is_append in [true, false] {
            if is_append {
                counters.appended(Duration::ZERO, false);
            } else {
                counters.follow_failed(true);
            }
            assert!(has_failed());
            counters.followed(3, 3);
            assert!(!has_failed());
        }
        counters.follow_failed(true);
        counters.appended(Duration::ZERO, true);
        assert!(!has_failed());
        counters.follow_failed(false);
        assert!(!has_failed(), "the log is not what failed");
    }
}
