//! The configuration of an engine.

use std::time::Duration;

use crate::error::{EngineError, ErrorKind, Result};
use crate::limits::{
    ACTION_MS_MAX, BODY_BYTES_MAX, HEAD_BYTES_MAX, MONTH_HOURS_MAX, QUEUE_RECORDS_MAX,
    STORAGE_BYTES_MAX,
};
use crate::model::{Action, Price, Stream, WriteClass};
use crate::settings;
use crate::settings::Form::{Bytes, Count, Text, Time};

settings! {
    /// The configuration of an engine; `Config::default()` is what the interface promises.
    #[derive(Debug, Clone, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct Config {
        /// Whether the Stats endpoints need a key with scope `ingest`.
        pub require_ingest_key: bool = false;
        /// When commits happen: `caller`, when the caller that finds the writer free commits all pending writes; `thread`, on a
        /// thread of the engine; `host`, when the host calls `commit_pending`.
        pub commit_driver: CommitDriver = CommitDriver::Caller;
        /// In how many steps a commit of the file becomes durable, in memory always one. `two` is for a store that untrusted clients write
        /// to. An acknowledged write survives a crash either way.
        pub commit_phases: CommitPhases = CommitPhases::One;
        /// Where a store that is opened by its path has its log with the queue. `segments`: in a folder beside the file. `table`: none,
        /// with the queue in the file, for a folder that may not be written. A closed engine leaves one file.
        pub queue_storage: QueueStorage = QueueStorage::Segments;
        /// Whether each commit also saves redb's allocator state. A lone commit takes longer and two phases; opening after a crash
        /// is quick if `trust_file` is set as well.
        pub quick_repair: bool = false;
        /// Whether a file is opened without comparing its checksums. Comparing reads all of it, about a second per GB, and
        /// detects damage: in a trusted file, damage goes unnoticed, gives wrong results, or ends in a panic. A file that
        /// was not closed cleanly is always checked, unless `quick_repair` wrote it.
        pub trust_file: bool = false;
        /// Sizes and rates.
        pub limits: Limits = Limits::default();
        /// How actions end.
        pub actions: Actions = Actions::default();
        /// Retention of history.
        pub retention_days: RetentionDays = RetentionDays::default();
        /// What advice about cost counts with.
        pub cost: Cost = Cost::default();
        /// When something is wrong.
        pub alerts: Alerts = Alerts::default();
    }
}

settings! {
    /// Sizes and rates.
    #[derive(Debug, Clone, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct Limits {
        /// Body of one Stats, Activity or Startup record, of any small operator request, and of one record of an import, in bytes;
        /// above it 413.
        pub record_body_bytes: usize = 64 * 1024, Bytes(1, BODY_BYTES_MAX);
        /// Body of one process report, in bytes; above it 413.
        pub processes_body_bytes: usize = 1024 * 1024, Bytes(1, BODY_BYTES_MAX);
        /// Body of a telemetry batch, in bytes; above it 413. An import has any length.
        pub batch_body_bytes: usize = 8 * 1024 * 1024, Bytes(1, BODY_BYTES_MAX);
        /// Request target (path and query), in bytes; above it 414.
        pub uri_bytes: usize = 8 * 1024, Bytes(1, HEAD_BYTES_MAX);
        /// Header names and values together, in bytes; above it 431.
        pub headers_bytes: usize = 16 * 1024, Bytes(1, HEAD_BYTES_MAX);
        /// Telemetry records in the queue; above it 503 `QueueFull`.
        pub queue_records: u64 = 1_000_000, Count(1, QUEUE_RECORDS_MAX);
        /// Queued records at which they are filed before it is time. Callers that commit do that too; not if above `queue_records`.
        pub queue_high_water: u64 = 200_000, Count(1, u64::MAX);
        /// Events that are kept; above it the oldest are removed, once an hour.
        pub events: u64 = 1_000_000, Count(1, u64::MAX);
        /// Requests per minute and API key; above it 429 `Throttled`.
        pub key_requests_per_minute: Option<u32> = None, Count(1, u32::MAX.into());
        /// Bytes that telemetry leaves free on the medium, if the host reports them; else it is refused with 503 `LowDisk`. Changes of
        /// workspaces and actions go on until half of it is free, filing until a quarter is. Revoking a key, placing a hold, retention and
        /// removal go on until nothing is free, and then with the 4 MiB of the file that is kept for them. 0: nothing is refused.
        pub free_bytes_min: u64 = 32 * 1024 * 1024, Bytes(0, STORAGE_BYTES_MAX);
        /// redb's page cache, in bytes.
        pub cache_bytes: usize = 32 * 1024 * 1024, Bytes(0, STORAGE_BYTES_MAX);
    }
}

settings! {
    /// How actions end.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct Actions {
        /// Who ends an accepted action: `clock`, after its duration, or `host`, which completes or fails each one itself.
        pub driver: ActionDriver = ActionDriver::Clock;
        /// Who ends an accepted action of one kind, where that is not `actions.driver`.
        pub drivers: ActionDrivers = ActionDrivers::default();
        /// How long each action takes when the clock ends it.
        pub durations: ActionDurations = ActionDurations::default();
    }
}

settings! {
    /// Who ends the actions of each kind; by default `actions.driver` says it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct ActionDrivers {
        /// `RebootWorkSpace`.
        pub reboot: Option<ActionDriver> = None;
        /// `RecoveryRebootWorkSpace`.
        pub recovery_reboot: Option<ActionDriver> = None;
        /// `RebuildWorkSpace`.
        pub rebuild: Option<ActionDriver> = None;
        /// `RestoreWorkSpace`.
        pub restore: Option<ActionDriver> = None;
        /// `TerminateWorkSpace`.
        pub terminate: Option<ActionDriver> = None;
        /// `StartWorkSpace`.
        pub start: Option<ActionDriver> = None;
        /// `ChangeComputeType`.
        pub change_compute_type: Option<ActionDriver> = None;
    }
}

settings! {
    /// How long each action takes when the clock ends it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct ActionDurations {
        /// `RebootWorkSpace`.
        pub reboot: Duration = Duration::from_secs(120), Time(0, ACTION_MS_MAX);
        /// `RecoveryRebootWorkSpace`.
        pub recovery_reboot: Duration = Duration::from_secs(300), Time(0, ACTION_MS_MAX);
        /// `RebuildWorkSpace`.
        pub rebuild: Duration = Duration::from_secs(1800), Time(0, ACTION_MS_MAX);
        /// `RestoreWorkSpace`.
        pub restore: Duration = Duration::from_secs(1800), Time(0, ACTION_MS_MAX);
        /// `TerminateWorkSpace`.
        pub terminate: Duration = Duration::from_secs(300), Time(0, ACTION_MS_MAX);
        /// `StartWorkSpace`.
        pub start: Duration = Duration::from_secs(60), Time(0, ACTION_MS_MAX);
        /// `ChangeComputeType`.
        pub change_compute_type: Duration = Duration::from_secs(1200), Time(0, ACTION_MS_MAX);
    }
}

settings! {
    /// How long history is kept, in days.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct RetentionDays {
        /// Resource statistics.
        pub stats: u16 = 30, Count(1, u16::MAX.into());
        /// User activity.
        pub activity: u16 = 90, Count(1, u16::MAX.into());
        /// Startup timings.
        pub startup: u16 = 90, Count(1, u16::MAX.into());
        /// Per-process usage.
        pub processes: u16 = 30, Count(1, u16::MAX.into());
        /// The audit.
        pub audit: u16 = 365, Count(1, u16::MAX.into());
        /// Rollups of telemetry, which answer questions about the fleet.
        pub rollups: u16 = 400, Count(1, u16::MAX.into());
        /// Events. A litigation hold does not keep them: the audit has the same.
        pub events: u16 = 7, Count(1, u16::MAX.into());
    }
}

settings! {
    /// When something is wrong: the thresholds of conditions.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct Alerts {
        /// How often upkeep looks for conditions, and writes events of those that were raised or cleared. 0: never.
        pub every: Duration = Duration::from_secs(60), Time(0, ACTION_MS_MAX);
        /// How long an `AVAILABLE` desktop that reported within a week may be silent. 0: for ever.
        pub silent_after: Duration = Duration::from_secs(1800), Time(0, ACTION_MS_MAX);
        /// The share of the desktops that report, in percent, from which on their silence is one of the fleet.
        pub silent_percent: u16 = 50, Count(1, 100);
        /// The 95th percentile of the startups of an hour above which they are slow. 0: none.
        pub logon_p95: Duration = Duration::from_secs(120), Time(0, ACTION_MS_MAX);
        /// How many times that of the last 30 days it is above which they are slow. 0: never.
        pub logon_times: u16 = 2, Count(0, 1000);
    }
}

settings! {
    /// What advice about cost counts with.
    #[derive(Debug, Clone, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct Cost {
        /// How long an `AUTO_STOP` desktop is billed after its user has left.
        pub auto_stop_timeout: Duration = Duration::from_secs(3600), Time(0, ACTION_MS_MAX);
        /// What compute types cost: of each its name, a month with `ALWAYS_ON`, a month with `AUTO_STOP`, an hour of that; up to four decimals,
        /// in any currency. With prices advice says what it saves.
        pub prices: Vec<String> = Vec::new(), Text("prices such as \"STANDARD 35 9.75 0.30\": the type, a month with ALWAYS_ON, a month with AUTO_STOP, an hour of that", Price::is_price);
        /// From how many hours a month `ALWAYS_ON` is cheaper, where its price is not known.
        pub hour_limits: HourLimits = HourLimits::default();
    }
}

settings! {
    /// The hours a month above which a desktop is cheaper with `ALWAYS_ON` than with `AUTO_STOP`, by compute type, as prices have it; the
    /// defaults are those of Amazon's Cost Optimizer for WorkSpaces. Other types have none.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct HourLimits {
        /// `VALUE`.
        pub value: u16 = 81, Count(0, MONTH_HOURS_MAX);
        /// `STANDARD`.
        pub standard: u16 = 85, Count(0, MONTH_HOURS_MAX);
        /// `PERFORMANCE`.
        pub performance: u16 = 80, Count(0, MONTH_HOURS_MAX);
        /// `POWER`.
        pub power: u16 = 92, Count(0, MONTH_HOURS_MAX);
        /// `POWERPRO`.
        pub powerpro: u16 = 78, Count(0, MONTH_HOURS_MAX);
        /// `GRAPHICS_G4DN`.
        pub graphics_g4dn: u16 = 334, Count(0, MONTH_HOURS_MAX);
        /// `GRAPHICSPRO_G4DN`.
        pub graphicspro_g4dn: u16 = 80, Count(0, MONTH_HOURS_MAX);
    }
}

settings! {
    /// Who ends an accepted action.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum ActionDriver {
        /// The clock, after the action's [duration](ActionDurations); the host may end one earlier.
        #[default]
        Clock = "clock",
        /// The host alone: each action is pending in the outbox until the host completes or fails it.
        Host = "host",
    }
}

settings! {
    /// When commits happen.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    #[non_exhaustive]
    pub enum CommitDriver {
        /// The caller that finds the writer free commits all pending writes.
        #[default]
        Caller = "caller",
        /// Threads of the engine commit, until the last clone of the engine is dropped: two for a store with a log beside it, one of which
        /// appends while the other applies, else one. No caller commits, so no future waits for the disk inside `poll`.
        Thread = "thread",
        /// The host calls [`Engine::commit_pending`](crate::Engine::commit_pending), once per turn of its event loop.
        Host = "host",
    }
}

settings! {
    /// The steps in which a commit becomes durable. In either case an acknowledged write survives a crash.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    #[non_exhaustive]
    pub enum CommitPhases {
        /// One sync for the data and the pointer to it: a lone write waits half as long. After a crash, checksums decide
        /// whether the last commit is whole; damage to it by the disk looks like a commit that was cut short, and the
        /// commit is undone.
        #[default]
        One = "one",
        /// The data first, then the pointer to it, each with its own sync: the pointer is trusted. A damaged last commit is
        /// refused, and no client can send data that makes a commit that was cut short look whole. For a store that
        /// untrusted clients write to.
        Two = "two",
    }
}

settings! {
    /// Where telemetry waits to be filed, of a store that is opened by its path.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    #[non_exhaustive]
    pub enum QueueStorage {
        /// In segments, in a folder beside the file that has its name and `-queue`, with all other writes. It is made with the first
        /// record or the second other write, and removed when the engine is closed.
        #[default]
        Segments = "segments",
        /// In a table of the file, which is then the only one.
        Table = "table",
    }
}

impl Config {
    /// Checks that every value is within its bounds. An engine is opened only with a configuration that passes.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`], which names the first wrong setting, its value and what is allowed.
    pub fn validate(&self) -> Result<()> {
        let mut wrong = None;
        // Visiting takes a `&mut`; what is set is the same value again.
        settings::each(&mut self.clone(), &mut |mut setting| {
            let value = setting.get();
            if wrong.is_none() && !setting.set(&value) {
                let (name, expected) = (setting.name, setting.expected());
                wrong = Some(format!("{name} is {value}; allowed is {expected}"));
            }
        });
        wrong.map_or(Ok(()), |wrong| {
            Err(EngineError::new(ErrorKind::Configuration, wrong))
        })
    }
}

impl Limits {
    /// Says what is refused with `free_bytes` on the medium, if anything is.
    #[must_use]
    pub fn refused_with(&self, free_bytes: u64) -> Option<String> {
        WriteClass::refused_with(free_bytes, self.free_bytes_min)
    }

    /// The largest body that is kept or discarded as a whole, in bytes.
    pub(crate) fn body_bytes_max(&self) -> usize {
        let records = self.record_body_bytes.max(self.processes_body_bytes);
        self.batch_body_bytes.max(records)
    }
}

impl Actions {
    /// Who ends `action`.
    #[must_use]
    pub fn driver_of(&self, action: Action) -> ActionDriver {
        let own = match action {
            Action::Reboot => self.drivers.reboot,
            Action::RecoveryReboot => self.drivers.recovery_reboot,
            Action::Rebuild => self.drivers.rebuild,
            Action::Restore => self.drivers.restore,
            Action::Terminate => self.drivers.terminate,
            Action::Start => self.drivers.start,
            Action::ChangeComputeType => self.drivers.change_compute_type,
        };
        own.unwrap_or(self.driver)
    }

    /// The actions that are simulated: the clock ends them, and nothing happens to a desktop.
    pub fn simulated(&self) -> impl Iterator<Item = Action> + use<> {
        let (actions, all) = (*self, Action::ALL.iter().copied());
        all.filter(move |action| actions.driver_of(*action) == ActionDriver::Clock)
    }
}

impl ActionDurations {
    /// The duration of `action`.
    #[must_use]
    pub fn for_action(&self, action: Action) -> Duration {
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

impl HourLimits {
    /// The limit of a compute type, in upper case.
    #[must_use]
    pub fn for_compute_type(&self, compute_type: &str) -> Option<u16> {
        match compute_type {
            "VALUE" => Some(self.value),
            "STANDARD" => Some(self.standard),
            "PERFORMANCE" => Some(self.performance),
            "POWER" => Some(self.power),
            "POWERPRO" => Some(self.powerpro),
            "GRAPHICS_G4DN" => Some(self.graphics_g4dn),
            "GRAPHICSPRO_G4DN" => Some(self.graphicspro_g4dn),
            _ => None,
        }
    }
}

impl RetentionDays {
    /// The days that a stream is kept.
    #[must_use]
    pub fn for_stream(&self, stream: Stream) -> u16 {
        match stream {
            Stream::Stats => self.stats,
            Stream::Activity => self.activity,
            Stream::Startup => self.startup,
            Stream::Processes => self.processes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The whole names of the fields without fields of their own, as the derived `Debug` shows them.
    fn fields_of_debug(config: &Config) -> Vec<String> {
        let mut groups: Vec<String> = Vec::new();
        let mut fields = Vec::new();
        for line in format!("{config:#?}").lines().skip(1) {
            let Some((field, value)) = line.trim().split_once(": ") else {
                groups.pop();
                continue;
            };
            groups.push(field.to_owned());
            if !value.ends_with('{') {
                fields.push(groups.join("."));
                groups.pop();
            }
        }
        fields
    }

    #[test]
    fn every_field_is_a_setting_of_its_name() {
        let mut config = Config::default();
        let fields = fields_of_debug(&config);
        assert!(fields.contains(&"actions.durations.reboot".to_owned()));
        assert_eq!(settings::names(&mut config), fields);
    }

    #[test]
    fn every_default_is_a_value_that_the_setting_takes() {
        let mut config = Config::default();
        settings::each(&mut config, &mut |mut setting| {
            let default = setting.get();
            assert!(setting.set(&default), "{}", setting.name);
            assert!(!setting.text.contains("[`"), "{}: no links", setting.name);
        });
        assert_eq!(config, Config::default());
    }
}
