//! Reading the segments that a crash left.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use crate::error::{EngineError, ErrorKind, Result};
use crate::store::failure::unavailable;

use super::frame::{
    ALIGN, FRAME_HEAD_BYTES, HEADER_BYTES, Header, SECTOR, frame_bytes, read_frame,
};
use super::{Available, Sealed, Segment, SegmentLog, SegmentPlace, State};

/// Bytes that are read at once in the search for a frame.
const WINDOW_BYTES: usize = 64 * 1024;

/// The highest possible number of a block.
const NUMBER_MAX: u64 = 1 << 62;

/// A function that gets the number of an item, its place and its bytes; or the numbers of all items in whose place damaged bytes are, which
/// come as none.
pub(in crate::store) type Visit<'v> = dyn FnMut(Range<u64>, SegmentPlace, &[u8]) + 'v;

/// The log as the store records it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) struct LogMark {
    /// Its id.
    pub(in crate::store) id: u64,
    /// Whether it has blocks that the store lacks. Otherwise it has ended, and its remains are of no use.
    pub(in crate::store) live: bool,
}

impl SegmentLog {
    /// Takes over the log that the store records, after a crash: calls `visit` with each block from the number `first` on, in
    /// order; returns the number of the next one. It changes nothing, and makes the last frame durable unless `read_only`.
    pub(in crate::store) fn recover(
        &self,
        mark: Option<LogMark>,
        first: u64,
        read_only: bool,
        visit: &mut Visit<'_>,
    ) -> Result<u64> {
        let (state, scan) = self.read(mark, first..u64::MAX, visit)?;
        if let Some((segment, offset, frame)) = scan.last.filter(|_| !read_only) {
            // After a kill, or a failed sync, the frame may be in the memory of the system alone, and appends build on it.
            segment.file.write(offset, &frame).map_err(unavailable)?;
            segment.file.sync_data().map_err(unavailable)?;
        }
        *self.state() = state;
        Ok(scan.next)
    }

    /// Removes the remains of a log that has ended.
    pub(in crate::store) fn remove_ended(&self, mark: LogMark) -> Result<()> {
        self.segments(Some(mark), &mut State::default())?;
        self.discard();
        Ok(())
    }

    /// Reads the same, of a log that may be in use.
    pub(in crate::store) fn check(
        &self,
        mark: Option<LogMark>,
        first: u64,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        // In a log in use, remains of a failed write or sync in the last segment are void.
        let acknowledged = self.id().map(|_| self.state().acknowledged);
        let counting = first..acknowledged.unwrap_or(u64::MAX);
        self.read(mark, counting, visit).map(drop)
    }

    fn read<'v, 'f>(
        &self,
        mark: Option<LogMark>,
        counting: Range<u64>,
        visit: &'v mut Visit<'f>,
    ) -> Result<(State, Scan<'v, 'f>)> {
        let mut state = State::default();
        let first = counting.start;
        let mut scan = Scan {
            available: self.available,
            first,
            end: first,
            next: first,
            last: None,
            rest: None,
            visit,
        };
        let mut found = self.segments(mark, &mut state)?;
        let Some(mark) = mark.filter(|mark| mark.live) else {
            return Ok((state, scan));
        };
        state.id = Some(mark.id);
        state.needed = first;
        // No other segment of the log gets its number, although its first frame may be incomplete.
        let after = found
            .last()
            .map_or(0, |(last, _)| last.segment.saturating_add(1));
        scan.next = scan.next.max(after);
        // All before the last segment that begins with filed blocks is filed.
        let is_filed = |(header, _): &(Header, Segment)| header.acknowledged <= first;
        let filed = found.iter().take_while(|found| is_filed(found)).count();
        let rest = found.split_off(filed.saturating_sub(1));
        let filed = found.into_iter().map(|(_, segment)| Sealed {
            segment: Arc::new(segment),
            end: 0,
            given_up: false,
        });
        state.sealed.extend(filed);
        let mut rest = rest.into_iter().peekable();
        while let Some((header, segment)) = rest.next() {
            let following = rest.peek();
            let void = following.map_or(counting.end, |(following, _)| following.acknowledged);
            let segment = Arc::new(segment);
            scan.segment(header, &segment, void)?;
            state.sealed.push_back(Sealed {
                segment,
                end: scan.end,
                given_up: false,
            });
        }
        for spare in &state.spare {
            if has_acknowledged_frames(spare, scan.next)? {
                return Err(damaged(spare, "its header is not whole"));
            }
        }
        state.acknowledged = scan.end;
        Ok((state, scan))
    }
}

impl SegmentLog {
    /// The segments of the log, oldest first. Files without a header are put to those of no use.
    fn segments(&self, mark: Option<LogMark>, state: &mut State) -> Result<Vec<(Header, Segment)>> {
        let mut found = Vec::new();
        let Some(numbers) = self.folder.list().map_err(of_folder)? else {
            let live = mark.is_some_and(|mark| mark.live);
            return if live { Err(missing()) } else { Ok(found) };
        };
        for number in numbers {
            state.next_file = state.next_file.max(number.saturating_add(1));
            let segment = self.open(number)?;
            match header(&segment)? {
                Some(header) if mark.is_none_or(|mark| mark.id != header.log) => {
                    return Err(foreign());
                }
                Some(header) => found.push((header, segment)),
                None => state.spare.push(Arc::new(segment)),
            }
        }
        found.sort_by_key(|(header, _)| header.segment);
        let mut pairs = found.iter().zip(found.iter().skip(1));
        if let Some((_, (_, copy))) = pairs.find(|(one, other)| one.0.segment == other.0.segment) {
            return Err(damaged(copy, "another one is the same segment"));
        }
        Ok(found)
    }
}

fn header(segment: &Segment) -> Result<Option<Header>> {
    let mut header = [0; HEADER_BYTES];
    if segment.file.len().map_err(unavailable)? < header.len() as u64 {
        return Ok(None);
    }
    segment.file.read(0, &mut header).map_err(unavailable)?;
    Ok(Header::read(&header))
}

struct Scan<'v, 'f> {
    available: Available,
    first: u64,
    /// The number after the last block that counts.
    end: u64,
    /// The number after the last block, void ones included.
    next: u64,
    /// The last frame of the last segment, and where it is.
    last: Option<(Arc<Segment>, u64, Vec<u8>)>,
    /// The segment before, where its last whole frame ends, and its tag.
    rest: Option<(Arc<Segment>, u64, u64)>,
    visit: &'v mut Visit<'f>,
}

impl Scan<'_, '_> {
    /// Reads a segment, whose blocks from the number `void` on do not count.
    fn segment(&mut self, header: Header, segment: &Arc<Segment>, void: u64) -> Result<()> {
        self.close_gap(header.acknowledged, segment)?;
        if segment.file.len().map_err(unavailable)? < header.bytes {
            return Err(damaged(segment, "it was cut"));
        }
        let tag = header.tag();
        let mut offset = ALIGN;
        let mut next = None;
        let mut gap = None;
        self.last = None;
        loop {
            let Some((bytes, first, places)) = frame_at(segment, tag, offset)? else {
                // No frame follows an incomplete one, but a frame may follow one that was damaged later.
                let Some(following) = following_frame(segment, tag, offset)? else {
                    break;
                };
                gap = Some(offset);
                offset = following;
                continue;
            };
            let expected = next.unwrap_or_else(|| header.acknowledged.max(header.segment));
            let follows = match (next, gap) {
                (Some(next), None) => next == first,
                (None, None) => first >= header.acknowledged,
                (_, Some(_)) => first > expected,
            };
            if !follows || first > NUMBER_MAX {
                return Err(damaged(segment, "its blocks do not follow each other"));
            }
            if let Some(start) = gap.take() {
                self.visit_damaged(segment, start..offset, expected..first.min(void));
            }
            let mut number = first;
            for place in places {
                if (self.first..void).contains(&number) {
                    let block = bytes.get(place.clone()).unwrap_or_default();
                    let offset = offset + place.start as u64;
                    let place = SegmentPlace::new(self.available, segment, offset, block);
                    (self.visit)(number..number + 1, place, block);
                }
                number += 1;
            }
            next = Some(number);
            self.next = self.next.max(number);
            self.end = self.end.max(number.min(void));
            let length = bytes.len() as u64;
            self.last = Some((Arc::clone(segment), offset, bytes));
            offset += length.next_multiple_of(ALIGN);
        }
        self.rest = Some((Arc::clone(segment), offset, tag));
        Ok(())
    }

    /// Makes sure that all blocks below `acknowledged` were seen before `segment`. Where the last frame of the segment before is damaged,
    /// its blocks are visited as such.
    fn close_gap(&mut self, acknowledged: u64, segment: &Segment) -> Result<()> {
        let rest = self.rest.take();
        if self.end >= acknowledged {
            return Ok(());
        }
        let lost = self.end..acknowledged;
        let Some((before, offset, tag)) = rest else {
            return Err(missing_before(segment));
        };
        let length = damaged_frame_bytes(&before, offset, (tag, lost.start))?;
        let Some(length) = length else {
            return Err(missing_before(segment));
        };
        self.visit_damaged(&before, offset..offset + length, lost);
        self.end = acknowledged;
        Ok(())
    }

    /// Visits bytes where the blocks of these numbers should be, as far as those count.
    fn visit_damaged(&mut self, segment: &Arc<Segment>, bytes: Range<u64>, numbers: Range<u64>) {
        let first = numbers.start.max(self.first);
        if first < numbers.end {
            let length = usize::try_from(bytes.end - bytes.start).unwrap_or(usize::MAX);
            let place = SegmentPlace::damaged(self.available, segment, bytes.start, length);
            (self.visit)(first..numbers.end, place, &[]);
        }
    }
}

/// The length of the damaged frame at `offset`, which should have this tag and begin with this block; `None` where it looks like none.
fn damaged_frame_bytes(
    segment: &Segment,
    offset: u64,
    (tag, first): (u64, u64),
) -> Result<Option<u64>> {
    let Some((head, rest)) = head_at(segment, offset)? else {
        return Ok(None);
    };
    let is_one =
        head.starts_with(&tag.to_le_bytes()) || head.get(16..24) == Some(&first.to_le_bytes());
    let length = frame_bytes(&head, tag).map_or(rest, |length| rest.min(length as u64));
    Ok(is_one.then_some(length))
}

/// The bytes at `offset` where a frame has its head, and how many bytes the file has from there; `None` where they are too few.
fn head_at(segment: &Segment, offset: u64) -> Result<Option<([u8; FRAME_HEAD_BYTES], u64)>> {
    let rest = segment.file.len().map_err(unavailable)?;
    let rest = rest.saturating_sub(offset);
    let mut head = [0; FRAME_HEAD_BYTES];
    if rest < head.len() as u64 {
        return Ok(None);
    }
    segment.file.read(offset, &mut head).map_err(unavailable)?;
    Ok(Some((head, rest)))
}

/// A frame, the number of its first block and where in it the blocks are.
type Frame = (Vec<u8>, u64, Vec<Range<usize>>);

fn frame_at(segment: &Segment, tag: u64, offset: u64) -> Result<Option<Frame>> {
    let Some((head, rest)) = head_at(segment, offset)? else {
        return Ok(None);
    };
    let length = frame_bytes(&head, tag).filter(|length| *length as u64 <= rest);
    let Some(length) = length else {
        return Ok(None);
    };
    let mut frame = vec![0; length];
    segment.file.read(offset, &mut frame).map_err(unavailable)?;
    let read = read_frame(&frame, tag);
    Ok(read.map(|(first, places)| (frame, first, places)))
}

/// Where the next whole frame after `offset` begins.
fn following_frame(segment: &Segment, tag: u64, offset: u64) -> Result<Option<u64>> {
    let end = segment.file.len().map_err(unavailable)?;
    let mut window = vec![0; WINDOW_BYTES];
    let mut start = offset + ALIGN;
    while start < end {
        let length =
            usize::try_from(end - start).map_or(WINDOW_BYTES, |left| left.min(WINDOW_BYTES));
        let bytes = window.get_mut(..length).unwrap_or_default();
        segment.file.read(start, bytes).map_err(unavailable)?;
        for (place, sector) in (start..).step_by(SECTOR).zip(bytes.chunks(SECTOR)) {
            if sector.starts_with(&tag.to_le_bytes()) && frame_at(segment, tag, place)?.is_some() {
                return Ok(Some(place));
            }
        }
        start += length as u64;
    }
    Ok(None)
}

/// Whether a segment without a header holds a frame with blocks from the number `next` on, which are in no other, and that frame is not
/// its first. The first is written together with the header, so that a crash can leave it alone; a second one was written when both
/// were durable.
fn has_acknowledged_frames(segment: &Segment, next: u64) -> Result<bool> {
    let mut tag = [0; 8];
    if segment.file.len().map_err(unavailable)? < ALIGN + tag.len() as u64 {
        return Ok(false);
    }
    segment.file.read(ALIGN, &mut tag).map_err(unavailable)?;
    let mut offset = ALIGN;
    while let Some((bytes, number, places)) = frame_at(segment, u64::from_le_bytes(tag), offset)? {
        if offset > ALIGN && number.saturating_add(places.len() as u64) > next {
            return Ok(true);
        }
        offset += (bytes.len() as u64).next_multiple_of(ALIGN);
    }
    Ok(false)
}

fn missing_before(segment: &Segment) -> EngineError {
    damaged(
        segment,
        "blocks before it are missing: a segment was removed or cut",
    )
}

fn damaged(segment: &Segment, what: &str) -> EngineError {
    EngineError::new(
        ErrorKind::Corrupted,
        format!(
            "segment {} of the queue is damaged: {what}; restore a backup",
            segment.number
        ),
    )
}

/// The folder, or a file of it, cannot be opened.
pub(super) fn of_folder(error: io::Error) -> EngineError {
    if error.kind() == io::ErrorKind::PermissionDenied {
        let message = "no permission; check the owner and mode of the folder of the queue and of what is in it";
        return EngineError::caused(ErrorKind::StorageUnavailable, message, error);
    }
    unavailable(error)
}

fn missing() -> EngineError {
    let message = "the folder of the queue, which has the name of the store and `-queue`, is missing, with the telemetry that was not filed yet and the \
                changes of the last second: put it back, or make an empty folder in its place to go on without";
    EngineError::new(ErrorKind::StorageUnavailable, message)
}

fn foreign() -> EngineError {
    let message = "the folder of the queue, which has the name of the store and `-queue`, holds the queue of another store; it was \
                left untouched: move it to where that store is, or away";
    EngineError::new(ErrorKind::ForeignFile, message)
}
