//! `restore`: puts a copy in the place of a store, and keeps the old one.

use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use deskfleet::{CheckReport, Engine, LockedFile, Timestamp};
use deskfleet_server::{folder_of, sync_folder_of};

use super::configuration::Configuration;
use super::failure::Failure;
use super::output::{counted, say};
use super::store::{explain, file, must_exist, without_panics_of_redb};

/// What is added to the name of a store for its other files that go with it: telemetry that is not filed, damaged telemetry that was set
/// aside, and how far webhooks are. Events of a copy have numbers that others had, so that a receiver would take them for those.
pub(super) const BESIDE: [&str; 3] = ["-queue", "-damaged", "-webhooks"];

/// Replaces the store by a checked copy of `copy`. Until the last step the store is as it was.
pub(crate) fn run(copy: &Path, configuration: &Configuration) -> Result<(), Failure> {
    must_exist(copy, "name a copy of a store")?;
    // The file itself is replaced, not a link to it.
    let file = file(configuration)?;
    let file = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    if fs::canonicalize(copy).is_ok_and(|copy| copy == file) {
        let file = file.display();
        return Err(Failure(format!(
            "{file} is the store itself; name a copy of it"
        )));
    }
    let queue = named(copy, BESIDE[0]);
    if queue.exists() {
        let (copy, queue) = (copy.display(), queue.display());
        return Err(Failure(format!(
            "{copy} is no copy but a store that was not closed: a part of it is in {queue}. Make a copy of it first:\n  \
             deskfleet backup NEW --data {copy}"
        )));
    }
    let _copy_lock = lock(copy)?;
    let source = File::open(copy).map_err(|error| Failure::cannot_read(copy, &error))?;
    // The lock keeps a server from starting on the old file meanwhile.
    let old = file.exists().then(|| lock(&file)).transpose()?;
    let part = named(&file, ".restored");
    let filled = fill(&part, source, old.is_some(), &file);
    let done = filled.and_then(|report| {
        let kept = exchange(&part, &file, old.is_some())?;
        Ok((report, kept))
    });
    let (report, kept) = done.inspect_err(|_| {
        // The error says why there is no use for it.
        let _ = fs::remove_file(&part);
    })?;
    say!(
        "{} is now a copy of {}: {}, {}, {}.",
        file.display(),
        copy.display(),
        counted(report.workspaces, "workspace"),
        counted(
            report.history_records + report.queued_records,
            "telemetry record"
        ),
        counted(report.keys, "key")
    );
    if !kept.is_empty() {
        let kept: Vec<_> = kept.iter().map(|path| path.display().to_string()).collect();
        say!(
            "The old store is kept: {}. Remove it when all is well.",
            kept.join(", ")
        );
    }
    say!(
        "Next: start the server. Then revoke the keys and place the holds again that came after the copy was made; the audit of the old store \
         has them: deskfleet export audit --data OLD"
    );
    Ok(())
}

/// A path with an addition to its name.
pub(super) fn named(path: &Path, addition: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(addition);
    name.into()
}

pub(super) fn lock(file: &Path) -> Result<LockedFile, Failure> {
    LockedFile::lock(file).map_err(|error| explain(error, file, "Stop the server first."))
}

/// Writes a durable copy of `source` to `part`, with owner and mode of the old store, and checks it.
pub(super) fn fill(
    part: &Path,
    mut source: File,
    has_old: bool,
    file: &Path,
) -> Result<CheckReport, Failure> {
    let cannot_write = |error: io::Error| Failure::cannot_write(part.display(), &error);
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    let mut copy = options.open(part).map_err(cannot_write)?;
    io::copy(&mut source, &mut copy).map_err(cannot_write)?;
    let owned = if has_old {
        let like = fs::metadata(file).map_err(|error| Failure::cannot_read(file, &error))?;
        own_as(&copy, &like).and_then(|()| copy.set_permissions(like.permissions()))
    } else {
        own_as_folder(&copy, file)
    };
    owned.map_err(cannot_write)?;
    copy.sync_all().map_err(cannot_write)?;
    drop(copy);
    let report = without_panics_of_redb(|| Engine::check_file(part))?;
    if let Some(problem) = report.problems.first() {
        return Err(Failure(format!(
            "the copy is damaged: {problem}. {} was not changed; restore an older copy",
            file.display()
        )));
    }
    Ok(report)
}

/// Gives a new file, which gets the name `file`, the owner of its folder. Where only root may do that, it stays that of the user who runs this.
pub(super) fn own_as_folder(new: &File, file: &Path) -> io::Result<()> {
    let owned = own_as(new, &fs::metadata(folder_of(file))?);
    let is_allowed = |error: &io::Error| error.kind() != io::ErrorKind::PermissionDenied;
    owned.or_else(|error| {
        if is_allowed(&error) {
            Err(error)
        } else {
            Ok(())
        }
    })
}

/// Gives the file the owner of another.
#[cfg(unix)]
fn own_as(file: &File, like: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, fchown};
    let about = file.metadata()?;
    if (about.uid(), about.gid()) == (like.uid(), like.gid()) {
        return Ok(());
    }
    fchown(file, Some(like.uid()), Some(like.gid()))
}

#[cfg(not(unix))]
fn own_as(_: &File, _: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Puts `part` in the place of `file`; returns what is kept of the old store, under names with the time.
fn exchange(part: &Path, file: &Path, has_old: bool) -> Result<Vec<PathBuf>, Failure> {
    let mut time = Timestamp::from(SystemTime::now())
        .to_string()
        .replace(':', "-");
    time.truncate(time.find(['.', 'Z']).unwrap_or(time.len()));
    let aside = named(file, &format!(".{time}"));
    let mut kept = Vec::new();
    let exchanged = keep_old(file, &aside, has_old, &mut kept).and_then(|()| {
        let placed = fs::rename(part, file).and_then(|()| sync_folder_of(file));
        placed.map_err(|error| {
            Failure::caused(
                format_args!("cannot put {} in its place", part.display()),
                &error,
            )
        })
    });
    if exchanged.is_err() {
        for (from, to) in &kept {
            // The error above is the one to return; the file has both names where it was linked.
            let _ = if from.exists() {
                fs::remove_file(to)
            } else {
                fs::rename(to, from)
            };
        }
    }
    exchanged.map(|()| kept.into_iter().map(|(_, to)| to).collect())
}

/// Keeps the old store as `aside`; `kept` gets each path and its new one. The file has both names at first, so that there is one at every
/// moment: a server that finds none makes a new store. Some file systems have no links.
fn keep_old(
    file: &Path,
    aside: &Path,
    has_old: bool,
    kept: &mut Vec<(PathBuf, PathBuf)>,
) -> Result<(), Failure> {
    let mut keep = |from: PathBuf, to: PathBuf, moved: io::Result<()>| {
        moved.map_err(|error| {
            let what = format_args!("cannot keep {} as {}", from.display(), to.display());
            Failure::caused(what, &error)
        })?;
        kept.push((from, to));
        Ok::<(), Failure>(())
    };
    if has_old {
        let linked = fs::hard_link(file, aside).or_else(|_| fs::rename(file, aside));
        keep(file.to_owned(), aside.to_owned(), linked)?;
    }
    for addition in BESIDE {
        let (from, to) = (named(file, addition), named(aside, addition));
        if from.exists() {
            let moved = fs::rename(&from, &to);
            keep(from, to, moved)?;
        }
    }
    Ok(())
}
