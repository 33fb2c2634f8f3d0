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
use crate::model::{Places, Received, Stream};
use crate::store::codec::{Decoder, Encoder, damaged};
use crate::timestamp::Timestamp;

use super::rows::{HistoryOrder, Rows};
use head::Part;
use reader::Table;
use writer::{Source, TableWriter};

/// Tells a chunk from a block of rows.
const VERSION: u8 = 2;

/// How many of the `rows` in `order` one chunk takes at most: at least one, if there is one.
pub(super) fn fitting(rows: &Rows, order: &[u32]) -> usize {
    let mut items = 0_usize;
    let fit = order.iter().take(CHUNK_RECORDS_MAX).take_while(|row| {
        items += rows.items(**row as usize);
        items <= CHUNK_ITEMS_MAX
    });
    fit.count().max(order.len().min(1))
}

/// Writes chunks, one after the other in the same memory.
#[derive(Debug, Default)]
pub(super) struct ChunkWriter {
    table: TableWriter,
    filed: Vec<i64>,
    received: Vec<i64>,
}

impl ChunkWriter {
    /// Appends a chunk of the `rows` in `order`, all of one stream, ordered by filed time and no more than [`fitting`]
    /// allows.
    pub(super) fn write(&mut self, out: &mut Encoder, rows: &Rows, order: &[u32]) {
        out.u8(VERSION);
        out.count(order.len());
        let Some(first) = order.first() else {
            return;
        };
        let stream = rows.stream(*first as usize);
        out.u8(stream.number());
        self.filed.clear();
        self.received.clear();
        for row in order {
            let (filed_at, received_at) = rows.order(*row as usize);
            self.filed.push(filed_at.ticks());
            let after = received_at.ticks().wrapping_sub(filed_at.ticks());
            self.received.push(after);
        }
        let cells: Vec<_> = order.iter().map(|row| rows.cells(*row as usize)).collect();
        let source = Source {
            rows,
            specs: stream.fields(),
            cells: &cells,
            filed: &self.filed,
        };
        self.table.write(out, source, Part::Texts);
        self.table.integers(out, &self.filed);
        self.table.integers(out, &self.received);
        self.table.write(out, source, Part::Others);
    }
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

/// Adds the records of a chunk to `rows`.
pub(super) fn decode_into(chunk: &[u8], rows: &mut Rows) -> Result<()> {
    let mut decoder = Decoder::new(chunk);
    let count = head(&mut decoder)?;
    if count == 0 {
        return decoder.end();
    }
    let stream = stream(&mut decoder)?;
    let mut table = Table::new(stream.fields());
    table.read(&mut decoder, count, &[], Part::Texts)?;
    let filed = integers::read(&mut decoder, count)?;
    let received = integers::read(&mut decoder, count)?;
    table.read(&mut decoder, count, &filed, Part::Others)?;
    decoder.end()?;
    let first = rows.len();
    for (filed, received) in filed.into_iter().zip(received) {
        let received_at = Timestamp::from_ticks(filed.wrapping_add(received));
        rows.push_empty(stream, received_at, Timestamp::from_ticks(filed));
    }
    table.store(rows, count, move |rows, row, index, (mark, bits)| {
        rows.set(first + row, index, mark, bits);
    })
}

/// The filed times of the records of a chunk, in ticks.
pub(super) fn filed(chunk: &[u8]) -> Result<Vec<i64>> {
    let mut decoder = Decoder::new(chunk);
    let count = head(&mut decoder)?;
    if count == 0 {
        return Ok(Vec::new());
    }
    let stream = stream(&mut decoder)?;
    texts::skip_columns(&mut decoder, stream.fields(), count)?;
    integers::read(&mut decoder, count)
}

/// The filed time and the time of receipt of each record of a chunk, in order; what stands after them is not read.
pub(super) fn orders(chunk: &[u8]) -> Result<Vec<HistoryOrder>> {
    let mut decoder = Decoder::new(chunk);
    let count = head(&mut decoder)?;
    if count == 0 {
        return Ok(Vec::new());
    }
    let stream = stream(&mut decoder)?;
    Table::new(stream.fields()).read(&mut decoder, count, &[], Part::Texts)?;
    let filed = integers::read(&mut decoder, count)?;
    let received = integers::read(&mut decoder, count)?;
    let orders = filed.into_iter().zip(received).map(|(filed, received)| {
        let received_at = Timestamp::from_ticks(filed.wrapping_add(received));
        (Timestamp::from_ticks(filed), received_at)
    });
    Ok(orders.collect())
}

/// The times that the records of a chunk carry, `None` for those that carry none; what stands after them is not read.
pub(super) fn sent_times(chunk: &[u8]) -> Result<Vec<Option<Timestamp>>> {
    let mut decoder = Decoder::new(chunk);
    let count = head(&mut decoder)?;
    if count == 0 {
        return Ok(Vec::new());
    }
    let stream = stream(&mut decoder)?;
    let mut table = Table::new(stream.fields());
    table.read(&mut decoder, count, &[], Part::Texts)?;
    let filed = integers::read(&mut decoder, count)?;
    integers::read(&mut decoder, count)?;
    let time = Places::of_stream(stream).time;
    table.read_to(&mut decoder, count, &filed, Part::Others, time)?;
    table.times(time, count)
}

/// The names of instances and of users in a chunk, each once; what stands after the texts is not read.
pub(super) fn names(chunk: &[u8]) -> Result<[Vec<&str>; 2]> {
    let mut decoder = Decoder::new(chunk);
    let count = head(&mut decoder)?;
    if count == 0 {
        return Ok([Vec::new(), Vec::new()]);
    }
    let stream = stream(&mut decoder)?;
    let mut table = Table::new(stream.fields());
    table.read(&mut decoder, count, &[], Part::Texts)?;
    let places = Places::of_stream(stream);
    Ok([places.instance, places.username].map(|field| table.texts(field).to_vec()))
}

#[cfg(test)]
mod tests;
