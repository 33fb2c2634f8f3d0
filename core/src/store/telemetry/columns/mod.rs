//! The chunk: how the records of one instance and one day are written in history, column by column. See
//! `core/docs/format.md`.
//!
//! A desktop says nearly the same every time, so a column is short where a row is not. What is common to a column is
//! looked for when it is written, and noted in front of it; nothing is assumed, and every bit comes back.

mod bits;
mod decimals;
mod head;
mod integers;
mod reader;
mod texts;
mod writer;

use crate::error::Result;
use crate::limits::{CHUNK_ITEMS_MAX, CHUNK_RECORDS_MAX};
use crate::model::{Received, Record, Stream};
use crate::store::codec::{Decoder, Encoder, damaged};
use crate::timestamp::Timestamp;

use head::Part;
use reader::Table;
use writer::TableWriter;

/// Tells a chunk from a block of rows.
const VERSION: u8 = 2;

/// How many of `records` one chunk takes at most: at least one, if there is one.
pub(super) fn fitting(records: &[Received]) -> usize {
    let mut items = 0_usize;
    let fit = records.iter().take(CHUNK_RECORDS_MAX).take_while(|record| {
        if let Record::Processes(report) = &record.record {
            items += report.processes.as_ref().map_or(0, Vec::len);
        }
        items <= CHUNK_ITEMS_MAX
    });
    fit.count().max(records.len().min(1))
}

/// A chunk of `records`, all of one stream, ordered by filed time and no more than [`fitting`] allows.
pub(super) fn encode(records: &[Received]) -> Vec<u8> {
    let mut out = Encoder::with_capacity(512 + 24 * records.len());
    out.u8(VERSION);
    out.count(records.len());
    let Some(first) = records.first() else {
        return out.finish();
    };
    let stream = first.record.stream();
    out.u8(stream.number());
    let mut table = TableWriter::new(stream.fields(), records.len());
    let mut filed = Vec::with_capacity(records.len());
    let mut received = Vec::with_capacity(records.len());
    for record in records {
        let filed_at = record.filed_at.ticks();
        filed.push(filed_at);
        received.push(record.received_at.ticks().wrapping_sub(filed_at));
        table.push(record.record.fields(), filed_at);
    }
    table.write(&mut out, Part::Texts);
    integers::write(&mut out, &filed);
    integers::write(&mut out, &received);
    table.write(&mut out, Part::Others);
    out.finish()
}

/// How many records a chunk holds, without reading them.
pub(super) fn count(chunk: &[u8]) -> Result<usize> {
    head(&mut Decoder::new(chunk))
}

fn head(decoder: &mut Decoder<'_>) -> Result<usize> {
    if decoder.u8()? != VERSION {
        return Err(damaged());
    }
    let count = usize::try_from(decoder.varint()?).map_err(|_| damaged())?;
    if count > CHUNK_RECORDS_MAX {
        return Err(damaged());
    }
    Ok(count)
}

fn stream(decoder: &mut Decoder<'_>) -> Result<Stream> {
    let number = decoder.u8()?;
    let stream = Stream::ALL
        .into_iter()
        .find(|stream| stream.number() == number);
    stream.ok_or_else(damaged)
}

/// The records of a chunk that were filed from `from` to `to`, both inclusive.
pub(super) fn decode(chunk: &[u8], from: Timestamp, to: Timestamp) -> Result<Vec<Received>> {
    let mut decoder = Decoder::new(chunk);
    let count = head(&mut decoder)?;
    if count == 0 {
        decoder.end()?;
        return Ok(Vec::new());
    }
    let stream = stream(&mut decoder)?;
    let mut table = Table::new(stream.fields());
    table.read(&mut decoder, count, &[], Part::Texts)?;
    let filed = integers::read(&mut decoder, count)?;
    let received = integers::read(&mut decoder, count)?;
    table.read(&mut decoder, count, &filed, Part::Others)?;
    decoder.end()?;
    let begin = filed.partition_point(|filed| *filed < from.ticks());
    table.skip(begin);
    let times = filed.into_iter().zip(received).skip(begin);
    let times = times.take_while(|(filed, _)| *filed <= to.ticks());
    let mut records = Vec::with_capacity(times.size_hint().1.unwrap_or_default());
    for (filed, received) in times {
        let mut record = stream.empty_record();
        table.fill(record.fields_mut())?;
        records.push(Received {
            record,
            received_at: Timestamp::from_ticks(filed.wrapping_add(received)),
            filed_at: Timestamp::from_ticks(filed),
        });
    }
    Ok(records)
}

/// The first record of a chunk with its texts alone; `None` when there is no record.
pub(super) fn first_texts(chunk: &[u8]) -> Result<Option<Record>> {
    let mut decoder = Decoder::new(chunk);
    let count = head(&mut decoder)?;
    if count == 0 {
        return Ok(None);
    }
    let stream = stream(&mut decoder)?;
    let mut table = Table::new(stream.fields());
    table.read(&mut decoder, count, &[], Part::Texts)?;
    let mut record = stream.empty_record();
    table.fill(record.fields_mut())?;
    Ok(Some(record))
}

#[cfg(test)]
mod tests;
