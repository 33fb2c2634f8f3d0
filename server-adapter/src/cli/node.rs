//! The store as a node of a fleet whose nodes share a log.

use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use deskfleet::{Config, Engine, EngineBuilder, EngineError, ErrorKind, cluster::Log as _};
use deskfleet_client::tls::Identity;
use deskfleet_server::cluster::{Archive, FleetLog, LogOptions};
use deskfleet_server::{Metrics, machine_name};

use super::configuration::{ClusterSettings, Settings, is_node_name};
use super::failure::Failure;
use super::join::{self, Part, Peer};
use super::output::log;

/// The interval of log lines about the progress of a node that applies much of the log.
const PROGRESS_EVERY: Duration = Duration::from_secs(1);
/// How long a log that another server took over is waited for, and how often it is asked.
const TAKEOVER_MAX: Duration = Duration::from_secs(20);
const TAKEOVER_PAUSE: Duration = Duration::from_millis(200);

/// The suffix of the file with the newest server of the log.
const NEWEST_SERVER_SUFFIX: &str = "-timeline";

/// The node of a store that is to be opened.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    log: FleetLog,
    name: String,
    /// The age up to which entries stay in the log.
    keep: Option<Duration>,
}

impl Node {
    /// Connects to the log of the settings; `None` where they name none. The newest server of it is kept beside `store`.
    pub(crate) fn connect(
        settings: &ClusterSettings,
        store: Option<&Path>,
        metrics: Metrics,
    ) -> Result<Option<Self>, Failure> {
        let Some(url) = &settings.log else {
            return Ok(None);
        };
        let name = match &settings.node {
            Some(name) => name.clone(),
            None => name_of_machine()?,
        };
        let options = LogOptions {
            ca: settings.log_ca.clone(),
            identity: Identity::from_files(
                settings.log_cert.as_deref(),
                settings.log_key.as_deref(),
            ),
            credentials: settings.log_credentials.clone(),
            newest_server: store.map(|store| join::beside(store, NEWEST_SERVER_SUFFIX)),
        };
        let warned = |warning: &str| log!("deskfleet: the log of the fleet: {warning}");
        let log = FleetLog::open(url, options, metrics, warned)
            .map_err(|error| Failure::caused("the log of the fleet cannot be used", &error))?;
        Ok(Some(Self {
            log,
            name,
            keep: settings.log_keep,
        }))
    }

    /// Copies the store of a peer. Before that this node reports position 0, so that the log is not trimmed while it copies.
    fn copy(&self, peer: &Peer, file: &Path, part: Part) -> Result<(), Failure> {
        peer.copy_to(file, part, &|| {
            // If the log cannot be reached, nobody trims it.
            let _ = self.log.report(&self.name, "0");
        })
    }

    /// Makes the engine of `builder` share the log.
    pub(crate) fn share(&self, builder: EngineBuilder) -> EngineBuilder {
        let builder = builder.log(self.log.clone(), self.name.clone());
        match self.keep {
            Some(keep) => builder.log_keep(keep),
            None => builder,
        }
    }

    /// The same for the engine of a command, for which the other nodes need not wait.
    pub(crate) fn share_unlisted(&self, builder: EngineBuilder) -> EngineBuilder {
        builder.log_unlisted(self.log.clone())
    }
}

/// The name of a node that is given none: that of its machine.
fn name_of_machine() -> Result<String, Failure> {
    let name = machine_name();
    if is_node_name(&name) {
        return Ok(name);
    }
    Err(Failure(
        "the name of this machine is none for a node; give it one with --node".to_owned(),
    ))
}

/// The outcome of catching up with the log.
enum CaughtUp {
    /// The engine has all that was in the log at the beginning.
    Whole,
    /// The log cannot be used now.
    Unreachable(EngineError),
    /// The node applies nothing more until an operator acts.
    Halted(EngineError),
}

/// Applies the log up to its end.
fn catch_up(engine: &Engine) -> CaughtUp {
    let begun = Instant::now();
    let mut said_at = begun;
    let mut end = None;
    loop {
        match engine.follow(Duration::ZERO) {
            Ok(0) => return CaughtUp::Whole,
            Ok(_) => {}
            Err(_) if engine.log_is_taken_over() && begun.elapsed() < TAKEOVER_MAX => {
                sleep(TAKEOVER_PAUSE);
                continue;
            }
            Err(error) => {
                return match engine.halted() {
                    Some(error) => CaughtUp::Halted(error),
                    None => CaughtUp::Unreachable(error),
                };
            }
        }
        let position = engine.position().unwrap_or_default();
        // Later entries come while it serves.
        let end = *end.get_or_insert_with(|| engine.log_last().unwrap_or_default());
        if position >= end {
            return CaughtUp::Whole;
        }
        if said_at.elapsed() > PROGRESS_EVERY {
            said_at = Instant::now();
            log!("Applying the log of the fleet: entry {position} of {end}.");
        }
    }
}

/// Makes the engine of a command other than `serve` catch up with the log.
pub(crate) fn require_all(engine: &Engine) -> Result<(), Failure> {
    match catch_up(engine) {
        CaughtUp::Whole => Ok(()),
        CaughtUp::Unreachable(error) | CaughtUp::Halted(error) => Err(error.into()),
    }
}

/// The archive of the settings; refused while another process writes it.
pub(crate) fn archive(settings: &Settings) -> Result<Option<Archive>, Failure> {
    let folder = settings.cluster.archive.clone();
    Ok(folder.map(Archive::open).transpose()?)
}

/// Logs which bodies are refused because an entry of the log does not take them.
fn warn_of_bounds(settings: &Settings, engine: &Engine) {
    let (set, bound) = (&settings.engine.limits, &engine.config().limits);
    for (name, set, bound) in [
        (
            "record_body_bytes",
            set.record_body_bytes,
            bound.record_body_bytes,
        ),
        (
            "processes_body_bytes",
            set.processes_body_bytes,
            bound.processes_body_bytes,
        ),
    ] {
        if bound < set {
            log!(
                "deskfleet: limits.{name} is {set}, but bodies above {bound} bytes are refused: the log takes no more, or could not be asked. \
                 NATS takes more with a larger max_payload"
            );
        }
    }
}

/// The engine of a node that is about to serve, and whether it has all entries of the log. `open` opens the store.
pub(crate) fn start(
    settings: &Settings,
    configure_fleet: bool,
    node: &Node,
    open: impl Fn() -> Result<Engine, Failure>,
) -> Result<(Engine, bool), Failure> {
    let file = settings.data.as_deref();
    let peer = file.zip(Peer::named_in(&settings.cluster));
    let mut is_copy = false;
    if let Some((file, peer)) = &peer
        && !file.exists()
    {
        // Another process that copies to it will be the node.
        let part = Part::create(file)?;
        match node.copy(peer, file, part) {
            Ok(()) => is_copy = true,
            // The first node of a fleet has none to copy.
            Err(failure) => {
                log!("deskfleet: no node is copied, the log alone has to do: {failure}");
            }
        }
    }
    let mut engine = open()?;
    let mut caught_up = catch_up(&engine);
    if let (CaughtUp::Halted(error), Some((file, peer))) = (&caught_up, &peer)
        && error.kind() == ErrorKind::StorageUnavailable
        && !is_copy
    {
        // Otherwise the next start would find neither the file nor a copy.
        peer.check()?;
        let position = engine.position().unwrap_or_default();
        engine.close()?;
        join::set_aside(file, position, error)?;
        node.copy(peer, file, Part::create(file)?)?;
        engine = open()?;
        caught_up = catch_up(&engine);
    }
    warn_of_bounds(settings, &engine);
    match caught_up {
        CaughtUp::Whole => {}
        // Without a key nobody could read anything.
        CaughtUp::Unreachable(error) if !engine.has_key() => {
            let what =
                "this node knows no API key yet, and has to reach the log of the fleet to begin";
            return Err(Failure::caused(what, &error));
        }
        // Reads go on. The thread that follows the log says what is wrong.
        CaughtUp::Unreachable(_) => return Ok((engine, false)),
        CaughtUp::Halted(error)
            if matches!(error.kind(), ErrorKind::Corrupted | ErrorKind::NewerFormat) =>
        {
            return Ok((engine, false));
        }
        CaughtUp::Halted(error) => return Err(error.into()),
    }
    if configure_fleet {
        for (own, fleets) in engine.foreign_settings()? {
            log!("deskfleet: the fleet gets {own} in place of {fleets}");
        }
        engine.configure_fleet()?;
    }
    log_foreign_settings(&engine)?;
    Ok((engine, true))
}

/// Logs which settings of the fleet are others than those of this node's configuration.
fn log_foreign_settings(engine: &Engine) -> Result<(), EngineError> {
    for (own, fleets) in engine.foreign_settings()? {
        log!(
            "deskfleet: {own} is set here, but the fleet has {fleets}, which holds for all nodes: set the same here, or \
             change that of the fleet with `deskfleet cluster settings`"
        );
    }
    Ok(())
}

/// Compares the settings in a configuration that was loaded again with those of the fleet.
pub(crate) fn compare_settings(engine: &Engine, wanted: &Config) {
    engine.set_own_settings(wanted);
    // A store that cannot be read is reported elsewhere.
    let _ = log_foreign_settings(engine);
}

/// Sets what the fleet has in place of a configuration: it holds without a restart.
pub(crate) fn set_those_of_the_fleet(engine: &Engine, config: &mut Config) {
    if engine.node_name().is_none() {
        return;
    }
    for (name, value) in engine.fleet_settings().ok().flatten().unwrap_or_default() {
        // An older version does not know a setting of a newer one.
        let _ = deskfleet::settings::set(config, &name, &value);
    }
}
