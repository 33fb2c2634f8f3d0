//! Maintenance of a file: filing into history, dropping old days, opening after a crash.
//!
//! Not a criterion bench: each of these changes the file it works on. `filing`, `retention` or `openings` runs that alone; `--mib 256`
//! makes a smaller file for the openings.

#![expect(clippy::expect_used, reason = "a bench that cannot run must stop")]
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use deskfleet::{Clock, Engine, Event, HistoryQuery, Stream, Timestamp};
use deskfleet_benches::crash::{Image, Opening};
use deskfleet_benches::figures::{float, median};
use deskfleet_benches::samples::{STEPS_A_DAY, STEPS_AN_HOUR, instance_id, stats_sample};
use deskfleet_benches::{FILE, Fixture, SyncMicros, folder_or, is_measuring, open, open_observed};

/// The sizes of a run.
struct Sizes {
    instances: [usize; 2],
    hours: usize,
    retained_days: usize,
    file_mib: u64,
    queue: usize,
    openings: usize,
}

const MEASURED: Sizes = Sizes {
    instances: [1000, 10_000],
    hours: 6,
    retained_days: 3,
    file_mib: 1024,
    queue: 200_000,
    openings: 3,
};
const ONCE: Sizes = Sizes {
    instances: [4, 8],
    hours: 1,
    retained_days: 1,
    file_mib: 1,
    queue: 100,
    openings: 1,
};

fn main() {
    let mut sizes = if is_measuring() { MEASURED } else { ONCE };
    let mut arguments = std::env::args().skip_while(|argument| argument != "--mib");
    if let Some(mib) = arguments.nth(1) {
        sizes.file_mib = mib.parse().expect("a number of MiB");
    }
    let named: Vec<_> = std::env::args()
        .filter(|argument| PARTS.contains(&argument.as_str()))
        .collect();
    let runs = |part: &str| named.is_empty() || named.iter().any(|name| name == part);
    let folder = folder_or(env!("CARGO_TARGET_TMPDIR"));
    let folder = tempfile::tempdir_in(folder).expect("a folder");
    println!("{}", SyncMicros::measure(folder.path()));
    for instances in sizes.instances {
        if runs("filing") {
            filing(folder.path(), instances, sizes.hours);
        }
        if runs("retention") {
            retention(folder.path(), instances, sizes.retained_days);
        }
    }
    if runs("openings") {
        openings_of_a_file(folder.path(), &sizes);
        openings_of_a_queue(folder.path(), &sizes);
    }
}

/// What can be run alone.
const PARTS: [&str; 3] = ["filing", "retention", "openings"];

/// How long each transaction took.
type Commits = Arc<Mutex<Vec<Duration>>>;

fn observed(folder: &Path, name: &str) -> (Fixture, Commits) {
    let folder = folder.join(name);
    std::fs::create_dir(&folder).expect("a folder");
    let commits = Commits::default();
    let theirs = Arc::clone(&commits);
    let fixture = open_observed(
        Some(&folder),
        |config| config.retention_days.stats = 1,
        move |event: &Event<'_>| {
            if let Event::Committed { duration, .. } = event {
                theirs.lock().expect("no thread panicked").push(*duration);
            }
        },
    );
    (fixture, commits)
}

/// Runs `work`; returns its milliseconds, its transactions, and how long the longest of them took: a write that comes with it
/// waits that long.
fn transactions(commits: &Commits, work: impl FnOnce()) -> (f64, usize, f64) {
    commits.lock().expect("no thread panicked").clear();
    let start = Instant::now();
    work();
    let all = start.elapsed().as_secs_f64() * 1e3;
    let commits = commits.lock().expect("no thread panicked");
    let longest = commits.iter().max().expect("a transaction");
    (all, commits.len(), longest.as_secs_f64() * 1e3)
}

/// Files an hour of samples, hour after hour.
fn filing(folder: &Path, instances: usize, hours: usize) {
    let (fixture, commits) = observed(folder, &format!("filing_{instances}"));
    let mut rates = Vec::new();
    let mut longest = 0.0_f64;
    for _ in 0..hours {
        fixture.sample(instances, STEPS_AN_HOUR);
        let mut filed = 0;
        let (all, _, wait) = transactions(&commits, || {
            filed = fixture.engine.file_pending().expect("filing");
        });
        rates.push(float(filed) / all * 1e3);
        longest = longest.max(wait);
    }
    println!(
        "filing an hour of {instances} instances: {:.0} records/s (median of {hours}), longest transaction {longest:.1} ms",
        median(rates),
    );
}

/// Drops a day that precedes days that stay.
fn retention(folder: &Path, instances: usize, days: usize) {
    let (fixture, commits) = observed(folder, &format!("retention_{instances}"));
    fixture
        .clock
        .set(Timestamp::from_day(fixture.clock.now().day() + 1));
    fixture.live(instances, days * 24);
    // Retention of a day keeps yesterday and today; a day later one of them is removed.
    fixture.engine.apply_retention().expect("retention");
    fixture.clock.advance_seconds(86_400);
    let (all, count, longest) = transactions(&commits, || {
        fixture.engine.apply_retention().expect("retention");
    });
    let records = instances * STEPS_A_DAY;
    println!(
        "dropping a day of {instances} instances, {records} records: {all:.1} ms in {count} transactions, the longest {longest:.1} ms ({:.0} %)",
        100.0 * longest / all,
    );
}

/// A fleet's file of some size: as a crash leaves it, and closed.
fn openings_of_a_file(folder: &Path, sizes: &Sizes) {
    let [_, instances] = sizes.instances;
    let source = folder.join("file");
    std::fs::create_dir(&source).expect("a folder");
    let fixture = open(Some(&source), |_| {});
    let mut hours = 0;
    let bytes = || {
        std::fs::metadata(source.join(FILE))
            .expect("the file")
            .len()
    };
    while bytes() < sizes.file_mib << 20 {
        fixture.live(instances, 1);
        hours += 1;
    }
    let name = format!(
        "{} MiB, {hours} hours of {instances} instances",
        bytes() >> 20
    );
    // A client that posts until the crash.
    fixture.sample(instances.min(100), 1);
    let day = fixture.engine.now();
    let ask = |engine: &Engine| {
        let id = instance_id(instances / 2);
        let from = Some(day.plus_seconds(-86_400));
        let page = engine.history(&HistoryQuery {
            from,
            limit: 500,
            ..HistoryQuery::new(Stream::Stats, &id)
        });
        assert!(!page.expect("a page").records.is_empty());
    };
    for cold in [false, true] {
        openings(
            &source,
            folder,
            sizes.openings,
            &format!("{name}, crashed"),
            cold,
            ask,
        );
    }
    fixture.engine.close().expect("it closes");
    for cold in [false, true] {
        openings(
            &source,
            folder,
            sizes.openings,
            &format!("{name}, closed"),
            cold,
            ask,
        );
    }
}

/// A queue that was not filed before the crash.
fn openings_of_a_queue(folder: &Path, sizes: &Sizes) {
    let source = folder.join("queue");
    std::fs::create_dir(&source).expect("a folder");
    let fixture = open(Some(&source), |_| {});
    let now = fixture.engine.now();
    let instances = sizes.instances[0];
    fixture.record(
        64,
        (0..sizes.queue).map(|number| {
            let time = now.plus_seconds(i64::try_from(number / instances).unwrap_or(0));
            stats_sample(number % instances, time)
        }),
    );
    let queued = fixture.engine.queue_count();
    let ask = |engine: &Engine| {
        assert_eq!(engine.queue_count(), queued);
        let user = engine.user("user1").expect("a user");
        assert!(user.is_some_and(|user| user.last_stats.is_some()));
    };
    let name = format!("{queued} records queued by 64, crashed");
    openings(&source, folder, sizes.openings, &name, false, ask);
}

fn openings(
    source: &Path,
    folder: &Path,
    times: usize,
    name: &str,
    cold: bool,
    ask: impl Fn(&Engine),
) {
    let openings: Vec<Opening> = (0..times)
        .map(|_| {
            let image = Image::copy(source, folder.join("image"));
            if cold {
                image.cool();
            }
            image.open(&ask)
        })
        .collect();
    println!(
        "{name}, {}: opens in {:.1} ms, first read {:.1} ms (medians of {times})",
        if cold { "from the disk" } else { "in memory" },
        median(openings.iter().map(|opening| opening.open)),
        median(openings.iter().map(|opening| opening.first_read)),
    );
}
