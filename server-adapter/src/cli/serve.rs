//! `serve`: the store behind a socket, until a signal says stop.

use std::net::SocketAddr;
use std::num::NonZero;
use std::path::Path;
use std::pin::pin;
use std::thread::available_parallelism;

use deskfleet::{CommitDriver, Engine, Event, NewKey, Observer as _, Scope};
use deskfleet_server::demo::{self, DemoClock};
use deskfleet_server::{Metrics, Server, ServerOptions, stderr_log};
use tokio::sync::oneshot;

use super::args::ServeArgs;
use super::failure::Failure;
use super::output::{data, say};
use super::signals::{Signals, Wish};
use super::store;

/// Everyone who tries the demo sees the same fleet.
const DEMO_SEED: u64 = 20_261_120;
/// Connections at once unless told otherwise: room for a thousand slow ones and everyone else. Each may hold a head of 64 KiB.
const CONNECTIONS_MAX: usize = 4096;
/// Open files that are not connections: the store, the listener, the standard ones, the runtime's.
const OTHER_FILES: usize = 32;

/// Serves until SIGINT or SIGTERM; a second one ends at once.
pub(crate) fn run(args: &ServeArgs) -> Result<(), Failure> {
    let metrics = Metrics::default();
    let engine = open(args, metrics.clone())?;
    require_key(&engine, args)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_io()
        .enable_time()
        // Slow reads run here. More threads would not make them faster, and each keeps memory of its own in the allocator: with
        // one for each read at once, pages of the store's cache end up in all of them, hundreds of megabytes.
        .max_blocking_threads(available_parallelism().map_or(1, NonZero::get))
        .build()
        .map_err(|error| Failure::caused("cannot start the runtime", &error))?;
    let options = ServerOptions {
        connections_max: connections(args.connections),
        hosts: args.hosts.clone(),
        proxied: args.proxied,
        metrics,
        access_log: (!args.quiet).then(stderr_log),
        ..ServerOptions::default()
    };
    runtime.block_on(serve(&engine, args, options))?;
    Ok(engine.close()?)
}

/// How many connections are served at once, after room was made for them: files that are not connections are few.
fn connections(wanted: Option<usize>) -> usize {
    let wanted_or_default = wanted.unwrap_or(CONNECTIONS_MAX);
    let files = allow_files(wanted_or_default.saturating_add(OTHER_FILES));
    let possible = files.saturating_sub(OTHER_FILES).max(1);
    if let Some(wanted) = wanted
        && possible < wanted
    {
        say!(
            "{wanted} connections need more open files than allowed; {possible} will be served at once."
        );
    }
    wanted_or_default.min(possible)
}

/// Raises the bound on open files towards `files`, as far as the system lets; answers what it is then.
#[cfg(unix)]
fn allow_files(files: usize) -> usize {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let wanted = u64::try_from(files).unwrap_or(u64::MAX);
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < wanted) {
        limit.current = Some(limit.maximum.map_or(wanted, |most| most.min(wanted)));
        // Where it fails, the bound is what it was.
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

fn open(args: &ServeArgs, metrics: Metrics) -> Result<Engine, Failure> {
    let mut config = store::config();
    config.commit_driver = CommitDriver::Thread;
    let clock = DemoClock::default();
    let builder = store::builder()
        .config(config)
        .clock(clock.clone())
        .observer(move |event: &Event<'_>| {
            metrics.event(event);
            store::report(event);
        });
    let engine = match &args.data {
        Some(file) => store::open(builder, file, "Is a server running already?")?,
        None => builder.open_in_memory()?,
    };
    if args.demo {
        load_demo(&engine, &clock)?;
    }
    Ok(engine)
}

fn load_demo(engine: &Engine, clock: &DemoClock) -> Result<(), Failure> {
    if !engine.workspaces(1, None)?.workspaces.is_empty() {
        say!("The store has workspaces already; --demo adds nothing.");
        return Ok(());
    }
    let loaded = demo::load(engine, clock, DEMO_SEED)?;
    say!(
        "Loaded a made-up fleet: {} workspaces, {} telemetry records.",
        loaded.workspaces,
        loaded.records
    );
    Ok(())
}

/// An address that other machines can reach needs a key that can be used, issued before the start: the first key must not
/// end up in the log of a service.
fn require_key(engine: &Engine, args: &ServeArgs) -> Result<(), Failure> {
    if engine.has_key() || args.listen.ip().to_canonical().is_loopback() {
        return Ok(());
    }
    let advice = match &args.data {
        Some(file) => format!(
            "Issue one first:\n  deskfleet keys issue --name admin --scope admin --data {}",
            file.display()
        ),
        None => "A store in memory has none: listen on 127.0.0.1.".to_owned(),
    };
    Err(Failure::Failed(format!(
        "{} can be reached by other machines, and the store has no API key. {advice}",
        args.listen
    )))
}

async fn serve(engine: &Engine, args: &ServeArgs, options: ServerOptions) -> Result<(), Failure> {
    let mut signals =
        Signals::catch().map_err(|error| Failure::caused("cannot catch signals", &error))?;
    let server = Server::bind(args.listen, engine.clone(), options)
        .await
        .map_err(|error| {
            Failure::caused(format_args!("cannot listen on {}", args.listen), &error)
        })?;
    let address = server.local_addr().unwrap_or(args.listen);
    greet(args.data.as_deref(), address);
    // Only now: a key issued before a failed bind would be lost.
    issue_first_key(engine, address)?;

    let (stop, stopped) = oneshot::channel::<()>();
    let mut running = pin!(server.run(async { drop(stopped.await) }));
    loop {
        tokio::select! {
            ended = running.as_mut() => {
                return ended.map(drop).map_err(|error| Failure::caused("cannot serve", &error));
            }
            wish = signals.next() => match wish {
                Wish::Stop => break,
                #[cfg(unix)]
                Wish::Backup => backup(engine, args.backups.as_deref()),
            },
        }
    }
    say!("Stopping; once more to stop at once.");
    drop(stop);
    tokio::select! {
        ended = running => {
            let drained = ended.map_err(|error| Failure::caused("cannot serve", &error))?;
            if drained.cut_off > 0 {
                say!("{} connections were cut off.", drained.cut_off);
            }
            Ok(())
        }
        _ = signals.next() => Err(Failure::Failed("stopped at once".to_owned())),
    }
}

/// Writes a copy of the store, named after the time, into `folder`; requests are answered in the meantime.
#[cfg(unix)]
fn backup(engine: &Engine, folder: Option<&Path>) {
    let Some(folder) = folder else {
        say!("There is no folder for backups; start with --backups FOLDER.");
        return;
    };
    let now = engine.now().to_string();
    let time = now.get(..19).unwrap_or(&now).replace(':', "-");
    let file = folder.join(format!("deskfleet-{time}Z.redb"));
    let engine = engine.clone();
    tokio::task::spawn_blocking(move || match engine.backup(&file) {
        Ok(()) => say!("Backup: {}", file.display()),
        Err(error) => say!(
            "No backup {}: {}",
            file.display(),
            deskfleet::error_chain(&error)
        ),
    });
}

fn greet(file: Option<&Path>, address: SocketAddr) {
    let store = file.map_or_else(
        || "a store in memory".to_owned(),
        |file| file.display().to_string(),
    );
    say!("deskfleet serves {store} at http://{address}");
    say!("  http://{address}/openapi.json describes it, http://{address}/readyz tells its health.");
}

/// On a store without keys: an admin key, shown once. It goes to standard output, away from the access log.
fn issue_first_key(engine: &Engine, address: SocketAddr) -> Result<(), Failure> {
    if !engine.keys().is_empty() {
        return Ok(());
    }
    let issued = engine.issue_key(NewKey {
        name: "admin".to_owned(),
        scopes: [Scope::Admin].into_iter().collect(),
        expires: None,
    })?;
    say!("The store's first key, for everything but ingest. It is shown only now; to try it:");
    data(&issued.secret)?;
    data(format_args!(
        "curl -H 'X-Api-Key: {}' http://{address}/api/Information/GetAllWorkSpaces",
        issued.secret
    ))
}
