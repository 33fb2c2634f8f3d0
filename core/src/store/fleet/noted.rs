//! The conditions that were raised and not cleared. They are one value of `meta`: a count, then of each its code, severity, since when it lasts,
//! text and count of subjects, without the subjects.

use crate::error::Result;
use crate::model::{Condition, Severity};

use crate::store::codec::{Decoder, Encoder};
use crate::store::table::{Read, Table, Tables};

const KEY: &[u8] = b"conditions";

/// All of them, in the order in which they were stored.
pub(crate) fn all(read: &impl Read) -> Result<Vec<Condition>> {
    let all = read.get(Table::Meta, KEY, |value| {
        let mut decoder = Decoder::new(value);
        let mut all = Vec::new();
        for _ in 0..decoder.count()? {
            all.push(Condition {
                code: decoder.text()?.to_owned(),
                severity: decoder.variant(&Severity::ALL)?,
                since: decoder.time()?,
                text: decoder.text()?.to_owned(),
                count: decoder.option(Decoder::varint)?,
                subjects: Vec::new(),
            });
        }
        decoder.finish()?;
        Ok(all)
    })?;
    Ok(all.unwrap_or_default())
}

/// Stores these in place of all others.
pub(crate) fn put(tables: &Tables<'_>, all: &[Condition]) -> Result<()> {
    let mut encoder = Encoder::default();
    encoder.count(all.len());
    for of in all {
        encoder.text(&of.code);
        encoder.variant(&Severity::ALL, &of.severity);
        encoder.time(of.since);
        encoder.text(&of.text);
        encoder.option(of.count, Encoder::varint);
    }
    tables.put(Table::Meta, KEY, &encoder.finish())
}
