//! Nodes of two versions that share a log, of which the later one knows newer rules.

use deskfleet::cluster::{Log as _, MemoryLog};
use deskfleet::settings::Value;
use deskfleet::{AuditAction, Config, Engine, EngineBuilder, ErrorKind, ManualClock};
use deskfleet_tests::cluster::node::{builder, follow, refusal, start, stopped, workspace};
use std::time::Duration;

/// The rules of the fleet, as each of the two versions knows them.
const OLDER: u16 = 4;
const NEWER: u16 = 5;

fn program(seed: u64, clock: &ManualClock, log: &MemoryLog, rules: u16) -> EngineBuilder {
    let log = log.clone();
    builder(seed, clock)
        .log(log, format!("node-{seed}"))
        .rules(rules)
}

fn fleet_rules(engine: &Engine) -> u16 {
    engine.cluster_status().unwrap().unwrap().rules
}

/// The rules that the entries of the log have.
fn written(log: &MemoryLog) -> Vec<u16> {
    let entries = log.read(1, usize::MAX, Duration::ZERO).unwrap();
    let rules = |body: &[u8]| u16::from_le_bytes([body[1], body[2]]);
    entries.iter().map(|entry| rules(&entry.body)).collect()
}

#[test]
fn fleet_writes_by_the_rules_of_before_until_it_is_finalized() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("node.redb");
    let first = program(1, &clock, &log, OLDER).open(&path).unwrap();
    first.put_workspace(workspace("ws-1")).unwrap();
    let second = program(2, &clock, &log, NEWER).open_in_memory().unwrap();
    follow(&second);
    second.put_workspace(workspace("ws-2")).unwrap();
    follow(&first);
    assert!(first.workspace("ws-2").unwrap().is_some());
    assert_eq!([&first, &second].map(fleet_rules), [OLDER; 2]);

    let error = refusal(second.finalize_fleet(None));
    assert_eq!(error.kind(), ErrorKind::InvalidResourceState);
    assert!(error.context().contains("upgrade node-1"), "{error}");
    // That of the older version changes nothing.
    first.finalize_fleet(None).unwrap();
    assert!(written(&log).iter().all(|rules| *rules == OLDER));

    first.close().unwrap();
    let first = program(3, &clock, &log, NEWER);
    let first = first.open(&path).unwrap();
    second.forget_node("node-1", None).unwrap();
    follow(&first);
    first.put_workspace(workspace("ws-3")).unwrap();
    let before = written(&log);
    assert!(before.iter().all(|rules| *rules == OLDER));
    for _ in 0..2 {
        second.finalize_fleet(None).unwrap();
    }
    follow(&first);
    first.put_workspace(workspace("ws-4")).unwrap();
    let after = written(&log);
    assert_eq!(after, [before, vec![NEWER; 2]].concat());
    assert_eq!([&first, &second].map(fleet_rules), [NEWER; 2]);

    // It is known after a restart, and an older version stops before it.
    first.close().unwrap();
    let first = program(4, &clock, &log, NEWER).open(&path).unwrap();
    assert_eq!(fleet_rules(&first), NEWER);
    let older = program(5, &clock, &log, OLDER).open_in_memory().unwrap();
    let error = stopped(&older);
    assert_eq!(error.kind(), ErrorKind::NewerFormat, "{error}");
    assert!(older.workspace("ws-3").unwrap().is_some());
    assert!(older.workspace("ws-4").unwrap().is_none());
}

#[test]
fn finalizing_keeps_the_settings_of_the_fleet() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let first = program(1, &clock, &log, OLDER).open_in_memory().unwrap();
    first.put_workspace(workspace("ws-1")).unwrap();
    first.close().unwrap();
    let mut config = Config::default();
    config.retention_days.stats += 1;
    let second = program(2, &clock, &log, NEWER).config(config);
    let second = second.open_in_memory().unwrap();
    second.forget_node("node-1", None).unwrap();
    follow(&second);
    let differs = second.foreign_settings().unwrap();
    assert_eq!(differs.len(), 1, "{differs:?}");
    second.finalize_fleet(None).unwrap();
    assert_eq!(fleet_rules(&second), NEWER);
    assert_eq!(second.foreign_settings().unwrap(), differs);
}

#[test]
fn fleet_that_a_newer_version_begins_writes_by_its_rules() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let first = program(1, &clock, &log, NEWER).open_in_memory().unwrap();
    first.put_workspace(workspace("ws-1")).unwrap();
    assert_eq!(written(&log), [NEWER; 2]);
    let older = program(2, &clock, &log, OLDER).open_in_memory().unwrap();
    assert_eq!(stopped(&older).kind(), ErrorKind::NewerFormat);
}

#[test]
fn older_program_on_the_file_of_a_newer_one_writes_nothing() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("node.redb");
    let newer = program(1, &clock, &log, NEWER).open(&path).unwrap();
    newer.put_workspace(workspace("ws-1")).unwrap();
    newer.close().unwrap();
    let before = written(&log);
    let older = program(2, &clock, &log, OLDER).open(&path).unwrap();
    refusal(older.put_workspace(workspace("ws-2")));
    assert_eq!(stopped(&older).kind(), ErrorKind::NewerFormat);
    assert!(older.workspace("ws-1").unwrap().is_some());
    assert_eq!(written(&log), before);
}

/// It has applied nothing yet, and so does not know by which rules the fleet writes.
#[test]
fn first_write_of_a_newer_program_is_by_the_rules_of_the_fleet() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let older = program(1, &clock, &log, OLDER).open_in_memory().unwrap();
    older.put_workspace(workspace("ws-1")).unwrap();
    let newer = program(2, &clock, &log, NEWER).open_in_memory().unwrap();
    newer.put_workspace(workspace("ws-2")).unwrap();
    let mut config = Config::default();
    config.retention_days.stats += 1;
    let other = program(3, &clock, &log, NEWER).config(config);
    other.open_in_memory().unwrap().configure_fleet().unwrap();
    assert_eq!(written(&log), [OLDER; 4]);
    follow(&older);
}

/// Leases and the audit of changes of the fleet came with the newer rules.
#[test]
fn what_came_with_newer_rules_waits_for_them() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let older = program(1, &clock, &log, OLDER).open_in_memory().unwrap();
    older.put_workspace(workspace("ws-1")).unwrap();
    let [one, two] = [2, 3].map(|seed| {
        let node = program(seed, &clock, &log, NEWER);
        node.open_in_memory().unwrap()
    });
    let refused = refusal(one.take_lease("aws", "one", 20));
    assert_eq!(refused.kind(), ErrorKind::NotFound, "{refused}");
    let change = |days| [("retention_days.stats".to_owned(), Value::Number(days))];
    one.change_fleet_settings(&change(20), None).unwrap();
    // It has applied nothing yet, and so does not know by which rules the fleet writes.
    two.forget_node("node-9", None).unwrap();
    follow(&older);
    older.put_workspace(workspace("ws-2")).unwrap();
    older.close().unwrap();

    two.forget_node("node-1", None).unwrap();
    two.catch_up().unwrap();
    two.finalize_fleet(None).unwrap();
    one.take_lease("aws", "one", 20).unwrap();
    let refused = refusal(two.take_lease("aws", "two", 20));
    assert_eq!(refused.kind(), ErrorKind::InvalidResourceState, "{refused}");
    clock.advance_seconds(21);
    two.take_lease("aws", "two", 20).unwrap();
    two.change_fleet_settings(&change(25), None).unwrap();
    two.forget_node("node-9", None).unwrap();
    follow(&one);
    let rows = [&one, &two].map(|engine| engine.admin_activity(10).unwrap());
    assert_eq!(rows[0], rows[1]);
    let configured = rows[0].iter();
    let configured = configured.filter(|row| row.action == AuditAction::ConfigureFleet);
    let details: Vec<_> = configured.map(|row| row.detail.as_deref()).collect();
    let known = [
        "node node-9 off the list",
        "retention_days.stats=25",
        "rules=5",
    ];
    assert_eq!(details, known.map(Some));
}
