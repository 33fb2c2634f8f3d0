//! Opening files. Errors name the path and say what to do.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::ops::Bound;
use std::path::{Path, PathBuf, absolute};
use std::sync::{Arc, Mutex};

use redb::{BackendError, StorageBackend as _};

use crate::error::{EngineError, ErrorKind, Result};
use crate::locks::lock;

use crate::store::disk::file_of_process::FileOfProcess;
use crate::store::disk::watch::FileWatch;
use crate::store::failure::{already_open, is_full, unavailable};

/// Device and inode of a file, if the system has them.
pub(in crate::store) type FileId = Option<(u64, u64)>;

/// The files that stores of this process have open, for the message to a caller that opens one again.
static OPEN_HERE: Mutex<Vec<FileId>> = Mutex::new(Vec::new());

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems have none")]
pub(in crate::store) fn file_id(about: &Metadata) -> FileId {
    use std::os::unix::fs::MetadataExt as _;
    Some((about.dev(), about.ino()))
}

#[cfg(not(unix))]
pub(in crate::store) fn file_id(_about: &Metadata) -> FileId {
    None
}

/// The file that a store has open, and where it was opened.
#[derive(Debug)]
pub(in crate::store) struct OpenFile {
    path: PathBuf,
    id: FileId,
    watch: Arc<FileWatch>,
}

impl OpenFile {
    fn from_file(path: &Path, file: &File) -> io::Result<Self> {
        Ok(Self {
            // The path is made absolute, because the working directory may change.
            path: absolute(path)?,
            id: file_id(&file.metadata()?),
            watch: Arc::new(FileWatch::new(file.try_clone()?, file.try_clone()?)?),
        })
    }

    /// Refuses a path without a file or with another file, and a file that another program wrote to: its length or time of last
    /// change differs or, with `reads`, its header.
    pub(in crate::store) fn check(&self, reads: bool) -> Result<()> {
        let path = self.path.display();
        let mut found = None;
        let is_here = |about: &Metadata| file_id(about) == self.id;
        let changed = self.watch.finds_change(reads, || {
            found = Some(fs::metadata(&self.path));
            found
                .as_ref()?
                .as_ref()
                .ok()
                .filter(|about| is_here(about))
                .cloned()
        });
        if changed {
            let message = format!(
                "{path}: another program wrote into the open file; it is neither read nor written any more. A backup of this \
                 engine succeeds only where all that it reads is in memory. Stop it, put a whole store in the place of the file, \
                 such as the newest backup, and start again"
            );
            return Err(EngineError::new(ErrorKind::StorageUnavailable, message));
        }
        // While this process writes, only the path is checked.
        let found = found.unwrap_or_else(|| fs::metadata(&self.path));
        if found.as_ref().is_ok_and(is_here) {
            return Ok(());
        }
        let hint = "what is written now would be lost: put the file back, or take a backup of this engine and restart on it";
        Err(match found {
            Ok(_) => EngineError::new(
                ErrorKind::StorageUnavailable,
                format!("{path}: another file was put in the place of the open one; {hint}"),
            ),
            Err(error) => EngineError::caused(
                ErrorKind::StorageUnavailable,
                format!("{path}: the open file was removed or renamed; {hint}"),
                error,
            ),
        })
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        let mut open = lock(&OPEN_HERE);
        if let Some(at) = open.iter().position(|id| *id == self.id) {
            open.swap_remove(at);
        }
    }
}

/// Opens the file at `path`, or creates it, and passes it to `open`. If that fails, a created file is removed again.
pub(in crate::store) fn open<T>(
    path: &Path,
    open: impl FnOnce(FileOfProcess) -> Result<T>,
) -> Result<(T, OpenFile)> {
    let mut options = for_owner();
    options.read(true).write(true);
    let created = options.clone().create_new(true).open(path);
    let (file, new) = match created {
        Ok(file) => (Ok(file), true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            // A link may point to a missing file.
            (options.create(true).truncate(false).open(path), false)
        }
        Err(error) => (Err(error), false),
    };
    let file = file.map_err(|error| cannot_open(path, error))?;
    let opened = opened(path, file, open);
    match &opened {
        // The store is open and usable, although its name may not survive a power cut.
        Ok(_) if new => drop(sync_folder_of(path)),
        // Another process came in between, has the lock and owns the file.
        Err(error) if new && error.kind() != ErrorKind::AlreadyOpen => {
            // The caller gets the error that stopped the creation.
            let _ = fs::remove_file(path);
        }
        Ok(_) | Err(_) => {}
    }
    opened
}

/// Opens the existing file at `path` and passes it to `open`.
pub(in crate::store) fn open_existing<T>(
    path: &Path,
    open: impl FnOnce(FileOfProcess) -> Result<T>,
) -> Result<(T, OpenFile)> {
    let file = OpenOptions::new().read(true).write(true).open(path);
    let file = file.map_err(|error| cannot_open(path, error))?;
    opened(path, file, open)
}

/// Opens the existing file at `path` for reading and passes it to `open`, which takes the lock that readers share.
pub(in crate::store) fn open_to_read<T>(
    path: &Path,
    open: impl FnOnce(FileOfProcess) -> Result<T>,
) -> Result<(T, OpenFile)> {
    let (file, _) = file_to_lock(path)?;
    opened(path, file, open)
}

/// Opens the existing file at `path`, and for reading only where it cannot be written, which the second value says.
fn file_to_lock(path: &Path) -> Result<(File, bool)> {
    let to_write = OpenOptions::new()
        .read(true)
        .write(true) // for its lock
        .open(path);
    let (file, read_only) = match to_write {
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
            ) =>
        {
            (File::open(path), true)
        }
        file => (file, false),
    };
    let file = file.map_err(|error| cannot_open(path, error))?;
    Ok((file, read_only))
}

fn opened<T>(
    path: &Path,
    file: File,
    open: impl FnOnce(FileOfProcess) -> Result<T>,
) -> Result<(T, OpenFile)> {
    let open_file = OpenFile::from_file(path, &file).map_err(|error| cannot_open(path, error))?;
    let was_open = open_file.id.is_some() && lock(&OPEN_HERE).contains(&open_file.id);
    lock(&OPEN_HERE).push(open_file.id);
    let backend = with_path(path, FileOfProcess::new(file));
    let opened = backend.and_then(|mut backend| {
        backend.watch = Some(Arc::clone(&open_file.watch));
        with_path(path, open(backend))
    });
    match opened {
        Err(error) if was_open && error.kind() == ErrorKind::AlreadyOpen => Err(EngineError::new(
            ErrorKind::AlreadyOpen,
            format!(
                "{}: an engine in this process has the file open; use a clone of that, or close it first",
                path.display()
            ),
        )),
        opened => Ok((opened?, open_file)),
    }
}

/// The lock of a file that no engine has open. Until this is dropped none opens it.
#[derive(Debug)]
pub struct LockedFile {
    _backend: FileOfProcess,
    _file: OpenFile,
}

impl LockedFile {
    /// Locks the existing file at `path`, whatever it holds. A file that may not be written is locked against writers alone.
    ///
    /// # Errors
    /// [`ErrorKind::AlreadyOpen`] when an engine has it open; [`ErrorKind::StorageUnavailable`] when there is none or it cannot be opened.
    pub fn lock(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let (file, read_only) = file_to_lock(path)?;
        let locked = opened(path, file, |backend| {
            let (start, end) = (Bound::Unbounded, Bound::Unbounded);
            let locked = if read_only {
                backend.try_lock_shared_range(start, end)
            } else {
                backend.try_lock_range(start, end)
            };
            match locked {
                Ok(true) | Err(BackendError::Unsupported) => Ok(backend),
                Ok(false) => Err(already_open()),
                Err(error) => Err(unavailable(io::Error::other(error))),
            }
        });
        let (backend, file) = locked?;
        Ok(Self {
            _backend: backend,
            _file: file,
        })
    }
}

/// Creates a file at `path`, which must not exist, and passes it to `fill`. Its name ends in `.part` until it is whole and
/// durable; it is removed if it cannot be filled. Errors of `fill` name the file.
pub(in crate::store) fn create_new(
    path: &Path,
    fill: impl FnOnce(FileOfProcess) -> Result<()>,
) -> Result<()> {
    if path.exists() {
        return Err(cannot_open(path, io::ErrorKind::AlreadyExists.into()));
    }
    let mut part = path.to_owned().into_os_string();
    part.push(".part");
    let part = Path::new(&part);
    if fs::symlink_metadata(part).is_ok_and(|found| !found.is_file()) {
        return Err(cannot_open(part, io::ErrorKind::AlreadyExists.into()));
    }
    let part_file = for_owner()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(part);
    let file = part_file.map_err(|error| cannot_open(path, error))?;
    let whole = file.try_clone().map_err(|error| cannot_open(path, error))?;
    let open_file = OpenFile::from_file(part, &file).map_err(|error| cannot_open(path, error))?;
    let backend = with_path(path, FileOfProcess::new(file))?;
    // The file of a killed process is overwritten. A file that another process is filling is locked, and one that it has renamed
    // meanwhile is no longer at that path.
    match backend.try_lock_range(Bound::Unbounded, Bound::Unbounded) {
        Ok(true) | Err(BackendError::Unsupported) => with_path(part, open_file.check(false))?,
        Ok(false) => return Err(already_open().about(part.display())),
        Err(error) => return Err(cannot_open(path, io::Error::other(error))),
    }
    let failed = |error| cannot_open(path, error);
    let filled = whole.set_len(0).map_err(failed).and_then(|()| {
        fill(backend)?;
        let named = whole.sync_all().and_then(|()| fs::rename(part, path));
        named.map_err(failed)
    });
    if filled.is_err() {
        // The caller gets the error that stopped the copy.
        let _ = fs::remove_file(part);
        return filled;
    }
    sync_folder_of(path).map_err(|error| cannot_open(path, error))
}

/// The options for opening files: a created file is for its owner alone, because it has data about people.
pub(in crate::store) fn for_owner() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Puts the path before what an error says.
fn with_path<T>(path: &Path, result: Result<T>) -> Result<T> {
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
        _ if is_full(&error) => {
            "the disk, a quota or the limit of a file's size is full; free some space first"
        }
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

/// Syncs the folder of `path`, so that a new or removed name in it is durable, if the system supports that.
pub(in crate::store) fn sync_folder_of(path: &Path) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let synced = File::open(folder).map_or(Ok(()), |folder| folder.sync_all());
    let kind = synced.as_ref().map_err(io::Error::kind);
    match kind {
        Err(io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput) => Ok(()),
        Ok(()) | Err(_) => synced,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn creation_that_fails_leaves_no_file_and_an_old_file_stays() {
        // An address differs in each process.
        let path =
            std::env::temp_dir().join(format!("deskfleet-creation-{:p}", &raw const OPEN_HERE));
        let failed = || EngineError::new(ErrorKind::StorageUnavailable, "as the test wants it");
        let fails = |path| {
            let opened = open(path, |file| {
                file.write(0, b"1234").unwrap();
                Err::<(), _>(failed())
            });
            assert!(opened.is_err());
        };
        fails(&path);
        assert!(!path.exists());
        fs::write(&path, b"old").unwrap();
        fails(&path);
        assert!(path.exists());
        fs::remove_file(&path).unwrap();
    }
}
