//! `cluster restore`: the file of a node from an archive of the log.

use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::path::Path;

use deskfleet::Timestamp;
use deskfleet_server::cluster::{ArchiveError, ArchiveLog};
use deskfleet_server::sync_folder_of;

use super::args::RestoreArgs;
use super::configuration::Configuration;
use super::failure::Failure;
use super::node;
use super::output::say;
use super::restore::{BESIDE, fill, lock, named, own_as_folder};
use super::store;

/// Makes the file under another name, and renames it when it is whole.
pub(super) fn run(args: &RestoreArgs) -> Result<(), Failure> {
    let new = &args.data;
    refuse_existing(new)?;
    let archive = ArchiveLog::open(&args.archive)?;
    let part = named(new, ".part");
    let file = create(&part)?;
    let owned = own_as_folder(&file, new);
    let owned = owned.map_err(|error| Failure::cannot_write(part.display(), &error));
    drop(file);
    let restored = owned.and_then(|()| restore(args, &archive, &part));
    let restored = restored.and_then(|reached| {
        refuse_existing(new)?;
        let placed = fs::rename(&part, new).and_then(|()| sync_folder_of(new));
        placed.map_err(|error| Failure::cannot_write(new.display(), &error))?;
        Ok(reached)
    });
    let (position, at) = restored.inspect_err(|_| {
        // The error says why there is no use for it.
        let _ = fs::remove_file(&part);
    })?;
    let new = new.display();
    say!("{new} has the log up to entry {position}, of {at}.");
    say!(
        "Next: to begin a new fleet with it, run\n  deskfleet cluster leave {new}\nand go on as \"Nothing is left but a backup\" in docs/cluster.md says. \
         Where the log still has the entry after {position}, a node can be started with the file as it is."
    );
    Ok(())
}

impl From<ArchiveError> for Failure {
    fn from(error: ArchiveError) -> Self {
        Self(error.to_string())
    }
}

/// Refuses a name that exists, also one whose files beside it do: what they have is of another store.
fn refuse_existing(new: &Path) -> Result<(), Failure> {
    if new.exists() {
        let new = new.display();
        return Err(Failure(format!(
            "{new} exists; name a file that does not, with --data"
        )));
    }
    let mut beside = BESIDE.iter().map(|addition| named(new, addition));
    let Some(beside) = beside.find(|path| path.exists()) else {
        return Ok(());
    };
    let beside = beside.display();
    Err(Failure(format!(
        "{beside} exists, which belongs to a store that was here before: move it away, or name another file with --data"
    )))
}

/// An empty file for its owner alone, which another process has not created.
fn create(part: &Path) -> Result<File, Failure> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(part).map_err(|error| {
        if error.kind() != ErrorKind::AlreadyExists {
            return Failure::cannot_write(part.display(), &error);
        }
        Failure(format!(
            "{} exists: another process restores to it, or one was killed; remove it if none runs",
            part.display()
        ))
    })
}

/// Applies the archive to the backup, or to an empty store. Returns the position and the time that it reaches.
fn restore(
    args: &RestoreArgs,
    archive: &ArchiveLog,
    part: &Path,
) -> Result<(u64, Timestamp), Failure> {
    if let Some(backup) = &args.from {
        copy(backup, archive, part, &args.data)?;
    } else if archive.first() > 1 {
        let first = archive.first();
        return Err(Failure(format!(
            "the archive begins with entry {first} of the log, so it needs a backup to begin with: name one at entry {first} or later with --from"
        )));
    }
    let builder = store::builder(&Configuration::default()).log_unlisted(archive.clone());
    let engine = builder.open(part)?;
    let position = engine.position().unwrap_or_default();
    let begins_at = engine.applied_at();
    let last = archive.verify(position.max(1), args.until);
    let last = last.map_err(|error| unfit(error, position))?;
    if let Some(until) = args.until
        && (last == 0 || begins_at.is_some_and(|at| at > until))
    {
        let begin = match begins_at {
            Some(at) => format!("the backup is of {at}, which is"),
            None => "the archive begins".to_owned(),
        };
        return Err(Failure(format!(
            "{begin} after {until}: name a later time with --until, or an older backup with --from"
        )));
    }
    node::require_all(&engine).map_err(|failure| match &args.from {
        _ if engine.halted().is_none() => failure,
        None => Failure(format!(
            "the archive cannot be applied to an empty store: {failure}. In place of --join name a backup with --from"
        )),
        Some(backup) => Failure(format!(
            "the archive cannot be applied to {}: {failure}",
            backup.display()
        )),
    })?;
    let reached = engine.position().zip(engine.applied_at());
    engine.close()?;
    let reached = reached.filter(|(position, _)| *position == last);
    reached
        .ok_or_else(|| Failure("the archive was changed while it was read: try again".to_owned()))
}

/// Copies a backup of a node of the fleet of the archive, and checks it.
fn copy(backup: &Path, archive: &ArchiveLog, part: &Path, new: &Path) -> Result<(), Failure> {
    store::must_exist(backup, "name a backup with --from")?;
    let _lock = lock(backup)?;
    let source = File::open(backup).map_err(|error| Failure::cannot_read(backup, &error))?;
    let report = fill(part, source, false, new)?;
    let backup = backup.display();
    match report.fleet {
        Some(fleet) => {
            let position = report.position.unwrap_or_default();
            let archived = archive.fleet(position);
            let archived = archived.map_err(|error| unfit(error, position))?;
            if fleet == archived.to_string() {
                return Ok(());
            }
            Err(Failure(format!(
                "{backup} is of the fleet {fleet}, and the archive of the fleet {archived}: name a backup of that fleet"
            )))
        }
        None => Err(Failure(format!(
            "{backup} is no backup of a node, so it has no position in the log: name one that a node of the fleet wrote"
        ))),
    }
}

/// Why the archive does not go on from a backup, or from nothing.
fn unfit(error: ArchiveError, position: u64) -> Failure {
    if position == 0 {
        return error.into();
    }
    Failure(format!(
        "the archive does not go on from the backup, which is at entry {position}: {error}"
    ))
}
