//! What is wrong with a fleet is noticed: settings of an older version, a wrong clock, two nodes of one name, nodes that differ.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use deskfleet::{
    ActionDriver, ActionRequest, Clock as _, Condition, Config, Engine, ManualClock, Severity,
    State, Timestamp, Workspace,
    cluster::{EntryId, Log as _, MemoryLog},
};
use deskfleet_tests::cluster::log::FaultyLog;
use serde_json::json;

fn start() -> Timestamp {
    "2026-11-20T08:00:00Z".parse().unwrap()
}

fn named(name: &str, seed: u64, clock: &ManualClock, log: &MemoryLog) -> Engine {
    let builder = Engine::builder().clock(clock.clone()).seed(seed);
    let builder = builder.log(log.clone(), name.to_owned());
    builder.open_in_memory().unwrap()
}

fn follow(engine: &Engine) {
    while engine.follow(Duration::ZERO).unwrap() > 0 {}
}

fn workspace(id: &str) -> Workspace {
    Workspace {
        id: id.into(),
        state: Some(State::Available.into()),
        ..Workspace::default()
    }
}

/// The first entry of a log, of the version before settings by the kind of action, as `core/docs/log.md` describes it.
fn older_first_entry(settings: &str) -> Vec<u8> {
    let length = |length: usize| u8::try_from(length).ok().filter(|length| *length < 128);
    let settings_length = length(settings.len()).expect("a short text");
    let fields = [&[settings_length], settings.as_bytes(), &[1, 1]].concat();
    let fields_length = length(fields.len()).expect("few fields");
    [&[1, 2, 0, 1, fields_length], fields.as_slice()].concat()
}

#[test]
fn setting_that_the_fleet_has_no_line_for_has_its_default_on_every_node() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let settings = "retention_days.stats=9\nactions.driver=clock\nactions.durations.reboot=10s\n";
    log.append(EntryId([7; 16]), &older_first_entry(settings))
        .unwrap();
    let open = |seed, reboot, stats| {
        let mut config = Config::default();
        config.actions.drivers.reboot = reboot;
        config.retention_days.stats = stats;
        let builder = Engine::builder().clock(clock.clone()).seed(seed);
        let builder = builder.config(config).log(log.clone(), seed.to_string());
        builder.open_in_memory().unwrap()
    };
    let [one, two] = [open(1, None, 9), open(2, Some(ActionDriver::Host), 30)];
    one.put_workspace(workspace("ws-1")).unwrap();
    follow(&two);
    two.act(ActionRequest::reboot("ws-1")).unwrap();
    follow(&one);
    let due = [&one, &two].map(|engine| {
        let view = engine.workspace("ws-1").unwrap().unwrap();
        view.transition.expect("an action").due_at
    });
    assert!(due[0].is_some(), "the clock drives it");
    assert_eq!(due[0], due[1]);

    let foreign = |engine: &Engine| {
        let pairs = engine.foreign_settings().unwrap().into_iter();
        pairs
            .map(|(own, fleets)| format!("{own}, {fleets}"))
            .collect::<Vec<_>>()
    };
    let reboot = "actions.durations.reboot=2m, actions.durations.reboot=10s";
    assert_eq!(foreign(&one), [reboot]);
    let driver = "actions.drivers.reboot=host, actions.drivers.reboot=none";
    let stats = "retention_days.stats=30, retention_days.stats=9";
    assert_eq!(foreign(&two), [driver, reboot, stats]);
}

#[test]
fn node_with_a_wrong_clock_writes_nothing_before_its_first_report_either() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let wrong = ManualClock::new(start().plus_seconds(-29));
    let node = named("node-1", 1, &wrong, &log);
    let refused = node.put_workspace(workspace("ws-1")).err();
    let refused = refused.expect("a refusal").to_string();
    assert!(refused.contains("29 s behind"), "{refused}");
    // The settings of the fleet, which no clock of a node is in.
    assert!(log.bounds(0).unwrap().last <= 1);
    let message = node.wrong_clock().expect("the same reason").to_string();
    assert_eq!(message, refused);
    wrong.set(clock.now());
    follow(&node);
    assert!(node.wrong_clock().is_none());
    node.put_workspace(workspace("ws-1")).unwrap();
}

#[test]
fn two_processes_of_one_name_are_noticed_by_both_until_one_ends() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let [one, two] = [1, 2].map(|seed| named("node-1", seed, &clock, &log));
    let round = |engines: &[&Engine]| {
        for engine in engines {
            clock.advance_seconds(1);
            follow(engine);
        }
    };
    round(&[&one]);
    // What the process before it said last is not from another one.
    round(&[&two, &two]);
    assert_eq!(two.node_warning(), None);
    round(&[&one, &two]);
    for engine in [&one, &two] {
        let warning = engine.node_warning().expect("a warning");
        assert!(warning.contains("another process reports under the name node-1"));
        let status = engine.cluster_status().unwrap().unwrap();
        assert_eq!(status.problem, Some(warning));
    }
    drop(two);
    for _ in 0..12 {
        round(&[&one]);
    }
    assert_eq!(one.node_warning(), None);
    assert_eq!(one.cluster_status().unwrap().unwrap().problem, None);
}

#[test]
fn nodes_that_applied_other_entries_up_to_one_position_say_so() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let node = named("node-1", 1, &clock, &log);
    node.put_workspace(workspace("ws-1")).unwrap();
    let chain = node.cluster_status().unwrap().unwrap().nodes[0]
        .chain
        .clone();
    let warned_of = |position: u64, chain: &str| {
        let report = json!({ "applied": position, "chain": chain, "rules": 2 });
        log.report("node-2", &report.to_string()).unwrap();
        clock.advance_seconds(20);
        follow(&node);
        node.node_warning()
    };
    let position = node.position().unwrap();
    assert_eq!(warned_of(position, &chain), None);
    assert_eq!(warned_of(position + 1, "00"), None);
    let warning = warned_of(position, "00").expect("a warning");
    assert!(
        warning.starts_with("this node and node-2 applied different entries up to 2: "),
        "{warning}"
    );
    assert_eq!(warned_of(position, &chain), None);
    // The other one knows it, and says what to do.
    let halted = json!({ "applied": position, "chain": "00", "halted": "it lost entries" });
    log.report("node-2", &halted.to_string()).unwrap();
    clock.advance_seconds(20);
    follow(&node);
    assert_eq!(node.node_warning(), None);
}

#[test]
fn node_that_cannot_report_writes_and_follows_and_warns() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let other = named("node-2", 2, &clock, &log);
    let faulty = FaultyLog::new(log);
    faulty.mute(true);
    let builder = Engine::builder().clock(clock.clone()).seed(1);
    let node = builder.log(faulty.clone(), "node-1").open_in_memory();
    let node = node.unwrap();
    for number in 0..3 {
        // After an outage of the whole log it is verified again.
        faulty.partition(true);
        assert!(node.put_workspace(workspace("ws-0")).is_err());
        faulty.partition(false);
        let (own, others) = (format!("own-{number}"), format!("other-{number}"));
        node.put_workspace(workspace(&own)).unwrap();
        other.put_workspace(workspace(&others)).unwrap();
        follow(&node);
        assert!(node.workspace(&others).unwrap().is_some());
        let warning = node.node_warning().expect("a warning");
        assert!(warning.starts_with("this node cannot report"), "{warning}");
        clock.advance_seconds(2);
    }
    faulty.mute(false);
    clock.advance_seconds(10);
    follow(&node);
    assert_eq!(node.node_warning(), None);
}

#[test]
fn conditions_of_a_node_are_seen_on_the_others() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let observed = Arc::new(Mutex::new(Vec::new()));
    let host = Arc::clone(&observed);
    let builder = Engine::builder().clock(clock.clone()).seed(1);
    let builder = builder.conditions(move || host.lock().unwrap().clone());
    let one = builder.log(log.clone(), "node-1").open_in_memory().unwrap();
    let two = named("node-2", 2, &clock, &log);
    let seen = |by: &Engine| {
        clock.advance_seconds(1);
        for engine in [&one, &two] {
            follow(engine);
        }
        let nodes = by.cluster_status().unwrap().unwrap().nodes.into_iter();
        nodes.map(|node| node.warnings).collect::<Vec<_>>()
    };
    let none = [Vec::<String>::new(), Vec::new()];
    assert_eq!(seen(&two), none);
    // A desktop that is broken is in the list of each node, and is none of its own conditions.
    let state = Some(State::Unhealthy.into());
    let broken = Workspace {
        state,
        ..workspace("ws-1")
    };
    one.put_workspace(broken).unwrap();
    let codes = ["ArchiveFailing", "BackupOld", "ArchiveFailing"];
    let conditions = codes.map(|code| Condition::new(code, Severity::Warning, "why", start()));
    *observed.lock().unwrap() = conditions.to_vec();
    assert!(
        two.conditions()
            .iter()
            .all(|of| !codes.contains(&&*of.code))
    );
    let expected = [vec!["ArchiveFailing", "BackupOld"], Vec::new()];
    assert_eq!(seen(&two), expected);
    assert_eq!(seen(&one), expected);
    // The report of an earlier version has none.
    log.report("node-1", "{}").unwrap();
    let nodes = two.cluster_status().unwrap().unwrap().nodes;
    assert_eq!(nodes[0].warnings, none[0]);
    observed.lock().unwrap().clear();
    assert_eq!(seen(&two), none);
}
