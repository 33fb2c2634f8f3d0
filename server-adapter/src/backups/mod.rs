//! Copies of the store in a folder, named after the time; requests are served while one is written.

pub(crate) mod sent_copies;

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::Duration;

use deskfleet::{Engine, EngineError, ErrorKind, Timestamp, error_chain};
use serde::Serialize;

use crate::locks::{lock, try_lock};

/// Copies that are listed.
const LISTED_MAX: usize = 100;
/// Pause before the next attempt at a name, if a file has the name already.
const NAME_PAUSE: Duration = Duration::from_millis(1);
/// The prefix and the suffix of the name of a copy. An incomplete copy has another suffix.
const PREFIX: &str = "deskfleet-";
const SUFFIX: &str = ".redb";
/// What is added to the name of a copy in which a check found problems. One such copy is kept: where the store itself is damaged, there is no
/// better one.
const DAMAGED_SUFFIX: &str = ".damaged";

/// Receives a line about each copy that was written or failed.
type Said = Box<dyn Fn(&str) + Send + Sync>;

/// The folder that copies of a store are written into. Clones share it: one copy is written at a time.
#[derive(Clone)]
pub struct Backups(Arc<Inner>);

struct Inner {
    folder: PathBuf,
    message: Said,
    /// Locked while a copy is written.
    writing: Mutex<()>,
    /// The copies that are kept; `None` for all.
    newest_kept: Mutex<Option<usize>>,
    state: Mutex<BackupState>,
}

/// How the last backups went.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BackupState {
    /// When the newest good copy began: at first that of the folder, then the last one that was written and checked.
    pub last_ok: Option<Timestamp>,
    /// Why the last attempt failed; `None` once one has succeeded.
    pub last_error: Option<String>,
    /// Attempts that failed since the start.
    pub failures: u64,
}

/// Why there is no copy.
#[derive(Debug)]
pub struct BackupError {
    kind: ErrorKind,
    message: String,
}

impl BackupError {
    /// The kind of error, as of the engine.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Display for BackupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for BackupError {}

impl From<EngineError> for BackupError {
    fn from(error: EngineError) -> Self {
        Self {
            kind: error.kind(),
            message: error_chain(&error),
        }
    }
}

/// A complete copy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Backup {
    /// Its name in the folder.
    pub file: String,
    /// Its length in bytes; 0 where it was moved away at once.
    pub bytes: u64,
    /// When it began, to the millisecond.
    pub at: Timestamp,
}

impl Backups {
    /// Copies into `folder`. `said` receives a line about each.
    ///
    /// # Errors
    ///
    /// When nothing can be written there.
    pub fn new(
        folder: PathBuf,
        message: impl Fn(&str) + Send + Sync + 'static,
    ) -> io::Result<Self> {
        if !std::fs::metadata(&folder)?.is_dir() {
            return Err(io::Error::other("not a folder"));
        }
        #[cfg(unix)]
        {
            use rustix::fs::{Access, access};
            access(&folder, Access::WRITE_OK | Access::EXEC_OK)?;
        }
        let backups = Self(Arc::new(Inner {
            folder,
            message: Box::new(message),
            writing: Mutex::new(()),
            newest_kept: Mutex::default(),
            state: Mutex::default(),
        }));
        let newest = backups.0.copies()?.pop_last();
        lock(&backups.0.state).last_ok = newest.map(|(at, _)| at);
        Ok(backups)
    }

    /// From now on each good copy removes older ones, so that `newest` are left; `None` keeps all.
    pub fn keep(&self, newest: Option<usize>) {
        *lock(&self.0.newest_kept) = newest;
    }

    /// How the last backups went.
    #[must_use]
    pub fn state(&self) -> BackupState {
        lock(&self.0.state).clone()
    }

    /// Writes a copy of the store, after the one in progress, and reads all of it again. It takes time in proportion to the store.
    ///
    /// # Errors
    ///
    /// As [`Engine::backup`]; [`ErrorKind::LowDisk`] without room for a copy, and [`ErrorKind::StorageUnavailable`] for one that is not
    /// whole.
    pub fn write(&self, engine: &Engine) -> Result<Backup, BackupError> {
        let _writing = lock(&self.0.writing);
        self.0.write_and_report(engine)
    }

    /// The same; `None` while another copy is in progress.
    #[must_use]
    pub fn try_write(&self, engine: &Engine) -> Option<Result<Backup, BackupError>> {
        let _writing = try_lock(&self.0.writing)?;
        Some(self.0.write_and_report(engine))
    }

    /// Waits for the copy in progress.
    pub fn wait(&self) {
        drop(lock(&self.0.writing));
    }

    /// The complete copies, newest first, at most 100.
    ///
    /// # Errors
    ///
    /// When the folder cannot be read.
    pub fn list(&self) -> io::Result<Vec<Backup>> {
        let newest = self.0.copies()?.into_iter().rev().take(LISTED_MAX);
        let found = newest.filter_map(|(at, file)| {
            // The file may have been removed by now.
            let bytes = self.0.bytes(&file).ok()?;
            Some(Backup { file, bytes, at })
        });
        Ok(found.collect())
    }
}

/// Whether this many bytes are free on the medium of `folder`; also true if that is unknown.
#[cfg_attr(not(unix), expect(unused_variables, reason = "it cannot be found out"))]
pub(crate) fn has_room(folder: &Path, bytes: u64) -> bool {
    #[cfg(unix)]
    if let Ok(medium) = rustix::fs::statvfs(folder) {
        return medium.f_bavail.saturating_mul(medium.f_frsize) >= bytes;
    }
    true
}

impl Inner {
    fn write_and_report(&self, engine: &Engine) -> Result<Backup, BackupError> {
        let (at, file) = new_name(engine, &self.folder);
        let path = self.folder.join(&file);
        let written = self.write(engine, &path);
        let mut state = lock(&self.state);
        match &written {
            Ok(()) => {
                state.last_ok = Some(at);
                state.last_error = None;
            }
            Err(error) => {
                state.last_error = Some(error.to_string());
                state.failures += 1;
            }
        }
        drop(state);
        match &written {
            Ok(()) => (self.message)(&format!("Backup: {}", path.display())),
            Err(error) => (self.message)(&format!("No backup {}: {error}", path.display())),
        }
        written?;
        self.remove_older(&file);
        // The file may have been moved away by now.
        let bytes = self.bytes(&file).unwrap_or_default();
        Ok(Backup { file, bytes, at })
    }

    fn write(&self, engine: &Engine, path: &Path) -> Result<(), BackupError> {
        // Copies are refused before the store lacks space: without `newest_kept` they have no other bound.
        let needed = engine.query_fleet().map_or(0, |fleet| fleet.store_bytes)
            + engine.config().limits.free_bytes_min;
        if !has_room(&self.folder, needed) {
            return Err(BackupError {
                kind: ErrorKind::LowDisk,
                message: format!(
                    "{} has less than the {needed} free bytes that another copy needs; remove older copies",
                    self.folder.display()
                ),
            });
        }
        engine.backup(path)?;
        self.verify(path)
    }

    /// Reads all of a copy; one that is not whole gets a name that is not that of a copy.
    fn verify(&self, path: &Path) -> Result<(), BackupError> {
        let problem = match Engine::check_file(path) {
            Ok(report) => report.problems.into_iter().next(),
            Err(error) => Some(error_chain(&error)),
        };
        let Some(problem) = problem else {
            return Ok(());
        };
        Err(BackupError {
            kind: ErrorKind::StorageUnavailable,
            message: format!(
                "the copy is damaged: {problem}; it is kept as {}. Check the disk, and the store: stop the server and run `deskfleet check`",
                self.set_aside(path).display()
            ),
        })
    }

    /// Renames a damaged copy, over an earlier one; returns its path.
    fn set_aside(&self, path: &Path) -> PathBuf {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten();
        for entry in entries.filter_map(Result::ok) {
            let name = entry.file_name();
            let copy = name
                .to_str()
                .and_then(|name| name.strip_suffix(DAMAGED_SUFFIX));
            if copy.is_some_and(|copy| time(copy).is_some()) {
                // One that stays only takes space.
                let _ = std::fs::remove_file(entry.path());
            }
        }
        let mut aside = path.as_os_str().to_owned();
        aside.push(DAMAGED_SUFFIX);
        let renamed = std::fs::rename(path, &aside);
        renamed.map_or_else(|_| path.to_owned(), |()| aside.into())
    }

    /// Removes the oldest copies, so that as many as are kept are left. `newest` stays whatever its time: the clock may have been set back.
    fn remove_older(&self, newest: &str) {
        let Some(kept) = *lock(&self.newest_kept) else {
            return;
        };
        // A folder that cannot be read keeps its copies; the next backup tries again.
        let mut copies = self.copies().unwrap_or_default();
        copies.retain(|(_, file)| file != newest);
        while copies.len() >= kept.max(1)
            && let Some((_, file)) = copies.pop_first()
        {
            let path = self.folder.join(file);
            if let Err(error) = std::fs::remove_file(&path) {
                let path = path.display();
                (self.message)(&format!(
                    "The older backup {path} cannot be removed: {error}"
                ));
            }
        }
    }

    /// The times and names of the complete copies, oldest first.
    fn copies(&self) -> io::Result<BTreeSet<(Timestamp, String)>> {
        let mut copies = BTreeSet::new();
        for entry in std::fs::read_dir(&self.folder)? {
            let entry = entry?;
            let name = entry.file_name();
            if let Some(name) = name.to_str()
                && let Some(at) = time(name)
                && entry.file_type().is_ok_and(|kind| kind.is_file())
            {
                copies.insert((at, name.to_owned()));
            }
        }
        Ok(copies)
    }

    fn bytes(&self, file: &str) -> io::Result<u64> {
        Ok(std::fs::symlink_metadata(self.folder.join(file))?.len())
    }
}

impl fmt::Debug for Backups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Backups").field(&self.0.folder).finish()
    }
}

/// A name that no file has yet, and its time: to the millisecond.
fn new_name(engine: &Engine, folder: &Path) -> (Timestamp, String) {
    loop {
        let now = engine.now();
        let mut text = now.to_string().replace(':', "-");
        text.truncate(text.find(['.', 'Z']).unwrap_or(text.len()));
        let ms = now.ticks().div_euclid(10_000).rem_euclid(1000);
        let name = format!("{PREFIX}{text}.{ms:03}Z{SUFFIX}");
        if !folder.join(&name).exists() {
            return (time(&name).unwrap_or(now), name);
        }
        sleep(NAME_PAUSE);
    }
}

/// The time in the name of a copy; `None` where it is the name of something else.
fn time(name: &str) -> Option<Timestamp> {
    let text = name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
    let (date, time) = text.split_once('T')?;
    format!("{date}T{}", time.replace('-', ":")).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_complete_copies_have_a_time() {
        let at = time("deskfleet-2026-11-20T08-01-02.003Z.redb").unwrap();
        assert_eq!(at.to_string(), "2026-11-20T08:01:02.003Z");
        for other in [
            "deskfleet.redb",
            "deskfleet-.redb",
            "deskfleet-2026-11-20T08-01-02.003Z.redb.part",
            "deskfleet-2026-13-20T08-01-02.003Z.redb",
            "deskfleet-copy-2026-11-20T08-01-02.003Z.redb",
            "2026-11-20T08-01-02.003Z.redb",
        ] {
            assert_eq!(time(other), None, "{other}");
        }
    }

    #[test]
    fn damaged_copy_is_set_aside_over_the_one_before_and_is_no_copy() {
        let folder = tempfile::tempdir().unwrap();
        let backups = Backups::new(folder.path().to_owned(), |_| {}).unwrap();
        for second in 1..=2 {
            let name = format!("deskfleet-2026-11-20T08-00-0{second}.000Z.redb");
            let path = folder.path().join(&name);
            std::fs::write(&path, "no store").unwrap();
            let error = backups.0.verify(&path).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::StorageUnavailable);
            let message = error.to_string();
            assert!(message.contains(&format!("{name}.damaged")), "{message}");
        }
        assert_eq!(backups.list().unwrap(), []);
        let left = std::fs::read_dir(folder.path()).unwrap();
        let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["deskfleet-2026-11-20T08-00-02.000Z.redb.damaged"]);
    }

    #[test]
    fn oldest_copies_are_removed_but_never_the_new_one() {
        let folder = tempfile::tempdir().unwrap();
        let name = |hour: u8| format!("deskfleet-2026-11-20T0{hour}-00-00.000Z.redb");
        for hour in 1..=4 {
            std::fs::write(folder.path().join(name(hour)), "copy").unwrap();
        }
        let backups = Backups::new(folder.path().to_owned(), |_| {}).unwrap();
        let newest = backups.state().last_ok.unwrap();
        assert_eq!(newest.to_string(), "2026-11-20T04:00:00Z");
        let left = || -> Vec<_> {
            let listed = backups.list().unwrap().into_iter();
            listed.map(|backup| backup.file).collect()
        };
        backups.0.remove_older(&name(4));
        assert_eq!(left().len(), 4, "all are kept");
        backups.keep(Some(3));
        backups.0.remove_older(&name(4));
        assert_eq!(left(), [name(4), name(3), name(2)]);
        backups.keep(Some(1));
        // The clock was set back before it was written.
        backups.0.remove_older(&name(2));
        assert_eq!(left(), [name(2)]);
    }

    #[test]
    fn list_has_the_newest_100_files_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let backups = Backups::new(folder.path().to_owned(), |_| {}).unwrap();
        assert_eq!(backups.list().unwrap(), []);
        let name = |second: usize| {
            format!(
                "deskfleet-2026-11-20T08-{:02}-{:02}.000Z.redb",
                second / 60,
                second % 60
            )
        };
        for second in 0..LISTED_MAX + 20 {
            std::fs::write(folder.path().join(name(second)), "copy").unwrap();
        }
        std::fs::create_dir(
            folder
                .path()
                .join("deskfleet-2027-01-01T00-00-00.000Z.redb"),
        )
        .unwrap();
        std::fs::write(
            folder
                .path()
                .join("deskfleet-2027-01-01T00-00-00.000Z.redb.part"),
            "",
        )
        .unwrap();
        let listed = backups.list().unwrap();
        let names: Vec<&str> = listed.iter().map(|backup| &*backup.file).collect();
        let expected: Vec<String> = (20..LISTED_MAX + 20).rev().map(name).collect();
        assert_eq!(names, expected);
        assert!(listed.iter().all(|backup| backup.bytes == 4));
    }
}
