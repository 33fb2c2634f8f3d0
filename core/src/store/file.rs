//! Opening files. Errors name the path and say what to do.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use redb::backends::FileBackend;

use crate::error::{EngineError, ErrorKind, Result};

use super::failure::from_database;

/// Opens the file at `path`, or creates it, and hands it to `open`.
pub(super) fn open<T>(path: &Path, open: impl FnOnce(FileBackend) -> Result<T>) -> Result<T> {
    let new = !path.exists();
    let file = for_owner()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(|error| cannot_open(path, error))?;
    let opened = backend(file, path).and_then(|backend| at(path, open(backend)))?;
    if new {
        sync_folder(path);
    }
    Ok(opened)
}

/// Opens the file that is at `path` and hands it to `open`.
pub(super) fn open_existing<T>(
    path: &Path,
    open: impl FnOnce(FileBackend) -> Result<T>,
) -> Result<T> {
    let file = OpenOptions::new()
        .read(true)
        .write(true) // for its lock
        .open(path)
        .map_err(|error| cannot_open(path, error))?;
    backend(file, path).and_then(|backend| at(path, open(backend)))
}

/// Creates a file at `path`, where none may be, and hands it to `fill`. Until it is whole and durable its name ends in `.part`;
/// it is removed again when it cannot be filled.
pub(super) fn create_new(path: &Path, fill: impl FnOnce(FileBackend) -> Result<()>) -> Result<()> {
    if path.exists() {
        return Err(cannot_open(path, io::ErrorKind::AlreadyExists.into()));
    }
    let mut part = path.to_owned().into_os_string();
    part.push(".part");
    let part = Path::new(&part);
    // One that a process left behind that was killed is begun anew; one that another process is filling is locked.
    let part_file = for_owner()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(part);
    let file = part_file.map_err(|error| cannot_open(path, error))?;
    let whole = file.try_clone().map_err(|error| cannot_open(path, error))?;
    let backend = backend(file, path)?;
    let failed = |error| cannot_open(path, error);
    let filled = whole.set_len(0).map_err(failed).and_then(|()| {
        at(path, fill(backend))?;
        let named = whole.sync_all().and_then(|()| std::fs::rename(part, path));
        named.map_err(failed)
    });
    if filled.is_err() {
        // The error that stopped the copy is the one to tell.
        let _ = std::fs::remove_file(part);
    } else {
        sync_folder(path);
    }
    filled
}

/// How files are opened here: one that is created is for its owner alone, as it holds what is known of people.
fn for_owner() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn backend(file: File, path: &Path) -> Result<FileBackend> {
    at(path, FileBackend::new(file).map_err(from_database))
}

/// Puts the path before what an error says.
fn at<T>(path: &Path, result: Result<T>) -> Result<T> {
    result.map_err(|error| error.about(path.display()))
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "only some kinds have a hint"
)]
fn cannot_open(path: &Path, error: io::Error) -> EngineError {
    let hint = match error.kind() {
        io::ErrorKind::NotFound => "no such file or folder; check the path",
        io::ErrorKind::PermissionDenied => {
            "no permission; check the owner and mode of the file and its folder"
        }
        io::ErrorKind::ReadOnlyFilesystem => "the file system is read-only; name a path on another",
        io::ErrorKind::StorageFull => "the disk is full; free some space first",
        io::ErrorKind::AlreadyExists => "a file is there already; name another path",
        io::ErrorKind::IsADirectory => "this is a folder; name a file in it",
        _ => "the file cannot be opened",
    };
    EngineError::caused(
        ErrorKind::StorageUnavailable,
        format!("{}: {hint}", path.display()),
        error,
    )
}

/// Makes the name of a new file as durable as its content, where the system lets a folder be synced.
fn sync_folder(path: &Path) {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}
