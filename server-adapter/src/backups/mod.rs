//! Copies of the store in a folder, named after the time; requests are served while one is written.

pub(crate) mod sent_copies;

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::Duration;

use deskfleet::{Engine, Timestamp, error_chain};
use serde::Serialize;

use crate::locks::{lock, try_lock};

/// Copies that are listed.
const LISTED_MAX: usize = 100;
/// Pause before the next attempt at a name, if a file has the name already.
const NAME_PAUSE: Duration = Duration::from_millis(1);
/// The prefix and the suffix of the name of a copy. An incomplete copy has another suffix.
const PREFIX: &str = "deskfleet-";
const SUFFIX: &str = ".redb";

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
        Ok(Self(Arc::new(Inner {
            folder,
            message: Box::new(message),
            writing: Mutex::new(()),
        })))
    }

    /// Writes a copy of the store, after the one in progress. It takes time in proportion to the store.
    ///
    /// # Errors
    ///
    /// As [`Engine::backup`].
    pub fn write(&self, engine: &Engine) -> deskfleet::Result<Backup> {
        let _writing = lock(&self.0.writing);
        self.0.write(engine)
    }

    /// The same; `None` while another copy is in progress.
    #[must_use]
    pub fn try_write(&self, engine: &Engine) -> Option<deskfleet::Result<Backup>> {
        let _writing = try_lock(&self.0.writing)?;
        Some(self.0.write(engine))
    }

    /// Whether this many bytes are free in the folder; also true if that is unknown.
    pub(crate) fn has_room(&self, bytes: u64) -> bool {
        has_room(&self.0.folder, bytes)
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
        let mut newest = BTreeSet::new();
        for entry in std::fs::read_dir(&self.0.folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let Some((at, file)) = name.to_str().and_then(|name| Some((time(name)?, name))) else {
                continue;
            };
            if entry.file_type().is_ok_and(|kind| kind.is_file()) {
                newest.insert((at, file.to_owned()));
            }
            if newest.len() > LISTED_MAX {
                newest.pop_first();
            }
        }
        let found = newest.into_iter().rev().filter_map(|(at, file)| {
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
    fn write(&self, engine: &Engine) -> deskfleet::Result<Backup> {
        let (at, name) = new_name(engine, &self.folder);
        let path = self.folder.join(&name);
        let written = engine.backup(&path);
        match &written {
            Ok(()) => (self.message)(&format!("Backup: {}", path.display())),
            Err(error) => (self.message)(&format!(
                "No backup {}: {}",
                path.display(),
                error_chain(error)
            )),
        }
        written?;
        // The file may have been moved away by now.
        let bytes = self.bytes(&name).unwrap_or_default();
        Ok(Backup {
            file: name,
            bytes,
            at,
        })
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
