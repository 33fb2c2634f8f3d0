//! The settings that all nodes of a fleet share: a mutation must read the same configuration on each of them.

use crate::config::Config;
use crate::error::{EngineError, Result};
use crate::settings::{self, Value, Wrong};
use crate::store::{cluster, meta};

use super::{Context, Mutation, Outcome};

/// The prefixes of shared settings: mutations read these, or they decide what is removed.
const SHARED: [&str; 3] = ["actions.", "retention_days.", "limits.events"];

/// Sets the shared settings. The first entry of a log is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Configure {
    /// `name=value` in each line, in the order of the names in the configuration.
    pub(crate) settings: String,
    /// In a first entry: whether the fleet begins with an empty store. If not, it begins with the store of the node that appended
    /// the entry, and the others must begin with a copy of that.
    pub(crate) founds: Option<bool>,
}

/// The settings that the nodes share, as lines.
pub(crate) fn shared_settings(config: &Config) -> String {
    let mut lines = String::new();
    // Visiting takes a `&mut`.
    for (name, value) in shared_values(&mut config.clone()) {
        let text = if let Value::Text(text) = value {
            text
        } else {
            value.to_string()
        };
        lines.extend([&*name, "=", &text, "\n"]);
    }
    lines
}

/// The settings that the nodes share, in the order of their declaration.
pub(crate) fn shared_values(config: &mut Config) -> Vec<(String, Value)> {
    let mut values = settings::values(config);
    values.retain(|(name, _)| is_shared(name));
    values
}

/// Sets a setting that the nodes share.
///
/// # Errors
/// [`InvalidParameter`](crate::ErrorKind::InvalidParameter) where it is none, or takes other values.
pub(crate) fn change(config: &mut Config, name: &str, value: &Value) -> Result<()> {
    let refused = |message| Err(EngineError::invalid("settings", message));
    let groups = SHARED.join(", ");
    let wrong = match settings::set(config, name, value) {
        Ok(()) if is_shared(name) => return Ok(()),
        Ok(()) => {
            return refused(format!(
                "{name} is a setting of each node, in its deskfleet.toml; those of the fleet begin with {groups}"
            ));
        }
        Err(wrong) => wrong,
    };
    refused(match wrong {
        Wrong::Value { expected } => format!("{name} is {expected}, not {value}"),
        Wrong::Name { nearest } => {
            let nearest = nearest.map(|nearest| format!("; did you mean {nearest}?"));
            // It may be one of the host, whose settings are not known here.
            format!(
                "the fleet has no setting {name:?}{}; its settings begin with {groups}, and all others are of each node, in its deskfleet.toml",
                nearest.unwrap_or_default()
            )
        }
    })
}

fn is_shared(name: &str) -> bool {
    SHARED.iter().any(|group| name.starts_with(group))
}

/// Sets the lines of [`shared_settings`], and each shared setting without a line to its default, whatever this node was started
/// with. Lines of a version without that setting mean its default. An unknown name belongs to newer rules, which stop the node
/// elsewhere.
pub(crate) fn take_over(config: &mut Config, lines: &str) {
    for (name, value) in shared_values(&mut Config::default()) {
        let _ = settings::set(config, &name, &value);
    }
    for line in lines.lines() {
        if let Some((name, value)) = line.split_once('=')
            && is_shared(name)
        {
            let value = value
                .parse()
                .map_or_else(|_| Value::Text(value.to_owned()), Value::Number);
            let _ = settings::set(config, name, &value);
        }
    }
}

impl Mutation for Configure {
    type Output = ();

    fn apply(self, context: &mut Context<'_, '_>) -> Result<Outcome> {
        if self.founds.is_some() {
            if cluster::applied(context.tables)?.is_some() {
                // Two nodes began the fleet at once: the first entry counts.
                return Ok(Ok(()));
            }
            meta::set_swept(context.tables, context.now)?;
        }
        cluster::set_fleet_configuration(context.tables, &self.settings)?;
        Ok(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ActionDriver;

    #[test]
    fn shared_setting_without_a_line_becomes_its_default() {
        let mut config = Config::default();
        config.actions.drivers.reboot = Some(ActionDriver::Host);
        config.retention_days.stats = 7;
        config.limits.events = 5;
        config.limits.queue_records = 9;
        take_over(&mut config, "actions.driver=host\nretention_days.stats=3\n");
        let mut expected = Config::default();
        expected.actions.driver = ActionDriver::Host;
        expected.retention_days.stats = 3;
        // Not shared.
        expected.limits.queue_records = 9;
        assert_eq!(config, expected);
    }

    #[test]
    fn lines_of_a_configuration_restore_it() {
        let mut config = Config::default();
        config.actions.drivers.start = Some(ActionDriver::Host);
        config.actions.durations.reboot = std::time::Duration::from_millis(1500);
        config.limits.events = 5;
        let mut restored = Config::default();
        restored.actions.driver = ActionDriver::Host;
        take_over(&mut restored, &shared_settings(&config));
        assert_eq!(restored, config);
    }
}
