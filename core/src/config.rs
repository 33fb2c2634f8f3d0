//! What a host decides when it opens an engine.

use crate::limits::Limits;
use crate::model::{Action, Stream};

/// Who ends an accepted action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ActionDriver {
    /// The clock, after the action's [duration](ActionSeconds); the host may end one earlier.
    #[default]
    Clock,
    /// The host alone: each action waits in the outbox until the host completes or fails it.
    Host,
}

/// When commits happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CommitDriver {
    /// The caller that finds the writer free commits for all that wait.
    #[default]
    Caller,
    /// A thread of the engine's own; ends with the last clone of the engine.
    Thread,
    /// The host calls [`Engine::commit_pending`](crate::Engine::commit_pending), once per turn of its event loop.
    Host,
}

/// In how many steps a commit becomes durable. Either way what was answered outlives a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CommitPhases {
    /// One sync for the data and for the pointer to it: a lone write waits for half as long. After a crash checksums tell
    /// whether the last commit is whole, so a disk's damage to it looks like a commit that was cut short, and it is undone.
    #[default]
    One,
    /// The data first, then the pointer to it, each with a sync of its own: what the pointer says is believed. Damage to the
    /// last commit is refused, and nobody can send what makes a commit that was cut short look whole. For a store that strangers
    /// write to.
    Two,
}

/// How long each action takes when the clock ends it, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ActionSeconds {
    /// `RebootWorkSpace`. Default 120.
    pub reboot: u32,
    /// `RecoveryRebootWorkSpace`. Default 300.
    pub recovery_reboot: u32,
    /// `RebuildWorkSpace`. Default 1800.
    pub rebuild: u32,
    /// `RestoreWorkSpace`. Default 1800.
    pub restore: u32,
    /// `TerminateWorkSpace`. Default 300.
    pub terminate: u32,
    /// `StartWorkSpace`. Default 60.
    pub start: u32,
    /// `ChangeComputeType`. Default 1200.
    pub change_compute_type: u32,
}

impl Default for ActionSeconds {
    fn default() -> Self {
        Self {
            reboot: 120,
            recovery_reboot: 300,
            rebuild: 1800,
            restore: 1800,
            terminate: 300,
            start: 60,
            change_compute_type: 1200,
        }
    }
}

impl ActionSeconds {
    /// The duration of `action`.
    #[must_use]
    pub fn of(&self, action: Action) -> i64 {
        i64::from(match action {
            Action::Reboot => self.reboot,
            Action::RecoveryReboot => self.recovery_reboot,
            Action::Rebuild => self.rebuild,
            Action::Restore => self.restore,
            Action::Terminate => self.terminate,
            Action::Start => self.start,
            Action::ChangeComputeType => self.change_compute_type,
        })
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
    /// The days a stream is kept.
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
    pub action_seconds: ActionSeconds,
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
    /// Whether each commit also saves redb's allocator state: a slower lone commit, of two phases, for a quick open after a
    /// crash. It is quick only where [`Self::trust_file`] is set as well. Default no.
    pub quick_repair: bool,
    /// Whether a file is opened without its checksums being compared. That reads all of it, about a second per GB, and is what
    /// refuses a damaged file: in one that is trusted, damage goes unnoticed, gives wrong answers, or ends in a panic.
    /// A file that was not closed cleanly is checked in any case, unless [`Self::quick_repair`] wrote it. Default no.
    pub trust_file: bool,
}
