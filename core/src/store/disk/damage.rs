//! Unreadable blocks of the queue: they are kept for a person, and the queue goes on without them.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};

use crate::error::{EngineError, ErrorKind, Result};
use crate::locks::{lock, read};
use crate::timestamp::Timestamp;

use crate::store::Store;
use crate::store::disk::file::{for_owner, sync_folder_of};
use crate::store::failure::unavailable;
use crate::store::telemetry::segments::Available;

/// The suffix of the file, after the name of the store.
const SUFFIX: &str = "-damaged";

/// Bytes by which two lines of one block may differ, in its place and what was known of it.
const LINE_BYTES_MORE: u64 = 64 * 1024;

/// A block that cannot be read.
#[derive(Debug, Clone)]
pub(crate) struct Damaged {
    pub(crate) number: u64,
    pub(crate) is_in_table: bool,
    /// Its place.
    pub(crate) place: String,
    /// The records in it; 0 where that is unknown.
    pub(crate) records: u64,
    /// When the first of them was received.
    pub(crate) received_at: Option<Timestamp>,
    /// Its bytes at the last read.
    pub(crate) bytes: Vec<u8>,
}

impl Damaged {
    /// A line of JSON.
    fn line(&self) -> String {
        let (number, records, place) = (self.number, self.records, &self.place);
        let received_at = self
            .received_at
            .map_or_else(|| "null".to_owned(), |time| format!("\"{time}\""));
        let mut line = format!(
            "{{\"block\":{number},\"place\":\"{place}\",\"records\":{records},\"receivedAt\":{received_at},\
             \"reason\":\"the bytes are not those that were written\",\"bytes\":\""
        );
        self.push_bytes(&mut line);
        line
    }

    /// The end of the line.
    fn push_bytes(&self, line: &mut String) {
        for byte in &self.bytes {
            // Writing into a string does not fail.
            let _ = write!(line, "{byte:02x}");
        }
        line.push_str("\"}\n");
    }

    /// The begin and the end of its line, which do not depend on what was known of it.
    fn ends(&self) -> (String, String) {
        let mut end = "\"bytes\":\"".to_owned();
        self.push_bytes(&mut end);
        (format!("{{\"block\":{},", self.number), end)
    }
}

/// The file beside the store to which damaged blocks are appended, a line of JSON each. While the file exists, the store reports
/// damage.
#[derive(Debug)]
pub(in crate::store) struct DamageFile {
    /// Not on WebAssembly.
    _available: Available,
    path: PathBuf,
}

impl DamageFile {
    /// The file beside the existing store at `path`.
    pub(in crate::store) fn beside(available: Available, path: &Path) -> io::Result<Self> {
        let mut path = fs::canonicalize(path)?.into_os_string();
        path.push(SUFFIX);
        Ok(Self {
            _available: available,
            path: PathBuf::from(path),
        })
    }

    /// The error while the file exists.
    pub(in crate::store) fn problem(&self) -> Option<String> {
        let bytes = fs::symlink_metadata(&self.path).ok()?.len();
        let path = self.path.display();
        Some(format!(
            "telemetry could not be read and was set aside in {path} ({bytes} bytes): its lines say how many records each block had, the \
             rest is kept. Look into that file, and move it away to acknowledge the loss"
        ))
    }

    /// Appends the blocks that it lacks; durable when this returns.
    fn append(&self, damaged: &[Damaged]) -> io::Result<()> {
        let opened = for_owner()
            .read(true)
            .append(true)
            .create(true)
            .open(&self.path);
        let mut file = opened?;
        let mut lines: Vec<_> = damaged.iter().map(|it| (it.line(), it.ends())).collect();
        let longest = lines.iter().map(|(line, _)| line.len()).max();
        // A longer line is not of these blocks; another program may have written it.
        let longest = longest.unwrap_or_default() as u64 + LINE_BYTES_MORE;
        // A crash may have come before the block was removed from the queue, or in the middle of a line.
        let (mut reader, mut held, mut length) = (BufReader::new(&file), Vec::new(), 0);
        let mut is_cut = false;
        loop {
            held.clear();
            let read = reader.by_ref().take(longest).read_until(b'\n', &mut held)?;
            if read == 0 {
                break;
            }
            length += read as u64;
            is_cut = !held.ends_with(b"\n");
            let is_held = |(first, last): &(String, String)| {
                held.starts_with(first.as_bytes()) && held.ends_with(last.as_bytes())
            };
            lines.retain(|(_, ends)| !is_held(ends));
        }
        let mut lines: String = lines.into_iter().map(|(line, _)| line).collect();
        if is_cut {
            lines.insert(0, '\n');
        }
        let appended = append_whole(&mut file, lines.as_bytes());
        if appended.is_err() {
            // The caller gets the error that stopped the writing.
            let _ = file.set_len(length);
        }
        appended?;
        sync_folder_of(&self.path)
    }
}

fn append_whole(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    file.write_all(bytes)?;
    file.sync_all()
}

impl Store {
    /// Keeps damaged blocks in the file beside the store, durable when this returns. Returns false for a store without such a
    /// file, which keeps them in the table, in the transaction that removes them from the queue.
    pub(crate) fn set_aside(&self, damaged: &[Damaged]) -> Result<bool> {
        if damaged.is_empty() {
            return Ok(true);
        }
        if self.is_read_only() {
            let message = "a block of the queue is damaged, and the store was opened for reading only: open it to write, as the server does, \
                        to have the block set aside";
            return Err(EngineError::new(ErrorKind::StorageUnavailable, message));
        }
        let Some(file) = &self.damage_file else {
            return Ok(false);
        };
        let appended = file.append(damaged).map_err(|error| {
            unavailable(error).about(format!(
                "{}: damaged telemetry cannot be set aside",
                file.path.display()
            ))
        });
        appended.map(|()| true)
    }

    /// The known damage, until a person acknowledges it.
    pub(crate) fn damage(&self) -> Result<()> {
        let met = || lock(&self.damage_met).clone();
        let problem = self
            .damage_file
            .as_ref()
            .and_then(DamageFile::problem)
            .or_else(|| read(&self.queue).damage());
        let problem = problem.map(|message| EngineError::new(ErrorKind::Corrupted, message));
        problem.or_else(met).map_or(Ok(()), Err)
    }

    /// Records an error of damage to the file itself, which counts as damaged until it is opened again.
    pub(crate) fn note_damage(&self, error: &EngineError) {
        if error.kind() == ErrorKind::Corrupted {
            *lock(&self.damage_met) = Some(error.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::store::StoreOptions;

    #[test]
    fn damage_of_the_file_is_reported_until_it_is_opened_again() {
        let path = std::env::temp_dir().join(format!("deskfleet-met-{}", std::process::id()));
        let options = StoreOptions::from_config(&Config::default(), Timestamp::UNIX_EPOCH);
        let store = Store::open_path(&path, options).unwrap();
        let aside = store.damage_file.as_ref().unwrap().path.clone();
        fs::write(&aside, "").unwrap();
        assert!(store.damage().is_err());
        fs::remove_file(&aside).unwrap();
        store.damage().unwrap();
        let met = EngineError::new(ErrorKind::Corrupted, "a page");
        store.note_damage(&met);
        assert_eq!(store.damage().unwrap_err().context(), "a page");
        fs::write(&aside, "").unwrap();
        fs::remove_file(&aside).unwrap();
        assert_eq!(store.damage().unwrap_err().context(), "a page");
        drop(store);
        Store::open_path(&path, options).unwrap().damage().unwrap();
        fs::remove_file(&path).unwrap();
    }

    #[test]
    fn block_is_kept_once_whatever_else_is_in_the_file() {
        let path = std::env::temp_dir().join(format!("deskfleet-aside-{}", std::process::id()));
        fs::write(&path, "").unwrap();
        let file = DamageFile::beside(Available::HERE.unwrap(), &path).unwrap();
        let damaged = |number, place: &str| Damaged {
            number,
            is_in_table: false,
            place: place.to_owned(),
            records: number,
            received_at: None,
            bytes: vec![1, 2, 0xff],
        };
        file.append(&[damaged(1, "a")]).unwrap();
        let one = fs::metadata(&file.path).unwrap().len();
        let foreign = vec![0xff; 3 << 20];
        let mut opened = for_owner().append(true).open(&file.path).unwrap();
        opened.write_all(&foreign).unwrap();
        // What is known of the first is another thing after a restart.
        let again = Damaged {
            records: 0,
            ..damaged(1, "another place")
        };
        file.append(&[again.clone(), damaged(2, "a")]).unwrap();
        file.append(&[damaged(2, "b"), again]).unwrap();
        let held = fs::read(&file.path).unwrap();
        // The second has a line of its own behind what ends in none.
        assert_eq!(held.len() as u64, 2 * one + foreign.len() as u64 + 1);
        fs::remove_file(&path).unwrap();
        fs::remove_file(&file.path).unwrap();
    }
}
