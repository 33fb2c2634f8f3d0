//! Opening a store, and looking after its file.

use std::fs::File;
use std::panic::{set_hook, take_hook};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use deskfleet::{
    CommitDriver, Engine, EngineBuilder, EngineError, ErrorKind, Event, Upkeep, error_chain,
};
#[cfg(feature = "cluster")]
use deskfleet_server::Metrics;

use super::configuration::Configuration;
use super::failure::Failure;
#[cfg(feature = "cluster")]
use super::node::{self, Node};
use super::output::{counted, data_json, say};

/// An engine's builder with the machine's randomness and the real time, which needs no thread.
pub(crate) fn builder(configuration: &Configuration) -> EngineBuilder {
    let mut config = configuration.settings.engine.clone();
    config.commit_driver = CommitDriver::Caller;
    Engine::builder()
        .config(config)
        .upkeep(Upkeep::Host)
        .random(getrandom::fill)
        .clock(std::time::SystemTime::now)
        .observer(report)
}

/// Reports errors of the engine on standard error.
fn report(event: &Event<'_>) {
    if let Some((_, line)) = described(event) {
        say!("{line}");
    }
}

/// The topic and the log line of an event; `None` for events that are not logged.
pub(crate) fn described(event: &Event<'_>) -> Option<(&'static str, String)> {
    let caused = |what: &str, error: &EngineError| format!("{what}: {}", error_chain(error));
    let (topic, text) = match event {
        Event::CommitFailed { error } => {
            let is_low = error.kind() == ErrorKind::LowDisk;
            let topic = if is_low { "low disk" } else { "commits" };
            (topic, caused("a commit failed", error))
        }
        Event::Internal { error } => ("internal errors", caused("internal error", error)),
        Event::WriterThreadRestarted { panic } => (
            "writer thread",
            format!("the thread that commits panicked and goes on: {panic}"),
        ),
        Event::UpkeepFailed { error } => ("upkeep", caused("upkeep failed", error)),
        Event::FileDisplaced { error } => (
            "file displaced",
            caused("NOTHING IS WRITTEN ANY MORE", error),
        ),
        Event::Damaged { error } => ("damage", caused("DAMAGED", error)),
        Event::Recovered { records } => ("recovery", recovered(*records)),
        Event::Converted { from, to } => {
            let text = format!(
                "the file was converted from format {from} to format {to}; older versions of deskfleet cannot open it any more"
            );
            ("conversion", text)
        }
        Event::FileReturned => (
            "file returned",
            "the file is back in its place; writes go on".to_owned(),
        ),
        Event::NotLocked => (
            "no lock",
            "this file system has no locks: nothing keeps a second server from writing over this one; start one only, or move the store to a local disk"
                .to_owned(),
        ),
        Event::Reopened => (
            "reopened",
            "the store was reopened after an I/O error".to_owned(),
        ),
        Event::RetentionBehind { seconds } => {
            let days = seconds / 86_400;
            let text = format!(
                "the clock is {days} days ahead of the last removal of old records; if it is wrong, set it right: \
                 retention follows by a day an hour"
            );
            ("retention", text)
        }
        Event::Unaudited { action } => {
            let text = format!(
                "{action} was answered without a row in the audit: the disk is full, or the store cannot be written"
            );
            ("audit", text)
        }
        Event::StartedOnCopy { made_at } => {
            let text = format!(
                "this store is a copy that was made at {made_at}: keys that were revoked since are accepted again, and \
                 holds that were placed since are missing"
            );
            ("copy", text)
        }
        Event::ReserveMissing { error } => {
            let what = "the space that is kept for a full disk is used or missing";
            ("reserve", caused(what, error))
        }
        Event::ReserveMade => (
            "reserve made",
            "space is kept for a full disk again".to_owned(),
        ),
        // These are routine; later variants of the enum are not known here.
        Event::Committed { .. } | Event::Filed { .. } | _ => return None,
    };
    Some((topic, format!("deskfleet: {text}")))
}

/// The text about a store that a crash left.
fn recovered(records: u64) -> String {
    let records = counted(records, "telemetry record");
    format!(
        "the store was not closed before, as after a crash; its checksums are right, and the log beside it was taken over, with {records} \
         not filed yet"
    )
}

/// Opens or creates the store in `file`. `when_locked` is the advice if another process has it open.
pub(crate) fn open(
    builder: EngineBuilder,
    file: &Path,
    when_locked: &str,
) -> Result<Engine, Failure> {
    let (path, opened) = (file.to_owned(), OnceLock::new());
    builder
        // The probe uses the file that the engine has open, wherever its path leads later; the first commit calls it first.
        .free_space(move || free_bytes(opened.get_or_init(|| File::open(&path).ok()).as_ref()?))
        .open(file)
        .map_err(|error| explain(error, file, when_locked))
}

/// Opens the store in `file` for a command that changes it. Where the settings name a log, it changes the fleet through that, and needs
/// no file.
pub(crate) fn open_to_change(
    configuration: &Configuration,
    file: &Path,
    when_locked: &str,
) -> Result<Engine, Failure> {
    let builder = builder(configuration);
    let when_locked = &configuration.with_server(when_locked);
    #[cfg(feature = "cluster")]
    if let Some(node) = Node::connect(&configuration.settings.cluster, None, Metrics::default())? {
        let builder = node.share_unlisted(builder);
        // A file created here would belong to the user of the command and not to that of the server.
        let has_file = file.exists();
        let engine = if has_file {
            open(builder, file, when_locked)?
        } else {
            builder.open_in_memory()?
        };
        let required = node::require_all(&engine);
        let is_behind = !has_file && engine.halted().is_some();
        return match required {
            Err(failure) if is_behind => Err(Failure(format!(
                "{failure}; a command without the file of a node needs all of the log: ask a node over HTTP, or name the store of one that \
                 is stopped with --data"
            ))),
            required => required.map(|()| engine),
        };
    }
    open(builder, file, when_locked)
}

pub(super) fn explain(error: EngineError, file: &Path, when_locked: &str) -> Failure {
    if error.kind() == ErrorKind::AlreadyOpen {
        let file = file.display();
        return Failure(format!("{file} is open in another process. {when_locked}"));
    }
    Failure::from(error)
}

/// The file of the store.
pub(crate) fn file(configuration: &Configuration) -> Result<&Path, Failure> {
    let file = configuration.settings.data.as_deref();
    file.ok_or_else(|| Failure("`data` is \"none\"; name a store with --data".to_owned()))
}

/// The same for a store that must be there already.
pub(crate) fn open_existing(
    configuration: &Configuration,
    when_locked: &str,
) -> Result<Engine, Failure> {
    let file = file(configuration)?;
    must_exist(file, BY_DATA)?;
    open_to_change(configuration, file, when_locked)
}

/// The same for reading only, also for a file that may not be written.
pub(crate) fn open_read_only(
    configuration: &Configuration,
    when_locked: &str,
) -> Result<Engine, Failure> {
    let file = file(configuration)?;
    must_exist(file, BY_DATA)?;
    builder(configuration)
        .open_read_only(file)
        .map_err(|error| explain(error, file, &configuration.with_server(when_locked)))
}

/// How to name another store than that of the settings.
const BY_DATA: &str = "name one with --data";

/// Refuses a file that is not there; `advice` says how to name another.
pub(crate) fn must_exist(file: &Path, advice: &str) -> Result<(), Failure> {
    if file.exists() {
        return Ok(());
    }
    let sentence = format!("there is no store {}; {advice}", file.display());
    Err(Failure(sentence))
}

/// The same for a command that has `--create`, which was not given.
pub(crate) fn must_exist_or_be_created(file: &Path) -> Result<(), Failure> {
    must_exist(file, BY_DATA)
        .map_err(|failure| Failure(format!("{failure}, or make one with --create")))
}

/// Free bytes of the medium that holds `file`.
#[cfg(unix)]
fn free_bytes(file: &File) -> Option<u64> {
    let medium = rustix::fs::fstatvfs(file).ok()?;
    medium.f_bavail.checked_mul(medium.f_frsize)
}

#[cfg(not(unix))]
fn free_bytes(_file: &File) -> Option<u64> {
    None
}

/// `check`: the counts as data, the problems for people.
pub(crate) fn check(configuration: &Configuration) -> Result<(), Failure> {
    let file = file(configuration)?;
    must_exist(file, BY_DATA)?;
    let found = without_panics_of_redb(|| Engine::check_file(file))
        .map_err(|error| explain(error, file, "Stop the server first, or check a backup."))?;
    data_json(&found)?;
    for problem in &found.problems {
        say!("{problem}");
    }
    let free = File::open(file).ok().and_then(|file| free_bytes(&file));
    let limits = &configuration.settings.engine.limits;
    if let Some(refused) = free.and_then(|free| limits.refused_with(free)) {
        say!("{}: {refused}", file.display());
    }
    if found.problems.is_empty() {
        say!("{}: no problems", file.display());
        return Ok(());
    }
    let problems = counted(found.problems.len() as u64, "problem");
    Err(Failure(format!(
        "{}: {problems}. Nothing was changed: keep the file and the folder of its queue, and do what is said above; where a problem \
         names nothing to do, restore a backup.",
        file.display()
    )))
}

/// Runs `work` without the messages of redb's panics over damaged pages: they are caught and reported as problems.
pub(super) fn without_panics_of_redb<T>(work: impl FnOnce() -> T) -> T {
    let before = Arc::new(take_hook());
    let others = Arc::clone(&before);
    set_hook(Box::new(move |info| {
        let redb = |file: &str| file.contains("/redb-") || file.contains("\\redb-");
        if !info.location().is_some_and(|at| redb(at.file())) {
            others(info);
        }
    }));
    let done = work();
    set_hook(Box::new(move |info| before(info)));
    done
}

/// `backup`: a consistent copy.
pub(crate) fn backup(destination: &Path, configuration: &Configuration) -> Result<(), Failure> {
    let file = file(configuration)?;
    let when_locked =
        "If that is a running server, send it SIGUSR1; see --backups in `deskfleet serve --help`.";
    let engine = open_read_only(configuration, when_locked)?;
    engine.backup(destination)?;
    engine.close()?;
    say!("{} copied to {}", file.display(), destination.display());
    Ok(())
}

/// `compact`: the sizes before and after, for people.
pub(crate) fn compact(configuration: &Configuration) -> Result<(), Failure> {
    let file = file(configuration)?;
    let engine = open_existing(configuration, "Stop the server first.")?;
    let before = size(file)?;
    engine.compact()?;
    engine.close()?;
    say!(
        "{}: {before} bytes before, {} after",
        file.display(),
        size(file)?
    );
    Ok(())
}

fn size(file: &Path) -> Result<u64, Failure> {
    std::fs::metadata(file)
        .map(|about| about.len())
        .map_err(|error| Failure::cannot_read(file, &error))
}
