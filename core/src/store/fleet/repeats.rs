//! The audit rows of one minute that count calls. They are values of `meta`. Key: `counted/`, the minute, 8 bytes big-endian, then the
//! digest of what is counted. Value: the number of the row, how many calls it counts.

use std::ops::Bound;

use sha2::{Digest, Sha256};

use crate::error::Result;
use crate::model::AuditEntry;
use crate::timestamp::{TICKS_PER_SECOND, Timestamp};

use crate::store::codec::{Decoder, Encoder};
use crate::store::fleet::audit;
use crate::store::table::{Read, Step, Table, Tables};

const PREFIX: &[u8] = b"counted/";

/// A count within one minute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Counted {
    key: Vec<u8>,
    /// The number of the row; 0 where rows are counted.
    pub(crate) row: u64,
    pub(crate) count: u64,
}

impl Counted {
    /// The calls in the minute of `now` whose row would be `entry`.
    pub(crate) fn calls(read: &impl Read, entry: &AuditEntry, now: Timestamp) -> Result<Self> {
        // A digest that is equal for rows that differ only in number and times.
        let timeless = AuditEntry {
            time: Timestamp::UNIX_EPOCH,
            completed_time: None,
            ..entry.clone()
        };
        Self::from_counted(read, &audit::encode(&timeless), now)
    }

    /// The rows in the minute of `now` of an API key, about that workspace or else about none that exists.
    pub(crate) fn rows(
        read: &impl Read,
        (key_used, workspace): (Option<&str>, Option<&str>),
        now: Timestamp,
    ) -> Result<Self> {
        let mut counted = Encoder::default();
        counted.option_text(key_used);
        counted.option_text(workspace);
        Self::from_counted(read, &counted.finish(), now)
    }

    /// The count is 0 without such rows.
    fn from_counted(read: &impl Read, counted: &[u8], now: Timestamp) -> Result<Self> {
        let digest: [u8; 32] = Sha256::digest(counted).into();
        let key = [minute(now).as_slice(), &digest].concat();
        let known = read.get(Table::Meta, &key, |value| {
            let mut decoder = Decoder::new(value);
            let known = (decoder.varint()?, decoder.varint()?);
            decoder.finish()?;
            Ok(known)
        })?;
        let (row, count) = known.unwrap_or_default();
        Ok(Self { key, row, count })
    }

    /// Stores the count, and removes those of all other minutes, later ones too, so that a clock that was set back counts from
    /// zero.
    pub(crate) fn put(&self, tables: &Tables<'_>, now: Timestamp) -> Result<()> {
        let mut encoder = Encoder::default();
        encoder.varint(self.row);
        encoder.varint(self.count);
        tables.put(Table::Meta, &self.key, &encoder.finish())?;
        let begin = minute(now);
        // After every digest of this minute, and after every minute.
        let (end, last) = ([begin.as_slice(), &[u8::MAX; 33]].concat(), *b"counted0");
        let mut others = Vec::new();
        for other in [PREFIX..begin.as_slice(), end.as_slice()..&last] {
            let range = (Bound::Included(other.start), Bound::Excluded(other.end));
            tables.scan(Table::Meta, range, |key, _| {
                others.push(key.to_vec());
                Ok(Step::Continue(()))
            })?;
        }
        for key in others {
            tables.remove(Table::Meta, &key)?;
        }
        Ok(())
    }
}

/// The prefix of the keys of a minute, in the order of time.
fn minute(now: Timestamp) -> Vec<u8> {
    let minute = now.ticks().div_euclid(60 * TICKS_PER_SECOND);
    let ordered = minute.cast_unsigned() ^ (1 << 63);
    [PREFIX, &ordered.to_be_bytes()].concat()
}
