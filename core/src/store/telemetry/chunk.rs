//! The chunk: how the records of one instance and one day are written in history, column by column. See
//! `core/docs/format.md`.
//!
//! The records of a desktop are much alike, so a column is short where a row is not. What the values of a column have in common
//! is found when it is written, and stored before them; decoding returns every bit.

mod bits;
mod columns;
mod decimals;
mod head;
mod integers;
mod write;

use crate::error::Result;
use crate::limits::{CHUNK_ITEMS_MAX, CHUNK_RECORDS_MAX};
use crate::model::{Places, Stream};
use crate::store::codec::{Decoder, Encoder, damaged};
use crate::timestamp::Timestamp;

use super::rows::{HistoryOrder, Rows};
use columns::Columns;
use write::{ColumnWriter, Source};

/// Differs from the version of a block.
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
    columns: ColumnWriter,
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
        self.columns.write_texts(out, source);
        self.columns.integers(out, &self.filed);
        self.columns.integers(out, &self.received);
        self.columns.write_others(out, source);
    }
}

/// How many records a chunk holds, without reading them.
pub(super) fn count(chunk: &[u8]) -> Result<usize> {
    read_count(&mut Decoder::new(chunk))
}

fn read_count(decoder: &mut Decoder<'_>) -> Result<usize> {
    if decoder.u8()? != VERSION {
        return Err(damaged());
    }
    let count = usize::try_from(decoder.varint()?).map_err(|_| damaged())?;
    if count > CHUNK_RECORDS_MAX {
        return Err(damaged());
    }
    Ok(count)
}

/// A chunk, read as far as it is needed.
struct ChunkDecoder<'a> {
    decoder: Decoder<'a>,
    stream: Stream,
    count: usize,
    columns: Columns<'a>,
}

impl<'a> ChunkDecoder<'a> {
    /// Reads the texts; `None` when the chunk has no records.
    fn begin(chunk: &'a [u8]) -> Result<Option<Self>> {
        let mut decoder = Decoder::new(chunk);
        let count = read_count(&mut decoder)?;
        if count == 0 {
            return decoder.finish().map(|()| None);
        }
        let stream = Stream::numbered(decoder.u8()?).ok_or_else(damaged)?;
        let mut columns = Columns::new(stream.fields(), count);
        columns.read_texts(&mut decoder)?;
        Ok(Some(Self {
            decoder,
            stream,
            count,
            columns,
        }))
    }

    /// Reads the filed times, and how long after them the records were received, in ticks. Follows the texts.
    fn times(&mut self) -> Result<(Vec<i64>, Vec<i64>)> {
        let filed = integers::read(&mut self.decoder, self.count)?;
        let received = integers::read(&mut self.decoder, self.count)?;
        Ok((filed, received))
    }
}

/// The order of each record.
fn orders_of((filed, received): (Vec<i64>, Vec<i64>)) -> impl Iterator<Item = HistoryOrder> {
    filed.into_iter().zip(received).map(|(filed, received)| {
        let received_at = Timestamp::from_ticks(filed.wrapping_add(received));
        (Timestamp::from_ticks(filed), received_at)
    })
}

/// Adds the records of a chunk to `rows`.
pub(super) fn decode_into(chunk: &[u8], rows: &mut Rows) -> Result<()> {
    let Some(mut chunk) = ChunkDecoder::begin(chunk)? else {
        return Ok(());
    };
    let times = chunk.times()?;
    let (decoder, columns) = (&mut chunk.decoder, &mut chunk.columns);
    columns.read_others(decoder, &times.0, usize::MAX)?;
    decoder.finish()?;
    let first = rows.len();
    for (filed_at, received_at) in orders_of(times) {
        rows.push_empty(chunk.stream, received_at, filed_at);
    }
    columns.store(rows, |rows, record, index, (mark, bits)| {
        rows.set(first + record, index, mark, bits);
    })
}

/// The order of each record of a chunk, sorted; what is stored after the times is not read.
pub(super) fn orders(chunk: &[u8]) -> Result<Vec<HistoryOrder>> {
    let Some(mut chunk) = ChunkDecoder::begin(chunk)? else {
        return Ok(Vec::new());
    };
    Ok(orders_of(chunk.times()?).collect())
}

/// The times that the records of a chunk carry, `None` for those that carry none; what is stored after them is not read.
pub(super) fn sent_times(chunk: &[u8]) -> Result<Vec<Option<Timestamp>>> {
    let Some(mut chunk) = ChunkDecoder::begin(chunk)? else {
        return Ok(Vec::new());
    };
    let (filed, _) = chunk.times()?;
    let time = Places::of_stream(chunk.stream).time;
    let columns = &mut chunk.columns;
    columns.read_others(&mut chunk.decoder, &filed, time)?;
    Ok(columns.column(time)?.times(chunk.count))
}

/// The names of instances and of users in a chunk, each once; what is stored after the texts is not read.
pub(super) fn names(chunk: &[u8]) -> Result<[Vec<&str>; 2]> {
    let Some(mut chunk) = ChunkDecoder::begin(chunk)? else {
        return Ok([Vec::new(), Vec::new()]);
    };
    let places = Places::of_stream(chunk.stream);
    let mut names = |field| chunk.columns.take_texts(field);
    Ok([names(places.instance), names(places.username)])
}

#[cfg(test)]
mod tests;
