//! What becomes of entries when servers of NATS are killed or stopped.

use std::time::{Duration, Instant};

use deskfleet::cluster::{Log as _, LogErrorKind};
use deskfleet_log_nats::NatsOptions;

use crate::contract::{STREAM, open, start};
use crate::log_under_faults::{all, append_until_it_succeeds, check, id};
use crate::servers::nats::Nats;

#[test]
fn killed_leader_under_appends_loses_and_doubles_nothing() {
    let Some(mut nats) = Nats::start() else {
        return;
    };
    let url = nats.url();
    check(&|| Box::new(open(&url)), |appending| {
        for _ in 0..5 {
            appending.wait_for_more(200);
            nats.kill_leader(STREAM);
            appending.wait_for_more(200);
            nats.revive();
        }
        appending.wait_for_more(200);
    });
}

#[test]
fn stopped_leader_under_appends_loses_and_doubles_nothing() {
    let Some(nats) = Nats::start() else {
        return;
    };
    let url = nats.url();
    check(&|| Box::new(open(&url)), |appending| {
        for _ in 0..5 {
            appending.wait_for_more(200);
            let stopped = nats.stop_leader(STREAM);
            appending.wait_for_more(200);
            nats.resume(stopped);
            nats.wait_until_complete();
        }
        appending.wait_for_more(200);
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
        log.report("node", "text").unwrap_err(),
    ] {
        assert_eq!(error.kind, LogErrorKind::Unavailable, "{error}");
    }
    nats.resume(0);
    assert_eq!(append_until_it_succeeds(&log, id(0, 1), b"meanwhile"), 2);
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
    let open = || deskfleet_log_nats::open(&nats.url(), &options).unwrap();
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
