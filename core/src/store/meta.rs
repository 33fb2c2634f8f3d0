//! The table `meta`: the format version, sequences, and the state of filing, sealing and retention.

use crate::error::Result;
use crate::timestamp::Timestamp;

use super::codec::{Decoder, damaged};
use super::table::{Read, Table, Tables};
use crate::store::journal::LogPosition;
use crate::store::telemetry::segments::{Available, LogMark};

/// The format that is written; `core/docs/format.md` describes it, and how a next one is added.
pub(crate) const FORMAT: u32 = 7;
/// The oldest format that is read, and converted when the file is opened for writing.
pub(super) const OLDEST_FORMAT: u32 = 5;

/// The Unicode of the compiler: names with letters that another does not know may be folded otherwise by it. Then the version of the
/// indexes that are made of names: from 1 on there is one by ids.
const FOLDING: [u8; 4] = {
    let (major, minor, update) = char::UNICODE_VERSION;
    [major, minor, update, 1]
};

pub(super) const FORMAT_KEY: &[u8] = b"format";
const FOLDING_KEY: &[u8] = b"folding";
const SEALED_KEY: &[u8] = b"sealed";
const SWEPT_KEY: &[u8] = b"swept";
const FILED_KEY: &[u8] = b"filed";
pub(super) const KEPT_KEY: &[u8] = b"kept";
const RECENT_KEY: &[u8] = b"recent";
pub(super) const COPIED_KEY: &[u8] = b"copied";
pub(super) const LOG_KEY: &[u8] = b"log";
pub(super) const LOG_POSITION_KEY: &[u8] = b"log_position";
pub(super) const LOG_SETTINGS_KEY: &[u8] = b"log_settings";

/// A sequence of numbers, each used once.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Sequence {
    /// Audit rows and actions.
    Audit,
    /// API keys.
    Key,
    /// Events.
    Event,
    /// Batches of actions.
    Batch,
}

impl Sequence {
    fn key(self) -> &'static [u8] {
        match self {
            Self::Audit => b"next_audit",
            Self::Key => b"next_key",
            Self::Event => b"next_event",
            Self::Batch => b"next_batch",
        }
    }
}

/// The next number of a sequence; the first is 1.
pub(super) fn peek(read: &impl Read, sequence: Sequence) -> Result<u64> {
    let next = read.get(Table::Meta, sequence.key(), |value| {
        Ok(u64::from_le_bytes(Decoder::new(value).array()?))
    })?;
    Ok(next.unwrap_or(1))
}

/// Takes the next number of a sequence.
pub(crate) fn next(tables: &Tables<'_>, sequence: Sequence) -> Result<u64> {
    let next = peek(tables, sequence)?;
    let following = next.checked_add(1).ok_or_else(damaged)?;
    tables.put(Table::Meta, sequence.key(), &following.to_le_bytes())?;
    Ok(next)
}

/// The key of the last part of history that was sealed.
pub(super) fn sealed(read: &impl Read) -> Result<Option<Vec<u8>>> {
    read.get(Table::Meta, SEALED_KEY, |key| Ok(key.to_vec()))
}

/// Stores the key of the last part of history that was sealed.
pub(super) fn set_sealed(tables: &Tables<'_>, key: &[u8]) -> Result<()> {
    tables.put(Table::Meta, SEALED_KEY, key)
}

/// The time from which on `recent` has all activities that are filed.
pub(super) fn recent_from(read: &impl Read) -> Result<Timestamp> {
    let from = read.get(Table::Meta, RECENT_KEY, |value| {
        let ticks = i64::from_le_bytes(Decoder::new(value).array()?);
        Ok(Timestamp::from_ticks(ticks))
    })?;
    Ok(from.unwrap_or(Timestamp::MIN))
}

/// Stores that time.
pub(super) fn set_recent_from(tables: &Tables<'_>, time: Timestamp) -> Result<()> {
    tables.put(Table::Meta, RECENT_KEY, &time.ticks().to_le_bytes())
}

/// The time of the last sweep.
pub(crate) fn swept(read: &impl Read) -> Result<Option<Timestamp>> {
    read.get(Table::Meta, SWEPT_KEY, |value| {
        let ticks = i64::from_le_bytes(Decoder::new(value).array()?);
        Ok(Timestamp::from_ticks(ticks))
    })
}

/// Stores the time of a sweep.
pub(crate) fn set_swept(tables: &Tables<'_>, time: Timestamp) -> Result<()> {
    tables.put(Table::Meta, SWEPT_KEY, &time.ticks().to_le_bytes())
}

/// When this copy of a store was made; `None` once it was opened for writing, and for a store that is no copy.
pub(crate) fn copied(read: &impl Read) -> Result<Option<Timestamp>> {
    read.get(Table::Meta, COPIED_KEY, |value| {
        let ticks = i64::from_le_bytes(Decoder::new(value).array()?);
        Ok(Timestamp::from_ticks(ticks))
    })
}

/// Clears the mark of a copy.
pub(crate) fn forget_copied(tables: &Tables<'_>) -> Result<()> {
    tables.remove(Table::Meta, COPIED_KEY).map(drop)
}

/// How far the queue is filed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Filed {
    /// The number of the first block that is not wholly filed: those below it are in history.
    pub(crate) below: u64,
    /// The progress of a pass that has begun to file the next blocks.
    pub(crate) pass: Option<PassPlace>,
}

/// The progress of a pass of filing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PassPlace {
    /// The number of the last block it files.
    pub(crate) last_block: u64,
    /// The prefix of the keys of the last filed bucket; buckets below it are filed too.
    pub(crate) bucket: Vec<u8>,
}

/// How far the queue is filed.
pub(crate) fn filed(read: &impl Read) -> Result<Filed> {
    let filed = read.get(Table::Meta, FILED_KEY, |value| {
        let mut decoder = Decoder::new(value);
        let below = u64::from_le_bytes(decoder.array()?);
        if decoder.is_empty() {
            return Ok(Filed { below, pass: None });
        }
        let last_block = u64::from_le_bytes(decoder.array()?);
        let bucket = decoder.remaining().to_vec();
        let pass = Some(PassPlace { last_block, bucket });
        Ok(Filed { below, pass })
    })?;
    Ok(filed.unwrap_or_default())
}

/// Stores how far the queue is filed.
pub(crate) fn set_filed(tables: &Tables<'_>, filed: &Filed) -> Result<()> {
    let mut value = filed.below.to_le_bytes().to_vec();
    if let Some(pass) = &filed.pass {
        value.extend_from_slice(&pass.last_block.to_le_bytes());
        value.extend_from_slice(&pass.bucket);
    }
    tables.put(Table::Meta, FILED_KEY, &value)
}

/// The filed blocks that stay in the table of the queue, to be read in the order of receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kept {
    /// Made when the store began to keep them.
    pub(crate) id: u64,
    /// The number from which on each accepted block is kept.
    pub(crate) from: u64,
    /// The number before which all that was filed since is kept: other code, as in WebAssembly, files and keeps nothing.
    pub(crate) until: u64,
}

/// The filed blocks that are kept; `None` where none are. WebAssembly keeps none.
pub(crate) fn kept(read: &impl Read) -> Result<Option<Kept>> {
    if Available::HERE.is_none() {
        return Ok(None);
    }
    read.get(Table::Meta, KEPT_KEY, |value| {
        let mut decoder = Decoder::new(value);
        let kept = Kept {
            id: u64::from_le_bytes(decoder.array()?),
            from: u64::from_le_bytes(decoder.array()?),
            until: u64::from_le_bytes(decoder.array()?),
        };
        decoder.finish()?;
        Ok(kept)
    })
}

/// Stores which filed blocks are kept.
pub(crate) fn set_kept(tables: &Tables<'_>, kept: Option<Kept>) -> Result<()> {
    let Some(Kept { id, from, until }) = kept else {
        return tables.remove(Table::Meta, KEPT_KEY).map(drop);
    };
    let value = [id, from, until].map(u64::to_le_bytes).concat();
    tables.put(Table::Meta, KEPT_KEY, &value)
}

/// The log of the queue, now or last.
pub(super) fn log_mark(read: &impl Read) -> Result<Option<LogMark>> {
    read.get(Table::Meta, LOG_KEY, |value| {
        let mut decoder = Decoder::new(value);
        let mark = LogMark {
            id: u64::from_le_bytes(decoder.array()?),
            live: decoder.u8()? != 0,
        };
        decoder.finish()?;
        Ok(mark)
    })
}

/// Stores the log of the queue.
pub(super) fn set_log_mark(tables: &Tables<'_>, mark: LogMark) -> Result<()> {
    let mut value = mark.id.to_le_bytes().to_vec();
    value.push(u8::from(mark.live));
    tables.put(Table::Meta, LOG_KEY, &value)
}

/// How much of the log the tables have.
pub(super) fn log_position(read: &impl Read) -> Result<Option<LogPosition>> {
    read.get(Table::Meta, LOG_POSITION_KEY, |value| {
        let mut decoder = Decoder::new(value);
        let position = LogPosition {
            entries: u64::from_le_bytes(decoder.array()?),
            from: u64::from_le_bytes(decoder.array()?),
        };
        decoder.finish()?;
        Ok(position)
    })
}

/// Stores how much of the log the tables have.
pub(super) fn set_log_position(tables: &Tables<'_>, position: LogPosition) -> Result<()> {
    let numbers = [position.entries, position.from];
    let value = numbers.map(u64::to_le_bytes).concat();
    tables.put(Table::Meta, LOG_POSITION_KEY, &value)
}

/// The settings by which entries of the log are applied, as lines.
pub(crate) fn log_settings(read: &impl Read) -> Result<Option<String>> {
    read.get(Table::Meta, LOG_SETTINGS_KEY, |value| {
        Ok(String::from_utf8_lossy(value).into_owned())
    })
}

/// Stores these settings.
pub(crate) fn set_log_settings(tables: &Tables<'_>, lines: &str) -> Result<()> {
    tables.put(Table::Meta, LOG_SETTINGS_KEY, lines.as_bytes())
}

/// Stores this format and this folding of names.
pub(super) fn write_format(tables: &Tables<'_>) -> Result<()> {
    tables.put(Table::Meta, FORMAT_KEY, &FORMAT.to_le_bytes())?;
    tables.put(Table::Meta, FOLDING_KEY, &FOLDING)
}

/// Whether the keys that are made of names are folded as this code folds them.
pub(super) fn is_folded(read: &impl Read) -> Result<bool> {
    let folding = read.get(Table::Meta, FOLDING_KEY, |value| Ok(value == FOLDING))?;
    Ok(folding == Some(true))
}

/// Whether the file is of this format, with names that are folded as this code folds them.
pub(super) fn is_current(read: &impl Read) -> Result<bool> {
    Ok(format(read)? == Some(FORMAT) && is_folded(read)?)
}

/// The format of the file; `None` when the file does not say.
pub(super) fn format(read: &impl Read) -> Result<Option<u32>> {
    read.get(Table::Meta, FORMAT_KEY, |value| {
        Ok(u32::from_le_bytes(Decoder::new(value).array()?))
    })
}
