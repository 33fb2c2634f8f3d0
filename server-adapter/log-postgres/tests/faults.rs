//! What becomes of entries when servers of PostgreSQL are killed, stopped or replaced.

use std::time::Duration;

use deskfleet::cluster::{Log as _, LogErrorKind};
use deskfleet_log_postgres::{PostgresLog, PostgresOptions};

use crate::contract::open;
use crate::log_under_faults::{all, append_until_it_succeeds, check, id, open_until_it_succeeds};
use crate::servers::postgres::Postgres;

#[test]
fn failover_under_appends_loses_and_doubles_nothing() {
    let Some(mut postgres) = Postgres::start() else {
        return;
    };
    let url = postgres.url();
    check(&|| Box::new(open(&url)), |appending| {
        for _ in 0..5 {
            appending.wait_for_more(40);
            postgres.kill_primary();
            postgres.promote();
            appending.wait_for_more(40);
            postgres.revive();
        }
    });
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
    for log in [log, open_when_there(&postgres)] {
        assert_eq!(append_until_it_succeeds(&log, id(0, 1), b"after"), 2);
        assert_eq!(all(&log).len(), 2);
    }
}

/// Without synchronous standbys a former primary would append.
#[test]
fn former_primary_is_refused_also_after_a_restart() {
    let Some(mut postgres) = Postgres::start_asynchronous() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let options = |name: &str| PostgresOptions {
        newest_server: Some(folder.path().join(name)),
        ..PostgresOptions::default()
    };
    let url = postgres.url();
    let begin = |name: &str| deskfleet_log_postgres::open(&url, &options(name));
    let log = begin("timeline").unwrap();
    assert_eq!(append_until_it_succeeds(&log, id(0, 0), b"before"), 1);
    drop(log);
    postgres.kill_primary();
    postgres.promote();
    drop(open_until_it_succeeds(|| begin("timeline").ok()));
    postgres.restart();
    postgres.kill_primary();
    let error = begin("timeline").unwrap_err();
    assert_eq!(error.kind, LogErrorKind::Unavailable);
    assert!(
        error.message.contains("another server took its place"),
        "{error}"
    );
    // A node that never used the other one.
    drop(open_until_it_succeeds(|| begin("none").ok()));
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
        assert_eq!(append_until_it_succeeds(&log, id(0, 1), b"after"), 2);
        assert_eq!(all(&log).len(), 2);
    }
}

/// A timeline that is not that of the server stands for a failover.
#[test]
fn server_that_took_over_appends_nothing_until_it_resumes() {
    let Some(postgres) = Postgres::start_alone() else {
        return;
    };
    let log = open(&postgres.url());
    assert_eq!(log.append(id(0, 0), b"before").unwrap().position, 1);
    postgres.sql("UPDATE df_head SET timeline = 7");
    let error = log.append(id(0, 1), b"too early").unwrap_err();
    assert_eq!(error.kind, LogErrorKind::Unavailable);
    assert_eq!(log.append(id(0, 0), b"before").unwrap().position, 1);
    let bounds = log.bounds(0).unwrap();
    assert_eq!((bounds.last, bounds.takeover), (1, Some(1)));
    log.resume(7).unwrap();
    assert_eq!(log.bounds(0).unwrap().takeover, Some(1), "another one");
    log.resume(1).unwrap();
    assert_eq!(log.bounds(0).unwrap().takeover, None);
    assert_eq!(log.append(id(0, 1), b"after").unwrap().position, 2);
}

/// The standby that is left follows the new primary only after a while.
fn open_when_there(postgres: &Postgres) -> PostgresLog {
    let options = PostgresOptions::default();
    open_until_it_succeeds(|| deskfleet_log_postgres::open(&postgres.url(), &options).ok())
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
    let opened = deskfleet_log_postgres::open(&postgres.url(), &PostgresOptions::default());
    assert!(opened.is_err(), "it could read what is on no standby");
    postgres.continue_standbys();
    assert_eq!(
        append_until_it_succeeds(&log, id(0, 1), b"without standbys"),
        2
    );
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
    assert_eq!(append_until_it_succeeds(&log, id(0, 0), b"once"), 1);
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
    assert_eq!(append_until_it_succeeds(&log, id(0, 1), b"meanwhile"), 2);
    assert_eq!(all(&log).len(), 2);
}
