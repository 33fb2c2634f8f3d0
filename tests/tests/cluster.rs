//! Several engines that share a log hold the same.

use std::time::Duration;

use bytes::Bytes;
use deskfleet::{
    ActionRequest, Clock as _, Config, Engine, ErrorKind, HistoryQuery, ManualClock, NewKey, Scope,
    State, StatsRecord, Stream, Timestamp, WorkspaceList, cluster::MemoryLog,
};
use deskfleet_tests::cluster::node::{builder, follow, node, refusal, start, stopped, workspace};
use deskfleet_tests::disk::{Disk, Fault};

fn record(engine: &Engine, id: &str, percent: i32) {
    let record = StatsRecord {
        instance_id: id.into(),
        processor_in_use: Some(percent),
        ..StatsRecord::default()
    };
    engine.record(record).unwrap();
}

#[test]
fn nodes_that_share_a_log_hold_the_same() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let [one, two] = [1, 2].map(|seed| node(seed, &clock, &log));
    one.put_workspace(workspace("ws-1")).unwrap();
    record(&one, "ws-1", 12);
    assert_eq!(two.position(), Some(0));
    follow(&two);
    assert_eq!(two.position(), one.position());
    assert_eq!(
        two.workspace("ws-1").unwrap().unwrap().workspace,
        workspace("ws-1")
    );
    clock.advance_seconds(1);
    record(&two, "ws-1", 13);
    two.act(ActionRequest::reboot("ws-1")).unwrap();
    follow(&one);
    for engine in [&one, &two] {
        engine.file_pending().unwrap();
        let history = engine.all_history(HistoryQuery::new(Stream::Stats, "ws-1"));
        assert_eq!(history.count(), 2);
        let state = engine.workspace("ws-1").unwrap().unwrap().workspace.state;
        assert_eq!(state, Some(State::Rebooting.into()));
    }
    let status = two.cluster_status().unwrap().unwrap();
    assert_eq!((status.node.as_str(), status.problem), ("node-2", None));
}

#[test]
fn a_refused_write_is_refused_on_the_node_that_asked_and_audited_on_all() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let [one, two] = [1, 2].map(|seed| node(seed, &clock, &log));
    let error = refusal(one.act(ActionRequest::reboot("nobody")));
    assert_eq!(error.kind(), ErrorKind::WorkSpaceNotFound);
    follow(&two);
    let [first, second] = [&one, &two].map(|engine| {
        let page = engine.audit(&deskfleet::AuditQuery::default()).unwrap();
        format!("{:?}", page.rows)
    });
    assert!(first.contains("WorkSpaceNotFound"), "{first}");
    assert_eq!(first, second);
}

#[test]
fn a_key_of_one_node_is_accepted_on_the_others() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let [one, two] = [1, 2].map(|seed| node(seed, &clock, &log));
    let key = NewKey::new("operator", [Scope::Admin]);
    let issued = one.issue_key(key).unwrap();
    follow(&two);
    let request = http::Request::get("/operator/keys")
        .header("x-api-key", &issued.secret)
        .body(Bytes::new())
        .unwrap();
    assert_eq!(two.handle(request).status(), 200);
}

#[test]
fn a_node_that_was_closed_goes_on_where_it_stood() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("node.redb");
    let open = || builder(2, &clock).log(log.clone(), "two").open(&path);
    let one = node(1, &clock, &log);
    let two = open().unwrap();
    one.put_workspace(workspace("ws-1")).unwrap();
    follow(&two);
    two.close().unwrap();
    one.put_workspace(workspace("ws-2")).unwrap();
    let two = open().unwrap();
    assert_eq!(two.position(), Some(2));
    assert!(two.workspace("ws-2").unwrap().is_none());
    follow(&two);
    assert!(two.workspace("ws-2").unwrap().is_some());
    two.close().unwrap();

    let error = refusal(builder(2, &clock).open(&path));
    assert_eq!(error.kind(), ErrorKind::Configuration);
    assert!(error.context().contains("--log"), "{error}");
    let alone = builder(2, &clock).open_read_only(&path).unwrap();
    assert!(alone.workspace("ws-2").unwrap().is_some());
    drop(alone);
    for was_node in [true, false] {
        assert_eq!(builder(2, &clock).leave_fleet(&path).unwrap(), was_node);
    }
    let alone = builder(2, &clock).open(&path).unwrap();
    alone.put_workspace(workspace("ws-3")).unwrap();
}

#[test]
fn a_fleet_that_begins_with_the_data_of_a_node_takes_others_that_begin_with_its_backup() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let folder = tempfile::tempdir().unwrap();
    let [first, copy] = ["first", "copy"].map(|name| folder.path().join(name));
    let alone = builder(1, &clock).open(&first).unwrap();
    alone.put_workspace(workspace("ws-1")).unwrap();
    record(&alone, "ws-1", 12);
    alone.close().unwrap();
    // A node has its queue in the table, also where its configuration is given after its log.
    let one = builder(1, &clock)
        .log(log.clone(), "one")
        .config(Config::default())
        .open(&first)
        .unwrap();
    one.put_workspace(workspace("ws-2")).unwrap();

    let empty = node(2, &clock, &log);
    let error = stopped(&empty);
    assert!(error.context().contains("--join"), "{error}");
    one.backup(&copy).unwrap();
    let checked = Engine::check_file(&copy).unwrap();
    assert_eq!(checked.position, one.position());
    assert_eq!(checked.fleet, one.cluster_status().unwrap().unwrap().fleet);
    let two = builder(2, &clock)
        .log(log.clone(), "two")
        .open(&copy)
        .unwrap();
    one.put_workspace(workspace("ws-3")).unwrap();
    follow(&two);
    assert_eq!(two.all_workspaces(WorkspaceList::All).count(), 3);
    let history = two.all_history(HistoryQuery::new(Stream::Stats, "ws-1"));
    assert_eq!(history.count(), 1);

    let other = folder.path().join("other");
    let alone = builder(3, &clock).open(&other).unwrap();
    alone.put_workspace(workspace("ws-9")).unwrap();
    alone.close().unwrap();
    let other = builder(3, &clock).log(log, "three").open(&other).unwrap();
    let error = stopped(&other);
    assert!(error.context().contains("another fleet"), "{error}");
}

#[test]
fn the_settings_of_the_fleet_hold_on_every_node() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let slow = |seconds| {
        let mut config = Config::default();
        config.actions.durations.reboot = Duration::from_secs(seconds);
        config
    };
    let open = |seed, config: Config| {
        let builder = builder(seed, &clock).config(config);
        builder
            .log(log.clone(), format!("node-{seed}"))
            .open_in_memory()
            .unwrap()
    };
    let one = open(1, slow(10));
    let two = open(2, slow(99));
    one.put_workspace(workspace("ws-1")).unwrap();
    follow(&two);
    let fleets = "actions.durations.reboot=10s".to_owned();
    let own = "actions.durations.reboot=1m39s".to_owned();
    assert_eq!(two.foreign_settings().unwrap(), [(own, fleets)]);
    assert!(one.foreign_settings().unwrap().is_empty());
    let due = |engine: &Engine| {
        let view = engine.workspace("ws-1").unwrap().unwrap();
        let transition = view.transition.expect("an action");
        transition
            .due_at
            .unwrap()
            .duration_since(transition.requested_at)
            .as_secs()
    };
    two.act(ActionRequest::reboot("ws-1")).unwrap();
    assert_eq!(due(&two), 10);
    clock.advance_seconds(11);
    two.configure_fleet().unwrap();
    follow(&one);
    one.act(ActionRequest::reboot("ws-1")).unwrap();
    assert_eq!(due(&one), 99);
}

#[test]
fn the_log_is_trimmed_to_what_the_slowest_node_needs() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let one = node(1, &clock, &log);
    for _ in 0..deskfleet::limits::LOG_ENTRIES_KEPT + 10 {
        record(&one, "ws-1", 12);
    }
    for _ in 0..60 {
        clock.advance_seconds(1);
        follow(&one);
    }
    let bounds = deskfleet::cluster::Log::bounds(&log, 0).unwrap();
    assert_eq!(
        bounds.last - bounds.first,
        deskfleet::limits::LOG_ENTRIES_KEPT
    );
    let late = node(2, &clock, &log);
    let error = stopped(&late);
    assert!(error.context().contains("--join"), "{error}");
}

/// The seconds between an entry and the next one below.
const PAUSE: i64 = 600;

/// Lets all nodes report and trim once.
fn follow_for_a_minute(clock: &ManualClock, nodes: &[&Engine]) {
    for _ in 0..60 {
        clock.advance_seconds(1);
        for node in nodes {
            follow(node);
        }
    }
}

#[test]
fn entries_that_any_node_wants_kept_are_not_trimmed() {
    use deskfleet::cluster::Log as _;

    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let keeping = |hours: u64| {
        let builder = builder(2, &clock).log(log.clone(), "node-2");
        let builder = builder.log_keep(Duration::from_secs(hours * 60 * 60));
        builder.open_in_memory().unwrap()
    };
    let (one, two) = (node(1, &clock, &log), keeping(2));
    let mut appended = Vec::new();
    for _ in 0..24 {
        record(&one, "ws-1", 12);
        appended.push((log.bounds(0).unwrap().last, clock.now()));
        clock.advance_seconds(PAUSE);
    }
    for _ in 0..deskfleet::limits::LOG_ENTRIES_KEPT {
        record(&one, "ws-1", 12);
    }
    let first = || log.bounds(0).unwrap().first;
    let first_since = |time: Timestamp| {
        let mut young = appended.iter().filter(|(_, at)| *at >= time);
        young.next().unwrap().0
    };
    follow_for_a_minute(&clock, &[&one, &two]);
    // Two hours ago by the clock of the log, within the seconds in which the nodes trim.
    let oldest = first_since(clock.now().plus_seconds(-2 * 60 * 60));
    assert_eq!(first(), oldest);
    assert!(first() > 1 && first() < appended.last().unwrap().0);
    follow_for_a_minute(&clock, &[&one]);
    assert_eq!(first(), oldest, "a node without the time respects it");
    // A node that lacks no more goes on.
    let late = log.read(oldest, 1, Duration::ZERO).unwrap();
    assert_eq!(late.first().unwrap().position, oldest);

    clock.advance_seconds(2 * 60 * 60);
    follow_for_a_minute(&clock, &[&one, &two]);
    let bounds = log.bounds(0).unwrap();
    assert!(
        bounds.last - bounds.first <= deskfleet::limits::LOG_ENTRIES_KEPT + 1,
        "{bounds:?}"
    );
}

#[test]
fn node_that_was_away_for_less_than_entries_are_kept_goes_on() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let week = Duration::from_secs(7 * 24 * 60 * 60);
    let one = builder(1, &clock).log(log.clone(), "node-1").log_keep(week);
    let one = one.open_in_memory().unwrap();
    let away = node(2, &clock, &log);
    one.put_workspace(workspace("ws-1")).unwrap();
    follow(&away);
    clock.advance_seconds(3 * 24 * 60 * 60);
    for _ in 0..deskfleet::limits::LOG_ENTRIES_KEPT + 10 {
        record(&one, "ws-1", 12);
    }
    follow_for_a_minute(&clock, &[&one]);
    follow_for_a_minute(&clock, &[&one]);
    while away.position() < one.position() {
        follow(&away);
    }
}

#[test]
fn report_without_a_time_keeps_no_entries() {
    use deskfleet::cluster::Log as _;

    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let one = node(1, &clock, &log);
    for _ in 0..deskfleet::limits::LOG_ENTRIES_KEPT + 10 {
        record(&one, "ws-1", 12);
    }
    for _ in 0..60 {
        clock.advance_seconds(1);
        // Of an earlier version.
        let durable = one.position().unwrap();
        log.report(
            "node-2",
            &format!("{{\"applied\":{durable},\"durable\":{durable}}}"),
        )
        .unwrap();
        follow(&one);
    }
    assert!(log.bounds(0).unwrap().first > 1);
}

#[test]
fn a_node_with_a_wrong_clock_writes_nothing() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let wrong = ManualClock::new(start());
    let two = node(2, &wrong, &log);
    for seconds in [3, -3] {
        wrong.set(clock.now().plus_seconds(seconds));
        follow(&two);
        let error = refusal(two.put_workspace(workspace("ws-1")));
        assert!(error.context().contains("clock"), "{error}");
        wrong.set(clock.now().plus_seconds(seconds / 3));
        clock.advance_seconds(10);
        wrong.set(clock.now());
        follow(&two);
        two.put_workspace(workspace("ws-1")).unwrap();
    }
}

/// Retention by one node, while the other has filed nothing yet.
#[test]
fn what_is_too_old_goes_from_every_node() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let [one, two] = [1, 2].map(|seed| node(seed, &clock, &log));
    one.put_workspace(workspace("ws-1")).unwrap();
    record(&one, "ws-1", 12);
    record(&one, "ws-2", 12);
    one.file_pending().unwrap();
    two.place_hold("ws-1", "matter", None).unwrap();
    clock.advance_seconds(32 * 24 * 60 * 60);
    record(&one, "ws-3", 12);
    one.apply_retention().unwrap();
    follow(&two);
    for engine in [&one, &two] {
        let kept = ["ws-1", "ws-2", "ws-3"].map(|instance| {
            engine
                .all_history(HistoryQuery::new(Stream::Stats, instance))
                .count()
        });
        assert_eq!(kept, [1, 0, 1]);
    }
    let swept = two.store_status().unwrap().retention_applied;
    assert_eq!(swept, one.store_status().unwrap().retention_applied);
}

#[test]
fn a_node_reports_its_position_with_the_chain_of_it() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let [one, two] = [1, 2].map(|seed| node(seed, &clock, &log));
    one.put_workspace(workspace("ws-1")).unwrap();
    follow(&one);
    clock.advance_seconds(1);
    one.put_workspace(workspace("ws-2")).unwrap();
    follow(&two);
    clock.advance_seconds(2);
    // The other one reports what this one has applied since its own report.
    follow(&two);
    let status = one.cluster_status().unwrap().unwrap();
    let [own, other] = status.nodes.as_slice() else {
        unreachable!("two nodes: {status:?}");
    };
    assert_eq!(
        (own.position, &own.chain),
        (other.position, &other.chain),
        "they hold the same"
    );
}

#[test]
fn a_node_does_not_take_the_log_of_another_fleet_for_its_own() {
    let clock = ManualClock::new(start());
    let [own, other, empty] = [(); 3].map(|()| MemoryLog::new(clock.clone()));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("node.redb");
    let open = |log: &MemoryLog| builder(1, &clock).log(log.clone(), "one").open(&path);
    let one = open(&own).unwrap();
    record(&one, "ws-1", 12);
    one.close().unwrap();
    let two = node(2, &clock, &other);
    record(&two, "ws-1", 12);
    for (log, message) in [
        (&other, "the log is that of another fleet"),
        (&empty, "the log is empty"),
    ] {
        let one = open(log).unwrap();
        let error = stopped(&one);
        assert!(error.context().contains(message), "{error}");
        assert!(error.context().contains("?fleet=NAME"), "{error}");
        one.close().unwrap();
    }
    let nodes = two.cluster_status().unwrap().unwrap().nodes;
    assert!(nodes.iter().all(|node| node.node == "node-2"), "{nodes:?}");
    let reports = deskfleet::cluster::Log::reports(&empty).unwrap();
    assert!(reports.is_empty(), "{reports:?}");

    // A store that was served alone.
    let path = folder.path().join("own.redb");
    let own = builder(3, &clock).open(&path).unwrap();
    own.put_workspace(workspace("ws-9")).unwrap();
    own.close().unwrap();
    let own = builder(3, &clock).log(other, "alone").open(&path).unwrap();
    assert_eq!(stopped(&own).kind(), ErrorKind::Configuration);
    clock.advance_seconds(2);
    stopped(&own);
    let nodes = two.cluster_status().unwrap().unwrap().nodes;
    assert!(nodes.iter().all(|node| node.node == "node-2"), "{nodes:?}");
}

#[test]
fn a_program_that_ends_soon_is_not_listed_among_the_nodes() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let one = node(1, &clock, &log);
    follow(&one);
    let command = builder(2, &clock)
        .log_unlisted(log)
        .open_in_memory()
        .unwrap();
    command.put_workspace(workspace("ws-1")).unwrap();
    follow(&command);
    clock.advance_seconds(2);
    follow(&one);
    let nodes = one.cluster_status().unwrap().unwrap().nodes;
    assert_eq!(nodes.len(), 1, "{nodes:?}");
    assert!(one.workspace("ws-1").unwrap().is_some());
}

#[test]
fn a_node_without_space_for_an_entry_refuses_the_keys_that_later_ones_revoke() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let one = node(1, &clock, &log);
    let disk = Disk::new();
    // What is applied is written at once, and not first when it is synced.
    let two = builder(2, &clock).limits(|limits| limits.cache_bytes = 0);
    let two = two.log(log, "node-2");
    let two = two.open_backend(disk.backend()).unwrap();
    let issued = ["a", "b"].map(|name| {
        let key = NewKey::new(name, [Scope::Admin]);
        one.issue_key(key).unwrap()
    });
    follow(&two);
    let status = |key: usize| {
        let request = http::Request::get("/query/key").header("x-api-key", &issued[key].secret);
        two.handle(request.body(Bytes::new()).unwrap())
            .status()
            .as_u16()
    };
    assert_eq!([status(0), status(1)], [200, 200]);
    disk.fail(Fault::Full(0));
    for id in 0..2000 {
        record(&one, &format!("ws-{id}"), 50);
    }
    let before = one.position();
    one.revoke_key(issued[0].info.id).unwrap();
    assert!(refusal(two.follow(Duration::ZERO)).is_for_space());
    assert!(two.position() < before);
    assert_eq!([status(0), status(1)], [401, 200]);
    disk.fail(Fault::None);
    follow(&two);
    assert_eq!(two.position(), one.position());
    assert_eq!([status(0), status(1)], [401, 200]);
}
