//! The long form: 60 days of a fleet under a manual clock, with 30 days of retention. Once the first days are dropped,
//! the file must stop growing.
//!
//! Each of 500 instances posts every five minutes, with one logon or logoff a day; upkeep runs every simulated hour. It
//! takes minutes; `--save` writes the sizes into `benches/plots/soak.csv`. Under `cargo test` it runs a few days of a
//! few instances.

#![expect(clippy::expect_used, reason = "a bench that cannot run must stop")]
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::fmt::Write;
use std::fs;
use std::time::Instant;

use deskfleet_benches::figures::float;
use deskfleet_benches::samples::{BATCH, STEPS_AN_HOUR, activity_sample};
use deskfleet_benches::{FILE, folder_or, is_measuring, open};

/// The file for the sizes of `--save`.
const SAVED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/plots/soak.csv");
/// The factor by which the file may exceed its size of two days after the first day was dropped.
const GROWTH_MAX: f64 = 1.5;

fn main() {
    let (instances, days, kept) = if is_measuring() {
        (500, 60, 30)
    } else {
        (5, 6, 2)
    };
    let folder = folder_or(env!("CARGO_TARGET_TMPDIR"));
    let folder = tempfile::tempdir_in(folder).expect("a folder");
    let fixture = open(Some(folder.path()), |config| {
        config.retention_days.stats = kept;
        config.retention_days.activity = kept;
    });
    let bytes = || {
        fs::metadata(folder.path().join(FILE))
            .expect("the file")
            .len()
    };
    let mut saved = "day,bytes\n".to_owned();
    let mut plateau = None;
    let start = Instant::now();
    println!("{instances} instances, {kept} days kept\n  day  file MiB  seconds");
    for day in 1..=days {
        for _ in 0..24 {
            fixture.sample(instances, STEPS_AN_HOUR);
            fixture.engine.maintain().expect("upkeep");
        }
        let now = fixture.engine.now();
        let activities = (0..instances).map(|instance| activity_sample(instance, now));
        fixture.record(BATCH, activities);
        let size = bytes();
        println!(
            "  {day:>3} {:>9.1} {:>8.1}",
            float(size) / f64::from(1 << 20),
            start.elapsed().as_secs_f64()
        );
        writeln!(saved, "{day},{size}").expect("a text");
        if day == kept + 2 {
            plateau = Some(size);
        }
        let plateau = plateau.unwrap_or(size);
        assert!(
            float(size) <= float(plateau) * GROWTH_MAX,
            "the file grows on: {size} bytes, {plateau} on day {}",
            kept + 2
        );
    }
    let report = fixture.engine.check().expect("a check");
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    if std::env::args().any(|argument| argument == "--save") {
        fs::write(SAVED, saved).expect("the sizes are saved");
    }
}
