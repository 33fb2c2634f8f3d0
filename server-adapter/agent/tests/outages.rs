//! Records wait while the server cannot be reached, and arrive once.

use std::process::Command;
use std::time::{Duration, SystemTime};

use deskfleet::Stream;

use crate::agents::{Fleet, Running};
use crate::faulty_proxy::{Fault, FaultyProxy};

fn users(count: usize) -> Vec<String> {
    (0..count)
        .map(|number| format!("user{number:02}"))
        .collect()
}

#[test]
fn records_wait_while_the_server_is_away_and_arrive_once() {
    let fleet = Fleet::new();
    let proxy = FaultyProxy::new(fleet.addr(), Fault::Closed);
    let users = users(3);
    let mut agent = fleet.start(&proxy.url(), &[]);
    agent.wait_for("sending to");
    for user in &users {
        fleet.report(user);
    }
    agent.wait_for("the server cannot be reached");
    proxy.set(Fault::ResponseLost);
    proxy.wait_for_connections(2);
    assert!(!fleet.spool_is_empty());
    proxy.set(Fault::None);
    fleet.wait_for_locks(&users);
    agent.wait_for("sending again; 0 records still to send");
}

#[test]
fn lost_responses_make_no_second_record_even_after_filing() {
    let fleet = Fleet::new();
    let proxy = FaultyProxy::new(fleet.addr(), Fault::ResponseLost);
    let lost = fleet.once(&proxy.url());
    assert_eq!(lost.status.code(), Some(1), "{lost:?}");
    assert_eq!(fleet.records(Stream::Stats).len(), 1);
    let output = fleet.once(&fleet.url());
    assert!(output.status.success(), "{output:?}");
    // The one that was sent twice, and that of the second run.
    assert_eq!(fleet.records(Stream::Stats).len(), 2);
    assert_eq!(fleet.records(Stream::Processes).len(), 2);
    assert!(fleet.spool_is_empty());
}

#[test]
fn records_of_a_clock_two_hours_ahead_arrive_once_and_are_named() {
    let fleet = Fleet::with_clock(|| SystemTime::now() - Duration::from_secs(7200));
    let proxy = FaultyProxy::new(fleet.addr(), Fault::ResponseLost);
    assert_eq!(fleet.once(&proxy.url()).status.code(), Some(1));
    let output = fleet.once(&fleet.url());
    assert!(output.status.success(), "{output:?}");
    let log = String::from_utf8(output.stderr).unwrap();
    assert!(log.contains("the server says: "), "{log}");
    assert_eq!(fleet.records(Stream::Stats).len(), 2);
}

#[test]
fn records_wait_in_memory_while_the_disk_is_full() {
    let fleet = Fleet::new();
    let proxy = FaultyProxy::new(fleet.addr(), Fault::Closed);
    assert!(fleet.once(&fleet.url()).status.success());
    // No file may grow, as on a full disk; the signal for that is ignored, so that the write fails.
    let line = format!(
        "trap '' XFSZ; ulimit -f 0; exec {} --url {} --key-file key --stats-every 10s --processes-every 1h",
        env!("CARGO_BIN_EXE_deskfleet-agent"),
        proxy.url()
    );
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &line])
        .env("DESKFLEET_AGENT_SPOOL", fleet.file("spool"))
        .env("DESKFLEET_AGENT_INSTANCE", crate::agents::INSTANCE)
        .current_dir(fleet.file(""));
    let mut agent = Running::start(&mut shell);
    agent.wait_for("cannot write to the spool");
    assert!(
        agent.log().contains("free space on this disk"),
        "{}",
        agent.log()
    );
    // Each record that is tried leaves an empty file for an instant.
    fleet.wait_for_an_empty_spool();
    proxy.set(Fault::None);
    agent.wait_for("the server has the first");
    assert!(fleet.records(Stream::Stats).len() >= 2);
}
