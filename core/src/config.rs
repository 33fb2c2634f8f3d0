//! The configuration of an engine.

use std::fmt;
use std::time::Duration;

use crate::error::{EngineError, ErrorKind, Result};
use crate::limits::{BODY_BYTES_MAX, HEAD_BYTES_MAX, Limits, QUEUE_RECORDS_MAX, STORAGE_BYTES_MAX};
use crate::model::{Action, Stream};

/// Who ends an accepted action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ActionDriver {
    /// The clock, after the action's [duration](ActionDurations); the host may end one earlier.
    #[default]
    Clock,
    /// The host alone: each action is pending in the outbox until the host completes or fails it.
    Host,
}

/// When commits happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CommitDriver {
    /// The caller that finds the writer free commits all pending writes.
    #[default]
    Caller,
    /// A thread of the engine commits, until the last clone of the engine is dropped. No caller commits, so no future
    /// waits for the disk inside `poll`.
    Thread,
    /// The host calls [`Engine::commit_pending`](crate::Engine::commit_pending), once per turn of its event loop.
    Host,
}

/// The steps in which a commit becomes durable. In either case an acknowledged write survives a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CommitPhases {
    /// One sync for the data and the pointer to it: a lone write waits half as long. After a crash, checksums decide
    /// whether the last commit is whole; damage to it by the disk looks like a commit that was cut short, and the
    /// commit is undone.
    #[default]
    One,
    /// The data first, then the pointer to it, each with its own sync: the pointer is trusted. A damaged last commit is
    /// refused, and no client can send data that makes a commit that was cut short look whole. For a store that
    /// untrusted clients write to.
    Two,
}

/// How long each action takes when the clock ends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ActionDurations {
    /// `RebootWorkSpace`. Default 2 minutes.
    pub reboot: Duration,
    /// `RecoveryRebootWorkSpace`. Default 5 minutes.
    pub recovery_reboot: Duration,
    /// `RebuildWorkSpace`. Default 30 minutes.
    pub rebuild: Duration,
    /// `RestoreWorkSpace`. Default 30 minutes.
    pub restore: Duration,
    /// `TerminateWorkSpace`. Default 5 minutes.
    pub terminate: Duration,
    /// `StartWorkSpace`. Default 1 minute.
    pub start: Duration,
    /// `ChangeComputeType`. Default 20 minutes.
    pub change_compute_type: Duration,
}

impl Default for ActionDurations {
    fn default() -> Self {
        Self {
            reboot: Duration::from_secs(120),
            recovery_reboot: Duration::from_secs(300),
            rebuild: Duration::from_secs(1800),
            restore: Duration::from_secs(1800),
            terminate: Duration::from_secs(300),
            start: Duration::from_secs(60),
            change_compute_type: Duration::from_secs(1200),
        }
    }
}

impl ActionDurations {
    /// The duration of `action`.
    #[must_use]
    pub fn of(&self, action: Action) -> Duration {
        match action {
            Action::Reboot => self.reboot,
            Action::RecoveryReboot => self.recovery_reboot,
            Action::Rebuild => self.rebuild,
            Action::Restore => self.restore,
            Action::Terminate => self.terminate,
            Action::Start => self.start,
            Action::ChangeComputeType => self.change_compute_type,
        }
    }
}

/// How long history is kept, in days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RetentionDays {
    /// Resource statistics. Default 30.
    pub stats: u16,
    /// User activity. Default 90.
    pub activity: u16,
    /// Startup timings. Default 90.
    pub startup: u16,
    /// Per-process usage. Default 30.
    pub processes: u16,
    /// The audit. Default 365.
    pub audit: u16,
}

impl Default for RetentionDays {
    fn default() -> Self {
        Self {
            stats: 30,
            activity: 90,
            startup: 90,
            processes: 30,
            audit: 365,
        }
    }
}

impl RetentionDays {
    /// The days that a stream is kept.
    #[must_use]
    pub fn of(&self, stream: Stream) -> u16 {
        match stream {
            Stream::Stats => self.stats,
            Stream::Activity => self.activity,
            Stream::Startup => self.startup,
            Stream::Processes => self.processes,
        }
    }
}

/// The configuration of an engine; `Config::default()` is what the interface promises.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Config {
    /// Sizes and rates.
    pub limits: Limits,
    /// Durations of the actions.
    pub action_durations: ActionDurations,
    /// Retention of history.
    pub retention_days: RetentionDays,
    /// Who ends actions.
    pub action_driver: ActionDriver,
    /// When commits happen.
    pub commit_driver: CommitDriver,
    /// Whether the Stats endpoints need a key with scope `ingest`. Default no, as documented.
    pub require_ingest_key: bool,
    /// In how many steps a commit becomes durable. Default one; in memory always one.
    pub commit_phases: CommitPhases,
    /// Whether each commit also saves redb's allocator state. A lone commit takes longer and two phases; opening after
    /// a crash is quick if [`Self::trust_file`] is set as well. Default no.
    pub quick_repair: bool,
    /// Whether a file is opened without comparing its checksums. Comparing reads all of it, about a second per GB, and
    /// detects damage: in a trusted file, damage goes unnoticed, gives wrong results, or ends in a panic. A file that
    /// was not closed cleanly is always checked, unless [`Self::quick_repair`] wrote it. Default no.
    pub trust_file: bool,
}

impl Config {
    /// Checks that every value is within its range. An engine is opened only with a configuration that passes.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`], which names the first wrong field, its value and what is allowed.
    pub fn validate(&self) -> Result<()> {
        check_limits(&self.limits)?;
        let days = &self.retention_days;
        for (field, value) in [
            ("stats", days.stats),
            ("activity", days.activity),
            ("startup", days.startup),
            ("processes", days.processes),
            ("audit", days.audit),
        ] {
            if value == 0 {
                let allowed = format_args!("1 to {} days", u16::MAX);
                return Err(out_of_range("retention_days", field, 0, allowed));
            }
        }
        Ok(())
    }
}

fn check_limits(limits: &Limits) -> Result<()> {
    let bytes = |size: usize| u64::try_from(size).unwrap_or(u64::MAX);
    for (field, value, least, most) in [
        (
            "record_body_bytes",
            bytes(limits.record_body_bytes),
            1,
            BODY_BYTES_MAX,
        ),
        (
            "processes_body_bytes",
            bytes(limits.processes_body_bytes),
            1,
            BODY_BYTES_MAX,
        ),
        (
            "batch_body_bytes",
            bytes(limits.batch_body_bytes),
            1,
            BODY_BYTES_MAX,
        ),
        ("uri_bytes", bytes(limits.uri_bytes), 1, HEAD_BYTES_MAX),
        (
            "headers_bytes",
            bytes(limits.headers_bytes),
            1,
            HEAD_BYTES_MAX,
        ),
        ("queue_records", limits.queue_records, 1, QUEUE_RECORDS_MAX),
        ("queue_high_water", limits.queue_high_water, 1, u64::MAX),
        (
            "free_bytes_min",
            limits.free_bytes_min,
            0,
            STORAGE_BYTES_MAX,
        ),
        (
            "cache_bytes",
            bytes(limits.cache_bytes),
            0,
            STORAGE_BYTES_MAX,
        ),
    ] {
        if !(least..=most).contains(&value) {
            let allowed = format_args!("{least} to {most}");
            return Err(out_of_range("limits", field, value, allowed));
        }
    }
    if limits.key_requests_per_minute == Some(0) {
        let allowed = format_args!("1 or more, or nothing for no limit");
        return Err(out_of_range(
            "limits",
            "key_requests_per_minute",
            0,
            allowed,
        ));
    }
    Ok(())
}

fn out_of_range(group: &str, field: &str, value: u64, allowed: fmt::Arguments<'_>) -> EngineError {
    EngineError::new(
        ErrorKind::Configuration,
        format!("{group}.{field} is {value}; allowed is {allowed}"),
    )
}
