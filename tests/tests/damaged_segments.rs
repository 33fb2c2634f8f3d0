//! Damaged segments of the queue: bytes flipped, sectors lost, files cut, removed or exchanged. The store returns what the whole one
//! does; or it says that it is damaged, and lacks the records of the frames that were hit and nothing else; or it is refused. Only
//! damage to the very last frame looks like a write that was cut short; and the last segment, where all of it is gone, like one that
//! was never begun.

#![cfg(unix)]
#![allow(clippy::print_stdout, reason = "tests")]

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use deskfleet::{
    Config, Engine, EngineError, ErrorKind, HistoryQuery, ManualClock, Record, Stream, error_chain,
};
use deskfleet_tests::conformance::case::NOW;
use deskfleet_tests::conformance::fixtures::{desk, stats};
use deskfleet_tests::crash::facts::Facts;
use deskfleet_tests::crash::recording::{Io, Recorder};
use deskfleet_tests::damaged_queue::id_of;
use deskfleet_tests::disk::Disk;
use deskfleet_tests::files::{Contents, FileId, Files, Queue};

/// Frames that are not filed.
const FRAMES: i32 = 12;
/// The bytes of a header.
const HEADER: usize = 48;
/// What a disk writes at once.
const SECTOR: usize = 512;

fn open(disk: &impl Files) -> Result<Engine, EngineError> {
    let builder = Engine::builder().clock(ManualClock::new(NOW.parse().unwrap()));
    Queue::Folder.open(builder.seed(5), &Config::default(), disk)
}

/// Bytes of a segment.
type Bytes = (u32, Range<usize>);

/// The records of the desktop.
fn records(engine: &Engine) -> Vec<Record> {
    let page = engine
        .history(&HistoryQuery {
            limit: 500,
            ..HistoryQuery::new(Stream::Stats, "ws-0")
        })
        .unwrap();
    let records = page.records.into_iter();
    records.map(|received| received.record).collect()
}

/// A store with a queue in several segments, as a crash leaves it.
struct Sample {
    contents: Contents,
    facts: Facts,
    /// Without the last frame.
    before: Facts,
    /// Without all frames of its segment.
    begun: Facts,
    /// What it says of the desktop.
    records: Vec<Record>,
    /// The id of each record of the queue, and where its frame is.
    frames: Vec<(i32, Bytes)>,
    /// The segment of the last frame.
    last: u32,
    /// The bytes of that frame.
    last_frame: Range<usize>,
}

/// The segment that was written last, and where.
fn last_write(log: &[Io]) -> (u32, Range<usize>) {
    let mut made = Vec::new();
    let mut last = None;
    for io in log {
        if let Io::Make(number) = io {
            made.push(*number);
        }
        if let Io::Write(file, offset, data) = io
            && *file != FileId::STORE
        {
            let start = usize::try_from(*offset).unwrap();
            last = Some((made[file.0 as usize - 1], start..start + data.len()));
        }
    }
    last.unwrap()
}

/// How damage may change what is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Undoes {
    /// Not at all.
    Nothing,
    /// The last frame is gone: it looks like one that was never completed.
    LastFrame,
    /// All of the last segment is gone: it looks like one that was never begun.
    LastSegment,
}

impl Sample {
    fn new() -> Self {
        let disk = Recorder::default();
        let engine = open(&disk).unwrap();
        engine
            .put_workspace(desk("ws-0", "AVAILABLE", "jdoe"))
            .unwrap();
        let post = |id| engine.record(stats("ws-0", "jdoe", id, NOW)).unwrap();
        (0..8).for_each(post);
        engine.file_pending().unwrap();
        let mut before = Facts::read(&engine).unwrap();
        let mut begun = before.clone();
        let (mut last, mut last_frame) = (0, 0..0);
        let mut frames = Vec::new();
        for id in 0..FRAMES {
            before = Facts::read(&engine).unwrap();
            post(10 + id);
            (last, last_frame) = last_write(&disk.log());
            let start = last_frame.start.max(SECTOR);
            frames.push((10 + id, (last, start..last_frame.end)));
            if last_frame.start == 0 {
                begun = before.clone();
            }
        }
        assert!(last_frame.start > SECTOR, "the last segment has one frame");
        Self {
            contents: disk.contents(),
            facts: Facts::read(&engine).unwrap(),
            records: records(&engine),
            frames,
            before,
            begun,
            last,
            last_frame,
        }
    }

    fn segments(&self) -> Vec<(u32, usize)> {
        let queue = self.contents.queue.as_ref().unwrap();
        queue
            .iter()
            .map(|(number, bytes)| (*number, bytes.len()))
            .collect()
    }

    /// The contents with a segment changed.
    fn changed(&self, number: u32, change: impl FnOnce(&mut Vec<u8>)) -> Contents {
        let mut contents = self.contents.clone();
        change(contents.queue.as_mut().unwrap().get_mut(&number).unwrap());
        contents
    }

    /// The ids of the records in frames that these bytes are a part of.
    fn hit(&self, (number, bytes): &Bytes) -> Vec<i32> {
        let is_hit = |(_, (segment, frame)): &&(i32, Bytes)| {
            segment == number && frame.start < bytes.end && bytes.start < frame.end
        };
        self.frames
            .iter()
            .filter(is_hit)
            .map(|(id, _)| *id)
            .collect()
    }

    /// Whether the engine says that it is damaged, and lacks what was hit and nothing else, then and once it is filed, closed and opened
    /// again.
    fn lacks_only(&self, disk: &Disk, engine: &Engine, hit: &[i32]) -> Result<(), String> {
        let is_kept = |record: &&Record| !hit.contains(&id_of(record));
        let kept: Vec<_> = self.records.iter().filter(is_kept).cloned().collect();
        let look = |engine: &Engine, when: &str| {
            let ready = engine.ready().map_err(|error| error.kind());
            if ready != Err(ErrorKind::Corrupted) {
                return Err(format!("{when} it is {ready:?}"));
            }
            let found = records(engine);
            let ids: Vec<_> = found.iter().map(id_of).collect();
            if found != kept {
                return Err(format!("{when} it has {ids:?} without {hit:?}"));
            }
            if engine.check().unwrap().problems.len() != 1 {
                return Err(format!("{when} `check` finds nothing"));
            }
            Ok(())
        };
        look(engine, "as it was opened")?;
        engine.file_pending().unwrap();
        look(engine, "filed")?;
        engine.close().unwrap();
        let engine = open(disk).map_err(|error| error_chain(&error))?;
        look(&engine, "opened again")
    }

    /// What damage to these bytes of a segment may undo.
    fn undoes(&self, number: u32, bytes: &Range<usize>) -> Undoes {
        let frame = &self.last_frame;
        if number == self.last && bytes.start >= frame.start && bytes.end <= frame.end {
            Undoes::LastFrame
        } else {
            Undoes::Nothing
        }
    }
}

/// What became of damaged stores.
#[derive(Debug, Default)]
struct Count {
    refused: usize,
    right: usize,
    undone: usize,
    /// Without records that were hit.
    lacking: usize,
    wrong: Vec<String>,
}

impl Count {
    /// Opens a store of which these bytes are damaged, and compares it with the whole one.
    fn sort(
        &mut self,
        sample: &Sample,
        damaged: &Contents,
        (undoes, bytes): (Undoes, &Bytes),
        damage: &str,
    ) {
        let disk = Disk::holding(damaged.clone());
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let engine = open(&disk)?;
            let facts = Facts::read(&engine)?;
            let lacks = engine.ready().is_err();
            let lacking = lacks.then(|| sample.lacks_only(&disk, &engine, &sample.hit(bytes)));
            Ok::<_, EngineError>((facts, lacking))
        }));
        let wrong = match outcome {
            Err(_) => "a panic".to_owned(),
            Ok(Ok((_, Some(Ok(()))))) => {
                self.lacking += 1;
                return;
            }
            Ok(Ok((_, Some(Err(message))))) => message,
            Ok(Ok((facts, None))) if facts == sample.facts => {
                self.right += 1;
                return;
            }
            Ok(Ok((facts, None)))
                if undoes == Undoes::LastFrame && facts == sample.before
                    || undoes == Undoes::LastSegment && facts == sample.begun =>
            {
                self.undone += 1;
                return;
            }
            Ok(Ok((facts, None))) => facts.differences(&sample.facts).join("\n"),
            Ok(Err(error)) => {
                let clear = matches!(error.kind(), ErrorKind::Corrupted | ErrorKind::ForeignFile);
                if clear && undoes == Undoes::Nothing && disk.contents() == *damaged {
                    self.refused += 1;
                    return;
                }
                let kind = error.kind();
                format!(
                    "refused as {kind:?}, or written to: {}",
                    error_chain(&error)
                )
            }
        };
        self.wrong.push(format!("{damage}: {wrong}"));
    }

    fn demand(&self, what: &str) {
        let (wrong, first) = (self.wrong.len(), self.wrong.iter().take(5));
        println!(
            "{what}: {} refused, {} right, {} without what was hit, {} without the last frame, {wrong} wrong",
            self.refused, self.right, self.lacking, self.undone
        );
        let first: Vec<_> = first.cloned().collect();
        assert!(wrong == 0, "{wrong} are wrong:\n{}", first.join("\n\n"));
        let harmless = self.right + self.undone;
        assert!(self.refused > 0 && harmless > 0, "{what}: {self:?}");
    }
}

#[test]
fn flipped_bit_of_a_segment_is_refused_or_harmless_or_undoes_the_last_frame() {
    let sample = Sample::new();
    let mut count = Count::default();
    for (number, length) in sample.segments() {
        let bytes = &sample.contents.queue.as_ref().unwrap()[&number];
        // Every byte of a header, and of the beginning of a frame; of the rest some.
        let taken = (0..length).filter(|at| at % SECTOR < 48 || (bytes[*at] != 0 && at % 7 == 0));
        for at in taken {
            let damaged = sample.changed(number, |bytes| bytes[at] ^= 1 << (at % 8));
            let undoes = sample.undoes(number, &(at..at + 1));
            let damage = format!("byte {at} of segment {number}");
            let hit = (number, at..at + 1);
            count.sort(&sample, &damaged, (undoes, &hit), &damage);
        }
    }
    assert!(count.undone > 0, "the last frame was never hit");
    assert!(count.lacking > 100, "{}", count.lacking);
    count.demand("flipped bits");
}

#[test]
fn lost_or_swapped_sector_of_a_segment_is_refused_or_harmless_or_undoes_the_last_frame() {
    let sample = Sample::new();
    let mut count = Count::default();
    for (number, length) in sample.segments() {
        for start in (0..length).step_by(SECTOR) {
            let sector = start..start + SECTOR;
            let undoes = sample.undoes(number, &sector);
            let lost = sample.changed(number, |bytes| bytes[sector.clone()].fill(0));
            let damage = format!("lost sector at {start} of segment {number}");
            let hit = (number, sector.clone());
            count.sort(&sample, &lost, (undoes, &hit), &damage);
            for (other, length) in sample.segments() {
                if other == number || start + SECTOR > length {
                    continue;
                }
                let from = &sample.contents.queue.as_ref().unwrap()[&other][sector.clone()];
                let swapped =
                    sample.changed(number, |bytes| bytes[sector.clone()].copy_from_slice(from));
                let damage = format!("sector at {start} of segment {number} from {other}");
                count.sort(&sample, &swapped, (undoes, &hit), &damage);
            }
        }
    }
    count.demand("sectors");
}

#[test]
fn cut_segment_is_refused_or_harmless_or_undoes_the_last_frame() {
    let sample = Sample::new();
    let mut count = Count::default();
    for (number, length) in sample.segments() {
        for left in (0..length).step_by(97).chain((0..length).step_by(SECTOR)) {
            let damaged = sample.changed(number, |bytes| bytes.truncate(left));
            let undoes = if number == sample.last && left < HEADER {
                Undoes::LastSegment
            } else {
                Undoes::Nothing
            };
            let damage = format!("{left} bytes of segment {number}");
            let hit = (number, left..length);
            count.sort(&sample, &damaged, (undoes, &hit), &damage);
        }
    }
    count.demand("cut");
}

#[test]
fn removed_or_exchanged_segment_is_refused_or_harmless() {
    let sample = Sample::new();
    let mut count = Count::default();
    for (number, _) in sample.segments() {
        for (other, _) in sample.segments() {
            if other == number {
                continue;
            }
            let copy = sample.contents.queue.as_ref().unwrap()[&other].clone();
            let damaged = sample.changed(number, |bytes| *bytes = copy);
            count.sort(
                &sample,
                &damaged,
                (Undoes::Nothing, &(number, 0..0)),
                &format!("{number} is {other}"),
            );
        }
        let mut damaged = sample.contents.clone();
        damaged.queue.as_mut().unwrap().remove(&number);
        let undoes = if number == sample.last {
            Undoes::LastSegment
        } else {
            Undoes::Nothing
        };
        let hit = (number, 0..0);
        count.sort(
            &sample,
            &damaged,
            (undoes, &hit),
            &format!("without {number}"),
        );
    }
    count.demand("files");
}

#[test]
fn segments_by_other_names_are_the_same_queue() {
    let sample = Sample::new();
    let mut contents = sample.contents.clone();
    let queue = contents.queue.take().unwrap();
    let renamed = queue
        .into_iter()
        .map(|(number, bytes)| (90 - number, bytes));
    contents.queue = Some(renamed.collect());
    let disk = Disk::holding(contents);
    assert_eq!(Facts::read(&open(&disk).unwrap()).unwrap(), sample.facts);
}
