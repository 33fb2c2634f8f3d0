//! Damaged segments of the queue: bytes flipped, sectors lost, files cut, removed or exchanged. The store is refused, or
//! returns what the whole one does. Only damage to the very last frame looks like a write that was cut short; and the
//! last segment, where all of it is gone, like one that was never begun.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "tests"
)]

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use deskfleet::{Config, Engine, EngineError, ErrorKind, ManualClock, error_chain};
use deskfleet_tests::conformance::case::NOW;
use deskfleet_tests::conformance::fixtures::{desk, stats};
use deskfleet_tests::crash::facts::Facts;
use deskfleet_tests::crash::recording::{Io, Recorder};
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

/// A store with a queue in several segments, as a crash leaves it.
struct Sample {
    contents: Contents,
    facts: Facts,
    /// Without the last frame.
    before: Facts,
    /// Without all frames of its segment.
    begun: Facts,
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
        let mut before = Facts::of(&engine).unwrap();
        let mut begun = before.clone();
        let (mut last, mut last_frame) = (0, 0..0);
        for id in 0..FRAMES {
            before = Facts::of(&engine).unwrap();
            post(10 + id);
            (last, last_frame) = last_write(&disk.log());
            if last_frame.start == 0 {
                begun = before.clone();
            }
        }
        assert!(last_frame.start > SECTOR, "the last segment has one frame");
        Self {
            contents: disk.contents(),
            facts: Facts::of(&engine).unwrap(),
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
    wrong: Vec<String>,
}

impl Count {
    /// Opens a damaged store and compares it with the whole one.
    fn sort(&mut self, sample: &Sample, damaged: &Contents, undoes: Undoes, damage: &str) {
        let disk = Disk::holding(damaged.clone());
        let outcome = catch_unwind(AssertUnwindSafe(|| Facts::of(&open(&disk)?)));
        let wrong = match outcome {
            Err(_) => "a panic".to_owned(),
            Ok(Ok(facts)) if facts == sample.facts => {
                self.right += 1;
                return;
            }
            Ok(Ok(facts)) if undoes == Undoes::LastFrame && facts == sample.before => {
                self.undone += 1;
                return;
            }
            Ok(Ok(facts)) if undoes == Undoes::LastSegment && facts == sample.begun => {
                self.undone += 1;
                return;
            }
            Ok(Ok(facts)) => facts.differences(&sample.facts).join("\n"),
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
            "{what}: {} refused, {} right, {} without the last frame, {wrong} wrong",
            self.refused, self.right, self.undone
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
            count.sort(&sample, &damaged, undoes, &damage);
        }
    }
    assert!(count.undone > 0, "the last frame was never hit");
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
            count.sort(&sample, &lost, undoes, &damage);
            for (other, length) in sample.segments() {
                if other == number || start + SECTOR > length {
                    continue;
                }
                let from = &sample.contents.queue.as_ref().unwrap()[&other][sector.clone()];
                let swapped =
                    sample.changed(number, |bytes| bytes[sector.clone()].copy_from_slice(from));
                let damage = format!("sector at {start} of segment {number} from {other}");
                count.sort(&sample, &swapped, undoes, &damage);
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
            count.sort(&sample, &damaged, undoes, &damage);
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
                Undoes::Nothing,
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
        count.sort(&sample, &damaged, undoes, &format!("without {number}"));
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
    assert_eq!(Facts::of(&open(&disk).unwrap()).unwrap(), sample.facts);
}
