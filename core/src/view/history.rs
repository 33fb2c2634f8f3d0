//! The history of one instance, pending and filed records alike.
//!
//! A page is made in two steps. The first finds the positions of its records by their times alone; the second reads the content,
//! one part or block at a time, until the page is full. So memory is bounded by the page, a position for each of its records, and
//! a digest for each pending record of the instance.

pub(super) mod places;
mod scan;

use crate::domain::paging::{self, HistoryPosition, List};
use crate::error::Result;
use crate::limits::{HISTORY_PAGE_BYTES, PAGE_ITEMS_DEFAULT};
use crate::model::{Received, Stream, history_order};
use crate::store::telemetry::rows::{Bucket, Rows};
use crate::timestamp::Timestamp;

use super::Reader;

use places::{RecordPlace, each_content, first_places, last_places};

pub(crate) use scan::scan;

/// Which page of which history.
///
/// ```
/// use deskfleet::{Engine, HistoryQuery, Stream};
///
/// let engine = Engine::in_memory()?;
/// let day = "2026-11-20".parse().ok();
/// let page = engine.history(&HistoryQuery { from: day, ..HistoryQuery::new(Stream::Stats, "ws-1") })?;
/// assert!(page.records.is_empty());
/// # Ok::<(), deskfleet::EngineError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryQuery {
    /// The stream.
    pub stream: Stream,
    /// The instance; empty for records that name none.
    pub instance_id: String,
    /// Records whose time in history is this or later. Default no bound.
    pub from: Option<Timestamp>,
    /// Records filed before this time. Default no bound.
    pub to: Option<Timestamp>,
    /// Most records on the page, at least 1; fewer where they are large. Default 50.
    pub limit: u32,
    /// The token of the page before. Default none: the first page.
    pub next_token: Option<String>,
}

/// One page of a history, oldest first.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct HistoryPage {
    /// The records: as many as were asked for, or fewer where these are large; see
    /// [`HISTORY_PAGE_BYTES`](crate::limits::HISTORY_PAGE_BYTES).
    pub records: Vec<Received>,
    /// The token of the next page, if there is one.
    pub next_token: Option<String>,
}

impl HistoryQuery {
    /// The first page of a whole history.
    pub fn new(stream: Stream, instance_id: impl Into<String>) -> Self {
        Self {
            stream,
            instance_id: instance_id.into(),
            from: None,
            to: None,
            limit: PAGE_ITEMS_DEFAULT.unsigned_abs(),
            next_token: None,
        }
    }

    /// The stored parts of a day.
    fn bucket(&self, day: u32) -> Bucket<'_> {
        Bucket {
            stream: self.stream,
            day,
            instance: &self.instance_id,
        }
    }

    /// Whether a record is one of this history.
    fn is_of(&self, rows: &Rows, row: usize) -> bool {
        rows.stream(row) == self.stream && rows.instance_id(row) == self.instance_id
    }
}

/// One page. The reader must have been made for the queue of the instance.
pub(crate) fn page(reader: &Reader, query: &HistoryQuery) -> Result<HistoryPage> {
    let list = List::History(query.stream);
    let position: Option<HistoryPosition> = paging::position(list, query.next_token.as_deref())?;
    let from = (query.from.unwrap_or(Timestamp::MIN), Timestamp::MIN);
    let start = position.map_or(from, |position| from.max(position.order));
    let limit = usize::try_from(query.limit.max(1)).unwrap_or(usize::MAX);
    let shown = position.map_or(0, |position| position.shown);
    let shown = usize::try_from(shown).unwrap_or(usize::MAX);
    // One more record shows whether there is another page.
    let count = limit.saturating_add(shown).saturating_add(1);
    let mut places = first_places(reader, query, RecordPlace::first_of(start), count)?;
    let was_shown =
        |place: &&RecordPlace| position.is_some_and(|position| place.order == position.order);
    let passed = places.iter().take(shown).take_while(was_shown).count();
    places.drain(..passed);
    let more = places.len() > limit;
    places.truncate(limit);
    let records = read(reader, query, &places)?;
    let ends_early = more || records.len() < places.len();
    let next_token = ends_early.then(|| token_after(query.stream, &records, position));
    Ok(HistoryPage {
        records,
        next_token: next_token.flatten(),
    })
}

/// Shows the last records of the range of `query`, at most its `limit`, in no order. The reader must have been made for the queue of the
/// instance.
pub(super) fn each_last(
    reader: &Reader,
    query: &HistoryQuery,
    show: &mut dyn FnMut(Received),
) -> Result<()> {
    let limit = usize::try_from(query.limit).unwrap_or(usize::MAX);
    let places = last_places(reader, query, limit)?;
    each_content(reader, query, &places, &mut |_, rows, row| {
        show(rows.received(row)?);
        Ok(())
    })
}

/// The records at the first positions, as many as a page may hold, and at least one. The content is read a second time only if it
/// does not fit.
fn read(
    reader: &Reader,
    query: &HistoryQuery,
    mut places: &[RecordPlace],
) -> Result<Vec<Received>> {
    loop {
        let mut records: Vec<Option<Received>> = vec![None; places.len()];
        let mut weights = vec![0; places.len()];
        let mut bytes = 0;
        each_content(reader, query, places, &mut |number, rows, row| {
            let weight = rows.weight(row);
            bytes += weight;
            if let Some(place) = weights.get_mut(number) {
                *place = weight;
            }
            if bytes > HISTORY_PAGE_BYTES && places.len() > 1 {
                records.clear();
            }
            if let Some(record) = records.get_mut(number) {
                *record = Some(rows.received(row)?);
            }
            Ok(())
        })?;
        if records.len() == places.len() {
            return Ok(records.into_iter().flatten().collect());
        }
        let mut bytes = 0;
        let fitting = weights.iter().take_while(|weight| {
            bytes += **weight;
            bytes <= HISTORY_PAGE_BYTES
        });
        places = places.get(..fitting.count().max(1)).unwrap_or_default();
    }
}

/// The token after the last of the records of a page that began at `position`.
fn token_after(
    stream: Stream,
    records: &[Received],
    position: Option<HistoryPosition>,
) -> Option<String> {
    let order = history_order(records.last()?);
    let is_same = |record: &&Received| history_order(record) == order;
    let same = records.iter().rev().take_while(is_same).count();
    let before = position.filter(|position| position.order == order);
    let shown = u32::try_from(same).unwrap_or(u32::MAX);
    let position = HistoryPosition {
        order,
        shown: shown.saturating_add(before.map_or(0, |position| position.shown)),
    };
    Some(paging::token(List::History(stream), &position))
}
