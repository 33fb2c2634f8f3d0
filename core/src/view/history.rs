//! The history of one instance, pending and filed records alike.
//!
//! A page is made in two steps. First the places of its records are found by their times alone, then the content is read, one
//! part or block at a time, as far as a page goes. So memory is bounded by the page, a place for each of its records, and a
//! digest for each pending record of the instance.

mod places;

use crate::domain::paging::{self, HistoryPosition};
use crate::error::Result;
use crate::limits::{HISTORY_PAGE_BYTES, PAGE_ITEMS_DEFAULT};
use crate::model::{Received, Stream, history_order};
use crate::store::telemetry::rows::{Bucket, HistoryOrder, Rows};
use crate::timestamp::Timestamp;

use super::Reader;
use super::workspaces::bad_token;

use places::{Place, each_content, first_places};

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
    /// Records filed at this time or later. Default no bound.
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

    /// Where the filed records of a day are.
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
    let position = match &query.next_token {
        Some(token) => Some(paging::record_of(query.stream, token).ok_or_else(bad_token)?),
        None => None,
    };
    let from = (query.from.unwrap_or(Timestamp::MIN), Timestamp::MIN);
    let start = position.map_or(from, |position| {
        from.max((position.filed_at, position.received_at))
    });
    let mut page = PartialPage {
        position,
        to_pass: position.map_or(0, |position| position.shown),
        records: Vec::new(),
    };
    let limit = usize::try_from(query.limit.max(1)).unwrap_or(usize::MAX);
    let to_pass = usize::try_from(page.to_pass).unwrap_or(usize::MAX);
    // One more says whether there is another page.
    let count = limit.saturating_add(to_pass).saturating_add(1);
    let mut places = first_places(reader, query, Place::first_of(start), count)?;
    places.retain(|place| !page.was_shown(place.order));
    let more = places.len() > limit;
    places.truncate(limit);
    page.records = read(reader, query, &places)?;
    Ok(if more || page.records.len() < places.len() {
        page.cut(query.stream)
    } else {
        HistoryPage {
            records: page.records,
            next_token: None,
        }
    })
}

/// The records at the first of the places, as many as a page may hold.
fn read(reader: &Reader, query: &HistoryQuery, places: &[Place]) -> Result<Vec<Received>> {
    let mut weights = vec![0; places.len()];
    let whole = read_within(reader, query, places, Some(&mut weights))?;
    if let Some(records) = whole {
        return Ok(records);
    }
    let mut bytes = 0;
    let fitting = weights.iter().take_while(|weight| {
        let fits = bytes == 0 || bytes + **weight <= HISTORY_PAGE_BYTES;
        bytes += **weight;
        fits
    });
    let places = places.get(..fitting.count()).unwrap_or(places);
    Ok(read_within(reader, query, places, None)?.unwrap_or_default())
}

/// The records at all places. With `weights` these are noted, and when they are too much for a page the records are not kept:
/// `None`.
fn read_within(
    reader: &Reader,
    query: &HistoryQuery,
    places: &[Place],
    mut weights: Option<&mut Vec<usize>>,
) -> Result<Option<Vec<Received>>> {
    let mut records: Vec<Option<Received>> = vec![None; places.len()];
    let mut bytes = 0;
    each_content(reader, query, places, |number, rows, row| {
        if let Some(weights) = &mut weights {
            let weight = rows.weight(row);
            bytes += weight;
            if let Some(place) = weights.get_mut(number) {
                *place = weight;
            }
            if bytes > HISTORY_PAGE_BYTES {
                records.clear();
            }
        }
        if let Some(record) = records.get_mut(number) {
            *record = Some(rows.received(row)?);
        }
        Ok(())
    })?;
    let whole = records.len() == places.len();
    Ok(whole.then(|| records.into_iter().flatten().collect()))
}

struct PartialPage {
    /// Where the page before ended.
    position: Option<HistoryPosition>,
    /// Records of just that moment that the pages before have shown and that have not passed by yet.
    to_pass: u32,
    records: Vec<Received>,
}

impl PartialPage {
    /// Whether a page before showed the next record, which is of this order.
    fn was_shown(&mut self, order: HistoryOrder) -> bool {
        let Some(position) = self.position else {
            return false;
        };
        let ended = (position.filed_at, position.received_at);
        if order == ended && self.to_pass > 0 {
            self.to_pass -= 1;
            return true;
        }
        order < ended
    }

    /// The page as it stands, with a token after its last record.
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
