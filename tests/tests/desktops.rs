//! Which desktop the figures of a question are of, and how long they are kept.

use std::time::Duration;

use deskfleet::{
    Engine, ManualClock, Paging, Record, StartupRecord, StatsRecord, Timestamp, Workspace,
    WorkspaceFilter,
    query::{AdviceQuery, Metric, Statistic, Term, TopQuery, WorkspaceRowsQuery},
};

const NOW: &str = "2026-11-20T08:00:00Z";
const DAY: i64 = 86_400;

fn clock() -> ManualClock {
    ManualClock::new(NOW.parse().unwrap())
}

fn engine(clock: &ManualClock) -> Engine {
    Engine::builder()
        .clock(clock.clone())
        .seed(5)
        .open_in_memory()
        .unwrap()
}

fn desk(id: &str, computer: &str) -> Workspace {
    Workspace {
        id: id.into(),
        computer_name: Some(computer.into()),
        ..Workspace::default()
    }
}

fn stats(instance: &str, user: &str, cpu: i32, at: Timestamp) -> StatsRecord {
    StatsRecord {
        instance_id: instance.into(),
        username: user.into(),
        processor_in_use: Some(cpu),
        update_time: Some(at),
        ..StatsRecord::default()
    }
}

#[test]
fn memory_is_made_of_any_two_of_its_fields() {
    const GIB: i64 = 1 << 30;
    let engine = engine(&clock());
    for (instance, total, available, used) in [
        ("both", Some(4 * GIB), Some(GIB), Some(2 * GIB)),
        ("total", Some(4 * GIB), None, Some(3 * GIB)),
        ("available", None, Some(GIB), Some(3 * GIB)),
        ("used", None, None, Some(3 * GIB)),
        ("least", Some(i64::MIN), None, Some(1)),
        ("greatest", None, Some(i64::MAX), Some(1)),
    ] {
        let record = StatsRecord {
            physical_memory: total,
            available_physical_memory: available,
            memory_in_use: used,
            ..stats(instance, "jdoe", 1, NOW.parse().unwrap())
        };
        engine.record(record).unwrap();
    }
    engine.file_pending().unwrap();
    let top = engine.query(&TopQuery::new(Metric::Memory)).unwrap();
    let mut found: Vec<_> = top
        .rows
        .iter()
        .map(|row| row.instance_id.as_str())
        .collect();
    found.sort_unstable();
    assert_eq!(found, ["available", "both", "total"]);
    let values: Vec<_> = top.rows.iter().map(|row| row.value.round()).collect();
    assert_eq!(values, [75.0, 75.0, 75.0]);
}

#[test]
fn last_value_is_of_the_days_that_are_asked_for() {
    let engine = engine(&clock());
    let now: Timestamp = NOW.parse().unwrap();
    let last = |days: std::ops::Range<i64>| {
        let mut query = TopQuery::new(Metric::Cpu);
        query.statistic = Some(Statistic::Last);
        query.from = Some(now.plus_seconds(-days.end * DAY));
        query.to = Some(now.plus_seconds(-days.start * DAY));
        let top = engine.query(&query).unwrap();
        top.rows.first().map(|row| row.value)
    };
    for (days, cpu) in [(6, 90), (0, 10), (5, 80)] {
        let record = stats("ws-1", "jdoe", cpu, now.plus_seconds(-days * DAY));
        engine.record(record).unwrap();
    }
    engine.file_pending().unwrap();
    assert_eq!(
        [last(0..7), last(0..1), last(4..7)],
        [Some(10.0), Some(10.0), None]
    );
}

#[test]
fn computer_that_two_workspaces_have_is_the_telemetry_of_neither() {
    let clock = clock();
    let engine = engine(&clock);
    engine.put_workspace(desk("ws-1", "PC-1")).unwrap();
    engine.put_workspace(desk("ws-2", "PC-1")).unwrap();
    let at = NOW.parse().unwrap();
    engine.record(stats("PC-1", "jdoe", 90, at)).unwrap();
    engine.file_pending().unwrap();
    // `top` says that the workspace is not known.
    let top = engine.query(&TopQuery::new(Metric::Cpu)).unwrap();
    assert_eq!(top.rows.first().unwrap().workspace_id, None);
    let rows = engine.query(&WorkspaceRowsQuery::default()).unwrap();
    let cpu: Vec<_> = rows.rows.iter().map(|row| row.cpu).collect();
    assert_eq!(cpu, [None, None]);
}

#[test]
fn workspace_whose_old_name_once_reported_shows_its_newest_telemetry() {
    let clock = clock();
    let engine = engine(&clock);
    engine.put_workspace(desk("ws-1", "PC-1")).unwrap();
    let now: Timestamp = NOW.parse().unwrap();
    engine
        .record(stats("ws-1", "jdoe", 1, now.plus_seconds(-20 * DAY)))
        .unwrap();
    engine.record(stats("PC-1", "jdoe", 90, now)).unwrap();
    engine.file_pending().unwrap();
    let rows = engine.query(&WorkspaceRowsQuery::default()).unwrap();
    assert_eq!(rows.rows.first().unwrap().last_seen, Some(now));
}

#[test]
fn figures_of_rows_that_are_looked_up_equal_those_of_the_whole_fleet() {
    let clock = clock();
    let engine = engine(&clock);
    // Names that one or two workspaces have, some in another case, some the id of a workspace.
    let computers = ["PC-1", "pc-2", "PC-2", "ws-5", "Ü-5", "ü-5", "PC-7", "WS-1"];
    for (number, computer) in (1..).zip(computers) {
        engine
            .put_workspace(desk(&format!("ws-{number}"), computer))
            .unwrap();
    }
    engine
        .put_workspace(Workspace {
            id: "ws-9".into(),
            ..Workspace::default()
        })
        .unwrap();
    let now: Timestamp = NOW.parse().unwrap();
    let instances = [
        "ws-1", "pc-1", "PC-2", "WS-4", "ws-5", "ü-5", "PC-7", "ws-7", "ws-9",
    ];
    for (minute, instance) in (1..).zip(instances) {
        let at = now.plus_seconds(-60 * i64::from(minute));
        engine.record(stats(instance, "jdoe", minute, at)).unwrap();
    }
    engine.file_pending().unwrap();
    let ask = |sort: Option<&str>, ids: Option<Term>, window: Option<Duration>| {
        let query = WorkspaceRowsQuery {
            filter: WorkspaceFilter {
                workspace_id: ids,
                ..WorkspaceFilter::default()
            },
            paging: Paging {
                sort: sort.map(str::to_owned),
                ..Paging::default()
            },
            window,
            ..WorkspaceRowsQuery::default()
        };
        let mut rows = engine.query(&query).unwrap().rows;
        rows.sort_by(|a, b| a.workspace_id.cmp(&b.workspace_id));
        rows
    };
    for window in [None, Some(Duration::from_secs(86_400))] {
        // Only an order by a figure reads those of all desktops.
        let whole = ask(Some("-lastSeen"), None, window);
        assert_eq!(whole.len(), 9);
        assert!(whole.iter().filter(|row| row.cpu.is_some()).count() > 4);
        assert!(whole.iter().any(|row| row.cpu.is_none()));
        let ids = whole.iter().map(|row| row.workspace_id.clone()).collect();
        assert_eq!(ask(None, None, window), whole);
        assert_eq!(ask(Some("state"), None, window), whole);
        assert_eq!(ask(None, Some(Term::In(ids)), window), whole);
        for row in whole {
            let id = Term::Is(row.workspace_id.clone());
            assert_eq!(ask(None, Some(id), window), [row]);
        }
    }
}

/// Whether a day of a desktop with these users, the last of whom is on hold, is kept longer than rollups are.
fn day_of_a_held_user_is_kept(users: &[&str]) -> bool {
    let clock = clock();
    let engine = engine(&clock);
    let held = Workspace {
        username: Some("zoe".into()),
        ..desk("ws-held", "PC-held")
    };
    engine.put_workspace(held).unwrap();
    engine.place_hold("ws-held", "M-1", None).unwrap();
    let first: Timestamp = NOW.parse().unwrap();
    for (user, minute) in users.iter().zip(0..) {
        engine
            .record(stats("shared", user, 50, first.plus_seconds(minute * 60)))
            .unwrap();
    }
    engine.file_pending().unwrap();
    for day in 1..410 {
        clock.advance_seconds(DAY);
        if day % 20 == 1 || day == 409 {
            let at = first.plus_seconds(day * DAY);
            engine.record(stats("shared", "mia", 50, at)).unwrap();
        }
        engine.maintain().unwrap();
    }
    let query = {
        let mut query = TopQuery::new(Metric::Cpu);
        query.from = Some(first.plus_seconds(-3600));
        query.to = Some(first.plus_seconds(3600));
        query
    };
    !engine.query(&query).unwrap().rows.is_empty()
}

#[test]
fn day_that_a_held_user_shared_with_eight_others_is_kept() {
    assert!(day_of_a_held_user_is_kept(&["a", "zoe"]));
    assert!(!day_of_a_held_user_is_kept(&["a", "b"]));
    assert!(day_of_a_held_user_is_kept(&[
        "a", "b", "c", "d", "e", "f", "g", "h", "zoe"
    ]));
}

#[test]
fn rollups_keyed_by_another_unicode_are_keyed_again_as_users_are() {
    use redb::{Database, TableDefinition};
    const META: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("meta");
    const LATEST: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("latest");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fleet.redb");
    let open = || {
        Engine::builder()
            .clock(clock())
            .seed(5)
            .open(&path)
            .unwrap()
    };
    let now: Timestamp = NOW.parse().unwrap();
    let engine = open();
    engine.record(stats("WS-A", "jdoe", 50, now)).unwrap();
    engine.file_pending().unwrap();
    engine.close().unwrap();
    {
        // As a build that did not fold these letters would have written it.
        let database = Database::create(&path).unwrap();
        let transaction = database.begin_write().unwrap();
        {
            let mut latest = transaction.open_table(LATEST).unwrap();
            let row = latest
                .remove(b"ws-a".as_slice())
                .unwrap()
                .unwrap()
                .value()
                .to_vec();
            latest.insert(b"WS-A".as_slice(), row.as_slice()).unwrap();
            let mut meta = transaction.open_table(META).unwrap();
            meta.insert(b"folding".as_slice(), [1, 1, 0].as_slice())
                .unwrap();
        }
        transaction.commit().unwrap();
    }
    let engine = open();
    engine
        .record(stats("WS-A", "jdoe", 60, now.plus_seconds(-60)))
        .unwrap();
    engine.file_pending().unwrap();
    let top = engine.query(&TopQuery::new(Metric::Cpu)).unwrap();
    engine.close().unwrap();
    let problems = Engine::check_file(&path).unwrap().problems;
    assert_eq!((top.rows.len(), problems), (1, Vec::new()));
}

#[test]
fn desktop_that_is_eight_days_old_is_judged_by_its_eight_days() {
    let clock = clock();
    let engine = engine(&clock);
    let now: Timestamp = NOW.parse().unwrap();
    engine
        .put_workspace(Workspace {
            state: Some("AVAILABLE".into()),
            running_mode: Some("ALWAYS_ON".into()),
            compute_type_name: Some("STANDARD".into()),
            ..desk("ws-1", "PC-1")
        })
        .unwrap();
    // 8 hours of each of the last 8 days: 9 billed hours a day, 270 a month, where the limit is 85.
    for day in 1..=8 {
        for slot in 0..96 {
            let at = now.plus_seconds(-day * DAY + slot * 300);
            engine.record(stats("ws-1", "jdoe", 70, at)).unwrap();
        }
    }
    engine.file_pending().unwrap();
    let advice = engine.query(&AdviceQuery::default()).unwrap();
    let given: Vec<_> = advice
        .rows
        .iter()
        .map(|row| (row.advice.as_str(), row.hours, row.evidence.as_str()))
        .collect();
    assert_eq!(given, []);
}

#[test]
fn day_of_a_held_user_is_found_where_the_desktop_sends_nothing_any_more() {
    let clock = clock();
    let engine = engine(&clock);
    let held = Workspace {
        username: Some("zoe".into()),
        ..desk("ws-held", "PC-held")
    };
    engine.put_workspace(held).unwrap();
    engine.place_hold("ws-held", "M-1", None).unwrap();
    let first: Timestamp = NOW.parse().unwrap();
    engine.record(stats("shared", "zoe", 50, first)).unwrap();
    clock.advance_seconds(DAY);
    engine
        .record(stats("shared", "mia", 50, first.plus_seconds(DAY)))
        .unwrap();
    engine.file_pending().unwrap();
    for _ in 0..410 {
        clock.advance_seconds(DAY);
        engine.maintain().unwrap();
    }
    let mut query = TopQuery::new(Metric::Cpu);
    query.from = Some(first.plus_seconds(-3600));
    query.to = Some(first.plus_seconds(3600));
    assert_eq!(engine.query(&query).unwrap().rows.len(), 1);
}

#[test]
fn slowest_startup_of_a_desktop_is_not_its_uptime() {
    let clock = clock();
    let engine = engine(&clock);
    let at: Timestamp = NOW.parse().unwrap();
    let sample = StatsRecord {
        uptime: 5_000_000.0.into(),
        ..stats("ws-1", "jdoe", 50, at)
    };
    let startup = StartupRecord {
        instance_id: "ws-1".into(),
        baseline_utc: Some(at),
        total_ms: Some(17_000),
        ..StartupRecord::default()
    };
    engine
        .record_all(&[Record::from(sample), Record::from(startup)])
        .unwrap();
    let top = engine.query(&TopQuery::new(Metric::StartupTotal)).unwrap();
    let found: Vec<_> = top
        .rows
        .iter()
        .map(|row| (row.value.to_string(), row.samples))
        .collect();
    assert_eq!(found, [("17000".to_owned(), Some(1))]);
}
