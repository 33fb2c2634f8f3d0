//! The log in NATS JetStream, with real servers.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use deskfleet::cluster::{Log as _, LogEntry, LogErrorKind};
use deskfleet_log_nats::{JetStreamLog, NatsOptions};

use crate::log_under_faults::{add, all, id};
use crate::servers::nats::{Nats, Setup};

/// The stream of the entries.
pub(crate) const STREAM: &str = "df_fleet";

pub(crate) fn open(url: &str) -> JetStreamLog {
    deskfleet_log_nats::open(url, &NatsOptions::default()).unwrap()
}

/// Servers with this setting of `sync_interval`, and further lines of configuration.
pub(crate) fn start(count: usize, sync: &str, more: &str) -> Option<Nats> {
    Nats::start_with(&Setup {
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
    let message = "the stream ends at 0, before 5";
    assert!(error.message.contains(message), "{error}");
}

/// The figures: `cargo test -p deskfleet-log-nats --test suites -- --ignored --nocapture`.
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
