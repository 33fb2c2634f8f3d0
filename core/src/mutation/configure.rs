//! The settings that all nodes of a fleet share: what a mutation reads of the configuration must be the same on each of them.

use crate::config::Config;
use crate::error::Result;
use crate::settings::{self, Value};
use crate::store::{cluster, meta};

use super::{Context, Mutation, Outcome};

/// What the names of settings begin with that mutations read, or that say what is removed.
const SHARED: [&str; 3] = ["actions.", "retention_days.", "limits.events"];

/// Sets what the nodes share. The first entry of a log is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Configure {
    /// `name=value` in each line, in the order of the names in the configuration.
    pub(crate) settings: String,
    /// Of a first entry, whether the fleet begins with an empty store; otherwise with that of the node which appended it, and the
    /// others have to begin with a copy of that.
    pub(crate) founds: Option<bool>,
}

/// The settings that the nodes share, as lines.
pub(crate) fn shared_settings(config: &Config) -> String {
    let mut lines = String::new();
    // Visiting takes a `&mut`.
    settings::each(&mut config.clone(), &mut |setting| {
        if SHARED.iter().any(|group| setting.name.starts_with(group)) {
            let value = setting.get();
            let text = if let Value::Text(text) = &value {
                text.clone()
            } else {
                value.to_string()
            };
            lines.extend([setting.name, "=", &text, "\n"]);
        }
    });
    lines
}

/// Sets what lines of [`shared_settings`] say. A name that is not known here is of newer rules, by which a node stops elsewhere.
pub(crate) fn take_over(config: &mut Config, lines: &str) {
    for line in lines.lines() {
        if let Some((name, value)) = line.split_once('=')
            && SHARED.iter().any(|group| name.starts_with(group))
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
            if cluster::fleet_configuration(context.tables)?.is_some() {
                // Two nodes began the fleet at once: the first of them did.
                return Ok(Ok(()));
            }
            meta::set_swept(context.tables, context.now)?;
        }
        cluster::set_fleet_configuration(context.tables, &self.settings)?;
        Ok(Ok(()))
    }
}
