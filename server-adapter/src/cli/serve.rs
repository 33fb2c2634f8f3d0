//! `serve`: serves a store until a signal stops it.

use std::any::Any;
use std::io;
use std::net::SocketAddr;
use std::num::NonZero;
use std::path::Path;
use std::thread::available_parallelism;
use std::time::Duration;

use deskfleet::{
    Action, Config, Engine, EngineBuilder, Event, Observer as _, Upkeep, WorkspaceQuery,
    error_chain,
};
use deskfleet_server::demo::{self, DemoClock, LiveDemo};
use deskfleet_server::{
    Backups, LogQueue, Metrics, Notifications, Prepared, SentCopies, Server, ServerOptions, listen,
    stderr_log,
};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use super::args::ServeArgs;
use super::backups::{self, BackupThread};
use super::configuration::{Configuration, Settings};
use super::failure::Failure;
#[cfg(feature = "cluster")]
use super::node::{self, Node};
use super::origin::{origin, resolve, scheme};
use super::output::log;
use super::reload;
use super::signals;
use super::start_keys::{self, KeyPlace};
use super::store;
use super::systemd;

/// What the desktops of the demo fleet cost where the settings have no prices: sums of money like those of a price list.
const DEMO_PRICES: [&str; 6] = [
    "VALUE 25 7.25 0.22",
    "STANDARD 35 9.75 0.30",
    "PERFORMANCE 60 12.75 0.57",
    "POWER 78 19.00 0.68",
    "POWERPRO 140 19.00 1.53",
    "GRAPHICS_G4DN 735 22.00 1.75",
];
/// Everyone who tries the demo sees the same fleet.
const DEMO_SEED: u64 = 20_261_120;
/// Open files beside the connections: the store, the listener, the standard ones, the runtimes', the places kept for `/livez`.
const OTHER_FILES: usize = 64;
/// The time for remaining tasks after all responses are sent.
const RUNTIME_END: Duration = Duration::from_secs(1);

/// Serves until SIGINT or SIGTERM; a second one ends at once.
pub(crate) fn run(configuration: &Configuration, args: &ServeArgs) -> Result<(), Failure> {
    let handed_over = systemd::listener()
        .map_err(|error| Failure::caused("cannot use the socket from systemd", &error))?;
    let is_shared = handed_over.is_some();
    // The standard hook writes to standard error itself, and waits where that is not read.
    std::panic::set_hook(Box::new(|panic| log!("deskfleet: {panic}")));
    let settings = &configuration.settings;
    let listen = resolve(&settings.listen)?;
    let backups = backups::from_settings(&settings.backups)?;
    let failed = |error: io::Error| Failure(error.to_string());
    let tls = settings.tls.read().map_err(failed)?;
    let notified = Prepared::read(&settings.notifications).map_err(failed)?;
    let metrics = Metrics::default();
    let runtime = runtime(settings.cluster.log.is_some())
        .map_err(|error| Failure::caused("cannot start the runtime", &error))?;
    // This comes before a store is opened: a start that fails here leaves no new file.
    let listener = {
        let _inside = runtime.enter();
        // Opening a large store takes a while.
        signals::ignore_reloads()
            .map_err(|error| Failure::caused("cannot catch signals", &error))?;
        listener(handed_over, listen)?
    };
    let address = listener.local_addr().unwrap_or(listen);
    let file = settings.data.as_deref();
    let place = KeyPlace {
        file,
        is_node: settings.cluster.log.is_some(),
        has_credentials: settings.cluster.log_credentials.is_some(),
    };
    if args.configure_fleet && !place.is_node {
        let message = "--configure-fleet is for the nodes of a fleet; start with --log";
        return Err(Failure(message.to_owned()));
    }
    // A node may find a key in the log.
    let may_have_key = place.is_node || file.is_some_and(Path::exists);
    start_keys::require(may_have_key, address, place)?;
    let (engine, is_current, beside) = open(settings, args, &metrics, backups.as_ref())?;
    start_keys::require(engine.has_key(), address, place)?;
    let notifications = Notifications::new(engine.clone(), metrics.clone(), file);
    let options = ServerOptions {
        connections_max: connections(configuration),
        metrics,
        backups: backups.clone(),
        sent_copies: file.map(SentCopies::beside),
        access_log: Some(stderr_log()),
        slow_reads_give_way: true,
        tls,
        ..settings.server.clone()
    };
    let backups = BackupThread::start(engine.clone(), backups, settings.backups.every)
        .map_err(|error| Failure::caused("cannot start a thread", &error))?;
    let served = runtime.block_on(async {
        let server = Server::new(listener, engine.clone(), options)
            .map_err(|error| Failure::caused("cannot listen", &error))?
            .shared_socket(is_shared);
        let (handle, sent) = (backups.handle(), notifications.clone());
        let in_force = (engine.clone(), configuration.clone());
        let reload = reload::requests(in_force, server.handle(), handle.clone(), sent);
        let stop = signals::catch(move || handle.request(), reload)
            .map_err(|error| Failure::caused("cannot catch signals", &error))?;
        greet(&engine, settings, address);
        // The key is issued only now: a start that fails would lose it.
        let origin = origin(address, &settings.server.hosts, settings.tls.cert.is_some());
        let shown = is_current && start_keys::issue_first(&engine, &origin, place)?;
        offer_console(&server, shown, &origin)?;
        notifications.replace(notified).map_err(failed)?;
        serve(server, stop).await
    });
    notifications.stop();
    runtime.shutdown_timeout(RUNTIME_END);
    backups.finish();
    drop(beside);
    let closed = engine.close();
    served?;
    Ok(closed?)
}

fn runtime(is_node: bool) -> io::Result<Runtime> {
    // One more thread for a node, whose question to the log takes seconds when the log is gone, while reads go on.
    let blocking = usize::from(is_node) + available_parallelism().map_or(1, NonZero::get);
    tokio::runtime::Builder::new_multi_thread()
        .enable_io()
        .enable_time()
        // Slow reads run here. More threads would not make them faster, and each keeps memory of its own in the allocator: with
        // one for each read at once, pages of the store's cache end up in all of them, hundreds of megabytes.
        .max_blocking_threads(blocking)
        .build()
}

/// Prints a link to the console if a person reads it: on a terminal, or after the first key was printed.
#[cfg(feature = "console")]
fn offer_console(server: &Server, key_shown: bool, origin: &str) -> Result<(), Failure> {
    use std::io::IsTerminal as _;
    if key_shown || io::stdout().is_terminal() {
        super::console_link::print(&server.handle(), origin)?;
    }
    Ok(())
}

#[cfg(not(feature = "console"))]
#[expect(clippy::unnecessary_wraps, reason = "as with the console")]
fn offer_console(_: &Server, _: bool, _: &str) -> Result<(), Failure> {
    Ok(())
}

/// The connections to serve at once, after the bound on open files was raised; few files are not connections.
fn connections(configuration: &Configuration) -> usize {
    let wanted = configuration.settings.server.connections_max;
    let files = allow_files(wanted.saturating_add(OTHER_FILES));
    let possible = files.saturating_sub(OTHER_FILES).max(1);
    if possible < wanted && !configuration.is_default("server.connections_max") {
        log!(
            "{wanted} connections need more open files than allowed; {possible} will be served at once."
        );
    }
    wanted.min(possible)
}

/// Raises the bound on open files towards `files`, as far as the system lets; returns the new bound.
#[cfg(unix)]
fn allow_files(files: usize) -> usize {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let wanted = u64::try_from(files).unwrap_or(u64::MAX);
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < wanted) {
        limit.current = Some(limit.maximum.map_or(wanted, |most| most.min(wanted)));
        // If it fails, the bound is unchanged.
        let _ = setrlimit(Resource::Nofile, limit);
    }
    let current = getrlimit(Resource::Nofile).current;
    current.map_or(files, |current| {
        usize::try_from(current).unwrap_or(usize::MAX).min(files)
    })
}

#[cfg(not(unix))]
fn allow_files(files: usize) -> usize {
    files
}

/// The engine of a server; whether it is complete, as a node that cannot reach its log may lack entries; and threads that use it until they are
/// dropped.
type Opened = (Engine, bool, Box<dyn Any>);

fn open(
    settings: &Settings,
    args: &ServeArgs,
    metrics: &Metrics,
    backups: Option<&Backups>,
) -> Result<Opened, Failure> {
    let clock = DemoClock::default();
    let mut config = settings.engine.clone();
    if args.demo && config.cost.prices.is_empty() {
        config.cost.prices = DEMO_PRICES.map(str::to_owned).to_vec();
    }
    let builder = || builder(settings, &config, &clock, metrics, backups.cloned());
    let file = settings.data.as_deref();
    #[cfg(feature = "cluster")]
    if let Some(node) = Node::connect(&settings.cluster, file, metrics.clone())? {
        if args.demo {
            let message = "--demo fills a store that is served alone; start without --log";
            return Err(Failure(message.to_owned()));
        }
        let archive = node::archive(settings)?;
        let open = || {
            let engine = open_store(node.share(builder()), file)?;
            if archive.is_some() {
                engine.set_archived(0);
            }
            Ok(engine)
        };
        let (engine, is_current) = node::start(settings, args.configure_fleet, &node, open)?;
        let archive = archive.map(|archive| archive.start(engine.clone(), metrics.clone()));
        let archive = archive.transpose();
        let archive = archive.map_err(|error| Failure::caused("cannot start a thread", &error))?;
        return Ok((engine, is_current, Box::new(archive)));
    }
    let engine = open_store(builder(), file)?;
    let live = if args.demo {
        load_demo(&engine, &clock)?
    } else {
        None
    };
    Ok((engine, true, Box::new(live)))
}

fn builder(
    settings: &Settings,
    config: &Config,
    clock: &DemoClock,
    metrics: &Metrics,
    backups: Option<Backups>,
) -> EngineBuilder {
    let metrics = metrics.clone();
    let (observed, every) = (metrics.clone(), settings.backups.every);
    Engine::builder()
        .upkeep(Upkeep::Host)
        .conditions(move || {
            let state = backups.as_ref().map(Backups::state);
            observed.conditions(state.as_ref(), every)
        })
        .config(config.clone())
        .random(getrandom::fill)
        .clock(clock.clone())
        .observer(move |event: &Event<'_>| {
            metrics.event(event);
            if let Some((topic, line)) = store::described(event) {
                LogQueue::stderr().line_about(topic, &line);
            }
        })
}

/// Opens the store of a server, in memory without a file.
fn open_store(builder: EngineBuilder, file: Option<&Path>) -> Result<Engine, Failure> {
    let Some(file) = file else {
        return Ok(builder.open_in_memory()?);
    };
    let engine = store::open(builder, file, "Is a server running already?")?;
    warn_of_readers(file);
    Ok(engine)
}

/// A file that this program created is for its owner alone.
#[cfg(unix)]
fn warn_of_readers(file: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::metadata(file).map_or(0, |about| about.permissions().mode() & 0o777);
    if mode & 0o077 != 0 {
        let file = file.display();
        log!(
            "deskfleet: others on this machine can open {file} (mode {mode:03o}); run: chmod 600 {file}"
        );
    }
}

#[cfg(not(unix))]
fn warn_of_readers(_file: &Path) {}

/// Loads the demo fleet into an empty store, and goes on with it.
fn load_demo(engine: &Engine, clock: &DemoClock) -> Result<Option<LiveDemo>, Failure> {
    let first = WorkspaceQuery {
        limit: 1,
        ..WorkspaceQuery::default()
    };
    if engine.workspaces(&first)?.workspaces.is_empty() {
        let loaded = demo::load(engine, clock, DEMO_SEED)?;
        log!(
            "Loaded a demo fleet: {} workspaces, {} telemetry records.",
            loaded.workspaces,
            loaded.records
        );
    } else if demo::has_fleet(engine, DEMO_SEED)? {
        log!("The store has the demo fleet already; it goes on.");
    } else {
        log!("The store has workspaces already; --demo adds nothing.");
        return Ok(None);
    }
    let live = LiveDemo::start(engine.clone(), DEMO_SEED);
    let live = live.map_err(|error| Failure::caused("cannot start a thread", &error))?;
    Ok(Some(live))
}

/// The socket that systemd handed over, or one at `address`.
fn listener(
    handed_over: Option<std::net::TcpListener>,
    address: SocketAddr,
) -> Result<TcpListener, Failure> {
    handed_over
        .map_or_else(|| listen(address), TcpListener::from_std)
        .map_err(|error| {
            Failure(format!(
                "cannot listen on {address}: {}; choose another address with --listen",
                error_chain(&error)
            ))
        })
}

async fn serve(server: Server, stop: oneshot::Receiver<()>) -> Result<(), Failure> {
    notify("READY=1");
    let stopped = async {
        drop(stop.await);
        notify("STOPPING=1");
        log!("Stopping; once more to stop at once.");
    };
    let served = server.run(stopped).await;
    let drained = served.map_err(|error| Failure::caused("cannot serve", &error))?;
    if drained.cut_off > 0 {
        log!("{} connections were cut off.", drained.cut_off);
    }
    Ok(())
}

/// A server whose manager cannot be notified serves all the same.
fn notify(state: &str) {
    if let Err(error) = systemd::notify(state) {
        log!("deskfleet: cannot notify the service manager: {error}");
    }
}

fn greet(engine: &Engine, settings: &Settings, address: SocketAddr) {
    let store = settings.data.as_ref().map_or_else(
        || "a store in memory".to_owned(),
        |file| file.display().to_string(),
    );
    let has_tls = settings.tls.cert.is_some();
    let scheme = scheme(has_tls);
    log!("deskfleet serves {store} at {scheme}://{address}");
    log!(
        "  {scheme}://{address}/openapi.json describes it, {scheme}://{address}/readyz reports its health."
    );
    let simulated: Vec<_> = engine.simulated_actions().collect();
    if simulated.len() < Action::ALL.len() {
        log!("  A provider such as deskfleet-provider must carry out the actions.");
    }
    if !simulated.is_empty() {
        log!(
            "  SIMULATED: the clock ends {}, and nothing happens to a desktop; set actions.driver to host for a provider.",
            named(&simulated)
        );
    }
    let is_local = address.ip().to_canonical().is_loopback();
    if !is_local && !has_tls && !settings.server.proxied {
        let build = if cfg!(feature = "tls") {
            ""
        } else {
            " of a deskfleet with the feature tls"
        };
        log!(
            "deskfleet: other machines can reach {address}, and this server speaks no TLS: API keys and all data cross the network in \
             clear text. Use --tls-cert and --tls-key{build}, or a proxy with TLS and --proxied."
        );
    }
}

/// The names of actions, or that they are all.
fn named(actions: &[Action]) -> String {
    if actions.len() == Action::ALL.len() {
        return "all actions".to_owned();
    }
    let names: Vec<_> = actions.iter().map(|action| action.as_str()).collect();
    names.join(", ")
}
