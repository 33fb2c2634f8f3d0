//! Export: all records of a stream in a range of time, day by day, within a day instance by instance, within that in the order of
//! history.
//!
//! Records are read in windows of bounded size, each from one instance and day, and no snapshot is held between two chunks. The
//! position after a window is the order of its last record, not where that is stored: filing and sealing move records to other
//! parts and keep their order.
//!
//! If the disk has no room to file the queue, the pending records of an instance and day are read together with the filed ones,
//! from one snapshot. A record that is filed between two chunks keeps its order.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::limits::{
    EXPORT_BUCKETS_MAX, EXPORT_QUEUED_MAX, EXPORT_WINDOW_BYTES, EXPORT_WINDOW_RECORDS,
};
use crate::model::Stream;
use crate::store::table::Snapshot;
use crate::store::telemetry::history;
use crate::store::telemetry::pending_block::PendingBlock;
use crate::store::telemetry::queue::Wanted;
use crate::store::telemetry::rows::{HistoryOrder, Rows};
use crate::timestamp::Timestamp;
use crate::view::Reader;
use crate::view::history::HistoryQuery;
use crate::view::history::places::{FirstPlaces, RecordPlace, Source, each_content_of, pending};

/// Which records are exported.
///
/// ```
/// use deskfleet::{Engine, StatsRecord, Stream, query::ExportQuery};
///
/// let engine = Engine::in_memory()?;
/// engine.record(StatsRecord { instance_id: "ws-1".into(), ..StatsRecord::default() })?;
/// let records: Result<Vec<_>, _> = engine.export(ExportQuery::new(Stream::Stats)).collect();
/// assert_eq!(records?.len(), 1);
/// # Ok::<(), deskfleet::EngineError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportQuery {
    /// The stream.
    pub stream: Stream,
    /// Records of this time in history or later. Default no bound.
    pub from: Option<Timestamp>,
    /// Records of before this time in history. Default no bound.
    pub to: Option<Timestamp>,
    /// Records of this instance alone; empty for records that name none. Default all.
    pub instance_id: Option<String>,
}

impl ExportQuery {
    /// All records of a stream.
    #[must_use]
    pub fn new(stream: Stream) -> Self {
        Self {
            stream,
            from: None,
            to: None,
            instance_id: None,
        }
    }

    fn from(&self) -> Timestamp {
        self.from.unwrap_or(Timestamp::MIN)
    }

    /// The first and the last day.
    fn days(&self) -> (u32, u32) {
        let to = self.to.unwrap_or(Timestamp::MAX);
        (self.from().day(), to.day())
    }
}

/// The position of an export in history.
#[derive(Debug)]
enum Position {
    /// After the bucket with this prefix of keys; `None`: before the first one.
    After(Option<Vec<u8>>),
    /// In a bucket, after the records before this order and after this number of records with this order.
    In(Vec<u8>, HistoryOrder, usize),
    End,
}

/// Some of the next buckets with queued records, with the names of their instances.
#[derive(Debug, Default)]
struct QueuedBuckets {
    names: BTreeMap<Vec<u8>, String>,
    /// Whether the queue has no others.
    is_all: bool,
}

/// Reads the store as of now, with the wanted part of the queue.
pub(crate) type ReadNow<'r> = &'r dyn Fn(Option<Wanted<'_>>) -> Result<Reader>;

/// The records of an export, in order: each record that exists from begin to end appears exactly once.
#[derive(Debug)]
pub(crate) struct Export {
    query: ExportQuery,
    position: Position,
    /// `None` where the queue was filed before.
    queued: Option<QueuedBuckets>,
    /// The records that were read, and their order.
    rows: Rows,
    order: Vec<usize>,
    /// The place in `order` of the next record.
    next: usize,
}

impl QueuedBuckets {
    /// The next buckets after `last` that the query asks for.
    fn after(reader: &Reader, query: &ExportQuery, last: Option<&[u8]>) -> Result<Self> {
        let (mut names, mut is_all) = (BTreeMap::new(), true);
        let (first_day, last_day) = query.days();
        let mut rows = Rows::default();
        for block in &reader.blocks {
            rows.clear();
            block.add_to(&reader.snapshot, &mut rows)?;
            for bucket in (0..rows.len()).map(|row| rows.bucket(row)) {
                let wanted = query
                    .instance_id
                    .as_ref()
                    .is_none_or(|of| of == bucket.instance);
                if !wanted
                    || bucket.stream != query.stream
                    || !(first_day..=last_day).contains(&bucket.day)
                {
                    continue;
                }
                let (prefix, name) = (history::bucket_prefix(bucket), bucket.instance);
                if last.is_none_or(|last| prefix.as_slice() > last) {
                    names.entry(prefix).or_insert_with(|| name.to_owned());
                }
                if names.len() > EXPORT_QUEUED_MAX {
                    names.pop_last();
                    is_all = false;
                }
            }
        }
        Ok(Self { names, is_all })
    }
}

impl Export {
    /// An export of what is filed, and with `reads_queue` of what is pending.
    pub(crate) fn new(query: ExportQuery, reads_queue: bool) -> Self {
        Self {
            query,
            position: Position::After(None),
            queued: reads_queue.then(QueuedBuckets::default),
            rows: Rows::default(),
            order: Vec::new(),
            next: 0,
        }
    }

    /// The row of the next record in the window.
    pub(crate) fn take_next(&mut self) -> Option<(&Rows, usize)> {
        let row = *self.order.get(self.next)?;
        self.next += 1;
        Some((&self.rows, row))
    }

    /// Whether the window is the last one.
    pub(crate) fn is_over(&self) -> bool {
        matches!(self.position, Position::End)
    }

    /// Reads the next window, after all records of the last one were taken. Returns `false` if it examined many instances without
    /// a record in the range; then call it again.
    pub(crate) fn read_more(&mut self, read: &Snapshot, now: ReadNow<'_>) -> Result<bool> {
        (self.next, self.order) = (0, Vec::new());
        for _ in 0..EXPORT_BUCKETS_MAX {
            self.position = match std::mem::replace(&mut self.position, Position::End) {
                Position::End => return Ok(true),
                Position::In(bucket, order, passed) => {
                    self.fill((read, now), bucket, order, passed)?
                }
                Position::After(last) => {
                    let next = self.next_bucket((read, now), last.as_deref());
                    let Some(bucket) = next? else {
                        return Ok(true);
                    };
                    self.fill((read, now), bucket, (self.query.from(), Timestamp::MIN), 0)?
                }
            };
            if !self.order.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The next bucket after `last` that has records, filed or pending.
    fn next_bucket(
        &mut self,
        (read, now): (&Snapshot, ReadNow<'_>),
        last: Option<&[u8]>,
    ) -> Result<Option<Vec<u8>>> {
        let (days, instance) = (self.query.days(), self.query.instance_id.as_deref());
        let next = |read| history::next_bucket(read, self.query.stream, days, instance, last);
        let Some(queued) = &mut self.queued else {
            return next(read);
        };
        let after = |bucket: &Vec<u8>| last.is_none_or(|last| bucket.as_slice() > last);
        queued.names.retain(|bucket, _| after(bucket));
        if queued.names.is_empty() && !queued.is_all {
            let reader = now(Some(Wanted::Stream(self.query.stream)))?;
            *queued = QueuedBuckets::after(&reader, &self.query, last)?;
        }
        // This snapshot is newer than the read of the queue: it has the records that were filed since.
        let filed = next(&now(None)?.snapshot)?;
        let pending = queued.names.keys().next().cloned();
        Ok([filed, pending].into_iter().flatten().min())
    }

    /// Reads records of a bucket, from this order on without the `passed` first ones of it; returns the position after them.
    fn fill(
        &mut self,
        (read, now): (&Snapshot, ReadNow<'_>),
        bucket: Vec<u8>,
        start: HistoryOrder,
        passed: usize,
    ) -> Result<Position> {
        // One more says whether there are others.
        let count = EXPORT_WINDOW_RECORDS + 1;
        let start_place = RecordPlace::first_of(start);
        let mut places = FirstPlaces::new((start_place, passed), self.query.to, count);
        let day = history::bucket_day(&bucket)?;
        let name = self
            .queued
            .as_ref()
            .map(|queued| queued.names.get(&bucket).cloned());
        let wanted = |name| Wanted::Instance(self.query.stream, name);
        let reader = name.as_ref().map(|name| now(name.as_deref().map(wanted)));
        let reader = reader.transpose()?;
        let read = reader.as_ref().map_or(read, |reader| &reader.snapshot);
        history::scan_prefix(read, &bucket, &mut |part| places.offer_part(day, &part))?;
        if let (Some(reader), Some(Some(name))) = (&reader, name) {
            let of_instance = HistoryQuery::new(self.query.stream, name);
            let mut pending = pending(reader, &of_instance, &(day..=day))?;
            pending.sort_unstable();
            for place in pending {
                places.offer_pending(place);
            }
        }
        let places = places.found();
        let window = places.get(..EXPORT_WINDOW_RECORDS).unwrap_or(&places);
        let blocks = reader.as_ref().map_or(&[][..], |reader| &reader.blocks);
        let window = self.read_content((read, blocks), &bucket, window)?;
        let Some(last) = window.last().filter(|_| window.len() < places.len()) else {
            return Ok(Position::After(Some(bucket)));
        };
        let same = window
            .iter()
            .rev()
            .take_while(|place| place.order == last.order);
        let before = if last.order == start { passed } else { 0 };
        Ok(Position::In(bucket, last.order, before + same.count()))
    }

    /// Reads the records at the first of the places, as many as fit, and at least one; returns their places. They are read a second time
    /// only where not all fit.
    fn read_content<'p>(
        &mut self,
        (read, blocks): (&Snapshot, &[PendingBlock]),
        bucket: &[u8],
        mut places: &'p [RecordPlace],
    ) -> Result<&'p [RecordPlace]> {
        let add = |source, rows: &mut Rows| match source {
            Source::Part(_, part) => history::add_prefix_part(read, bucket, part, rows),
            Source::Block(number) => {
                let block = blocks.iter().find(|block| block.number == number);
                block.map_or(Ok(()), |block| block.add_to(read, rows))
            }
        };
        if let Some(RecordPlace { source, .. }) = places.first()
            && places.iter().all(|place| place.source == *source)
        {
            // Nearly always: then its rows need not be copied.
            self.rows.clear();
            add(*source, &mut self.rows)?;
            self.order = places.iter().map(|place| place.row).collect();
            return Ok(places);
        }
        loop {
            self.rows.clear();
            self.order = vec![0; places.len()];
            let mut weights = vec![0; places.len()];
            let (rows, order) = (&mut self.rows, &mut self.order);
            let mut bytes = 0;
            each_content_of(places, &add, &mut |number, from, row| {
                let weight = from.weight(row);
                bytes += weight;
                if let (Some(place), Some(noted)) = (order.get_mut(number), weights.get_mut(number))
                {
                    (*place, *noted) = (rows.len(), weight);
                }
                if bytes <= EXPORT_WINDOW_BYTES || places.len() == 1 {
                    rows.adopt(from, row);
                }
                Ok(())
            })?;
            if bytes <= EXPORT_WINDOW_BYTES || places.len() <= 1 {
                return Ok(places);
            }
            let mut bytes = 0;
            let fitting = weights.iter().take_while(|weight| {
                bytes += **weight;
                bytes <= EXPORT_WINDOW_BYTES
            });
            places = places.get(..fitting.count().max(1)).unwrap_or_default();
        }
    }
}
