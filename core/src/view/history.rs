//! The history of one instance, queued and filed records alike.

use crate::domain::paging::{self, HistoryPosition};
use crate::error::Result;
use crate::model::{Received, Stream, history_order, without_repetitions};
use crate::store::telemetry::history::{self, Bucket};
use crate::store::telemetry::rows::Rows;
use crate::timestamp::Timestamp;

use super::Reader;
use super::workspaces::bad_token;

/// What of a history is wanted.
#[derive(Debug, Clone)]
pub(crate) struct HistoryQuery {
    /// Which stream.
    pub(crate) stream: Stream,
    /// The instance; empty for records that name none.
    pub(crate) instance_id: String,
    /// First filed time, inclusive.
    pub(crate) from: Option<Timestamp>,
    /// Last filed time, exclusive.
    pub(crate) to: Option<Timestamp>,
    /// Most records to answer.
    pub(crate) limit: u32,
    /// The token of the page before.
    pub(crate) next_token: Option<String>,
}

/// One page of a history, oldest first.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryPage {
    /// The records.
    pub records: Vec<Received>,
    /// The token of the next page, if there is one.
    pub next_token: Option<String>,
}

/// One page. Wants the queue of the instance. Reads a day at a time, so memory is bounded by a day of one instance.
pub(crate) fn page(reader: &Reader, query: &HistoryQuery) -> Result<HistoryPage> {
    let position = match &query.next_token {
        Some(token) => Some(paging::record_of(query.stream, token).ok_or_else(bad_token)?),
        None => None,
    };
    let from = query.from.unwrap_or(Timestamp::MIN);
    let start = position.map_or(from, |position| position.filed_at.max(from));
    let last_day = query.to.unwrap_or(Timestamp::MAX).day();
    let queued = wanted_queued(reader, query)?;
    let limit = usize::try_from(query.limit).unwrap_or(usize::MAX);
    let mut page = Page {
        position,
        to_pass: position.map_or(0, |position| position.shown),
        records: Vec::new(),
    };
    let mut day = start.day();
    while let Some(next) = next_day(reader, query.stream, &queued, day, last_day)? {
        for received in records_of_day(reader, query, &queued, next, start)? {
            let within =
                received.filed_at >= from && query.to.is_none_or(|to| received.filed_at < to);
            if within && !page.was_shown(&received) {
                if page.records.len() == limit {
                    return Ok(page.cut(query.stream));
                }
                page.records.push(received);
            }
        }
        if next == last_day {
            break;
        }
        day = next + 1;
    }
    Ok(HistoryPage {
        records: page.records,
        next_token: None,
    })
}

fn wanted_queued(reader: &Reader, query: &HistoryQuery) -> Result<Vec<Received>> {
    let mut rows = Rows::default();
    reader.add_queued(&mut rows, |rows, row| {
        rows.stream(row) == query.stream && rows.instance_id(row) == query.instance_id
    })?;
    (0..rows.len()).map(|row| rows.received(row)).collect()
}

/// The first day from `day` to `last` that may hold something.
fn next_day(
    reader: &Reader,
    stream: Stream,
    queued: &[Received],
    day: u32,
    last: u32,
) -> Result<Option<u32>> {
    let filed = history::next_day(&reader.snapshot, stream, day, last)?;
    let queued = queued
        .iter()
        .map(|received| received.filed_at.day())
        .filter(|queued| (day..=last).contains(queued))
        .min();
    Ok(filed.into_iter().chain(queued).min())
}

fn records_of_day(
    reader: &Reader,
    query: &HistoryQuery,
    queued: &[Received],
    day: u32,
    start: Timestamp,
) -> Result<Vec<Received>> {
    let bucket = Bucket {
        stream: query.stream,
        day,
        instance: query.instance_id.clone(),
    };
    let waiting = queued
        .iter()
        .filter(|received| received.filed_at.day() == day);
    let waiting: Vec<_> = waiting.cloned().collect();
    if waiting.is_empty() {
        let end = query.to.unwrap_or(Timestamp::MAX);
        return history::bucket(&reader.snapshot, &bucket, start, end);
    }
    // What waits may repeat a record that is filed outside of what is wanted.
    let mut records = history::bucket(&reader.snapshot, &bucket, Timestamp::MIN, Timestamp::MAX)?;
    let fresh = without_repetitions(&records, waiting);
    records.extend(fresh);
    records.sort_by_key(history_order);
    Ok(records)
}

struct Page {
    /// Where the page before ended.
    position: Option<HistoryPosition>,
    /// Records of just that moment that the pages before have shown and that have not passed by yet.
    to_pass: u32,
    records: Vec<Received>,
}

impl Page {
    /// Whether a page before showed the record.
    fn was_shown(&mut self, received: &Received) -> bool {
        let Some(position) = self.position else {
            return false;
        };
        let order = history_order(received);
        let ended = (position.filed_at, position.received_at);
        if order == ended && self.to_pass > 0 {
            self.to_pass -= 1;
            return true;
        }
        order < ended
    }

    /// The page as it stands, with a token behind its last record.
    fn cut(self, stream: Stream) -> HistoryPage {
        let next_token = self.records.last().map(|last| {
            let order = history_order(last);
            let same = self
                .records
                .iter()
                .rev()
                .take_while(|record| history_order(record) == order);
            let before = self
                .position
                .filter(|position| (position.filed_at, position.received_at) == order);
            let shown = u32::try_from(same.count()).unwrap_or(u32::MAX);
            let position = HistoryPosition {
                filed_at: last.filed_at,
                received_at: last.received_at,
                shown: shown.saturating_add(before.map_or(0, |position| position.shown)),
            };
            paging::after_record(stream, position)
        });
        HistoryPage {
            records: self.records,
            next_token,
        }
    }
}
