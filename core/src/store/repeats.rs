//! The audit rows of one minute that count repeated calls, for each API key. They are values of `meta`. Key: `repeats/`, then
//! the name of the API key (name in a key), empty for the host. Value: the minute, then each row: digest, number, count.

use sha2::{Digest, Sha256};

use crate::error::Result;
use crate::model::AuditEntry;
use crate::timestamp::{TICKS_PER_SECOND, Timestamp};

use super::audit;
use super::codec::{Decoder, Encoder};
use super::table::{Read, Table, Tables};
use super::telemetry::key_name;

/// The rows of one API key in one minute.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Repeats {
    key: Vec<u8>,
    minute: i64,
    pub(crate) rows: Vec<RepeatedRow>,
}

/// A row that stands for `count` calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RepeatedRow {
    digest: [u8; 32],
    pub(crate) id: u64,
    pub(crate) count: u64,
}

impl Repeats {
    /// Those of the minute of `now`.
    pub(crate) fn of(read: &impl Read, key_used: Option<&str>, now: Timestamp) -> Result<Self> {
        let key = [b"repeats/".as_slice(), &key_name(key_used.unwrap_or(""))].concat();
        let minute = now.ticks().div_euclid(60 * TICKS_PER_SECOND);
        let rows = read.get(Table::Meta, &key, |value| decode(value, minute))?;
        let rows = rows.unwrap_or_default();
        Ok(Self { key, minute, rows })
    }

    /// The row that counts calls whose row would be `entry`.
    pub(crate) fn equal(&mut self, entry: &AuditEntry) -> Option<&mut RepeatedRow> {
        let digest = digest(entry);
        self.rows.iter_mut().find(|row| row.digest == digest)
    }

    /// Adds a row that was written. Where retention has removed an equal one already, it takes its place.
    pub(crate) fn add(&mut self, entry: &AuditEntry) {
        let digest = digest(entry);
        self.rows.retain(|row| row.digest != digest);
        self.rows.push(RepeatedRow {
            digest,
            id: entry.id,
            count: 1,
        });
    }

    /// Stores them.
    pub(crate) fn put(&self, tables: &Tables<'_>) -> Result<()> {
        let mut encoder = Encoder::default();
        encoder.signed(self.minute);
        for row in &self.rows {
            encoder.raw(&row.digest);
            encoder.varint(row.id);
            encoder.varint(row.count);
        }
        tables.put(Table::Meta, &self.key, &encoder.finish())
    }
}

/// The rows in `value`, if they are of that minute.
fn decode(value: &[u8], minute: i64) -> Result<Vec<RepeatedRow>> {
    let mut decoder = Decoder::new(value);
    let mut rows = Vec::new();
    if decoder.signed()? != minute {
        return Ok(rows);
    }
    while !decoder.is_empty() {
        rows.push(RepeatedRow {
            digest: decoder.array()?,
            id: decoder.varint()?,
            count: decoder.varint()?,
        });
    }
    Ok(rows)
}

/// The same for two rows that differ in nothing but number and times.
fn digest(entry: &AuditEntry) -> [u8; 32] {
    let timeless = AuditEntry {
        time: Timestamp::UNIX_EPOCH,
        completed_time: None,
        ..entry.clone()
    };
    Sha256::digest(audit::encode(&timeless)).into()
}
