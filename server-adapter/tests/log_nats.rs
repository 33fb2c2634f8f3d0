//! The log in NATS JetStream, with real servers.
#![cfg(all(unix, feature = "nats"))]

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::servers::nats::{Nats, Setup};
use deskfleet::{EntryId, Log, LogEntry, LogErrorKind};
use deskfleet_server::cluster::{JetStreamLog, NatsOptions};

/// The stream of the entries.
const STREAM: &str = "df_fleet";

fn open(url: &str) -> JetStreamLog {
    JetStreamLog::open(url, &NatsOptions::default()).unwrap()
}

fn id(thread: u64, number: u64) -> EntryId {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&thread.to_be_bytes());
    bytes[8..].copy_from_slice(&number.to_be_bytes());
    EntryId(bytes)
}

/// Adds what was read, but for the entry ahead of it.
fn add(entries: &mut Vec<LogEntry>, read: Vec<LogEntry>) {
    for entry in read {
        match entries.last() {
            Some(last) if last.position == entry.position => assert_eq!(*last, entry),
            _ => entries.push(entry),
        }
    }
}

/// All entries up to the last one there is.
fn all(log: &JetStreamLog) -> Vec<LogEntry> {
    let last = log.bounds(0).unwrap().last;
    let mut entries: Vec<LogEntry> = Vec::new();
    while (entries.len() as u64) < last {
        let from = entries.len() as u64 + 1;
        let read = log.read(from, 1 << 20, Duration::ZERO).unwrap();
        add(&mut entries, read);
    }
    entries
}

fn start(count: usize, sync: &str, more: &str) -> Option<Nats> {
    Nats::with(&Setup {
        count,
        sync: sync.to_owned(),
        more: more.to_owned(),
        ..Setup::default()
    })
}

#[test]
fn log_in_nats_keeps_the_contract() {
    let Some(nats) = Nats::start() else {
        return;
    };
    let url = nats.url();
    crate::log_contract::check(&|| Box::new(open(&url)));
    // Another fleet on the same servers.
    let url = format!("{url}&fleet=another");
    crate::log_contract::check(&|| Box::new(open(&url)));
}

/// Its time is the announced one, and what is before it is read anew.
#[test]
fn entry_is_read_by_who_appended_it_as_by_others() {
    let Some(nats) = Nats::start() else {
        return;
    };
    let [log, other] = [(); 2].map(|()| open(&nats.url()));
    let mut read: Vec<LogEntry> = Vec::new();
    for number in 0..100 {
        if number % 10 == 9 {
            other.append(id(1, number), b"another").unwrap();
        }
        let position = log.append(id(0, number), &[7; 1000]).unwrap().position;
        let from = read.last().map_or(1, |last| last.position + 1);
        for from in from..=position {
            add(&mut read, log.read(from, 1, Duration::ZERO).unwrap());
        }
    }
    assert_eq!(read.len(), 110);
    assert_eq!(read, all(&other));
}

#[test]
fn body_of_the_documented_bound_is_kept() {
    let Some(nats) = start(1, "always", "") else {
        return;
    };
    let log = open(&nats.url());
    assert_eq!(log.warnings().len(), 1, "{:?}", log.warnings());
    let body = vec![7; (1 << 20) - 512];
    assert_eq!(log.append(id(0, 0), &body).unwrap().position, 1);
    assert_eq!(all(&log)[0].body, body);
    let refused = log.append(id(0, 1), &vec![7; body.len() + 1]).unwrap_err();
    assert_eq!(refused.kind, LogErrorKind::Unavailable);
    assert!(refused.message.contains("max_payload"), "{refused}");
    assert_eq!(log.append(id(0, 2), b"after").unwrap().position, 2);
}

#[test]
fn log_that_ends_before_what_was_seen_says_so() {
    let Some(nats) = start(1, "always", "") else {
        return;
    };
    let error = open(&nats.url()).bounds(5).unwrap_err();
    assert_eq!(error.kind, LogErrorKind::Unavailable);
    let said = "the stream ends at 0, before 5";
    assert!(error.message.contains(said), "{error}");
}

/// What the threads of [`appended_while`] share.
#[derive(Default)]
struct Appending {
    acknowledged: AtomicU64,
    ends: AtomicBool,
}

impl Appending {
    /// Appends one entry after the other, each until it is acknowledged; returns the positions.
    fn append(&self, log: &JetStreamLog, thread: u64) -> Vec<u64> {
        let mut positions = Vec::new();
        while !self.ends.load(Ordering::Relaxed) {
            let id = id(thread, positions.len() as u64);
            loop {
                match log.append(id, &id.0.repeat(100)) {
                    Ok(appended) => break positions.push(appended.position),
                    Err(error) => assert_ne!(error.kind, LogErrorKind::Unsafe, "{error}"),
                }
            }
            self.acknowledged.fetch_add(1, Ordering::Relaxed);
        }
        positions
    }

    /// Reads what is appended, from the first entry on.
    fn follow(&self, log: &JetStreamLog) -> Vec<LogEntry> {
        let mut entries: Vec<LogEntry> = Vec::new();
        while !self.ends.load(Ordering::Relaxed) {
            let from = entries.len() as u64 + 1;
            match log.read(from, 1 << 20, Duration::from_millis(100)) {
                Ok(read) => add(&mut entries, read),
                Err(error) => assert_eq!(error.kind, LogErrorKind::Unavailable, "{error}"),
            }
        }
        entries
    }

    fn wait_for_more(&self) {
        let before = self.acknowledged.load(Ordering::Relaxed);
        while self.acknowledged.load(Ordering::Relaxed) < before + 200 {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Runs `rounds` while four threads append and one reads, and checks that each entry that was acknowledged is there, once.
fn check_while(nats: &mut Nats, rounds: impl FnOnce(&mut Nats, &Appending)) {
    let logs = [open(&nats.url()), open(&nats.url())];
    let appending = Appending::default();
    let (acknowledged, followed) = std::thread::scope(|scope| {
        let appending = &appending;
        let threads = [0, 1, 2, 3].map(|thread| {
            let log = &logs[thread % 2];
            scope.spawn(move || appending.append(log, thread as u64))
        });
        let follower = scope.spawn(|| appending.follow(&logs[0]));
        rounds(nats, appending);
        appending.wait_for_more();
        appending.ends.store(true, Ordering::Relaxed);
        let acknowledged = threads.map(|thread| thread.join().unwrap());
        (acknowledged, follower.join().unwrap())
    });
    let entries = all(&open(&nats.url()));
    let ids: BTreeSet<_> = entries.iter().map(|entry| entry.id).collect();
    assert_eq!(ids.len(), entries.len(), "an entry is doubled");
    let mut count = 0;
    for (thread, positions) in (0..).zip(&acknowledged) {
        for (number, position) in (0..).zip(positions) {
            let entry = &entries[usize::try_from(*position).unwrap() - 1];
            assert_eq!((entry.position, entry.id), (*position, id(thread, number)));
            assert_eq!(entry.body, entry.id.0.repeat(100));
            count += 1;
        }
    }
    assert_eq!(entries.len(), count, "each one was acknowledged");
    assert_eq!(followed, entries[..followed.len()], "what was read is lost");
}

#[test]
fn killed_leader_under_appends_loses_and_doubles_nothing() {
    let Some(mut nats) = Nats::start() else {
        return;
    };
    check_while(&mut nats, |nats, appending| {
        for _ in 0..5 {
            appending.wait_for_more();
            nats.kill_leader(STREAM);
            appending.wait_for_more();
            nats.revive();
        }
    });
}

#[test]
fn stopped_leader_under_appends_loses_and_doubles_nothing() {
    let Some(mut nats) = Nats::start() else {
        return;
    };
    check_while(&mut nats, |nats, appending| {
        for _ in 0..5 {
            appending.wait_for_more();
            let stopped = nats.stop_leader(STREAM);
            appending.wait_for_more();
            nats.resume(stopped);
            nats.wait_until_complete();
        }
    });
}

#[test]
fn stopped_server_ends_in_an_error() {
    let Some(nats) = start(1, "always", "") else {
        return;
    };
    let log = open(&nats.url());
    assert_eq!(log.append(id(0, 0), b"before").unwrap().position, 1);
    nats.stop(0);
    let appended = log.append(id(0, 1), b"meanwhile").unwrap_err();
    assert_eq!(appended.kind, LogErrorKind::Unknown, "{appended}");
    for error in [
        log.append(id(0, 2), b"meanwhile").unwrap_err(),
        log.read(1, 1, Duration::ZERO).unwrap_err(),
        log.bounds(0).unwrap_err(),
        log.trim(2).unwrap_err(),
        log.report("node", "said").unwrap_err(),
    ] {
        assert_eq!(error.kind, LogErrorKind::Unavailable, "{error}");
    }
    nats.resume(0);
    let again = (0..20).find_map(|_| log.append(id(0, 1), b"meanwhile").ok());
    let again = again.map(|appended| appended.position);
    assert_eq!(again, Some(2));
    assert_eq!(all(&log).len(), 2);
}

#[test]
fn entry_appended_again_after_the_duplicate_window_is_stored_once() {
    let Some(nats) = start(1, "always", "") else {
        return;
    };
    let options = NatsOptions {
        duplicate_window: Some(Duration::from_millis(100)),
        ..NatsOptions::default()
    };
    let open = || JetStreamLog::open(&nats.url(), &options).unwrap();
    let (log, other) = (open(), open());
    assert_eq!(log.append(id(0, 0), b"before").unwrap().position, 1);
    nats.stop(0);
    // The server has it in its socket, and stores it once it goes on.
    let appended = log.append(id(0, 1), b"meanwhile").unwrap_err();
    assert_eq!(appended.kind, LogErrorKind::Unknown, "{appended}");
    nats.resume(0);
    let begun = Instant::now();
    while other.bounds(0).map_or(0, |bounds| bounds.last) < 2 {
        assert!(begun.elapsed() < Duration::from_secs(30), "never stored");
    }
    // The servers have forgotten the id by then.
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(other.append(id(0, 2), b"after").unwrap().position, 3);
    assert_eq!(log.append(id(0, 1), b"meanwhile").unwrap().position, 2);
    assert_eq!(log.append(id(0, 3), b"last").unwrap().position, 4);
    assert_eq!(all(&log).len(), 4);
}

/// The figures: `cargo test -p deskfleet-server --features nats --test suites log_nats:: -- --ignored --nocapture`.
#[test]
#[ignore = "measures appends a second"]
fn appends_a_second_are_printed() {
    let Some(nats) = Nats::start() else {
        return;
    };
    let log = open(&nats.url());
    for (kind, bytes) in [(1_u64, 2_000), (2, 60_000), (3, 900_000)] {
        for threads in [1, 8] {
            let body = vec![7; bytes];
            let (begun, number) = (Instant::now(), AtomicU64::new(0));
            let append = || {
                // Longer, and the copies fill a small disk.
                while begun.elapsed() < Duration::from_secs(1) {
                    let number = number.fetch_add(1, Ordering::Relaxed);
                    log.append(id(kind * 100 + threads, number), &body).unwrap();
                }
            };
            std::thread::scope(|scope| {
                (0..threads).for_each(|_| drop(scope.spawn(append)));
            });
            let a_second = u128::from(number.into_inner()) * 1000 / begun.elapsed().as_millis();
            println!("{bytes} bytes, {threads} in flight: {a_second} appends a second");
        }
    }
    let (begun, entries) = (Instant::now(), all(&log));
    let bytes: usize = entries.iter().map(|entry| entry.body.len()).sum();
    let a_second = bytes as u128 / begun.elapsed().as_micros();
    println!("{} entries read, {a_second} MB a second", entries.len());
}
