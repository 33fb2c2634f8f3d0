//! History: the bytes of a filed Stats record, the cost of filing, and the cost of reading a day of one desktop. The
//! records are those of a synthetic fleet that reports every 5 minutes or every minute.
//!
//! Not a criterion bench: most of its figures are bytes, measured in a compacted copy of the file.

#![expect(clippy::expect_used, reason = "a bench that cannot run must stop")]
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use deskfleet::{
    Config, Engine, EngineBuilder, HistoryQuery, ManualClock, Record, Stream, Timestamp,
};
use deskfleet_benches::fleet::{Fleet, Sample, instance_name, json_of};
use deskfleet_benches::is_measuring;
use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};

const DAY_SECONDS: i64 = 86_400;

/// A fleet, and how its records arrive.
#[derive(Debug, Clone, Copy)]
struct Plan {
    desktops: u32,
    interval_seconds: u32,
    days: i64,
    /// Records of one commit; all of them have its time.
    batch: usize,
    /// Rounds of samples between two filings.
    rounds: i64,
}

struct Filled {
    engine: Engine,
    clock: ManualClock,
    plan: Plan,
    records: usize,
    json_bytes: usize,
    filing: Duration,
}

/// A Monday.
fn start() -> Timestamp {
    "2026-11-16T00:00:00Z".parse().expect("a time")
}

fn builder(clock: &ManualClock) -> EngineBuilder {
    let mut config = Config::default();
    config.limits.queue_records = deskfleet::limits::QUEUE_RECORDS_MAX;
    config.limits.queue_high_water = u64::MAX;
    let builder = Engine::builder().clock(clock.clone()).seed(1);
    builder.config(config)
}

fn fill(plan: Plan, open: impl FnOnce(EngineBuilder) -> deskfleet::Result<Engine>) -> Filled {
    let clock = ManualClock::new(start());
    let mut filled = Filled {
        engine: open(builder(&clock)).expect("an engine opens"),
        clock,
        plan,
        records: 0,
        json_bytes: 0,
        filing: Duration::ZERO,
    };
    let mut fleet = Fleet::new(1, plan.desktops, plan.interval_seconds, start());
    let rounds = plan.days * DAY_SECONDS / i64::from(plan.interval_seconds);
    let mut gathered = Vec::new();
    for round in 1..=rounds {
        gathered.extend(fleet.round());
        if gathered.len() >= plan.batch {
            filled.post(&std::mem::take(&mut gathered));
        }
        if round % plan.rounds == 0 {
            filled.file();
        }
    }
    filled.post(&gathered);
    filled
}

impl Filled {
    fn post(&mut self, samples: &[Sample]) {
        for batch in samples.chunks(self.plan.batch) {
            let last = batch.last().expect("a sample");
            self.clock.set(last.arrives);
            let record = |sample: &Sample| Record::Stats(Box::new(sample.record.clone()));
            let records: Vec<_> = batch.iter().map(record).collect();
            self.engine.record_all(&records).expect("accepted");
            self.records += batch.len();
            let json = batch.iter().map(|sample| json_of(&sample.record).len());
            self.json_bytes += json.sum::<usize>();
        }
    }

    fn file(&mut self) {
        let start = Instant::now();
        self.engine.file_pending().expect("filing");
        self.filing += start.elapsed();
    }

    /// Ends the last day and seals all days, in as many calls of upkeep as the number of parts may need.
    fn seal(&self) -> Duration {
        let steps = i64::from(self.plan.desktops) * self.plan.days / 50 + 4 * self.plan.days;
        self.clock.advance_seconds(DAY_SECONDS);
        let start = Instant::now();
        for _ in 0..steps {
            self.engine.maintain().expect("upkeep");
        }
        start.elapsed()
    }

    /// Nanoseconds of filing a record.
    fn filing_ns(&self) -> f64 {
        per(self.filing.as_nanos(), self.records)
    }

    /// Prints the size of the records in a compacted copy of the file.
    fn print_bytes(&self, what: &str, folder: &Path) {
        let path = folder.join("copy.redb");
        self.engine.backup(&path).expect("a copy");
        let copy = builder(&self.clock).open(&path).expect("the copy opens");
        copy.compact().expect("compacted");
        copy.close().expect("closed");
        let file = std::fs::metadata(&path).expect("a file").len();
        let (history, parts) = table_bytes(&path, "history");
        let (queue, _) = table_bytes(&path, "queue");
        std::fs::remove_file(&path).expect("removed");
        let bytes = |bytes: u64| per(bytes.into(), self.records);
        println!(
            "  {what:34} history {:6.2}  queue {:6.2}  file {:6.2} bytes/record, {:.1} parts a day and desktop",
            bytes(history),
            bytes(queue),
            bytes(file),
            per(
                parts.into(),
                usize::try_from(i64::from(self.plan.desktops) * self.plan.days).expect("a count")
            ),
        );
    }
}

/// Bytes of all keys and values of a table, and their number.
fn table_bytes(path: &Path, name: &str) -> (u64, u64) {
    let table: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new(name);
    let database = Database::open(path).expect("a database");
    let transaction = database.begin_read().expect("a transaction");
    let table = transaction.open_table(table).expect("a table");
    let (mut bytes, mut entries) = (0, 0);
    for entry in table.iter().expect("entries") {
        let (key, value) = entry.expect("an entry");
        bytes += key.value().len() as u64 + value.value().len() as u64;
        entries += 1;
    }
    (bytes, entries)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a figure to look at, far below 2^53"
)]
fn per(total: u128, count: usize) -> f64 {
    total as f64 / count as f64
}

fn main() {
    let folder = std::env::var_os("DESKFLEET_BENCH_DIR")
        .unwrap_or_else(|| env!("CARGO_TARGET_TMPDIR").into());
    let folder = tempfile::tempdir_in(folder).expect("a folder");
    let small = |interval_seconds, days| Plan {
        desktops: if is_measuring() { 100 } else { 3 },
        interval_seconds,
        days: if is_measuring() { days } else { 1 },
        batch: 1,
        rounds: 1,
    };
    for plan in [small(300, 7), small(60, 2)] {
        print_history(plan, folder.path());
    }
    let (few, many) = if is_measuring() {
        (100, 10_000)
    } else {
        (2, 20)
    };
    for desktops in [few, many] {
        print_reading(desktops, folder.path());
    }
}

/// The size of filed records, and the cost of filing them.
fn print_history(plan: Plan, folder: &Path) {
    let mut waiting = fill(
        Plan {
            rounds: i64::MAX,
            ..plan
        },
        EngineBuilder::open_in_memory,
    );
    let json = per(waiting.json_bytes as u128, waiting.records);
    println!(
        "{} desktops, every {} s, {} records; JSON {json:.1} bytes/record",
        plan.desktops, plan.interval_seconds, waiting.records
    );
    waiting.print_bytes("queued, a commit each", folder);
    waiting.file();
    waiting.print_bytes("filed at once", folder);
    println!("  filing all at once: {:.0} ns/record", waiting.filing_ns());
    let crowded = Plan {
        rounds: i64::MAX,
        batch: 1000,
        ..plan
    };
    let crowded = fill(crowded, EngineBuilder::open_in_memory);
    crowded.print_bytes("queued, 1000 a commit", folder);
    let filed = fill(plan, EngineBuilder::open_in_memory);
    filed.print_bytes("filed one by one", folder);
    println!("  filing one by one: {:.0} ns/record", filed.filing_ns());
    let sealing = filed.seal();
    filed.print_bytes("filed one by one, then sealed", folder);
    println!(
        "  sealing: {:.0} ns/record",
        per(sealing.as_nanos(), filed.records)
    );
}

/// The cost of reading 24 hours of one desktop among `desktops`; they span two days.
fn print_reading(desktops: u32, folder: &Path) {
    let plan = Plan {
        desktops,
        interval_seconds: 300,
        days: 2,
        batch: 1000,
        rounds: 12,
    };
    let path = folder.join(format!("{desktops}.redb"));
    let filled = fill(plan, |builder| builder.open(&path));
    let to = start().plus_seconds(DAY_SECONDS * 3 / 2);
    let from = to.plus_seconds(-DAY_SECONDS);
    let mut times = Vec::new();
    let mut records = 0;
    for number in 0..if is_measuring() { 1000 } else { 5 } {
        let instance = instance_name(number * 7919 % desktops);
        let start = Instant::now();
        let page = filled
            .engine
            .history(&HistoryQuery {
                from: Some(from),
                to: Some(to),
                limit: 2000,
                ..HistoryQuery::new(Stream::Stats, &instance)
            })
            .expect("a page");
        times.push(start.elapsed());
        records = black_box(page).records.len();
    }
    times.sort();
    let median = times.get(times.len() / 2).copied().unwrap_or_default();
    println!(
        "24 h of one of {desktops}: {} µs (median), {records} records, {:.0} ns each; filing hour by hour {:.0} ns/record",
        median.as_micros(),
        per(median.as_nanos(), records.max(1)),
        filled.filing_ns()
    );
}
