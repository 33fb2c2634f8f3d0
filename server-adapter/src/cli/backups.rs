//! Backups of a running server, one after another on a thread of their own.

use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

use deskfleet::{AuditAction, Engine, error_chain};
use deskfleet_server::Backups;

use super::failure::Failure;
use super::output::log;

/// Copies into `folder`, which the log has a line about each.
pub(crate) fn into(folder: &Path) -> Result<Backups, Failure> {
    let log = |line: &str| log!("{line}");
    Backups::new(folder.to_owned(), log).map_err(|error| {
        let what = format_args!("backups cannot be written into {}", folder.display());
        Failure::caused(what, &error)
    })
}

/// A request to the thread.
#[derive(Debug)]
enum Command {
    Backup,
    End,
}

/// The thread that writes backups.
#[derive(Debug)]
pub(crate) struct BackupThread {
    commands: SyncSender<Command>,
    thread: JoinHandle<()>,
}

impl BackupThread {
    /// Starts the thread.
    pub(crate) fn start(engine: Engine, backups: Option<Backups>) -> io::Result<Self> {
        // One queued request is enough: its backup begins after all requests that came before that moment.
        let (commands, received) = sync_channel(1);
        let thread = Builder::new().name("deskfleet-backups".into());
        let thread = thread.spawn(move || run(&engine, backups.as_ref(), &received))?;
        Ok(Self { commands, thread })
    }

    /// Asks for a backup that begins after this call. Does not wait.
    pub(crate) fn requests(&self) -> impl Fn() + Send + use<> {
        let commands = self.commands.clone();
        move || {
            // The queue is full: the queued request is enough.
            let _ = commands.try_send(Command::Backup);
        }
    }

    /// Waits for requested backups, also those of clients.
    pub(crate) fn finish(self) {
        // An error means that the thread is gone.
        let _ = self.commands.send(Command::End);
        // The panic hook has reported a panic of the thread.
        let _ = self.thread.join();
    }
}

fn run(engine: &Engine, backups: Option<&Backups>, commands: &Receiver<Command>) {
    for command in commands {
        match (command, backups) {
            (Command::Backup, Some(backups)) => write(engine, backups),
            (Command::Backup, None) => {
                log!("There is no folder for backups; start with --backups FOLDER.");
            }
            (Command::End, Some(backups)) => return backups.wait(),
            (Command::End, None) => return,
        }
    }
}

/// Writes a copy for the host, with its audit row. The log has a line about the copy already.
fn write(engine: &Engine, backups: &Backups) {
    let written = backups.write(engine);
    let (file, refused) = match &written {
        Ok(backup) => (Some(backup.file.as_str()), None),
        Err(error) => (None, Some(error.kind().into())),
    };
    if let Err(error) = engine.audit_access(AuditAction::BackUp, None, file, refused) {
        let reason = error_chain(&error);
        log!("deskfleet: the audit row of the backup could not be written: {reason}");
    }
}
