//! The configuration of a command: the defaults, then a file, the environment, and the command line, each over those before it.

mod file;
mod hidden;
mod print;
mod settings;

use std::collections::BTreeMap;
use std::fmt;
use std::net::ToSocketAddrs as _;
use std::path::{Path, PathBuf};
use std::slice::from_ref;

use deskfleet::settings::{Value, Wrong, likeliest, names, set};
use deskfleet_server::{LogFormat, WebhookOptions};

use super::client::KEY_VARIABLE;
use super::origin::origin;

pub(crate) use self::hidden::shown;
use self::hidden::shown_text;
#[cfg(feature = "cluster")]
pub(crate) use self::settings::ClusterSettings;
pub(crate) use self::settings::is_node_name;
pub(crate) use self::settings::{BackupSettings, Settings, is_address};

/// The file that is read where `--config` names none, if it is there.
pub(crate) const FILE: &str = "deskfleet.toml";
/// The prefix of environment variables that are settings, except for [`KEY_VARIABLE`].
const PREFIX: &str = "DESKFLEET_";
/// The prefix of the settings of the agent, which may run in the same environment.
const AGENT_PREFIX: &str = "DESKFLEET_AGENT_";

/// The address of a server in an advice that names no other.
const UNKNOWN_SERVER: &str = "http://HOST:PORT";
/// The most webhooks.
const WEBHOOKS_MAX: usize = 32;
/// The short name of a setting, for files and variables that were written before it was in a group.
const SHORT_NAME: (&str, &str) = ("backups", "backups.folder");

/// What the command line says about the configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Overrides {
    /// The file.
    pub(crate) file: Option<PathBuf>,
    /// `KEY=VALUE`.
    pub(crate) set: Vec<String>,
    /// Options of their own name for single settings: the name of the setting, its value, the option.
    pub(crate) options: Vec<(&'static str, Value, &'static str)>,
}

/// The source of a setting's value.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Source {
    File(PathBuf, usize),
    Environment(String),
    Option(&'static str),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(file, line) => write!(f, "{}:{line}", file.display()),
            Self::Environment(name) => write!(f, "environment: {name}"),
            Self::Option(option) => f.write_str(option),
        }
    }
}

/// The configuration in force.
#[derive(Debug, Clone, Default)]
pub(crate) struct Configuration {
    pub(crate) settings: Settings,
    /// The sources of the settings that were set, by their names.
    sources: BTreeMap<String, Source>,
    /// The arguments and the environment with which it was loaded.
    overrides: Overrides,
    /// Whether a file was loaded.
    has_file: bool,
}

/// The errors of a configuration, a line each.
#[derive(Debug)]
pub(crate) struct Invalid {
    lines: Vec<String>,
    /// The form of the log, as far as it could be read.
    pub(crate) log_format: LogFormat,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.lines.join("\n"))
    }
}

impl Configuration {
    /// Loads the configuration once more, as the file is now.
    ///
    /// # Errors
    /// Those of [`Self::load`], and when there is no file any more.
    pub(crate) fn again(&self) -> Result<Self, Invalid> {
        let again = Self::load(&self.overrides)?;
        if self.has_file && !again.has_file {
            let line = format!("{FILE} is gone; an empty one sets every default");
            return Err(Invalid {
                lines: vec![line],
                log_format: again.settings.server.log_format,
            });
        }
        Ok(again)
    }

    /// The file that is read if it is there.
    pub(crate) fn file(&self) -> &Path {
        let named = self.overrides.file.as_deref();
        named.unwrap_or_else(|| Path::new(FILE))
    }

    /// Whether nothing sets the setting of that name.
    pub(crate) fn is_default(&self, name: &str) -> bool {
        !self.sources.contains_key(name)
    }

    /// `advice` with the address of the server in place of [`UNKNOWN_SERVER`], if the configuration has one: without one it may be that of
    /// an option of its start.
    pub(crate) fn with_server(&self, advice: &str) -> String {
        let settings = &self.settings;
        let listen = (!self.is_default("server.listen")).then_some(&settings.listen);
        let address = listen.and_then(|listen| listen.to_socket_addrs().ok()?.next());
        let Some(address) = address else {
            return advice.to_owned();
        };
        let server = origin(address, &settings.server.hosts, settings.tls.cert.is_some());
        advice.replace(UNKNOWN_SERVER, &server)
    }

    /// Loads the configuration from the file, the environment and the command line.
    ///
    /// # Errors
    /// All errors of it, each with its place.
    pub(crate) fn load(overrides: &Overrides) -> Result<Self, Invalid> {
        let environment = std::env::vars_os().filter_map(|(name, value)| {
            let name = name.to_str()?.to_owned();
            let is_setting = name.starts_with(PREFIX) && !name.starts_with(AGENT_PREFIX);
            (is_setting && name != KEY_VARIABLE)
                .then(|| (name, value.to_string_lossy().into_owned()))
        });
        Self::from(overrides, environment)
    }

    fn from(
        overrides: &Overrides,
        environment: impl Iterator<Item = (String, String)>,
    ) -> Result<Self, Invalid> {
        let mut configuration = Self {
            overrides: overrides.clone(),
            ..Self::default()
        };
        let mut wrong = Vec::new();
        configuration.read_file(&mut wrong);
        configuration.read_environment(environment, &mut wrong);
        configuration.read_options(overrides, &mut wrong);
        if let Some((name, reason)) = configuration.settings.unfit() {
            let group = name.rsplit_once('.').map_or("", |(group, _)| group);
            let sources = &configuration.sources;
            // A setting that is missing has the place of its group.
            let place = sources.get(&name).or_else(|| sources.get(group));
            let place = place.map_or_else(String::new, |place| format!("{place}: "));
            wrong.push(format!("{place}{name} {reason}"));
        }
        if wrong.is_empty() {
            return Ok(configuration);
        }
        Err(Invalid {
            lines: wrong,
            log_format: configuration.settings.server.log_format,
        })
    }

    fn read_file(&mut self, wrong: &mut Vec<String>) {
        let path = &self.file().to_owned();
        let is_named = self.overrides.file.is_some();
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if !is_named && error.kind() == std::io::ErrorKind::NotFound => return,
            Err(error) => {
                wrong.push(format!("{}: {error}", path.display()));
                return;
            }
        };
        self.has_file = true;
        let entries = match file::parse(&text) {
            Ok(entries) => entries,
            Err((line, message)) => {
                wrong.push(format!("{}:{line}: {message}", path.display()));
                return;
            }
        };
        for entry in entries {
            let source = Source::File(path.to_owned(), entry.line);
            let (place, name, value) = (source.to_string(), entry.name, entry.value);
            if let Err(error) = self.set(&name, &[value], source) {
                wrong.push(error.line(&place, &name));
            }
        }
    }

    fn read_environment(
        &mut self,
        environment: impl Iterator<Item = (String, String)>,
        wrong: &mut Vec<String>,
    ) {
        let environment: Vec<_> = environment.collect();
        for (variable, _) in &environment {
            self.add_group(&setting_name(variable));
        }
        let mut known = names(&mut self.settings);
        known.push(SHORT_NAME.0.to_owned());
        for (variable, text) in environment
            .into_iter()
            .filter(|(name, _)| !is_of_kubernetes(name))
        {
            let set = match known.iter().find(|name| self::variable(name) == variable) {
                Some(name) => {
                    let source = Source::Environment(variable.clone());
                    self.set(name, &readings(text), source)
                        .map_err(|error| error.line(&variable, name))
                }
                None => Err(unknown(&variable, &known)),
            };
            wrong.extend(set.err());
        }
    }

    fn read_options(&mut self, overrides: &Overrides, wrong: &mut Vec<String>) {
        for text in &overrides.set {
            let place = format!("--set {}", shown_text(text));
            let Some((name, value)) = text.split_once('=') else {
                wrong.push(format!("{place}: not of the form KEY=VALUE"));
                continue;
            };
            let values = readings(value.trim().to_owned());
            let name = name.trim();
            if let Err(error) = self.set(name, &values, Source::Option("--set")) {
                wrong.push(error.line(&place, name));
            }
        }
        for (name, value, option) in &overrides.options {
            if let Err(error) = self.set(name, from_ref(value), Source::Option(option)) {
                wrong.push(error.line(option, name));
            }
        }
    }

    /// The error about an unknown name with the nearest one, among those of a webhook too.
    fn with_nearest(&self, name: &str, value: &Value, error: Wrong) -> Wrong {
        if !matches!(error, Wrong::Name { .. }) {
            return error;
        }
        let mut settings = self.settings.clone();
        let webhooks = &mut settings.notifications.webhooks.0;
        webhooks.resize_with(webhooks.len().max(1), WebhookOptions::default);
        set(&mut settings, name, value).err().unwrap_or(error)
    }

    /// Adds the webhook of a setting such as `webhooks.1.url`, and those before it.
    fn add_group(&mut self, name: &str) {
        let webhooks = &mut self.settings.notifications.webhooks.0;
        let number = name.strip_prefix("webhooks.").unwrap_or_default();
        let number = number.split('.').next().unwrap_or_default().parse();
        if let Ok(number @ 1..=WEBHOOKS_MAX) = number
            && webhooks.len() < number
        {
            webhooks.resize_with(number, WebhookOptions::default);
        }
    }

    /// Sets a setting to the first of `values` that it takes.
    fn set(&mut self, name: &str, values: &[Value], source: Source) -> Result<(), NotSet> {
        let mut wrong = None;
        self.add_group(name);
        let name = match (name, values) {
            (short, [Value::Text(_), ..]) if short == SHORT_NAME.0 => SHORT_NAME.1,
            _ => name,
        };
        for value in values {
            match set(&mut self.settings, name, value) {
                Ok(()) => {
                    self.sources.insert(name.to_owned(), source);
                    return Ok(());
                }
                Err(error) => {
                    wrong.get_or_insert_with(|| NotSet {
                        value: value.clone(),
                        wrong: self.with_nearest(name, value, error),
                    });
                }
            }
        }
        wrong.map_or(Ok(()), Err)
    }
}

/// A refused value, and why.
struct NotSet {
    value: Value,
    wrong: Wrong,
}

impl NotSet {
    /// The line for a person.
    fn line(self, place: &str, name: &str) -> String {
        match self.wrong {
            Wrong::Name { nearest } => {
                let nearest = nearest.map(|name| format!("; did you mean {name}?"));
                let nearest = nearest.unwrap_or_default();
                format!("{place}: there is no setting {name}{nearest}")
            }
            Wrong::Value { expected } => {
                let value = shown(name, &self.value);
                format!("{place}: {name} is {value}; expected {expected}")
            }
        }
    }
}

/// Whether Kubernetes sets the variable in every container beside a Service of the name `deskfleet`.
fn is_of_kubernetes(variable: &str) -> bool {
    let name = variable.strip_prefix(PREFIX).unwrap_or_default();
    let of_port = name.strip_prefix("PORT_").and_then(|rest| {
        let (number, _) = rest.split_once('_')?;
        number.parse::<u16>().ok()
    });
    matches!(name, "PORT" | "SERVICE_HOST" | "SERVICE_PORT")
        || name.starts_with("SERVICE_PORT_")
        || of_port.is_some()
}

/// The name of the setting that a variable would hold.
fn setting_name(variable: &str) -> String {
    let name = variable.strip_prefix(PREFIX).unwrap_or(variable);
    name.to_lowercase().replace("__", ".")
}

/// The line for people about a variable that holds no setting.
fn unknown(variable: &str, known: &[String]) -> String {
    let name = setting_name(variable);
    let nearest = likeliest(&name, known);
    let nearest = nearest.map(|name| format!("; did you mean {}?", self::variable(name)));
    let nearest = nearest.unwrap_or_default();
    format!("{variable}: there is no setting {name}{nearest}")
}

/// The variable of the environment that holds a setting.
fn variable(name: &str) -> String {
    format!("{PREFIX}{}", name.replace('.', "__").to_uppercase())
}

/// The possible values of a text without a type, likeliest first; the setting decides.
fn readings(text: String) -> Vec<Value> {
    let parts = text.split(',').map(|part| part.trim().to_owned());
    let list = parts.filter(|part| !part.is_empty()).collect();
    let mut readings = Vec::new();
    readings.extend(text.parse().map(Value::Boolean));
    readings.extend(text.parse().map(Value::Number));
    readings.push(Value::List(list));
    readings.insert(0, Value::Text(text));
    readings
}

#[cfg(test)]
mod tests;
