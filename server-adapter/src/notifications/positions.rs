//! The last event that each webhook has taken, in a file beside the store.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use deskfleet::locks::lock;
use serde::{Deserialize, Serialize};

#[cfg(feature = "cluster")]
use super::node_conditions::KnownConditions;

/// The positions. One file is written by one server.
#[derive(Debug)]
pub(super) struct Positions {
    /// `None` for a store in memory.
    file: Option<PathBuf>,
    kept: Mutex<Kept>,
}

/// The content of the file.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Kept {
    /// Random letters, which make the numbers of events unique among all servers.
    source: String,
    /// By the key of a webhook.
    positions: BTreeMap<String, u64>,
    /// On a node, what each knows of the conditions of that.
    #[cfg(feature = "cluster")]
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    conditions: BTreeMap<String, KnownConditions>,
}

impl Positions {
    pub(super) fn new(file: Option<PathBuf>) -> Self {
        Self {
            file,
            kept: Mutex::default(),
        }
    }

    /// Reads the file, and keeps the positions of these webhooks alone; those that it lacks begin after the event `newest`. Where the file
    /// cannot be read, all begin where no event is, so that each gets a `resync`.
    ///
    /// # Errors
    ///
    /// When the file could not be read or written; the positions are in memory all the same.
    pub(super) fn begin(&self, keys: BTreeSet<String>, newest: u64) -> io::Result<()> {
        let mut kept = lock(&self.kept);
        let unread = self.file.as_ref().filter(|_| kept.source.is_empty());
        let found = unread.map_or_else(|| Ok(None), |file| read(file));
        let first = if found.is_err() { u64::MAX } else { newest };
        let found = found.map(|found| {
            if let Some(found) = found {
                *kept = found;
            }
        });
        if kept.source.is_empty() {
            let mut random = [0; 8];
            getrandom::fill(&mut random).map_err(io::Error::other)?;
            kept.source = random.map(|byte| format!("{byte:02x}")).concat();
        }
        kept.positions.retain(|key, _| keys.contains(key));
        #[cfg(feature = "cluster")]
        kept.conditions.retain(|key, _| keys.contains(key));
        for key in keys {
            kept.positions.entry(key).or_insert(first);
        }
        let written = self.write(&kept);
        found.and(written)
    }

    pub(super) fn source(&self) -> String {
        lock(&self.kept).source.clone()
    }

    /// The last event that a webhook has taken.
    pub(super) fn position(&self, key: &str) -> Option<u64> {
        lock(&self.kept).positions.get(key).copied()
    }

    /// Sets the position of a webhook, which is durable after [`Self::save`].
    pub(super) fn set(&self, key: &str, position: u64) {
        if let Some(known) = lock(&self.kept).positions.get_mut(key) {
            *known = position;
        }
    }

    /// What a webhook knows of the conditions of this node.
    #[cfg(feature = "cluster")]
    pub(super) fn conditions(&self, key: &str) -> KnownConditions {
        let kept = lock(&self.kept);
        kept.conditions.get(key).cloned().unwrap_or_default()
    }

    /// Sets that, durably after [`Self::save`].
    #[cfg(feature = "cluster")]
    pub(super) fn set_conditions(&self, key: &str, known: KnownConditions) {
        lock(&self.kept).conditions.insert(key.to_owned(), known);
    }

    /// Writes the file.
    ///
    /// # Errors
    ///
    /// When it cannot be written; the one before is kept.
    pub(super) fn save(&self) -> io::Result<()> {
        self.write(&lock(&self.kept))
    }

    fn write(&self, kept: &Kept) -> io::Result<()> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        replace(file, &serde_json::to_vec(kept)?).map_err(|error| {
            let what = format!(
                "cannot write {}, which keeps how far each webhook is: {error}",
                file.display()
            );
            io::Error::new(error.kind(), what)
        })
    }
}

/// The content of the file; `None` where there is none.
fn read(file: &Path) -> io::Result<Option<Kept>> {
    let bytes = match fs::read(file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            let what = format!("cannot read {}: {error}", file.display());
            return Err(io::Error::new(error.kind(), what));
        }
    };
    serde_json::from_slice(&bytes).map(Some).map_err(|error| {
        io::Error::other(format!(
            "{} is damaged ({error}), so it is not known what the webhooks have taken: each gets a resync, and what happens from now on",
            file.display()
        ))
    })
}

/// Replaces a file as a whole, durably.
fn replace(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut part = file.as_os_str().to_owned();
    part.push(".part");
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut written: File = options.open(&part)?;
    written.write_all(bytes)?;
    written.sync_data()?;
    fs::rename(&part, file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(keys: &[&str]) -> BTreeSet<String> {
        keys.iter().map(|key| (*key).to_owned()).collect()
    }

    #[test]
    fn positions_outlive_the_server_and_end_with_their_webhook() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("positions");
        let open = || Positions::new(Some(file.clone()));
        let positions = open();
        positions.begin(keys(&["a", "b"]), 7).unwrap();
        let source = positions.source();
        positions.set("a", 9);
        positions.set("c", 9);
        positions.save().unwrap();
        let positions = open();
        positions.begin(keys(&["a", "c"]), 12).unwrap();
        assert_eq!(positions.source(), source);
        let found = ["a", "b", "c"].map(|key| positions.position(key));
        assert_eq!(found, [Some(9), None, Some(12)]);
        fs::write(&file, "{").unwrap();
        let positions = open();
        let error = positions.begin(keys(&["a"]), 12).unwrap_err().to_string();
        assert!(error.contains("is damaged"), "{error}");
        assert_eq!(positions.position("a"), Some(u64::MAX));
        let positions = open();
        positions.begin(keys(&["a", "b"]), 12).unwrap();
        assert_eq!(positions.position("b"), Some(12), "it was written anew");
    }
}
