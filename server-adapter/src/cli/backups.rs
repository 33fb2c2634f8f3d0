//! Backups of a running server, one after another on a thread of their own.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle, sleep};
use std::time::Duration;

use deskfleet::{Engine, error_chain};

use super::failure::Failure;
use super::output::log;

/// Pause before the time is looked at again, where a file has its name already.
const NAME_PAUSE: Duration = Duration::from_millis(1);

/// Fails where no backup could be written into `folder`.
pub(crate) fn check_folder(folder: &Path) -> Result<(), Failure> {
    let what = format_args!("backups cannot be written into {}", folder.display());
    let about = std::fs::metadata(folder).map_err(|error| Failure::caused(what, &error))?;
    if !about.is_dir() {
        return Err(Failure(format!("{what}: not a folder")));
    }
    #[cfg(unix)]
    {
        use rustix::fs::{Access, access};
        access(folder, Access::WRITE_OK | Access::EXEC_OK)
            .map_err(|error| Failure::caused(what, &error))?;
    }
    Ok(())
}

/// What the thread is asked to do.
#[derive(Debug)]
enum Command {
    Backup,
    End,
}

/// The thread that writes backups.
#[derive(Debug)]
pub(crate) struct Backups {
    commands: SyncSender<Command>,
    thread: JoinHandle<()>,
}

impl Backups {
    /// Starts the thread; backups go into `folder`.
    pub(crate) fn start(engine: Engine, folder: Option<PathBuf>) -> io::Result<Self> {
        // One request that waits is enough: the backup for it begins after all the requests that came before it begins.
        let (commands, received) = sync_channel(1);
        let thread = Builder::new().name("deskfleet-backups".into());
        let thread = thread.spawn(move || run(&engine, folder.as_deref(), &received))?;
        Ok(Self { commands, thread })
    }

    /// Asks for a backup that begins after this call. Does not wait.
    pub(crate) fn requests(&self) -> impl Fn() + Send + use<> {
        let commands = self.commands.clone();
        move || {
            // Full: the request that waits will do.
            let _ = commands.try_send(Command::Backup);
        }
    }

    /// Waits for the backups that were asked for.
    pub(crate) fn finish(self) {
        // An error means that the thread is gone.
        let _ = self.commands.send(Command::End);
        // A panic on it was reported by the panic hook.
        let _ = self.thread.join();
    }
}

fn run(engine: &Engine, folder: Option<&Path>, commands: &Receiver<Command>) {
    for command in commands {
        match (command, folder) {
            (Command::Backup, Some(folder)) => backup(engine, folder),
            (Command::Backup, None) => {
                log!("There is no folder for backups; start with --backups FOLDER.");
            }
            (Command::End, _) => return,
        }
    }
}

/// Writes a copy of the store, named after the time, into `folder`; requests are served meanwhile.
fn backup(engine: &Engine, folder: &Path) {
    let file = new_name(engine, folder);
    match engine.backup(&file) {
        Ok(()) => log!("Backup: {}", file.display()),
        Err(error) => log!("No backup {}: {}", file.display(), error_chain(&error)),
    }
}

/// A name that no file has yet: the time to the millisecond.
fn new_name(engine: &Engine, folder: &Path) -> PathBuf {
    loop {
        let now = engine.now();
        let mut time = now.to_string().replace(':', "-");
        time.truncate(time.find(['.', 'Z']).unwrap_or(time.len()));
        let ms = now.ticks().div_euclid(10_000).rem_euclid(1000);
        let file = folder.join(format!("deskfleet-{time}.{ms:03}Z.redb"));
        if !file.exists() {
            return file;
        }
        sleep(NAME_PAUSE);
    }
}
