//! SIGHUP: the configuration is loaded again, and what can change while the server runs changes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::thread::Builder;

use deskfleet::Engine;
use deskfleet::locks::lock;
use deskfleet::settings::{Value, values};
use deskfleet_server::{Notifications, Prepared, ServerHandle, ServerOptions};

use super::backups::BackupHandle;
use super::configuration::{BackupSettings, Configuration, Settings, shown};
#[cfg(feature = "cluster")]
use super::node;
use super::output::log;

/// The configuration in force.
#[derive(Debug)]
struct InForce {
    #[cfg_attr(
        not(feature = "cluster"),
        expect(dead_code, reason = "only a node compares settings with a fleet")
    )]
    engine: Engine,
    configuration: Configuration,
    server: ServerHandle,
    backups: BackupHandle,
    notifications: Notifications,
}

/// Loads the configuration again each time that the result is called. That does not wait: reading a file can take long, so each time has
/// a thread of its own, one after another.
pub(crate) fn requests(
    (engine, configuration): (Engine, Configuration),
    server: ServerHandle,
    backups: BackupHandle,
    notifications: Notifications,
) -> impl Fn() + Send + use<> {
    let in_force = Arc::new(Mutex::new(InForce {
        engine,
        configuration,
        server,
        backups,
        notifications,
    }));
    move || {
        let in_force = Arc::clone(&in_force);
        let thread = Builder::new().name("deskfleet-reload".into());
        let begun = thread.spawn(move || lock(&in_force).reload());
        if let Err(error) = begun {
            log!("deskfleet: the configuration stays as it was: no thread can be started: {error}");
        }
    }
}

impl InForce {
    fn reload(&mut self) {
        let mut wanted = match self.configuration.again() {
            Ok(wanted) => wanted,
            Err(invalid) => {
                log!("deskfleet: the configuration stays as it was:\n{invalid}");
                return;
            }
        };
        #[cfg(feature = "cluster")]
        node::set_those_of_the_fleet(&self.engine, &mut self.configuration.settings.engine);
        let settings = &self.configuration.settings;
        // A server that speaks TLS goes on to, and one that does not as well.
        let has_tls = settings.tls.cert.is_some();
        let tls = match &wanted.settings.tls.cert {
            Some(_) if has_tls => wanted.settings.tls.clone(),
            _ => settings.tls.clone(),
        };
        let certificate = match tls.read() {
            Ok(certificate) => certificate,
            Err(error) => {
                log!("deskfleet: the configuration and the certificate stay as they were: {error}");
                return;
            }
        };
        let notifications = &wanted.settings.notifications;
        let prepared = match Prepared::read(notifications) {
            Ok(prepared) => prepared,
            Err(error) => {
                log!("deskfleet: the configuration stays as it was: {error}");
                return;
            }
        };
        let server = ServerOptions {
            tls: certificate,
            ..settings.server.reloaded(&wanted.settings.server)
        };
        if let Err(error) = self.server.reload(&server) {
            log!("deskfleet: the configuration stays as it was: {error}");
            return;
        }
        let backups = BackupSettings {
            folder: settings.backups.folder.clone(),
            ..wanted.settings.backups
        };
        self.backups.reload(&backups);
        if let Err(error) = self.notifications.replace(prepared) {
            log!("deskfleet: nothing is sent to webhooks any more: {error}");
        }
        #[cfg(feature = "cluster")]
        {
            node::compare_settings(&self.engine, &wanted.settings.engine);
            node::set_those_of_the_fleet(&self.engine, &mut wanted.settings.engine);
        }
        let reloaded = Settings {
            backups,
            notifications: notifications.clone(),
            server,
            tls,
            ..settings.clone()
        };
        report(settings, &reloaded, &wanted.settings);
        wanted.settings = reloaded;
        self.configuration = wanted;
    }
}

/// Logs what changed from `old` to `new`, and what is `wanted` and needs a restart.
fn report(old: &Settings, new: &Settings, wanted: &Settings) {
    let changed = differences(old, new);
    let webhooks = |settings: &Settings| settings.notifications.webhooks.0.len();
    let (had, has) = (webhooks(old), webhooks(new));
    let pending = differences(new, wanted);
    let mut signing = new.notifications.webhooks.0.iter();
    let has_secrets = signing.any(|webhook| webhook.secret_file.is_some());
    if has_secrets {
        log!("The secrets of the webhooks were read again.");
    }
    if let Some(file) = &new.tls.cert {
        let file = file.display();
        log!("The certificate in {file} was read again, for new connections.");
    } else if !has_secrets && changed.is_empty() && pending.is_empty() && had == has {
        log!("The configuration was loaded again; nothing changed.");
    }
    for (name, value) in changed {
        let value = shown(&name, &value);
        log!("{name} is {value} now.");
    }
    if had > has {
        log!("Of {had} webhooks the first {has} are left.");
    }
    for (name, value) in pending {
        let value = shown(&name, &value);
        log!("{name} is {value} in the configuration; restart to apply it.");
    }
}

/// The names and new values of the settings that differ or are new.
fn differences(old: &Settings, new: &Settings) -> Vec<(String, Value)> {
    let old: BTreeMap<_, _> = values(&mut old.clone()).into_iter().collect();
    let mut new = values(&mut new.clone());
    new.retain(|(name, value)| old.get(name) != Some(value));
    new
}
