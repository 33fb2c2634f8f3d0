//! The progress of a node in its log, and its appends.

use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use deskfleet::{Condition, Severity, Timestamp};

use crate::locks::lock;

use super::counter::{add, read};
use super::exposition::Exposition;
use super::histogram::Histogram;

/// A call that waits for entries returns at least this often: after a longer time the log or the node is stuck.
const ROUND_MAX: Duration = Duration::from_secs(2);
/// The silence of the log after which a node refuses writes, instead of holding each of them up until its call has failed.
const WRITES_WAIT_MAX: Duration = Duration::from_secs(1);
/// The silence of the log after which a node is not ready.
const SILENCE_MAX: Duration = Duration::from_secs(2);
/// The lag above which a node is not ready although the log responds: it applies a long tail.
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
}

#[derive(Debug, Clone, Copy)]
struct Progress {
    position: u64,
    last: u64,
    /// Whether the log was ever read.
    is_reached: bool,
    /// When the log was read last, or the start.
    followed_at: Instant,
    /// The age of what the node had at the start; zero once the log was read.
    age_at_start: Duration,
    /// Since when entries are known that are not applied.
    behind_since: Option<Instant>,
    /// When the first call of the log was made to which, and since which, there was no response.
    silent_since: Option<Instant>,
    /// Whether the last call of the log failed.
    has_failed: bool,
    /// Whether the node applies nothing more: then the log is not what is wrong.
    is_halted: bool,
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
    /// Whether the log could not be used when that was tried last.
    pub(crate) has_failed: bool,
    /// Whether the log was read since the start.
    pub(crate) is_reached: bool,
    /// Whether the node applies nothing more.
    pub(crate) is_halted: bool,
}

impl NodeCounters {
    /// Sets that the node is at `position`, with an entry of that age, and begins to follow the log.
    pub(super) fn begun(&self, position: u64, age: Duration) {
        *lock(&self.progress) = Some(Progress {
            position,
            last: position,
            is_reached: false,
            followed_at: Instant::now(),
            age_at_start: age,
            behind_since: None,
            silent_since: None,
            has_failed: false,
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
        }
    }

    /// Records a read of the log.
    pub(super) fn followed(&self, position: u64, last: u64) {
        let now = Instant::now();
        let mut progress = lock(&self.progress);
        let before = progress.and_then(|progress| progress.behind_since);
        *progress = Some(Progress {
            position,
            last,
            is_reached: true,
            followed_at: now,
            age_at_start: Duration::ZERO,
            behind_since: (position < last).then(|| before.unwrap_or(now)),
            silent_since: None,
            has_failed: false,
            is_halted: false,
        });
    }

    pub(super) fn follow_failed(&self, is_of_log: bool) {
        add(&self.follow_failures, 1);
        if is_of_log {
            self.tried(false);
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

    /// What is wrong with the log, as this node sees it, and with the other nodes.
    pub(super) fn conditions(&self, now: Timestamp) -> Vec<Condition> {
        let mut all = lock(&self.others).clone();
        all.extend(self.log_condition(now));
        all
    }

    /// Why the node is not ready, if the log is the reason.
    pub(super) fn log_condition(&self, now: Timestamp) -> Option<Condition> {
        let progress = (*lock(&self.progress)).filter(|progress| !progress.is_halted)?;
        let standing = progress.standing(Instant::now());
        let (code, text) = standing.problem()?;
        Some(Condition::new(code, Severity::Critical, text, now))
    }

    fn tried(&self, is_done: bool) {
        if let Some(progress) = &mut *lock(&self.progress) {
            progress.has_failed = !is_done;
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
        Some(progress.standing(Instant::now()))
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

    /// Whether the log is silent for so long that writes are refused.
    pub(crate) fn refuses_writes(&self) -> bool {
        self.silence > WRITES_WAIT_MAX
    }

    /// The code and the text of the reason for which the node is not ready, if there is one.
    fn problem(&self) -> Option<(&'static str, String)> {
        let unavailable = |text: &str| Some(("LogUnavailable", text.to_owned()));
        if !self.is_reached {
            unavailable("the log was not reached since the start; writes are refused")
        } else if self.has_failed {
            unavailable(
                "the log could not be used when that was tried last; writes are refused until it is back",
            )
        } else if self.silence > SILENCE_MAX {
            let seconds = self.silence.as_secs();
            unavailable(&format!(
                "the log has not responded for {seconds} s; writes are refused"
            ))
        } else if self.lag > LAG_MAX {
            let text = format!("this node is {}; it catches up by itself", self.behind());
            Some(("LogBehind", text))
        } else {
            None
        }
    }
}

impl Progress {
    fn standing(self, now: Instant) -> Standing {
        let since = now.saturating_duration_since(self.followed_at);
        let unread = (!self.is_reached || since > ROUND_MAX).then_some(since);
        let behind = self
            .behind_since
            .map(|behind| now.saturating_duration_since(behind));
        Standing {
            position: self.position,
            last: self.last,
            lag: self.age_at_start + behind.or(unread).unwrap_or_default(),
            silence: self
                .silent_since
                .map_or(Duration::ZERO, |at| now.saturating_duration_since(at)),
            has_failed: self.has_failed,
            is_reached: self.is_reached,
            is_halted: self.is_halted,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lag_is_the_time_since_the_node_had_all_of_the_log() {
        let begun = Instant::now();
        let after = |seconds| begun + Duration::from_secs(seconds);
        let progress = Progress {
            position: 7,
            last: 7,
            is_reached: true,
            followed_at: begun,
            age_at_start: Duration::ZERO,
            behind_since: None,
            silent_since: None,
            has_failed: false,
            is_halted: false,
        };
        assert_eq!(progress.standing(after(1)).lag, Duration::ZERO);
        assert_eq!(progress.standing(after(3)).lag, Duration::from_secs(3));
        let behind = Progress {
            last: 9,
            followed_at: after(4),
            behind_since: Some(begun),
            ..progress
        };
        assert_eq!(behind.standing(after(5)).lag, Duration::from_secs(5));
        // What it had at the start may be old, and it does not know how much it lacks.
        let unreached = Progress {
            is_reached: false,
            age_at_start: Duration::from_secs(7200),
            ..progress
        };
        assert_eq!(unreached.standing(after(1)).lag, Duration::from_secs(7201));
    }

    #[test]
    fn log_is_silent_since_the_first_call_without_a_response() {
        let counters = NodeCounters::default();
        // Before it is a node.
        counters.asked();
        counters.begun(3, Duration::ZERO);
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
        let silent = Progress {
            silent_since: Some(Instant::now()),
            is_reached: true,
            ..lock(&counters.progress).unwrap()
        };
        let problem_after = |ms| {
            let now = silent.silent_since.unwrap() + Duration::from_millis(ms);
            silent.standing(now).problem()
        };
        assert_eq!(problem_after(2000), None);
        let (code, text) = problem_after(2900).unwrap();
        assert_eq!(code, "LogUnavailable");
        assert!(
            text.starts_with("the log has not responded for 2 s"),
            "{text}"
        );
    }

    #[test]
    fn failed_call_of_the_log_is_known_until_one_succeeds() {
        let counters = NodeCounters::default();
        // Before it is a node.
        counters.appended(Duration::ZERO, false);
        counters.begun(3, Duration::ZERO);
        let has_failed = || counters.standing().unwrap().has_failed;
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

    #[test]
    fn node_behind_is_so_since_it_first_heard_of_an_entry() {
        let counters = NodeCounters::default();
        assert_eq!(counters.standing(), None);
        counters.begun(3, Duration::ZERO);
        assert!(!counters.standing().unwrap().is_reached);
        counters.followed(3, 5);
        let since = |counters: &NodeCounters| lock(&counters.progress).unwrap().behind_since;
        let first = since(&counters);
        counters.followed(4, 6);
        assert!(first.is_some() && since(&counters) == first);
        counters.followed(6, 6);
        assert_eq!(since(&counters), None);
    }
}
