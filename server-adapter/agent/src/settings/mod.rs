//! The settings: from the command line, else from the environment, else from a file, else their defaults.

mod file;
mod form;

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::records::{COMPUTE_TYPE_MAX, INSTANCE_MAX};

/// The prefix of environment variables that are settings.
const PREFIX: &str = "DESKFLEET_AGENT_";
/// The file that is read where none is named, if there is one.
const FILE: &str = "deskfleet-agent.toml";
/// Names of tenants are short everywhere.
const TENANT_MAX: usize = 100;
/// Bytes of the spool: about three weeks.
const SPOOL_BYTES: u64 = 16 << 20;

/// What an agent sends, where to, and how often.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settings {
    /// The address of the server.
    pub(crate) url: Option<String>,
    /// The file with the key.
    pub(crate) key_file: Option<PathBuf>,
    /// The CAs that are trusted, in place of those of the system.
    pub(crate) ca: Option<PathBuf>,
    /// The id under which records are sent; by default the name of the computer.
    pub(crate) instance: Option<String>,
    /// The folder of the spool.
    pub(crate) spool: Option<PathBuf>,
    /// Bytes of the spool.
    pub(crate) spool_bytes: u64,
    /// Time between two records of statistics.
    pub(crate) stats_every: Duration,
    /// Time between two reports of processes.
    pub(crate) processes_every: Duration,
    /// The compute type in each record.
    pub(crate) compute_type: Option<String>,
    /// The tenant in records of statistics and activity.
    pub(crate) tenant: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            url: None,
            key_file: None,
            ca: None,
            instance: None,
            spool: None,
            spool_bytes: SPOOL_BYTES,
            stats_every: Duration::from_secs(5 * 60),
            processes_every: Duration::from_secs(15 * 60),
            compute_type: None,
            tenant: None,
        }
    }
}

/// A setting: how it is called, what it takes, and what it changes.
pub(crate) struct Setting {
    /// In the file, and in capitals after the prefix in the environment.
    pub(crate) name: &'static str,
    /// The option.
    pub(crate) long: &'static str,
    /// The placeholder of its value.
    pub(crate) value: &'static str,
    pub(crate) help: &'static str,
    /// What its value must be.
    expected: &'static str,
    set: fn(&mut Settings, &str) -> Option<()>,
}

/// All settings, as `--help` lists them.
pub(crate) const SETTINGS: &[Setting] = &[
    Setting {
        name: "url",
        long: "url",
        value: "URL",
        help: "Address of the server, such as https://fleet.example.com",
        expected: "the address of a server, without a user or a query, such as \"http://127.0.0.1:8080\"",
        set: |to, text| form::server(text).map(|url| to.url = Some(url)),
    },
    Setting {
        name: "key_file",
        long: "key-file",
        value: "FILE",
        help: "File with an API key of the scope ingest; by default the key is that of the environment variable DESKFLEET_KEY",
        expected: "the name of a file",
        set: |to, text| form::path(text).map(|file| to.key_file = Some(file)),
    },
    Setting {
        name: "ca",
        long: "ca",
        value: "FILE",
        help: "The CAs that may have signed the server's certificate, in PEM; by default those of the system",
        expected: "the name of a file",
        set: |to, text| form::path(text).map(|file| to.ca = Some(file)),
    },
    Setting {
        name: "instance",
        long: "instance",
        value: "NAME",
        help: "The workSpId or computer name of this desktop in the inventory; by default the computer name",
        expected: "a name of 1 to 50 characters",
        set: |to, text| form::name(text, INSTANCE_MAX).map(|name| to.instance = Some(name)),
    },
    Setting {
        name: "spool",
        long: "spool",
        value: "FOLDER",
        help: "Folder for pending records; by default that of the environment variable STATE_DIRECTORY, which systemd sets, \
               else deskfleet-agent.spool",
        expected: "the name of a folder",
        set: |to, text| form::path(text).map(|folder| to.spool = Some(folder)),
    },
    Setting {
        name: "spool_bytes",
        long: "spool-bytes",
        value: "BYTES",
        help: "Bytes of the spool; above it the oldest records are dropped. By default 16 MiB, about three weeks",
        expected: "bytes such as 16777216 or \"16 MiB\", \"1 MiB\" to \"1 GiB\"",
        set: |to, text| form::bytes(text).map(|bytes| to.spool_bytes = bytes),
    },
    Setting {
        name: "stats_every",
        long: "stats-every",
        value: "TIME",
        help: "Time between two records of the load; by default 5m",
        expected: "a time such as \"5m\", \"10s\" to \"1h\"",
        set: |to, text| form::time(text).map(|time| to.stats_every = time),
    },
    Setting {
        name: "processes_every",
        long: "processes-every",
        value: "TIME",
        help: "Time between two reports of the processes; by default 15m",
        expected: "a time such as \"15m\", \"10s\" to \"1h\"",
        set: |to, text| form::time(text).map(|time| to.processes_every = time),
    },
    Setting {
        name: "compute_type",
        long: "compute-type",
        value: "NAME",
        help: "The compute type in each record, such as STANDARD; by default none",
        expected: "a name of 1 to 25 characters",
        set: |to, text| form::name(text, COMPUTE_TYPE_MAX).map(|name| to.compute_type = Some(name)),
    },
    Setting {
        name: "tenant",
        long: "tenant",
        value: "NAME",
        help: "The tenant in records of the load and of activity; by default none",
        expected: "a name of 1 to 100 characters",
        set: |to, text| form::name(text, TENANT_MAX).map(|name| to.tenant = Some(name)),
    },
];

impl Settings {
    /// Loads the settings from `file`, or from the default one if there is one, from the environment and from options.
    ///
    /// # Errors
    /// A line for each thing that is wrong, with its place.
    pub(crate) fn load(
        file: Option<&Path>,
        environment: impl Iterator<Item = (String, String)>,
        options: impl Iterator<Item = (&'static str, String)>,
    ) -> Result<Self, String> {
        let mut loading = Loading::default();
        loading.read_file(file);
        for (variable, value) in environment {
            let Some(name) = variable.strip_prefix(PREFIX) else {
                continue;
            };
            let shown = |name: &str| format!("{PREFIX}{}", name.to_uppercase());
            loading.set(&variable, &name.to_lowercase(), &value, &shown);
        }
        for (name, value) in options {
            let place = format!("--{}", name.replace('_', "-"));
            loading.set(&place, name, &value, &str::to_owned);
        }
        if loading.wrong.is_empty() {
            Ok(loading.settings)
        } else {
            Err(loading.wrong.join("\n"))
        }
    }
}

/// Settings that are being loaded, and what is wrong with them so far.
#[derive(Default)]
struct Loading {
    settings: Settings,
    wrong: Vec<String>,
}

impl Loading {
    fn read_file(&mut self, named: Option<&Path>) {
        let path = named.unwrap_or_else(|| Path::new(FILE));
        let place = path.display();
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if named.is_none() && error.kind() == std::io::ErrorKind::NotFound => return,
            Err(error) => return self.wrong.push(format!("cannot read {place}: {error}")),
        };
        match file::parse(&text) {
            Ok(entries) => {
                for entry in entries {
                    let place = format!("{place}:{}", entry.line);
                    self.set(&place, &entry.name, &entry.value, &str::to_owned);
                }
            }
            Err((line, message)) => self.wrong.push(format!("{place}:{line}: {message}")),
        }
    }

    /// Sets one; `shown` is how `place` writes the name of a setting.
    fn set(&mut self, place: &str, name: &str, value: &str, shown: &dyn Fn(&str) -> String) {
        let Some(setting) = SETTINGS.iter().find(|setting| setting.name == name) else {
            let nearest = SETTINGS
                .iter()
                .map(|setting| (strsim::osa_distance(name, setting.name), setting.name))
                .min()
                .filter(|(distance, nearest)| distance * 3 <= nearest.len());
            let nearest = nearest.map(|(_, name)| format!("; did you mean {}?", shown(name)));
            let nearest = nearest.unwrap_or_default();
            return self
                .wrong
                .push(format!("{place}: there is no setting {name}{nearest}"));
        };
        if (setting.set)(&mut self.settings, value).is_none() {
            let expected = setting.expected;
            self.wrong
                .push(format!("{place}: {name} is {value:?}; expected {expected}"));
        }
    }
}

#[cfg(test)]
mod tests;
