//! Agents that are killed at any moment.

use std::fs::{self, File};
use std::io::Write as _;
use std::thread::sleep;
use std::time::Duration;

use deskfleet::Stream;

use crate::agents::{Fleet, segments};
use crate::faulty_proxy::{Fault, FaultyProxy};

#[test]
fn agent_killed_at_any_moment_loses_and_doubles_nothing() {
    let fleet = Fleet::new();
    let proxy = FaultyProxy::new(fleet.addr(), Fault::None);
    assert!(fleet.once(&proxy.url()).status.success());
    let mut users = Vec::new();
    for round in 0..10_u64 {
        let fault =
            [Fault::None, Fault::ResponseLost, Fault::Closed][usize::try_from(round % 3).unwrap()];
        proxy.set(fault);
        for number in 0..3 {
            users.push(format!("user{round}-{number}"));
            fleet.report(&users[users.len() - 1]);
        }
        let agent = fleet.start(&proxy.url(), &[]);
        sleep(Duration::from_millis(7 * round * round));
        agent.kill();
    }
    proxy.set(Fault::None);
    let output = fleet.once(&proxy.url());
    assert!(output.status.success(), "{output:?}");
    fleet.wait_for_locks(&users);
    assert!(fleet.spool_is_empty());
}

#[test]
fn line_that_a_crash_has_cut_off_is_skipped_and_named() {
    let fleet = Fleet::new();
    assert!(fleet.once(&fleet.url()).status.success());
    fleet.report("jdoe");
    let file = segments(&fleet.file("spool")).remove(0);
    let line = fs::read(&file).unwrap();
    let mut file = File::options().append(true).open(file).unwrap();
    file.write_all(&line[..40]).unwrap();
    let output = fleet.once(&fleet.url());
    assert!(output.status.success(), "{output:?}");
    let log = String::from_utf8(output.stderr).unwrap();
    assert!(log.contains("a crash has cut off"), "{log}");
    assert_eq!(fleet.locks(), ["jdoe"]);
    assert_eq!(fleet.records(Stream::Stats).len(), 2);
}
