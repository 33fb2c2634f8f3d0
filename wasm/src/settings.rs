//! The options of a host when it opens an engine, as `engine.js` passes them.

use std::time::Duration;

use deskfleet::{ActionDriver, CommitDriver, Config};
use serde::Deserialize;

/// The page cache unless configured: memory of an instance never shrinks.
const CACHE_BYTES: usize = 8 * 1024 * 1024;

/// The options of `Engine.open`; those that stay in JavaScript are not among them.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Settings {
    /// Makes keys and trace ids repeatable.
    pub seed: Option<u64>,
    /// Whether the storage reports its free bytes.
    pub free_bytes: bool,
    /// Whether the storage keeps nothing after it is closed.
    pub volatile: bool,
    limits: Limits,
    action_seconds: ActionSeconds,
    retention_days: RetentionDays,
    action_driver: Option<Driver>,
    require_ingest_key: bool,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Driver {
    Clock,
    Host,
}

/// Declares a group of numbers that each may be left out, and how it changes that group of the configuration.
macro_rules! group {
    ($name:ident, $core:ty, $($field:ident: $number:ty),+) => {
        #[derive(Debug, Default, Deserialize)]
        #[serde(rename_all = "camelCase", deny_unknown_fields, default)]
        struct $name {
            $($field: Option<$number>,)+
        }

        impl $name {
            fn apply(&self, to: &mut $core) {
                $(if let Some(value) = self.$field {
                    to.$field = value.into();
                })+
            }
        }
    };
}

group!(
    Limits,
    deskfleet::Limits,
    record_body_bytes: usize,
    processes_body_bytes: usize,
    batch_body_bytes: usize,
    uri_bytes: usize,
    headers_bytes: usize,
    queue_records: u64,
    queue_high_water: u64,
    key_requests_per_minute: u32,
    free_bytes_min: u64,
    cache_bytes: usize
);

group!(
    ActionSeconds,
    deskfleet::ActionDurations,
    reboot: Seconds,
    recovery_reboot: Seconds,
    rebuild: Seconds,
    restore: Seconds,
    terminate: Seconds,
    start: Seconds,
    change_compute_type: Seconds
);

/// A duration in whole seconds.
#[derive(Debug, Clone, Copy, Deserialize)]
struct Seconds(u32);

impl From<Seconds> for Duration {
    fn from(seconds: Seconds) -> Self {
        Self::from_secs(seconds.0.into())
    }
}

group!(
    RetentionDays,
    deskfleet::RetentionDays,
    stats: u16,
    activity: u16,
    startup: u16,
    processes: u16,
    audit: u16
);

impl Settings {
    /// Parses the options.
    ///
    /// # Errors
    /// A sentence that names the option that is wrong.
    pub fn parse(json: &str) -> Result<Self, String> {
        serde_json::from_slice(json.as_bytes()).map_err(|error| format!("options: {error}"))
    }

    /// The configuration: the engine's own, with a small cache, a quick open after a crash, and commits driven by the event
    /// loop.
    #[must_use]
    pub fn config(&self) -> Config {
        let mut config = Config::default();
        config.limits.cache_bytes = CACHE_BYTES;
        config.commit_driver = CommitDriver::Host;
        config.quick_repair = true;
        config.require_ingest_key = self.require_ingest_key;
        config.action_driver = match self.action_driver {
            Some(Driver::Host) => ActionDriver::Host,
            Some(Driver::Clock) | None => ActionDriver::Clock,
        };
        self.limits.apply(&mut config.limits);
        self.action_seconds.apply(&mut config.action_durations);
        self.retention_days.apply(&mut config.retention_days);
        config
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn omitted_settings_are_the_engine_defaults() {
        let config = Settings::parse("{}").unwrap().config();
        assert_eq!(config.limits.cache_bytes, CACHE_BYTES);
        assert_eq!(config.commit_driver, CommitDriver::Host);
        assert!(config.quick_repair);
        assert_eq!(config.action_durations, Config::default().action_durations);
        assert_eq!(config.retention_days, Config::default().retention_days);
    }

    #[test]
    fn given_settings_are_applied() {
        let json = r#"{"seed":7,"limits":{"queueRecords":5,"keyRequestsPerMinute":2},"actionSeconds":{"reboot":1},
            "retentionDays":{"audit":9},"actionDriver":"host","requireIngestKey":true}"#;
        let settings = Settings::parse(json).unwrap();
        assert_eq!(settings.seed, Some(7));
        let config = settings.config();
        assert_eq!(config.limits.queue_records, 5);
        assert_eq!(config.limits.key_requests_per_minute, Some(2));
        assert_eq!(config.action_durations.reboot, Duration::from_secs(1));
        assert_eq!(config.retention_days.audit, 9);
        assert_eq!(config.action_driver, ActionDriver::Host);
        assert!(config.require_ingest_key);
    }

    #[test]
    fn invalid_setting_is_refused_by_its_name() {
        for (json, named) in [
            (r#"{"limit":1}"#, "limit"),
            (r#"{"limits":{"queue":1}}"#, "queue"),
            (r#"{"limits":{"queueRecords":-1}}"#, "-1"),
            (r#"{"limits":{"queueRecords":1.5}}"#, "1.5"),
            (r#"{"actionDriver":"nobody"}"#, "nobody"),
            (r#"{"seed":-1}"#, "-1"),
        ] {
            let message = Settings::parse(json).unwrap_err();
            assert!(message.contains(named), "{json}: {message}");
        }
    }
}
