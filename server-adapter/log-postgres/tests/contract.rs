//! The log in PostgreSQL, with real servers.

use std::time::{Duration, Instant};

use deskfleet::cluster::Log as _;
use deskfleet_log_postgres::{PostgresLog, PostgresOptions};

use crate::log_under_faults::id;
use crate::servers::postgres::Postgres;

pub(crate) fn open(url: &str) -> PostgresLog {
    deskfleet_log_postgres::open(url, &PostgresOptions::default()).unwrap()
}

#[test]
fn log_in_postgres_keeps_the_contract() {
    let Some(postgres) = Postgres::start() else {
        return;
    };
    let url = postgres.url();
    crate::log_contract::check(&|| Box::new(open(&url)));
    let another = open(&format!("{url}&fleet=another"));
    assert_eq!(
        another
            .append(id(0, 0), b"of another fleet")
            .unwrap()
            .position,
        1
    );
    assert!(another.reports().unwrap().is_empty());
}

/// The figures of the documents: `cargo test -p deskfleet-log-postgres --test suites -- --ignored --nocapture`.
#[test]
#[ignore = "measures appends a second"]
fn appends_a_second_are_printed() {
    const SECONDS: u64 = 5;
    let Some(postgres) = Postgres::start() else {
        return;
    };
    println!("body, appenders: appends a second, p50 and p99 in ms");
    let bodies = [2_000, 60_000, 1_000_000].into_iter();
    let cases = bodies.flat_map(|bytes| [(bytes, 1), (bytes, 3)]);
    for (number, (bytes, appenders)) in (0..).zip(cases) {
        let end = Instant::now() + Duration::from_secs(SECONDS);
        // As nodes do: each has its own connection.
        let append = |appender: u64| {
            let (log, body) = (open(&postgres.url()), vec![7; bytes]);
            let mut taken = Vec::new();
            while Instant::now() < end {
                let begun = Instant::now();
                log.append(id(number << 32 | appender, taken.len() as u64), &body)
                    .unwrap();
                taken.push(begun.elapsed());
            }
            taken
        };
        let append = &append;
        let mut taken = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..appenders)
                .map(|appender| scope.spawn(move || append(appender)))
                .collect();
            let taken = threads
                .into_iter()
                .flat_map(|thread| thread.join().unwrap());
            taken.collect::<Vec<_>>()
        });
        taken.sort_unstable();
        let at = |hundredth: usize| taken[taken.len() * hundredth / 100].as_secs_f64() * 1000.0;
        let a_second = taken.len() as u64 / SECONDS;
        println!(
            "{bytes:>9} B, {appenders}: {a_second:>4}/s, {:.1}, {:.1}",
            at(50),
            at(99)
        );
        open(&postgres.url()).trim(u64::MAX).unwrap();
    }
}
