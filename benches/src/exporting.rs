//! Exports of a filed store: records a second, and the memory that they take.
//!
//! The store is filled in one process and exported in another, whose memory so is that of the export alone.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use deskfleet::{
    Engine, Stream,
    query::{ExportFormat, ExportQuery},
};

use crate::figures::float;
use crate::fixture::{FILE, is_measuring, open};
use crate::samples::STEPS_AN_HOUR;

/// The argument with which the process of the exports is started.
const CHILD: &str = "export-of";
const INSTANCES: usize = 1000;
/// Records of the default form and, where nothing is measured, of a single run.
const RECORDS: [usize; 2] = [1_000_000, 24_000];
const MIB: u64 = 1 << 20;

/// Runs the bench when the arguments ask for it, `export`, with `--records 10000000` for the long form, and once where nothing is measured.
/// Returns whether nothing else was asked for.
///
/// # Panics
/// When the store cannot be filled or exported.
#[must_use]
pub fn run() -> bool {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let after = |name: &str| {
        let mut arguments = arguments.iter().skip_while(|argument| *argument != name);
        arguments.nth(1)
    };
    if let Some(folder) = after(CHILD) {
        export(Path::new(folder));
        return true;
    }
    let alone = arguments.iter().any(|argument| argument == "export");
    if !alone && is_measuring() {
        return false;
    }
    let [measured, once] = RECORDS;
    let records = after("--records").map(|count| count.parse().expect("a number of records"));
    let records = records.unwrap_or_else(|| if is_measuring() { measured } else { once });
    let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("a folder");
    let begun = Instant::now();
    let fixture = open(Some(folder.path()), |_| {});
    fixture.live(INSTANCES, records.div_ceil(INSTANCES * STEPS_AN_HOUR));
    fixture.engine.maintain().expect("upkeep");
    fixture.engine.close().expect("the store closes");
    println!(
        "export: {records} records of {INSTANCES} instances, recorded in {:.0} s",
        begun.elapsed().as_secs_f64()
    );
    let program = std::env::current_exe().expect("this program");
    let status = Command::new(program).arg(CHILD).arg(folder.path()).status();
    assert!(status.expect("the process of the exports").success());
    alone
}

/// Exports all records in each form, and prints how fast and with how much memory.
fn export(folder: &Path) {
    let builder = Engine::builder().seed(1).clock(std::time::SystemTime::now);
    let engine = builder.open(folder.join(FILE)).expect("the store opens");
    let query = || ExportQuery::new(Stream::Stats);
    // The page cache is full before anything is measured.
    let records = engine.export(query()).count();
    let typed = Instant::now();
    assert_eq!(engine.export(query()).count(), records);
    report("typed", records, typed, 0, memory());
    for (name, format) in [("ndjson", ExportFormat::Ndjson), ("csv", ExportFormat::Csv)] {
        let (idle, begun) = (memory(), Instant::now());
        let mut body = engine.export_body(query(), format).expect("an export");
        let (mut bytes, mut most) = (0, 0);
        let mut chunks = 0_u32;
        while let Some(chunk) = body.next_chunk().expect("a chunk") {
            bytes += chunk.len() as u64;
            chunks += 1;
            if chunks.is_multiple_of(64) {
                most = memory().max(most);
            }
        }
        report(name, records, begun, bytes, most.saturating_sub(idle));
    }
}

fn report(name: &str, records: usize, begun: Instant, bytes: u64, memory: u64) {
    let seconds = begun.elapsed().as_secs_f64();
    println!(
        "  {name:<6} {:>9.0} records/s, {:>6.1} MiB/s, {:.1} MiB of memory",
        float(records as u64) / seconds,
        float(bytes) / float(MIB) / seconds,
        float(memory) / float(MIB),
    );
}

/// Resident memory of this process, in bytes; 0 where the system does not report it.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}
