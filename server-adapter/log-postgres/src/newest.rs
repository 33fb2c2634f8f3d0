//! The newest server of the log that a node has used, in a file: after a restart an older one is still refused.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use deskfleet::cluster::{LogError, LogErrorKind};
use deskfleet::locks::lock;
use deskfleet_log_runtime::read_file;

/// The identifier that a server shares with its standbys, and with no server into which a dump of it is restored; and its timeline.
pub(super) type ServerMark = (i64, u32);

/// The newest server, and the file with its mark; without a file nothing is kept.
#[derive(Debug)]
pub(super) struct NewestServer {
    file: Option<PathBuf>,
    known: Mutex<Option<ServerMark>>,
}

impl NewestServer {
    /// # Errors
    /// [`LogErrorKind::Unsafe`](deskfleet::cluster::LogErrorKind::Unsafe) where the file cannot be read.
    pub(super) fn read(file: Option<PathBuf>) -> Result<Self, LogError> {
        let written = file.as_deref().filter(|file| file.exists());
        let known = written.map(read).transpose()?.into();
        Ok(Self { file, known })
    }

    /// Whether another server took the place of this one.
    pub(super) fn is_later_than(&self, server: Option<ServerMark>) -> bool {
        is_later(*lock(&self.known), server)
    }

    /// Keeps a server that is used from now on, if no later one of its system is. Blocks.
    ///
    /// # Errors
    /// Where the file cannot be written: the server is known until this process ends, and written with the next one.
    pub(super) fn keep(&self, server: Option<ServerMark>) -> io::Result<()> {
        let mut known = lock(&self.known);
        let is_older = is_later(*known, server);
        if let (Some(file), Some(mark), false) = (&self.file, server, is_older || *known == server)
        {
            *known = server;
            write(file, mark)?;
        }
        Ok(())
    }

    /// The file, for messages.
    pub(super) fn file(&self) -> String {
        let file = self.file.as_deref();
        file.map_or_else(String::new, |file| file.display().to_string())
    }
}

/// Whether `one` is later than `other`, of the same system.
fn is_later(one: Option<ServerMark>, other: Option<ServerMark>) -> bool {
    let both = one.zip(other);
    both.is_some_and(|(one, other)| one.0 == other.0 && one.1 > other.1)
}

fn read(file: &Path) -> Result<ServerMark, LogError> {
    let text = read_file(file)?;
    let words = text.trim().split_once(' ');
    let mark =
        words.and_then(|(system, timeline)| Some((system.parse().ok()?, timeline.parse().ok()?)));
    mark.ok_or_else(|| {
        let file = file.display();
        LogError::new(
            LogErrorKind::Unsafe,
            format!("{file} does not say which server of the log was the newest; remove it once no older one can be reached"),
        )
    })
}

/// The old content or the new is there after a crash.
fn write(file: &Path, (system, timeline): ServerMark) -> io::Result<()> {
    let mut path = file.as_os_str().to_owned();
    path.push(".new");
    let mut new = File::create(&path)?;
    writeln!(new, "{system} {timeline}")?;
    new.sync_all()?;
    fs::rename(&path, file)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
mod tests {
    use super::*;

    #[test]
    fn older_server_of_the_same_system_is_refused_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("store-timeline");
        let read = || NewestServer::read(Some(file.clone())).unwrap();
        assert!(!read().is_later_than(Some((7, 1))));
        read().keep(Some((7, 3))).unwrap();
        assert!(read().is_later_than(Some((7, 2))));
        // The same one, a newer one, one with a restored dump, and one that does not say which it is.
        for server in [Some((7, 3)), Some((7, 4)), Some((8, 1)), None] {
            assert!(!read().is_later_than(server));
        }
        // Its connection was slower than that to the newest one.
        read().keep(Some((7, 2))).unwrap();
        read().keep(None).unwrap();
        assert!(read().is_later_than(Some((7, 2))));
        read().keep(Some((8, 1))).unwrap();
        assert!(!read().is_later_than(Some((7, 2))));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn damaged_file_is_refused_and_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("store-timeline");
        for text in ["", "7", "7 x", "x 1", "7 1 1", "99999999999999999999 1"] {
            fs::write(&file, text).unwrap();
            let error = NewestServer::read(Some(file.clone())).unwrap_err();
            assert_eq!(error.kind, LogErrorKind::Unsafe);
            assert!(error.message.contains("store-timeline"), "{error}");
            assert!(error.message.contains("remove"), "{error}");
        }
    }
}
