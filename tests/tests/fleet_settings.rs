//! The settings that all nodes share, changed while they run.

use deskfleet::{
    ActionRequest, AuditAction, Config, Engine, ErrorKind, ManualClock, cluster::MemoryLog,
    settings::Value,
};
use deskfleet_tests::cluster::node::{builder, follow, node, refusal, start, workspace};

#[test]
fn settings_of_the_fleet_change_on_every_node_without_a_restart() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let [one, two] = [1, 2].map(|seed| node(seed, &clock, &log));
    assert_eq!(one.fleet_settings().unwrap(), None, "no entry yet");
    let set = |name: &str, value: Value| (name.to_owned(), value);
    let changes = [
        set("retention_days.stats", Value::Number(7)),
        set("actions.durations.reboot", Value::Text("1m30s".to_owned())),
    ];
    one.change_fleet_settings(&changes, None).unwrap();
    follow(&two);
    // The other node changes another one.
    let later = [set("limits.events", Value::Number(5000))];
    two.change_fleet_settings(&later, None).unwrap();
    follow(&one);
    for engine in [&one, &two] {
        let settings = engine.fleet_settings().unwrap().unwrap();
        for expected in changes.iter().chain(&later) {
            assert!(settings.contains(expected), "{expected:?} of {settings:?}");
        }
        let others = settings
            .iter()
            .find(|(name, _)| name == "retention_days.audit");
        let mut defaults = Config::default();
        let defaults = deskfleet::settings::values(&mut defaults);
        assert!(defaults.contains(others.unwrap()), "{others:?}");
    }
    one.put_workspace(workspace("ws-1")).unwrap();
    two.catch_up().unwrap();
    two.act(ActionRequest::reboot("ws-1")).unwrap();
    let driver = set("actions.driver", Value::Text("host".to_owned()));
    assert_eq!(one.simulated_actions().count(), 7);
    two.change_fleet_settings(&[driver], None).unwrap();
    follow(&one);
    for engine in [&one, &two] {
        assert_eq!(engine.simulated_actions().count(), 0);
        assert_eq!(engine.store_status().unwrap().simulated.len(), 0);
    }
    let view = two.workspace("ws-1").unwrap().unwrap();
    let transition = view.transition.unwrap();
    let due = transition.due_at.unwrap();
    assert_eq!(due.duration_since(transition.requested_at).as_secs(), 90);
}

#[test]
fn fleet_that_begins_with_the_store_of_another_has_its_settings() {
    let clock = ManualClock::new(start());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("node.redb");
    let begin = |seed| {
        let log = MemoryLog::new(clock.clone());
        let builder = builder(seed, &clock).log(log, format!("node-{seed}"));
        builder.open(&path).unwrap()
    };
    let stats = |engine: &Engine| {
        let settings = engine.fleet_settings().unwrap()?;
        let mut settings = settings.into_iter();
        settings.find(|(name, _)| name == "retention_days.stats")
    };
    let changed = ("retention_days.stats".to_owned(), Value::Number(400));
    let first = begin(1);
    first.put_workspace(workspace("ws-1")).unwrap();
    let changes = std::slice::from_ref(&changed);
    first.change_fleet_settings(changes, None).unwrap();
    first.close().unwrap();
    assert!(builder(2, &clock).leave_fleet(&path).unwrap());

    let read = builder(3, &clock).open_read_only(&path).unwrap();
    assert_eq!(stats(&read), Some(changed.clone()));
    read.close().unwrap();
    let second = begin(4);
    second.put_workspace(workspace("ws-2")).unwrap();
    assert_eq!(stats(&second), Some(changed));
    assert_eq!(second.foreign_settings().unwrap().len(), 1);
    second.close().unwrap();
    assert!(builder(5, &clock).leave_fleet(&path).unwrap());

    // It is served alone meanwhile, by the settings of its host.
    builder(6, &clock).open(&path).unwrap().close().unwrap();
    let third = begin(7);
    third.put_workspace(workspace("ws-3")).unwrap();
    assert!(third.foreign_settings().unwrap().is_empty());
    assert!(third.workspace("ws-1").unwrap().is_some());
}

#[test]
fn setting_that_is_not_of_the_fleet_or_takes_another_value_changes_nothing() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let engine = node(1, &clock, &log);
    engine.put_workspace(workspace("ws-1")).unwrap();
    let before = (engine.fleet_settings().unwrap(), engine.position());
    let good = ("retention_days.stats".to_owned(), Value::Number(7));
    for (name, value, expected) in [
        (
            "retention_days.stats",
            Value::Text("soon".to_owned()),
            "retention_days.stats is ",
        ),
        (
            "retention_days.stat",
            Value::Number(7),
            "did you mean retention_days.stats?",
        ),
        (
            "limits.queue_records",
            Value::Number(1000),
            "a setting of each node",
        ),
        ("retention_days", Value::Group, "retention_days is "),
        ("", Value::Number(1), "the fleet has no setting"),
        (
            "server.listen",
            Value::Number(1),
            "all others are of each node, in its deskfleet.toml",
        ),
    ] {
        let changes = [good.clone(), (name.to_owned(), value)];
        let error = refusal(engine.change_fleet_settings(&changes, None));
        assert_eq!(error.kind(), ErrorKind::InvalidParameter, "{error}");
        assert!(error.context().contains(expected), "{error}");
    }
    assert_eq!(
        (engine.fleet_settings().unwrap(), engine.position()),
        before
    );
}

#[test]
fn changed_settings_are_audited_one_by_one() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let engine = node(1, &clock, &log);
    engine.put_workspace(workspace("ws-1")).unwrap();
    let set = |changes: &[(String, Value)]| engine.change_fleet_settings(changes, None).unwrap();
    let days = |days: u64| ("retention_days.stats".to_owned(), Value::Number(days));
    // Three changes of one minute, of which the first and the last are the same.
    for count in [20, 25, 20] {
        set(&[days(count)]);
    }
    // What is as it was has no entry, and is not named beside what changes.
    let before = engine.position();
    set(&[days(20)]);
    engine.configure_fleet().unwrap();
    engine.configure_fleet().unwrap();
    assert_eq!(engine.position(), before.map(|position| position + 1));
    let all = engine.fleet_settings().unwrap().unwrap().into_iter();
    let mut many: Vec<_> = all
        .filter_map(|(name, _)| {
            let value = match name.split('.').next()? {
                "actions" if name.contains("durations") => Value::Text("77s".to_owned()),
                "retention_days" if name != "retention_days.stats" => Value::Number(77),
                _ => return None,
            };
            Some((name, value))
        })
        .collect();
    many.push(days(30));
    set(&many);
    let rows = engine.admin_activity(100).unwrap().into_iter();
    let rows = rows.filter(|row| row.action == AuditAction::ConfigureFleet);
    let details: Vec<String> = rows.filter_map(|row| row.detail).collect();
    let (last, first) = details.split_at(details.len() - 4);
    assert_eq!(
        first,
        [30, 20, 25, 20].map(|days| format!("retention_days.stats={days}"))
    );
    assert!(last.len() > 1, "{last:?}");
    let last = last.join(", ");
    assert!(!last.contains("retention_days.stats"), "{last}");
    for (name, _) in &many[..many.len() - 1] {
        assert!(last.contains(&format!("{name}=")), "{name}: {last}");
    }
}
