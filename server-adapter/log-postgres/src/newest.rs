//! The newest server of the log that a node has used, in a file: after a restart an older one is still refused.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use deskfleet::cluster::LogError;
use deskfleet::locks::lock;
use deskfleet_log_runtime::{read_file, unusable};

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
        let known = *lock(&self.known);
        known
            .zip(server)
            .is_some_and(|(known, server)| known.0 == server.0 && known.1 > server.1)
    }

    /// Keeps a server that is used from now on. Blocks.
    pub(super) fn keep(&self, server: Option<ServerMark>) -> io::Result<()> {
        let mut known = lock(&self.known);
        if let (Some(file), Some(mark)) = (&self.file, server)
            && *known != server
        {
            write(file, mark)?;
            *known = server;
        }
        Ok(())
    }
}

fn read(file: &Path) -> Result<ServerMark, LogError> {
    let text = read_file(file)?;
    let words = text.trim().split_once(' ');
    let mark =
        words.and_then(|(system, timeline)| Some((system.parse().ok()?, timeline.parse().ok()?)));
    mark.ok_or_else(|| {
        let file = file.display();
        unusable(format!(
            "{file} does not say which server was the newest; remove it once no older one can be reached"
        ))
    })
}

/// The old content or the new is there after a crash.
fn write(file: &Path, (system, timeline): ServerMark) -> io::Result<()> {
    let mut path = file.as_os_str().to_owned();
    path.push(".new");
    fs::write(&path, format!("{system} {timeline}\n"))?;
    File::open(&path)?.sync_all()?;
    fs::rename(&path, file)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
mod tests {
    use deskfleet::cluster::LogErrorKind;

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
