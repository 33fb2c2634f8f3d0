//! The options of a host when it opens an engine, as `engine.js` passes them.

use deskfleet::settings::{self, Form, Value, Wrong};
use deskfleet::{CommitDriver, Config, QueueStorage};
use serde_json::{Map, Value as Json};

/// The page cache unless configured: memory of an instance never shrinks.
const CACHE_BYTES: usize = 8 * 1024 * 1024;
/// The largest whole number that JavaScript represents exactly.
const SAFE_INTEGER_MAX: u64 = (1 << 53) - 1;

deskfleet::settings! {
    /// The options of `Engine.open`: the settings of the engine, with their names in camelCase, and some for the package alone.
    #[derive(Debug)]
    pub struct Settings {
        /// Makes keys and trace ids repeatable.
        pub seed: Option<u64> = None, Form::Count(0, SAFE_INTEGER_MAX);
        /// The configuration of the engine.
        pub config: Config as "" = config();
    }
}

/// The engine's own, with a small cache, a quick open after a crash, and commits driven by the event loop.
fn config() -> Config {
    let mut config = Config::default();
    config.limits.cache_bytes = CACHE_BYTES;
    config.commit_driver = CommitDriver::Host;
    config.queue_storage = QueueStorage::Table;
    config.quick_repair = true;
    config
}

impl Settings {
    /// Parses the options.
    ///
    /// # Errors
    /// A sentence that names the option that is wrong.
    pub fn parse(json: &str) -> Result<Self, String> {
        let options = serde_json::from_str(json).map_err(|error| format!("options: {error}"))?;
        let mut settings = Self::default();
        settings.set_all("", options)?;
        if settings.config.commit_driver != CommitDriver::Host {
            return Err("options.commitDriver is always \"host\" here".to_owned());
        }
        if settings.config.queue_storage != QueueStorage::Table {
            return Err("options.queueStorage is always \"table\" here".to_owned());
        }
        Ok(settings)
    }

    fn set_all(&mut self, group: &str, options: Map<String, Json>) -> Result<(), String> {
        for (name, value) in options {
            let name = settings::name_in(group, &name);
            let value = match value {
                Json::Object(members) if !members.is_empty() => {
                    self.set_all(&name, members)?;
                    continue;
                }
                Json::Object(_) => Value::Group,
                Json::Bool(value) => Value::Boolean(value),
                Json::String(text) => Value::Text(text),
                Json::Number(number) => match number.as_u64() {
                    Some(number) => Value::Number(number),
                    None => Value::Other(number.to_string()),
                },
                Json::Array(items) => {
                    let texts = items.iter().map(|item| item.as_str().map(str::to_owned));
                    match texts.collect() {
                        Some(texts) => Value::List(texts),
                        None => Value::Other(Json::Array(items).to_string()),
                    }
                }
                Json::Null => Value::Other(value.to_string()),
            };
            settings::set(self, &snake_case(&name), &value).map_err(|wrong| match wrong {
                Wrong::Name { nearest: None } => format!("there is no option {name}"),
                Wrong::Name {
                    nearest: Some(nearest),
                } => {
                    let nearest = camel_case(&nearest);
                    format!("there is no option {name}; did you mean {nearest}?")
                }
                Wrong::Value { expected } => {
                    format!("options.{name} must be {expected}, not {value}")
                }
            })?;
        }
        Ok(())
    }
}

/// The engine's name of a setting; one that is not in camelCase becomes a name that no setting has.
fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 8);
    for character in name.chars() {
        if character.is_ascii_uppercase() || character == '_' {
            snake.push('_');
        }
        snake.push(character.to_ascii_lowercase());
    }
    snake
}

fn camel_case(name: &str) -> String {
    let mut camel = String::with_capacity(name.len());
    let mut starts_word = false;
    for character in name.chars() {
        match character {
            '_' => starts_word = true,
            other if starts_word => {
                camel.push(other.to_ascii_uppercase());
                starts_word = false;
            }
            other => camel.push(other),
        }
    }
    camel
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use deskfleet::ActionDriver;

    use super::*;

    #[test]
    fn omitted_settings_are_the_engine_defaults() {
        let mut expected = Config::default();
        expected.limits.cache_bytes = CACHE_BYTES;
        expected.commit_driver = CommitDriver::Host;
        expected.queue_storage = QueueStorage::Table;
        expected.quick_repair = true;
        let settings = Settings::parse("{}").unwrap();
        assert_eq!((settings.seed, settings.config), (None, expected));
    }

    #[test]
    fn given_settings_are_applied() {
        let json = r#"{"seed":7,"limits":{"queueRecords":5,"keyRequestsPerMinute":2,"cacheBytes":"1 MiB"},
            "actions":{"driver":"host","durations":{"reboot":1,"changeComputeType":"1m30s"}},
            "retentionDays":{"audit":9},"requireIngestKey":true,"commitDriver":"host"}"#;
        let settings = Settings::parse(json).unwrap();
        assert_eq!(settings.seed, Some(7));
        let config = settings.config;
        assert_eq!(config.limits.queue_records, 5);
        assert_eq!(config.limits.key_requests_per_minute, Some(2));
        assert_eq!(config.limits.cache_bytes, 1024 * 1024);
        let durations = config.actions.durations;
        assert_eq!(durations.reboot, Duration::from_secs(1));
        assert_eq!(durations.change_compute_type, Duration::from_secs(90));
        assert_eq!(config.retention_days.audit, 9);
        assert_eq!(config.actions.driver, ActionDriver::Host);
        assert!(config.require_ingest_key);
    }

    #[test]
    fn invalid_setting_is_refused_by_its_name() {
        for (json, named) in [
            ("[]", "options: "),
            (r#"{"limit":1}"#, "there is no option limit"),
            (
                r#"{"limit":{}}"#,
                "there is no option limit; did you mean limits?",
            ),
            (
                r#"{"limit":{"queueRecords":1}}"#,
                "there is no option limit.queueRecords; did you mean limits.queueRecords?",
            ),
            (
                r#"{"limits":{"queueRecord":1}}"#,
                "there is no option limits.queueRecord; did you mean limits.queueRecords?",
            ),
            (
                r#"{"limits":{"queue_records":1}}"#,
                "there is no option limits.queue_records; did you mean limits.queueRecords?",
            ),
            (
                r#"{"limits":7}"#,
                "options.limits must be a group of settings, not 7",
            ),
            (
                r#"{"limits":{"queueRecords":-1}}"#,
                "options.limits.queueRecords must be a whole number, 1 to 4294967296, not -1",
            ),
            (r#"{"limits":{"queueRecords":1.5}}"#, "not 1.5"),
            (
                r#"{"limits":{"queueRecords":{}}}"#,
                "not a group of settings",
            ),
            (
                r#"{"actions":{"driver":"nobody"}}"#,
                "options.actions.driver must be \"clock\" or \"host\", not \"nobody\"",
            ),
            (r#"{"seed":-1}"#, "seed"),
            (r#"{"seed":9007199254740992}"#, "9007199254740991"),
            (r#"{"requireIngestKey":null}"#, "not null"),
            (r#"{"commitDriver":"thread"}"#, "commitDriver"),
        ] {
            let message = Settings::parse(json).unwrap_err();
            assert!(message.contains(named), "{json}: {message}");
        }
    }
}
