//! The queue in segments beside the store: how it begins, takes blocks, and ends.

use std::sync::RwLockReadGuard;

use redb::Database;

use crate::error::{EngineError, ErrorKind, Result};
use crate::locks::{lock, read};
use crate::model::WriteClass;

use crate::store::table::{Snapshot, Table};
use crate::store::telemetry::arrivals::{Arrivals, Block};
use crate::store::telemetry::pending_block::{PendingBlock, each_whole, unfiled};
use crate::store::telemetry::queue::{QueueIndex, Wanted, keep_damaged};
use crate::store::telemetry::rows::Rows;
use crate::store::telemetry::segments::{Available, LogMark, SegmentLog};
use crate::store::{Store, closed, meta};

/// Batches go into one frame up to this length.
const FRAME_BYTES: usize = 1024 * 1024;

/// Takes over the segments that a crash left.
pub(in crate::store) fn recover(
    database: &Database,
    log: Option<(Available, &SegmentLog)>,
    read_only: bool,
    queue: &mut QueueIndex,
) -> Result<()> {
    let snapshot = Snapshot::open(database)?;
    let mark = meta::log_mark(&snapshot)?;
    let Some((_, log)) = log else {
        if mark.is_some_and(|mark| mark.live) {
            let message = "a part of the queue is in segments beside the store: open the store by its path, or with \
                        `open_backend_with_queue`";
            return Err(EngineError::new(ErrorKind::StorageUnavailable, message));
        }
        return Ok(());
    };
    if let Some(mark) = mark.filter(|mark| !mark.live && !read_only) {
        log.remove_ended(mark)?;
    }
    let mut rows = Rows::default();
    let next = log.recover(
        mark,
        queue.next(),
        read_only,
        &mut |number, place, block| queue.add_recovered(number, place, block, &mut rows),
    )?;
    queue.skip_to(next);
    Ok(())
}

/// Reads the same without taking it over.
pub(in crate::store) fn check(
    snapshot: &Snapshot,
    log: Option<(Available, &SegmentLog)>,
    queue: &mut QueueIndex,
) -> Result<()> {
    let mark = meta::log_mark(snapshot)?;
    let mut rows = Rows::default();
    log.map_or(Ok(()), |(_, log)| {
        log.check(mark, queue.next(), &mut |number, place, block| {
            queue.add_recovered(number, place, block, &mut rows);
        })
    })
}

impl Store {
    /// The log, with the proof that there can be one.
    pub(in crate::store) fn log(&self) -> Option<(Available, &SegmentLog)> {
        self.log.as_ref().map(SegmentLog::with_proof)
    }

    /// Whether telemetry is appended to a log of its own.
    pub(crate) fn has_log(&self) -> Option<Available> {
        let log = self.log().filter(|_| !self.options.is_read_only());
        log.map(|(available, _)| available)
    }

    /// Makes sure that the segments are where they were opened.
    pub(crate) fn check_folder(&self) -> Result<()> {
        self.log().map_or(Ok(()), |(_, log)| log.check_place())
    }

    /// Makes each batch durable as a whole, or returns why it is not. `new_id` returns the id of a new log.
    pub(crate) fn append(
        &self,
        new_id: &dyn Fn() -> Result<u64>,
        batches: Vec<Arrivals>,
    ) -> Vec<Result<()>> {
        let mut outcomes = Vec::with_capacity(batches.len());
        let mut batches = batches.into_iter().map(Arrivals::into_blocks).peekable();
        let bytes = |blocks: &[Block]| blocks.iter().map(|(block, _)| block.len()).sum::<usize>();
        while let Some(mut blocks) = batches.next() {
            let (mut count, mut length) = (1, bytes(&blocks));
            while let Some(more) = batches.next_if(|more| length + bytes(more) <= FRAME_BYTES) {
                count += 1;
                length += bytes(&more);
                blocks.extend(more);
            }
            let appended = self.append_blocks(new_id, blocks);
            outcomes.extend(std::iter::repeat_n(appended, count));
        }
        outcomes
    }

    fn append_blocks(&self, new_id: &dyn Fn() -> Result<u64>, blocks: Vec<Block>) -> Result<()> {
        let _one_at_a_time = lock(&self.appending);
        let Some((_, log)) = self.log().filter(|_| !*read(&self.closed)) else {
            return Err(closed());
        };
        if blocks.is_empty() {
            return Ok(());
        }
        if !log.has_begun() {
            self.begin_log(log, new_id()?)?;
        }
        let first = read(&self.queue).next();
        let behind = first + blocks.len() as u64;
        let bytes: Vec<&[u8]> = blocks.iter().map(|(block, _)| block.as_slice()).collect();
        let appended = log.append(first, &bytes);
        self.change_queue(|index| match appended {
            Ok(places) => {
                let contents = blocks.into_iter().map(|(_, contents)| contents);
                index.publish_appended(first, places.into_iter().zip(contents));
                Ok(())
            }
            Err(error) => {
                index.skip_to(behind);
                Err(error)
            }
        })
    }

    fn begin_log(&self, log: &SegmentLog, id: u64) -> Result<()> {
        log.prepare_folder(id)?;
        let mark = LogMark { id, live: true };
        self.write(WriteClass::Telemetry, |tables| {
            meta::set_log_mark(tables, mark)
        })
        .map_err(|failure| failure.error)?;
        log.begin(id, read(&self.queue).next());
        Ok(())
    }

    /// Makes the next segments ready, for a host that has time.
    pub(crate) fn make_segments_ready(&self) -> Result<()> {
        let open = self.open_log();
        open.map_or(Ok(()), |(log, _open)| log.make_ready())
    }

    /// The log to write to, and a lock that keeps the store open meanwhile: after closing, the folder may be another store's.
    fn open_log(&self) -> Option<(&SegmentLog, RwLockReadGuard<'_, bool>)> {
        let (_, log) = self.log().filter(|_| !self.options.is_read_only())?;
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
        let Some((_, log)) = self.log() else {
            return Ok(());
        };
        let Some(id) = log.id_to_end() else {
            return Ok(());
        };
        if self.options.is_read_only() {
            return Ok(());
        }
        let mut queued = self.queue().blocks(Wanted::All);
        queued.retain(PendingBlock::is_in_segment);
        let mut is_kept = true;
        // Without blocks to move, ending the log frees space.
        let class = if queued.is_empty() {
            WriteClass::Essential
        } else {
            WriteClass::Filing
        };
        let moved = self.write(class, |tables| {
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
        let appended = store.append(&|| Ok(7), vec![arrivals]);
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
