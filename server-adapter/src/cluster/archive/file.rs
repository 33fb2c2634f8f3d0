//! A file of an archive, byte by byte as `core/docs/log.md` describes it.

use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use deskfleet::Timestamp;
use deskfleet::cluster::{Chain, EntryId, LogEntry};
use sha2::{Digest as _, Sha256};

/// What a file begins with, whose last byte is the version.
const MAGIC: [u8; 8] = *b"dfarchv\x01";
const HEADER_BYTES: usize = 56;
/// The bytes of an entry before its body.
const ENTRY_BYTES: usize = 60;
/// The longest body; no log takes a longer one.
const BODY_BYTES_MAX: u64 = 64 << 20;
const CHECK_BYTES: usize = 8;

/// What is wrong with an archive, for the operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchiveError {
    message: String,
    /// Whether another process writes it.
    pub(super) is_locked: bool,
    /// The file that is damaged, and from which byte on.
    damaged: Option<(PathBuf, u64)>,
}

impl ArchiveError {
    pub(super) fn new(message: String) -> Self {
        Self {
            message,
            is_locked: false,
            damaged: None,
        }
    }

    /// The same for the process that writes the archive, which can go on before the damage.
    pub(super) fn for_writer(mut self) -> Self {
        if let Some((path, offset)) = &self.damaged {
            let advice = format!(
                ". Or keep a copy of it and run `truncate -s {offset} {}`: the node goes on after the last whole entry, if the log still has the next one",
                path.display()
            );
            self.message.push_str(&advice);
        }
        self
    }

    /// Another process writes the archive in `folder`.
    pub(super) fn locked(folder: &Path) -> Self {
        let folder = folder.display();
        Self {
            message: format!(
                "another process archives into {folder}: give each node a folder of its own"
            ),
            is_locked: true,
            damaged: None,
        }
    }

    /// The failure to do that with a path.
    pub(super) fn of_path(what: &str, path: &Path, error: &io::Error) -> Self {
        Self::new(format!("cannot {what} {}: {error}", path.display()))
    }
}

impl fmt::Display for ArchiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ArchiveError {}

/// The first bytes of a SHA-256, which show that the bytes before them were written as they are.
fn check(bytes: &[u8]) -> [u8; CHECK_BYTES] {
    let mut check = [0; CHECK_BYTES];
    let hash = Sha256::digest(bytes);
    check.iter_mut().zip(hash).for_each(|(to, from)| *to = from);
    check
}

/// Takes fixed fields from the left.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const BYTES: usize>(&mut self) -> Option<[u8; BYTES]> {
        let (field, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*field)
    }
}

/// The fields before a check, if it is theirs.
fn checked(bytes: &[u8]) -> Option<Fields<'_>> {
    let (fields, found) = bytes.split_last_chunk()?;
    (check(fields) == *found).then_some(Fields(fields))
}

/// What a file says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    /// The fleet whose log it is.
    pub(super) fleet: EntryId,
    /// The position of its first entry.
    pub(super) first: u64,
    /// The chain before that.
    pub(super) before: Chain,
}

impl Header {
    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        let fields = [
            &MAGIC[..],
            &self.fleet.0,
            &self.first.to_le_bytes(),
            &self.before,
        ]
        .concat();
        bytes.extend_from_slice(&fields);
        bytes.extend_from_slice(&check(&fields));
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut fields = checked(bytes)?;
        let magic: [u8; 8] = fields.take()?;
        let header = Self {
            fleet: EntryId(fields.take()?),
            first: u64::from_le_bytes(fields.take()?),
            before: fields.take()?,
        };
        (magic == MAGIC).then_some(header)
    }
}

/// Adds an entry, which has its chain.
pub(super) fn write_entry(bytes: &mut Vec<u8>, entry: &LogEntry) {
    let fields = [
        &entry.position.to_le_bytes()[..],
        &entry.at.ticks().to_le_bytes(),
        &entry.id.0,
        &entry.chain.unwrap_or_default(),
        &u32::try_from(entry.body.len())
            .unwrap_or(u32::MAX)
            .to_le_bytes(),
    ]
    .concat();
    bytes.extend_from_slice(&fields);
    bytes.extend_from_slice(&check(&fields));
    bytes.extend_from_slice(&entry.body);
}

/// The entry without its body, and the length of that.
fn parse_entry(bytes: &[u8]) -> Option<(LogEntry, u64)> {
    let mut fields = checked(bytes)?;
    let entry = LogEntry {
        position: u64::from_le_bytes(fields.take()?),
        at: Timestamp::from_ticks(i64::from_le_bytes(fields.take()?)),
        id: EntryId(fields.take()?),
        chain: Some(fields.take()?),
        body: Vec::new(),
    };
    let length = u64::from(u32::from_le_bytes(fields.take()?));
    (length <= BODY_BYTES_MAX).then_some((entry, length))
}

/// Reads the entries of a file, in their order, and verifies each.
#[derive(Debug)]
pub(super) struct FileReader {
    path: PathBuf,
    input: BufReader<File>,
    pub(super) header: Header,
    /// The length of the file when it was opened: more may be appended meanwhile.
    bytes: u64,
    /// Where the next entry begins.
    pub(super) offset: u64,
    /// The position of the next entry, and the chain before it.
    pub(super) next: u64,
    pub(super) chain: Chain,
    /// Whether what is left is the beginning of an entry whose write was cut off.
    pub(super) is_torn: bool,
}

impl FileReader {
    /// Opens the file whose name says that it begins with the entry `first`; `None` where its first write was cut off.
    pub(super) fn open(path: &Path, first: u64) -> Result<Option<Self>, ArchiveError> {
        let failed = |error: io::Error| ArchiveError::of_path("read", path, &error);
        let file = File::open(path).map_err(failed)?;
        let bytes = file.metadata().map_err(failed)?.len();
        let mut reader = Self {
            path: path.to_owned(),
            input: BufReader::new(file),
            header: Header {
                fleet: EntryId([0; 16]),
                first,
                before: Chain::default(),
            },
            bytes,
            offset: 0,
            next: first,
            chain: Chain::default(),
            is_torn: false,
        };
        let Some(header) = reader.take::<HEADER_BYTES>()? else {
            return Ok(None);
        };
        match Header::parse(&header).filter(|header| header.first == first) {
            Some(header) => {
                reader.header = header;
                reader.chain = header.before;
                reader.offset = HEADER_BYTES as u64;
                Ok(Some(reader))
            }
            None if reader.is_zero_from_before(HEADER_BYTES as u64)? => Ok(None),
            None => Err(reader.damage("the header is not one of this archive")),
        }
    }

    /// The next entry; `None` at the end of the file, and where it is torn.
    pub(super) fn next(&mut self) -> Result<Option<LogEntry>, ArchiveError> {
        if self.is_torn || self.offset == self.bytes {
            return Ok(None);
        }
        let Some(fields) = self.take::<ENTRY_BYTES>()? else {
            self.is_torn = true;
            return Ok(None);
        };
        let Some((mut entry, length)) = parse_entry(&fields) else {
            let what = "the fields of the entry are not what was written";
            return self.torn_or_damaged(self.offset + ENTRY_BYTES as u64, what);
        };
        let begin = self.offset + ENTRY_BYTES as u64;
        if length > self.bytes - begin {
            self.is_torn = true;
            return Ok(None);
        }
        let read = (&mut self.input).take(length).read_to_end(&mut entry.body);
        let read = read.map_err(|error| ArchiveError::of_path("read", &self.path, &error))?;
        let chain = entry.chain_after(&self.chain);
        let what = "the entry does not follow from the one before it";
        if entry.position != self.next {
            return Err(self.damage(what));
        }
        if read as u64 != length || entry.chain != Some(chain) {
            return self.torn_or_damaged(begin + length, what);
        }
        self.offset = begin + length;
        self.next = self.next.saturating_add(1);
        self.chain = chain;
        Ok(Some(entry))
    }

    /// The fixed bytes that come next, or `None` where the file ends within them.
    fn take<const BYTES: usize>(&mut self) -> Result<Option<[u8; BYTES]>, ArchiveError> {
        if self.bytes - self.offset < BYTES as u64 {
            return Ok(None);
        }
        let mut bytes = [0; BYTES];
        let read = self.input.read_exact(&mut bytes);
        read.map_err(|error| ArchiveError::of_path("read", &self.path, &error))?;
        Ok(Some(bytes))
    }

    /// What an entry is that ends at `end` and is not as it was written: the end of the file where its write was cut off, and damage otherwise.
    fn torn_or_damaged(&mut self, end: u64, what: &str) -> Result<Option<LogEntry>, ArchiveError> {
        self.is_torn = self.is_zero_from_before(end)?;
        if self.is_torn {
            return Ok(None);
        }
        Err(self.damage(what))
    }

    /// Whether the file is zeros from a byte before `end` on: some file systems leave those where a write was cut off. Nothing is read after this.
    fn is_zero_from_before(&mut self, end: u64) -> Result<bool, ArchiveError> {
        let failed = |error: io::Error| ArchiveError::of_path("read", &self.path, &error);
        let begin = self.input.seek(SeekFrom::Start(self.offset));
        let mut at = begin.map_err(failed)?;
        let mut rest = (&mut self.input).take(self.bytes - self.offset);
        let (mut zeros_from, mut buffer) = (at, [0; 4096]);
        loop {
            let read = rest.read(&mut buffer).map_err(failed)?;
            if read == 0 {
                return Ok(zeros_from < end);
            }
            let last = buffer.iter().take(read).rposition(|byte| *byte != 0);
            if let Some(last) = last {
                zeros_from = at + last as u64 + 1;
            }
            at += read as u64;
        }
    }

    /// The error of an entry or a header that is not as it was written.
    pub(super) fn damage(&self, what: &str) -> ArchiveError {
        let (path, offset) = (self.path.display(), self.offset);
        let message = format!(
            "{path} is damaged at byte {offset}, before entry {}: {what}. Take the file from another copy of the archive",
            self.next
        );
        ArchiveError {
            damaged: Some((self.path.clone(), offset)),
            ..ArchiveError::new(message)
        }
    }
}
