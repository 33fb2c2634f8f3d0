//! A file of records. Each line has a checksum before the JSON, so one that a crash has cut off or changed is known.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use flate2::Crc;

use super::{BATCH_BYTES, BATCH_RECORDS, EXTENSION};

/// Bytes before the JSON of a line: eight digits and a blank.
const CHECKSUM_BYTES: usize = 9;

/// A segment that takes records.
#[derive(Debug)]
pub(super) struct Segment {
    path: PathBuf,
    file: File,
    records: usize,
    bytes: u64,
}

impl Segment {
    pub(super) fn create(folder: &Path, number: u32) -> io::Result<Self> {
        let path = folder.join(format!("{}-{number:06}.{EXTENSION}", millis_now()));
        let file = File::options().append(true).create_new(true).open(&path)?;
        // The name must survive a power failure too; some systems open no folders, and need not.
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
        Ok(Self {
            path,
            file,
            records: 0,
            bytes: 0,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn exists(&self) -> bool {
        self.path.exists()
    }

    pub(super) fn is_full(&self) -> bool {
        self.records >= BATCH_RECORDS || self.bytes >= BATCH_BYTES
    }

    /// Writes and syncs a line. What is written of it is taken back on an error.
    pub(super) fn append(mut self, line: &str) -> io::Result<Self> {
        let text = checked(line);
        let written = self
            .file
            .write_all(text.as_bytes())
            .and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            // If that fails too, the checksum says that the line is not whole.
            let _ = self.file.set_len(self.bytes);
            if self.bytes == 0 {
                let _ = fs::remove_file(&self.path);
            }
            return Err(error);
        }
        self.records += 1;
        self.bytes += u64::try_from(text.len()).unwrap_or(0);
        Ok(self)
    }
}

/// Name and bytes of a segment of a process that has no other.
pub(super) fn whole(folder: &Path, lines: &[String]) -> (PathBuf, String) {
    let name = format!("{}-r{}.{EXTENSION}", millis_now(), std::process::id());
    let bytes = lines.iter().map(|line| checked(line)).collect();
    (folder.join(name), bytes)
}

/// The whole lines of a segment, and the number of others.
pub(super) fn read(file: &Path) -> io::Result<(Vec<String>, usize)> {
    let bytes = fs::read(file)?;
    let mut damaged = 0;
    let mut lines = Vec::new();
    for line in bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
    {
        match unchecked(line) {
            Some(line) => lines.push(line),
            None => damaged += 1,
        }
    }
    Ok((lines, damaged))
}

/// The number of whole lines.
pub(super) fn count(file: &Path) -> usize {
    read(file).map_or(0, |(lines, _)| lines.len())
}

fn checked(line: &str) -> String {
    format!("{:08x} {line}\n", checksum(line.as_bytes()))
}

fn unchecked(line: &[u8]) -> Option<String> {
    let (head, json) = line.split_at_checked(CHECKSUM_BYTES)?;
    let expected = format!("{:08x} ", checksum(json));
    (head == expected.as_bytes())
        .then(|| String::from_utf8(json.to_vec()).ok())
        .flatten()
}

fn checksum(bytes: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.sum()
}

/// Names of segments begin with the time, so they sort by it.
fn millis_now() -> String {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    format!("{:014}", since.unwrap_or_default().as_millis())
}
