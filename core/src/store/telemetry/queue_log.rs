//! The queue in segments beside the store: how it begins, takes blocks, and ends.

use std::ops::Range;
use std::sync::RwLockReadGuard;
use std::sync::atomic::Ordering;

use redb::Database;

use crate::error::{EngineError, ErrorKind, Result};
use crate::limits::LOG_UNSYNCED_BYTES;
use crate::locks::{lock, read};
use crate::model::WriteClass;

use crate::store::journal::{Control, Journal};
use crate::store::table::{Snapshot, Table};
use crate::store::telemetry::arrivals::{Arrivals, Block};
use crate::store::telemetry::pending_block::{PendingBlock, each_whole, unfiled};
use crate::store::telemetry::queue::{QueueIndex, Wanted, keep_damaged};
use crate::store::telemetry::rows::Rows;
use crate::store::telemetry::segments::{Available, LogMark, SegmentLog, SegmentPlace};
use crate::store::writing::Commit;
use crate::store::{Store, closed, meta};

/// Batches go into one frame up to this length.
const FRAME_BYTES: usize = 1024 * 1024;

/// A log that begins.
pub(crate) struct NewLog {
    /// Its id.
    pub(crate) id: u64,
    /// The settings by which its entries are applied, as lines.
    pub(crate) settings: String,
}

/// Takes over the segments that a crash left: their blocks into `queue`, their entries into the journal.
pub(in crate::store) fn recover(
    database: &Database,
    log: Option<(Available, &SegmentLog)>,
    read_only: bool,
    queue: &mut QueueIndex,
) -> Result<Journal> {
    let snapshot = Snapshot::open(database)?;
    let mark = meta::log_mark(&snapshot)?;
    let Some((_, log)) = log else {
        if mark.is_some_and(|mark| mark.live) {
            let message = "a part of the queue is in segments beside the store: open the store by its path, or with \
                        `open_backend_with_queue`";
            return Err(EngineError::new(ErrorKind::StorageUnavailable, message));
        }
        return Ok(Journal::default());
    };
    if let Some(mark) = mark.filter(|mark| !mark.live && !read_only) {
        log.remove_ended(mark)?;
    }
    let (first, mut found) = Found::begin(&snapshot, queue)?;
    let next = log.recover(mark, first, read_only, &mut |numbers, place, item| {
        found.add(numbers, place, item);
    })?;
    let mut journal = found.journal()?;
    journal.mark_all_applied();
    queue.skip_to(next);
    Ok(journal)
}

/// What is found in the segments: blocks go into the queue, entries into the journal.
struct Found<'q> {
    queue: &'q mut QueueIndex,
    /// Earlier blocks are filed, or in the table.
    first: u64,
    rows: Rows,
    journal: Journal,
    /// Why entries are missing, if some are.
    missing: Option<EngineError>,
}

impl<'q> Found<'q> {
    /// Nothing yet; with the number of the item at which to begin.
    fn begin(snapshot: &Snapshot, queue: &'q mut QueueIndex) -> Result<(u64, Self)> {
        let position = meta::log_position(snapshot)?;
        let next = queue.next();
        let found = Self {
            first: next,
            queue,
            rows: Rows::default(),
            journal: Journal::new(position.map_or(0, |position| position.entries)),
            missing: None,
        };
        // A log that was written before there were entries has no position.
        Ok((position.map_or(next, |position| position.from), found))
    }

    /// Adds an item, or damaged bytes in place of these.
    fn add(&mut self, numbers: Range<u64>, place: SegmentPlace, item: &[u8]) {
        if let Some(control) = Control::read(item) {
            let recovered = self.journal.recover(numbers.start, &control);
            self.missing = self.missing.take().or_else(|| recovered.err());
            return;
        }
        let number = numbers.start.max(self.first);
        if number < numbers.end {
            self.queue
                .add_recovered(number, place, item, &mut self.rows);
        }
    }

    fn journal(self) -> Result<Journal> {
        self.missing.map_or(Ok(self.journal), Err)
    }
}

/// Reads the segments as [`recover`] does, and changes nothing beside the store.
pub(in crate::store) fn check(
    snapshot: &Snapshot,
    log: Option<(Available, &SegmentLog)>,
    queue: &mut QueueIndex,
) -> Result<()> {
    let mark = meta::log_mark(snapshot)?;
    let (first, mut found) = Found::begin(snapshot, queue)?;
    log.map_or(Ok(()), |(_, log)| {
        log.check(mark, first, &mut |numbers, place, item| {
            found.add(numbers, place, item);
        })
    })?;
    found.journal().map(drop)
}

impl Store {
    /// The log, with the proof that there can be one.
    pub(in crate::store) fn log(&self) -> Option<(Available, &SegmentLog)> {
        self.log.as_ref().map(SegmentLog::with_proof)
    }

    /// The log, unless the store is read-only.
    fn log_for_writing(&self) -> Option<(Available, &SegmentLog)> {
        self.log().filter(|_| !self.options.is_read_only())
    }

    /// Whether telemetry is appended to a log of its own.
    pub(crate) fn has_log(&self) -> Option<Available> {
        let log = self.log_for_writing();
        log.map(|(available, _)| available)
    }

    /// Makes sure that the segments are where they were opened.
    pub(crate) fn check_folder(&self) -> Result<()> {
        self.log().map_or(Ok(()), |(_, log)| log.check_folder())
    }

    /// Whether writes of `bytes` bytes go into the log. The first write of a process does not: a command that makes one leaves no folder
    /// behind. Nor does what is long, or comes after much that is not synced: so little is to be applied again after a crash.
    pub(crate) fn takes_entry(&self, bytes: usize, has_telemetry: bool) -> bool {
        let has_begun = self.log().is_some_and(|(_, log)| log.has_begun());
        let begins = has_telemetry || self.has_written.swap(true, Ordering::AcqRel);
        (has_begun || begins) && self.unsynced_bytes() + bytes <= LOG_UNSYNCED_BYTES
    }

    /// Makes `entry` and each batch durable as a whole; returns why a batch is not, and the position of the entry in the log or why it
    /// has none.
    pub(crate) fn append(
        &self,
        new_log: &dyn Fn() -> Result<NewLog>,
        batches: Vec<Arrivals>,
        mut entry: Option<Vec<u8>>,
    ) -> (Vec<Result<()>>, Option<Result<u64>>) {
        let mut outcomes = Vec::with_capacity(batches.len());
        let mut batches = batches.into_iter().map(Arrivals::into_blocks).peekable();
        let bytes = |blocks: &[Block]| blocks.iter().map(|(block, _)| block.len()).sum::<usize>();
        let mut logged = None;
        while entry.is_some() || batches.peek().is_some() {
            let first = batches.next();
            let mut count = usize::from(first.is_some());
            let mut blocks = first.unwrap_or_default();
            let entry_bytes = entry.as_ref().map_or(0, Vec::len);
            let mut length = entry_bytes + bytes(&blocks);
            while let Some(more) = batches.next_if(|more| length + bytes(more) <= FRAME_BYTES) {
                count += 1;
                length += bytes(&more);
                blocks.extend(more);
            }
            let entry = entry.take();
            let has_entry = entry.is_some();
            let appended = self.append_frame(new_log, blocks, entry);
            if has_entry {
                logged = Some(appended.clone());
            }
            outcomes.extend(std::iter::repeat_n(appended.map(drop), count));
        }
        (outcomes, logged)
    }

    fn append_frame(
        &self,
        new_log: &dyn Fn() -> Result<NewLog>,
        blocks: Vec<Block>,
        entry: Option<Vec<u8>>,
    ) -> Result<u64> {
        let _one_at_a_time = lock(&self.appending);
        let Some((_, log)) = self.log().filter(|_| !*read(&self.closed)) else {
            return Err(closed());
        };
        if blocks.is_empty() && entry.is_none() {
            return Ok(0);
        }
        if !log.has_begun() {
            self.begin_log(log, &new_log()?)?;
        }
        let control = lock(&self.journal).control(entry.as_deref());
        let items = blocks.iter().map(|(block, _)| block);
        let items: Vec<_> = control.iter().chain(items).map(Vec::as_slice).collect();
        let first = read(&self.queue).next();
        let next = first + items.len() as u64;
        let appended = log.append(first, &items);
        let has_control = usize::from(control.is_some());
        self.change_queue(|index| match appended {
            Ok(places) => {
                // What failed before is void from now on.
                lock(&self.journal).set_doubtful(false);
                let places = places.into_iter().skip(has_control);
                let contents = blocks.into_iter().map(|(_, contents)| contents);
                index.publish_appended(first + has_control as u64, places.zip(contents));
                // Here, because the lock is held: a transaction sees the entry, or a number before it.
                index.skip_to(next);
                Ok(entry.map_or(0, |entry| lock(&self.journal).push(first, entry)))
            }
            Err(error) => {
                index.skip_to(next);
                if entry.is_some() && error.kind() == ErrorKind::Indeterminate {
                    lock(&self.journal).set_doubtful(true);
                }
                Err(error)
            }
        })
    }

    fn begin_log(&self, log: &SegmentLog, new: &NewLog) -> Result<()> {
        let id = new.id;
        log.prepare_folder(id)?;
        let begun = self.write(WriteClass::Telemetry, |tables| {
            meta::set_log_mark(tables, LogMark { id, live: true })?;
            meta::set_log_settings(tables, &new.settings)?;
            let next = read(&self.queue).next();
            meta::set_log_position(tables, lock(&self.journal).position(0, next))
        });
        begun.map_err(|failure| failure.error)?;
        log.begin(id, read(&self.queue).next());
        Ok(())
    }

    /// Makes these the settings by which entries are applied from now on.
    pub(crate) fn keep_log_settings(&self, settings: &str) -> Result<()> {
        let has_begun = self.log().is_some_and(|(_, log)| log.has_begun());
        if !has_begun || meta::log_settings(&self.snapshot()?)?.as_deref() == Some(settings) {
            return Ok(());
        }
        let kept = self.write(WriteClass::Essential, |tables| {
            meta::set_log_settings(tables, settings)
        });
        kept.map_err(|failure| failure.error)
    }

    /// Makes the next segments ready, for a host that has time.
    pub(crate) fn make_segments_ready(&self) -> Result<()> {
        let open = self.open_log();
        open.map_or(Ok(()), |(log, _open)| log.make_ready())
    }

    /// The log to write to, and a lock that keeps the store open meanwhile: after closing, the folder may be another store's.
    fn open_log(&self) -> Option<(&SegmentLog, RwLockReadGuard<'_, bool>)> {
        let (_, log) = self.log_for_writing()?;
        let is_closed = read(&self.closed);
        (!*is_closed).then_some((log, is_closed))
    }

    /// Returns wholly filed segments to the log, or removes them on a disk that `is_short` of space. If they were filed in memory
    /// alone, they stay.
    pub(crate) fn recycle_segments(&self, is_short: bool) {
        if let Some((log, _open)) = self.open_log() {
            if is_short {
                log.remove_filed();
            } else {
                log.recycle();
            }
        }
    }

    /// Moves the blocks of the segments into the table and removes the folder: then the store is one file. Damaged blocks are set
    /// aside. The caller holds the lock for appending.
    pub(in crate::store) fn end_log(&self) -> Result<()> {
        let Some((_, log)) = self.log_for_writing() else {
            return Ok(());
        };
        let Some(id) = log.id_to_end() else {
            return Ok(());
        };
        let mut queued = self.queue().blocks(Wanted::All);
        queued.retain(PendingBlock::is_in_segment);
        let mut is_kept = true;
        // Without blocks to move, ending the log frees space.
        let class = if queued.is_empty() {
            WriteClass::Essential
        } else {
            WriteClass::Filing
        };
        // Also where the log of a fleet has other writes: the segments are removed now.
        let moved = self.transact(class, Commit::DURABLE, |tables| {
            let queued = unfiled(tables, queued.clone())?;
            let damaged = each_whole(tables, &queued, |key, block| {
                tables.put(Table::Queue, key, block)
            })?;
            let kept = self.set_aside(&damaged);
            is_kept = kept.is_ok();
            if !kept? {
                keep_damaged(tables, &damaged)?;
            }
            meta::set_log_mark(tables, LogMark { id, live: false })
        });
        if !is_kept {
            // The segments stay, as after a crash: all acknowledged records are durable there.
            return Ok(());
        }
        moved.map_err(|failure| failure.error)?;
        self.change_queue(QueueIndex::moved_to_table);
        drop(queued);
        log.discard();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::config::Config;
    use crate::model::{Record, RecordRef};
    use crate::store::StoreOptions;
    use crate::timestamp::Timestamp;

    fn append(store: &Store) {
        let now = Timestamp::UNIX_EPOCH;
        let record = Record::Activity(Box::default());
        let mut arrivals = Arrivals::default();
        arrivals.push(&RecordRef::from_record(&record), now, now);
        let new_log = || {
            let settings = String::new();
            Ok(NewLog { id: 7, settings })
        };
        let (appended, _) = store.append(&new_log, vec![arrivals], None);
        for outcome in appended {
            outcome.unwrap();
        }
    }

    #[test]
    fn store_that_is_closed_leaves_segments_to_the_one_that_took_them_over() {
        let folder = std::env::temp_dir().join(format!("deskfleet-taken-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let path = folder.join("fleet.redb");
        let options = StoreOptions::from_config(&Config::default(), Timestamp::UNIX_EPOCH);
        let closed = Store::open_path(&path, options).unwrap();
        append(&closed);
        closed.make_segments_ready().unwrap();
        closed.close(false).unwrap();
        let store = Store::open_path(&path, options).unwrap();
        append(&store);
        // As a round of upkeep that is still under way.
        closed.recycle_segments(true);
        closed.make_segments_ready().unwrap();
        store.check_folder().unwrap();
        append(&store);
        store.close(false).unwrap();
        assert_eq!(Store::open_path(&path, options).unwrap().queued(), 3);
        fs::remove_dir_all(&folder).unwrap();
    }
}
