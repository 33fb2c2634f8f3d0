//! The server killed under load, over and over, and ended by SIGTERM: acknowledged writes are there, once, and it
//! starts again.
//!
//! `DESKFLEET_KILL_ROUNDS=1000 cargo test -p deskfleet-server --test suites kill:: -- --nocapture` is the long form.
#![cfg(unix)]

use std::time::Duration;

use crate::load::ledger::{Fact, Ledger};
use crate::load::{Place, done};

/// Rounds in an ordinary run.
const ROUNDS: u32 = 12;

fn rounds() -> u32 {
    std::env::var("DESKFLEET_KILL_ROUNDS").map_or(ROUNDS, |rounds| rounds.parse().unwrap())
}

/// When the server is killed, after the clients have begun: at another moment in each round, during filing and upkeep
/// in some.
fn moment(round: u32) -> Duration {
    let spread = round.wrapping_mul(2_654_435_761) >> 16;
    let ms = match round % 6 {
        5 => 950 + spread % 300,
        _ => 20 + spread % 200,
    };
    Duration::from_millis(ms.into())
}

fn check_file(place: &Place) {
    let report = done(place.path(), "check");
    assert!(report.contains(r#""problems":[]"#), "{report}");
}

/// Whether the queue is in a folder beside the store.
fn has_segments(place: &Place) -> bool {
    place.file("deskfleet.redb-queue").exists()
}

#[derive(Default)]
struct Total {
    durable: usize,
    records: usize,
    open: usize,
    /// Kills that left segments.
    segments: u32,
}

impl Total {
    fn add(&mut self, ledger: &Ledger) {
        self.durable += ledger.durable.len();
        self.open += ledger.open.len();
        self.records += ledger.durable.iter().map(Fact::records).sum::<usize>();
    }
}

#[test]
fn acknowledged_writes_survive_kill_9() {
    let place = Place::new();
    let mut total = Total::default();
    let mut before: Option<Ledger> = None;
    let mut all = Vec::new();
    for round in 0..rounds() {
        if round % 4 == 3 {
            // Killed during its start, possibly while the file is repaired.
            let mut starting = place.spawn();
            std::thread::sleep(Duration::from_millis((round % 7 * 8).into()));
            starting.kill().unwrap();
            starting.wait().unwrap();
        }
        let mut served = place.serve();
        if let Some(ledger) = before.take() {
            ledger.check(served.address, &place.admin);
            all.push(ledger);
        }
        let ledger = place.write_until(&mut served, round, |served| {
            std::thread::sleep(moment(round));
            served.kill();
        });
        total.add(&ledger);
        total.segments += u32::from(has_segments(&place));
        before = Some(ledger);
        if round % 50 == 0 {
            check_file(&place);
        }
    }
    all.extend(before);
    let served = place.serve();
    for (age, ledger) in all.iter().rev().enumerate() {
        if age == 0 {
            ledger.check(served.address, &place.admin);
        } else {
            ledger.check_kept(served.address, &place.admin);
        }
    }
    drop(served);
    check_file(&place);
    assert!(total.durable > 0, "nothing was acknowledged");
    assert!(
        total.segments > rounds() / 2,
        "{} with segments",
        total.segments
    );
    println!(
        "{} rounds: {} writes acknowledged, {} records among them, {} in flight; none lost, none doubled",
        rounds(),
        total.durable,
        total.records,
        total.open
    );
}

#[test]
fn acknowledged_writes_survive_sigterm() {
    let place = Place::new();
    for round in 0..3 {
        let mut served = place.serve();
        let ledger = place.write_until(&mut served, round, |served| {
            std::thread::sleep(Duration::from_millis(150));
            let message = served.terminate();
            assert!(
                !message.iter().any(|line| line.contains("cut off")),
                "{message:?}"
            );
        });
        assert!(!ledger.durable.is_empty());
        assert!(!has_segments(&place), "a store that was closed is one file");
        place.serve().check(&ledger, &place);
    }
    check_file(&place);
}

/// A backup requested while clients write is a store with all that was acknowledged before, and no partial write.
#[test]
fn backup_by_signal_holds_writes_acknowledged_before_it() {
    let place = Place::new();
    std::fs::create_dir(place.file("copies")).unwrap();
    let mut served = place.serve();
    let before = place.write_until(&mut served, 0, |served| {
        std::thread::sleep(Duration::from_millis(200));
        served.kill();
    });
    let mut served = place.serve_with("--quiet --backups copies");
    let copied = place.write_until(&mut served, 1, |served| {
        served.signal(rustix::process::Signal::USR1);
        let message = served.wait_for("ackup");
        assert!(message.starts_with("Backup: copies/"), "{message}");
        served.terminate();
    });
    assert!(!copied.durable.is_empty());
    let copies: Vec<_> = std::fs::read_dir(place.file("copies")).unwrap().collect();
    assert_eq!(copies.len(), 1);
    // The copy replaces the store.
    std::fs::rename(
        copies[0].as_ref().unwrap().path(),
        place.file("deskfleet.redb"),
    )
    .unwrap();
    check_file(&place);
    let served = place.serve();
    before.check(served.address, &place.admin);
}

impl crate::load::Served {
    fn check(self, ledger: &Ledger, place: &Place) {
        ledger.check(self.address, &place.admin);
    }
}
