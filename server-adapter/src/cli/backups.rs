//! Backups of a running server, one after another on a thread of their own.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use deskfleet::{AuditAction, Engine, error_chain};
use deskfleet_server::Backups;

use super::configuration::BackupSettings;
use super::failure::Failure;
use super::output::log;

/// The longest time after which a backup of `every` that failed is tried again.
const RETRY_MAX: Duration = Duration::from_secs(15 * 60);

/// Copies into the folder of `settings`, if any; the log has a line about each.
pub(crate) fn from_settings(settings: &BackupSettings) -> Result<Option<Backups>, Failure> {
    let Some(folder) = &settings.folder else {
        return Ok(None);
    };
    let backups = Backups::new(folder.clone(), |line| log!("{line}")).map_err(|error| {
        let what = format_args!("backups cannot be written into {}", folder.display());
        Failure::caused(what, &error)
    })?;
    backups.keep(settings.keep);
    Ok(Some(backups))
}

/// A request to the thread.
#[derive(Debug)]
enum Command {
    Backup,
    /// Write a copy by itself this often from now on.
    Every(Option<Duration>),
    End,
}

/// Sends requests to the thread. Clones send to the same.
#[derive(Debug, Clone)]
pub(crate) struct BackupHandle {
    commands: Sender<Command>,
    /// Whether a backup was requested that has not begun. One is enough: it begins after all requests that came before that moment.
    is_requested: Arc<AtomicBool>,
    backups: Option<Backups>,
}

impl BackupHandle {
    /// Asks for a backup that begins after this call. Does not wait.
    pub(crate) fn request(&self) {
        if !self.is_requested.swap(true, Ordering::AcqRel) {
            self.send(Command::Backup);
        }
    }

    /// Applies all settings but the folder.
    pub(crate) fn reload(&self, settings: &BackupSettings) {
        if let Some(backups) = &self.backups {
            backups.keep(settings.keep);
        }
        self.send(Command::Every(settings.every));
    }

    fn send(&self, command: Command) {
        // An error means that the thread is gone.
        let _ = self.commands.send(command);
    }
}

/// The thread that writes backups.
#[derive(Debug)]
pub(crate) struct BackupThread {
    handle: BackupHandle,
    thread: JoinHandle<()>,
}

impl BackupThread {
    /// Starts the thread, which also writes a copy each `every`.
    pub(crate) fn start(
        engine: Engine,
        backups: Option<Backups>,
        every: Option<Duration>,
    ) -> io::Result<Self> {
        let (commands, received) = channel();
        let handle = BackupHandle {
            commands,
            is_requested: Arc::default(),
            backups,
        };
        let thread = Builder::new().name("deskfleet-backups".into());
        let own = handle.clone();
        let thread = thread.spawn(move || run(&engine, &own, every, &received))?;
        Ok(Self { handle, thread })
    }

    pub(crate) fn handle(&self) -> BackupHandle {
        self.handle.clone()
    }

    /// Waits for requested backups, also those of clients.
    pub(crate) fn finish(self) {
        self.handle.send(Command::End);
        // The panic hook has reported a panic of the thread.
        let _ = self.thread.join();
    }
}

fn run(
    engine: &Engine,
    handle: &BackupHandle,
    mut every: Option<Duration>,
    commands: &Receiver<Command>,
) {
    let backups = handle.backups.as_ref();
    let mut failed_at = None;
    loop {
        let due = every.zip(backups);
        let due = due.map(|(every, backups)| time_until(engine, backups, every, failed_at));
        let command = match due {
            Some(time) => commands.recv_timeout(time),
            None => commands.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        if matches!(command, Ok(Command::Backup)) {
            handle.is_requested.store(false, Ordering::Release);
        }
        match (command, backups) {
            (Ok(Command::Backup) | Err(RecvTimeoutError::Timeout), Some(backups)) => {
                failed_at = (!write(engine, backups)).then(Instant::now);
            }
            (Ok(Command::Backup) | Err(RecvTimeoutError::Timeout), None) => {
                log!("There is no folder for backups; start with --backups FOLDER.");
            }
            (Ok(Command::Every(new)), _) => every = new,
            (Ok(Command::End), Some(backups)) => return backups.wait(),
            (Ok(Command::End), None) | (Err(RecvTimeoutError::Disconnected), _) => return,
        }
    }
}

/// The time until the next copy: `every` after the newest good one, and earlier after an attempt that failed. It is never longer than
/// `every`, because the clock may have been set back.
fn time_until(
    engine: &Engine,
    backups: &Backups,
    every: Duration,
    failed_at: Option<Instant>,
) -> Duration {
    if let Some(failed_at) = failed_at {
        return every.min(RETRY_MAX).saturating_sub(failed_at.elapsed());
    }
    let now = engine.now();
    let age = match backups.state().last_ok {
        Some(last) if last > now => Duration::ZERO,
        Some(last) => now.duration_since(last),
        None => every,
    };
    every.saturating_sub(age)
}

/// Writes a copy for the host, with its audit row; returns whether there is a good one. The log has a line about the copy already.
fn write(engine: &Engine, backups: &Backups) -> bool {
    let written = backups.write(engine);
    let (file, refused) = match &written {
        Ok(backup) => (Some(backup.file.as_str()), None),
        Err(error) => (None, Some(error.kind().into())),
    };
    if let Err(error) = engine.audit_access(AuditAction::BackUp, None, file, refused) {
        let reason = error_chain(&error);
        log!("deskfleet: the audit row of the backup could not be written: {reason}");
    }
    written.is_ok()
}
