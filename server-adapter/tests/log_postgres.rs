//! The log in PostgreSQL, with real servers.
#![cfg(all(unix, feature = "postgres"))]

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::servers::postgres::Postgres;
use deskfleet::{EntryId, Log, LogEntry, LogErrorKind};
use deskfleet_server::cluster::{PostgresLog, PostgresOptions};

fn open(url: &str) -> PostgresLog {
    PostgresLog::open(url, &PostgresOptions::default()).unwrap()
}

/// What is said where a log cannot be opened.
fn refusal(url: &str, options: &PostgresOptions) -> (LogErrorKind, String) {
    let error = PostgresLog::open(url, options).expect_err(url);
    (error.kind, error.message)
}

fn id(thread: u64, number: u64) -> EntryId {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&thread.to_be_bytes());
    bytes[8..].copy_from_slice(&number.to_be_bytes());
    EntryId(bytes)
}

/// All entries up to the last one there is.
fn all(log: &PostgresLog) -> Vec<LogEntry> {
    let last = log.bounds(0).unwrap().last;
    let mut entries: Vec<LogEntry> = Vec::new();
    while (entries.len() as u64) < last {
        let from = entries.len() as u64 + 1;
        entries.extend(log.read(from, 1 << 20, Duration::ZERO).unwrap());
    }
    entries
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

/// What the threads of [`failover_under_appends_loses_and_doubles_nothing`] share.
#[derive(Default)]
struct Appending {
    acknowledged: AtomicU64,
    ends: AtomicBool,
}

impl Appending {
    /// Appends one entry after the other, each until it is acknowledged; returns the positions.
    fn append(&self, log: &PostgresLog, thread: u64) -> Vec<u64> {
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
    fn follow(&self, log: &PostgresLog) -> Vec<LogEntry> {
        let mut entries: Vec<LogEntry> = Vec::new();
        while !self.ends.load(Ordering::Relaxed) {
            let from = entries.len() as u64 + 1;
            match log.read(from, 1 << 20, Duration::from_millis(100)) {
                Ok(read) => entries.extend(read),
                Err(error) => assert_eq!(error.kind, LogErrorKind::Unavailable, "{error}"),
            }
        }
        entries
    }

    fn wait_for_more(&self) {
        let before = self.acknowledged.load(Ordering::Relaxed);
        while self.acknowledged.load(Ordering::Relaxed) < before + 40 {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

#[test]
fn failover_under_appends_loses_and_doubles_nothing() {
    let Some(mut postgres) = Postgres::start() else {
        return;
    };
    let logs = [open(&postgres.url()), open(&postgres.url())];
    let appending = Appending::default();
    let (acknowledged, followed) = std::thread::scope(|scope| {
        let appending = &appending;
        let threads = [0, 1, 2, 3].map(|thread| {
            let log = &logs[thread % 2];
            scope.spawn(move || appending.append(log, thread as u64))
        });
        let follower = scope.spawn(|| appending.follow(&logs[0]));
        for _ in 0..5 {
            appending.wait_for_more();
            postgres.kill_primary();
            postgres.promote();
            appending.wait_for_more();
            postgres.revive();
        }
        appending.wait_for_more();
        appending.ends.store(true, Ordering::Relaxed);
        let acknowledged = threads.map(|thread| thread.join().unwrap());
        (acknowledged, follower.join().unwrap())
    });
    let entries = all(&open(&postgres.url()));
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
fn former_primary_that_returns_is_not_used() {
    let Some(mut postgres) = Postgres::start() else {
        return;
    };
    let log = open(&postgres.url());
    assert_eq!(log.append(id(0, 0), b"before").unwrap().position, 1);
    postgres.kill_primary();
    postgres.promote();
    postgres.restart();
    for log in [log, open(&postgres.url())] {
        let position = log.append(id(0, 1), b"after");
        assert_eq!(
            position
                .or_else(|_| log.append(id(0, 1), b"after"))
                .unwrap()
                .position,
            2
        );
        assert_eq!(all(&log).len(), 2);
    }
}

#[test]
fn stopped_primary_that_is_replaced_is_left() {
    let Some(mut postgres) = Postgres::start() else {
        return;
    };
    let log = open(&postgres.url());
    assert_eq!(log.append(id(0, 0), b"before").unwrap().position, 1);
    postgres.stop_primary();
    postgres.promote();
    for log in [log, open_when_there(&postgres)] {
        let appended = (0..20)
            .find_map(|_| log.append(id(0, 1), b"after").ok())
            .map(|appended| appended.position);
        assert_eq!(appended, Some(2));
        assert_eq!(all(&log).len(), 2);
    }
}

/// The standby that is left follows the new primary only after a while.
fn open_when_there(postgres: &Postgres) -> PostgresLog {
    let options = PostgresOptions::default();
    let mut opened = (0..20).filter_map(|_| PostgresLog::open(&postgres.url(), &options).ok());
    opened.next().unwrap()
}

#[test]
fn commit_without_standbys_is_not_acknowledged() {
    let Some(postgres) = Postgres::start() else {
        return;
    };
    // The session asks for more than that, and for the warning of a commit that did not wait.
    postgres.set("synchronous_commit", "off");
    postgres.set("client_min_messages", "error");
    let log = open(&postgres.url());
    assert!(log.warnings().is_empty());
    assert_eq!(log.append(id(0, 0), b"with standbys").unwrap().position, 1);
    postgres.stop_standbys();
    let appended = std::thread::scope(|scope| {
        let append = scope.spawn(|| log.append(id(0, 1), b"without standbys"));
        // The server then takes the commit for done, and says so to its client.
        let cancel =
            "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
        while postgres.sql(cancel).is_empty() && !append.is_finished() {}
        append.join().unwrap()
    });
    assert_eq!(appended.unwrap_err().kind, LogErrorKind::Unknown);
    assert_eq!(postgres.sql("SELECT max(seq) FROM df_log"), "2");
    let again = log.append(id(0, 1), b"without standbys");
    assert!(again.is_err(), "it is on no standby: {again:?}");
    let opened = PostgresLog::open(&postgres.url(), &PostgresOptions::default());
    assert!(opened.is_err(), "it could read what is on no standby");
    postgres.continue_standbys();
    let appended = (0..20)
        .find_map(|_| log.append(id(0, 1), b"without standbys").ok())
        .map(|appended| appended.position);
    assert_eq!(appended, Some(2));
    assert_eq!(all(&log).len(), 2);
}

#[test]
fn known_entry_is_acknowledged_only_with_standbys() {
    let Some(postgres) = Postgres::start() else {
        return;
    };
    let log = open(&postgres.url());
    assert_eq!(log.append(id(0, 0), b"once").unwrap().position, 1);
    postgres.stop_standbys();
    let again = log.append(id(0, 0), b"once").unwrap_err();
    assert_eq!(again.kind, LogErrorKind::Unknown, "{again}");
    postgres.continue_standbys();
    let again = (0..20)
        .find_map(|_| log.append(id(0, 0), b"once").ok())
        .map(|appended| appended.position);
    assert_eq!(again, Some(1));
}

#[test]
fn stopped_primary_ends_in_an_error() {
    let Some(postgres) = Postgres::start_alone() else {
        return;
    };
    let log = open(&postgres.url());
    assert_eq!(log.append(id(0, 0), b"before").unwrap().position, 1);
    postgres.stop_primary();
    let appended = log.append(id(0, 1), b"meanwhile").unwrap_err();
    assert_eq!(appended.kind, LogErrorKind::Unknown, "{appended}");
    for error in [
        log.append(id(0, 2), b"meanwhile").unwrap_err(),
        log.read(1, 1, Duration::ZERO).unwrap_err(),
        log.bounds(0).unwrap_err(),
        log.trim(1).unwrap_err(),
    ] {
        assert_eq!(error.kind, LogErrorKind::Unavailable, "{error}");
    }
    postgres.continue_primary();
    let again = (0..20)
        .find_map(|_| log.append(id(0, 1), b"meanwhile").ok())
        .map(|appended| appended.position);
    assert_eq!(again, Some(2));
    assert_eq!(all(&log).len(), 2);
}

#[test]
fn settings_that_lose_entries_are_refused() {
    let Some(postgres) = Postgres::start_alone() else {
        return;
    };
    let (url, options) = (postgres.url(), PostgresOptions::default());
    let warnings = open(&url).warnings();
    assert_eq!(warnings.len(), 1);
    assert!(
        warnings[0].contains("synchronous_standby_names"),
        "{warnings:?}"
    );
    for (setting, kind) in [
        ("fsync", LogErrorKind::Unsafe),
        ("full_page_writes", LogErrorKind::Unsafe),
        ("default_transaction_read_only", LogErrorKind::Unavailable),
    ] {
        let is_on = postgres.sql(&format!("SHOW {setting}")) == "on";
        postgres.set(setting, if is_on { "off" } else { "on" });
        let (refused, said) = refusal(&url, &options);
        assert_eq!(refused, kind, "{said}");
        assert!(said.contains(setting), "{said}");
        postgres.set(setting, if is_on { "on" } else { "off" });
    }
    drop(open(&url));
}

#[test]
fn standby_alone_is_refused() {
    let Some(postgres) = Postgres::start() else {
        return;
    };
    let url = format!(
        "postgres://postgres@127.0.0.1:{}/postgres",
        postgres.standby_ports()[0]
    );
    let (kind, said) = refusal(&url, &PostgresOptions::default());
    assert_eq!(kind, LogErrorKind::Unavailable);
    assert!(said.contains("standby in recovery"), "{said}");
}

/// The figures of the documents: `cargo test -p deskfleet-server --features postgres --test suites log_postgres:: -- --ignored --nocapture`.
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
