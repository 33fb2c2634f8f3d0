//! Damaged files: a file with flipped bits or a cut end is refused, or returns what the whole file does; it never
//! returns anything else, and a refused file stays as it is.
//!
//! `DESKFLEET_FLIPS` sets the number of flipped bits of each file; CI takes the default, a night of testing 1 000 000.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "tests"
)]

use std::panic::{AssertUnwindSafe, catch_unwind};

use deskfleet::{
    CommitPhases, Config, Engine, EngineError, ErrorKind, ManualClock, Timestamp, WorkspaceList,
    WorkspaceQuery, error_chain,
};
use deskfleet_tests::crash::facts::Facts;
use deskfleet_tests::crash::image::Fate;
use deskfleet_tests::crash::seed::Seed;
use deskfleet_tests::crash::workload::{Step, record, steps};
use deskfleet_tests::crash::{image_at, setups};
use deskfleet_tests::disk::Disk;
use deskfleet_tests::files::Queue;
use deskfleet_tests::panics::{expect_redb_to_panic, other_panics, redb_panics};

/// Flipped bits of each file.
const FLIPS: usize = 2000;
/// Bytes at the front of the file that redb rewrites with each commit: every bit of them is flipped.
const HEADER: usize = 320;

/// A file to damage.
struct Sample {
    name: String,
    bytes: Vec<u8>,
    config: Config,
    now: Timestamp,
    /// What it returns.
    facts: Facts,
    /// What it returned before its last commit.
    before: Facts,
    undoes: Undoes,
}

/// The damage that looks like a commit that a crash cut short, and undoes the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Undoes {
    /// None: the file was closed.
    Nothing,
    /// Only damage to the one bit that points to the last commit.
    Pointer,
    /// Any of what the last commit wrote.
    Commit,
}

/// The bit that selects the newer of the two slots of the header.
const POINTER_BIT: usize = 72;

fn open(disk: &Disk, config: &Config, now: Timestamp) -> Result<Engine, EngineError> {
    let builder = Engine::builder().clock(ManualClock::new(now)).seed(5);
    builder.config(config.clone()).open_backend(disk.backend())
}

/// A file with something in every table, closed and as a crash leaves it, of every profile.
fn samples() -> Vec<Sample> {
    let mut samples = Vec::new();
    for setup in setups(Queue::Table) {
        let (name, config) = (&setup.name, &setup.config);
        let steps: Vec<_> = steps()
            .into_iter()
            .take_while(|step| !matches!(step, Step::Compact))
            .collect();
        let recording = record(&steps, &setup);
        let last = recording.scenes.last().unwrap();
        let bytes = image_at(&recording, last.end, Fate::Kept).store;
        let disk = Disk::holding(bytes.clone());
        let engine = open(&disk, config, last.now).unwrap();
        let report = engine.check().unwrap();
        assert_eq!(report.problems, Vec::<String>::new());
        assert!(report.queued_records > 0 && report.history_records > 0 && report.keys > 0);
        assert!(report.audit_rows > 0 && report.workspaces > 0);
        assert!(
            !engine
                .workspaces(&WorkspaceQuery {
                    list: WorkspaceList::OnHold,
                    limit: 1,
                    ..WorkspaceQuery::default()
                })
                .unwrap()
                .workspaces
                .is_empty()
        );
        engine.close().unwrap();
        let sample = |shut: &str, bytes: Vec<u8>, undoes: Undoes| Sample {
            name: format!("{name}, {shut}"),
            bytes,
            config: config.clone(),
            now: last.now,
            facts: last.after.clone(),
            before: last.before.clone(),
            undoes,
        };
        samples.push(sample("closed", disk.bytes(), Undoes::Nothing));
        let undoes = if config.commit_phases == CommitPhases::One && !config.quick_repair {
            Undoes::Commit
        } else {
            Undoes::Pointer
        };
        samples.push(sample("not closed", bytes, undoes));
    }
    samples
}

#[derive(Debug, Default)]
struct Count {
    refused: usize,
    right: usize,
    /// As before the last commit.
    undone: usize,
    wrong: Vec<String>,
}

/// Opens a damaged file and classifies the result.
fn sort(sample: &Sample, damaged: &[u8], damage: &str, count: &mut Count) {
    let disk = Disk::holding(damaged.to_vec());
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let engine = open(&disk, &sample.config, sample.now)?;
        Facts::read(&engine)
    }));
    let wrong = match outcome {
        Err(_) => "a panic".to_owned(),
        Ok(Err(error)) => {
            let clear = matches!(error.kind(), ErrorKind::Corrupted | ErrorKind::ForeignFile);
            if clear && disk.bytes() == damaged {
                count.refused += 1;
                return;
            }
            format!(
                "refused as {:?}, or written to: {}",
                error.kind(),
                error_chain(&error)
            )
        }
        Ok(Ok(facts)) if facts == sample.facts => {
            count.right += 1;
            return;
        }
        Ok(Ok(facts)) if facts == sample.before && may_undo(sample, damage) => {
            count.undone += 1;
            return;
        }
        Ok(Ok(facts)) => facts.differences(&sample.facts).join("\n"),
    };
    let name = &sample.name;
    count.wrong.push(format!("{name}, {damage}: {wrong}"));
}

fn may_undo(sample: &Sample, damage: &str) -> bool {
    match sample.undoes {
        Undoes::Nothing => false,
        Undoes::Pointer => damage == format!("bit {POINTER_BIT}"),
        Undoes::Commit => true,
    }
}

fn demand(sample: &Sample, count: &Count) {
    let Count {
        refused,
        right,
        undone,
        wrong,
    } = count;
    let total = refused + right + undone + wrong.len();
    println!(
        "{}: {total} damaged files, {refused} refused, {right} right, {undone} without the last commit, {} wrong",
        sample.name,
        wrong.len()
    );
    let first = wrong
        .iter()
        .take(3)
        .cloned()
        .collect::<Vec<_>>()
        .join("\n\n");
    assert!(
        wrong.is_empty(),
        "{} of {total} are wrong:\n{first}",
        wrong.len()
    );
    assert_eq!(other_panics(), 0, "the engine caught a panic of its own");
    assert!(
        *refused > 0 && *right > 0,
        "damage that does nothing, or all"
    );
}

fn flipped(sample: &Sample, bit: usize) -> Vec<u8> {
    let mut damaged = sample.bytes.clone();
    damaged[bit / 8] ^= 1 << (bit % 8);
    damaged
}

#[test]
fn flipped_bit_is_refused_or_harmless() {
    expect_redb_to_panic();
    let asked = std::env::var("DESKFLEET_FLIPS").ok();
    let flips = asked.map_or(FLIPS, |flips| flips.parse().expect("a number"));
    for (number, sample) in samples().iter().enumerate() {
        let mut count = Count::default();
        for bit in 0..HEADER * 8 {
            sort(
                sample,
                &flipped(sample, bit),
                &format!("bit {bit}"),
                &mut count,
            );
        }
        // Most of a small file is free; used parts are not zero.
        let taken: Vec<_> = (HEADER..sample.bytes.len())
            .filter(|at| sample.bytes[*at] != 0)
            .collect();
        let mut seed = Seed::new(number as u64);
        for nth in 0..flips {
            let anywhere = seed.below(sample.bytes.len()).unwrap();
            let byte = if nth % 10 == 0 {
                anywhere
            } else {
                seed.choose(&taken)
            };
            let bit = byte * 8 + seed.below(8).unwrap();
            sort(
                sample,
                &flipped(sample, bit),
                &format!("bit {bit}"),
                &mut count,
            );
        }
        demand(sample, &count);
    }
    println!("{} panics of redb were caught", redb_panics());
}

#[test]
fn truncated_file_is_refused_or_harmless() {
    expect_redb_to_panic();
    for sample in &samples() {
        let mut count = Count::default();
        let whole = sample.bytes.len();
        let mut lengths: Vec<_> = (0..whole).step_by(4096).collect();
        lengths.extend([1, 8, 9, 10, 64, 319, 320, 511, 512, whole - 1]);
        let mut seed = Seed::new(1);
        lengths.extend((0..100).map(|_| seed.below(whole).unwrap()));
        for length in lengths {
            if length == 0 {
                continue; // An empty file is a new one.
            }
            let mut damaged = sample.bytes.clone();
            damaged.truncate(length);
            sort(sample, &damaged, &format!("{length} bytes"), &mut count);
        }
        count.right += 1; // The whole file, which needs no test here.
        demand(sample, &count);
    }
}

/// Overwritten with zeros or another page, or grown: damage by storage other than flipped bits.
#[test]
fn zeroed_or_swapped_page_is_refused_or_harmless() {
    expect_redb_to_panic();
    for sample in &samples() {
        let mut count = Count::default();
        let pages = sample.bytes.len() / 4096;
        for page in 1..pages {
            let range = page * 4096..(page + 1) * 4096;
            let mut zeroed = sample.bytes.clone();
            zeroed[range.clone()].fill(0);
            sort(sample, &zeroed, &format!("page {page} zeroed"), &mut count);
            let mut swapped = sample.bytes.clone();
            let other = 1 + (page * 7) % (pages - 1);
            swapped[range].copy_from_slice(&sample.bytes[other * 4096..(other + 1) * 4096]);
            sort(
                sample,
                &swapped,
                &format!("page {page} holds {other}"),
                &mut count,
            );
        }
        demand(sample, &count);
    }
}
